"""What can be read of a damaged store, put into a sound one debate by debate.

The damaged file is only read: all is tried on a copy, into which what its log holds is carried over
up to the last commit, also behind a place at which SQLite would stop. A first page that can't be
read is replaced by a new store's: debates and events begin on the same pages in all of them. What
SQLite doesn't reach all the same is looked for page by page.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
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
from rt_notebook.store.sqlite_faults import ERRORS
from rt_notebook.store.sqlite_pages import loose_rows
from rt_notebook.store.sqlite_wal import PAGE, pages_of

_DEBATES: Final = "SELECT number, id, revision FROM debates"
_EVENTS: Final = (
    "SELECT debate, v, seq, at, kind, body FROM events INDEXED BY events_by_number "
    "WHERE debate = ? ORDER BY seq"
)

Row = tuple[Any, ...]


class Recovered(NamedTuple):
    """What became of the debates of a damaged store."""

    whole: int = 0
    """Debates that are all there; where the list of them was lost, with new ids."""
    cut: int = 0
    """Debates of which the beginning is there, and nothing says that it is all."""
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
            for debate in _debates(copy):
                found[await _put(target, debate)] += 1
    except OSError as error:
        raise StoreError(
            f"{source} can't be recovered: {error.strerror}", fault="open", place=str(source)
        ) from error
    return Recovered(**found)


class _Debate(NamedTuple):
    name: str | None
    events: list[Event]
    whole: bool


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
    except ERRORS:
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


def _debates(copy: Path) -> Iterator[_Debate]:
    with closing(_opened(copy)) as connection:
        rows, all_debates = _fetched(connection, _DEBATES)
        names = {number: (name, _count(revision)) for number, name, revision in rows}
        # Read twice rather than kept: a store may be larger than the memory.
        whole = {n for n, (_, revision) in names.items() if _has_all(connection, n, revision)}
        loose: dict[int, list[Row]] = {}
        if not all_debates or len(whole) < len(names):
            loose = _loose(copy, names, whole, all_debates)
        for number in sorted({*names, *loose}):
            name, revision = names.get(number, (None, 0))
            rows, to_end = _fetched(connection, _EVENTS, number)
            read = _sound(name or "?", rows)
            found = _sound(name or "?", loose.get(number, []))
            if len(found) > len(read):
                yield _Debate(name, found, _is_ended(found, revision))
            else:
                yield _Debate(name, read, to_end and len(read) >= max(len(rows), revision))


def _has_all(connection: sqlite3.Connection, number: int, revision: int) -> bool:
    try:
        count = sum(1 for _ in connection.execute(_EVENTS, (number,)))
    except ERRORS:
        return False
    return count >= max(1, revision)


def _is_ended(events: Sequence[Event], revision: int) -> bool:
    """Return whether nothing can be missing behind events that were found page by page.

    A debate's row counts its events up to the last that changed its status: of one that has ended,
    all.
    """
    return len(events) == revision and events[-1].kind in ("interrupted", "concluded")


def _loose(
    copy: Path, names: dict[int, tuple[str | None, int]], whole: set[int], all_debates: bool
) -> dict[int, list[Row]]:
    """Return events by debate, read from their own pages; `names` gets the debates found there.

    Args:
        copy: the database.
        names: id and revision by number.
        whole: the debates that needn't be looked for.
        all_debates: there are no others than those in `names`, and rows of others were deleted.
    """
    # A deleted debate's number is given again. That its rows don't get among the later one's is due
    # to `secure_delete`: only a store that some library wrote before we set that may hold both.
    listed = set(names)
    found: dict[int, dict[int, Row]] = {}
    for number, values in loose_rows(copy):
        if _is_event(values):
            debate, seq, at, kind, v, body = values
            if debate not in whole and (debate in listed or not all_debates):
                found.setdefault(debate, {})[seq] = (debate, v, seq, at, kind, body)
        elif not all_debates and _is_debate(values):
            names.setdefault(number, (values[1], _count(values[12])))
    return {number: [rows[seq] for seq in sorted(rows)] for number, rows in found.items()}


def _is_event(values: Sequence[Any]) -> bool:
    return [type(value) for value in values] == [int, int, int, str, int, str]


def _is_debate(values: Sequence[Any]) -> bool:
    kinds = [type(value) for value in values[:7]]
    return len(values) == 13 and kinds == [type(None), *[str] * 6]


def _count(value: object) -> int:
    # In a damaged row anything may stand.
    return value if isinstance(value, int) else 0


def _fetched(connection: sqlite3.Connection, query: str, *values: int) -> tuple[list[Row], bool]:
    """Return the rows up to the first that can't be read, and whether that was the end."""
    found: list[Row] = []
    try:
        for row in connection.execute(query, values):
            found.append(row)
    except ERRORS:
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


async def _put(target: SqliteStore, debate: _Debate) -> str:
    """Write a debate, and return what became of it: a field of `Recovered`."""
    if not debate.events:
        return "lost"
    name = _id(debate.name, debate.events[0])
    mine = [event._replace(debate=name) for event in debate.events]
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
    return "whole" if debate.whole else "cut"


def _id(name: str | None, created: Event) -> str:
    try:
        return check_id(name)
    except RoundtableError:
        return new_debate_id(spec_of(created).shown_title)
