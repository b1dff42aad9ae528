"""How a review ends: rounds, consensus, nothing new, loop, limits, clock."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from rt_notebook.domain.events import Event
from rt_notebook.domain.script import fail, hang, say, scripted, wait
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.spec import Limits
from rt_notebook.domain.state import State
from rt_notebook.errors import CallError
from tests.engine.clocks import play
from tests.engine.debates import VERDICT, MemoryLog, Ride, Voice, reply, spec, split, voice, voices

SAME = "The team is too small for a second service and the deadline is near."
OTHER = "Nobody has asked the customers what an hour without payments would cost them."


def test_rounds_run_out() -> None:
    ride = Ride(split(rounds=2))
    state = play(ride.run())
    assert (state.status, state.stop_reason, state.completed_rounds) == ("done", "rounds", 2)
    assert state.usage.calls == 7
    assert [body["round"] for body in ride.sink.of("round_started")] == [0, 1, 2]


def test_no_critique_round_at_all() -> None:
    state = play(Ride(split(rounds=0)).run())
    assert (state.stop_reason, state.completed_rounds, state.usage.calls) == ("rounds", 0, 3)


def test_consensus_ends_after_opening() -> None:
    ride = Ride(voices("opt-1", "Ship", rounds=5))
    state = play(ride.run())
    assert (state.stop_reason, state.completed_rounds, state.usage.calls) == ("consensus", 0, 3)
    assert ride.sink.of("consensus") == [{"round": 0, "stance_key": "opt-1"}]


def test_consensus_compares_own_labels_normalised() -> None:
    state = play(Ride(voices("other: Sell  IT", "other: sell it", rounds=1)).run())
    assert state.stop_reason == "consensus"


def test_different_own_labels_are_no_consensus() -> None:
    state = play(Ride(voices("other: sell it", "other: rent it", rounds=1)).run())
    assert state.stop_reason == "rounds"


def test_pass_keeps_stance_for_consensus() -> None:
    definition = spec(
        Seat("a", model=scripted([say(stance="Ship"), "PASS"])),
        Seat("b", model=scripted([say(stance="Wait"), say(stance="Ship")])),
        rounds=4,
    )
    state = play(Ride(definition).run())
    assert (state.stop_reason, state.completed_rounds) == ("consensus", 1)


def test_failed_seat_without_position_is_no_consensus() -> None:
    definition = spec(
        Seat("a", model=Voice(reply("opt-1"))),
        Seat("b", model=Voice(CallError("x"))),
        Seat("c", model=Voice(reply("opt-1"))),
        rounds=1,
    )
    assert play(Ride(definition).run()).stop_reason == "rounds"


def test_failed_seat_with_position_counts_for_consensus() -> None:
    definition = spec(
        Seat("a", model=Voice(reply("opt-1"))),
        Seat("b", model=scripted([say(stance="Ship"), fail()])),
        Seat("c", model=scripted([say(stance="Wait"), say(stance="Ship")])),
        rounds=3,
    )
    state = play(Ride(definition).run())
    assert (state.stop_reason, state.completed_rounds) == ("consensus", 1)


def test_hidden_seat_does_not_break_consensus() -> None:
    definition = spec(
        Seat("a", model=Voice(reply("opt-1"))),
        Seat("b", model=Voice(reply("opt-1"))),
        Seat("muse", model=Voice(reply("opt-2")), mood="rant"),
        rounds=1,
    )
    ride = Ride(definition)
    state = play(ride.run())
    assert state.stop_reason == "consensus"
    assert state.positions["muse"].key == "opt-2"


def test_nothing_new_when_all_pass() -> None:
    definition = spec(
        Seat("a", model=scripted([say(stance="Ship")])),
        Seat("b", model=scripted([say(stance="Wait")])),
        Seat("muse", model=Voice(reply("opt-1", "worry")), mood="rant"),
        rounds=9,
    )
    ride = Ride(definition)
    state = play(ride.run())
    assert (state.stop_reason, state.completed_rounds) == ("nothing_new", 1)
    assert ride.sink.of("nothing_new") == [{"round": 1}]


def test_pass_beside_failure_is_not_nothing_new() -> None:
    definition = spec(
        Seat("a", model=scripted([say(stance="Ship"), "PASS", "PASS"])),
        Seat("b", model=scripted([say(stance="Wait"), fail(), "PASS"])),
        rounds=9,
    )
    state = play(Ride(definition).run())
    assert (state.stop_reason, state.completed_rounds) == ("nothing_new", 2)


def _says(*texts: str, stances: tuple[str, ...] = ("Ship", "Ship", "Ship")) -> Seat:
    steps = [say(stance=key, disagree=[text]) for key, text in zip(stances, texts, strict=False)]
    return Seat("a", model=scripted(steps))


def _against(*texts: str) -> Seat:
    return Seat("b", model=scripted([say(stance="Wait", disagree=[text]) for text in texts]))


def test_loop_ends_where_all_repeat_themselves() -> None:
    definition = spec(
        _says(SAME, SAME.upper() + "!"), _against(OTHER, OTHER), rounds=5, loop_threshold=0.85
    )
    ride = Ride(definition)
    state = play(ride.run())
    assert (state.stop_reason, state.completed_rounds) == ("loop", 1)
    (body,) = ride.sink.of("loop")
    assert body["round"] == 1
    assert 0.9 < body["similarity"] < 1.0


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (_says(SAME, OTHER), _against(OTHER, OTHER)),  # one says something new
        (_says(SAME, SAME, stances=("Ship", "other: rent")), _against(OTHER, OTHER)),  # it moved
        (_says("Too early.", "Too early."), _against(OTHER, OTHER)),  # too short to count
    ],
)
def test_what_is_no_loop(first: Seat, second: Seat) -> None:
    state = play(Ride(spec(first, second, rounds=1, loop_threshold=0.85)).run())
    assert state.stop_reason == "rounds"


def test_loop_looks_past_a_pass() -> None:
    first = Seat("a", model=scripted([say(stance="Ship", new=[SAME]), "PASS", "PASS"]))
    second = Seat(
        "b",
        model=scripted(
            [say(stance="Wait", new=[text]) for text in (OTHER, SAME)]
            + [say(stance="Wait", new=[SAME])]
        ),
    )
    state = play(Ride(spec(first, second, rounds=5, loop_threshold=0.85)).run())
    assert (state.stop_reason, state.completed_rounds) == ("loop", 2)


def test_loop_can_be_turned_off() -> None:
    definition = spec(_says(SAME, SAME), _against(OTHER, OTHER), rounds=1, loop_threshold=0)
    assert play(Ride(definition).run()).stop_reason == "rounds"


@pytest.mark.parametrize(
    ("limits", "name", "used"),
    [
        (Limits(max_calls=6), "max_calls", 4),
        (Limits(max_calls_per_vendor={"function": 4}), "max_calls_per_vendor.function", 4),
        (Limits(max_calls_per_vendor={"scripted": 0}), "max_calls_per_vendor.scripted", 0),
    ],
)
def test_calls_limit_goes_to_verdict(limits: Limits, name: str, used: int) -> None:
    ride = Ride(voices("opt-1", "opt-2", rounds=5, limits=limits))
    state = play(ride.run())
    assert (state.status, state.verdict_status) == (
        ("done", "ready") if used else ("error", "skipped")
    )
    assert state.stop_reason == "limit"
    bound = next(iter(limits.max_calls_per_vendor.values()), limits.max_calls)
    assert ride.sink.of("limit_reached") == [{"limit": name, "used": used, "bound": bound}]


def test_exact_calls_limit_is_no_limit() -> None:
    state = play(Ride(voices("opt-1", "opt-2", rounds=1, limits=Limits(max_calls=5))).run())
    assert (state.stop_reason, state.usage.calls) == ("rounds", 5)


def test_tokens_limit_goes_to_verdict() -> None:
    ride = Ride(voices("opt-1", "opt-2", rounds=5, limits=Limits(max_tokens=5_000)))
    state = play(ride.run())
    assert (state.status, state.stop_reason) == ("done", "limit")
    (body,) = ride.sink.of("limit_reached")
    assert body["limit"] == "max_tokens"
    assert body["used"] == state.usage.estimated_tokens - _verdict_tokens(state)


def _verdict_tokens(state: object) -> int:
    calls = [c for c in state.calls.values() if c.purpose == "verdict"]  # type: ignore[attr-defined]
    return sum((call.prompt_chars + len(call.text)) // 4 for call in calls)


def test_cost_limit_goes_to_verdict() -> None:
    from rt_notebook.domain.usage import Usage
    from rt_notebook.providers.base import Call, Completion

    def dear(key: str) -> Voice:
        return Voice(lambda call: Completion(reply(key), usage=Usage(cost=1.0)))

    seats = [Seat(n, model=dear(k)) for n, k in (("a", "opt-1"), ("b", "opt-2"))]
    ride = Ride(spec(*seats, rounds=5, limits=Limits(max_cost=6.0)))
    state = play(ride.run())
    assert Call is not None
    assert (state.stop_reason, state.usage.cost, state.completed_rounds) == ("limit", 4.0, 1)
    assert ride.sink.of("limit_reached") == [{"limit": "max_cost", "used": 4.0, "bound": 6.0}]


def test_pause_waits_for_higher_limit() -> None:
    definition = voices("opt-1", "opt-2", rounds=2, limits=Limits(max_calls=5, on_limit="pause"))
    ride = Ride(definition)
    state = play(ride.run())
    assert (state.status, state.stop_reason, state.verdict_status) == ("paused", "limit", "none")
    assert state.usage.calls == 4
    still = play(Ride(definition, log=ride.sink).run())
    assert (still.status, still.usage.calls) == ("paused", 4)
    state = play(Ride(definition, log=ride.sink).with_limits(max_calls=7).run())
    assert (state.status, state.stop_reason, state.usage.calls) == ("done", "rounds", 7)
    assert state.spec.limits.max_calls == 7


def test_raised_limit_allows_repairs_again() -> None:
    a = Voice(reply("opt-1"), reply("opt-1"), "broken", reply("opt-1"))
    definition = spec(
        Seat("a", model=a),
        Seat("b", model=Voice(reply("opt-2"))),
        rounds=2,
        limits=Limits(max_calls=5, on_limit="pause"),
    )
    ride = Ride(definition)
    play(ride.run())
    state = play(Ride(definition, log=ride.sink).with_limits(max_calls=20).run())
    assert state.turns[2]["a"].repaired
    assert state.stop_reason == "rounds"


def test_retry_takes_no_chairmans_call() -> None:
    definition = spec(
        Seat("a", model=scripted([say(stance="Ship")])),
        Seat("b", model=scripted([fail("overloaded"), say(stance="Wait")])),
        rounds=0,
        limits=Limits(max_calls=3),
    )
    state = play(Ride(definition).run())
    assert (state.turns[0]["b"].error, state.usage.calls) == ("overloaded", 3)
    assert state.verdict_status == "ready"


def test_vendor_limit_keeps_call_for_chairman_there() -> None:
    broken = Voice("broken", reply("opt-1"))
    definition = spec(
        Seat("a", model=broken),
        Seat("b", model=Voice(reply("opt-2"))),
        rounds=0,
        chairman=Seat("boss", model=Voice(VERDICT)),
        limits=Limits(max_calls_per_vendor={"function": 3}),
    )
    state = play(Ride(definition).run())
    assert len(broken.calls) == 1
    assert (state.verdict_status, state.vendor_usage["function"].calls) == ("ready", 3)


def test_clock_cancels_calls_and_chairman_still_speaks() -> None:
    definition = spec(
        Seat("a", model=scripted([say(stance="Ship"), say(stance="Ship")]), timeout_s=9_000),
        Seat("b", model=scripted([say(stance="Wait"), hang()]), timeout_s=9_000),
        rounds=3,
        chairman=Seat("boss", model=scripted([wait(120, VERDICT)])),
        limits=Limits(max_minutes=10),
    )
    ride = Ride(definition)
    state = play(ride.run())
    assert (state.status, state.stop_reason, state.verdict_status) == ("done", "clock", "ready")
    turn = state.turns[1]["b"]
    assert (turn.error, turn.message) == (
        "cancelled",
        "cancelled: the debate's time is used up",
    )
    assert state.turns[1]["a"].usable
    assert state.completed_rounds == 0
    assert ride.sink.of("limit_reached") == [{"limit": "max_minutes", "used": 10.0, "bound": 10.0}]


@pytest.mark.parametrize("turns_later", [0, 1])
def test_clock_that_runs_out_as_calls_begin_leaves_none_open(turns_later: int) -> None:
    """While they are being logged, and when they are, but before their tasks have begun."""
    voices_ = Voice(reply("opt-1")), Voice(reply("opt-2"))
    definition = spec(
        *(Seat(name, model=voice) for name, voice in zip("ab", voices_, strict=True)),
        limits=Limits(max_minutes=10),
    )

    def ends_time(event: Event, state: State) -> None:
        if event.kind == "call_started" and state.round == 1:
            _later(ride.debate._time_is_up, turns_later)

    ride = Ride(definition, listeners=[ends_time])
    state = play(ride.run())
    assert (state.status, state.stop_reason) == ("done", "clock")
    assert [len(voice.calls) for voice in voices_] == [1, 1]
    for turn in state.turns[1].values():
        assert (turn.error, turn.message) == (
            "cancelled",
            "cancelled: the debate's time is used up",
        )
        assert [call.outcome for call in turn.calls] == ["failed"]


def test_clock_that_runs_out_as_calls_begin_stops_repairs_too() -> None:
    broken, other = Voice("no form at all", reply("opt-1")), Voice(reply("opt-2"))
    definition = spec(
        Seat("a", model=broken), Seat("b", model=other), limits=Limits(max_minutes=10)
    )
    whole = Ride(definition)
    play(whole.run())
    died = next(n for n, event in enumerate(whole.sink.events) if event.body.get("repair"))
    calls = len(broken.calls), len(other.calls)

    def ends_time(event: Event, state: State) -> None:
        if event.kind == "call_started":
            _later(ride.debate._time_is_up, 0)

    ride = Ride(definition, log=MemoryLog(whole.sink.rows[: died + 1]), listeners=[ends_time])
    state = play(ride.run())
    assert state.stop_reason == "clock"
    assert (len(broken.calls), len(other.calls)) == calls
    assert {turn.error for turn in state.turns[0].values()} == {None, "cancelled"}


def _later(work: Callable[[], None], turns: int) -> None:
    """Run `work` so many turns of the loop later than next."""
    loop = asyncio.get_running_loop()
    loop.call_soon(*([work] if turns == 0 else [_later, work, turns - 1]))


def test_clock_closes_gate() -> None:
    definition = voices("opt-1", "opt-2", gates="blocking", limits=Limits(max_minutes=1))
    ride = Ride(definition, attended=True)
    state = play(ride.run())
    assert (state.status, state.stop_reason, state.completed_rounds) == ("done", "clock", 0)
    assert ride.sink.of("gate_closed") == [{"round": 0, "why": "clock"}]


def test_clock_in_opening_without_reply_is_error() -> None:
    definition = spec(
        Seat("a", model=scripted([hang()])),
        Seat("b", model=scripted([hang()])),
        limits=Limits(max_minutes=1),
    )
    state = play(Ride(definition).run())
    assert (state.status, state.stop_reason) == ("error", "clock")


def test_clock_pause_asks_cut_seats_again() -> None:
    a, b = Voice(reply("opt-1")), [say(stance="Wait"), hang(), say(stance="Wait")]
    definition = spec(
        Seat("a", model=a),
        Seat("b", model=scripted(b)),
        rounds=1,
        limits=Limits(max_minutes=1, on_limit="pause"),
    )
    ride = Ride(definition)
    state = play(ride.run())
    assert (state.status, state.stop_reason, state.completed_rounds) == ("paused", "clock", 0)
    state = play(Ride(definition, log=ride.sink).run())
    assert (state.status, state.stop_reason, state.completed_rounds) == ("done", "rounds", 1)
    assert state.turns[1]["b"].usable
    assert len(a.calls) == 2


def test_calls_lost_to_crash_count() -> None:
    """Two calls in flight at the kill leave too few for another opening."""
    definition = voices("opt-1", "opt-2", rounds=0, limits=Limits(max_calls=4))
    ride = Ride(definition)
    play(ride.run())
    started = max(i for i, kind in enumerate(ride.sink.kinds[:5]) if kind == "call_started")
    ride.sink.rows = ride.sink.rows[: started + 1]
    state = play(Ride(definition, log=ride.sink).run())
    assert (state.status, state.stop_reason) == ("error", "limit")
    assert state.usage.calls == 2
    assert len(voice(definition.seats[0]).calls) == 1
