"""A process that runs a debate of `tests.remote.children`, on a clock that somebody sets.

    python -m tests.faults.skewed NAME STORE SECONDS [ROUND]

The clock jumps by so many seconds as soon as the debate has begun its ROUND (0).
"""

from __future__ import annotations

import sys
import time

from rt_notebook import session
from rt_notebook.domain.events import Event
from rt_notebook.store import sqlite_writer as writer
from tests.remote.children import SPECS, _run


def main(name: str, store: str, seconds: str, number: str = "0") -> None:
    """Runs a debate to its end and tells its events."""
    real_ns, jumped = time.time_ns, [0]
    time.time_ns = lambda: real_ns() + jumped[0]
    time.time = lambda: time.time_ns() / 1e9
    writer.BEAT_S = 0.2  # type: ignore[attr-defined]

    def jump(event: Event, state: object) -> None:
        if event.kind == "round_started" and event.body["round"] == int(number):
            jumped[0] = int(float(seconds) * 1e9)

    run = session.new_run(SPECS[name](), session.Opening(store, attended=True))
    run.listeners.append(jump)
    _run(run, name)


if __name__ == "__main__":
    main(*sys.argv[1:])
