"""Debates on the engine's thread, brought to where a test wants them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rt_notebook import session
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.domain.state import State
from rt_notebook.engine.runner import runner
from rt_notebook.running import DebateRun
from rt_notebook.session import Opening
from tests.engine.debates import Voice, reply, spec

WAIT_S = 20.0


@contextmanager
def under_way(run: DebateRun) -> Iterator[DebateRun]:
    """Run a debate on the engine thread; it is ended at the latest with the test."""
    job = runner().submit(lambda job: run.main())
    try:
        yield run
        job.finished.wait(WAIT_S)
        assert job.done()
    finally:
        job.cancel()
        job.finished.wait(WAIT_S)


def when(run: DebateRun, kind: str, **facts: Any) -> threading.Event:
    """Return what is set once such an event is there; asked before the run begins."""
    seen = threading.Event()

    def listen(event: Any, state: State) -> None:
        if event.kind == kind and all(event.body[name] == fact for name, fact in facts.items()):
            seen.set()

    run.listeners.append(listen)
    return seen


@contextmanager
def petras_turn() -> Iterator[DebateRun]:
    """Run a debate up to where Petra, a person, is asked for her opening."""
    definition = spec(
        Seat("Petra", model="human"), Seat("b", model=Voice(reply("opt-2"))), rounds=0
    )
    run = session.new_run(definition, Opening(attended=True))
    asked = when(run, "call_started", seat="Petra")
    with under_way(run):
        assert asked.wait(WAIT_S)
        yield run


def interrupted(definition: DebateSpec, seat: str, **opening: Any) -> str:
    """Return the id of a debate that was cut off while a seat was asked."""
    run = session.new_run(definition, Opening(**opening))
    asked = when(run, "call_started", seat=seat)
    job = runner().submit(lambda job: run.main())
    assert asked.wait(WAIT_S)
    job.cancel()
    assert job.finished.wait(WAIT_S)
    assert run.fold.status == "interrupted"
    return run.id
