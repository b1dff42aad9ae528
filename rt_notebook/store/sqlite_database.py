"""One SQLite file: making and opening it, its journal, and one connection for each thread.

A connection is used on its own thread only: the thread of a debate's loop writes on it, any other
thread reads on its own, and in a write-ahead log neither waits for the other. Transactions are
begun and ended here in so many words; the module's implicit ones are off.

A damaged file is set aside before it is opened, see `sqlite_damage`; one that was set aside is only
read.

Must not know what is in the tables.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from rt_notebook.errors import StoreError
from rt_notebook.store.aside import is_set_aside
from rt_notebook.store.file_systems import network_file_system
from rt_notebook.store.migrations import VERSION, checked_version, migrate
from rt_notebook.store.sqlite_damage import (
    connect_read_only,
    find_damage,
    is_in_use,
    mark_damaged,
    set_aside,
)
from rt_notebook.store.sqlite_faults import ERRORS, SqliteError, code_of, explain, explain_os
from rt_notebook.store.sqlite_wal import PAGE

BUSY_S: Final = 10.0
"""Seconds that a write waits for another process's write."""

Connect = Callable[[Path], sqlite3.Connection]
"""Opens the file, in autocommit mode and closable by any thread."""

_WAL: Final = "wal"
_ROLLBACK: Final = "delete"
# A write-ahead log that has grown beyond this is cut back when it is empty again.
_WAL_BYTES: Final = 16 * 1024 * 1024
_RETRY_S: Final = 0.01
# Another process that is about to set the same damaged file aside is done by then.
_SETTLE_S: Final = 1.0
_DAMAGED: Final = "damaged"
_SET_ASIDE: Final = "set aside"
# What SQLite says where it can't have the shared memory that a write-ahead log needs.
_NO_SHARED_MEMORY: Final = frozenset(
    {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_IOERR}
)


def connect(path: Path) -> sqlite3.Connection:
    """Open a file that exists or can be made."""
    return sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)


