"""A damaged database: found before anything is written to it, and set aside whole.

SQLite by itself takes a database that was cut to nothing for a new one (and removes its log),
writes over the end of a log behind a place that it can't read, and goes on writing into a file of
which it has met a bad page. So this module looks first, by reading alone, and gives the files
another name where they are damaged. It deletes none. It changes a database only to begin a damaged
log anew, after a copy was set aside.

Only a file that no other connection of any process has open is looked at and moved. SQLite's own
lock says so: with a write-ahead log, a connection holds it as long as it is open. With a rollback
journal it holds it only while it reads or writes, so that a file may be moved which another process
has open; before its next write, that one finds it gone. Must not know what the tables hold.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final, Literal, NamedTuple

from rt_notebook.errors import StoreError, one_line
from rt_notebook.store.aside import BESIDE, INDEX, LOG, is_set_aside, set_aside_name
from rt_notebook.store.migrations import APPLICATION_ID, odd_columns
from rt_notebook.store.paths import own_place
from rt_notebook.store.sqlite_faults import ERRORS, code_of
from rt_notebook.store.sqlite_wal import Index, is_cut, read_index, unread_commits

if sys.platform != "win32":
    import fcntl

_MARK: Final = ".damaged"
_DAMAGE: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_NO_TEXT: Final = "Could not decode to UTF-8"
_BUSY_S: Final = 10.0
# SQLite's lock bytes (sqlite.org/fileformat2.html#lockbyte): who has the file open holds some.
_LOCK_AT: Final = 0x40000000
_LOCK_BYTES: Final = 512
_MAGIC: Final = b"SQLite format 3\0"
# Words that stand in every store, and how far they are looked for.
_OURS: Final = (b"CREATE TABLE debates", b'"prompts_version":', b'"messages_hash":')
_LOOKED_AT: Final = 1024 * 1024


class Damage(NamedTuple):
    """What is wrong with a database."""

    what: str
    """In words, for a place between brackets."""
    part: Literal["database", "log", "end"] = "database"
    """`database`, or where that is sound: `log`, of which a part can't be read, or `end`: of the
    log, which is gone."""


def find_damage(path: Path) -> Damage | None:
    """Return what is wrong with a database of ours that nobody has open; None: nothing was found.

    The database and its log aren't written to. No connection of this process may be open on the
    file: looking at it would end that connection's locks.

    Args:
        path: an existing file.
    """
    with _alone(path) as file:
        if file is None:
            return None
        size, log = os.fstat(file).st_size, _size(_beside(path, LOG))
        if not (size or log) or not _is_ours(path, file):
            return None
        left = read_index(_beside(path, INDEX))
    if not size:
        return Damage("it is empty, but its log isn't")
    marked = _beside(path, _MARK).exists()
    found = _read_through(path, thorough=marked)
    if found is None and (log or left is not None):
        found = _log_damage(path, left)
        if found is not None and _read_through(path, thorough=True, expect_tables=True) is not None:
            return Damage(found.what)
    if found is None and marked:
        with suppress(OSError):
            _beside(path, _MARK).unlink()  # it was read through, and is sound
    return found


def mark_damaged(path: Path, why: str) -> None:
    """Leave word for whoever opens it next that a bad page was met, which only reading finds."""
    if is_set_aside(path):
        return
    with suppress(OSError):  # the disk may be what has failed
        handle = os.open(_beside(path, _MARK), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(f"{why}\n")


def set_aside(path: Path, damage: Damage, looked_at: tuple[int, int] | None) -> str:
    """Give what is damaged a name of its own, and return a line that says so.

    Args:
        path: the file.
        damage: what is wrong with it.
        looked_at: device and inode of the file of which that was found.

    Raises:
        StoreError: somebody uses it or has put another there, or the folder can't be written.
    """
    target = _free_name(path)
    try:
        with _alone(path) as file:
            if file is None:
                raise _refusal(path, damage, "and in use: end the other processes that use it")
            now = os.fstat(file)
            if (now.st_dev, now.st_ino) != looked_at:
                raise _refusal(path, damage, "and was replaced meanwhile: wait a moment")
            if damage.part == "database":
                _move(path, target)
            elif damage.part == "log":
                for end in ("", LOG):
                    _copy(_beside(path, end), _beside(target, end))
        if damage.part == "log":
            _end_log(path)
        _sync_folder(path.parent)
    except OSError as error:
        raise _refusal(path, damage, f"and can't be set aside: {error.strerror}") from error
    with suppress(OSError):
        _beside(path, _MARK).unlink(missing_ok=True)
    if damage.part == "database":
        return (
            f"the store {path} was damaged ({damage.what}): it was set aside as {target.name}, "
            "whole and unchanged; `rt-notebook doctor` says how to recover what is readable, the "
            "next command begins a new store"
        )
    kept = (
        f": a copy was set aside as {target.name}, and `rt-notebook doctor` says how to recover "
        "what is readable"
    )
    return (
        f"the log of the store {path} was damaged, so that what was written last is missing "
        f"({damage.what}){kept if damage.part == 'log' else ''}; the next command goes on with all "
        "else"
    )


def is_in_use(path: Path) -> bool:
    """Return whether a file can't be had alone: as far as can be known, somebody has it open.

    No connection of this process may be open on it.
    """
    with _alone(path) as file:
        return file is None


def connect_read_only(path: Path) -> sqlite3.Connection:
    """Open a file for reading alone, so that not even its own log is carried over into it."""
    # Without a log there is none to index: where no index can be made, none is needed either.
    fixed = not _size(_beside(path, LOG)) and not os.access(path.parent, os.W_OK)
    return sqlite3.connect(
        f"{path.as_uri()}?mode=ro{'&immutable=1' if fixed else ''}",
        uri=True,
        timeout=_BUSY_S,
        isolation_level=None,
        check_same_thread=False,
    )


def _refusal(path: Path, damage: Damage, why: str) -> StoreError:
    return StoreError(
        f"the store {path} is damaged ({damage.what}) {why}, then try again, or choose another "
        "place with store=PATH or RT_NOTEBOOK_STORE",
        fault="damaged",
        place=str(path),
    )


@contextmanager
def _alone(path: Path) -> Iterator[int | None]:
    """Hold SQLite's lock on a file that nobody has open; gives None where somebody has it."""
    if sys.platform == "win32":  # there, nobody can rename a file that is open
        yield None
        return
    try:
        file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        yield None
        return
    try:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, _LOCK_BYTES, _LOCK_AT)
            # Another process may have set it aside and begun a new one in the meantime.
            alone = os.path.samestat(os.fstat(file), path.stat())
        except OSError:
            alone = False
        yield file if alone else None
    finally:
        os.close(file)


