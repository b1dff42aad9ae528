"""The file: who may read it, how it is opened, what is refused and left alone."""

from __future__ import annotations

import asyncio
import itertools
import os
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any

import pytest

from rt_notebook.errors import StoreError
from rt_notebook.store import sqlite_writer
from rt_notebook.store.file_systems import network_file_system
from rt_notebook.store.log import Store
from rt_notebook.store.migrations import VERSION
from rt_notebook.store.sqlite import SqliteStore, open_store
from rt_notebook.store.sqlite_database import Database, connect
from tests.store.samples import (
    concluded,
    connecting,
    created,
    event,
    nothing,
    opened,
    run,
    seqs,
    spec_json,
    write,
)

MOUNTS = r"""22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
31 30 8:2 / /home/local\040disk rw - xfs /dev/sdb1 rw
30 22 0:26 / /home rw shared:2 master:1 - nfs4 server:/home rw,vers=4.2
32 22 0:40 / /mnt/cloud rw - fuse.sshfs host: rw
"""


@pytest.fixture
def _open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def _without_shared_memory(path: Path) -> sqlite3.Connection:
    # SQLite's own file system layer for places that have no shared memory.
    place = f"file:{path}?vfs=unix-dotfile"
    return sqlite3.connect(place, uri=True, isolation_level=None, check_same_thread=False)


@pytest.mark.usefixtures("_open_umask")
def test_files_are_for_their_owner_alone(path: Path) -> None:
    with opened(path) as store:
        write(store, created("d"))
        modes = {found.name: found.stat().st_mode & 0o777 for found in path.parent.iterdir()}
    assert modes == {"debates.db": 0o600, "debates.db-wal": 0o600, "debates.db-shm": 0o600}
    assert path.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.usefixtures("_open_umask")
def test_folder_that_was_there_keeps_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with opened(tmp_path / "debates.db"):
        assert tmp_path.stat().st_mode & 0o777 == 0o755


def test_place_is_opened_once(path: Path, tmp_path: Path) -> None:
    store = open_store(path)
    assert open_store(str(path)) is store
    assert open_store(path.parent) is store
    assert open_store(tmp_path / "other.db") is not store
    store.close()
    again = open_store(path)
    assert again is not store
    assert again.debates() == []
    again.close()


def test_store_fits_its_interface(store: SqliteStore) -> None:
    interface: Store = store
    assert interface.notes == []
    assert interface.place.endswith("debates.db")


def test_closed_store_says_so(store: SqliteStore) -> None:
    store.close()
    with pytest.raises(StoreError, match="was closed"):
        store.debates()


def test_removed_file_is_noticed(path: Path, store: SqliteStore) -> None:
    """SQLite itself would go on writing into a file that nobody can find."""

    async def main() -> None:
        log = store.log("d")
        await log.append([created("d")], nothing)
        shutil.rmtree(path.parent)
        assert not store.database.usable
        with pytest.raises(StoreError, match="was removed or replaced while it was in use"):
            await log.append([event("d", 2)], pytest.fail)

    run(main())
    with opened(path) as fresh:
        assert fresh.debates() == []


def test_heartbeat_notices_removed_file(
    path: Path, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_writer, "BEAT_S", 0.02)

    async def write_on() -> None:
        log = store.log("d")
        await log.append([created("d")], path.unlink)
        async with asyncio.timeout(10):
            for seq in itertools.count(2):
                await log.append([event("d", seq)], nothing)

    with pytest.raises(StoreError, match="was removed or replaced"):
        run(write_on())


