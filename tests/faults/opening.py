"""Opens a store, perhaps a damaged one, in a process of its own.

python -m tests.faults.opening WORK STORE [NUMBER]
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import rt_notebook as rt
from rt_notebook import session
from rt_notebook.store import open_store


def say(**words: object) -> None:
    """Prints a line at once."""
    os.write(1, (json.dumps(words) + "\n").encode())


def hold(store: str) -> None:
    """Keeps the store open until a line comes."""
    say(debates=len(session.rows(store=store)))
    sys.stdin.readline()


def begin(store: str) -> None:
    """Waits for a line, then opens the store until it works, and runs a debate."""
    say(ready=True)
    sys.stdin.readline()
    lines = []
    for _ in range(3):
        try:
            open_store(store)
            break
        except rt.StoreError as error:
            lines.append(str(error))
    made: dict[str, Any] = {"options": ["Ship", "Wait"], "seats": ["pm", "dev"], "store": store}
    result = rt.Review("Ship?", unattended=True, **made).run_sync()
    say(lines=lines, status=result.status, id=result.id)


def kill_at(store: str, number: str) -> None:
    """Opens the store, and is killed when it links or unlinks for the n-th time."""
    left = [int(number)]

    def killing(act: Callable[..., None]) -> Callable[..., None]:
        def do(*given: Any, **more: Any) -> None:
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            act(*given, **more)

        return do

    for name in ("link", "unlink"):
        setattr(os, name, killing(getattr(os, name)))
    Path.unlink = killing(Path.unlink)  # type: ignore[method-assign]
    try:
        open_store(store)
    except rt.StoreError as error:
        say(line=str(error))


WORK: dict[str, Callable[..., None]] = {work.__name__: work for work in (hold, begin, kill_at)}

if __name__ == "__main__":
    WORK[sys.argv[1]](*sys.argv[2:])
