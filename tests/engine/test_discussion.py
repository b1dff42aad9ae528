"""Discussions by the driver: order, loops, failures, memory, interjections and the summary."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import Any

import pytest

from rt_notebook.contract.similarity import similarity
from rt_notebook.domain.script import fail, hang, scripted
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.spec import DebateSpec, Limits
from rt_notebook.domain.state import State
from rt_notebook.engine.discussion import loop_similarity, next_step
from rt_notebook.engine.steps import Ask
from rt_notebook.errors import CallError, UsageError
from rt_notebook.providers.base import Call, Completion
from tests.engine.clocks import play, until
from tests.engine.debates import Ride, Voice, voice
from tests.engine.discussions import SUMMARY, WORDS, observing, said, speakers, talk, texts


def run(definition: DebateSpec) -> State:
    return play(Ride(definition).run())


def test_seats_speak_one_after_the_other() -> None:
    at_work: list[str] = []

    async def speaks(call: Call) -> str:
        at_work.append(call.seat)
        assert at_work == [call.seat]
        await asyncio.sleep(1)
        at_work.clear()
        return f"{call.seat} {call.round} {WORDS[call.round]}"

    seats = [Seat(name, model=speaks) for name in ("pm", "dev", "rv")]
    state = run(talk(*seats, rounds=3, loop_threshold=0))
    assert said(state) == [(name, n) for n in (1, 2, 3) for name in ("pm", "dev", "rv")]
    assert (state.round, state.rounds, state.completed_rounds) == (3, 3, 3)
    assert state.positions == {}
    assert not any(turn.repaired for turns in state.turns for turn in turns.values())


def test_turn_says_who_when_and_when_to_finalise() -> None:
    definition = speakers("pm", "dev", rounds=2)
    run(definition)
    first, last = voice(definition.seats[0]).prompts
    assert first.startswith("Topic:\nHow should we ship")
    assert "order in which they speak: pm, dev; 2 rounds planned." in first
    assert "Round 1/2, you are pm.\nYou speak first" in first
    assert "finalise" not in first
    assert "Round 2/2, you are pm." in last
    assert "This is your last turn: finalise your view" in last


def test_what_was_said_only_grows() -> None:
    definition = speakers("pm", "dev", "rv", rounds=4)
    ride = Ride(definition)
    play(ride.run())
    prompts = [call.messages[1].text for call in _in_order(ride)]
    histories = [prompt.rpartition("\n\nRound ")[0] for prompt in prompts]
    assert len(histories) == 12
    for before, after in pairwise(histories):
        assert after.startswith(before)
    for seat in definition.seats:
        assert len({call.messages[0].text for call in voice(seat).calls}) == 1


def _in_order(ride: Ride) -> list[Call]:
    made = [call for seat in ride.spec.seats for call in voice(seat).calls]
    order = [
        (turn[1], [s.name for s in ride.spec.seats].index(turn[0])) for turn in said(ride.state)
    ]
    found = sorted(made, key=lambda call: (call.round, _place(ride, call)))
    assert order == [(call.round, _place(ride, call)) for call in found]
    return found


def _place(ride: Ride, call: Call) -> int:
    return [seat.name for seat in ride.spec.seats].index(call.seat)


@pytest.mark.parametrize(
    ("memory", "seen"),
    [("full", [0, 1, 2]), ("turn", []), ("window:1", [2]), ("window:9", [0, 1, 2])],
)
def test_memory_says_what_a_seat_sees(memory: str, seen: list[int]) -> None:
    definition = speakers("pm", "dev", rounds=2, memory=memory)
    state = run(definition)
    prompt = voice(definition.seats[1]).prompts[1]
    assert [n for n, text in enumerate(texts(state)[:3]) if text in prompt] == seen
    assert definition.observer is not None
    assert all(text in voice(definition.observer).prompts[0] for text in texts(state))


def test_tools_are_shown_and_reasoning_is_not() -> None:
    used = [{"name": "search", "preview": "x" * 400}, {"name": "read", "preview": "y"}]
    spoken = Completion(f"<think>secret plan</think>\n{WORDS[0]}", tool_calls=used)
    definition = talk(
        Seat("pm", model=Voice(spoken)), Seat("dev", model=Voice(WORDS[1])), tool_preview=100
    )
    state = run(definition)
    prompt = voice(definition.seats[1]).prompts[0]
    assert WORDS[0] in prompt
    assert f"[tool search] {'x' * 100}\n[tool read] y" in prompt
    assert "secret" not in prompt
    reply = state.turns[1]["pm"].reply
    assert reply is not None
    assert reply.reasoning == "secret plan"
    assert "secret" not in voice(definition.seats[1]).calls[0].prompt


def test_turn_of_reasoning_alone_says_nothing() -> None:
    definition = talk(
        Seat("pm", model=Voice("<think>hm</think>")), Seat("dev", model=Voice(WORDS[1]))
    )
    state = run(definition)
    reply = state.turns[1]["pm"].reply
    assert reply is not None
    assert (reply.valid, reply.errors) == (False, ["the answer holds nothing but reasoning"])
    assert "pm, round 1" not in voice(definition.seats[1]).prompts[0]
    assert state.status == "done"


@pytest.mark.parametrize(
    ("turns", "ends"),
    [
        ([WORDS[0], WORDS[1], WORDS[0], WORDS[2]], ("loop", 3)),  # its own previous one
        ([WORDS[0], WORDS[0], WORDS[1], WORDS[2]], ("loop", 2)),  # the one before it
        ([WORDS[0], WORDS[1], f"# {WORDS[0]}!", WORDS[2]], ("loop", 3)),
        (["Yes.", "Yes.", "Yes.", "Yes."], ("rounds", 4)),  # too short to count
        ([WORDS[0], WORDS[1], WORDS[2], WORDS[3]], ("rounds", 4)),
        ([WORDS[0], WORDS[1], WORDS[1], WORDS[2]], ("loop", 3)),
    ],
)
def test_loop_is_found_after_every_turn(turns: list[str], ends: tuple[str, int]) -> None:
    seats = (Seat("pm", model=Voice(*turns[::2])), Seat("dev", model=Voice(*turns[1::2])))
    state = run(talk(*seats, rounds=2))
    assert (state.stop_reason, len(state.said)) == ends
    assert state.verdict_status == "ready"
    off = talk(Seat("pm", model=Voice(turns[0])), Seat("dev", model=Voice(turns[0])))
    assert run(off.model_copy(update={"loop_threshold": 0.0})).stop_reason == "rounds"


def test_loop_tells_how_alike_the_turns_are() -> None:
    seats = (Seat("pm", model=Voice(WORDS[0])), Seat("dev", model=Voice(f"{WORDS[0]} Well.")))
    ride = Ride(talk(*seats))
    state = play(ride.run())
    alike = similarity(WORDS[0], f"{WORDS[0]} Well.")
    assert 0.85 < alike < 1
    assert ride.sink.of("loop") == [{"round": 1, "similarity": round(alike, 4)}]
    assert loop_similarity(state) == alike


def test_hidden_seat_neither_loops_nor_fails_it() -> None:
    definition = talk(
        Seat("pm", model=Voice(*WORDS[:2])),
        Seat("dev", model=Voice(*WORDS[2:4])),
        Seat("mumble", mood="rant", model=Voice(WORDS[5])),
        rounds=2,
    )
    state = run(definition)
    assert (state.stop_reason, len(state.said)) == ("rounds", 6)
    assert "an unnamed voice, round 1" in voice(definition.seats[0]).prompts[1]
    assert "mumble" not in voice(definition.seats[0]).prompts[1]


def test_all_seats_failed_in_a_round_is_an_error() -> None:
    definition = talk(
        Seat("pm", model=Voice(WORDS[0], ValueError("no"))),
        Seat("dev", model=Voice(ValueError("no"))),
        rounds=3,
    )
    ride = Ride(definition)
    state = play(ride.run())
    assert (state.status, state.stop_reason, state.round) == ("error", "error", 2)
    assert state.verdict_status == "skipped"
    assert "verdict_started" not in ride.sink.kinds


def test_failed_observer_leaves_the_transcript() -> None:
    definition = speakers("pm", "dev", observer=observing(CallError("down", kind="overloaded"),
                                                          retries=0))  # fmt: skip
    state = run(definition)
    assert (state.status, state.stop_reason, state.verdict_status) == ("done", "rounds", "failed")
    assert len(said(state)) == 2
    assert state.verdict_error == "down"


def test_observer_prompt_replaces_the_instruction() -> None:
    definition = speakers("pm", "dev", observer_prompt="Name the loudest.")
    state = run(definition)
    assert definition.observer is not None
    asked = voice(definition.observer).calls[0]
    assert asked.messages[1].text.endswith("\n\nName the loudest.")
    assert "Executive summary" not in asked.prompt
    assert state.verdict is not None
    assert state.verdict.recommendation == SUMMARY


def test_observer_reads_a_shorter_history_once() -> None:
    too_long = CallError("too long", kind="context_length")
    definition = speakers("pm", "dev", rounds=2, observer=observing(too_long, SUMMARY))
    state = run(definition)
    assert definition.observer is not None
    first, second = voice(definition.observer).prompts
    assert [text in first for text in texts(state)] == [True] * 4
    assert [text in second for text in texts(state)] == [False, False, True, True]
    assert "[turns left out here: the 2 oldest]" in second
    again = speakers("pm", "dev", observer=observing(too_long))
    state = run(again)
    assert state.verdict_status == "failed"
    assert again.observer is not None
    assert len(voice(again.observer).calls) == 2


def test_first_prompt_that_is_too_long_just_fails() -> None:
    definition = talk(
        Seat("pm", model=Voice(CallError("too long", kind="context_length"))),
        Seat("dev", model=Voice(WORDS[0])),
    )
    state = run(definition)
    assert len(voice(definition.seats[0]).calls) == 1
    assert state.turns[1]["pm"].error == "context_length"


def test_word_is_in_every_memory() -> None:
    async def main(memory: str) -> list[str]:
        definition = speakers("pm", "dev", "rv", memory=memory)
        ride = Ride(definition)

        def listen(event: Any, state: State) -> None:
            if event.kind == "reply_read" and event.body["seat"] == "pm":
                words.append(asyncio.ensure_future(ride.answer(message="Mind the budget.")))

        words: list[asyncio.Future[None]] = []
        ride.debate._listeners.append(listen)
        await ride.run()
        return [voice(seat).prompts[0] for seat in definition.seats]

    for memory in ("full", "turn", "window:1"):
        prompts = play(main(memory))
        told = ["The person says: Mind the budget." in prompt for prompt in prompts]
        assert told == [False, True, True], memory


@pytest.mark.parametrize(
    ("answers", "message", "problem"),
    [
        ({"q1": "yes"}, None, "a discussion asks no questions; .*not sent: q1: yes"),
        (None, "  ", "the message is empty"),
        (None, "x" * 8_001, "the message has 8,001 characters; 8,000 are allowed"),
    ],
)
def test_word_that_does_not_fit_is_refused(answers: Any, message: Any, problem: str) -> None:
    async def main() -> None:
        ride = Ride(talk(Seat("pm", model=scripted([hang()])), Seat("dev")))
        task = asyncio.ensure_future(ride.run())
        await until(lambda: ride.debate.in_flight)
        with pytest.raises(UsageError, match=problem):
            await ride.answer(answers, message)
        await ride.stop()
        assert (await task).status == "stopped"

    play(main())


def test_finish_leads_to_the_summary_of_what_is_there() -> None:
    async def main() -> State:
        seats = (
            Seat("pm", model=Voice(*WORDS[:2])),
            Seat("dev", model=scripted([WORDS[2], hang()])),
        )
        ride = Ride(talk(*seats, rounds=5, observer=observing()))
        task = asyncio.ensure_future(ride.run())
        await until(lambda: len(ride.state.said) == 1)
        with pytest.raises(UsageError, match=r"no complete round .* wait for the first round"):
            await ride.finish()
        await until(lambda: len(ride.state.said) == 3 and ride.debate.in_flight)
        await ride.finish()
        return await task

    state = play(main())
    assert (state.status, state.stop_reason, state.completed_rounds) == ("done", "finished", 1)
    assert state.turns[2]["dev"].cut_short


def test_paused_at_a_limit_goes_on_with_a_higher_one() -> None:
    limits = Limits(max_calls=4, on_limit="pause")
    ride = Ride(speakers("pm", "dev", rounds=3, limits=limits))
    state = play(ride.run())
    assert (state.status, state.stop_reason, len(said(state))) == ("paused", "limit", 3)
    more = Ride(ride.spec, log=ride.sink).with_limits(max_calls=20)
    state = play(more.run())
    assert (state.status, state.stop_reason, len(said(state))) == ("done", "rounds", 6)


def test_next_step_asks_one_seat_at_a_time() -> None:
    steps: list[tuple[str, ...]] = []

    def listen(event: Any, state: State) -> None:
        step = next_step(state) if event.kind in ("round_started", "reply_read") else None
        if isinstance(step, Ask):
            steps.append(step.seats)

    play(Ride(speakers("pm", "dev", rounds=2), listeners=[listen]).run())
    assert steps == [("pm",), ("dev",), ("pm",), ("dev",)]


def test_scripted_seats_hold_a_discussion_of_their_own() -> None:
    from rt_notebook.config import BUILT_IN

    definition = talk(*BUILT_IN, rounds=3)
    state, again = run(definition), run(definition)
    assert (state.stop_reason, len(said(state))) == ("rounds", 9)
    assert texts(state) == texts(again)
    assert len(set(texts(state))) == 9
    other = run(talk(*BUILT_IN, rounds=3, question="Which editor?"))
    assert texts(other) != texts(state)


def test_rate_limited_seat_is_tried_again() -> None:
    steps = scripted([fail("rate_limit", retry_after_s=1), WORDS[0]])
    state = run(talk(Seat("pm", model=steps), Seat("dev", model=Voice(WORDS[1]))))
    assert said(state) == [("pm", 1), ("dev", 1)]
    assert len(state.turns[1]["pm"].calls) == 2
