"""The end of providers: those that hold connections give them back, in bounded time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from typing import Any, Final

CLOSE_S: Final = 1.0
"""Seconds that all of them have together."""

_log = logging.getLogger(__name__)


async def close_all(providers: Iterable[object]) -> None:
    """Await `aclose()` of every provider that has one; a fault there changes no result."""
    closers: list[Any] = [each for each in providers if hasattr(each, "aclose")]
    if not closers:
        return
    try:
        async with asyncio.timeout(CLOSE_S):
            for each in closers:
                try:
                    await each.aclose()
                except Exception:  # the edge to client libraries: the debate is over all the same
                    _log.debug("a provider didn't close", exc_info=True)
    except TimeoutError:
        _log.debug("providers didn't close within %s s", CLOSE_S)
