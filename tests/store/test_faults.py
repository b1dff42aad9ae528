"""Faults of the disk and of others: one clear line, and nothing half done."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from rt_notebook.errors import StoreError
from rt_notebook.store.sqlite import SqliteLog, SqliteStore
from rt_notebook.store.sqlite_database import connect
from rt_notebook.store.sqlite_faults import explain
from tests.store.samples import (
    concluded,
    connecting,
    created,
    event,
    nothing,
    opened,
    run,
    seqs,
    write,
)


def _fail(store: SqliteStore, match: str) -> StoreError:
    """Appends to three debates in one tick, all of which fail with the same message."""
    errors: list[StoreError] = []

    async def main() -> None:
        waiting = [store.log(name).append([created(name)], pytest.fail) for name in "abc"]
        for future in waiting:
            with pytest.raises(StoreError, match=match) as caught:
                await future
            errors.append(caught.value)

    run(main())
    assert len({id(error) for error in errors}) == 3
    assert {len(str(error).splitlines()) for error in errors} == {1}
    return errors[0]


def test_full_disk_says_where_and_what_next(path: Path, store: SqliteStore) -> None:
    write(store, created("d"))
    connection = store.database.connection()
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")

    async def main() -> None:
        logs = [store.log(name) for name in "abc"]
        waiting = [
            log.append([created(log.debate), event(log.debate, 2, text="x" * 9000)], pytest.fail)
            for log in logs
        ]
        for future in waiting:
            with pytest.raises(StoreError, match=f"{path} can't grow.*free some space") as caught:
                await future
            assert caught.value.facts["fault"] == "full"

    run(main())
    assert [row.id for row in store.debates()] == ["d"]
    connection.execute("PRAGMA max_page_count = 1000000")
    write(store, created("later"))
    assert store.last_id() == "later"


def test_read_only_store_can_still_be_read(path: Path) -> None:
    with opened(path) as store:
        write(store, created("d"))

    def read_only(path: Path) -> sqlite3.Connection:
        place = f"file:{path}?mode=ro"
        return sqlite3.connect(place, uri=True, isolation_level=None, check_same_thread=False)

    store = SqliteStore(path, read_only)
    assert seqs(store, "d") == [1]
    error = _fail(store, "is read-only: make the file and its folder writable")
    assert error.facts == {"fault": "readonly", "place": str(path)}
    store.close()


def test_locked_for_too_long_says_so(path: Path) -> None:
    store = SqliteStore(path, connecting("busy_timeout = 30"))
    with closing(connect(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        error = _fail(store, "was locked by another process for too long")
        assert error.facts["fault"] == "busy"
        other.execute("COMMIT")
    assert store.debates() == []
    write(store, created("d"))
    assert store.last_id() == "d"
    store.close()


@pytest.mark.parametrize(
    ("fault", "match", "mend"),
    [
        ("query_only = ON", "is read-only", "query_only = OFF"),
        ("max_page_count = 1", "can't grow", "max_page_count = 1000000"),
    ],
)
def test_ending_that_fails_can_be_taken_over(
    store: SqliteStore, fault: str, match: str, mend: str
) -> None:
    """The write fails at its begin, or half way through."""

    async def main() -> None:
        log = store.log("d")
        await log.append([created("d")], nothing)
        connection = store.database.connection()
        connection.execute(f"PRAGMA {fault}")
        with pytest.raises(StoreError, match=match):
            await log.append([event("d", 2, text="x" * 9000), concluded("d", 3)], pytest.fail)
        connection.execute(f"PRAGMA {mend}")
        log.release()
        assert store.row("d").status == "interrupted"
        assert store.log("d").take_over() == 1

    run(main())


def test_release_on_failing_disk_hides_no_error(
    path: Path, store: SqliteStore, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> SqliteLog:
        log = store.log("d")
        await log.append([created("d")], nothing)
        store.database.connection().execute("PRAGMA query_only = ON")
        log.release()
        return log

    log = run(main())
    assert log.hold is None
    assert "the lease of debate d stays" in caplog.text
    # In this process it counts no more; for others it runs out.
    assert store.row("d").status == "interrupted"


@pytest.mark.parametrize(
    ("code", "match"),
    [
        (sqlite3.SQLITE_IOERR_WRITE, "can't be read or written"),
        (sqlite3.SQLITE_CANTOPEN_ISDIR, "can't be opened"),
        (sqlite3.SQLITE_PROTOCOL, "whose locks don't work"),
        (sqlite3.SQLITE_CORRUPT_VTAB, "is damaged and was left as it is"),
        (None, "can't be used"),
    ],
)
def test_every_fault_names_the_store(code: int | None, match: str) -> None:
    error = sqlite3.OperationalError("detail\nof it")
    if code is not None:
        error.sqlite_errorcode = code
    message = str(explain(error, "/data/debates.db"))
    assert message.startswith("the store /data/debates.db ")
    assert match in message
    assert message.endswith("(detail of it)")


def test_faults_are_store_errors_everywhere(path: Path) -> None:
    with opened(path) as store:
        write(store, created("d"))
        store.database.connection().execute("DROP TABLE leases")
        calls: list[Callable[[], object]] = [
            store.debates, lambda: store.row("d"), lambda: store.lease("d"),
            lambda: store.delete("d"), store.log("d").take_over,
            lambda: store.find_interrupted("0" * 32),
        ]  # fmt: skip
        for call in calls:
            with pytest.raises(StoreError, match=r"no such table: .*leases"):
                call()
        store.database.connection().execute("DROP TABLE debates")
        for call in (store.last_id, lambda: store.events("d")):
            with pytest.raises(StoreError, match="no such table: debates"):
                call()
