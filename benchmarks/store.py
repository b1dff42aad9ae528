"""What the store costs: events made durable, the list of debates, the fold of a long log.

    python -m benchmarks.store

The bound beside each writing row is a bare SQLite connection that gets the same bodies, already
grouped, in a table of the same columns. One event a commit is held against the turns a second of
`peers/bound_durable.py` as well, run in turn with it.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import rt_notebook as rt
from benchmarks._report import Cell, Report
from benchmarks._workloads import DURABLE, Workload, medians
from rt_notebook.domain.events import Event, encode_body
from rt_notebook.domain.state import fold
from rt_notebook.store import open_store
from rt_notebook.store.sqlite import SqliteStore

RUNS: Final = 5
PAIRS: Final = 15
"""Runs of what is held against the bound."""
MANY: Final = 500
STEPS: Final = 40
ALONE: Final = 2_000
LISTED: Final = 100_000
CALLS: Final = 10_000
SEATS: Final = 8
ROUNDS: Final = 50
LIST_MS: Final = 50
FOLD_S: Final = 1
OF_BOUND: Final = 2 / 3

_AT: Final = 1_700_000_000_000
_TEXT: Final = ("STANCE: opt-1\nAGREE_WITH: none\n" + "the queue costs a team latency " * 20)[:600]


Look = Callable[[], object]
"""Reads something."""


class Row(NamedTuple):
    """One line of the table of what is written."""

    what: str
    """The measured work."""
    ours_s: float
    """Seconds, the best of the runs."""
    bound_s: float
    """Seconds of the bare connection."""
    events: int
    """How many events are in it."""


def spec(seats: int) -> dict[str, Any]:
    """Return a spec as a `created` event holds it."""
    return {
        "kind": "review",
        "title": None,
        "brief": {"question": "Should the order service move?", "options": ["Move", "Wait"]},
        "seats": [{"name": f"seat-{n}", "model": "scripted"} for n in range(seats)],
        "rounds": ROUNDS,
    }


def created(debate: str, seats: int = 3) -> Event:
    """Return a debate's first event."""
    body = {"spec": spec(seats), "source": "person", "unattended": True, "prompts_version": 1}
    return Event(1, debate, 1, _AT, "created", body)


def finished(debate: str, seq: int, call: str = "0/a/opening/1", text: str = _TEXT) -> Event:
    """Return an event of the usual size."""
    body: dict[str, Any] = {"call": call, "text": text, "tool_calls": [], "usage": {}}
    body |= {"cost": None, "model": "scripted", "request_id": None, "timings": {"total": 0.05}}
    return Event(1, debate, seq, _AT + seq, "call_finished", body)


def long_log(debate: str, calls: int) -> Iterator[Event]:
    """Yield the events of a debate with so many calls."""
    yield created(debate, SEATS)
    seq, rounds = 1, calls // SEATS
    reply = {"valid": True, "stance": "Move", "stance_key": "opt-1", "raw": _TEXT}
    for number in range(rounds):
        seq += 1
        yield Event(1, debate, seq, _AT + seq, "round_started", {"round": number})
        for seat in range(SEATS):
            name, call = f"seat-{seat}", f"{number}/s{seat}/critique/1"
            start = {"call": call, "round": number, "seat": name, "purpose": "critique"}
            start |= {"attempt": 1, "model": "scripted", "messages_hash": "0" * 64, "chars": 900}
            read = {"call": call, "round": number, "seat": name, "reply": reply}
            yield Event(1, debate, seq + 1, _AT + seq, "call_started", start)
            yield finished(debate, seq + 2, call)
            seq += 3
            yield Event(1, debate, seq, _AT + seq, "reply_read", read)


async def append_many(store: SqliteStore, debates: int, steps: int) -> None:
    """Let debates append an event a step, all of them in the same ticks."""

    async def one(number: int) -> None:
        debate = f"debate-{number}"
        log = store.log(debate)
        await log.append([created(debate)], _nothing)
        for seq in range(2, steps + 1):
            await log.append([finished(debate, seq)], _nothing)

    async with asyncio.TaskGroup() as group:
        for number in range(debates):
            group.create_task(one(number))