class _Held:
    """A thread's connection, entered while the thread uses it; closed when the thread ends."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.power = False
        self._users = 0
        self._leaving = False

    def __enter__(self) -> _Held:
        self._users += 1
        return self

    def __exit__(self, *error: object) -> None:
        self._users -= 1
        if self._leaving:
            self.close()

    def close(self) -> None:
        # Closed under a thread that is in SQLite, it would take the whole process down. No lock,
        # which an interrupt could leave locked: who closes says so first and looks at the users
        # then, a user counts first and looks at what was said then (`Database._check_open`).
        self._leaving = True
        if not self._users:
            self.connection.close()

    def __del__(self) -> None:
        self.connection.close()


class Database:
    """A file and this process's connections to it.

    Args:
        path: absolute; the file and its folder are made for this user alone if they don't exist.
        opener: opens a connection.

    Raises:
        StoreError: it can't be made, opened or read; what was there is left as it was, or was set
            aside because it is damaged (`fault` is `set aside`): opening it again works.
    """

    def __init__(self, path: Path, opener: Connect = connect) -> None:
        self.path = path
        self.place = str(path)
        self.notes: list[str] = []
        self.epoch = 0
        """Counts the leases that this process moved outside of the writers."""
        self.damaged = False
        """True once a bad page was met; whoever opens it next sets it aside."""
        self._only_read = False
        self._opener = opener
        self._gone: str | None = None
        self._prepared = False
        self._identity: tuple[int, int] | None = None
        self._forget()
        self._open()

    @property
    def usable(self) -> bool:
        """True while it is open and the file is still the one that was opened."""
        self.check_file()
        return self._gone is None

    def connection(self) -> sqlite3.Connection:
        """Return the calling thread's connection, for as long as no other thread closes this."""
        return self._held().connection

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Read on the calling thread's connection.

        Raises:
            StoreError: it can't be read.
        """
        with self._held() as held, self.explained():
            self._check_open()
            yield held.connection

    @contextmanager
    def transaction(self, power: bool = False) -> Iterator[sqlite3.Connection]:
        """Write on the calling thread's connection: all of it or nothing.

        Args:
            power: wait until the disk has it, so that it survives the machine's end.

        Raises:
            StoreError: it can't be written.
            sqlite3.IntegrityError: a row is there already; nothing was written.
        """
        self.check_file()
        with self._held() as held:
            self._check_open()
            connection = held.connection
            try:
                if power is not held.power:
                    self._set_power(held, power)
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                connection.execute("COMMIT")
            except sqlite3.IntegrityError:
                raise
            except ERRORS as error:
                raise self._explain(error) from error
            finally:
                # Some faults (a full disk) make SQLite roll back by itself.
                if connection.in_transaction:
                    with suppress(sqlite3.Error):  # the fault that led here is the one to tell
                        connection.execute("ROLLBACK")

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn SQLite's errors into ours.

        Raises:
            StoreError: it can't be read.
        """
        try:
            yield
        except ERRORS as error:
            raise self._explain(error) from error

    def close(self) -> None:
        """Close the connections of all threads; one in use, when its thread is done with it."""
        self._gone = "was closed"
        for held in list(self._all):
            held.close()

    def check_file(self) -> None:
        """Find out whether the file was taken away; from then on nothing is written any more."""
        if self._gone is None and self._stat() != self._identity:
            # SQLite would go on writing into a file that nobody can find.
            self._gone = "was removed or replaced while it was in use"

    def _open(self) -> None:
        deadline = time.monotonic() + _SETTLE_S
        while True:
            try:
                self._make_file()
                self._find_rights()
                self._set_damage_aside()
                self._prepare()
                return
            except BaseException as error:
                self.close()
                damaged = isinstance(error, StoreError) and error.facts.get("fault") == _DAMAGED
                if not (damaged and time.monotonic() < deadline and self._others_are_at_it()):
                    raise
            self._gone = None
            self._forget()
            time.sleep(_RETRY_S)

    def _prepare(self) -> None:
        with self.explained():
            connection = self.connection()
            if self._only_read:
                self._check_form(connection)
            else:
                self._choose_journal(connection)
                migrate(connection, self.place)
            _tune(connection)
        self._prepared = True

    def _find_rights(self) -> None:
        # A log needs the folder as well.
        writable = os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK)
        self._only_read = is_set_aside(self.path) or not writable
        if self._only_read:
            self._opener = connect_read_only

    def _check_form(self, connection: sqlite3.Connection) -> None:
        if checked_version(connection, self.place) != VERSION:
            raise StoreError(
                f"the store {self.place} is read-only and of an older form, which can't be read: "
                "make the file and its folder writable, and open it once",
                fault="readonly",
                place=self.place,
            )
        self.notes.append(f"the store {self.place} is read-only: it can be looked at, no more")

    def _set_damage_aside(self) -> None:
        with _OPENING:
            self._identity = self._stat()
            # Where this process has the file open, it was looked at before. On a network mount,
            # nobody can know who else has it.
            skip = self._only_read or self._is_open_here() or network_file_system(self.path)
            _DATABASES.add(self)
            damage = None if skip else find_damage(self.path)
            if damage is None:
                return
            said = set_aside(self.path, damage, self._identity)
        # Raised, so that whoever opened it is told, by whatever front end; the next opening works.
        raise StoreError(said, fault=_SET_ASIDE, place=self.place, part=damage.part)

    def _others_are_at_it(self) -> bool:
        with _OPENING:
            replaced = self._stat() != self._identity
            return replaced or self._is_open_here() or is_in_use(self.path)

    def _is_open_here(self) -> bool:
        others = [each for each in _DATABASES if each is not self and each._gone is None]
        return any(each._identity == self._identity for each in others)

    def _explain(self, error: SqliteError) -> StoreError:
        found = explain(error, self.place, opened=self._prepared)
        if found.facts["fault"] == _DAMAGED and self._prepared:
            self.damaged = True
            mark_damaged(self.path, str(found))
        return found

    def _forget(self) -> None:
        self._local = threading.local()
        self._all: weakref.WeakSet[_Held] = weakref.WeakSet()

    def _check_open(self) -> None:
        if self._gone is not None:
            raise StoreError(f"the store {self.place} {self._gone}", fault="gone")

    def _held(self) -> _Held:
        self._check_open()
        held: _Held | None = getattr(self._local, "held", None)
        if held is None:
            with self.explained():
                held = _Held(self._opener(self.path))
                if self._prepared:
                    _tune(held.connection)
            self._local.held = held
            self._all.add(held)
        return held

    def _set_power(self, held: _Held, power: bool) -> None:
        held.connection.execute(f"PRAGMA synchronous = {'FULL' if power else 'NORMAL'}")
        # macOS: a plain fsync leaves it in the drive's cache.
        held.connection.execute(f"PRAGMA fullfsync = {int(power)}")
        held.power = power

    def _make_file(self) -> None:
        try:
            # Only what is made here gets its mode; a folder that was there is its owner's matter.
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # SQLite gives the -wal and -shm beside it the same mode. The file is never opened
            # here when it is there: closing it would end the locks of this process's connections.
            if not self.path.exists():
                os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except FileExistsError as error:
            if not self.path.is_file():
                raise explain_os(error, self.place) from error
        except OSError as error:
            raise explain_os(error, self.place) from error
        if not self.path.is_file():
            raise StoreError(f"the store {self.place} is no file", fault="open", place=self.place)

    def _stat(self) -> tuple[int, int] | None:
        try:
            found = os.stat(self.place)  # before every write: half of what a Path's takes
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _choose_journal(self, connection: sqlite3.Connection) -> None:
        network = network_file_system(self.path)
        connection.execute(f"PRAGMA page_size = {PAGE}")  # of a file that is new
        try:
            mode = self._set_journal(connection, _ROLLBACK if network else _WAL)
        except sqlite3.OperationalError as error:
            if code_of(error) not in _NO_SHARED_MEMORY:
                raise
            mode = self._give_up_log(connection)
        if mode == _WAL:
            return
        where = f"a network file system ({network})" if network else "a file system"
        self.notes.append(
            f"the store {self.place} is on {where} where a write-ahead log can't work: a rollback "
            "journal is used, so that readers and writers wait for one another"
        )

    def _give_up_log(self, connection: sqlite3.Connection) -> str:
        # In this mode the log's index is in this process's memory, so that a log which is there
        # can be emptied and given up.
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        try:
            return self._set_journal(connection, _ROLLBACK)
        finally:
            connection.execute("PRAGMA locking_mode = NORMAL")

    def _set_journal(self, connection: sqlite3.Connection, wanted: str) -> str:
        deadline = time.monotonic() + BUSY_S
        while True:
            try:
                # Before the first write: the file may be another program's.
                checked_version(connection, self.place)
                found: str = connection.execute("PRAGMA journal_mode").fetchone()[0]
                if found != wanted:
                    found = connection.execute(f"PRAGMA journal_mode = {wanted}").fetchone()[0]
                return found
            except sqlite3.OperationalError as error:
                if code_of(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                # SQLite doesn't wait by itself for this lock, while others open the file as well.
                time.sleep(_RETRY_S)


def _tune(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute(f"PRAGMA journal_size_limit = {_WAL_BYTES}")
    # What is deleted is overwritten; else that would depend on how the library was built.
    connection.execute("PRAGMA secure_delete = ON")


# One database of this process is looked at or opened at a time: see `find_damage`.
_OPENING = threading.Lock()
_DATABASES: Final[weakref.WeakSet[Database]] = weakref.WeakSet()
_INHERITED: Final[list[object]] = []


def _after_fork() -> None:
    global _OPENING
    _OPENING = threading.Lock()
    # A child must not use or close a parent's connections (SQLite, "How to corrupt", 2.6).
    for database in list(_DATABASES):
        _INHERITED.extend([database._local, *database._all])
        database._forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
