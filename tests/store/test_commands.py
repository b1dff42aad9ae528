"""Commands from others: each is taken once, in order, by the holder only, and answered or gone."""

from __future__ import annotations

import asyncio
import contextvars
import json
import statistics
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from rt_notebook.errors import StoreError, UnknownDebateError, UsageError
from rt_notebook.store import sqlite_commands, sqlite_database, sqlite_inbox
from rt_notebook.store.log import MAX_COMMAND_BYTES, MAX_WAITING, Answer, Command
from rt_notebook.store.sqlite import SqliteLog, SqliteStore
from tests.store.samples import concluded, created, event, nothing, opened, run, write

PROMISE_S = 0.1
"""Within this, a command is taken and an event is seen."""

Take = Callable[[Command], Awaitable[Answer]]


class Taken:
    """Takes commands, remembers them, and answers with a revision that counts up."""

    def __init__(self) -> None:
        self.commands: list[Command] = []
        self.news = asyncio.Event()

    async def __call__(self, command: Command) -> Answer:
        self.commands.append(command)
        self.news.set()
        return Answer(revision=len(self.commands))

    async def count(self, wanted: int) -> None:
        """Wait until so many have come."""
        async with asyncio.timeout(5):
            while len(self.commands) < wanted:
                self.news.clear()
                await self.news.wait()


async def _served(store: SqliteStore, debate: str, take: Take) -> SqliteLog:
    log = store.log(debate)
    await log.append([created(debate)], nothing)
    log.serve(take)
    return log


async def _collected(other: SqliteStore, number: int) -> Answer:
    async with asyncio.timeout(5):
        while (found := other.collect(number)) is None:  # noqa: ASYNC110 - another one answers
            await asyncio.sleep(0.001)
    return found


def test_command_is_taken_in_time_and_answered(store: SqliteStore, path: Path) -> None:
    async def main() -> None:
        taken = Taken()
        await _served(store, "d", taken)
        took = []
        for asked in range(1, 6):
            began = time.monotonic()
            number = other.ask("d", "answer", {"round": 0, "message": "ü\ud800"}, "agent")
            await taken.count(asked)
            took.append(time.monotonic() - began)
            assert await _collected(other, number) == Answer(revision=asked)
            with pytest.raises(StoreError, match="the command is gone"):
                other.collect(number)
        assert statistics.median(took) < PROMISE_S
        command = taken.commands[0]
        assert (command.debate, command.verb, command.source) == ("d", "answer", "agent")
        assert command.body == {"round": 0, "message": "ü\ud800"}
        assert abs(command.asked_at - time.time() * 1000) < 5_000

    with opened(path) as other:
        run(main())


