"""From another thread onto a debate's loop and back: what is asked there, and what comes of it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

from rt_notebook.engine.commands import not_sent
from rt_notebook.errors import UsageError

T = TypeVar("T")


def result_on(
    loop: asyncio.AbstractEventLoop,
    work: Coroutine[Any, Any, T],
    debate: str,
    timeout_s: float,
    kept: Mapping[str, Any],
) -> T:
    """Return what a coroutine returns on a debate's loop; blocks.

    Args:
        loop: the debate's loop, of another thread.
        work: the coroutine.
        debate: the debate's id.
        timeout_s: how long to wait. What the loop hasn't begun by then is never begun.
        kept: a person's words in it.

    Raises:
        UsageError: the loop is closed, or took no notice; its `kept` attribute has the words.
    """
    given_up, under_way = threading.Event(), threading.Event()

    async def begin() -> T:
        under_way.set()  # before the look: where both happen at once, nothing untrue is said
        if given_up.is_set():
            work.close()
            raise asyncio.CancelledError
        return await work

    begun = begin()
    try:
        waiting = asyncio.run_coroutine_threadsafe(begun, loop)
    except RuntimeError as exc:
        begun.close()
        work.close()
        text = f"debate {debate!r}: its loop is closed, it runs no more{not_sent(kept)}"
        raise UsageError(text, kept=dict(kept)) from exc
    try:
        return waiting.result(timeout_s)
    except TimeoutError as exc:
        given_up.set()
        if under_way.is_set():
            text = (
                f"debate {debate!r} took this, but wasn't done with it within {timeout_s:g} s; it "
                "may still be carried out: look at its state before you send it again"
            )
        else:
            text = (
                f"debate {debate!r} took no notice within {timeout_s:g} s: something blocks its "
                f"loop; look at its state before you send this again{not_sent(kept)}"
            )
        raise UsageError(text, kept=dict(kept)) from exc
