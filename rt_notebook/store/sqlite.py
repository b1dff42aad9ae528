"""The store in one SQLite file.

Owns what is read, the logs, and the cache of open stores; writing events is the writer's part.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import copy_context
from operator import itemgetter
from pathlib import Path
from typing import Any, Final
from weakref import WeakSet

from rt_notebook.domain.events import Event, decode_event, encode_body
from rt_notebook.domain.state import LIVE, RESUMABLE
from rt_notebook.errors import NotResumableError, StoreError, UnknownDebateError, nearest
from rt_notebook.store import sqlite_commands as commands
from rt_notebook.store import sqlite_leases as leases
from rt_notebook.store.log import Answer, DebateRow, Durability, Lease, Take
from rt_notebook.store.paths import store_path
from rt_notebook.store.projection import INTERRUPTED, changes_of
from rt_notebook.store.sqlite_database import Connect, Database, connect
from rt_notebook.store.sqlite_inbox import SqliteWatch
from rt_notebook.store.sqlite_writer import Append, Hold, Version, Writer

logger = logging.getLogger(__name__)

_ROW: Final = (
    "SELECT d.id, d.kind, d.title, d.status, d.stop_reason, d.pick, d.seats, d.created_at, "
    "d.updated_at, d.revision, d.brief, d.number, "
    "l.claim, l.pid, l.host, l.boot, l.started, l.beat, l.ticks "
    "FROM debates d LEFT JOIN leases l ON l.debate = d.number "
)
_NEWEST: Final = " ORDER BY d.number DESC"
_LAST_ID: Final = "SELECT id FROM debates ORDER BY number DESC LIMIT 1"
_NEW_IDS: Final = "SELECT id FROM debates ORDER BY number DESC LIMIT 200"
_NUMBER: Final = "SELECT number FROM debates WHERE id = ?"
_REVISION: Final = "SELECT coalesce(max(seq), 0) FROM events WHERE debate = ?"
_EVENTS: Final = (
    "SELECT v, seq, at, kind, body FROM events WHERE debate = ? AND seq > ? ORDER BY seq"
)
_DELETE: Final = (
    "DELETE FROM events WHERE debate = ?",
    "DELETE FROM commands WHERE debate = ?",
    "DELETE FROM leases WHERE debate = ?",
    "DELETE FROM debates WHERE number = ?",
)


class SqliteStore:
    """Debates in one SQLite file; see `Store`.

    Args:
        path: the file; made if it doesn't exist.
        opener: opens a connection to it.

    Raises:
        StoreError: it can't be made, opened or read.
    """

    def __init__(self, path: Path, opener: Connect = connect) -> None:
        self.database = Database(path, opener)
        """The file and its connections."""
        self._writers: dict[asyncio.AbstractEventLoop, Writer] = {}
        self._logs: WeakSet[SqliteLog] = WeakSet()
        self._lock = threading.Lock()

    @property
    def notes(self) -> Sequence[str]:
        """What a person should be told about this store, a line each."""
        return self.database.notes

    @property
    def place(self) -> str:
        """The file's path."""
        return self.database.place

    @property
    def usable(self) -> bool:
        """False where it has to be opened anew: gone, or damaged and no debate is under way."""
        if not self.database.usable:
            return False
        if not self.database.damaged:
            return True
        with self._lock:
            return any(log.hold is not None and not log.gone for log in list(self._logs))

    def log(self, debate: str, durability: Durability = "process") -> SqliteLog:
        """Return the log of a debate, new or not; nothing is read or written yet."""
        log = SqliteLog(self, debate, durability)
        with self._lock:
            self._logs.add(log)
        return log

    def events(self, debate: str, after: int = 0) -> list[Event]:
        """Return a debate's events with numbers above `after`, in order."""
        with self.database.reading() as connection:
            number = self.number_of(connection, debate)
            rows = connection.execute(_EVENTS, (number, after)).fetchall()
        if rows[-1][1] != after + len(rows) if rows else not after:
            raise StoreError(
                f"debate {debate!r}: some of its events are missing in the store {self.place}",
                debate=debate,
                fault="damaged",
            )
        return [decode_event(v, debate, seq, at, kind, body) for v, seq, at, kind, body in rows]

    def debates(self, status: str | None = None, limit: int | None = 50) -> list[DebateRow]:
        """Return the newest debates first."""
        # More than SQLite can count is all, and less than none is none.
        count = -1 if limit is None else min(max(limit, 0), sys.maxsize)
        if status is None:
            return [row for _, row in self._rows(f"{_NEWEST} LIMIT ?", (count,))]
        if status in LIVE:
            # Those whose holder is gone aren't any more; without a lease it surely is.
            found = self._rows(f"WHERE d.status = ? AND l.claim IS NOT NULL{_NEWEST}", (status,))
            return [row for _, row in found if row.status == status][:limit]
        pairs = list(self._rows(f"WHERE d.status = ?{_NEWEST} LIMIT ?", (status, count)))
        if status == INTERRUPTED:
            live = sorted(LIVE)
            found = self._rows(f"WHERE d.status IN ({', '.join('?' * len(live))})", live)
            pairs += [pair for pair in found if pair[1].status == INTERRUPTED]
            pairs.sort(key=itemgetter(0), reverse=True)
        return [row for _, row in pairs][:limit]

    def row(self, debate: str) -> DebateRow:
        """Return one debate's row."""
        for _, row in self._rows("WHERE d.id = ?", (debate,)):
            return row
        raise self._unknown(debate)

    def last_id(self) -> str | None:
        """Return the id of the newest debate, or None."""
        with self.database.reading() as connection:
            found = connection.execute(_LAST_ID).fetchone()
        return None if found is None else str(found[0])

    def lease(self, debate: str) -> Lease | None:
        """Return who runs or ran a debate, or None where nobody does."""
        with self.database.reading() as connection:
            return leases.find(connection, debate)

    def find_interrupted(self, digest: str) -> list[DebateRow]:
        """Return the debates of this brief that could be resumed, newest first."""
        rows = self._rows(f"WHERE d.brief = ?{_NEWEST}", (digest,))
        return [row for _, row in rows if row.status in RESUMABLE]

    def delete(self, debate: str) -> None:
        """Delete a debate and its events for good, once the log is carried over."""
        with self.database.transaction() as connection:
            number = self.number_of(connection, debate)
            self.refuse_live(connection, debate, "deleted")
            for statement in _DELETE:
                connection.execute(statement, (number,))
            self.database.epoch += 1

    def watch(self) -> SqliteWatch:
        """Return what notices new events, answers and leases, at next to no cost."""
        return SqliteWatch(self.database)

    def ask(self, debate: str, verb: str, body: Mapping[str, Any], source: str) -> int:
        """Leave a command for the process that runs a debate; returns its number."""
        with self.database.transaction() as connection:
            number = self.number_of(connection, debate)
            return commands.insert(connection, number, verb, body, source)

    def collect(self, number: int) -> Answer | None:
        """Return what became of a command, and forget it; None: nobody has answered yet."""
        with self.database.reading() as connection:
            found = commands.answer_of(connection, number)
        if found is not None:
            try:
                with self.database.transaction() as connection:
                    commands.remove(connection, [number])
            except StoreError as error:
                # It goes with the debate; what it says is known.
                logger.warning("an answered command stays in the store: %s", error)
        return found

    def withdraw(self, number: int) -> bool:
        """Take a command back; False: too late, somebody has taken it."""
        with self.database.transaction() as connection:
            return commands.withdraw(connection, number)

    def close(self) -> None:
        """Close the connections of all threads, once no debate runs on this store any more."""
        self.database.close()

    def writer(self, loop: asyncio.AbstractEventLoop) -> Writer:
        """Return the one writer of a loop."""
        with self._lock:
            writer = self._writers.get(loop)
            if writer is None:
                for closed in [loop for loop in self._writers if loop.is_closed()]:
                    del self._writers[closed]
                writer = self._writers[loop] = Writer(self.database, loop)
        return writer

    def number_of(self, connection: sqlite3.Connection, debate: str) -> int:
        """Return a debate's number in the tables.

        Raises:
            UnknownDebateError: there is no such debate.
        """
        found = connection.execute(_NUMBER, (debate,)).fetchone()
        if found is None:
            raise self._unknown(debate)
        return int(found[0])

    def refuse_live(self, connection: sqlite3.Connection, debate: str, verb: str) -> None:
        """Refuse what can't be done to a debate that somebody runs.

        Raises:
            NotResumableError: somebody does.
        """
        lease = leases.find(connection, debate)
        if lease is not None and not lease.stale:
            raise NotResumableError(
                f"debate {debate!r} can't be {verb}: {lease.holder} runs it; stop it there first",
                id=debate,
                pid=lease.pid,
                host=lease.host,
            )

    def _rows(self, condition: str, values: Sequence[object]) -> Iterator[tuple[int, DebateRow]]:
        rule = leases.StaleRule()
        with self.database.reading() as connection:
            cursor = connection.execute(_ROW + condition, tuple(values))
            try:
                for row in cursor:
                    yield row[11], _row_of(row, rule)
            finally:
                # A reading that is left half way would keep the log from being cut back.
                cursor.close()

    def _unknown(self, debate: str) -> UnknownDebateError:
        with self.database.reading() as connection:
            known = [str(row[0]) for row in connection.execute(_NEW_IDS)]
        hint = nearest(debate, known) or "; list the debates to see their ids"
        return UnknownDebateError(f"no debate has the id {debate!r}{hint}", id=debate)


