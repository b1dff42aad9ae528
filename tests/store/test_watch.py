"""Waiting for what others write: seen in time, at next to no cost, and not for ever."""

from __future__ import annotations

import asyncio
import statistics
import threading
import time
from pathlib import Path

import pytest

from rt_notebook.errors import StoreError
from rt_notebook.store.sqlite import SqliteStore
from tests.store.samples import created, event, nothing, opened, run, write

PROMISE_S = 0.1


def test_watch_sees_others_events_in_time(store: SqliteStore, path: Path) -> None:
    seen: list[tuple[int, float]] = []
    ready = threading.Event()

    def look() -> None:
        watch = other.watch()
        assert watch.wait(0)
        last = len(other.events("d"))
        ready.set()
        while last < 6:
            assert watch.wait(5)
            for found in other.events("d", last):
                last = found.seq
                seen.append((last, time.monotonic()))

    async def main() -> None:
        log = store.log("d")
        await log.append([created("d")], nothing)
        reader.start()
        await asyncio.to_thread(ready.wait)
        written = []
        for seq in range(2, 7):
            await log.append([event("d", seq)], nothing)
            written.append((seq, time.monotonic()))
            await asyncio.sleep(0.013 * seq)
        await asyncio.to_thread(reader.join)
        assert [seq for seq, _ in seen] == [seq for seq, _ in written]
        late = [at - then for (_, at), (_, then) in zip(seen, written, strict=True)]
        assert statistics.median(late) < PROMISE_S

    with opened(path) as other:
        reader = threading.Thread(target=look)
        run(main())


def test_watch_returns_when_time_is_up(store: SqliteStore) -> None:
    watch = store.watch()
    assert watch.wait(0)
    began = time.monotonic()
    assert not watch.wait(0.12)
    assert 0.11 < time.monotonic() - began < 1


def test_closed_store_is_told_to_who_asks(store: SqliteStore, path: Path) -> None:
    write(store, created("d"))
    store.close()
    with pytest.raises(StoreError, match="was closed"):
        store.ask("d", "stop", {}, "person")
    with pytest.raises(StoreError, match="was closed"):
        store.watch().wait(0)
