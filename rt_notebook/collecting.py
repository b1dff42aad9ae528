"""Rarer garbage collections while many debates run at once, and while a table is made.

CPython looks through all living containers whenever their number has grown by a quarter. A crowd of
debates, as in a sweep, keeps growing and makes no cyclic garbage, so those looks find nothing and
cost about a quarter of the time (3 seats, 3 rounds, 500 debates at once: 1.27 s, and 0.97 s with
this). A table of many debates is tens of thousands of rows and lists, all of them wanted: a fifth
of the time. Few debates, as in a notebook cell, change nothing.

Crowd and tables hold one setting between them: the first slows the collector down, and with the
last the process's own setting is back. A process that has it off, or slower, is left as it is.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

CROWD: Final = 32
"""So many debates at once are a crowd."""

THRESHOLDS: Final = (20_000, 20, 100)
"""`gc.set_threshold` meanwhile: cyclic garbage is still collected, in larger portions."""

Thresholds = tuple[int, int, int]


class _Collector:
    """The process's one collector, and who wants it slower."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a crowd holds while it counts
        self._holders = 0
        self._debates = 0
        # The process's own setting and ours as the collector tells it; None while it's not changed.
        self._changed: tuple[Thresholds, Thresholds] | None = None

    def enter(self) -> None:
        """Count a debate in; the one that makes a crowd holds for all of it."""
        with self._lock:
            self._debates += 1
            if self._debates == CROWD:
                self.hold()

    def leave(self) -> None:
        """Count a debate out."""
        with self._lock:
            if self._debates == CROWD:
                self.let_go()
            self._debates -= 1

    def hold(self) -> None:
        """Slow it down for one more."""
        with self._lock:
            self._holders += 1
            own = gc.get_threshold()
            if self._holders == 1 and 0 < own[0] < THRESHOLDS[0]:
                gc.set_threshold(*THRESHOLDS)
                # Read back: a Python that has no third generation tells another third number.
                self._changed = own, gc.get_threshold()

    def let_go(self) -> None:
        """Slow it down for one less."""
        with self._lock:
            self._holders -= 1
            if self._holders == 0 and self._changed is not None:
                own, ours = self._changed
                if gc.get_threshold() == ours:  # else somebody has set it meanwhile
                    gc.set_threshold(*own)
                self._changed = None


_COLLECTOR: Final = _Collector()


@contextmanager
def rarer_collections() -> Iterator[None]:
    """Slow the collector down, on any thread and as often as wanted at once."""
    _COLLECTOR.hold()
    try:
        yield
    finally:
        _COLLECTOR.let_go()


@contextmanager
def one_debate() -> Iterator[None]:
    """Count a running debate; the collector is slow while `CROWD` or more run."""
    _COLLECTOR.enter()
    try:
        yield
    finally:
        _COLLECTOR.leave()