@pytest.mark.parametrize("content", [b"# my notebook\n" * 400, b"SQLite format 3\0" + b"x" * 8000])
def test_file_that_is_no_database_is_left_alone(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(
        StoreError, match=f"{path} is no database.*left as it is.*store=PATH"
    ) as caught:
        SqliteStore(path)
    assert caught.value.facts["fault"] == "damaged"
    assert path.read_bytes() == content
    assert [found.name for found in path.parent.iterdir()] == ["debates.db"]


def test_damaged_page_is_reported_and_left(path: Path) -> None:
    with opened(path) as store:
        write(store, created("d"), *(event("d", seq) for seq in range(2, 400)))
    content = bytearray(path.read_bytes())
    content[3 * 4096 :] = b"\xee" * (len(content) - 3 * 4096)
    path.write_bytes(content)
    with opened(path) as store:
        with pytest.raises(StoreError, match=r"is damaged and was left as it is.*doctor") as e:
            store.events("d")
        assert e.value.facts["fault"] == "damaged"

        async def main() -> None:
            with pytest.raises(StoreError, match="is damaged"):
                await store.log("e").append([created("e")], pytest.fail)

        run(main())
    assert path.read_bytes() == content


def test_folder_in_place_of_file_is_refused(path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises(StoreError, match="is no file"):
        SqliteStore(path)


def test_file_in_place_of_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="can't be made: "):
        SqliteStore(tmp_path / "file" / "debates.db")


def test_foreign_database_is_not_written_to(path: Path) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE bookmarks (url TEXT)")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="another program's database"):
        SqliteStore(path)
    assert path.read_bytes() == before


def test_newer_database_is_refused(path: Path) -> None:
    """Or one whose version is damaged: nobody can tell, so the message names both."""
    with opened(path) as store:
        store.database.connection().execute(f"PRAGMA user_version = {VERSION + 1}")
    both = f"has form {VERSION + 1}.*upgrade rt-notebook, .*if it is damaged, .*doctor --recover"
    with pytest.raises(StoreError, match=both):
        SqliteStore(path)


def test_new_file_has_the_pages_that_recovering_reads(path: Path) -> None:
    store = SqliteStore(path, connecting("page_size = 8192"))
    assert store.database.connection().execute("PRAGMA page_size").fetchone() == (4096,)
    store.close()


def test_text_of_deleted_debate_is_gone_from_the_files(path: Path) -> None:
    store = SqliteStore(path, connecting("secure_delete = OFF"))  # some are built like that
    write(
        store,
        created("d", spec_json("Is it a-secret?")),
        *(event("d", seq, text="a-secret " * 200, source="person") for seq in range(2, 20)),
        event("d", 20, text="a-secret " * 2000, source="person"),
        concluded("d", 21),
    )
    write(store, created("other"))
    checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)"
    store.database.connection().execute(checkpoint)
    assert b"a-secret" in path.read_bytes()
    store.delete("d")
    store.database.connection().execute(checkpoint)
    assert not [file for file in path.parent.iterdir() if b"a-secret" in file.read_bytes()]
    store.close()


@pytest.mark.parametrize("was_wal", [False, True])
def test_without_shared_memory_falls_back(path: Path, was_wal: bool) -> None:
    if was_wal:
        with opened(path) as store:
            write(store, created("old"))
    store = SqliteStore(path, _without_shared_memory)
    assert [note for note in store.notes if "a rollback journal is used" in note] == store.notes
    assert len(store.notes) == 1
    write(store, created("d"), event("d", 2))
    assert seqs(store, "d") == [1, 2]
    assert store.database.connection().execute("PRAGMA journal_mode").fetchone() == ("delete",)
    assert not path.with_name("debates.db-wal").exists()
    assert len(store.debates()) == 1 + was_wal
    store.close()


