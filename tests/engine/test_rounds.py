"""Rounds: who is asked at the same time, what a seat sees, how failures and repairs go on."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from rt_notebook.domain.script import fail, garbage, say, scripted, wait
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.spec import Limits
from rt_notebook.errors import CallError
from rt_notebook.providers.base import Call, Completion
from tests.engine.clocks import play
from tests.engine.debates import VERDICT, Ride, Voice, reply, spec, voice, voices


def test_round_asks_everybody_at_once() -> None:
    """Each seat answers only once all have been asked: one after the other would never end."""

    async def main() -> None:
        together = asyncio.Barrier(3)

        async def speak(call: Call) -> str:
            await together.wait()
            return reply("opt-1" if call.seat == "a" else "opt-2")

        seats = [Seat(name, model=speak, lens=name) for name in "abc"]
        ride = Ride(spec(*seats, rounds=2))
        state = await ride.run()
        assert state.status == "done"
        assert state.completed_rounds == 2
        assert [len(turns) for turns in state.turns] == [3, 3, 3]

    play(main())


def test_calls_of_a_round_begin_in_one_append() -> None:
    ride = Ride(voices("opt-1", "opt-2", "opt-1", rounds=1))
    play(ride.run())
    begun = [kinds for kinds in ride.sink.appends if "call_started" in kinds]
    assert begun == [["call_started"] * 3, ["call_started"] * 3, ["call_started"]]


def test_round_lasts_as_long_as_slowest() -> None:
    async def main() -> float:
        seats = [
            Seat(name, model=scripted([wait(seconds, say(stance="Ship"))]))
            for name, seconds in (("a", 2.0), ("b", 5.0), ("c", 3.0))
        ]
        began = asyncio.get_running_loop().time()
        await Ride(spec(*seats, rounds=0)).run()
        return asyncio.get_running_loop().time() - began

    assert play(main()) == pytest.approx(5.0)


def test_first_replies_are_told_at_once() -> None:
    async def main() -> None:
        gave = asyncio.Event()

        def listen(event: Any, state: Any) -> None:
            if event.kind == "reply_read" and event.body["seat"] == "quick":
                gave.set()

        async def slow(call: Call) -> str:
            await gave.wait()
            return reply("opt-2")

        seats = [Seat("slow", model=slow), Seat("quick", model=Voice(reply("opt-1")))]
        state = await Ride(spec(*seats, rounds=0), listeners=[listen]).run()
        assert list(state.positions) == ["quick", "slow"]

    play(main())


def test_failed_seat_is_asked_again_next_round() -> None:
    a = Voice(reply("opt-1"), RuntimeError("no luck"), reply("opt-1"))
    seats = [Seat("a", model=a), Seat("b", model=Voice(reply("opt-2")))]
    ride = Ride(spec(*seats, rounds=2))
    state = play(ride.run())
    failed = state.turns[1]["a"]
    assert (failed.failed, failed.error) == (True, "provider")
    assert failed.message == "RuntimeError: no luck"
    assert state.turns[2]["a"].usable
    assert state.completed_rounds == 2
    assert [position.round for position in state.history["a"]] == [0, 2]


@pytest.mark.parametrize("kind", ["auth", "quota", "not_found", "spawn"])
def test_seat_that_is_down_waits_for_resume(kind: str) -> None:
    a = Voice(reply("opt-1"), CallError("log in first", kind=kind))
    seats = [Seat("a", model=a), Seat("b", model=Voice(reply("opt-2")))]
    state = play(Ride(spec(*seats, rounds=3)).run())
    assert len(a.calls) == 2
    assert state.down == {"a": kind}
    assert [turns["a"].error for turns in state.turns] == [None, kind, kind, kind]
    assert state.turns[3]["a"].calls == []
    assert state.positions["a"].round == 0
    assert state.completed_rounds == 3


def test_all_failed_is_error_and_resumable() -> None:
    once = [Voice(CallError("down", kind="provider"), reply(key)) for key in ("opt-1", "opt-2")]
    seats = [Seat(name, model=v) for name, v in zip("ab", once, strict=True)]
    definition = spec(*seats, rounds=0)
    ride = Ride(definition)
    state = play(ride.run())
    assert (state.status, state.stop_reason, state.verdict_status) == ("error", "error", "skipped")
    again = play(Ride(definition, log=ride.sink).run())
    assert (again.status, again.stop_reason) == ("done", "rounds")
    assert {name: p.key for name, p in again.positions.items()} == {"a": "opt-1", "b": "opt-2"}


def test_hidden_seat_alone_keeps_no_debate_going() -> None:
    seats = [
        Seat("a", model=Voice(CallError("x"), CallError("x"), reply("opt-1"))),
        Seat("muse", model=Voice(reply("opt-2")), mood="rant"),
    ]
    ride = Ride(spec(*seats, rounds=0))
    assert play(ride.run()).status == "error"
    again = Ride(spec(*seats, rounds=0), log=ride.sink)
    assert play(again.run()).status == "error"
    last = play(Ride(spec(*seats, rounds=0), log=ride.sink).run())
    assert last.status == "done"
    assert len(seats[1].function.calls) == 1  # type: ignore[union-attr]  # it is a Voice


def test_broken_reply_is_repaired_once() -> None:
    a = Voice("I like the first one.", reply("opt-1", "too soon"))
    seats = [Seat("a", model=a), Seat("b", model=Voice(reply("opt-2")))]
    ride = Ride(spec(*seats, rounds=0))
    state = play(ride.run())
    turn = state.turns[0]["a"]
    assert turn.reply is not None
    assert (turn.repaired, turn.reply.valid, turn.reply.notes) == (True, True, ["repaired"])
    assert [call.purpose for call in turn.calls] == ["opening", "repair"]
    first, second = a.calls
    assert second.messages[:2] == first.messages
    assert [message.role for message in second.messages] == [
        "system", "user", "assistant", "user"
    ]  # fmt: skip
    assert second.messages[2].text == "I like the first one."
    for error in ("STANCE is missing", "DISAGREE is missing"):
        assert error in second.messages[3].text
    assert state.usage.calls == 4


def test_reply_that_stays_broken_keeps_what_was_read() -> None:
    broken = "STANCE: opt-1\nDISAGREE:\n- too soon"
    seats = [Seat("a", model=Voice(broken)), Seat("b", model=Voice(reply("opt-2")))]
    state = play(Ride(spec(*seats, rounds=0)).run())
    turn = state.turns[0]["a"]
    assert turn.reply is not None
    assert len(turn.calls) == 2
    assert (turn.reply.valid, turn.reply.stance_key, turn.final) == (False, None, True)
    assert (turn.reply.stance, turn.reply.disagree, turn.reply.raw) == (
        "opt-1", ["too soon"], broken
    )  # fmt: skip
    assert "a" not in state.positions


def test_failed_repair_keeps_reply_without_stance() -> None:
    a = Voice("STANCE: opt-1", CallError("gone", kind="provider"))
    seats = [Seat("a", model=a), Seat("b", model=Voice(reply("opt-2")))]
    state = play(Ride(spec(*seats, rounds=0)).run())
    turn = state.turns[0]["a"]
    assert turn.reply is not None
    assert (turn.failed, turn.reply.valid, turn.reply.stance_key) == (False, False, None)
    assert turn.calls[-1].error == "provider"


def test_repair_is_budgeted_for_all_seats_at_once() -> None:
    """Three repairs at the same time, with calls for one of them and the chairman."""
    mend = [Voice("broken", reply("opt-1")) for _ in range(3)]
    seats = [Seat(name, model=v, lens=name) for name, v in zip("abc", mend, strict=True)]
    limits = Limits(max_calls=5)
    state = play(Ride(spec(*seats, rounds=0, limits=limits)).run())
    assert sorted(len(v.calls) for v in mend) == [1, 1, 2]
    assert state.usage.calls == 5
    assert state.verdict_status == "ready"
    replies = [turn.reply for turn in state.turns_of(0)]
    assert sorted(r.valid for r in replies if r is not None) == [False, False, True]


def test_passes_keep_earlier_stances() -> None:
    definition = spec(
        Seat("a", model=scripted([say(stance="Ship"), "PASS"])),
        Seat("b", model=scripted([say(stance="Wait"), say(stance="Wait", new=["slower"])])),
        rounds=1,
    )
    state = play(Ride(definition).run())
    assert state.turns[1]["a"].reply is not None
    assert state.turns[1]["a"].reply.passed
    assert {name: (p.round, p.key) for name, p in state.positions.items()} == {
        "a": (0, "opt-1"),
        "b": (1, "opt-2"),
    }


def test_used_up_script_passes() -> None:
    definition = spec(
        Seat("a", model=scripted([say(stance="Ship")])),
        Seat("b", model=scripted([say(stance="Wait")])),
        rounds=4,
    )
    state = play(Ride(definition).run())
    assert (state.stop_reason, state.completed_rounds) == ("nothing_new", 1)


def test_garbage_step_is_broken_reply() -> None:
    definition = spec(
        Seat("a", model=scripted([garbage(), garbage()])),
        Seat("b", model=scripted([say(stance="Wait")])),
        rounds=0,
    )
    state = play(Ride(definition).run())
    assert state.turns[0]["a"].reply is not None
    assert not state.turns[0]["a"].reply.valid
    assert state.usage.calls == 4


def test_metadata_of_answers_reaches_log() -> None:
    from rt_notebook.domain.usage import Usage

    def told(call: Call) -> Completion:
        return Completion(
            reply("opt-1"),
            tool_calls=[{"name": "query", "preview": "x" * 900}],
            usage=Usage(prompt_tokens=120, completion_tokens=30, cost=0.5),
            model="big-1",
            request_id="r-7",
            timings={"queued": 0.25},
        )

    seats = [Seat("a", model=Voice(told)), Seat("b", model=Voice(reply("opt-2")))]
    ride = Ride(spec(*seats, rounds=0))
    state = play(ride.run())
    call = state.calls["0/a/opening/1"]
    assert call.usage == Usage(120, 30, None, None, 0.5)
    assert (call.model_reported, call.request_id, call.timings["queued"]) == ("big-1", "r-7", 0.25)
    assert call.tool_calls[0]["name"] == "query"
    assert len(call.tool_calls[0]["preview"]) == 500
    assert state.seat_usage["a"].prompt_tokens == 120
    assert state.seat_usage["a"].estimated_tokens == 150
    # b reported nothing: characters / 4, in and out
    chars = state.calls["0/b/opening/1"].prompt_chars + len(reply("opt-2"))
    assert state.seat_usage["b"].estimated_tokens == chars // 4


@pytest.mark.parametrize(
    ("answer", "kind", "message"),
    [
        (None, "protocol", "the answer is NoneType, not text"),
        (17, "protocol", "the answer is int, not text"),
        ({"text": "x"}, "protocol", "the answer is dict, not text"),
        (b"PASS", "protocol", "the answer is bytes, not text"),
        ("", "empty", "the answer is empty"),
        (" \n\u200b", "empty", "the answer is empty"),
        ("```text\n\n```\n", "empty", "the answer is empty"),
        ("x" * (8 * 1024 * 1024 + 1), "output_limit", "8,388,608 are allowed"),
        (Completion(3), "protocol", "the answer is int, not text"),  # type: ignore[arg-type]
    ],
)
def test_garbage_types_fail_the_call(answer: Any, kind: str, message: str) -> None:
    seats = [Seat("a", model=Voice(answer)), Seat("b", model=Voice(reply("opt-2")))]
    state = play(Ride(spec(*seats, rounds=0)).run())
    call = state.calls["0/a/opening/1"]
    assert call.error == kind
    assert call.message is not None
    assert message in call.message
    assert len(call.partial or "") <= 64 * 1024
    assert state.status == "done"


def test_worthless_metadata_loses_no_answer() -> None:
    wrong: Any = Completion(
        reply("opt-1"),
        tool_calls="none",  # type: ignore[arg-type]
        usage={"prompt_tokens": 3},  # type: ignore[arg-type]
        model=7,  # type: ignore[arg-type]
        timings={"total": "soon", "queued": float("nan")},  # type: ignore[dict-item]
    )
    seats = [Seat("a", model=Voice(wrong)), Seat("b", model=Voice(reply("opt-2")))]
    state = play(Ride(spec(*seats, rounds=0)).run())
    call = state.calls["0/a/opening/1"]
    assert (call.outcome, call.model_reported, call.usage.prompt_tokens) == ("finished", None, None)
    assert set(call.timings) == {"total"}


def test_seat_sees_its_own_persona_only() -> None:
    a, b = Voice(reply("opt-1")), Voice(reply("opt-2"))
    seats = [
        Seat("a", model=a, persona="You are a pirate.", lens="risk", mood="grill", temperature=0.2),
        Seat("b", model=b, persona="You are a nun.", max_tokens=99, effort="low"),
    ]
    play(Ride(spec(*seats, rounds=1)).run())
    everything_b = "".join(call.prompt for call in b.calls)
    assert a.calls[0].messages[0].text.startswith("You are a pirate.")
    assert "pirate" not in everything_b
    assert "risk" not in everything_b
    assert a.calls[0].settings == {"temperature": 0.2}
    assert b.calls[1].settings == {"effort": "low", "max_tokens": 99}


def test_call_tells_what_a_function_needs() -> None:
    definition = voices("opt-1", "opt-2", rounds=1)
    play(Ride(definition).run())
    opening, critique = voice(definition.seats[0]).calls
    assert (opening.seat, opening.round, opening.purpose) == ("a", 0, "opening")
    assert (critique.round, critique.purpose) == (1, "critique")
    assert opening.brief == definition.brief
    assert opening.deadline_s == 300.0


def test_listener_that_raises_ends_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def broken(event: Any, state: Any) -> None:
        raise ValueError("no view")

    definition = voices("opt-1", "opt-2", rounds=1)
    state = play(Ride(definition, listeners=[broken]).run())
    assert state.status == "done"
    assert "a listener failed at event 1" in caplog.text


def test_progress_that_raises_fails_no_call(caplog: pytest.LogCaptureFixture) -> None:
    def broken(seat: str, chars: int) -> None:
        raise ValueError("no view")

    definition = spec(
        Seat("a", model=scripted([say(stance="Ship")])),
        Seat("b", model=scripted([say(stance="Wait")])),
        rounds=0,
    )
    state = play(Ride(definition, on_progress=broken).run())
    assert not any(call.error for call in state.calls.values())
    assert "a view of the progress failed" in caplog.text


def test_first_output_is_measured() -> None:
    definition = spec(
        Seat("a", model=scripted([wait(1.5, say(stance="Ship"))])),
        Seat("b", model=scripted([say(stance="Wait")])),
        rounds=0,
    )
    state = play(Ride(definition).run())
    timings = state.calls["0/a/opening/1"].timings
    assert timings == {"first_output": 1.5, "total": 1.5}


def test_lone_counted_seat_takes_no_consensus() -> None:
    definition = spec(
        Seat("a", model=Voice(reply("opt-1"))),
        Seat("muse", model=Voice(reply("opt-1")), mood="rant"),
        rounds=1,
    )
    state = play(Ride(definition).run())
    assert (state.stop_reason, state.completed_rounds) == ("rounds", 1)


def test_own_chairman_hears_what_it_needs() -> None:
    chairman = Voice(VERDICT)
    definition = spec(
        Seat("a", model=Voice(reply("opt-1", "slow team"))),
        Seat("b", model=scripted([say(stance="Wait", assumptions=["money is there"]), fail()])),
        rounds=1,
        chairman=Seat("boss", model=chairman, persona="Judge hard."),
    )
    state = play(Ride(definition).run())
    (call,) = chairman.calls
    assert (call.purpose, call.seat, call.round) == ("verdict", "boss", 1)
    assert call.messages[0].text.startswith("Judge hard.")
    prompt = call.messages[1].text
    for part in ("slow team", "money is there", "carried over from an earlier round: b"):
        assert part in prompt
    assert state.verdict is not None
    assert (state.verdict.pick, state.verdict.kill_criteria) == ("opt-1", ["it breaks"])
