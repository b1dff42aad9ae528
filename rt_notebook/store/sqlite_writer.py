"""Group commit: what all debates of a loop append within one tick becomes one transaction.

Written on the loop's own thread. A commit into a write-ahead log takes some ten microseconds; a
second thread for it would cost two switches of the interpreter lock for each group, which is far
more, and the events would wait for it. The price is that a locked database holds the loop up.

Owns the queue of appends, the heartbeat, and how a fault reaches those who wait.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable
from contextvars import Context
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, Protocol
from weakref import WeakValueDictionary

from rt_notebook.errors import StoreError
from rt_notebook.store import sqlite_leases as leases
from rt_notebook.store.log import BEAT_S
from rt_notebook.store.projection import FIRST_STATUS, RESUMED, Changes, NewRow, RowChange
from rt_notebook.store.sqlite_database import Database
from rt_notebook.store.sqlite_inbox import Inbox

logger = logging.getLogger(__name__)

_INSERT_EVENT: Final = (
    "INSERT INTO events (debate, seq, at, kind, v, body) VALUES (?, ?, ?, ?, ?, ?)"
)
_INSERT_DEBATE: Final = (
    "INSERT INTO debates (id, kind, title, brief, seats, status, created_at, updated_at, revision) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_VERSION: Final = "PRAGMA data_version"
_CHANGE_ROW: Final = (
    "UPDATE debates SET status = CASE WHEN :status = :resumed "
    "THEN CASE WHEN verdict_asked THEN 'verdict' ELSE 'running' END "
    "ELSE coalesce(:status, status) END, "
    "stop_reason = CASE WHEN :sets_reason THEN :reason ELSE stop_reason END, "
    "pick = CASE WHEN :sets_pick THEN :pick ELSE pick END, "
    "verdict_asked = coalesce(:asked, verdict_asked), "
    "updated_at = :at, revision = :seq WHERE number = :number"
)

Version = tuple[int, int]
"""What changes when any other connection of any process commits, or this process moves a lease."""

EventRow = tuple[int, int, str, int, str]
"""seq, at, kind, v, body as JSON."""


class Hold(NamedTuple):
    """What a log needs to write to its debate."""

    number: int
    """The debate's number in the tables."""
    claim: int
    """The claim of the lease."""


class Log(Protocol):
    """A log as the writer sees it."""

    debate: str
    """The debate's id."""
    hold: Hold | None
    """Set while the debate is this log's."""
    seen: Version | None
    """The database's version when the lease was last found to be this log's."""

    fault: StoreError | None
    """Why an append failed; no later one is stored then, or the log would have a hole."""

    @property
    def gone(self) -> bool:
        """True when its loop is closed."""


@dataclass(slots=True, eq=False)
class Append:
    """One append on its way."""

    log: Log
    """Whose it is."""
    rows: list[EventRow]
    """The events."""
    changes: Changes
    """What else follows from them."""
    power: bool
    """True when the disk must have it."""
    committed: Callable[[], None]
    """Called when it is durable."""
    future: asyncio.Future[None]
    """Done when `committed` returned."""
    context: Context
    """The appender's, in which `committed` is called."""
    before: Hold | None = None
    """The log's hold before this append's group."""
    hold: Hold | None = None
    """With which it is written."""
    error: StoreError | None = None
    """Why it isn't stored."""