def test_network_mount_gets_rollback_journal(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite would take its log there, and another host would not see the shared memory."""
    monkeypatch.setattr(
        "rt_notebook.store.sqlite_database.network_file_system", lambda path: "nfs4"
    )
    with opened(path) as store:
        assert "on a network file system (nfs4)" in store.notes[0]
        write(store, created("d"))
        assert store.database.connection().execute("PRAGMA journal_mode").fetchone() == ("delete",)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/var/debates.db", None),
        ("/home/ann/debates.db", "nfs4"),
        ("/home/local disk/debates.db", None),
        ("/homestead/debates.db", None),
        ("/mnt/cloud/a/b.db", "fuse.sshfs"),
    ],
)
def test_mounts_tell_network_file_systems(path: str, kind: str | None) -> None:
    assert network_file_system(Path(path), MOUNTS) == kind


def test_unknown_mounts_mean_no_network(tmp_path: Path) -> None:
    assert network_file_system(tmp_path, "") is None
    assert network_file_system(tmp_path, "nonsense\n1 2 3 - \n") is None


def test_writing_waits_for_other_writer(path: Path, store: SqliteStore) -> None:
    ready, go = threading.Event(), threading.Event()

    def hold() -> None:
        with closing(connect(path)) as other:
            other.execute("BEGIN IMMEDIATE")
            ready.set()
            go.wait()
            other.execute("COMMIT")

    thread = threading.Thread(target=hold)
    thread.start()
    ready.wait()
    threading.Timer(0.05, go.set).start()
    write(store, created("d"))
    thread.join()
    assert go.is_set()
    assert seqs(store, "d") == [1]


def test_making_the_same_file_at_once_works(tmp_path: Path) -> None:
    barrier = threading.Barrier(6)

    def make(path: Path) -> int:
        barrier.wait()
        with opened(path) as store:
            return len(store.debates())

    with ThreadPoolExecutor(6) as pool:
        for number in range(10):
            path = tmp_path / f"{number}.db"
            path.touch()
            assert list(pool.map(make, [path] * 6)) == [0] * 6


class _Refusing(sqlite3.Connection):
    """Says twice that the database is locked, as SQLite does when others begin its log as well.

    It then answers at once, whatever the time it may wait; with six threads, once in 70 tries.
    """

    refusals = 2

    def execute(self, sql: str, parameters: Any = ()) -> sqlite3.Cursor:
        if sql == "PRAGMA journal_mode = wal" and self.refusals:
            self.refusals -= 1
            error = sqlite3.OperationalError("database is locked")
            error.sqlite_errorcode = sqlite3.SQLITE_BUSY
            raise error
        return super().execute(sql, parameters)


def test_locked_beginning_of_log_is_tried_again(path: Path) -> None:
    def refusing(path: Path) -> sqlite3.Connection:
        return sqlite3.connect(
            path, isolation_level=None, check_same_thread=False, factory=_Refusing
        )

    store = SqliteStore(path, refusing)
    connection = store.database.connection()
    assert isinstance(connection, _Refusing)
    assert connection.refusals == 0
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert store.notes == []
    store.close()


def test_reading_never_waits_for_writer(path: Path, store: SqliteStore) -> None:
    write(store, created("d"))
    with closing(connect(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("DELETE FROM events")
        impatient = SqliteStore(path, connecting("busy_timeout = 0"))
        assert seqs(impatient, "d") == [1]
        assert [row.id for row in impatient.debates()] == ["d"]
        impatient.close()


def test_thread_that_ends_closes_its_connection(store: SqliteStore) -> None:
    for _ in range(5):
        thread = threading.Thread(target=store.debates)
        thread.start()
        thread.join()
    assert len(store.database._all) == 1


@pytest.mark.parametrize("use", [Database.reading, Database.transaction])
def test_close_leaves_connection_to_thread_that_is_in_it(
    path: Path, use: Callable[[Database], AbstractContextManager[sqlite3.Connection]]
) -> None:
    inside, go_on = threading.Event(), threading.Event()

    def pause() -> int:
        inside.set()
        return 7 if go_on.wait(30) else 0

    def pausing(path: Path) -> sqlite3.Connection:
        connection = connect(path)
        connection.create_function("pause", 0, pause)
        return connection

    def work() -> tuple[int, sqlite3.Connection]:
        with use(database) as connection:
            return connection.execute("SELECT pause()").fetchone()[0], connection

    database = Database(path, pausing)
    with ThreadPoolExecutor(1) as pool:
        working = pool.submit(work)
        assert inside.wait(30)
        database.close()
        go_on.set()
        answer, connection = working.result()
        assert answer == 7
        with pytest.raises(sqlite3.ProgrammingError, match="closed database"):
            connection.execute("SELECT 1")
        with pytest.raises(StoreError, match=f"the store {path} was closed"):
            pool.submit(work).result()


def test_forked_child_opens_its_own(path: Path, store: SqliteStore) -> None:
    write(store, created("d"))
    child = os.fork()
    if child == 0:
        code = 1
        try:
            assert len(store.database._all) == 0
            write(store, created("from-child"))
            code = 0 if seqs(store, "d") == [1] else 2
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    write(store, created("from-parent"))
    assert [row.id for row in store.debates()] == ["from-parent", "from-child", "d"]
