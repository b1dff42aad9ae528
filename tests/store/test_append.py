"""Appending: groups, order, what waits and what hurts whom."""

from __future__ import annotations

import asyncio
import threading
from contextvars import ContextVar
from pathlib import Path

import pytest

from rt_notebook.domain.events import Event
from rt_notebook.errors import StoreError
from rt_notebook.store.sqlite import SqliteStore
from tests.store.samples import (
    concluded,
    created,
    event,
    nothing,
    opened,
    run,
    seqs,
    spec_json,
    write,
)


def test_one_tick_is_one_transaction(store: SqliteStore) -> None:
    statements: list[str] = []

    async def debate(name: str) -> None:
        log = store.log(name)
        await log.append([created(name)], nothing)
        for seq in range(2, 12):
            await log.append([event(name, seq)], nothing)

    async def main() -> None:
        store.database.connection().set_trace_callback(statements.append)
        async with asyncio.TaskGroup() as group:
            for number in range(50):
                group.create_task(debate(f"d-{number}"))
        store.database.connection().set_trace_callback(None)

    run(main())
    assert statements.count("COMMIT") == 11
    assert [seqs(store, f"d-{number}") for number in range(50)] == [list(range(1, 12))] * 50


def test_event_is_durable_before_effect(path: Path, store: SqliteStore) -> None:
    """Another connection sees it when `committed` is called, and nobody has gone on yet."""
    seen: list[tuple[list[int], bool]] = []

    async def main() -> None:
        log = store.log("d")
        waiting: asyncio.Future[None]

        def committed() -> None:
            with opened(path) as other:
                seen.append((seqs(other, "d"), waiting.done()))

        waiting = log.append([created("d"), event("d", 2)], committed)
        assert not waiting.done()
        await waiting

    run(main())
    assert seen == [([1, 2], False)]


def test_effects_follow_order_of_appends(store: SqliteStore) -> None:
    order: list[str] = []

    async def main() -> None:
        logs = [store.log(name) for name in ("a", "b")]
        futures = [
            log.append([created(log.debate)], lambda n=log.debate: order.append(f"{n}1"))  # type: ignore[misc]  # mypy can't type a lambda's default
            for log in logs
        ]
        futures += [
            log.append([event(log.debate, 2)], lambda n=log.debate: order.append(f"{n}2"))  # type: ignore[misc]  # the same
            for log in reversed(logs)
        ]
        for future in futures:
            await future

    run(main())
    assert order == ["a1", "b1", "b2", "a2"]


def test_cancelled_waiter_still_gets_committed(store: SqliteStore) -> None:
    committed: list[int] = []

    async def main() -> None:
        log = store.log("d")
        await log.append([created("d")], nothing)

        async def waiter() -> None:
            await log.append([event("d", 2)], lambda: committed.append(2))

        task = asyncio.create_task(waiter())
        asyncio.get_running_loop().call_soon(task.cancel)
        await asyncio.wait([task])
        assert task.cancelled()
        await log.append([event("d", 3)], lambda: committed.append(3))

    run(main())
    assert committed == [2, 3]
    assert seqs(store, "d") == [1, 2, 3]


def test_effect_keeps_context_of_its_debate(store: SqliteStore) -> None:
    cell: ContextVar[str] = ContextVar("cell")
    seen: dict[str, str] = {}

    async def debate(name: str) -> None:
        cell.set(f"cell of {name}")

        def note() -> None:
            seen[name] = cell.get()

        await store.log(name).append([created(name)], note)

    async def main() -> None:
        async with asyncio.TaskGroup() as group:
            for name in ("a", "b"):
                group.create_task(debate(name))

    run(main())
    assert seen == {"a": "cell of a", "b": "cell of b"}


def test_failing_effect_reaches_its_waiter_only(store: SqliteStore) -> None:
    done: list[str] = []

    def fail() -> None:
        raise ZeroDivisionError("a broken view")

    async def main() -> None:
        first = store.log("a").append([created("a")], fail)
        second = store.log("b").append([created("b")], lambda: done.append("b"))
        with pytest.raises(ZeroDivisionError, match="a broken view"):
            await first
        await second

    run(main())
    assert done == ["b"]
    assert seqs(store, "a") == [1]


def test_interrupt_in_effect_spares_the_others(store: SqliteStore) -> None:
    done: list[str] = []

    def interrupt() -> None:
        raise KeyboardInterrupt

    async def main() -> None:
        log, other = store.log("a"), store.log("b")
        first = log.append([created("a")], interrupt)
        second = other.append([created("b")], lambda: done.append("b"))
        await first
        await second

    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        run(main())
    assert done == ["b"]
    assert [row.id for row in store.debates()] == ["b", "a"]


def test_body_that_is_no_json_fails_alone(store: SqliteStore) -> None:
    async def main() -> None:
        fine = store.log("b").append([created("b")], nothing)
        with pytest.raises(TypeError, match="not JSON serializable"):
            await store.log("a").append([created("a"), event("a", 2, "x", bad=object())], nothing)
        await fine

    run(main())
    assert store.last_id() == "b"


