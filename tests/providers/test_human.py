"""People in seats: turns on a desk, through real debates."""

from __future__ import annotations

import asyncio

import pytest

from rt_notebook.domain.seat import Seat
from rt_notebook.errors import UsageError
from tests.engine.clocks import play, ticks, until
from tests.engine.debates import Ride, Voice, reply, spec


def seated(**seat: float) -> Ride:
    return Ride(
        spec(
            Seat("Petra", model="human", **seat),
            Seat("b", model=Voice(reply("opt-2"))),
            rounds=1,
        ),
        attended=False,
    )


async def _open_turn(ride: Ride, number: int) -> None:
    await until(lambda: any(turn.round == number for turn in ride.desk.turns))


def test_person_replies_in_each_round() -> None:
    async def main() -> Ride:
        ride = seated()
        task = asyncio.create_task(ride.run())
        for number in (0, 1):
            await _open_turn(ride, number)
            await ticks()  # until the other seat has been asked too
            turn = ride.desk.find(number, "Petra")
            assert turn.purpose == ("critique" if number else "opening")
            assert turn.prompt == ride.state.spec.seats[1].function.prompts[number]  # type: ignore[union-attr]
            turn.answer.set_result((reply("opt-1", f"point {number}"), "person"))
        await task
        return ride

    ride = play(main())
    assert ride.state.status == "done"
    assert ride.state.positions["Petra"].round == 1
    assert ride.desk.turns == []


def test_persons_broken_reply_costs_no_repair() -> None:
    async def main() -> Ride:
        ride = seated()
        task = asyncio.create_task(ride.run())
        await _open_turn(ride, 0)
        ride.desk.find(0, "Petra").answer.set_result(("STANCE: opt-1", "person"))
        await _open_turn(ride, 1)
        ride.desk.find(1, "Petra").answer.set_result(("PASS", "person"))
        await task
        return ride

    ride = play(main())
    turn = ride.state.turns[0]["Petra"]
    assert turn.reply is not None
    assert (turn.final, turn.reply.valid, len(turn.calls)) == (True, False, 1)
    assert (turn.reply.stance, turn.reply.stance_key) == ("opt-1", None)


def test_turn_closes_at_its_deadline() -> None:
    async def main() -> Ride:
        ride = seated(timeout_s=100)
        changes: list[int] = []
        ride.desk.changed.append(lambda: changes.append(len(ride.desk.turns)))
        await ride.run()
        assert changes == [1, 0, 1, 0]
        with pytest.raises(
            UsageError, match="no turn of 'Petra' is open in round 0; open turns: n"
        ):
            ride.desk.find(0, "Petra")
        return ride

    ride = play(main())
    assert [turns["Petra"].error for turns in ride.state.turns] == ["timeout", "timeout"]


def test_broken_view_of_turns_fails_nobody(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> Ride:
        ride = seated(timeout_s=1)

        def broken() -> None:
            raise ValueError("no view")

        ride.desk.changed.append(broken)
        await ride.run()
        return ride

    assert play(main()).state.turns[0]["Petra"].error == "timeout"
    assert "a view of the open turns failed" in caplog.text


def test_open_turn_names_what_is_open() -> None:
    async def main() -> None:
        ride = seated()
        task = asyncio.create_task(ride.run())
        await _open_turn(ride, 0)
        with pytest.raises(UsageError, match=r"open turns: Petra \(round 0\)"):
            ride.desk.find(4, "Petra")
        await ride.stop()
        await task

    play(main())