async def append_long(store: SqliteStore, groups: list[list[Event]]) -> None:
    """Append a debate's events group by group."""
    log = store.log(groups[0][0].debate)
    for group in groups:
        await log.append(group, _nothing)


def bare(path: Path, groups: list[list[tuple[int, Event]]]) -> None:
    """Write groups of events, one transaction each, without any store."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("CREATE TABLE e (d INT, seq INT, at INT, kind TEXT, v INT, body TEXT)")
    connection.execute("CREATE UNIQUE INDEX i ON e (d, seq)")
    for group in groups:
        rows = [(d, e.seq, e.at, e.kind, e.v, encode_body(e.body)) for d, e in group]
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("INSERT INTO e VALUES (?, ?, ?, ?, ?, ?)", rows)
        connection.execute("COMMIT")
    connection.close()


def best(run: Callable[[Path], None], runs: int = RUNS) -> float:
    """Return the seconds of the fastest of some runs, each with a new folder."""
    seconds = []
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            began = time.perf_counter()
            run(Path(folder) / "debates.db")
            seconds.append(time.perf_counter() - began)
    return min(seconds)


def durable(report: Report) -> None:
    """Measure one kB a commit, and hold it against the bound's turns in the same minute."""
    empty = len(encode_body(finished("alone", 2, text="").body))
    events = [finished("alone", seq, text="x" * (1024 - empty)) for seq in range(2, ALONE + 2)]
    groups = [[created("alone")], *([event] for event in events)]
    numbered = [[(0, event) for event in group] for group in groups]
    ours, bare_s, turns = [], [], []
    for _ in range(PAIRS):  # in turn, since a machine's speed changes from second to second
        turns.append(medians([DURABLE], Workload(SEATS, ROUNDS), 1)[DURABLE].turns_per_s)
        ours.append(ALONE / best(lambda path: _on_loop(path, lambda s: append_long(s, groups)), 1))
        bare_s.append(ALONE / best(lambda path: bare(path, numbered), 1))
    report.say(f"One commit each, {ALONE:,} events of 1 kB, median of {PAIRS} runs:")
    middle, bound = statistics.median(ours), statistics.median(turns)
    part = statistics.median(mine / its for mine, its in zip(ours, turns, strict=True))
    report.table(
        ["", "a second"],
        [
            ["the store, events", middle],
            ["a bare SQLite connection, events", statistics.median(bare_s)],
            [f"the SQLite bound at {SEATS},{ROUNDS},1, turns of 0.6 kB", bound],
        ],
    )
    report.limit("durable events, of the bound's turns", part, OF_BOUND, at_least=True)


def writing(report: Report) -> None:
    """Measure what debates write."""

    def many(path: Path) -> None:
        _on_loop(path, lambda store: append_many(store, MANY, STEPS))

    groups = [
        [(n, created(f"debate-{n}") if seq == 1 else finished(f"debate-{n}", seq))
         for n in range(MANY)]
        for seq in range(1, STEPS + 1)
    ]  # fmt: skip
    rows = [Row(f"{MANY} debates at once, {STEPS} events each", best(many),
                best(lambda path: bare(path, groups)), MANY * STEPS)]  # fmt: skip
    events = list(long_log("long", SEATS * (ROUNDS + 1)))
    # Much as a round is logged: starts together, then the answers as they come.
    for what, size in (("{} appends", 9), ("each event alone", 1)):
        small = [events[at : at + size] for at in range(0, len(events), size)]
        numbered = [[(0, event) for event in group] for group in small]
        rows.append(_long(f"{SEATS} seats × {ROUNDS} rounds, {what.replace('{}', str(len(small)))}",
                          small, numbered, len(events)))  # fmt: skip
    report.say(f"What debates write, best of {RUNS} runs:")
    report.table(
        ["", "ms", "bare ms", "ratio", "events/s"],
        [[r.what, r.ours_s * 1e3, r.bound_s * 1e3, r.ours_s / r.bound_s, r.events / r.ours_s]
         for r in rows],
    )  # fmt: skip


