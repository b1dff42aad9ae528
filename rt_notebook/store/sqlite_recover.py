"""What can be read of a damaged store, put into a sound one debate by debate.

The damaged file is only read: all is tried on a copy, into which every page of its log is carried
over, also behind a place at which SQLite would stop. A first page that can't be read is replaced by
a new store's: the tables of every store begin on the same pages.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final, NamedTuple

from rt_notebook.domain.events import Event, decode_event
from rt_notebook.domain.state import start_state
from rt_notebook.domain.stored import spec_of
from rt_notebook.errors import NotResumableError, RoundtableError, StoreError, UnknownDebateError
from rt_notebook.store.aside import LOG
from rt_notebook.store.paths import check_id, new_debate_id
from rt_notebook.store.sqlite import SqliteStore
from rt_notebook.store.sqlite_wal import PAGE, pages_of

_COLUMNS: Final = "SELECT debate, v, seq, at, kind, body FROM events "
_BY_INDEX: Final = f"{_COLUMNS}INDEXED BY events_by_number WHERE debate = ? ORDER BY seq"
_BY_PLACE: Final = f"{_COLUMNS}WHERE rowid = ?"
# So many rows in a row that can't be read are the end of the table.
_GAP: Final = 20_000

Row = tuple[Any, ...]


class Recovered(NamedTuple):
    """What became of the debates of a damaged store."""

    whole: int = 0
    """Debates that are all there."""
    cut: int = 0
    """Debates of which the beginning is there."""
    present: int = 0
    """Debates that the sound store had already, as far as they could be read."""
    lost: int = 0
    """Debates of which nothing could be read."""

    def __str__(self) -> str:
        return (
            f"{self.whole} whole, {self.cut} up to where they can be read, {self.present} that "
            f"were there already, {self.lost} of which nothing can be read"
        )


async def recover(source: Path, target: SqliteStore) -> Recovered:
    """Put what can be read of a damaged store into a sound one.

    Args:
        source: the damaged file, as it was set aside; it isn't changed.
        target: a sound store; debates that it has already stay as they are, or get the events that
            they lack at their end.

    Raises:
        StoreError: the source isn't there, or the target can't be written.
    """
    found = {"whole": 0, "cut": 0, "present": 0, "lost": 0}
    try:
        with tempfile.TemporaryDirectory(
            prefix=".rt-recover-", dir=target.database.path.parent
        ) as folder:
            copy = _copied(source, Path(folder))
            with closing(_opened(copy)) as connection:
                for name, revision, events in _debates(connection):
                    found[await _put(target, name, revision, events)] += 1
    except OSError as error:
        raise StoreError(
            f"{source} can't be recovered: {error.strerror}", fault="open", place=str(source)
        ) from error
    return Recovered(**found)


# ---- the copy ------------------------------------------------------------------------------------


def _copied(source: Path, folder: Path) -> Path:
    """Return a copy with all pages of the log in it."""
    copy = folder / "copy.db"
    shutil.copyfile(source, copy)
    log = source.with_name(source.name + LOG)
    with copy.open("r+b") as file:
        for number, page in pages_of(log):
            file.seek((number - 1) * PAGE)
            file.write(page)
        size = file.seek(0, 2)
    if not _is_readable(copy):
        _replace_first_page(copy, folder, size)
    return copy


def _is_readable(path: Path) -> bool:
    try:
        with closing(_opened(path)) as connection:
            connection.execute("SELECT number FROM debates LIMIT 1").fetchone()
            connection.execute("SELECT rowid FROM events LIMIT 1").fetchone()
    except sqlite3.Error:
        return False
    return True


def _opened(path: Path) -> sqlite3.Connection:
    # Immutable: there is no log beside it, and nobody writes to it.
    place = f"{path.as_uri()}?mode=ro&immutable=1"
    connection = sqlite3.connect(place, uri=True, isolation_level=None)
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    return connection


def _replace_first_page(path: Path, folder: Path, size: int) -> None:
    fresh = folder / "fresh.db"
    SqliteStore(fresh).close()
    page = bytearray(fresh.read_bytes()[:PAGE])
    page[18:20] = b"\x01\x01"  # no log
    page[28:32] = max(1, size // PAGE).to_bytes(4)
    with path.open("r+b") as file:
        file.write(page)


# ---- its rows ------------------------------------------------------------------------------------


def _debates(connection: sqlite3.Connection) -> Iterator[tuple[str | None, int, list[Event]]]:
    """Yield id, revision (as far as they are known) and events of each debate."""
    rows = _debate_rows(connection)
    ordered = {number: _by_index(connection, number) for number in rows}
    gaps = {number for number, (_, whole) in ordered.items() if not whole}
    scanned = _by_place(connection, gaps, set(rows)) if gaps or not rows else {}
    for number in sorted({*rows, *scanned}):
        name, revision = rows.get(number, (None, 0))
        found = ordered[number][0] if number in ordered else []
        found = max(found, scanned.get(number, []), key=len)
        yield name, revision, _sound(name or "?", found)


def _debate_rows(connection: sqlite3.Connection) -> dict[int, tuple[str | None, int]]:
    query = "SELECT number, id, revision FROM debates "
    rows, whole = _fetched(connection, f"{query}ORDER BY number")
    found = {number: (name, _count(revision)) for number, name, revision in rows}
    if not whole:
        for number in range(1, _last_number(connection, found) + 1):
            if number not in found:
                rows, _ = _fetched(connection, f"{query}WHERE number = ?", number)
                found[number] = (rows[0][1], _count(rows[0][2])) if rows else (None, 0)
    return found


def _last_number(connection: sqlite3.Connection, found: Iterable[int]) -> int:
    queries = ("SELECT max(number) FROM debates", "SELECT max(debate) FROM events")
    tops = [row[0] for query in queries for row in _fetched(connection, query)[0]]
    return max([0, *found, *map(_count, tops)])


def _count(value: object) -> int:
    # In a damaged row anything may stand.
    return value if isinstance(value, int) else 0


def _by_index(connection: sqlite3.Connection, number: int) -> tuple[list[Row], bool]:
    return _fetched(connection, _BY_INDEX, number)


def _by_place(
    connection: sqlite3.Connection, wanted: set[int], known: set[int]
) -> dict[int, list[Row]]:
    """Return the events of some debates, and of those nobody knows of, read row by row."""
    found: dict[int, list[Row]] = {}
    place, missed = 0, 0
    while missed < _GAP:
        place += 1
        rows, _ = _fetched(connection, _BY_PLACE, place)
        missed = 0 if rows else missed + 1
        for row in rows:
            fits = isinstance(row[0], int) and isinstance(row[2], int)
            if fits and (row[0] in wanted or row[0] not in known):
                found.setdefault(row[0], []).append(row)
    return {number: sorted(rows, key=lambda row: row[2]) for number, rows in found.items()}


def _fetched(connection: sqlite3.Connection, query: str, *values: int) -> tuple[list[Row], bool]:
    """Return the rows up to the first that can't be read, and whether that was the end."""
    found: list[Row] = []
    try:
        for row in connection.execute(query, values):
            found.append(row)
    except sqlite3.Error:
        return found, False
    return found, True


