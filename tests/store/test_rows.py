"""The list of debates: what a row says, whom it is found by, and that it agrees with the fold."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rt_notebook.domain.events import Event
from rt_notebook.domain.state import fold
from rt_notebook.errors import NotResumableError, UnknownDebateError
from rt_notebook.store.log import brief_digest
from rt_notebook.store.sqlite import SqliteStore
from tests.store.samples import (
    AT,
    concluded,
    created,
    event,
    nothing,
    opened,
    run,
    spec_json,
    write,
    write_each,
)

VERDICT = {"valid": True, "pick": "opt-2", "recommendation": "opt-2\nbecause"}
KINDS: dict[str, Callable[[], dict[str, Any]]] = {
    "round_started": lambda: {"round": 0},
    "gate_opened": lambda: {
        "round": 0, "mode": "checkpoint", "questions": [], "closes_at": 5, "reopen_calls": None
    },
    "gate_closed": lambda: {"round": 0, "why": "timeout"},
    "verdict_started": lambda: {},
    "verdict_written": lambda: {"verdict": VERDICT},
    "verdict_failed": lambda: {"error": "timeout", "message": "no answer"},
    "interrupted": lambda: {"why": "Ctrl-C"},
    "resumed": lambda: {"source": "person", "limits": None},
    "extended": lambda: {"prompt": "go on", "rounds": 1, "mode": None},
    "interjection": lambda: {"text": "hm", "source": "person"},
    "concluded": lambda: {"status": "done", "stop_reason": "rounds"},
    "paused": lambda: {"status": "paused", "stop_reason": "limit"},
    "unheard_of": lambda: {},
}  # fmt: skip


def _events(debate: str, kinds: list[str]) -> list[Event]:
    events = [created(debate)]
    for kind in kinds:
        if kind == "gate_closed" and not any(e.kind == "gate_opened" for e in events):
            continue
        name = "concluded" if kind == "paused" else kind
        events.append(event(debate, len(events) + 1, name, **KINDS[kind]()))
    return events


@pytest.fixture(scope="module")
def common(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteStore]:
    """A store for all examples of a property."""
    with opened(tmp_path_factory.mktemp("common") / "debates.db") as store:
        yield store


@given(st.lists(st.sampled_from(sorted(KINDS)), max_size=10), st.integers(1, 6))
@settings(max_examples=300, deadline=None)
def test_row_agrees_with_fold(common: SqliteStore, kinds: list[str], size: int) -> None:
    """After every append, whatever the groups in which events are appended."""
    debate = f"d-{uuid.uuid4().hex}"
    events = _events(debate, kinds)

    async def main() -> None:
        log = common.log(debate)
        for start in range(0, len(events), size):
            if start and log.hold is None:
                log.take_over()
            await log.append(events[start : start + size], nothing)
            # As stored, since a live debate without its lease is shown as interrupted.
            query = "SELECT status, stop_reason, pick FROM debates WHERE id = ?"
            row = common.database.connection().execute(query, (debate,)).fetchone()
            state = fold(events[: start + size])
            verdict = state.verdict.pick if state.verdict else None
            assert row == (state.status, state.stop_reason, verdict)

    run(main())


def test_row_says_what_debate_is(store: SqliteStore) -> None:
    write(
        store,
        created("d", spec_json("Ship now?", "Release 7")),
        event("d", 2, "verdict_started"),
        event("d", 3, "verdict_written", verdict=VERDICT),
        concluded("d", 4, reason="consensus"),
    )
    row = store.row("d")
    assert (row.id, row.kind, row.title, row.seats) == ("d", "review", "Release 7", ("pm", "dev"))
    assert (row.status, row.stop_reason, row.pick) == ("done", "consensus", "opt-2")
    assert (row.created_at, row.updated_at, row.revision) == (AT, AT + 4, 4)
    assert store.debates() == [row]


def test_row_keeps_reason_while_verdict_is_asked_again(store: SqliteStore) -> None:
    write(store, created("d"), concluded("d", 2, "stopped", "stopped"))

    async def main() -> None:
        log = store.log("d")
        log.take_over()
        await log.append([event("d", 3, "verdict_started")], nothing)
        row = store.row("d")
        assert (row.status, row.stop_reason, row.pick) == ("verdict", "stopped", None)
        await log.append([event("d", 4, "verdict_written", verdict=VERDICT)], nothing)
        await log.append([concluded("d", 5)], nothing)

    run(main())
    row = store.row("d")
    assert (row.status, row.stop_reason, row.pick) == ("done", "rounds", "opt-2")


def test_extended_debate_is_live_again(store: SqliteStore) -> None:
    write(store, created("d"), event("d", 2, "verdict_started"),
          event("d", 3, "verdict_written", verdict=VERDICT), concluded("d", 4))  # fmt: skip

    async def main() -> None:
        log = store.log("d")
        log.take_over()
        body = KINDS["extended"]()
        await log.append([concluded("d", 5), event("d", 6, "extended", **body)], nothing)
        row = store.row("d")
        assert (row.status, row.stop_reason, row.pick) == ("running", None, None)

    run(main())


def test_newest_debates_come_first(store: SqliteStore) -> None:
    assert store.last_id() is None
    assert store.debates() == []
    write_each(store, ["a", "b", "c"], ("done", "rounds"))
    assert [row.id for row in store.debates()] == ["c", "b", "a"]
    assert [row.id for row in store.debates(limit=2)] == ["c", "b"]
    assert len(store.debates(limit=None)) == len(store.debates(limit=10**30)) == 3
    assert store.debates(limit=0) == store.debates(limit=-1) == []
    assert store.last_id() == "c"


def test_debates_are_found_by_shown_status(store: SqliteStore) -> None:
    """A live one whose process is gone is interrupted, for the filter too."""
    write_each(store, ["done-1", "done-2"], ("done", "rounds"))
    write_each(store, ["gone-1"])
    write_each(store, ["paused"], ("paused", "limit"))
    write(store, created("broken"), event("broken", 2, "interrupted"))
    write_each(store, ["gone-2"])

    async def main() -> None:
        log = store.log("alive")
        await log.append([created("alive")], nothing)
        found = {
            status: [row.id for row in store.debates(status)]
            for status in ("running", "waiting", "interrupted", "done", "paused", "error")
        }
        assert found == {
            "running": ["alive"], "waiting": [], "interrupted": ["gone-2", "broken", "gone-1"],
            "done": ["done-2", "done-1"], "paused": ["paused"], "error": [],
        }  # fmt: skip
        assert [row.id for row in store.debates("interrupted", limit=2)] == ["gone-2", "broken"]
        assert {row.status for row in store.debates("interrupted")} == {"interrupted"}

    run(main())


def test_interrupted_debates_of_brief_are_found(store: SqliteStore) -> None:
    brief = spec_json("Ship now?")["brief"]
    other = spec_json("Ship later?")
    write_each(store, ["done"], ("done", "rounds"))
    write_each(store, ["paused"], ("paused", "limit"))
    write_each(store, ["gone"])
    write(store, created("other", other), event("other", 2, "interrupted"))
    assert [row.id for row in store.find_interrupted(brief_digest(brief))] == ["gone", "paused"]
    assert [row.id for row in store.find_interrupted(brief_digest(other["brief"]))] == ["other"]


def test_digest_is_of_what_brief_says() -> None:
    brief = {"question": "Ship?", "options": ["a", "b"]}
    assert brief_digest(brief) == brief_digest({"options": ["a", "b"], "question": "Ship?"})
    assert brief_digest(brief) == brief_digest({**brief, "known": [], "deadline": None})
    assert brief_digest(brief) != brief_digest({**brief, "known": ["a fact"]})
    assert len(brief_digest({"question": "\ud800"})) == 32


def test_deleted_debate_leaves_nothing(store: SqliteStore) -> None:
    write_each(store, ["a", "b"])
    store.delete("a")
    assert [row.id for row in store.debates()] == ["b"]
    counts = [
        store.database.connection().execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: S608 - our own tables
        for table in ("debates", "events", "leases")
    ]
    assert counts == [1, 1, 1]
    with pytest.raises(UnknownDebateError, match="no debate has the id 'a'"):
        store.events("a")


def test_running_debate_is_not_deleted(store: SqliteStore) -> None:
    async def main() -> None:
        log = store.log("d")
        await log.append([created("d")], nothing)
        with pytest.raises(NotResumableError, match=r"'d' can't be deleted: process .* runs it"):
            store.delete("d")

    run(main())
    assert store.row("d").id == "d"


def test_unknown_id_names_nearest(store: SqliteStore) -> None:
    write_each(store, ["ship-now-abc123"])
    for read in (store.row, store.events, store.delete):
        with pytest.raises(UnknownDebateError, match="did you mean 'ship-now-abc123'"):
            read("ship-now-abc12")
    with pytest.raises(UnknownDebateError, match="list the debates to see their ids"):
        store.row("zzz")