def test_id_in_use_is_refused_alone(store: SqliteStore) -> None:
    write(store, created("taken", spec_json("The first one?")), concluded("taken", 2))

    async def main() -> None:
        clash = store.log("taken").append([created("taken")], pytest.fail)
        fine = [store.log(name).append([created(name)], nothing) for name in ("a", "b")]
        with pytest.raises(StoreError, match="'taken' is in use") as caught:
            await clash
        assert caught.value.facts["fault"] == "exists"
        for future in fine:
            await future

    run(main())
    assert [row.id for row in store.debates()] == ["b", "a", "taken"]
    assert store.row("taken").title == "(Roundtable) - The first one?"
    assert seqs(store, "taken") == [1, 2]


def test_refused_neighbour_does_not_stop_ending(store: SqliteStore) -> None:
    """What is tried with the neighbour and then alone is written once, lease and all."""
    write(store, created("taken"), concluded("taken", 2))

    async def main() -> None:
        log = store.log("d")
        await log.append([created("d")], nothing)
        ending = log.append([concluded("d", 2)], nothing)
        clash = store.log("taken").append([created("taken")], pytest.fail)
        await ending
        with pytest.raises(StoreError, match="is in use"):
            await clash

    run(main())
    assert (store.row("d").status, seqs(store, "d"), store.lease("d")) == ("done", [1, 2], None)


def test_debate_that_is_not_held_is_refused(store: SqliteStore) -> None:
    write(store, created("d"), concluded("d", 2))

    async def main() -> None:
        with pytest.raises(StoreError, match="isn't held by this run"):
            await store.log("d").append([event("d", 3)], pytest.fail)

    run(main())
    assert seqs(store, "d") == [1, 2]


def test_nothing_follows_failed_append(store: SqliteStore) -> None:
    """A log is always a beginning of what was posted, never one with a hole."""

    async def main() -> None:
        log = store.log("d")
        await log.append([created("d"), event("d", 2)], nothing)
        with pytest.raises(StoreError, match="event 2 is there already"):
            await log.append([event("d", 2)], pytest.fail)
        with pytest.raises(StoreError, match="event 2 is there already"):
            await log.append([event("d", 3)], pytest.fail)
        log.release()
        assert log.take_over() == 2
        await log.append([event("d", 3)], nothing)

    run(main())
    assert seqs(store, "d") == [1, 2, 3]


def test_hostile_text_comes_back_whole(store: SqliteStore) -> None:
    texts = ["\0", "\u2028", "<script>", "'; DROP TABLE events; --", "😀", "a\ud800b"]
    events = [event("d", seq, text=text) for seq, text in enumerate(texts, 2)]
    write(store, created("d", spec_json("\ud83d\0 Ship?")), *events)
    found = [found.body["text"] for found in store.events("d")[1:]]
    assert found == [*texts[:-1], "a?b"]
    assert store.row("d").title == "(Roundtable) - \ufffd\0 Ship?"


def test_unknown_kinds_are_kept(store: SqliteStore) -> None:
    later = event("d", 2, "teleported", where="elsewhere")
    write(store, created("d"), later, Event(0, "d", 3, 5, "old", {"x": 1}))
    assert store.events("d")[1:] == [later, Event(0, "d", 3, 5, "old", {"x": 1})]
    assert store.events("d", after=2) == [Event(0, "d", 3, 5, "old", {"x": 1})]


def test_newer_event_version_is_refused(store: SqliteStore) -> None:
    write(store, created("d"), Event(99, "d", 2, 5, "gate_opened", {}))
    with pytest.raises(StoreError, match=r"schema version 99.*upgrade rt-notebook"):
        store.events("d")


@pytest.mark.parametrize(("durability", "level"), [("process", 1), ("power", 2)])
def test_durability_sets_how_disk_is_waited_for(
    store: SqliteStore, durability: str, level: int
) -> None:
    levels: list[int] = []

    async def main() -> None:
        log = store.log("d", durability)  # type: ignore[arg-type]  # the parameter is one of the two words
        query = "PRAGMA synchronous"
        connection = store.database.connection()
        await log.append(
            [created("d")], lambda: levels.append(connection.execute(query).fetchone()[0])
        )

    run(main())
    assert levels == [level]


def test_loops_of_two_threads_write_at_once(store: SqliteStore) -> None:
    barrier = threading.Barrier(2)

    def one(name: str) -> None:
        async def main() -> None:
            log = store.log(name)
            await log.append([created(name)], nothing)
            for seq in range(2, 202):
                await log.append([event(name, seq)], nothing)

        barrier.wait()
        run(main())

    threads = [threading.Thread(target=one, args=(name,)) for name in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(store.events(name)) for name in ("a", "b")] == [201, 201]


def test_release_stores_what_was_appended(store: SqliteStore) -> None:
    async def main() -> None:
        log = store.log("d")
        await log.append([created("d")], nothing)
        waiting = log.append([event("d", 2, "interrupted", why="Ctrl-C")], nothing)
        log.release()
        assert waiting.done()

    run(main())
    assert store.row("d").status == "interrupted"
    assert store.lease("d") is None
