"""Resuming: whatever moment a process dies at, the debate ends as if it hadn't."""

from __future__ import annotations

import asyncio
import random
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from rt_notebook.domain.script import fail, garbage, say, scripted
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.spec import DebateSpec, Limits
from rt_notebook.domain.state import State, fold
from rt_notebook.errors import CallError
from rt_notebook.providers.base import Call
from tests.engine.clocks import play, play_live, ticks, until
from tests.engine.debates import (
    VERDICT,
    MemoryLog,
    Ride,
    Voice,
    assert_told_by,
    brief,
    interrupt,
    outcome,
    reply,
    spec,
)
from tests.engine.discussions import observing, speakers

BROKEN_VERDICT = "RECOMMENDATION:\nopt-7"


class Counting:
    """A function seat whose words depend on the call alone; counts how often each was asked."""

    def __init__(self, words: Callable[[Call], Any]) -> None:
        self.made: Counter[tuple[int, str]] = Counter()
        self._words = words

    async def __call__(self, call: Call) -> Any:
        self.made[call.round, call.purpose] += 1
        await asyncio.sleep(0.01 * (1 + call.round))
        return self._words(call)


def _moving(call: Call) -> str:
    return reply("opt-2" if call.round > 0 else "opt-1", f"point {call.round}")


def _mended(call: Call) -> str:
    return reply("opt-1", "as it should be") if call.purpose == "repair" else "no form at all"


def _judged(call: Call) -> str:
    return VERDICT if call.purpose == "repair" else BROKEN_VERDICT


def plain() -> DebateSpec:
    return spec(
        Seat("a", model=Counting(_moving)),
        Seat("b", model=Counting(lambda call: reply("opt-1", f"no {call.round}"))),
        rounds=2,
        chairman=Seat("boss", model=Counting(lambda call: VERDICT)),
    )


def repaired() -> DebateSpec:
    return spec(
        Seat("a", model=Counting(_mended)),
        Seat("b", model=Counting(lambda call: reply("opt-2", f"no {call.round}"))),
        rounds=1,
        chairman=Seat("boss", model=Counting(_judged)),
    )


def faulty() -> DebateSpec:
    return spec(
        Seat("a", model=scripted([
            say(stance="Ship"), fail("overloaded"), say(stance="Wait"), garbage(),
            say(stance="other: Rent"),
        ])),
        Seat("b", model=scripted([
            garbage(), say(stance="Wait"), fail("refused"), say(stance="Wait", new=["late"]),
        ])),
        Seat("muse", model=scripted([say(stance="Ship", question="Who pays?")]), mood="rant"),
        rounds=2,
        anonymous=True,
        memory="full",
        chairman=Seat("boss", model=scripted([fail("connection"), BROKEN_VERDICT, VERDICT])),
    )  # fmt: skip


def limited() -> DebateSpec:
    return spec(
        Seat("a", model=scripted([say(stance="Ship")] * 9)),
        Seat("b", model=scripted([say(stance="Wait")] * 9)),
        rounds=9,
        limits=Limits(max_calls=500, max_tokens=6_000),
    )


def believable() -> DebateSpec:
    question = brief(question="Move to the cloud?", options=["Move", "Stay", "Pilot"])
    return spec(Seat("pm"), Seat("dev", lens="risk"), Seat("rv", mood="grill"), rounds=3,
                brief=question)  # fmt: skip


DEBATES = [plain, repaired, faulty, limited, believable]


def _counts(definition: DebateSpec) -> dict[str, Counter[tuple[int, str]]]:
    seats = [*definition.seats, *([definition.chairman] if definition.chairman else [])]
    return {s.name: s.function.made for s in seats if isinstance(s.function, Counting)}


def _finished_calls(log: MemoryLog) -> list[str]:
    return [body["call"].rpartition("/")[0] for body in log.of("call_finished")]


