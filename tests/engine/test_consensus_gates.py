"""The gate at a consensus: silence ends the debate, any text costs one more round."""

from __future__ import annotations

from rt_notebook.domain.seat import Seat
from tests.engine.attendance import attend, nobody
from tests.engine.debates import Ride, Voice, reply, spec, voice, voices


def test_consensus_gate_without_text_ends() -> None:
    ride = attend(voices("opt-1", "opt-1", "opt-1", rounds=2), nobody)
    (gate,) = ride.state.gates
    assert (gate.reopen_calls, gate.why, ride.state.stop_reason) == (3, "timeout", "consensus")
    assert ride.state.usage.calls == 4


def test_consensus_gate_with_text_reopens_past_rounds() -> None:
    async def person(ride: Ride) -> None:
        await ride.gate()
        await ride.answer(message="Think of the costs.")

    definition = voices("opt-1", "opt-1", rounds=0)
    ride = attend(definition, person)
    assert [gate.reopen_calls for gate in ride.state.gates] == [2, 2]
    assert (ride.state.round, ride.state.rounds, ride.state.stop_reason) == (1, 1, "consensus")
    assert "Think of the costs." in voice(definition.seats[0]).prompts[1]
    assert [body["round"] for body in ride.sink.of("consensus")] == [0, 1]


def test_reopened_round_may_break_consensus() -> None:
    async def person(ride: Ride) -> None:
        await ride.gate()
        await ride.answer(message="Really?")

    seats = [
        Seat("a", model=Voice(reply("opt-1"))),
        Seat("b", model=Voice(reply("opt-1"), reply("opt-2"))),
    ]
    ride = attend(spec(*seats, rounds=0), person)
    assert (ride.state.stop_reason, ride.state.completed_rounds) == ("rounds", 1)


def test_unaffordable_round_after_consensus_opens_no_gate() -> None:
    from rt_notebook.domain.spec import Limits

    ride = attend(voices("opt-1", "opt-1", limits=Limits(max_calls=4)), nobody)
    assert (ride.state.gates, ride.state.stop_reason) == ([], "consensus")
