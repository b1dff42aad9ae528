"""The database's form and how an older one becomes the present one.

Owns the schema. A migration that was released is never changed: a new form is a new entry at the
list's end, and every entry leaves all rows readable.
"""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Final

from rt_notebook.errors import StoreError

APPLICATION_ID: Final = 0x52544E42
"""Marks our databases (`RTNB`), so that another program's is never written to."""

# Numbers stand in for ids in events, so that the index over them stays small; events are a plain
# row table, so that a commit appends to a few pages however many debates it serves.
_FIRST: Final = (
    """
    CREATE TABLE debates (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        kind TEXT NOT NULL,
        title TEXT NOT NULL,
        brief TEXT NOT NULL,
        seats TEXT NOT NULL,
        status TEXT NOT NULL,
        stop_reason TEXT,
        pick TEXT,
        verdict_asked INTEGER NOT NULL DEFAULT 0,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        revision INTEGER NOT NULL
    )
    """,
    "CREATE INDEX debates_by_status ON debates (status)",
    "CREATE INDEX debates_by_brief ON debates (brief)",
    """
    CREATE TABLE events (
        debate INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        at INTEGER NOT NULL,
        kind TEXT NOT NULL,
        v INTEGER NOT NULL,
        body TEXT NOT NULL
    )
    """,
    # Two writers of one debate can't both have their event: the second breaks this.
    "CREATE UNIQUE INDEX events_by_number ON events (debate, seq)",
    """
    CREATE TABLE leases (
        claim INTEGER PRIMARY KEY,
        debate INTEGER NOT NULL UNIQUE,
        pid INTEGER NOT NULL,
        host TEXT NOT NULL,
        boot TEXT NOT NULL,
        started INTEGER NOT NULL,
        beat INTEGER NOT NULL
    )
    """,
)

# What other processes ask of a debate. `taken` is set by the debate's holder, `answer` follows; who
# asked removes the row. A number is never given twice, or somebody could read another's answer.
_SECOND: Final = (
    """
    CREATE TABLE commands (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        debate INTEGER NOT NULL,
        verb TEXT NOT NULL,
        body TEXT NOT NULL,
        source TEXT NOT NULL,
        asked_at INTEGER NOT NULL,
        taken INTEGER NOT NULL DEFAULT 0,
        answer TEXT
    )
    """,
    "CREATE INDEX commands_by_debate ON commands (debate)",
    # Holds what nobody has taken yet, so that looking costs the same however many were asked.
    "CREATE INDEX commands_waiting ON commands (number) WHERE taken = 0",
)

# The holder's steady clock at its last sign of life: on its own host, the time of day may be set.
_THIRD: Final = ("ALTER TABLE leases ADD COLUMN ticks INTEGER NOT NULL DEFAULT 0",)

MIGRATIONS: Final[tuple[tuple[str, ...], ...]] = (_FIRST, _SECOND, _THIRD)
"""Statements by version, from 1."""

VERSION: Final = len(MIGRATIONS)
"""The version of the present form, kept in `user_version`."""


def migrate(connection: sqlite3.Connection, place: str) -> None:
    """Bring the database to the present form; several processes may try at once.

    Args:
        connection: in autocommit mode.
        place: the file, for messages.

    Raises:
        StoreError: the database is of a newer version, or another program's.
    """
    if checked_version(connection, place) == VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Again, now that nobody else can be at it.
        for statements in MIGRATIONS[_checked(connection, place) :]:
            for statement in statements:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def odd_columns(connection: sqlite3.Connection) -> list[str]:
    """Return in what the tables of a store of ours differ from those of its own version.

    Columns that no version knows don't count. Nothing is said of another program's database, nor
    of a newer version's.
    """
    with _one_look(connection):
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        application = int(connection.execute("PRAGMA application_id").fetchone()[0])
        if application != APPLICATION_ID or version > VERSION:
            return []
        known = _columns(connection) & _made_by(MIGRATIONS)
    return sorted(_made_by(MIGRATIONS[: max(version, 0)]) ^ known)


@functools.lru_cache(maxsize=4)
def _made_by(migrations: tuple[tuple[str, ...], ...]) -> set[str]:
    with closing(sqlite3.connect(":memory:")) as empty:
        for statements in migrations:
            for statement in statements:
                empty.execute(statement)
        return _columns(empty)


def _columns(connection: sqlite3.Connection) -> set[str]:
    query = (
        "SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c "
        "WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'"
    )
    return {f"{table}.{column}" for table, column in connection.execute(query)}


def checked_version(connection: sqlite3.Connection, place: str) -> int:
    """Return the version of the database's form, 0 for a new one; reads only.

    Raises:
        StoreError: the database is of a newer version, or another program's.
    """
    with _one_look(connection):
        return _checked(connection, place)


@contextmanager
def _one_look(connection: sqlite3.Connection) -> Iterator[None]:
    # One transaction, so that what is read fits together while another process migrates.
    connection.execute("BEGIN")
    try:
        yield
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _checked(connection: sqlite3.Connection, place: str) -> int:
    used = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    application = int(connection.execute("PRAGMA application_id").fetchone()[0])
    if (version or used) and application != APPLICATION_ID:
        raise StoreError(
            f"{place} is another program's database; nothing was written to it: "
            "choose another place with store=PATH or RT_NOTEBOOK_STORE",
            fault="foreign",
            place=place,
        )
    if version > VERSION:
        raise StoreError(
            f"the store {place} has form {version}; this version knows up to {VERSION}: "
            "upgrade rt-notebook, if a newer one wrote it; if it is damaged, choose another place "
            "with store=PATH or RT_NOTEBOOK_STORE, into which `rt-notebook doctor --recover FILE` "
            "puts what is readable",
            fault="newer",
            place=place,
            version=version,
        )
    return version
