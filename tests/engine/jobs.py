"""Jobs for the tests of the engine thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any

from rt_notebook.engine.runner import Job

ENGINE = "roundtable-engine"


def returning(value: int) -> Callable[[Job[int]], Coroutine[Any, Any, int]]:
    """Returns a job's main that returns a value at once."""

    async def main(job: Job[int]) -> int:
        return value

    return main


class Sleeper:
    """A job that sleeps until it is cancelled, and says how far it came."""

    def __init__(self, clean_up_s: float = 0.0) -> None:
        self.begun = threading.Event()
        self.cleaned = threading.Event()
        self.clean_up_s = clean_up_s

    async def main(self, job: Job[None]) -> None:
        self.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(self.clean_up_s)
            self.cleaned.set()
