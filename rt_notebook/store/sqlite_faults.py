"""What SQLite's errors mean to a person: one line that names the file and the way out.

Must not decide what happens next; nothing is retried, moved or deleted here.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from rt_notebook.errors import StoreError, one_line

_ELSEWHERE: Final = "choose another place with store=PATH or RT_NOTEBOOK_STORE"

_BUSY: Final = (
    "busy",
    "was locked by another process for too long: end what holds it, then try again",
)
_NOT_OPENED: Final = (
    "open",
    f"can't be opened: check the permissions of the file and its folder, or {_ELSEWHERE}",
)
# By primary result code (the low byte of the extended one).
_FAULTS: Final[dict[int, tuple[str, str]]] = {
    sqlite3.SQLITE_FULL: (
        "full",
        f"can't grow, the disk or a quota is full: free some space, or {_ELSEWHERE}",
    ),
    sqlite3.SQLITE_READONLY: (
        "readonly",
        f"is read-only: make the file and its folder writable, or {_ELSEWHERE}",
    ),
    sqlite3.SQLITE_CORRUPT: (
        "damaged",
        "is damaged and was left as it is: it is set aside when it is opened next and nobody else "
        "uses it; `rt-notebook doctor` then says how to recover what is readable",
    ),
    sqlite3.SQLITE_NOTADB: (
        "damaged",
        "is no database, or a damaged one, and was left as it is: move it aside (with its -wal and "
        f"-shm), or {_ELSEWHERE}",
    ),
    sqlite3.SQLITE_BUSY: _BUSY,
    sqlite3.SQLITE_LOCKED: _BUSY,
    sqlite3.SQLITE_PROTOCOL: (
        "locking",
        f"is on a file system whose locks don't work: {_ELSEWHERE}",
    ),
    sqlite3.SQLITE_CANTOPEN: _NOT_OPENED,
    sqlite3.SQLITE_PERM: _NOT_OPENED,
    sqlite3.SQLITE_IOERR: (
        "io",
        f"can't be read or written: check the disk and its free space, or {_ELSEWHERE}",
    ),
}


SqliteError = sqlite3.Error | UnicodeDecodeError
"""What SQLite's module raises: words of its own that quote a damaged file can't be decoded."""

ERRORS: Final = (sqlite3.Error, UnicodeDecodeError)
"""The same, to be caught."""


def code_of(error: SqliteError) -> int:
    """Return SQLite's primary result code, 0 where the error has none.

    Words that can't be decoded have none either, and count as those of a damaged file.
    """
    if isinstance(error, UnicodeDecodeError):
        return sqlite3.SQLITE_CORRUPT
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF


def explain(error: SqliteError, place: str, *, opened: bool = True) -> StoreError:
    """Return what a person is told instead of `error`.

    Args:
        error: what SQLite said.
        place: the store.
        opened: whether it was opened before that; else the file may be another program's.
    """
    code = code_of(error)
    if code == sqlite3.SQLITE_CORRUPT and not opened:
        code = sqlite3.SQLITE_NOTADB
    fault, advice = _FAULTS.get(code, ("other", "can't be used"))
    detail = one_line(str(error), 200)
    return StoreError(f"the store {place} {advice} ({detail})", fault=fault, place=place)


def explain_os(error: OSError, place: str) -> StoreError:
    """Return what a person is told where the file or its folder can't be made."""
    detail = one_line(error.strerror or str(error), 200)
    return StoreError(
        f"the store {place} can't be made: {detail}; {_ELSEWHERE}", fault="open", place=place
    )
