"""Debates to record: function seats that count their calls, and people who answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import rt_notebook as rt
from rt_notebook import session
from rt_notebook.analysis.result import Result
from rt_notebook.domain.brief import Brief
from rt_notebook.domain.events import Event
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.domain.state import State
from rt_notebook.running import DebateRun
from rt_notebook.session import Opening
from tests.engine.clocks import play
from tests.engine.debates import reply

TABLES = ("replies", "stances", "tally", "agreement", "flips", "points", "questions", "calls",
          "tool_calls", "usage", "measures")  # fmt: skip
"""The tables that a replay has to give again, byte for byte."""

VERDICT = (
    "RECOMMENDATION:\nopt-1\nIt is ready.\nDISSENT:\nnone\nKILL_CRITERIA:\n- it breaks\n"
    "OPEN_QUESTIONS:\nnone"
)


@dataclass
class Voices:
    """Functions for seats that say what they are told to, and count their calls."""

    calls: list[tuple[str, int, str]] = field(default_factory=list)

    def seat(self, name: str, *answers: Any, **fields: Any) -> rt.Seat:
        """Return a seat; its n-th call gets the n-th answer, later ones the last."""
        taken = [0]

        async def speak(call: rt.Call) -> Any:
            self.calls.append((call.seat, call.round, call.purpose))
            given = answers[min(taken[0], len(answers) - 1)]
            taken[0] += 1
            if isinstance(given, BaseException):
                raise given
            return given(call) if callable(given) else given

        speak.__name__ = f"say_{name}"
        return rt.Seat(name, model=speak, **fields)

    def review(self, **fields: Any) -> DebateSpec:
        """Return a review of two seats that don't agree, which changes by round."""
        given: dict[str, Any] = {
            "seats": (self.seat("pm", *stances("opt-1")), self.seat("dev", *stances("opt-2"))),
            "chairman": self.seat("chair", VERDICT),
            "rounds": 1,
            "loop_threshold": 0,
            **fields,
        }
        brief: dict[str, Any] = {
            "question": "Should the module ship now?",
            "options": ("Ship", "Wait"),
        }
        brief |= {name: given.pop(name) for name in (*brief, "known") if name in given}
        return DebateSpec(brief=Brief(**brief), **given)


def stances(key: str, rounds: int = 6, **more: Any) -> list[str]:
    """Return replies that stand on one option, with another point each round."""
    return [reply(key, f"point {n} for {key}", **more) for n in range(rounds)]


def run_of(
    spec: DebateSpec, path: Path | str, mode: str | None = None, **opening: Any
) -> DebateRun:
    """Return the run of a debate with a record."""
    return session.new_run(spec, Opening(record=path, record_mode=mode, **opening))


def recorded(spec: DebateSpec, path: Path | str, mode: str | None = None, **opening: Any) -> Result:
    """Return the result of a debate with a record."""
    return play(run_of(spec, path, mode, **opening).main())


def answered(
    spec: DebateSpec, path: Path | str, steer: Callable[[DebateRun, Event, State], None],
    mode: str | None = None,
) -> Result:  # fmt: skip
    """Return the result of a debate that somebody steers, event by event."""
    run = run_of(spec, path, mode, attended=True)
    run.listeners.append(lambda event, state: steer(run, event, state))
    return play(run.main())


def tables(result: Result) -> dict[str, str]:
    """Return every table as text."""
    return {name: getattr(result, name).to_csv() for name in TABLES}


def assert_same(one: Result, two: Result) -> None:
    """Check that two results are the same: events, frames, state and every rendering."""
    assert one.id == two.id
    assert one.events == two.events
    assert one.state == two.state
    assert tables(one) == tables(two)
    assert one._repr_mimebundle_() == two._repr_mimebundle_()


def lines(path: Path) -> list[dict[str, Any]]:
    """Return a record's lines as JSON."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def kinds(path: Path) -> list[str]:
    """Return the kinds of a record's events."""
    return [line["kind"] for line in lines(path)]


def write(path: Path, found: Sequence[dict[str, Any]]) -> None:
    """Write lines of JSON as a record has them."""
    dumps = (json.dumps(line, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
             for line in found)  # fmt: skip
    path.write_bytes("".join(f"{line}\n" for line in dumps).encode())