def test_bus_works_without_write_ahead_log(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a network mount, where readers and writers wait for one another."""
    monkeypatch.setattr(sqlite_database, "network_file_system", lambda path: "nfs")

    async def main(store: SqliteStore, other: SqliteStore) -> None:
        taken = Taken()
        watch = other.watch()
        watch.wait(0)
        log = await _served(store, "d", taken)
        assert watch.wait(5)
        for asked in range(1, 4):
            number = other.ask("d", "hold", {}, "person")
            await taken.count(asked)
            await log.append([event("d", asked + 1)], nothing)
            assert await _collected(other, number) == Answer(revision=asked)
            assert watch.wait(5)
        assert len(other.events("d")) == 4

    with opened(path) as store, opened(path) as other:
        assert store.notes
        run(main(store, other))


def test_commands_come_in_order_and_once(store: SqliteStore, path: Path) -> None:
    async def main() -> None:
        first, second = Taken(), Taken()
        await _served(store, "a", first)
        await _served(store, "b", second)
        for number in range(20):
            other.ask("ab"[number % 2], "answer", {"n": number}, "person")
        await first.count(10)
        await second.count(10)
        assert [command.body["n"] for command in first.commands] == list(range(0, 20, 2))
        assert [command.body["n"] for command in second.commands] == list(range(1, 20, 2))

    with opened(path) as other:
        run(main())


def test_command_for_others_debate_is_left_alone(store: SqliteStore, path: Path) -> None:
    async def main() -> None:
        taken = Taken()
        await _served(store, "mine", taken)
        theirs = other.ask("theirs", "stop", {}, "person")
        other.ask("mine", "stop", {}, "person")
        await taken.count(1)
        assert [command.debate for command in taken.commands] == ["mine"]
        assert other.collect(theirs) is None
        assert other.withdraw(theirs)

    with opened(path) as other:
        write(other, created("theirs"))
        run(main())


def test_withdrawn_command_is_never_taken(store: SqliteStore, path: Path) -> None:
    async def main() -> None:
        taken = Taken()
        await _served(store, "d", taken)
        number = other.ask("d", "stop", {}, "person")
        assert other.withdraw(number)
        assert not other.withdraw(number)
        last = other.ask("d", "hold", {}, "person")
        await taken.count(1)
        assert [command.verb for command in taken.commands] == ["hold"]
        assert last > number
        assert not other.withdraw(last)

    with opened(path) as other:
        run(main())


def test_holder_that_lost_its_lease_takes_nothing(store: SqliteStore, path: Path) -> None:
    async def main() -> None:
        late, kept = Taken(), Taken()
        await _served(store, "d", late)
        await _served(store, "e", kept)
        with other.database.transaction() as connection:
            connection.execute("UPDATE leases SET claim = claim + 1 WHERE debate = 1")
        number = other.ask("d", "stop", {}, "person")
        other.ask("e", "stop", {}, "person")
        await kept.count(1)
        assert late.commands == []
        assert other.withdraw(number)

    with opened(path) as other:
        run(main())


def test_takeover_answers_nobody_and_forgets(store: SqliteStore, path: Path) -> None:
    write(store, created("d"), concluded("d", 2, "error", "error"))
    with opened(path) as other:
        number = other.ask("d", "stop", {}, "person")
        store.log("d").take_over()
        with pytest.raises(StoreError, match="another process took it over") as caught:
            other.collect(number)
        assert caught.value.facts["fault"] == "lost"


def test_commands_go_with_their_debate(store: SqliteStore) -> None:
    write(store, created("d"), concluded("d", 2))
    write(store, created("e"), concluded("e", 2))
    numbers = {debate: store.ask(debate, "stop", {}, "person") for debate in "de"}
    store.delete("d")
    with pytest.raises(StoreError, match="its debate was deleted"):
        store.collect(numbers["d"])
    assert store.collect(numbers["e"]) is None
    with pytest.raises(UnknownDebateError, match="'d'"):
        store.ask("d", "stop", {}, "person")


def test_number_is_never_given_twice(store: SqliteStore) -> None:
    write(store, created("d"), concluded("d", 2))
    first = store.ask("d", "stop", {}, "person")
    assert store.withdraw(first)
    assert store.ask("d", "stop", {}, "person") > first


def test_huge_command_is_refused(store: SqliteStore) -> None:
    write(store, created("d"))
    limit = f"{MAX_COMMAND_BYTES:,} are allowed"
    for text in ("x" * MAX_COMMAND_BYTES, "ü" * (MAX_COMMAND_BYTES // 2), "\ud800" * 200_000):
        with pytest.raises(UsageError, match=limit):
            store.ask("d", "turn", {"text": text}, "person")
    rest = MAX_COMMAND_BYTES - len(json.dumps({"text": ""}, separators=(",", ":")))
    assert store.ask("d", "turn", {"text": "x" * rest}, "person")


def test_too_many_commands_are_refused(store: SqliteStore) -> None:
    write(store, created("d"))
    numbers = [store.ask("d", "hold", {}, "person") for _ in range(MAX_WAITING)]
    with pytest.raises(UsageError, match=f"{MAX_WAITING} commands wait for this debate already"):
        store.ask("d", "hold", {}, "person")
    # Those whose askers died long ago make room.
    with store.database.transaction() as connection:
        connection.execute("UPDATE commands SET asked_at = asked_at - 3700000")
    assert store.ask("d", "hold", {}, "person") > numbers[-1]


def test_refusal_and_failure_reach_who_asked(
    store: SqliteStore, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    refusal = Answer(error={"kind": "UsageError", "message": "no", "facts": {"kept": {"q1": "x"}}})

    async def take(command: Command) -> Answer:
        if command.verb == "break":
            raise ZeroDivisionError
        return refusal

    async def main() -> None:
        await _served(store, "d", take)
        assert await _collected(other, other.ask("d", "stop", {}, "person")) == refusal
        broken = await _collected(other, other.ask("d", "break", {}, "person"))
        assert broken.revision is None
        assert broken.error is not None
        assert broken.error["message"] == "break failed: ZeroDivisionError"

    with opened(path) as other:
        run(main())
    assert "a command from another process failed" in caplog.text


def test_end_of_service_waits_for_answers(store: SqliteStore, path: Path) -> None:
    async def main() -> None:
        begun, goes_on = asyncio.Event(), asyncio.Event()

        async def take(command: Command) -> Answer:
            begun.set()
            await goes_on.wait()
            return Answer(revision=7)

        log = await _served(store, "d", take)
        first = other.ask("d", "stop", {}, "person")
        await begun.wait()
        ending = asyncio.ensure_future(log.end_service())
        await asyncio.sleep(0)
        second = other.ask("d", "stop", {}, "person")
        assert not ending.done()
        goes_on.set()
        await ending
        assert other.collect(first) == Answer(revision=7)
        assert other.collect(second) is None
        await log.end_service()

    with opened(path) as other:
        run(main())


def test_cancelled_command_is_answered(store: SqliteStore, path: Path) -> None:
    """The loop ends in the middle of a command: who asked isn't left waiting."""
    numbers: list[int] = []

    async def main() -> None:
        begun = asyncio.Event()

        async def take(command: Command) -> Answer:
            begun.set()
            await asyncio.Event().wait()
            raise AssertionError

        await _served(store, "d", take)
        numbers.append(other.ask("d", "stop", {}, "person"))
        await begun.wait()

    with opened(path) as other:
        run(main())
        found = other.collect(numbers[0])
        assert found is not None
        assert found.error is not None
        assert "the run ended before this was carried out" in found.error["message"]


def test_command_runs_in_its_debates_context(store: SqliteStore, path: Path) -> None:
    cell: contextvars.ContextVar[str] = contextvars.ContextVar("cell")
    seen: dict[str, str] = {}

    async def main() -> None:
        both = asyncio.Event()

        async def take(command: Command) -> Answer:
            seen[command.debate] = cell.get()
            if len(seen) == 2:
                both.set()
            return Answer(revision=1)

        for debate in "de":
            cell.set(f"cell of {debate}")
            await _served(store, debate, take)
        for debate in "de":
            other.ask(debate, "stop", {}, "person")
        async with asyncio.timeout(5):
            await both.wait()

    with opened(path) as other:
        run(main())
    assert seen == {"d": "cell of d", "e": "cell of e"}


def test_damaged_command_is_handed_over_empty(store: SqliteStore, path: Path) -> None:
    async def main() -> None:
        taken = Taken()
        await _served(store, "d", taken)
        for text in ("{", "[1]", "null"):
            with other.database.transaction() as connection:
                connection.execute(
                    "INSERT INTO commands (debate, verb, body, source, asked_at) "
                    "VALUES (1, 'answer', ?, 'person', 0)",
                    (text,),
                )
        await taken.count(3)
        assert [command.body for command in taken.commands] == [{}, {}, {}]

    with opened(path) as other:
        run(main())


def test_one_look_serves_all_debates_of_a_loop(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[Any] = []
    waiting = sqlite_commands.waiting

    def counted(connection: Any) -> Any:
        looks.append(connection)
        return waiting(connection)

    monkeypatch.setattr(sqlite_commands, "waiting", counted)

    async def main() -> None:
        logs = [await _served(store, f"d-{number}", Taken()) for number in range(50)]
        began = time.monotonic()
        while len(looks) < 4:  # noqa: ASYNC110 - a plain function counts
            await asyncio.sleep(0.005)
        assert time.monotonic() - began >= 3 * sqlite_inbox.LOOK_S
        for log in logs:
            await log.end_service()
        count = len(looks)
        # Without a debate nobody looks any more, and a new one starts it again.
        await asyncio.sleep(3 * sqlite_inbox.LOOK_S)
        assert len(looks) == count
        taken = Taken()
        await _served(store, "again", taken)
        store.ask("again", "stop", {}, "person")
        await taken.count(1)

    run(main())
