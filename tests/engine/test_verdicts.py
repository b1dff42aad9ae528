"""The chairman: who it is, what happens when it can't be read; nothing stands in for it."""

from __future__ import annotations

import asyncio
from typing import Any

from rt_notebook.domain.script import fail, garbage, hang, say, scripted
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.snapshot import final_tally, participation, tally_at, verdict_json
from rt_notebook.domain.spec import Limits
from rt_notebook.errors import CallError
from tests.engine.clocks import play, until
from tests.engine.debates import VERDICT, Ride, Voice, reply, spec, split, voices

BROKEN = "RECOMMENDATION:\nopt-9\nDISSENT:\nnone"


def chaired(*steps: Any, **fields: Any) -> Ride:
    """Return a review with a scripted chairman."""
    return Ride(split(rounds=0, chairman=Seat("boss", model=scripted(steps)), **fields))


def test_default_chairman_is_built_in() -> None:
    state = play(Ride(voices("opt-1", "opt-2", "opt-2", rounds=0)).run())
    assert state.verdict is not None
    assert state.verdict.pick == "opt-2"
    assert state.verdict.rationale == (
        "2 of 3 counted seats end at “Wait” (b, c). This verdict was scripted from the tally; "
        "no model weighed the arguments."
    )
    assert state.verdict.dissent == "- a: Ship"
    assert state.calls["0/chairman/verdict/1"].model == "scripted"


def test_built_in_chairman_leaves_ties_open() -> None:
    state = play(Ride(voices("opt-1", "opt-2", rounds=0)).run())
    assert state.verdict is not None
    assert state.verdict.pick == "none"


def test_broken_verdict_is_repaired_once() -> None:
    ride = chaired(BROKEN, VERDICT)
    state = play(ride.run())
    assert (state.verdict_status, state.usage.calls) == ("ready", 4)
    assert [call.purpose for call in state.verdict_calls] == ["verdict", "repair"]


def test_verdict_that_stays_broken_fails() -> None:
    state = play(chaired(BROKEN, BROKEN, VERDICT).run())
    assert (state.status, state.stop_reason, state.verdict_status) == ("done", "rounds", "failed")
    assert state.verdict_error is not None
    assert state.verdict_error.startswith("the chairman's verdict can't be read: ")
    shown = verdict_json(state)
    assert set(shown) == {"status", "tally", "participation", "error"}
    assert shown["tally"] == {"opt-1": ["a"], "opt-2": ["b"]}


def test_chairman_that_fails_leaves_debate_done() -> None:
    state = play(chaired(fail("quota", message="no credit left")).run())
    assert (state.status, state.verdict_status) == ("done", "failed")
    assert state.verdict_error == "no credit left"
    assert state.down == {}


def test_chairman_is_retried() -> None:
    state = play(chaired(fail("overloaded"), VERDICT).run())
    assert (state.verdict_status, state.usage.calls) == ("ready", 4)


def test_verdict_repair_needs_calls_left() -> None:
    state = play(chaired(garbage(), VERDICT, limits=Limits(max_calls=3)).run())
    assert (state.verdict_status, state.usage.calls) == ("failed", 3)
    state = play(chaired(garbage(), VERDICT, limits=Limits(max_calls=4)).run())
    assert (state.verdict_status, state.usage.calls) == ("ready", 4)


def test_failed_verdict_can_be_asked_for_again() -> None:
    ride = chaired(fail("auth"), VERDICT)
    play(ride.run())
    again = Ride(ride.spec, log=ride.sink)
    again.first = [("verdict_started", {})]
    state = play(again.run())
    assert (state.status, state.stop_reason, state.verdict_status) == ("done", "rounds", "ready")
    assert state.verdict_error is None


def test_stopped_debate_gets_verdict_on_demand() -> None:
    async def main() -> Ride:
        ride = chaired(hang(), VERDICT)
        task = asyncio.create_task(ride.run())
        await until(lambda: list(ride.debate.in_flight) == ["boss"])
        await ride.stop()
        await task
        return ride

    ride = play(main())
    again = Ride(ride.spec, log=ride.sink)
    again.first = [("verdict_started", {})]
    state = play(again.run())
    assert (state.status, state.stop_reason, state.verdict_status) == ("done", "stopped", "ready")


def test_chairman_with_seats_script_goes_on_in_it() -> None:
    script = scripted([say(stance="Ship"), VERDICT])
    definition = spec(
        Seat("a", model=script),
        Seat("b", model=scripted([say(stance="Wait")])),
        rounds=0,
        chairman=Seat("chairman", model=script),
    )
    state = play(Ride(definition).run())
    assert (state.verdict_status, state.usage.calls) == ("ready", 3)


def test_chairman_named_like_seat_stays_apart() -> None:
    chairman = Voice(VERDICT)
    definition = spec(
        Seat("boss", model=Voice(reply("opt-1"))),
        Seat("b", model=Voice(reply("opt-2"))),
        rounds=0,
        chairman=Seat("Boss", model=chairman),
    )
    state = play(Ride(definition).run())
    assert chairman.calls[0].seat == "Boss (chairman)"
    assert state.seat_usage["Boss (chairman)"].calls == 1
    assert len(state.turns[0]["boss"].calls) == 1


def test_seat_named_chairman_keeps_own_calls() -> None:
    definition = spec(
        Seat("chairman", model=scripted([garbage(), say(stance="Ship")])),
        Seat("b", model=Voice(reply("opt-2"))),
        rounds=0,
        chairman=Seat("boss", model=scripted([garbage(), VERDICT])),
    )
    state = play(Ride(definition).run())
    assert state.verdict_status == "ready"
    assert {call.seat for call in state.calls.values()} == {"chairman", "b", "boss"}
    assert len(state.calls) == 5


def test_tally_counts_in_code_by_round() -> None:
    definition = spec(
        Seat("a", model=Voice(reply("opt-1"), reply("opt-2"))),
        Seat("b", model=Voice(reply("opt-2"), reply("other: Rent it"))),
        Seat("muse", model=Voice(reply("opt-1")), mood="rant"),
        rounds=1,
    )
    state = play(Ride(definition).run())
    assert tally_at(state, 0) == {"opt-1": ["a"], "opt-2": ["b"]}
    assert final_tally(state) == {"opt-2": ["a"], "other: Rent it": ["b"]}


def test_participation_counts_carries_and_misses() -> None:
    chairman = Voice(VERDICT)
    definition = spec(
        Seat("here", model=Voice(reply("opt-1"))),
        Seat("passing", model=scripted([say(stance="Ship"), "PASS"])),
        Seat("failing", model=scripted([say(stance="Wait"), fail()])),
        Seat("silent", model=Voice(CallError("x"))),
        rounds=1,
        chairman=Seat("boss", model=chairman),
    )
    state = play(Ride(definition).run())
    assert participation(state) == {
        "counted": ["here", "passing"],
        "carried": ["failing"],
        "missing": ["silent"],
    }
    prompt = chairman.prompts[0]
    assert "Positions carried over from an earlier round: failing" in prompt
    assert "Seats without a position (their view is missing): silent" in prompt


def test_chairman_judges_latest_good_replies() -> None:
    """A last reply that couldn't be read doesn't hide the one the position stands on."""
    chairman = Voice(VERDICT)
    definition = spec(
        Seat("a", model=Voice(reply("opt-1", "the good reason"), "mumble")),
        Seat("b", model=Voice(reply("opt-2"))),
        rounds=1,
        chairman=Seat("boss", model=chairman),
    )
    play(Ride(definition).run())
    assert "the good reason" in chairman.prompts[0]
    assert "mumble" not in chairman.prompts[0]