@pytest.mark.parametrize("make", DEBATES)
def test_death_at_any_event_changes_no_result(make: Callable[[], DebateSpec]) -> None:
    whole = Ride(make())
    expected = outcome(play(whole.run()))
    calls = sorted(_finished_calls(whole.sink))
    for seq in range(1, len(whole.sink.rows)):
        definition = make()
        log = MemoryLog(whole.sink.rows[:seq])
        state = play(Ride(definition, log=log).run())
        assert outcome(state) == expected, (seq, log.kinds)
        assert sorted(_finished_calls(log)) == calls, (seq, log.kinds)
        before = Counter(
            (body["seat"], body["round"], body["purpose"])
            for event in log.events[:seq]
            if event.kind == "call_finished"
            for body in log.of("call_started")
            if body["call"] == event.body["call"]
        )
        for name, made in _counts(definition).items():
            for (number, purpose), count in made.items():
                assert count + before[name, number, purpose] == 1, (seq, name, number, purpose)


@pytest.mark.parametrize("make", DEBATES)
def test_death_after_death_changes_no_result(make: Callable[[], DebateSpec]) -> None:
    """A second kill soon after each resume."""
    whole = Ride(make())
    expected = outcome(play(whole.run()))
    for seq in range(1, len(whole.sink.rows), 3):
        log = MemoryLog(whole.sink.rows[:seq])
        play(Ride(make(), log=log).run())
        again = MemoryLog(log.rows[: min(seq + 5, len(log.rows) - 1)])
        assert outcome(play(Ride(make(), log=again).run())) == expected, (seq, again.kinds)


@pytest.mark.parametrize("make", DEBATES)
def test_interruption_at_any_moment_can_be_resumed(make: Callable[[], DebateSpec]) -> None:
    """The run is cancelled after so many turns of the loop; the log says `interrupted`."""
    expected = outcome(play(Ride(make()).run()))

    async def cut(after: int, twice: bool) -> tuple[MemoryLog, bool]:
        ride = Ride(make())
        task = asyncio.create_task(ride.run())
        for _ in range(after):
            await asyncio.sleep(0)
            if task.done():
                return ride.sink, True
        await asyncio.sleep(dice.choice([0, 0.005, 0.02]))
        task.cancel()
        if twice:
            await asyncio.sleep(0)
            task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            assert_told_by(ride.sink, ride.state)
        return ride.sink, task.done() and not task.cancelled()

    dice = random.Random(7)  # noqa: S311
    for after in range(1, 120, 3):
        log, ended = play(cut(after, twice=after % 2 == 0))
        if ended or log.kinds[-1] == "concluded":
            assert outcome(fold(log.events)) == expected, after
            continue
        assert log.kinds[-1] == "interrupted"
        assert fold(log.events).status == "interrupted"
        assert outcome(play(Ride(make(), log=log).run())) == expected, (after, log.kinds)


def test_interruption_before_first_step_leaves_nothing() -> None:
    async def main() -> MemoryLog:
        ride = Ride(plain())
        task = asyncio.create_task(ride.debate.run(*ride.first))
        await interrupt(task)
        return ride.sink

    assert play(main()).rows == []


def test_interruption_tells_which_functions_may_still_run() -> None:
    release = threading.Event()

    def slow(call: Call) -> str:
        release.wait(10)
        return "PASS"

    async def main() -> Ride:
        ride = Ride(spec(Seat("a", model=slow), Seat("b", model=slow)))
        task = asyncio.create_task(ride.run())
        await ride.debate.wait_until(lambda state: len(state.calls) == 2)
        await ticks(3)
        await interrupt(task)
        return ride

    ride = play_live(main())
    release.set()
    assert ride.sink.of("interrupted") == [
        {
            "why": "interrupted in the running process; the functions of a, b may still run",
        }
    ]
    assert all(call.lost for call in ride.state.calls.values())


