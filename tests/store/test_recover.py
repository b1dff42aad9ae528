"""What is brought back of a damaged store, and what is said of it."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from rt_notebook.domain.events import Event
from rt_notebook.store.migrations import APPLICATION_ID, MIGRATIONS, VERSION
from rt_notebook.store.sqlite import SqliteStore
from rt_notebook.store.sqlite_database import connect
from rt_notebook.store.sqlite_pages import loose_rows
from rt_notebook.store.sqlite_recover import Recovered, recover
from tests.store.samples import concluded, connecting, created, event, opened, run, seqs, write

PAGE = 4096


@pytest.fixture
def target(tmp_path: Path) -> Iterator[SqliteStore]:
    """An empty store beside the damaged one."""
    with opened(tmp_path / "target.db") as found:
        yield found


def _remark(debate: str, seq: int, size: int) -> Event:
    return event(debate, seq, text=f"{debate}-{seq} ".ljust(size, "x"), source="person")


def _overwrite(path: Path, place: int, content: bytes = bytes(PAGE)) -> None:
    with path.open("r+b") as file:
        file.seek(place)
        file.write(content)


def _page_with(path: Path, content: bytes) -> int:
    """Returns where the page begins that holds some bytes."""
    return path.read_bytes().index(content) // PAGE * PAGE


def _root_of(path: Path, name: str) -> int:
    """Returns where a table or an index begins."""
    with closing(connect(path)) as connection:
        query = "SELECT rootpage FROM sqlite_master WHERE name = ?"
        root: int = connection.execute(query, (name,)).fetchone()[0]
    return (root - 1) * PAGE


def test_row_that_is_cut_off_takes_no_other_along(path: Path, target: SqliteStore) -> None:
    with opened(path) as store:
        write(store, created("first"))
        write(store, created("long"), _remark("long", 2, 20_000), event("long", 3))
        write(store, created("last"))
    _overwrite(path, _page_with(path, b"x" * (PAGE - 4)))
    assert run(recover(path, target)) == Recovered(whole=2, cut=1)
    assert [seqs(target, name) for name in ("first", "long", "last")] == [[1], [1], [1]]


@pytest.mark.timeout(10)
def test_pages_that_lead_nowhere_come_to_an_end(path: Path) -> None:
    with opened(path) as store:
        write(store, created("first"), _remark("first", 2, 20_000), event("first", 3))
    # A page of the long row leads to the file's last one, which is cut off behind its own link to
    # itself.
    end = path.stat().st_size
    link = (end // PAGE + 1).to_bytes(4)
    _overwrite(path, _page_with(path, b"x" * (PAGE - 4)), link)
    _overwrite(path, end, link)
    assert [row.values[1] for row in loose_rows(path) if row.values[0] == 1] == [1, 3]


@pytest.mark.parametrize("row_lost", [True, False])
def test_debate_without_its_end_isnt_whole(path: Path, target: SqliteStore, row_lost: bool) -> None:
    """Its row doesn't tell: it is lost, or was last changed before that."""
    with opened(path) as store:
        write(store, created("short"), event("short", 2))
        write(store, created("cut"), *(_remark("cut", seq, 1000) for seq in range(2, 31)))
    _overwrite(path, _page_with(path, b"cut-25 "))
    if row_lost:
        _overwrite(path, _root_of(path, "debates"))
    assert run(recover(path, target)) == Recovered(whole=1, cut=1)
    counts = [row.revision and len(seqs(target, row.id)) for row in target.debates()]
    assert sorted(counts)[0] == 2
    assert 15 < sorted(counts)[1] < 25


def test_without_index_only_an_ending_tells_that_nothing_is_missing(
    path: Path, target: SqliteStore
) -> None:
    with opened(path) as store:
        write(store, created("ended"), event("ended", 2), concluded("ended", 3))
        write(store, created("running"), event("running", 2))
    _overwrite(path, _root_of(path, "events_by_number"))
    assert run(recover(path, target)) == Recovered(whole=1, cut=1)
    assert [seqs(target, name) for name in ("ended", "running")] == [[1, 2, 3], [1, 2]]


def test_deleted_debate_doesnt_go_on_in_one_with_its_number(
    path: Path, target: SqliteStore
) -> None:
    store = SqliteStore(path, connecting("secure_delete = OFF"))
    remarks = [_remark("deleted", seq, 1000) for seq in range(2, 50)]
    write(store, created("deleted"), *remarks, concluded("deleted", 50))
    store.delete("deleted")
    # The 10th event of the deleted one would still stand on a page that nothing uses.
    write(store, created("later"), *(event("later", seq) for seq in range(2, 10)))
    store.close()
    _overwrite(path, _root_of(path, "events_by_number"))
    run(recover(path, target))
    assert seqs(target, "later") == list(range(1, 10))


def test_recovering_keeps_no_more_than_a_debate_in_memory(path: Path, target: SqliteStore) -> None:
    count, size = 40, 200_000
    with opened(path) as store:
        for number in range(count):
            write(store, created(f"d{number}"), _remark(f"d{number}", 2, size))
    tracemalloc.start()
    try:
        assert run(recover(path, target)) == Recovered(whole=count)
        assert tracemalloc.get_traced_memory()[1] < count * size / 2
    finally:
        tracemalloc.stop()


def test_log_with_other_pages_spoils_nothing(path: Path, target: SqliteStore) -> None:
    """As a library has left it whose own choice is another; the log is read by SQLite alone."""
    path.parent.mkdir()
    with closing(connect(path)) as old:
        old.execute("PRAGMA page_size = 1024")
        old.execute("PRAGMA journal_mode = wal")
        for statement in (each for statements in MIGRATIONS for each in statements):
            old.execute(statement)
        old.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        old.execute(f"PRAGMA user_version = {VERSION}")
    with opened(path) as store:
        write(store, created("first"), event("first", 2))
    with closing(connect(path)) as old:
        old.execute("UPDATE debates SET title = 'changed'")
        left = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    for name, content in left.items():
        path.with_name(name).write_bytes(content)
    assert run(recover(path, target)) == Recovered(whole=1)
    assert seqs(target, "first") == [1, 2]


def test_debates_of_a_store_with_a_version_too_high_are_recovered(
    path: Path, target: SqliteStore
) -> None:
    with opened(path) as store:
        write(store, created("d"), event("d", 2))
        store.database.connection().execute("PRAGMA user_version = 99")
    assert run(recover(path, target)) == Recovered(whole=1)
    assert seqs(target, "d") == [1, 2]