def _long(
    what: str, groups: list[list[Event]], numbered: list[list[tuple[int, Event]]], count: int
) -> Row:
    ours = best(lambda path: _on_loop(path, lambda store: append_long(store, groups)))
    return Row(what, ours, best(lambda path: bare(path, numbered)), count)


def reading(report: Report, path: Path) -> None:
    """Measure what is read."""
    store = open_store(path)
    _fill(store)
    asyncio.run(append_long(store, [list(long_log("long", CALLS))]))  # noqa: TID251
    rows: list[list[Cell]] = []
    looks: tuple[tuple[str, Look], ...] = (
        ("list the newest 50", lambda: store.debates()),
        ("list 50 interrupted", lambda: store.debates("interrupted")),
        ("list 50 running", lambda: store.debates("running")),
        ("list 50 done", lambda: store.debates("done")),
        ("rt.debates(), a data frame", lambda: rt.debates(store=path)),
        ("show one: its row, its log's fold",
         lambda: (store.row("d-50000"), fold(store.events("d-50000")))),
        ("rt.load() of one", lambda: rt.load("d-50000", store=path)),
        ("find interrupted of a brief", lambda: store.find_interrupted("f" * 32)),
    )  # fmt: skip
    for what, run in looks:
        took = _fastest(run) * 1000
        rows.append([f"{what}, of {LISTED:,}", took, None])
        report.limit(f"{what}, of {LISTED:,}", took, LIST_MS, "ms")
    events = store.events("long")
    looks = (
        (f"read a log of {CALLS:,} calls", lambda: store.events("long")),
        (f"fold a log of {CALLS:,} calls", lambda: fold(events)),
        (f"read and fold {CALLS:,} calls", lambda: fold(store.events("long"))),
    )
    for what, run in looks:
        took = _fastest(run, time.process_time)
        rows.append([what, took * 1000, len(events) / took])
        if "fold" in what:
            report.limit(what, took, FOLD_S, "s")
    report.say(f"What is read, best of {RUNS} runs (logs: in seconds of the processor):")
    report.table(["", "ms", "events/s"], rows)


def main() -> int:
    """Print the tables."""
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        durable(report)
        writing(report)
        reading(report, Path(folder) / "debates.db")
    return report.end()


def _fill(store: SqliteStore) -> None:
    # One in a hundred was interrupted, one in ten thousand died without a word.
    with store.database.transaction() as connection:
        for number in range(LISTED):
            status = "interrupted" if number % 100 == 0 else "done"
            status = "running" if number % 10_000 == 1 else status
            brief = "f" * 32 if number % 10_000 == 0 else f"{number:032x}"
            connection.execute(
                "INSERT INTO debates (number, id, kind, title, brief, seats, status, created_at, "
                "updated_at, revision) VALUES (?, ?, 'review', ?, ?, ?, ?, ?, ?, 14)",
                (number + 1, f"d-{number}", f"Question {number}?", brief,
                 json.dumps(["pm", "dev", "ops"]), status, _AT + number, _AT + number),
            )  # fmt: skip
        # Every debate has a log, so that a list which looks into them is found out.
        bodies = [(e.seq, e.kind, e.v, encode_body(e.body))
                  for e in (created("d"), finished("d", 2), finished("d", 3))]  # fmt: skip
        rows = [(number, seq, _AT, kind, v, body)
                for number in range(1, LISTED + 1) if number != 50_001
                for seq, kind, v, body in bodies]  # fmt: skip
        rows += [(50_001, e.seq, e.at, e.kind, e.v, encode_body(e.body))
                 for e in long_log("d-50000", SEATS * 3)]  # fmt: skip
        connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", rows)


def _on_loop(path: Path, run: Callable[[SqliteStore], Any]) -> None:
    store = SqliteStore(path)
    asyncio.run(run(store))  # noqa: TID251
    store.close()


def _fastest(run: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    seconds = []
    for _ in range(RUNS):
        began = clock()
        run()
        seconds.append(clock() - began)
    return min(seconds)


def _nothing() -> None:
    return


if __name__ == "__main__":
    sys.exit(main())