def _is_ours(path: Path, file: int) -> bool:
    """Return whether a file is a store of ours, however damaged: another's must not be moved."""
    if path == own_place():
        return True
    head = os.pread(file, _LOOKED_AT, 0)
    if head[:16] == _MAGIC and head[68:72] == APPLICATION_ID.to_bytes(4):
        return True
    with suppress(OSError), _beside(path, LOG).open("rb") as log:
        head += log.read(_LOOKED_AT)
    # Records and notebooks hold such words as well, but no NUL.
    return b"\0" in head and any(words in head for words in _OURS)


def _read_through(path: Path, *, thorough: bool, expect_tables: bool = False) -> Damage | None:
    """Return what SQLite finds wrong when it opens a file.

    Args:
        path: the file.
        thorough: read every page.
        expect_tables: it isn't a new one, so it has some.
    """
    try:
        with closing(connect_read_only(path)) as connection:
            tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            if expect_tables and not tables:
                return Damage("nothing in it can be read")
            if odd := odd_columns(connection):
                return Damage(one_line(f"its tables don't fit its form: {', '.join(odd)}", 200))
            said = "ok"
            if thorough:
                said = str(connection.execute("PRAGMA integrity_check(1)").fetchone()[0])
    except ERRORS as error:
        # A name in the schema that is no text has no code of SQLite's own.
        damaged = code_of(error) in _DAMAGE or _NO_TEXT in str(error)
        return Damage(one_line(str(error), 200)) if damaged else None
    return None if said == "ok" else Damage(" ".join(said.split())[:200])


def _log_damage(path: Path, left: Index | None) -> Damage | None:
    """Return what is wrong with the log of a database that was read through just now.

    Args:
        path: the database.
        left: the log's index as its last writer left it.
    """
    with _alone(path) as file:
        if file is None:
            return None
        now = read_index(_beside(path, INDEX))  # made anew by the reading
        lost = unread_commits(_beside(path, LOG), now.frames) if now is not None else 0
        cut = is_cut(_beside(path, LOG), left)
    if lost:
        return Damage(f"{lost} commits at its end can't be read", "log")
    return Damage("its end is gone", "end") if cut else None


def _free_name(path: Path) -> Path:
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    number = 1
    while True:
        target = path.with_name(set_aside_name(path.name, stamp, number))
        if not any(_beside(target, end).exists() for end in BESIDE):
            return target
        number += 1


def _move(path: Path, target: Path) -> None:
    """Move a database with all that lies beside it.

    All have their new names before one loses its old one, so that a kill in between parts nothing.
    The database goes last, so that no new one finds another's log.
    """
    ends = [end for end in BESIDE if _beside(path, end).exists()]
    linked: list[Path] = []
    try:
        for end in ends:
            os.link(_beside(path, end), _beside(target, end))
            linked.append(_beside(target, end))
    except OSError:
        # A file system without links, or one that can't be written, which the next says.
        for name in linked:
            name.unlink()
        for end in ends:
            os.rename(_beside(path, end), _beside(target, end))
    else:
        for end in ends:
            _beside(path, end).unlink()


def _end_log(path: Path) -> None:
    """Carry over what can be read of a log, so that it begins anew; a copy of it was made."""
    with (
        suppress(sqlite3.Error),  # then it is found, and copied, again
        closing(sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None)) as connection,
    ):
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()


def _copy(source: Path, target: Path) -> None:
    handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as copy, source.open("rb") as file:
        shutil.copyfileobj(file, copy)
        copy.flush()
        os.fsync(copy.fileno())


def _beside(path: Path, end: str) -> Path:
    return path.with_name(f"{path.name}{end}")


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
