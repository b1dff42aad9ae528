"""A loop whose clock jumps to the next timer, so that windows of minutes pass at once, exactly."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

T = TypeVar("T")


class _Jumping(selectors.DefaultSelector):
    """Lets time pass in place of waiting for it; without a timer it waits, for threads."""

    passed = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            return super().select(None)
        ready = super().select(0)
        if not ready:
            self.passed += max(timeout, 0.0)
        return ready


class JumpingLoop(asyncio.SelectorEventLoop):
    """An event loop on a clock of its own, which starts at 1,000 s."""

    def __init__(self) -> None:
        self._jumping = _Jumping()
        super().__init__(self._jumping)

    def time(self) -> float:
        return 1_000.0 + self._jumping.passed


def play(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` on the jumping clock."""
    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        return runner.run(work)


def play_live(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` on the real clock: where threads take part."""
    with asyncio.Runner() as runner:
        return runner.run(work)


async def ticks(count: int = 20) -> None:
    """Let everything that is ready run."""
    for _ in range(count):
        await asyncio.sleep(0)


async def until(holds: Any, limit: int = 10_000) -> None:
    """Let the loop run until `holds()`, without any time passing."""
    for _ in range(limit):
        if holds():
            return
        await asyncio.sleep(0)
    raise AssertionError(f"it never came to hold: {holds}")


Answers = Mapping[int, str]
