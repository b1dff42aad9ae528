"""Debates that another process runs, watched from here."""

from __future__ import annotations

import asyncio
import statistics
import threading
import time
from typing import Any

import pytest

import rt_notebook as rt
from rt_notebook import session
from rt_notebook.domain.events import Event
from rt_notebook.domain.snapshot import Snapshot
from rt_notebook.store import sqlite_commands
from rt_notebook.store.sqlite_inbox import LOOK_S
from tests.remote.children import SPECS
from tests.remote.processes import PROMISE_S, Others, told
from tests.store.samples import run as play


def test_every_event_is_seen_in_time(others: Others) -> None:
    child = others.start("run_debate", "slow")
    child.id = child.line()["id"]
    child.until("created")
    seen: list[tuple[Event, float, int]] = []
    following = session.follow(child.id)
    first = following.state.revision
    last = following.follow(
        lambda event, state: seen.append((event, time.monotonic(), state.revision))
    )
    child.end()
    written = {found["seq"]: found for found in told(child)}
    assert [event.seq for event, _, _ in seen] == list(range(first + 1, len(written) + 1))
    late = []
    for event, at, revision in seen:
        assert revision == event.seq
        assert event.kind == written[event.seq]["kind"]
        late.append(at - written[event.seq]["at"])
    # Most of them: a busy machine is no fault of the store's.
    assert statistics.median(late) < PROMISE_S
    assert (last.status, last.revision) == ("done", len(written))
    assert last == rt.state(child.id)


def test_wait_ends_when_there_is_something_to_do(others: Others) -> None:
    child = others.run("asking")
    opened = child.until("gate_opened")
    began = time.monotonic()
    assert rt.wait(child.id, 25).next_action.type == "ask_user"
    assert time.monotonic() - began < 1
    found: list[tuple[Snapshot, float]] = []

    def look() -> None:
        found.append((session.wait(child.id, 25, after_round=0), time.monotonic()))

    thread = threading.Thread(target=look)
    thread.start()
    rt.answer(child.id, round=0)
    thread.join()
    ended = child.end()
    assert (ended["ended"], opened["body"]["round"]) == ("done", 0)
    ((snapshot, at),) = found
    assert snapshot.next_action.type == "none"
    assert at - told(child)[-1]["at"] < 5


def test_gate_that_was_shown_is_awaited(others: Others) -> None:
    child = others.run("asking")
    child.until("gate_opened")
    began = time.monotonic()
    found = session.wait(child.id, 0.3, after_round=0)
    assert time.monotonic() - began >= 0.3
    assert (found.status, found.next_action.type) == ("waiting", "await_user")
    assert session.wait(child.id, 25, after_round=None).next_action.type == "ask_user"


def test_nobody_looks_once_nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[object] = []
    waiting = sqlite_commands.waiting

    def counted(connection: Any) -> Any:
        looks.append(connection)
        return waiting(connection)

    monkeypatch.setattr(sqlite_commands, "waiting", counted)

    async def main() -> None:
        run = session.new_run(SPECS["slow"](), session.Opening(attended=True))
        assert (await run.main()).status == "done"
        count = len(looks)
        assert count > 3
        await asyncio.sleep(4 * LOOK_S)
        assert len(looks) == count

    play(main())
