"""Tries at a provider: retries and their waits, deadlines, stalls, what counts."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from rt_notebook.domain.script import fail, garbage, hang, say, scripted, wait
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.usage import Usage
from rt_notebook.errors import CALL_ERROR_KINDS, RETRYABLE_KINDS, CallError
from rt_notebook.providers.base import Call, Completion, Progress
from tests.engine.clocks import play
from tests.engine.debates import Ride, Voice, reply, spec


def beside(*steps: Any, rounds: int = 0, **seat: Any) -> Ride:
    """Return a review of a seat that plays these steps, beside a calm one."""
    return Ride(
        spec(
            Seat("a", model=scripted(steps), **seat),
            Seat("b", model=Voice(reply("opt-2"))),
            rounds=rounds,
        )
    )


@pytest.mark.parametrize("kind", sorted(CALL_ERROR_KINDS - {"cancelled"}))
def test_only_passing_faults_are_tried_again(kind: str) -> None:
    ride = beside(fail(kind), say(stance="Ship"))
    state = play(ride.run())
    tries = [call.outcome for call in state.turns[0]["a"].calls]
    assert tries == (["failed", "finished"] if kind in RETRYABLE_KINDS else ["failed"])
    assert state.turns[0]["a"].usable == (kind in RETRYABLE_KINDS)


def test_each_try_counts_and_takes_next_entry() -> None:
    ride = beside(fail("overloaded"), fail("connection"), say(stance="Ship"))
    state = play(ride.run())
    assert [call.id for call in state.turns[0]["a"].calls] == [
        "0/a/opening/1",
        "0/a/opening/2",
        "0/a/opening/3",
    ]
    assert state.seat_usage["a"].calls == 3
    assert state.usage.calls == 5


def test_retries_are_bounded() -> None:
    ride = beside(*[fail("overloaded")] * 9, retries=4)
    state = play(ride.run())
    assert len(state.turns[0]["a"].calls) == 5
    assert state.turns[0]["a"].error == "overloaded"
    assert [call.retry_in_s is None for call in state.turns[0]["a"].calls] == [False] * 4 + [True]


def test_no_retries_at_all() -> None:
    state = play(beside(fail("rate_limit"), say(stance="Ship"), retries=0).run())
    assert len(state.turns[0]["a"].calls) == 1


def test_retry_after_is_honoured_and_shown() -> None:
    async def main() -> tuple[Ride, float]:
        ride = beside(fail("rate_limit", retry_after_s=42), say(stance="Ship"))
        began = asyncio.get_running_loop().time()
        await ride.run()
        return ride, asyncio.get_running_loop().time() - began

    ride, seconds = play(main())
    assert ride.sink.of("call_failed")[0]["retry_in_s"] == 42.0
    assert seconds == pytest.approx(42.0)


def test_wait_past_deadline_is_not_begun() -> None:
    async def main() -> tuple[Ride, float]:
        ride = beside(fail("rate_limit", retry_after_s=42), say(stance="Ship"), timeout_s=40)
        began = asyncio.get_running_loop().time()
        await ride.run()
        return ride, asyncio.get_running_loop().time() - began

    ride, seconds = play(main())
    assert ride.sink.of("call_failed")[0]["retry_in_s"] is None
    assert ride.state.turns[0]["a"].error == "rate_limit"
    assert seconds == 0.0


def test_repair_shares_deadline_of_turn() -> None:
    """Seven of ten seconds are gone when the repair begins."""
    ride = beside(wait(7, garbage()), wait(7, say(stance="Ship")), timeout_s=10)
    state = play(ride.run())
    repair = state.calls["0/a/repair/1"]
    assert (repair.error, repair.message) == ("timeout", "no answer within 3 s")
    assert repair.finished_at is not None


def test_hang_ends_at_deadline() -> None:
    async def main() -> tuple[Ride, float]:
        ride = beside(hang(), timeout_s=90)
        began = asyncio.get_running_loop().time()
        await ride.run()
        return ride, asyncio.get_running_loop().time() - began

    ride, seconds = play(main())
    turn = ride.state.turns[0]["a"]
    assert (turn.error, turn.message) == ("timeout", "no answer within 90 s")
    assert seconds == pytest.approx(90, abs=0.01)
    assert ride.state.verdict_status == "ready"


class Dripping:
    """A provider that makes progress every few seconds, and after a while none any more."""

    def __init__(self, every_s: float, times: int) -> None:
        self._every_s = every_s
        self._times = times

    async def complete(self, call: Call, progress: Progress) -> Completion:
        for number in range(self._times):
            await asyncio.sleep(self._every_s)
            progress(number)
        await asyncio.Event().wait()
        raise AssertionError


def _drip(every_s: float, times: int, **seat: Any) -> tuple[Ride, float]:
    async def main() -> tuple[Ride, float]:
        ride = beside(say(stance="Ship"), **seat)
        ride.debate._providers["a"] = Dripping(every_s, times)
        began = asyncio.get_running_loop().time()
        await ride.run()
        return ride, asyncio.get_running_loop().time() - began

    return play(main())


def test_stall_ends_call_without_progress() -> None:
    ride, seconds = _drip(4, 5, stall_s=10)
    turn = ride.state.turns[0]["a"]
    assert (turn.error, turn.message) == ("stall", "no progress for 10 s")
    assert seconds == pytest.approx(30, abs=0.05)


def test_progress_does_not_move_deadline() -> None:
    ride, seconds = _drip(4, 99, stall_s=10, timeout_s=33)
    assert ride.state.turns[0]["a"].error == "timeout"
    assert seconds == pytest.approx(33, abs=0.05)


def test_no_stall_without_setting() -> None:
    ride, seconds = _drip(4, 1, timeout_s=200)
    assert ride.state.turns[0]["a"].error == "timeout"
    assert seconds == pytest.approx(200, abs=0.05)


def test_own_cancellation_fails_its_call_alone() -> None:
    definition = spec(
        Seat("a", model=Voice(asyncio.CancelledError())),
        Seat("b", model=Voice(reply("opt-2"))),
        rounds=0,
    )
    state = play(Ride(definition).run())
    assert state.turns[0]["a"].message == "the call was cancelled from within"
    assert state.status == "done"


def test_exit_in_function_fails_its_call_alone() -> None:
    definition = spec(
        Seat("a", model=Voice(SystemExit(3))), Seat("b", model=Voice(reply("opt-2"))), rounds=0
    )
    state = play(Ride(definition).run())
    assert state.turns[0]["a"].message == "RuntimeError: SystemExit: 3"


def test_function_that_times_out_itself() -> None:
    definition = spec(
        Seat("a", model=Voice(TimeoutError("too slow"))),
        Seat("b", model=Voice(reply("opt-2"))),
        rounds=0,
    )
    state = play(Ride(definition).run())
    assert state.turns[0]["a"].error == "timeout"
    assert state.turns[0]["a"].message == "TimeoutError: too slow"


def test_partial_answer_is_kept() -> None:
    error = CallError("cut off", kind="connection", partial="STANCE: op" + "x" * 100_000)
    definition = spec(
        Seat("a", model=Voice(error), retries=0),
        Seat("b", model=Voice(reply("opt-2"))),
        rounds=0,
    )
    state = play(Ride(definition).run())
    partial = state.calls["0/a/opening/1"].partial
    assert partial is not None
    assert partial.startswith("STANCE: op")
    assert len(partial) == 64 * 1024


def test_vanished_script_takes_seat_down(tmp_path: Any) -> None:
    path = tmp_path / "seat.toml"
    definition = spec(
        Seat("a", model=f"scripted:{path}"), Seat("b", model=Voice(reply("opt-2"))), rounds=1
    )
    state = play(Ride(definition).run())
    assert state.down == {"a": "spawn"}
    assert "can't be read" in (state.turns[0]["a"].message or "")
    assert len(state.seat_usage) == 3
    assert state.seat_usage["a"].calls == 1


def test_message_of_failure_is_one_line() -> None:
    definition = spec(
        Seat("a", model=Voice(CallError("bad\x1b[2J\nnews " + "x" * 9_999))),
        Seat("b", model=Voice(reply("opt-2"))),
        rounds=0,
    )
    message = play(Ride(definition).run()).turns[0]["a"].message
    assert message is not None
    assert message.startswith("bad news xxx")
    assert len(message) == 2_000


def test_failure_tells_the_log_nothing_that_cannot_be() -> None:
    error = CallError(
        "cut off",
        kind="connection",
        partial="STANCE: \ud800",
        usage=Usage(-5, 10**30, "7", None, float("nan")),  # type: ignore[arg-type]
    )
    seats = [Seat("a", model=Voice(error), retries=0), Seat("b", model=Voice(reply("opt-2")))]
    ride = Ride(spec(*seats, rounds=0))
    play(ride.run())
    assert ride.sink.of("call_failed") == [
        {"call": "0/a/opening/1", "error": "connection", "message": "cut off",
         "partial": "STANCE: \ufffd", "retry_in_s": None},
    ]  # fmt: skip


def test_half_a_character_of_an_answer_is_the_same_in_the_log() -> None:
    ride = Ride(
        spec(
            Seat("a", model=Voice(reply("other: \ud800", "\ud83d\ude00"))),
            Seat("b", model=Voice(reply("opt-2"))),
            rounds=0,
        )
    )
    turn = play(ride.run()).turns[0]["a"]
    assert turn.reply is not None
    assert (turn.reply.stance, turn.reply.disagree) == ("other: \ufffd", ["\U0001f600"])
    finished = {body["call"]: body["text"] for body in ride.sink.of("call_finished")}
    assert finished["0/a/opening/1"] == turn.reply.raw == reply("other: \ufffd", "\U0001f600")
