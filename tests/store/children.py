"""What other processes do in the store's tests.

    python -m tests.store.children WORK PATH [ARGUMENT ...]

A child talks to its test in lines: whatever it prints has really happened before.
"""

from __future__ import annotations

import asyncio
import os
import resource
import sys
from collections.abc import Callable
from pathlib import Path

from rt_notebook.errors import NotResumableError, StoreError
from rt_notebook.store.sqlite import SqliteLog, SqliteStore
from tests.store.samples import concluded, created, event, nothing, run


def say(*words: object) -> None:
    """Prints a line at once, in one system call."""
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def open_and_create(path: str, debate: str) -> None:
    """Waits for a line, then opens the store, perhaps a new one, and writes a debate to it."""
    say("ready")
    sys.stdin.readline()
    store = SqliteStore(Path(path))
    run(_write(store, debate, 3))
    say("notes", *store.notes)


def write_forever(path: str, debates: str) -> None:
    """Appends to some debates at once, and says each event that is committed."""
    store = SqliteStore(Path(path))

    async def one(debate: str) -> None:
        log = store.log(debate)
        await log.append([created(debate)], lambda: say(debate, 1))
        seq = 1
        while True:
            group = [event(debate, seq + 1), event(debate, seq + 2)]
            await log.append(group, lambda last=seq + 2: say(debate, last))  # type: ignore[misc]  # mypy can't type a lambda's default
            seq += 2

    async def main() -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(int(debates)):
                group.create_task(one(f"{os.getpid()}-{number}"))

    run(main())


def write_many(path: str, debate: str, count: str) -> None:
    """Waits for a line, then appends one event after the other."""
    store = SqliteStore(Path(path))
    say("ready")
    sys.stdin.readline()
    run(_write(store, debate, int(count)))
    say("done")


def take_over_each(path: str) -> None:
    """Tries to take over each debate named in a line, and keeps it until the next line."""
    store = SqliteStore(Path(path))
    say("ready")
    log: SqliteLog | None = None
    for line in sys.stdin:
        if line == "\n":
            if log is not None:
                log.release()
            say("released")
            continue
        log = store.log(line.strip())
        try:
            log.take_over()
            say("won", os.getpid())
        except NotResumableError as error:
            say("lost", error.facts["pid"])


def fill_up(path: str, limit: str) -> None:
    """Appends until files may not grow any more; says what is committed and what went wrong."""
    store = SqliteStore(Path(path))
    committed = [0]

    def note() -> None:
        committed[0] += 1

    async def main() -> None:
        log = store.log("d")
        others = [store.log(f"o-{number}") for number in range(3)]
        for other in [log, *others]:
            await other.append([created(other.debate)], nothing)
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), resource.RLIM_INFINITY))
        failed: list[StoreError] = []
        seq = 1
        while not failed:
            seq += 1
            waiting = [
                each.append([event(each.debate, seq, text="x" * 3000)], note)
                for each in [log, *others]
            ]
            for future in waiting:
                try:
                    await future
                except StoreError as error:
                    failed.append(error)
        say(len(failed), failed[0].facts["fault"], committed[0])
        say(failed[0])
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        log.release()
        log.take_over()
        await log.append([event("d", seq), concluded("d", seq + 1)], nothing)
        say("went on at", seq)

    run(main())


async def _write(store: SqliteStore, debate: str, count: int) -> None:
    log = store.log(debate)
    await log.append([created(debate)], nothing)
    for seq in range(2, count):
        await log.append([event(debate, seq)], nothing)
    await log.append([concluded(debate, count)], nothing)


WORK: dict[str, Callable[..., None]] = {
    work.__name__: work
    for work in (open_and_create, write_forever, write_many, take_over_each, fill_up)
}

if __name__ == "__main__":
    WORK[sys.argv[1]](*sys.argv[2:])
