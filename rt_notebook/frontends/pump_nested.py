"""The one place that nests an event loop: a blocked cell on a kernel nothing is known about.

Owns the guarded use of nest-asyncio. Must not know comm messages or kernels: it turns a loop that
is already running in this thread, so that whatever that loop would do can happen meanwhile.
Anything that goes wrong ends the service, never the wait that asked for it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

logger = logging.getLogger(__name__)


def serve_loop(
    loop: asyncio.AbstractEventLoop, is_over: Callable[[], bool], interval: float
) -> bool:
    """Turn `loop`, asking `is_over()` every `interval` seconds.

    Returns:
        True once it was over; False when the loop can't be served (any longer): wait without it.
    """
    if not _can_nest(loop):
        return False
    over: asyncio.Future[bool] = loop.create_future()

    def end(served: bool) -> None:
        if not over.done():
            over.set_result(served)

    def look() -> None:
        if is_over():
            end(True)
        elif not over.done():
            loop.call_later(interval, look)

    try:
        import nest_asyncio

        nest_asyncio.apply(loop)
        with _putting_back_what_fails(loop, lambda: end(False)):
            loop.call_soon(look)
            # A future, not a task: where tasks can't nest, this still ends.
            return loop.run_until_complete(over)
    except Exception:  # an edge: it reaches deep into asyncio, and anything may have changed there
        logger.debug("the running loop can't be nested", exc_info=True)
        return False
    finally:
        end(False)


def _can_nest(loop: asyncio.AbstractEventLoop) -> bool:
    """Nesting works by taking the current task out of this table; newer Pythons keep it in C."""
    if not isinstance(loop, asyncio.BaseEventLoop):
        return False
    current = getattr(asyncio.tasks, "_current_tasks", {}).get(loop)
    return current is not None and current is asyncio.current_task(loop)


@contextmanager
def _putting_back_what_fails(
    loop: asyncio.AbstractEventLoop, stop: Callable[[], None]
) -> Iterator[None]:
    """Stop at the first callback whose context is in use further up, and run it again afterwards.

    ipykernel 7 runs all its messages in one context, which the waiting cell has entered: without
    this, the next cell's request would be lost and the notebook would hang.
    """
    failed: list[Any] = []
    inner: Any = loop  # it is a BaseEventLoop, of which more is used than its interface has
    report = inner.call_exception_handler

    def on_error(context: dict[str, Any]) -> None:
        if "cannot enter context" in str(context.get("exception")) and context.get("handle"):
            failed.append(context["handle"])
            stop()
        else:
            report(context)

    # Not `set_exception_handler`: since Python 3.12 that one is called in the very context that
    # can't be entered.
    inner.call_exception_handler = on_error
    try:
        yield
    finally:
        del inner.call_exception_handler
        # In front of what came meanwhile, so that messages keep their order.
        inner._ready.extendleft(reversed(failed))
