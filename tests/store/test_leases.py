"""Leases: one holder at a time, found out when it is gone."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from operator import lt

import pytest

from rt_notebook.domain.events import Event
from rt_notebook.errors import NotResumableError, StoreError, UnknownDebateError
from rt_notebook.store import sqlite_writer
from rt_notebook.store.log import STALE_S
from rt_notebook.store.process import Process, is_dead, this_process
from rt_notebook.store.sqlite import SqliteLog, SqliteStore
from rt_notebook.store.sqlite_leases import now_ms, ticks_ms
from tests.store.samples import concluded, created, event, nothing, run, seqs, write


def _lease_of_another(store: SqliteStore, debate: str, holder: Process, age_s: float) -> None:
    """Makes the lease look like another process's, last heard of some seconds ago."""
    with store.database.transaction() as connection:
        connection.execute(
            "UPDATE leases SET claim = claim + 1, pid = ?, host = ?, boot = ?, started = ?, "
            "beat = ?, ticks = ? WHERE debate = (SELECT number FROM debates WHERE id = ?)",
            (*holder, now_ms() - int(age_s * 1000), ticks_ms() - int(age_s * 1000), debate),
        )


def _parent() -> Process:
    """Returns a process that is alive and isn't this one."""
    pid = os.getppid()
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        started = int(file.read().rpartition(")")[2].split()[19])
    return this_process()._replace(pid=pid, started=started)


async def _until(holds: Callable[[], bool]) -> None:
    """Returns once something holds that no event tells of."""
    async with asyncio.timeout(10):
        # Another process would have no other way to know either.
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.005)


def _taken_by_other(store: SqliteStore, debate: str) -> SqliteLog:
    other = store.log(debate)
    other.take_over()
    return other


def test_running_debate_has_its_lease(store: SqliteStore) -> None:
    async def main() -> None:
        log = store.log("d")
        await log.append([created("d")], nothing)
        lease = store.lease("d")
        assert lease is not None
        assert (lease.pid, lease.host, lease.boot, lease.started) == this_process()
        assert not lease.stale
        assert lease.started > 0
        with pytest.raises(NotResumableError, match=f"process {os.getpid()} on .* runs it") as e:
            store.log("d").take_over()
        assert (e.value.facts["pid"], e.value.facts["host"]) == (os.getpid(), lease.host)

    run(main())


@pytest.mark.parametrize(
    "last", [concluded("d", 2), concluded("d", 2, "paused", "limit"), event("d", 2, "interrupted")]
)
def test_ending_gives_lease_back(store: SqliteStore, last: Event) -> None:
    log = write(store, created("d"), last)
    assert store.lease("d") is None

    async def main() -> None:
        with pytest.raises(StoreError, match="'d' isn't held by this run"):
            await log.append([event("d", 3)], pytest.fail)

    run(main())
    assert store.log("d").take_over() == 2


def test_interrupted_and_resumed_keep_lease(store: SqliteStore) -> None:
    write(store, created("d"))

    async def main() -> None:
        log = _taken_by_other(store, "d")
        await log.append([event("d", 2, "interrupted"), event("d", 3, "resumed")], nothing)
        assert store.row("d").status == "running"
        await log.append([event("d", 4)], nothing)

    run(main())
    assert seqs(store, "d") == [1, 2, 3, 4]


def test_closed_loop_leaves_stale_lease(store: SqliteStore) -> None:
    log = write(store, created("d"))
    assert log.gone
    lease = store.lease("d")
    assert lease is not None
    assert lease.stale


def test_forgotten_log_leaves_stale_lease(store: SqliteStore) -> None:
    async def main() -> None:
        await store.log("d").append([created("d")], nothing)
        gc.collect()
        lease = store.lease("d")
        assert lease is not None
        assert lease.stale

    run(main())


@pytest.mark.parametrize(("age_s", "stale"), [(STALE_S - 3, False), (STALE_S + 1, True)])
def test_silent_holder_is_stale_after_limit(store: SqliteStore, age_s: float, stale: bool) -> None:
    write(store, created("d"))
    _lease_of_another(store, "d", _parent(), age_s)
    lease = store.lease("d")
    assert lease is not None
    assert lease.stale is stale
    assert store.row("d").status == ("interrupted" if stale else "running")


def test_holder_on_other_host_is_judged_by_time(store: SqliteStore) -> None:
    write(store, created("d"))
    elsewhere = Process(2**22 + 1, "elsewhere", "other-boot", 5)
    _lease_of_another(store, "d", elsewhere, 1)
    with pytest.raises(NotResumableError, match="process 4194305 on elsewhere runs it"):
        store.log("d").take_over()
    _lease_of_another(store, "d", elsewhere, STALE_S + 1)
    assert store.log("d").take_over() == 1


def test_clock_put_back_holds_nothing_up(store: SqliteStore) -> None:
    write(store, created("d"))
    _lease_of_another(store, "d", Process(7, "elsewhere", "", 0), -3600)
    assert store.row("d").status == "interrupted"


