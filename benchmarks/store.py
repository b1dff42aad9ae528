"""What the store costs: events made durable, the list of debates, the fold of a long log.

    python benchmarks/store.py

Prints one table. The bound beside each writing row is a bare SQLite connection that gets the same
bodies, already grouped, in a table of the same columns. Exits 1 where a promise is broken.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from rt_notebook.domain.events import Event, encode_body  # noqa: E402
from rt_notebook.domain.state import fold  # noqa: E402
from rt_notebook.store.sqlite import SqliteStore  # noqa: E402

RUNS: Final = 5
MANY: Final = 500
STEPS: Final = 40
LISTED: Final = 100_000
CALLS: Final = 10_000
SEATS: Final = 8
ROUNDS: Final = 50

_AT: Final = 1_700_000_000_000
_TEXT: Final = ("STANCE: opt-1\nAGREE_WITH: none\n" + "the queue costs a team latency " * 20)[:600]


class Row(NamedTuple):
    """One line of the table."""

    what: str
    """The measured work."""
    ours_s: float
    """Seconds, the best of the runs."""
    bound_s: float | None
    """Seconds of the bare connection; None where there is none."""
    events: int
    """How many events are in it; 0 where that says nothing."""
    promise_s: float | None
    """What may not be exceeded."""


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


def finished(debate: str, seq: int, call: str = "0/a/opening/1") -> Event:
    """Return an event of the usual size."""
    body: dict[str, Any] = {"call": call, "text": _TEXT, "tool_calls": [], "usage": {}}
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


def writing_rows() -> Iterator[Row]:
    """Measure what is written."""

    def many(path: Path) -> None:
        _on_loop(path, lambda store: append_many(store, MANY, STEPS))

    groups = [
        [(n, created(f"debate-{n}") if seq == 1 else finished(f"debate-{n}", seq))
         for n in range(MANY)]
        for seq in range(1, STEPS + 1)
    ]  # fmt: skip
    yield Row(f"{MANY} debates at once, {STEPS} events each", best(many),
              best(lambda path: bare(path, groups)), MANY * STEPS, None)  # fmt: skip
    events = list(long_log("long", SEATS * (ROUNDS + 1)))
    # Per round: its start with the calls' starts, then the answers as they come, in threes.
    size = 9
    small = [events[at : at + size] for at in range(0, len(events), size)]
    numbered = [[(0, event) for event in group] for group in small]
    yield Row(f"{SEATS} seats x {ROUNDS} rounds, {len(small)} appends",
              best(lambda path: _on_loop(path, lambda store: append_long(store, small))),
              best(lambda path: bare(path, numbered)), len(events), None)  # fmt: skip
    alone = [[event] for event in events]
    numbered_alone = [[(0, event)] for event in events]
    yield Row("the same, each event alone",
              best(lambda path: _on_loop(path, lambda store: append_long(store, alone))),
              best(lambda path: bare(path, numbered_alone)), len(events), None)  # fmt: skip


def reading_rows(folder: Path) -> Iterator[Row]:
    """Measure what is read."""
    store = SqliteStore(folder / "debates.db")
    _fill(store)
    asyncio.run(append_long(store, [list(long_log("long", CALLS))]))  # noqa: TID251
    for what, run in (
        ("list the newest 50", lambda: store.debates()),
        ("list 50 interrupted", lambda: store.debates("interrupted")),
        ("list 50 running", lambda: store.debates("running")),
        ("list 50 done", lambda: store.debates("done")),
        ("show one of them", lambda: (store.row("d-50000"), fold(store.events("d-50000")))),
        ("find interrupted of a brief", lambda: store.find_interrupted("f" * 32)),
    ):
        yield Row(f"{what} of {LISTED:,}", _fastest(run), None, 0, 0.05)
    events = store.events("long")
    yield Row(f"read a log of {CALLS:,} calls", _fastest(lambda: store.events("long")), None,
              len(events), None)  # fmt: skip
    yield Row(f"fold a log of {CALLS:,} calls", _fastest(lambda: fold(events)), None,
              len(events), 1.0)  # fmt: skip
    yield Row("read and fold it", _fastest(lambda: fold(store.events("long"))), None,
              len(events), 1.0)  # fmt: skip
    store.close()


def main() -> int:
    """Print the table; return 1 where a promise is broken."""
    with tempfile.TemporaryDirectory() as folder:
        rows = [*writing_rows(), *reading_rows(Path(folder))]
    print(
        f"{'':44} {'ours ms':>9} {'bound ms':>9} {'ratio':>6} {'events/s':>10} {'promise ms':>10}"
    )
    for row in rows:
        bound = f"{row.bound_s * 1000:9.2f}" if row.bound_s else " " * 9
        ratio = f"{row.ours_s / row.bound_s:6.2f}" if row.bound_s else " " * 6
        promise = f"{row.promise_s * 1000:10.0f}" if row.promise_s else ""
        rate = f"{row.events / row.ours_s:10,.0f}" if row.events else " " * 10
        print(f"{row.what:44} {row.ours_s * 1000:9.2f} {bound} {ratio} {rate} {promise}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"sqlite {sqlite3.sqlite_version}, best of {RUNS} runs, peak memory {peak:.0f} MB")
    return int(any(row.promise_s and row.ours_s > row.promise_s for row in rows))


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
        rows = [e for e in long_log("d-50000", SEATS * 3)]
        connection.executemany(
            "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)",
            [(50_001, e.seq, e.at, e.kind, e.v, encode_body(e.body)) for e in rows],
        )


def _on_loop(path: Path, run: Callable[[SqliteStore], Any]) -> None:
    store = SqliteStore(path)
    asyncio.run(run(store))  # noqa: TID251
    store.close()


def _fastest(run: Callable[[], object]) -> float:
    seconds = []
    for _ in range(RUNS):
        began = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - began)
    return min(seconds)


def _nothing() -> None:
    return


if __name__ == "__main__":
    sys.exit(main())