class SqliteLog:
    """One debate's log in the hands of one holder; see `DebateLog`."""

    def __init__(self, store: SqliteStore, debate: str, durability: Durability) -> None:
        self.debate = debate
        """The debate's id."""
        self.durability = durability
        """What an event survives once it is stored."""
        self.hold: Hold | None = None
        """Set while the debate is this log's."""
        self.seen: Version | None = None
        """The database's version when the lease was last found to be this log's."""
        self.fault: StoreError | None = None
        """Why an append failed; until the next taking over nothing more is stored."""
        self._store = store
        self._writer: Writer | None = None

    @property
    def gone(self) -> bool:
        """True when the loop that ran the debate is closed."""
        return self._writer is not None and self._writer.loop.is_closed()

    def append(
        self, events: Sequence[Event], committed: Callable[[], None]
    ) -> asyncio.Future[None]:
        """Store events at the end of this tick; called on the debate's loop."""
        writer = self._writer
        loop = asyncio.get_running_loop()
        if writer is None or writer.loop is not loop:
            writer = self._bind(loop)
        future: asyncio.Future[None] = loop.create_future()
        # Encoded here, so that what can't be stored fails at its source and hurts nobody else.
        rows = [(e.seq, e.at, e.kind, e.v, encode_body(e.body)) for e in events]
        changes, context, power = changes_of(events), copy_context(), self.durability == "power"
        writer.append(Append(self, rows, changes, power, committed, future, context))
        return future

    def take_over(self) -> int:
        """Take the lease of a debate that nobody runs; exactly one taker wins."""
        store = self._store
        claim = leases.new_claim(self)
        try:
            with store.database.transaction() as connection:
                number = store.number_of(connection, self.debate)
                store.refuse_live(connection, self.debate, "taken over")
                leases.replace(connection, claim, number)
                # They were meant for the one before.
                commands.remove_of(connection, number)
                revision = int(connection.execute(_REVISION, (number,)).fetchone()[0])
                store.database.epoch += 1
        except BaseException:
            leases.drop_claim(claim)
            raise
        self.hold, self.seen, self.fault = Hold(number, claim), None, None
        loop = _running_loop()
        if loop is not None:
            self._bind(loop)
        else:
            self._writer = None  # the first append tells which loop runs it
        return revision

    def serve(self, take: Take) -> None:
        """Hand over what other processes ask of this debate; called on the debate's loop."""
        self._bind(asyncio.get_running_loop()).inbox.serve(self, take)

    async def end_service(self) -> None:
        """Hand over nothing more; done once what was handed over is answered."""
        if self._writer is not None:
            await self._writer.inbox.dismiss(self)

    def release(self) -> None:
        """Give the lease back, if it is held."""
        writer = self._writer
        if writer is not None and writer.loop is _running_loop():
            writer.flush()  # what was appended while the lease was held still counts
        hold, self.hold = self.hold, None
        if hold is None:
            return
        leases.drop_claim(hold.claim)
        try:
            with self._store.database.transaction() as connection:
                leases.remove(connection, [hold.claim])
                self._store.database.epoch += 1
        except StoreError as error:
            # Often the very fault that ended the run; the lease gets stale by itself.
            logger.warning("the lease of debate %s stays: %s", self.debate, error)

    def _bind(self, loop: asyncio.AbstractEventLoop) -> Writer:
        writer = self._writer = self._store.writer(loop)
        writer.keep(self)
        return writer


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _row_of(row: tuple[Any, ...], rule: leases.StaleRule) -> DebateRow:
    (id_, kind, title, status, reason, pick, seats, created, updated, revision, brief) = row[:11]
    if status in LIVE and (row[12] is None or leases.lease_of(row[12:], rule).stale):
        status = reason = INTERRUPTED
    return DebateRow(
        id_, kind, title, status, reason, pick, _names(seats), created, updated, revision, brief
    )


def _names(seats: str) -> tuple[str, ...]:
    try:
        return tuple(map(str, json.loads(seats)))
    except (ValueError, TypeError):
        return ()  # one damaged row doesn't take the list away


_OPEN: Final[dict[Path, SqliteStore]] = {}
_LOCK = threading.Lock()


def open_store(store: str | os.PathLike[str] | None = None) -> SqliteStore:
    """Return the store of a place, the same one for all callers in this process.

    Args:
        store: see `store_path`.

    Raises:
        OptionError: it can't be a place for a store.
        StoreError: it can't be made, opened or read.
    """
    path = store_path(store)
    with _LOCK:
        found = _OPEN.get(path)
        if found is None or not found.usable:
            if found is not None and found.database.damaged:
                found.close()  # nobody writes to it any more; it is set aside by the next opening
            # One that was removed is left to the debates that still hold it, who will hear of it.
            found = _OPEN[path] = SqliteStore(path)
    return found


def _after_fork() -> None:
    # Another thread of the parent may have held the lock, and never lets go here.
    global _LOCK
    _LOCK = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