@pytest.mark.parametrize("jump_s", [-3600, 3600])
def test_clock_that_is_set_takes_no_lease(store: SqliteStore, jump_s: int) -> None:
    """On its own host, a holder is judged by a clock that nobody sets."""
    write(store, created("d"))
    _lease_of_another(store, "d", _parent(), 1)
    with store.database.transaction() as connection:
        connection.execute("UPDATE leases SET beat = beat + ?", (jump_s * 1000,))
    assert store.row("d").status == "running"
    with pytest.raises(NotResumableError, match="runs it"):
        store.log("d").take_over()


def test_dead_holder_is_stale_at_once(store: SqliteStore) -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    with open(f"/proc/{child.pid}/stat", encoding="utf-8") as file:
        started = int(file.read().rpartition(")")[2].split()[19])
    holder = this_process()._replace(pid=child.pid, started=started)
    write(store, created("d"))
    _lease_of_another(store, "d", holder, 0)
    assert store.row("d").status == "running"
    child.kill()
    # Dead, but not yet fetched by its parent: a zombie.
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert store.row("d").status == "interrupted"
    child.communicate()
    assert is_dead(holder)
    assert store.row("d").status == "interrupted"


def test_reused_pid_is_another_process() -> None:
    alive = _parent()
    assert not is_dead(alive)
    assert is_dead(alive._replace(started=alive.started + 1))
    assert not is_dead(alive._replace(started=alive.started + 1, boot="another"))


def test_late_holder_is_told_who_took_over(store: SqliteStore) -> None:
    async def main() -> None:
        log = store.log("d")
        bystander = store.log("b")
        await log.append([created("d")], nothing)
        await bystander.append([created("b")], nothing)
        _lease_of_another(store, "d", Process(77, "elsewhere", "", 0), 0)
        store.database.epoch += 1
        late = log.append([event("d", 2)], pytest.fail)
        fine = bystander.append([event("b", 2)], nothing)
        with pytest.raises(StoreError, match="process 77 on elsewhere took debate 'd' over") as e:
            await late
        assert e.value.facts["fault"] == "taken"
        await fine

    run(main())
    assert (seqs(store, "d"), seqs(store, "b")) == ([1], [1, 2])


def test_other_connection_taking_over_is_noticed(store: SqliteStore) -> None:
    """Nothing in this process says so: the database's own version does."""

    def take() -> None:
        _lease_of_another(store, "d", Process(77, "elsewhere", "", 0), 0)

    async def main() -> None:
        log = store.log("d")
        await log.append([created("d")], nothing)
        thread = threading.Thread(target=take)
        thread.start()
        thread.join()
        with pytest.raises(StoreError, match="process 77 on elsewhere took debate 'd' over"):
            await log.append([event("d", 2)], pytest.fail)

    run(main())


def test_taking_over_on_same_thread_is_noticed(store: SqliteStore) -> None:
    """Both use one connection, whose version only others' commits change."""

    async def main() -> None:
        late, other = store.log("d"), store.log("d")
        await late.append([created("d")], nothing)
        with store.database.transaction() as connection:
            connection.execute("UPDATE leases SET beat = 0, ticks = 1")
        other.take_over()
        with pytest.raises(StoreError, match="took debate 'd' over"):
            await late.append([event("d", 2)], pytest.fail)
        await other.append([event("d", 2)], nothing)

    run(main())
    assert seqs(store, "d") == [1, 2]


def test_one_of_many_threads_wins(store: SqliteStore) -> None:
    write(store, created("d"), concluded("d", 2, "error", "error"))
    barrier = threading.Barrier(8)
    logs = [store.log("d") for _ in range(8)]

    def take(log: SqliteLog) -> bool:
        barrier.wait()
        try:
            log.take_over()
        except NotResumableError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        for _ in range(20):
            won = list(pool.map(take, logs))
            assert won.count(True) == 1
            logs[won.index(True)].release()


def test_take_over_of_unknown_debate(store: SqliteStore) -> None:
    write(store, created("ship-now-abc123"))
    with pytest.raises(UnknownDebateError, match="did you mean 'ship-now-abc123'"):
        store.log("ship-now-abc124").take_over()


def test_heartbeat_keeps_all_leases_fresh(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_writer, "BEAT_S", 0.02)

    def beats() -> list[int]:
        found = [store.lease(name) for name in ("a", "b")]
        return [lease.beat for lease in found if lease is not None]

    async def main() -> None:
        logs = [store.log(name) for name in ("a", "b")]
        for log in logs:
            await log.append([created(log.debate)], nothing)
        first = beats()
        await _until(lambda: all(map(lt, first, beats())))
        for log in logs:
            log.release()
        assert beats() == []
        # With nothing left to keep, the timer ends with its next turn.
        writer = store.writer(asyncio.get_running_loop())
        await _until(lambda: writer._timer is None)

    run(main())


def test_taken_debate_beats_from_first_append(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_writer, "BEAT_S", 0.02)
    write(store, created("d"), event("d", 2, "interrupted"))
    log = _taken_by_other(store, "d")
    taken = store.lease("d")

    async def main() -> None:
        await log.append([event("d", 3, "resumed")], nothing)
        await _until(lambda: store.lease("d") != taken)

    run(main())
