"""Rarer garbage collections while a table is made.

A table of many debates is tens of thousands of rows and lists, all of them wanted: CPython's looks
through every living container find nothing, and cost a fifth of the time. Cyclic garbage is still
collected, in larger portions, so that debates read one by one from a store leave none behind.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

THRESHOLDS: Final = (20_000, 20, 100)
"""`gc.set_threshold` meanwhile."""


@contextmanager
def rarer_collections() -> Iterator[None]:
    """Slow the collector down; a process that has it off, or slower, is left as it is."""
    own = gc.get_threshold()
    if not 0 < own[0] < THRESHOLDS[0]:
        yield
        return
    gc.set_threshold(*THRESHOLDS)
    try:
        yield
    finally:
        if gc.get_threshold() == THRESHOLDS:  # else somebody has set it meanwhile
            gc.set_threshold(*own)