def _sound(debate: str, rows: Sequence[Row]) -> list[Event]:
    """Return the events up to the first that can't follow from those before it."""
    events: list[Event] = []
    state = None
    for _, v, seq, at, kind, body in rows:
        try:
            event = decode_event(v, debate, seq, at, kind, body)
            if seq != len(events) + 1 or not isinstance(event.body, dict):
                break
            if state is None:
                if kind != "created":
                    break
                state = start_state(event, spec_of(event))
            else:
                state.apply(event)
        except Exception:  # the edge to a file in which anything may stand
            break
        events.append(event)
    return events


# ---- into the other ------------------------------------------------------------------------------


async def _put(target: SqliteStore, name: str | None, revision: int, events: list[Event]) -> str:
    """Write a debate, and return what became of it: a field of `Recovered`."""
    if not events:
        return "lost"
    name = _id(name, events[0])
    mine = [event._replace(debate=name) for event in events]
    try:
        there = target.events(name)
    except UnknownDebateError:
        there = []
    if there and (len(there) >= len(mine) or mine[: len(there)] != there):
        return "present"
    log = target.log(name)
    try:
        if there:
            log.take_over()
    except NotResumableError:  # somebody runs it
        return "present"
    try:
        await log.append(mine[len(there) :], lambda: None)
    finally:
        log.release()
    return "whole" if len(mine) >= revision and name else "cut"


def _id(name: str | None, created: Event) -> str:
    try:
        return check_id(name)
    except RoundtableError:
        return new_debate_id(spec_of(created).shown_title)
