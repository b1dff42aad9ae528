"""What every verb says about a store that it may not be able to write or read.

    python -m tests.faults.looks STORE [read-only]

With `read-only`, the system is made to say that nothing can be written: where no disk can be
mounted, and whoever runs the tests may write everywhere.
Says one JSON line a verb: what came of it, or the error.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from collections.abc import Callable
from typing import Any, Final

import rt_notebook as rt
from rt_notebook import session
from rt_notebook.config import Config
from rt_notebook.frontends import cli
from rt_notebook.frontends.doctor_checks import store_findings
from rt_notebook.frontends.doctor_report import PROBLEM

asked: list[str] = []


def _seat(name: str) -> rt.Seat:
    def answer(call: rt.Call) -> str:
        asked.append(name)
        return "PASS"

    return rt.Seat(name, model=answer)


def _run() -> Any:
    return rt.Review("Now?", options=["A", "B"], seats=[_seat("a"), _seat("b")]).run_sync().status


def _command_line(*words: str) -> list[Any]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = cli.main(words)
    return [status, len(out.getvalue().splitlines()), err.getvalue()]


VERBS: Final[dict[str, Callable[[], Any]]] = {
    "list": lambda: len(session.rows()),
    "load": lambda: [rt.load("last").status, len(rt.load("last").events)],
    "state": lambda: rt.state("last").status,
    "doctor": lambda: [found.name for found in store_findings(Config()) if found.state == PROBLEM],
    "run": _run,
    "resume": lambda: rt.resume("last").result(20).status,
    "stop": lambda: rt.stop("last").status,
    "delete": lambda: rt.delete("last"),
    "rt-notebook list": lambda: _command_line("list"),
    "rt-notebook show": lambda: _command_line("show", "last"),
    "rt-notebook resume": lambda: _command_line("resume", "last"),
}


_access = os.access


def _refused(path: Any, mode: int, **given: Any) -> bool:
    return mode != os.W_OK and _access(path, mode, **given)


def main(store: str, how: str = "") -> None:
    """Tries every verb."""
    os.environ["RT_NOTEBOOK_STORE"] = store
    if how:
        # As on a disk that can't be written, also for who may write everywhere.
        os.access = _refused
    for name, verb in VERBS.items():
        asked.clear()
        try:
            said: dict[str, Any] = {"came": verb()}
        except rt.RoundtableError as error:
            said = {"error": str(error), "type": type(error).__name__}
        print(json.dumps({"verb": name, "asked": list(asked), **said}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
