"""Who runs a debate: taking, keeping and losing leases in the database.

Owns the `leases` table and the rules for when a lease is stale. Every function that writes runs in
its caller's transaction. Must not know events.
"""

from __future__ import annotations

import secrets
import sqlite3
import time
from collections.abc import Iterable
from typing import Final, Protocol
from weakref import WeakValueDictionary

from rt_notebook.store.log import STALE_S, Lease
from rt_notebook.store.process import Process, is_dead, this_process

LeaseColumns = tuple[int, int, str, str, int, int, int]
"""claim, pid, host, boot, started, beat, ticks."""

_CLAIM_BITS: Final = 62
_FIND: Final = (
    "SELECT l.claim, l.pid, l.host, l.boot, l.started, l.beat, l.ticks "
    "FROM leases l JOIN debates d ON d.number = l.debate WHERE d.id = ?"
)
_DROP_OF: Final = "DELETE FROM leases WHERE debate = ?"
_INSERT: Final = (
    "INSERT INTO leases (claim, debate, pid, host, boot, started, beat, ticks) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
_CHECK: Final = "SELECT 1 FROM leases WHERE claim = ?"
_DROP: Final = "DELETE FROM leases WHERE claim = ?"
_BEAT: Final = "UPDATE leases SET beat = ?, ticks = ? WHERE claim = ?"


class Holder(Protocol):
    """Who holds a lease in this process."""

    @property
    def gone(self) -> bool:
        """True when the loop that ran the debate is closed, so that nothing can follow."""


_HELD: Final[WeakValueDictionary[int, Holder]] = WeakValueDictionary()
"""This process's holders by claim."""


def now_ms() -> int:
    """Return milliseconds since 1970 UTC."""
    return time.time_ns() // 1_000_000


def ticks_ms() -> int:
    """Return milliseconds of this host's steady clock, which all its processes share."""
    return time.monotonic_ns() // 1_000_000


def new_claim(holder: Holder) -> int:
    """Return a claim that is known as this process's from now on."""
    claim = secrets.randbits(_CLAIM_BITS)
    _HELD[claim] = holder
    return claim


def drop_claim(claim: int) -> None:
    """Forget a claim that led to nothing or is over."""
    _HELD.pop(claim, None)


def insert(connection: sqlite3.Connection, claims: Iterable[tuple[int, int]]) -> None:
    """Write leases of this process: pairs of claim and debate number."""
    row = (*this_process(), now_ms(), ticks_ms())
    connection.executemany(_INSERT, [(claim, number, *row) for claim, number in claims])


def replace(connection: sqlite3.Connection, claim: int, number: int) -> None:
    """Write a lease of this process in place of a stale one."""
    connection.execute(_DROP_OF, (number,))
    insert(connection, [(claim, number)])


def remove(connection: sqlite3.Connection, claims: Iterable[int]) -> None:
    """Give leases back."""
    connection.executemany(_DROP, [(claim,) for claim in claims])


def beat(connection: sqlite3.Connection, claims: Iterable[int]) -> None:
    """Say that the holder of these claims is alive."""
    now, ticks = now_ms(), ticks_ms()
    connection.executemany(_BEAT, [(now, ticks, claim) for claim in claims])


def is_held(connection: sqlite3.Connection, claim: int) -> bool:
    """Return whether nobody else took the debate over."""
    return connection.execute(_CHECK, (claim,)).fetchone() is not None


def find(connection: sqlite3.Connection, debate: str) -> Lease | None:
    """Return a debate's lease, stale or not."""
    row = connection.execute(_FIND, (debate,)).fetchone()
    return None if row is None else lease_of(row, StaleRule())


def lease_of(row: LeaseColumns, rule: StaleRule) -> Lease:
    """Return the lease of a row of the table."""
    claim, pid, host, boot, started, beat_at, ticks = row
    stale = rule(Process(pid, host, boot, started), claim, beat_at, ticks)
    return Lease(claim, pid, host, boot, started, beat_at, stale)


class StaleRule:
    """Says which leases are stale, looking each process up once."""

    def __init__(self) -> None:
        self._now, self._ticks = now_ms(), ticks_ms()
        self._dead: dict[Process, bool] = {}

    def __call__(self, process: Process, claim: int, beat_at: int, ticks: int) -> bool:
        """Return whether a lease counts no more.

        Args:
            process: its holder.
            claim: its claim.
            beat_at: the last sign of life, milliseconds since 1970 UTC.
            ticks: the same by the holder's steady clock; 0 where unknown.
        """
        if process == this_process():
            holder = _HELD.get(claim)
            if holder is None or holder.gone:
                return True
        elif self._is_dead(process):
            return True
        mine = this_process()
        if ticks and mine.boot and (process.host, process.boot) == (mine.host, mine.boot):
            return self._ticks - ticks > STALE_S * 1000
        # A sign of life far in the future was made by a clock that has been put back since.
        return abs(self._now - beat_at) > STALE_S * 1000

    def _is_dead(self, process: Process) -> bool:
        if process not in self._dead:
            self._dead[process] = is_dead(process)
        return self._dead[process]