class Writer:
    """Writes the appends of one loop.

    Args:
        database: where to.
        loop: whose; only its thread may use this.
    """

    def __init__(self, database: Database, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.inbox = Inbox(database, loop)
        """What other processes ask of the debates on this loop."""
        self._database = database
        self._pending: list[Append] = []
        self._logs: WeakValueDictionary[int, Log] = WeakValueDictionary()
        self._timer: asyncio.TimerHandle | None = None

    def append(self, append: Append) -> None:
        """Write `append` at the end of this tick, together with what else comes until then."""
        if not self._pending:
            self.loop.call_soon(self.flush)
        self._pending.append(append)

    def keep(self, log: Log) -> None:
        """Say from now on, until it is given back, that the holder of this log is alive."""
        if log.hold is not None:
            self._logs[log.hold.claim] = log
            if self._timer is None:
                self._timer = self.loop.call_later(BEAT_S, self._beat)

    def flush(self) -> None:
        """Write what is waiting now; on the loop's thread."""
        batch, self._pending = self._pending, []
        if not batch:
            return
        try:
            if not self._write(batch):
                # One of them broke a rule of the tables; alone, it fails alone.
                for append in batch:
                    self._write([append])
        except BaseException as error:
            # Not a fault of the store: nobody may wait for ever, and it isn't hidden.
            _undo(batch)
            for append in batch:
                _refuse(append, StoreError(f"the store failed: {error!r}"))
            raise
        finally:
            self._settle_all(batch)

    def _write(self, batch: list[Append]) -> bool:
        """Write a group in one transaction; False: nothing is written, write them one by one."""
        power = any(append.power for append in batch)
        for append in batch:
            append.before, append.hold = append.log.hold, None
        try:
            with self._database.transaction(power) as connection:
                version = (connection.execute(_VERSION).fetchone()[0], self._database.epoch)
                _write_rows(connection, [a for a in batch if _accept(connection, a, version)])
        except sqlite3.IntegrityError:
            _undo(batch)
            if len(batch) > 1:
                return False
            _refuse(batch[0], _conflict(batch[0]))
        except StoreError as error:
            _undo(batch)
            for append in batch:
                _refuse(append, error)
        return True

    def _settle_all(self, batch: list[Append]) -> None:
        raised: BaseException | None = None
        for append in batch:
            try:
                self._settle(append)
            except BaseException as error:
                # Ctrl-C in somebody's view ends the loop, but the others' events are stored too.
                raised = error
        if raised is not None:
            raise raised

    def _settle(self, append: Append) -> None:
        future = append.future
        if append.error is not None:
            if not future.done():
                future.set_exception(append.error)
            return
        if append.changes.new is not None:
            self.keep(append.log)
        try:
            # Not in the context of whoever appended first in this tick: output belongs to a cell.
            append.context.run(append.committed)
        except Exception as error:  # the edge to other people's code: the others' must still run
            if future.done():
                context = {"message": "an event's effect failed", "exception": error}
                self.loop.call_exception_handler(context)
            else:
                future.set_exception(error)
        finally:
            # Whoever waited may have been cancelled; the event is stored and has had its effect.
            if not future.done():
                future.set_result(None)

    def _beat(self) -> None:
        self._timer = None
        logs = list(self._logs.items())
        claims = [claim for claim, log in logs if log.hold is not None and log.hold.claim == claim]
        if not claims:
            return
        try:
            self._database.check_file()
            with self._database.transaction() as connection:
                leases.beat(connection, claims)
        except StoreError as error:
            logger.warning("no sign of life could be written: %s", error)
        self._timer = self.loop.call_later(BEAT_S, self._beat)


def _accept(connection: sqlite3.Connection, append: Append, version: Version) -> bool:
    """Place a new debate, check the lease of an old one; False: the append is refused."""
    log = append.log
    if log.fault is not None:
        return _refuse(append, log.fault)
    if append.changes.new is not None:
        log.hold = _create(connection, append, append.changes.new)
    elif log.hold is None:
        message = f"debate {log.debate!r} isn't held by this run: take it over first"
        return _refuse(append, StoreError(message, fault="unheld", id=log.debate))
    elif log.seen != version and not leases.is_held(connection, log.hold.claim):
        log.hold = None
        return _refuse(append, _taken(connection, append))
    log.seen = version
    append.hold = log.hold
    if append.changes.releases:
        log.hold = None
    return True


def _create(connection: sqlite3.Connection, append: Append, new: NewRow) -> Hold:
    values = (
        append.log.debate, new.kind, new.title, new.brief, new.seats, FIRST_STATUS,
        new.at, new.at, new.seq,
    )  # fmt: skip
    number = connection.execute(_INSERT_DEBATE, values).lastrowid
    return Hold(number or 0, leases.new_claim(append.log))


def _write_rows(connection: sqlite3.Connection, accepted: list[Append]) -> None:
    events: list[tuple[int, int, int, str, int, str]] = []
    changed: list[dict[str, object]] = []
    taken: list[tuple[int, int]] = []
    released: list[int] = []
    for append in accepted:
        changes, hold = append.changes, append.hold
        if hold is None:
            continue
        number = hold.number
        events.extend([(number, *row) for row in append.rows])
        if changes.new is not None:
            taken.append((hold.claim, number))
        if changes.row is not None:
            changed.append(_values(changes.row, number))
        if changes.releases:
            released.append(hold.claim)
    connection.executemany(_INSERT_EVENT, events)
    if taken:
        leases.insert(connection, taken)
    if changed:
        connection.executemany(_CHANGE_ROW, changed)
    if released:
        leases.remove(connection, released)


def _values(row: RowChange, number: int) -> dict[str, object]:
    return {
        "status": row.status, "resumed": RESUMED, "sets_reason": row.sets_reason,
        "reason": row.stop_reason, "sets_pick": row.sets_pick, "pick": row.pick,
        "asked": row.verdict_asked, "at": row.at, "seq": row.seq, "number": number,
    }  # fmt: skip


def _refuse(append: Append, error: StoreError) -> Literal[False]:
    # One exception each: they are raised in tasks of their own.
    append.error = StoreError(str(error), **error.facts)
    append.error.__cause__ = error.__cause__
    append.log.fault = error
    return False


def _undo(batch: list[Append]) -> None:
    for append in batch:
        append.log.hold = append.before


def _conflict(append: Append) -> StoreError:
    debate = append.log.debate
    if append.changes.new is not None:
        return StoreError(f"the id {debate!r} is in use: choose another", fault="exists", id=debate)
    return StoreError(
        f"another process took debate {debate!r} over: event {append.rows[0][0]} is there already",
        fault="taken",
        id=debate,
    )


def _taken(connection: sqlite3.Connection, append: Append) -> StoreError:
    debate = append.log.debate
    lease = leases.find(connection, debate)
    who = lease.holder if lease is not None else "another process"
    return StoreError(
        f"{who} took debate {debate!r} over: this run of it can't go on", fault="taken", id=debate
    )
