"""Commands from other processes in the database: asking, taking, answering, forgetting.

Owns the `commands` table. Every function that writes runs in its caller's transaction. Must not
know what the verbs mean, nor when anybody looks.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from rt_notebook.errors import StoreError, UsageError
from rt_notebook.store.log import MAX_COMMAND_BYTES, MAX_WAITING, Answer, Command
from rt_notebook.store.sqlite_leases import now_ms

# Whoever asked this long ago has died without collecting the answer.
_FORGOTTEN_MS: Final = 3_600_000
_VERSION: Final = "PRAGMA data_version"
_FORGET: Final = "DELETE FROM commands WHERE debate = ? AND asked_at < ?"
_COUNT: Final = "SELECT count(*) FROM commands WHERE debate = ?"
_INSERT: Final = (
    "INSERT INTO commands (debate, verb, body, source, asked_at) VALUES (?, ?, ?, ?, ?)"
)
_WAITING: Final = (
    "SELECT c.number, d.id FROM commands c JOIN debates d ON d.number = c.debate "
    "WHERE c.taken = 0 ORDER BY c.number"
)
# A holder whose lease was taken over meanwhile takes nothing.
_TAKE: Final = (
    "UPDATE commands SET taken = 1 WHERE number = ? AND taken = 0 "
    "AND debate = (SELECT debate FROM leases WHERE claim = ?)"
)
_READ: Final = "SELECT verb, body, source, asked_at FROM commands WHERE number = ?"
_ANSWER: Final = "UPDATE commands SET answer = ? WHERE number = ?"
_ANSWER_OF: Final = "SELECT answer FROM commands WHERE number = ?"
_WITHDRAW: Final = "DELETE FROM commands WHERE number = ? AND taken = 0"
_DROP: Final = "DELETE FROM commands WHERE number = ?"
_DROP_OF: Final = "DELETE FROM commands WHERE debate = ?"


class Waiting(NamedTuple):
    """A command that nobody has taken."""

    number: int
    """Its number."""
    debate: str
    """The debate's id."""


def version(connection: sqlite3.Connection) -> int:
    """Return a number that changes whenever another connection commits, of any process."""
    found: int = connection.execute(_VERSION).fetchone()[0]
    return found


def insert(
    connection: sqlite3.Connection, debate: int, verb: str, body: Mapping[str, Any], source: str
) -> int:
    """Write a command for a debate's holder and return its number.

    Raises:
        UsageError: it is too large, or too many wait already.
    """
    now = now_ms()
    text = _bounded(verb, body)
    connection.execute(_FORGET, (debate, now - _FORGOTTEN_MS))
    waiting = connection.execute(_COUNT, (debate,)).fetchone()[0]
    if waiting >= MAX_WAITING:
        raise UsageError(
            f"{verb}: {waiting} commands wait for this debate already; its process may be stuck"
        )
    number = connection.execute(_INSERT, (debate, verb, text, source, now)).lastrowid
    return number or 0


def _bounded(verb: str, body: Mapping[str, Any]) -> str:
    # Lone surrogates, which UTF-8 can't hold, become escapes.
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError:
        text = json.dumps(body, separators=(",", ":"))
        size = len(text)
    if size > MAX_COMMAND_BYTES:
        raise UsageError(
            f"{verb}: its text has {size:,} bytes; {MAX_COMMAND_BYTES:,} are allowed", size=size
        )
    return text


def waiting(connection: sqlite3.Connection) -> list[Waiting]:
    """Return what nobody has taken, of all debates, oldest first."""
    return [Waiting(*row) for row in connection.execute(_WAITING)]


def take(connection: sqlite3.Connection, found: Waiting, claim: int) -> Command | None:
    """Take a command with the lease's claim; None: it was withdrawn, or the lease is lost."""
    if connection.execute(_TAKE, (found.number, claim)).rowcount != 1:
        return None
    verb, text, source, asked_at = connection.execute(_READ, (found.number,)).fetchone()
    try:
        body = json.loads(text)
    except ValueError:
        body = None
    known = body if isinstance(body, dict) else {}
    return Command(found.number, found.debate, verb, known, source, asked_at)


def answer(connection: sqlite3.Connection, number: int, given: Answer) -> None:
    """Write what became of a command."""
    text = json.dumps({"revision": given.revision, "error": given.error}, default=str)
    connection.execute(_ANSWER, (text, number))


def answer_of(connection: sqlite3.Connection, number: int) -> Answer | None:
    """Return what became of a command, None where nobody has answered.

    Raises:
        StoreError: the command is gone.
    """
    row = connection.execute(_ANSWER_OF, (number,)).fetchone()
    if row is None:
        raise StoreError(
            "the command is gone: its debate was deleted, or another process took it over",
            fault="lost",
        )
    if row[0] is None:
        return None
    found = json.loads(row[0])
    return Answer(found["revision"], found["error"])


def withdraw(connection: sqlite3.Connection, number: int) -> bool:
    """Remove a command that nobody has taken; False: too late."""
    return connection.execute(_WITHDRAW, (number,)).rowcount == 1


def remove(connection: sqlite3.Connection, numbers: Iterable[int]) -> None:
    """Remove commands whatever their state."""
    connection.executemany(_DROP, [(number,) for number in numbers])


def remove_of(connection: sqlite3.Connection, debate: int) -> None:
    """Remove all commands of a debate; who waits for an answer finds them gone."""
    connection.execute(_DROP_OF, (debate,))
