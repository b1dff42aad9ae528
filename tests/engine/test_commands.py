"""Finish and stop, wherever they hit, and the races they can run into."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable

import pytest

from rt_notebook.domain.script import fail, hang, say, scripted
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.domain.state import State
from rt_notebook.errors import UsageError
from rt_notebook.providers.base import Call
from tests.engine.clocks import play, play_live, ticks, until
from tests.engine.debates import VERDICT, Ride, Voice, reply, spec, split, voices


def half_hanging(**fields: object) -> DebateSpec:
    """Return a review in whose first critique round b never answers."""
    return spec(
        Seat("a", model=scripted([say(stance="Ship")] * 3)),
        Seat("b", model=scripted([say(stance="Wait"), hang()])),
        rounds=3,
        **fields,
    )


def act_when(
    definition: DebateSpec, holds: Callable[[Ride], bool], *verbs: str, attended: bool = False
) -> Ride:
    """Run a debate and give these commands as soon as `holds` does."""

    async def main() -> Ride:
        ride = Ride(definition, attended=attended)
        task = asyncio.create_task(ride.run())
        await until(lambda: holds(ride))
        for verb in verbs:
            await getattr(ride, verb)()
        await task
        return ride

    return play(main())


def _b_hangs(ride: Ride) -> bool:
    return ride.state.round == 1 and list(ride.debate.in_flight) == ["b"]


def test_finish_keeps_complete_replies() -> None:
    ride = act_when(half_hanging(), _b_hangs, "finish")
    state = ride.state
    assert (state.status, state.stop_reason, state.verdict_status) == ("done", "finished", "ready")
    assert state.turns[1]["a"].usable
    assert state.turns[1]["b"].message == "cancelled: the person asked for the verdict"
    assert (state.completed_rounds, len(state.turns)) == (0, 2)
    assert ride.sink.of("call_failed")[0]["error"] == "cancelled"
    assert ride.sink.of("finish_asked") == [{"source": "person"}]


def test_finish_needs_complete_round() -> None:
    definition = spec(
        Seat("a", model=scripted([say(stance="Ship")])), Seat("b", model=scripted([hang()]))
    )

    async def main() -> None:
        ride = Ride(definition)
        task = asyncio.create_task(ride.run())
        await until(lambda: list(ride.debate.in_flight) == ["b"])
        with pytest.raises(UsageError, match="no complete round has a usable reply yet"):
            await ride.finish()
        await ride.stop()
        await task

    play(main())


def test_finish_at_gate_closes_it() -> None:
    ride = act_when(
        split(rounds=3), lambda ride: ride.state.gate is not None, "finish", attended=True
    )
    assert (ride.state.gates[0].why, ride.state.stop_reason) == ("finished", "finished")
    assert ride.state.usage.calls == 3


def test_stop_in_opening_keeps_what_is_there() -> None:
    definition = spec(
        Seat("a", model=scripted([say(stance="Ship")])), Seat("b", model=scripted([hang()]))
    )
    ride = act_when(definition, lambda ride: list(ride.debate.in_flight) == ["b"], "stop")
    state = ride.state
    assert (state.status, state.stop_reason, state.verdict_status) == (
        "stopped", "stopped", "skipped"
    )  # fmt: skip
    assert state.positions["a"].key == "opt-1"
    assert state.turns[0]["b"].message == "cancelled: the person stopped the debate"
    assert "verdict_started" not in ride.sink.kinds


def test_stop_before_first_call_makes_none() -> None:
    definition = voices("opt-1", "opt-2")
    ride = act_when(definition, lambda ride: ride.sink.kinds == ["created"], "stop")
    assert ride.state.status == "stopped"
    assert ride.state.usage.calls == 0


def test_stop_at_gate_closes_it() -> None:
    ride = act_when(
        split(rounds=3), lambda ride: ride.state.gate is not None, "stop", attended=True
    )
    assert (ride.state.status, ride.state.gates[0].why) == ("stopped", "stopped")


def test_stop_cancels_chairman() -> None:
    definition = split(rounds=0, chairman=Seat("boss", model=scripted([hang()])))
    ride = act_when(definition, lambda ride: list(ride.debate.in_flight) == ["boss"], "stop")
    state = ride.state
    assert (state.status, state.stop_reason, state.verdict_status) == (
        "stopped", "stopped", "skipped"
    )  # fmt: skip
    assert state.calls["0/chairman/verdict/1"].error == "cancelled"


def test_stop_in_retry_wait_makes_no_further_try() -> None:
    definition = spec(
        Seat("a", model=scripted([say(stance="Ship")])),
        Seat("b", model=scripted([fail("rate_limit", retry_after_s=60), say(stance="Wait")])),
    )
    ride = act_when(definition, lambda ride: "call_failed" in ride.sink.kinds, "stop")
    turn = ride.state.turns[0]["b"]
    assert (ride.state.status, turn.final, turn.error, len(turn.calls)) == (
        "stopped", True, "cancelled", 1
    )  # fmt: skip


def test_finish_in_repair_settles_broken_reply() -> None:
    definition = spec(
        Seat("a", model=scripted([say(stance="Ship")] * 2)),
        Seat("b", model=scripted([say(stance="Wait"), "STANCE: opt-1", hang()])),
        rounds=2,
    )
    ride = act_when(definition, lambda ride: "1/b/repair/1" in ride.state.calls, "finish")
    turn = ride.state.turns[1]["b"]
    assert turn.reply is not None
    assert (turn.final, turn.reply.valid, turn.reply.stance_key) == (True, False, None)
    assert ride.state.positions["b"].round == 0


def test_stop_after_finish_wins() -> None:
    ride = act_when(half_hanging(), _b_hangs, "finish", "stop")
    assert (ride.state.status, ride.state.verdict_status) == ("stopped", "skipped")


def test_commands_after_end_are_refused() -> None:
    async def main() -> None:
        ride = Ride(split(rounds=0))
        await ride.run()
        for verb, text in (("stop", "the debate is done"), ("finish", "the debate is done")):
            with pytest.raises(UsageError, match=text):
                await getattr(ride, verb)()
        with pytest.raises(UsageError, match=r"no gate is open \(status done, round 0\)"):
            await ride.answer(message="too late")

    play(main())


def test_finish_in_verdict_is_refused() -> None:
    definition = split(rounds=0, chairman=Seat("boss", model=scripted([hang()])))

    async def main() -> None:
        ride = Ride(definition)
        task = asyncio.create_task(ride.run())
        await until(lambda: list(ride.debate.in_flight) == ["boss"])
        with pytest.raises(UsageError, match="the debate is verdict"):
            await ride.finish()
        await ride.stop()
        await task

    play(main())


@pytest.mark.parametrize("verb", ["stop", "finish"])
def test_command_at_any_event_is_obeyed(verb: str) -> None:
    """Whatever moment it comes at, it takes effect or says why not; nobody hangs."""
    total = len(_log_of(verb, at=None).sink.kinds)
    for at in range(1, total):
        ride = _log_of(verb, at=at)
        state = ride.state
        if verb == "stop":
            allowed = {"stopped"} if at < total - 3 else {"stopped", "done"}
            assert state.status in allowed, (at, ride.sink.kinds)
        else:
            assert state.status == "done", (at, ride.sink.kinds)
        assert ride.sink.kinds[-1] == "concluded"
        assert not ride.debate.in_flight


def _log_of(verb: str, at: int | None) -> Ride:
    """Run a debate with gates in which a command comes right after event `at`."""

    async def main() -> Ride:
        def listen(event: object, state: State) -> None:
            if state.revision == at:
                tasks.append(asyncio.create_task(give()))

        async def give() -> None:
            with contextlib.suppress(UsageError):  # it came too early, or too late
                await getattr(ride, verb)()

        tasks: list[asyncio.Task[None]] = []
        definition = spec(
            Seat("a", model=scripted([say(stance="Ship"), "no reply", say(stance="Ship")])),
            Seat("b", model=scripted([say(stance="Wait", question="Why?"), say(stance="Wait")])),
        )
        ride = Ride(definition, attended=True, listeners=[listen])
        await ride.run()
        for task in tasks:
            await task
        return ride

    return play(main())


@pytest.mark.parametrize("ticks_between", range(6))
def test_stop_beside_interruption_comes_first_or_not_at_all(ticks_between: int) -> None:
    async def main() -> Ride:
        ride = Ride(split(rounds=1), attended=True)
        task = asyncio.create_task(ride.run())
        await ride.gate()
        task.cancel()
        await ticks(ticks_between)
        with contextlib.suppress(UsageError):
            await ride.stop()
        await asyncio.wait([task])
        return ride

    ride = play(main())
    assert ride.sink.kinds[-1] == "interrupted"
    assert ride.state.status == "interrupted"
    assert ride.sink.kinds.count("stop_asked") == (1 if ride.state.gates[0].why == "stopped" else 0)


def test_swallowed_cancellation_leads_to_no_repair() -> None:
    """A function that answers although it was cancelled: its words are kept, nothing follows."""

    async def stubborn(call: Call) -> str:
        calls.append(call)
        if call.round == 0:
            return reply("opt-2")
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "not a valid reply"
        raise AssertionError

    calls: list[Call] = []
    definition = spec(Seat("a", model=Voice(reply("opt-1"))), Seat("b", model=stubborn))
    ride = act_when(definition, _b_hangs, "finish")
    assert len(calls) == 2
    turn = ride.state.turns[1]["b"]
    assert turn.reply is not None
    assert (turn.final, turn.reply.raw) == (True, "not a valid reply")
    assert ride.state.stop_reason == "finished"


def test_abandoned_thread_is_told_and_its_answer_dropped() -> None:
    release, ended = threading.Event(), threading.Event()

    def slow(call: Call) -> str:
        if call.round == 0:
            return reply("opt-2")
        release.wait(10)
        ended.set()
        return reply("opt-1")

    definition = spec(Seat("a", model=Voice(reply("opt-1"))), Seat("b", model=slow))

    async def main() -> Ride:
        ride = Ride(definition)
        task = asyncio.create_task(ride.run())
        await ride.debate.wait_until(lambda state: "1/b/critique/1" in state.calls)
        await ride.finish()
        await task
        release.set()
        await asyncio.to_thread(ended.wait, 10)
        await asyncio.sleep(0)
        return ride

    ride = play_live(main())
    turn = ride.state.turns[1]["b"]
    assert turn.reply is None
    assert turn.message == ("cancelled: the person asked for the verdict; its thread may still run")
    assert ride.state.positions["b"].key == "opt-2"


def test_stop_after_verdict_comes_too_late() -> None:
    async def main() -> State:
        def listen(event: object, state: State) -> None:
            if state.verdict_status == "ready" and not given:
                given.append(asyncio.create_task(ride.stop()))

        given: list[asyncio.Task[None]] = []
        ride = Ride(
            split(rounds=0, chairman=Seat("boss", model=Voice(VERDICT))), listeners=[listen]
        )
        await ride.run()
        await asyncio.wait(given)
        given[0].exception()
        return ride.state

    state = play(main())
    assert (state.status, state.stop_reason, state.verdict_status) == ("done", "rounds", "ready")
