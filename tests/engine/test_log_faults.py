"""A log that can't be written ends the debate at once, before anything that it couldn't tell."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

import pytest

from rt_notebook.domain.seat import Seat
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.domain.state import State
from rt_notebook.errors import StoreError
from rt_notebook.providers.base import Call, Completion, Progress, Provider
from tests.engine.clocks import play
from tests.engine.debates import MemoryLog, Ride
from tests.engine.test_resume import DEBATES, plain


class Watched:
    """A provider that notes when it is called although the log has failed."""

    def __init__(self, provider: Provider, log: MemoryLog, late: list[str]) -> None:
        self._provider = provider
        self._log = log
        self._late = late

    async def complete(self, call: Call, progress: Progress) -> Completion:
        if self._log.writes >= (self._log.fails_at or 0):
            self._late.append(f"{call.seat} {call.purpose}")
        return await self._provider.complete(call, progress)


@pytest.mark.parametrize("make", DEBATES)
def test_log_that_fails_ends_debate_before_next_call(make: Callable[[], DebateSpec]) -> None:
    total = play(_writes(make()))
    for at in range(1, total + 1):
        log, late = MemoryLog(fails_at=at), list[str]()
        ride = Ride(make(), log=log)
        ask = ride.debate._make_provider
        ride.debate._make_provider = partial(_watched, ask, log, late)
        with pytest.raises(StoreError, match="the disk is full"):
            play(ride.run())
        assert late == [], at
        assert ride.state.status == "interrupted"
        assert [row[0] for row in log.rows] == list(range(1, len(log.rows) + 1))
        if log.rows:
            again = Ride(make(), log=MemoryLog(log.rows))
            assert play(again.run()).status == "done"


def _watched(
    ask: Callable[[Seat], Provider], log: MemoryLog, late: list[str], seat: Seat
) -> Provider:
    return Watched(ask(seat), log, late)


async def _writes(definition: DebateSpec) -> int:
    ride = Ride(definition)
    await ride.run()
    return ride.sink.writes


def test_nothing_is_written_after_a_fault() -> None:
    async def main() -> None:
        log = MemoryLog(fails_at=6)
        ride = Ride(plain(), log=log)
        with pytest.raises(StoreError, match="the disk is full"):
            await ride.run()
        writes = log.writes
        with pytest.raises(StoreError, match="the disk is full"):
            await ride.debate.post(("stop_asked", {"source": "person"}))
        assert log.writes == writes

    play(main())


def test_command_that_cannot_be_stored_ends_debate() -> None:
    async def main() -> State:
        log = MemoryLog()
        ride = Ride(plain(), log=log, attended=True)
        task = asyncio.create_task(ride.run())
        await ride.gate()
        log.fails_at = 0
        with pytest.raises(StoreError, match="the disk is full"):
            await ride.answer(message="Hello?")
        with pytest.raises(StoreError, match="the disk is full"):
            await task
        return ride.state

    state = play(main())
    assert (state.status, state.gate) == ("interrupted", None)


def test_fault_of_ours_is_logged_and_resumable() -> None:
    """An error that should never happen: here, in the reading of a reply."""

    async def main() -> MemoryLog:
        ride = Ride(plain())
        ride.debate.prompts.reader_names = None  # type: ignore[method-assign, assignment]
        with pytest.raises(ExceptionGroup, match="TaskGroup"):
            await ride.run()
        return ride.sink

    log = play(main())
    assert log.kinds[-1] == "interrupted"
    assert "ExceptionGroup" in log.of("interrupted")[0]["why"]
    assert play(Ride(plain(), log=log).run()).status == "done"
