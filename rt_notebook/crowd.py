"""Rarer garbage collections while many debates run at once, as in a sweep.

CPython looks through all living containers whenever their number has grown by a quarter. A crowd of
debates keeps growing and makes no cyclic garbage, so those looks find nothing and cost about a
quarter of the time (3 seats, 3 rounds, 500 debates at once: 1.27 s, and 0.97 s with this). Few
debates, as in a notebook cell, change nothing; the process's own setting is put back afterwards.
"""

from __future__ import annotations

import gc
import threading
from typing import Final

CROWD: Final = 32
"""So many debates at once are a crowd."""

THRESHOLDS: Final = (20_000, 20, 100)
"""`gc.set_threshold` meanwhile: cyclic garbage is still collected, in larger portions."""

_lock = threading.Lock()
_count = 0
_before: tuple[int, int, int] | None = None


def enter() -> None:
    """Count a debate in; the one that makes a crowd slows the collector down."""
    global _count, _before
    with _lock:
        _count += 1
        own = gc.get_threshold()
        if _count == CROWD and _before is None and 0 < own[0] < THRESHOLDS[0]:
            _before = own
            gc.set_threshold(*THRESHOLDS)


def leave() -> None:
    """Count a debate out; when the crowd has gone, the process's own setting is back."""
    global _count, _before
    with _lock:
        _count -= 1
        if _count < CROWD and _before is not None:
            if gc.get_threshold() == THRESHOLDS:  # else somebody has set it meanwhile
                gc.set_threshold(*_before)
            _before = None
