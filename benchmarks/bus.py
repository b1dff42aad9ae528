"""How soon another process sees a debate's events and is obeyed, and what looking costs meanwhile.

    python -m benchmarks.bus

Two real processes on one store.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from benchmarks._report import Report
from rt_notebook.domain.events import Event
from rt_notebook.store.log import Answer, Command
from rt_notebook.store.sqlite import SqliteStore

EVENTS = 200
COMMANDS = 100
IDLE_S = 5.0
MOST_MS = 100
DEBATES = 100

_SPEC = {"brief": {"question": "Ship now?"}, "seats": [{"name": "a"}, {"name": "b"}]}


class Row(NamedTuple):
    """One line of the table."""

    what: str
    median: float
    worst: float
    unit: str
    limited: bool = False


def main() -> int:
    """Print the table."""
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "debates.db"
        rows = [*_between_processes(path), *_idle(Path(folder) / "idle.db")]
    report.table(
        ["", "median", "worst", "unit"],
        [[row.what, row.median, row.worst, row.unit] for row in rows],
    )
    for row in rows:
        if row.limited:
            report.limit(row.what, row.median, MOST_MS, row.unit)
    return report.end()


def _between_processes(path: Path) -> list[Row]:
    command = [sys.executable, "-m", "benchmarks.bus", "run", str(path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdout.readline()
        store = SqliteStore(path)
        child.stdin.write("go\n")
        child.stdin.flush()
        late = _watched(store)
        taken, back = [], []
        for _ in range(COMMANDS):
            began = time.time()
            watch = store.watch()
            number = store.ask("d", "hold", {}, "person")
            while (answer := store.collect(number)) is None:
                watch.wait(1)
            back.append((time.time() - began) * 1000)
            taken.append(float((answer.error or {})["at"] - began) * 1000)
        child.stdin.close()
        store.close()
    return [
        Row("an event is seen", statistics.median(late), max(late), "ms", True),
        Row("a command is taken", statistics.median(taken), max(taken), "ms", True),
        Row("its answer is back", statistics.median(back), max(back), "ms"),
    ]


def _watched(store: SqliteStore) -> list[float]:
    late: list[float] = []
    watch, last = store.watch(), 1
    while last <= EVENTS:
        watch.wait(5)
        for event in store.events("d", last):
            late.append((time.time() - event.body["at"]) * 1000)
            last = event.seq
    return late


def _idle(path: Path) -> list[Row]:
    """Measure the processor's time that looking takes where nothing happens."""
    store = SqliteStore(path)
    watch = store.watch()
    watch.wait(0)
    began = time.process_time()
    watch.wait(IDLE_S)
    watching = (time.process_time() - began) / IDLE_S * 1000

    async def serving() -> float:
        logs = [store.log(f"d-{number}") for number in range(DEBATES)]
        for log in logs:
            await log.append([_created(log.debate)], _nothing)
            log.serve(_refuse)
        began = time.process_time()
        await asyncio.sleep(IDLE_S)
        spent = time.process_time() - began
        for log in logs:
            await log.end_service()
            log.release()
        return spent / IDLE_S * 1000

    served = asyncio.run(serving())  # noqa: TID251
    store.close()
    return [
        Row("a waiter that sees nothing", watching, watching, "ms/s"),
        Row(f"a loop with {DEBATES} debates, nothing asked", served, served, "ms/s"),
    ]


def _run(path: str) -> None:
    """Write events at their own pace, then obey until nobody asks any more. The other process."""
    store = SqliteStore(Path(path))

    async def take(command: Command) -> Answer:
        return Answer(error={"at": time.time()})

    async def work() -> None:
        log = store.log("d")
        await log.append([_created("d")], _nothing)
        print(json.dumps("ready"), flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        for seq in range(2, EVENTS + 2):
            await asyncio.sleep(0.007)
            event = Event(1, "d", seq, 0, "interjection", {"at": time.time()})
            await log.append([event], _nothing)
        log.serve(take)
        await asyncio.to_thread(sys.stdin.readline)

    asyncio.run(work())  # noqa: TID251


def _created(debate: str) -> Event:
    return Event(1, debate, 1, 0, "created", {"spec": _SPEC, "source": "person"})


async def _refuse(command: Command) -> Answer:
    return Answer(revision=1)


def _nothing() -> None:
    return


if __name__ == "__main__":
    if sys.argv[1:2] == ["run"]:
        _run(sys.argv[2])
    else:
        sys.exit(main())