def test_interrupted_late_verdict_keeps_first_reason() -> None:
    calls: list[Call] = []

    async def third_time_lucky(call: Call) -> str:
        calls.append(call)
        if len(calls) < 3:
            await asyncio.Event().wait()
        return VERDICT

    definition = spec(
        Seat("a", model=scripted([say(stance="Ship")])),
        Seat("b", model=scripted([say(stance="Wait")])),
        rounds=0,
        chairman=Seat("boss", model=third_time_lucky),
    )

    async def begin(ride: Ride) -> asyncio.Task[State]:
        before = len(calls)
        task = asyncio.create_task(ride.run())
        await until(lambda: len(calls) > before)
        return task

    async def stopped() -> MemoryLog:
        ride = Ride(definition)
        task = await begin(ride)
        await ride.stop()
        await task
        return ride.sink

    async def asked_again(log: MemoryLog) -> None:
        ride = Ride(definition, log=log)
        ride.first = [("verdict_started", {})]
        await interrupt(await begin(ride))

    log = play(stopped())
    play(asked_again(log))
    state = play(Ride(definition, log=log).run())
    assert (state.status, state.stop_reason, state.verdict_status) == ("done", "stopped", "ready")


def test_down_seats_are_asked_again_after_resume() -> None:
    definition = spec(
        Seat("a", model=scripted([fail("auth"), say(stance="Ship"), say(stance="Ship")])),
        Seat("b", model=scripted([say(stance="Wait")] * 4)),
        rounds=3,
        limits=Limits(max_calls=5, on_limit="pause"),
    )
    ride = Ride(definition)
    assert play(ride.run()).down == {"a": "auth"}
    state = play(Ride(definition, log=ride.sink).with_limits(max_calls=99).run())
    assert state.down == {}
    assert state.positions["a"].key == "opt-1"


def test_clock_starts_anew_on_resume() -> None:
    slow = Counting(lambda call: reply("opt-1"))
    definition = spec(
        Seat("a", model=slow),
        Seat("b", model=scripted([say(stance="Wait")] * 3)),
        rounds=1,
        gates="blocking",
        limits=Limits(max_minutes=1, on_limit="pause"),
    )
    ride = Ride(definition, attended=True)
    assert play(ride.run()).status == "paused"

    async def main() -> State:
        again = Ride(definition, attended=True, log=ride.sink)
        task = asyncio.create_task(again.run())
        await again.gate()
        await asyncio.sleep(50)
        await again.answer()
        await task
        return again.state

    assert play(main()).stop_reason == "rounds"


def test_unattended_resume_is_in_log() -> None:
    definition = plain()

    async def main() -> MemoryLog:
        ride = Ride(definition, attended=True)
        task = asyncio.create_task(ride.run())
        await ride.gate()
        await interrupt(task)
        return ride.sink

    log = play(main())
    state = play(Ride(definition, log=log).run())
    assert state.unattended
    assert fold(log.events).unattended


def _judged_in_vain() -> tuple[DebateSpec, Voice]:
    boss = Voice(CallError("busy", kind="overloaded"))
    seats = (Seat(name, model=scripted([say(stance="Ship")])) for name in "ab")
    definition = spec(
        *seats, rounds=0, chairman=Seat("boss", model=boss), limits=Limits(max_calls=3)
    )
    return definition, boss


def _summed_up_in_vain() -> tuple[DebateSpec, Voice]:
    observer = observing(CallError("busy", kind="overloaded"))
    assert isinstance(observer.function, Voice)
    limits = Limits(max_calls_per_vendor={"function": 3})
    return speakers("a", "b", observer=observer, limits=limits), observer.function


@pytest.mark.parametrize("make", [_judged_in_vain, _summed_up_in_vain])
def test_failed_ending_is_not_tried_again_beyond_the_limits(
    make: Callable[[], tuple[DebateSpec, Voice]],
) -> None:
    """Whoever died between the failure and the word that the ending failed had no call left."""
    definition, boss = make()
    ride = Ride(definition)
    play(ride.run())
    log = MemoryLog(ride.sink.rows[: ride.sink.kinds.index("verdict_failed")])
    assert log.kinds[-1] == "call_failed"
    state = play(Ride(definition, log=log).run())
    assert (state.status, state.verdict_status, state.usage.calls) == ("done", "failed", 3)
    assert log.of("verdict_failed") == [{"error": "overloaded", "message": "busy"}]
    assert len(boss.calls) == 1
