"""What other processes do in the tests of debates that are watched and steered from outside.

    python -m tests.remote.children WORK STORE [ARGUMENT ...]

A child talks to its test in JSON lines: whatever it says has really happened before.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rt_notebook import session
from rt_notebook.domain.brief import Brief
from rt_notebook.domain.events import Event
from rt_notebook.domain.script import hang, say, scripted, wait
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.errors import RoundtableError
from rt_notebook.running import DebateRun

PLAIN = "STANCE: Wait\nAGREE_WITH: []\nDISAGREE: none\nNEW: none\nASSUMPTIONS: none"


def tell(**words: object) -> None:
    """Prints a line at once, in one system call."""
    os.write(1, (json.dumps(words) + "\n").encode())


def _steps(stance: str, count: int = 60) -> Seat:
    script = [say(stance=stance, new=[f"point {n}"]) for n in range(count)]
    return Seat(stance.lower(), model=scripted(script))


def _asks() -> Seat:
    first = say(stance="Ship", question="What is the budget?")
    return Seat("asks", model=scripted([first, *(say(stance="Ship") for _ in range(60))]))


def _spec(*seats: Seat, **fields: Any) -> DebateSpec:
    brief = Brief(question="Ship now?", options=("Ship", "Wait"))
    chosen = {"question_wait_s": 60.0, "checkpoint_wait_s": 60.0, "loop_threshold": 0.0, **fields}
    return DebateSpec(brief=brief, seats=seats, **chosen)


SPECS: dict[str, Callable[[], DebateSpec]] = {
    "asking": lambda: _spec(_asks(), _steps("Wait")),
    "asking twice": lambda: _spec(_asks(), _steps("Wait"), rounds=2),
    "human": lambda: _spec(Seat("me", model="human", timeout_s=90), _steps("Ship"), rounds=1),
    "human chairman": lambda: _spec(
        _steps("Ship"), _steps("Wait"), rounds=0, gates="off", chairman=Seat("boss", model="human")
    ),
    "hanging": lambda: _spec(
        _steps("Ship"), Seat("hangs", model=scripted([say(stance="Wait"), hang()])), gates="off"
    ),
    "hanging at once": lambda: _spec(
        _steps("Ship"), Seat("hangs", model=scripted([hang()])), gates="off"
    ),
    "talk": lambda: DebateSpec(
        kind="discussion",
        brief=Brief(question="Where to?"),
        seats=(
            Seat("slow", model=scripted([wait(0.4, "I say so.")] * 9)),
            Seat("b", model="scripted"),
        ),
        rounds=3,
        loop_threshold=0.0,
    ),
    "human talk": lambda: DebateSpec(
        kind="discussion",
        brief=Brief(question="Where to?"),
        seats=(Seat("a", model="scripted"), Seat("me", model="human", timeout_s=90)),
        rounds=1,
        loop_threshold=0.0,
    ),
    "slow": lambda: _spec(
        _steps("Ship"),
        Seat("slow", model=scripted([wait(0.07, say(stance="Wait")) for _ in range(9)])),
        gates="off",
        rounds=8,
    ),
}
"""Debates by name, each built anew."""


def _heard(event: Event, state: object) -> None:
    tell(seq=event.seq, kind=event.kind, at=time.monotonic(), body=event.body)


def _run(run: DebateRun, name: str) -> None:
    run.listeners.append(_heard)
    tell(id=run.id, name=name)
    result = asyncio.run(run.main())  # noqa: TID251 - a child is a program of its own
    tell(ended=result.status, reason=result.stop_reason)


def run_debate(store: str, name: str) -> None:
    """Runs a debate to its end and tells its events."""
    _run(session.new_run(SPECS[name](), session.Opening(store, attended=True)), name)


def run_blocked(store: str, name: str) -> None:
    """Runs a debate whose loop stands still from the first gate on."""

    def block(event: Event, state: object) -> None:
        if event.kind == "gate_opened":
            asyncio.get_running_loop().call_soon(threading.Event().wait)

    run = session.new_run(SPECS[name](), session.Opening(store, attended=True))
    run.listeners.append(block)
    _run(run, name)


def resume_each(store: str) -> None:
    """Tries to resume each debate named in a line, and runs it to its end where it can."""
    tell(ready=True)
    for line in sys.stdin:
        try:
            run = session.resume_run(line.strip(), session.Opening(store, source="agent"))
        except RoundtableError as error:
            tell(lost=type(error).__name__, message=str(error))
            continue
        _run(run, "resumed")


def steer(store: str) -> None:
    """Carries out the verbs that come as JSON lines: verb, id, arguments."""
    tell(ready=True)
    for line in sys.stdin:
        order = json.loads(line)
        control = session.control_of(order["id"], store)
        began = time.monotonic()
        try:
            found = getattr(control, order["verb"])(**order["with"])
        except RoundtableError as error:
            kept = error.facts.get("kept")
            tell(refused=str(error), kept=kept, error=type(error).__name__)
        else:
            took = time.monotonic() - began
            tell(status=found.status, revision=found.revision, took=took)


WORK: dict[str, Callable[..., None]] = {
    work.__name__: work for work in (run_debate, run_blocked, resume_each, steer)
}

if __name__ == "__main__":
    assert Path(sys.argv[2]).is_absolute()
    WORK[sys.argv[1]](*sys.argv[2:])
