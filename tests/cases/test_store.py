"""What disks and threads do to a database of debates, told by whole reviews."""

from __future__ import annotations

import os
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

import rt_notebook as rt
from rt_notebook.store import open_store, store_path
from rt_notebook.store.sqlite import SqliteStore
from tests.cases.catalogue import case
from tests.cases.reviews import calls_of, others, review, speaker
from tests.engine.debates import reply


def _opens_with(patch: pytest.MonkeyPatch, opener: Any) -> None:
    """Lets every store of the test open its connections in another way."""
    patch.setattr(SqliteStore.__init__, "__defaults__", (opener,))


@case("a8-scn-02")
def test_place_without_shared_memory_gets_a_rollback_journal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """SQLite's own layer for file systems whose memory can't be shared; it is said once."""

    def opener(path: Path) -> sqlite3.Connection:
        place = f"file:{path}?vfs=unix-dotfile"
        return sqlite3.connect(place, uri=True, isolation_level=None, check_same_thread=False)

    _opens_with(monkeypatch, opener)
    result = review(*others(), rounds=0).run_sync()
    assert result.status == "done"
    loaded = rt.load(result.id)
    told = [line for line in loaded.warnings if "a rollback journal is used" in line]
    assert len(told) == 1
    assert loaded.replies["text"].tolist() == result.replies["text"].tolist()
    assert not Path(f"{os.environ['RT_NOTEBOOK_STORE']}-wal").exists()


@case("a8-scn-07")
def test_store_is_used_from_any_thread() -> None:
    """Written on the debate's own thread; read and steered from others, at the same time."""
    results: list[rt.Result] = []

    def run() -> None:
        results.append(review(*others(), rounds=2).run_sync())

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        assert set(rt.debates()["status"]) <= {"running", "verdict", "done"}
    for thread in threads:
        thread.join()
    assert [result.status for result in results] == ["done"] * 3
    assert sorted(rt.debates()["id"]) == sorted(result.id for result in results)
    assert [len(rt.load(result.id).replies) for result in results] == [6] * 3


@case("a8-scn-11")
def test_failed_write_stops_the_debate_with_its_reason_and_loses_nothing() -> None:
    """In round 2 the file becomes read-only: no further call is paid for; mended, it goes on."""

    async def breaks(call: rt.Call) -> str:
        if call.round == 2 and not mended.is_set():
            # This is the thread that writes.
            store = open_store(store_path())
            assert isinstance(store, SqliteStore)
            connections.append(store.database.connection())
            connections[0].execute("PRAGMA query_only = ON")
        return reply("opt-1", f"round {call.round}")

    mended = threading.Event()
    connections: list[sqlite3.Connection] = []
    bo = speaker("bo", lambda call: reply("opt-2", f"bo in round {call.round}"))
    seats = [rt.Seat("ana", model=breaks), bo]
    with pytest.raises(rt.StoreError, match="is read-only: make the file and its folder writable"):
        review(*seats, rounds=3).run_sync()
    asked = len(calls_of(bo))
    assert asked == 3
    (name,) = rt.debates()["id"]
    kept = rt.load(name)
    assert (kept.status, len(kept.replies[kept.replies["round"] < 2])) == ("interrupted", 4)

    mended.set()
    connections[0].execute("PRAGMA query_only = OFF")
    models: dict[str, Any] = {seat.name: seat.function for seat in seats}
    result = rt.resume(name, models=models).result(20)
    assert (result.status, len(result.replies)) == ("done", 8)
    # What had finished isn't asked again; the two of the broken round are.
    assert len(calls_of(bo)) == asked + 2


@case("a8-scn-12")
def test_place_whose_locks_do_not_work_is_refused_with_a_way_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def opener(path: Path) -> sqlite3.Connection:
        error = sqlite3.OperationalError("locking protocol")
        error.sqlite_errorcode = sqlite3.SQLITE_PROTOCOL
        raise error

    seats = others()
    with monkeypatch.context() as patch:
        _opens_with(patch, opener)
        with pytest.raises(rt.StoreError, match="locks don't work") as raised:
            review(*seats).run_sync()
    assert "is on a file system whose locks don't work" in str(raised.value)
    assert "choose another place with store=PATH or RT_NOTEBOOK_STORE" in str(raised.value)
    assert [len(calls_of(seat)) for seat in seats] == [0, 0]
    # What is named helps.
    assert review(*seats, store=tmp_path / "mine.db").run_sync().status == "done"
