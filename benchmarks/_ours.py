"""The workload of `peers/common.py` through this package's engine, with the store on.

Seats and chairman are functions; a reply holds the workload's 600 characters in the contract's
form. Run in a process of its own, like every peer; prints one JSON line.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "peers"))

import common  # type: ignore[import-not-found]  # the peers' harness, found by the line above

import rt_notebook as rt
from rt_notebook import session

OPTIONS = ["move now", "move one bounded context as a pilot", "stay and refactor in place"]
VERDICT = (
    "RECOMMENDATION:\nopt-2\nIt can be taken back.\nDISSENT: none\nKILL_CRITERIA: none\n"
    "OPEN_QUESTIONS: none"
)

_replies: dict[tuple[int, int], str] = {}
_variant = ""
_folder = tempfile.mkdtemp(prefix="engine_")


def reply(meter: Any, seat: int, round: int) -> str:
    """Return the workload's text of this seat and round as a valid reply, made once."""
    if (seat, round) not in _replies:
        text = meter.text(seat, round + 1)
        bullets = (
            f"DISAGREE:\n- {text[:200]}\nNEW:\n- {text[200:400]}\nASSUMPTIONS:\n- {text[400:]}"
        )
        stance = (seat + round) % len(OPTIONS) + 1
        _replies[seat, round] = f"STANCE: opt-{stance}\nAGREE_WITH: []\n{bullets}"
    return _replies[seat, round]


async def debate(seats: int, rounds: int, latency: float, meter: Any) -> int:
    """Run one debate; return the number of seat turns."""

    def sitting(number: int) -> Any:
        async def speak(call: rt.Call) -> str:
            meter.sent(call.chars)
            await meter.wait()
            return reply(meter, number, call.round)

        return speak

    async def chair(call: rt.Call) -> str:
        meter.sent(call.chars)
        await meter.wait()
        return VERDICT

    review = rt.Review(
        common.TOPIC,
        options=OPTIONS,
        seats=[
            rt.Seat(f"seat{n}", model=sitting(n), persona=common.PERSONA.replace("{i}", str(n)))
            for n in range(seats)
        ],
        chairman=rt.Seat("chairman", model=chair),
        rounds=rounds - 1,
        unattended=True,
        loop_threshold=0,
        limits=rt.Limits(max_minutes=None),
        store=f"{_folder}/debates.db",
        memory="full" if _variant == "full" else "stateless",
        durability="power" if _variant == "power" else "process",
        display=False,
    )
    result = await review.run()
    if result.status != "done" or result.verdict.status != "ready":
        raise SystemExit(f"a debate ended as {result.status}, its verdict {result.verdict.status}")
    return sum(len(turns) for turns in result.fold.turns)


async def warm_up() -> None:
    """Load what the first debate loads, so that the measured ones don't pay for imports."""
    await debate(2, 1, 0.0, common.Meter(0.0))
    session.rows(store=f"{_folder}/debates.db")


def setup(arguments: Any) -> None:
    """Take over the variant and warm up."""
    global _variant
    _variant = arguments.variant
    asyncio.run(warm_up())  # noqa: TID251  (a benchmark is a program of its own)


if __name__ == "__main__":
    common.main("rt_notebook", "rt-notebook", debate, setup=setup)
