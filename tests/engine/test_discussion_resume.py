"""A discussion killed at any event ends as if it hadn't been, extensions included."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from rt_notebook.config import BUILT_IN
from rt_notebook.domain.script import Step, fail, hang, scripted
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.spec import DebateSpec, Limits
from rt_notebook.domain.state import State, fold
from tests.engine.clocks import play, until
from tests.engine.debates import MemoryLog, Ride, reply, spec
from tests.engine.discussions import WORDS, said, talk, texts

MORE = {"prompt": "Go deeper", "rounds": 2, "mode": None, "observer_prompt": "Short.",
        "source": "person", "unattended": True}  # fmt: skip


def plain() -> DebateSpec:
    return talk(*BUILT_IN, rounds=2)


def faulty() -> DebateSpec:
    steps: list[str | Step] = [
        fail("provider"),
        WORDS[0],
        fail("context_length"),
        WORDS[1],
        WORDS[2],
        WORDS[3],
    ]
    return talk(
        Seat("pm", model=scripted(steps), retries=0),
        Seat("dev"),
        rounds=3,
        limits=Limits(max_calls=60),
    )


def looping() -> DebateSpec:
    words = [WORDS[0], WORDS[0], WORDS[2], WORDS[3], WORDS[4]]
    return talk(Seat("pm", model=scripted(words)), Seat("dev"), rounds=5)


def review() -> DebateSpec:
    return spec(Seat("pm"), Seat("dev", mood="grill"), rounds=1)


DEBATES = [plain, faulty, looping, review]


def extended(definition: DebateSpec, log: MemoryLog) -> Ride:
    ride = Ride(definition, log=log)
    ride.first = [("extended", dict(MORE))]
    return ride


def whole(make: Callable[[], DebateSpec]) -> MemoryLog:
    ride = Ride(make())
    play(ride.run())
    assert ride.state.status == "done"
    play(extended(make(), ride.sink).run())
    return ride.sink


def outcome(state: State) -> tuple[Any, ...]:
    summed = state.verdict.recommendation if state.verdict else None
    return (
        *(said(state), texts(state), state.shortened, state.rounds, state.completed_rounds),
        *(state.status, state.stop_reason, state.verdict_status, summed),
        {name: position.key for name, position in state.positions.items()},
    )


@pytest.mark.parametrize("make", DEBATES)
def test_death_at_any_event_changes_nothing(make: Callable[[], DebateSpec]) -> None:
    log = whole(make)
    expected = outcome(fold(log.events))
    finished = Counter(body["call"].rpartition("/")[0] for body in log.of("call_finished"))
    at = log.kinds.index("extended")
    for seq in range(1, len(log.rows)):
        cut = MemoryLog(log.rows[:seq])
        state = fold(cut.events)
        if state.status != "done":
            state = play(Ride(make(), log=cut).run())
        if seq <= at:
            assert state.status == "done", (seq, cut.kinds)
            state = play(extended(make(), cut).run())
        assert outcome(state) == expected, (seq, cut.kinds)
        made = Counter(body["call"].rpartition("/")[0] for body in cut.of("call_finished"))
        assert made == finished, (seq, cut.kinds)


def test_loop_before_an_extension_counts_no_more() -> None:
    log = whole(looping)
    state = fold(log.events)
    assert log.of("loop")[0]["round"] == 2
    # The seat that hadn't spoken in the round of the loop isn't asked for it any more.
    assert said(state) == [("pm", 1), ("dev", 1), ("pm", 2), ("pm", 3), ("dev", 3), ("pm", 4),
                           ("dev", 4)]  # fmt: skip
    assert (state.stop_reason, state.rounds) == ("rounds", 4)


def test_turn_cut_short_before_an_extension_stays_cut_short() -> None:
    async def finished() -> MemoryLog:
        ride = Ride(cut())
        task = asyncio.ensure_future(ride.run())
        await until(lambda: len(ride.state.said) == 3 and ride.debate.in_flight)
        await ride.finish()
        await task
        return ride.sink

    def cut() -> DebateSpec:
        steps: list[str | Step] = [WORDS[0], hang(), WORDS[1], WORDS[2]]
        return talk(Seat("pm"), Seat("dev", model=scripted(steps)), rounds=3)

    log = play(finished())
    play(extended(cut(), log).run())
    at = log.kinds.index("extended") + 1
    expected = outcome(fold(log.events))
    again = MemoryLog(log.rows[:at])
    assert outcome(play(Ride(cut(), log=again).run())) == expected
    assert fold(again.events).turns[2]["dev"].cut_short


def test_first_ending_stays_in_the_record() -> None:
    log = whole(plain)
    assert log.kinds.count("verdict_written") == log.kinds.count("concluded") == 2
    state = fold(log.events)
    assert (state.round, state.rounds, len(state.extensions)) == (4, 4, 1)
    assert state.spec.observer_prompt == "Short."


def test_agreed_review_gets_its_rounds_all_the_same() -> None:
    """After a consensus the added rounds are held; a new consensus ends them."""
    seats = [Seat(name, model=scripted([reply("opt-1", agree=[])] * 9)) for name in ("a", "b")]
    definition = spec(*seats, rounds=3)
    ride = Ride(definition)
    state = play(ride.run())
    assert (state.stop_reason, state.round) == ("consensus", 0)
    state = play(extended(definition, ride.sink).run())
    assert (state.stop_reason, state.round, state.rounds) == ("consensus", 1, 2)
    assert ride.sink.kinds.count("verdict_written") == 2
    assert state.notes[0].text == "Go deeper"
