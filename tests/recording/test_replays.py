"""Replays of what can happen in a debate: repairs, failures, gates, halts, discussions."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import rt_notebook as rt
from rt_notebook import session
from rt_notebook.analysis.result import Result
from rt_notebook.domain.brief import Brief
from rt_notebook.domain.events import Event
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.domain.state import State
from rt_notebook.domain.usage import Usage
from rt_notebook.providers.base import Completion
from rt_notebook.running import DebateRun
from tests.engine.clocks import play, ticks
from tests.engine.debates import reply
from tests.recording.scenes import (
    VERDICT,
    Voices,
    answered,
    assert_same,
    kinds,
    lines,
    recorded,
    run_of,
    stances,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "r.jsonl"


def replayed(first: Result, spec: Any, path: Path) -> Result:
    """Replay, check that all is the same and nobody was called, and return the result."""
    voices = Voices()
    before = path.read_bytes()
    second = recorded(spec(voices), path, "none", attended=True)
    assert voices.calls == []
    assert_same(first, second)
    assert path.read_bytes() == before
    assert session.load(path).events == first.events
    return second


def test_repairs_retries_and_failures_come_back(path: Path) -> None:
    def spec(voices: Voices) -> DebateSpec:
        seats = (
            voices.seat("pm", "no header at all", *stances("opt-1")),
            voices.seat("dev", rt.CallError("slow down", kind="rate_limit"), *stances("opt-2")),
            voices.seat("rv", rt.CallError("no such key", kind="auth")),
            voices.seat("qa", "garbage", "more garbage", "worse"),
        )
        return voices.review(seats=seats, rounds=2)

    first = recorded(spec(Voices()), path)
    assert {"repaired", "call_failed"} <= set(kinds(path))
    second = replayed(first, spec, path)
    assert second.calls.error.dropna().tolist() == ["rate_limit", "auth"]


def test_usage_tools_and_request_ids_come_back(path: Path) -> None:
    answer = Completion(
        reply("opt-1", "a"),
        ({"name": "look_up", "preview": "42"},),
        Usage(100, 20, 50, 5, 0.1),
        "model-2",
        "req-7",
        {"queued": 0.25},
    )

    def spec(voices: Voices) -> DebateSpec:
        seats = (voices.seat("pm", answer), voices.seat("dev", *stances("opt-2")))
        return voices.review(seats=seats)

    first = recorded(spec(Voices()), path)
    second = replayed(first, spec, path)
    assert second.tool_calls.name.tolist() == ["look_up", "look_up"]
    assert second.fold.usage.cost == pytest.approx(0.2)
    assert {call.request_id for call in second.fold.calls.values()} == {"req-7", None}


def asking(voices: Voices, **fields: Any) -> DebateSpec:
    asks = stances("opt-1", question="What is the budget?")
    seats = (voices.seat("pm", *asks), voices.seat("dev", *stances("opt-2")))
    return voices.review(**{"seats": seats, "rounds": 2, "unattended": False, **fields})


def answering(run: DebateRun, event: Event, state: State) -> None:
    if event.kind == "gate_opened":
        run.hold()
        answers = {"q1": "A million"} if state.gate and state.gate.questions else None
        run.answer(answers, message=f"after round {event.body['round']}", source="agent")


def test_answers_and_holds_come_back_and_no_gate_opens(path: Path) -> None:
    first = answered(asking(Voices()), path, answering)
    assert kinds(path).count("gate_held") == 2
    assert [note.text for note in first.fold.notes] == [
        "A million", "after round 0", "after round 1",
    ]  # fmt: skip

    async def watched() -> Result:
        run = run_of(asking(Voices()), path, attended=True)
        run.ready = pytest.fail  # asked before a gate opens
        return await run.main()

    assert_same(first, play(watched()))
    replayed(first, asking, path)


def test_gate_whose_questions_match_takes_its_recorded_answer(path: Path) -> None:
    answered(asking(Voices()), path, answering)
    voices = Voices()
    changed = (
        voices.seat("pm", *stances("opt-1", question="What is the  budget?")),
        voices.seat("dev", *stances("opt-2"), persona="You pay."),
    )
    run = run_of(asking(voices, seats=changed), path, "new", attended=True)
    result = play(run.main())
    assert [note.text for note in result.fold.notes] == [
        "A million", "after round 0", "after round 1",
    ]  # fmt: skip
    assert [gate.why for gate in result.fold.gates] == ["answered", "answered"]


def test_gate_with_another_question_opens(path: Path) -> None:
    answered(asking(Voices(), rounds=1), path, answering)
    voices = Voices()
    changed = (
        voices.seat("pm", *stances("opt-1", question="Who decides?"), lens="cost"),
        voices.seat("dev", *stances("opt-2")),
    )
    run = run_of(asking(voices, seats=changed, rounds=1), path, "new", attended=True)
    result = play(run.main())  # its window ends by itself
    assert [gate.why for gate in result.fold.gates] == ["timeout"]


def test_recording_doesnt_depend_on_whether_somebody_is_there(path: Path) -> None:
    first = answered(asking(Voices()), path, answering)
    voices = Voices()
    again = recorded(asking(voices, unattended=True), path, "none", attended=False)
    assert voices.calls == []
    assert first.events == again.events


@pytest.mark.parametrize("verb", ["finish", "stop"])
def test_halts_come_back(path: Path, verb: str) -> None:
    def steer(run: DebateRun, event: Event, state: State) -> None:
        body = event.body
        if event.kind == "call_started" and (body["seat"], body["round"]) == ("dev", 1):
            getattr(run, verb)()

    def spec(voices: Voices) -> DebateSpec:
        return voices.review(rounds=2)

    first = answered(spec(Voices()), path, steer)
    assert first.stop_reason == {"finish": "finished", "stop": "stopped"}[verb]
    replayed(first, spec, path)


def test_limit_consensus_and_loop_come_back(path: Path) -> None:
    def limited(voices: Voices) -> DebateSpec:
        return voices.review(rounds=5, limits=rt.Limits(max_calls=6))

    def agreed(voices: Voices) -> DebateSpec:
        seats = (voices.seat("pm", *stances("opt-1")), voices.seat("dev", *stances("opt-1")))
        return voices.review(rounds=5, seats=seats)

    def looping(voices: Voices) -> DebateSpec:
        seats = (
            voices.seat("pm", reply("opt-1", "the same words as ever before, once more and again")),
            voices.seat("dev", reply("opt-2", "nothing moves here, and nothing ever will move")),
        )
        return voices.review(rounds=5, seats=seats, loop_threshold=0.5)

    for spec, reason in ((limited, "limit"), (agreed, "consensus"), (looping, "loop")):
        path = path.with_name(f"{reason}.jsonl")
        first = recorded(spec(Voices()), path)
        assert first.stop_reason == reason
        replayed(first, spec, path)


def test_failed_verdict_and_failed_debate_come_back(path: Path) -> None:
    def mute(voices: Voices) -> DebateSpec:
        return voices.review(chairman=voices.seat("chair", "nothing", "again nothing"))

    def dead(voices: Voices) -> DebateSpec:
        error = rt.CallError("gone", kind="not_found")
        return voices.review(seats=(voices.seat("pm", error), voices.seat("dev", error)))

    statuses = []
    for name, spec in (("mute", mute), ("dead", dead)):
        path = path.with_name(f"{name}.jsonl")
        first = recorded(spec(Voices()), path)
        statuses.append((first.status, first.verdict.status))
        replayed(first, spec, path)
    assert statuses == [("done", "failed"), ("error", "skipped")]


def test_anonymous_debate_comes_back(path: Path) -> None:
    def spec(voices: Voices) -> DebateSpec:
        seats = (
            voices.seat("pm", *stances("opt-1", agree=["Seat B"])),
            voices.seat("dev", *stances("opt-2")),
            voices.seat("ghost", "I fear the worst. STANCE: opt-2", mood="rant"),
        )
        return voices.review(seats=seats, anonymous=True, rounds=2)

    replayed(recorded(spec(Voices()), path), spec, path)


def test_discussion_with_an_interjection_comes_back(path: Path) -> None:
    def spec(voices: Voices) -> DebateSpec:
        seats = (voices.seat("pm", "I begin.", "And I go on."), voices.seat("dev", "Well.", "Yes."))
        return DebateSpec(
            kind="discussion", brief=Brief(question="Tea or coffee?"), seats=seats, rounds=2,
            observer=voices.seat("obs", "They spoke."), loop_threshold=0,
        )  # fmt: skip

    def steer(run: DebateRun, event: Event, state: State) -> None:
        if event.kind == "reply_read" and event.body["seat"] == "pm" and event.body["round"] == 1:
            run.answer(message="Mind the water.")

    first = answered(spec(Voices()), path, steer)
    assert "interjection" in kinds(path)
    replayed(first, spec, path)


def test_later_speakers_are_asked_again_where_one_changed(path: Path) -> None:
    def spec(voices: Voices, **dev: Any) -> DebateSpec:
        seats = (
            voices.seat("pm", "I begin."),
            voices.seat("dev", "Well.", **dev),
            voices.seat("rv", "Hm."),
        )
        return DebateSpec(
            kind="discussion", brief=Brief(question="Tea or coffee?"), seats=seats, rounds=1,
            observer=voices.seat("obs", "They spoke."), loop_threshold=0,
        )  # fmt: skip

    recorded(spec(Voices()), path)
    voices = Voices()
    changed = voices.seat("dev", "Not at all.", persona="You hate tea.")
    given = spec(voices)
    given = given.model_copy(update={"seats": (given.seats[0], changed, given.seats[2])})
    result = recorded(given, path, "new")
    assert [name for name, _, _ in voices.calls] == ["dev", "rv", "obs"]
    assert_same(result, recorded(given, path, "none"))


def test_interrupted_record_is_completed_as_the_same_debate(path: Path) -> None:
    async def cut() -> DebateRun:
        run = run_of(Voices().review(rounds=2), path)
        task = asyncio.create_task(run.main())
        while run.fold.round < 1 or not run.fold.turns[1]:
            await ticks(1)
        task.cancel()
        await asyncio.wait([task])
        return run

    first = play(cut())
    assert first.result().status == "interrupted"
    assert kinds(path)[-1] == "interrupted"
    with pytest.raises(rt.RecordMismatchError, match=r"unfinished \(status interrupted\)"):
        recorded(Voices().review(rounds=2), path)
    voices = Voices()
    second = recorded(voices.review(rounds=2), path, "new")
    assert (second.id, second.status) == (first.id, "done")
    assert all(round >= 1 for _, round, _ in voices.calls)
    assert [row.id for row in session.rows()] == [first.id]
    again = Voices()
    assert_same(second, recorded(again.review(rounds=2), path, "none"))
    assert again.calls == []


def test_debate_resumed_in_the_store_completes_its_record_without_a_call(path: Path) -> None:
    result = recorded(Voices().review(rounds=1), path)
    whole = path.read_bytes()
    found = path.read_text("utf-8").splitlines(keepends=True)
    place = next(n for n, line in enumerate(lines(path)) if line["kind"] == "verdict_started")
    path.write_text("".join(found[: place + 1]), encoding="utf-8")
    voices = Voices()
    assert_same(result, recorded(voices.review(rounds=1), path, "new"))
    assert (voices.calls, path.read_bytes()) == ([], whole)


def test_seat_order_doesnt_depend_on_who_was_faster(path: Path) -> None:
    async def slow(call: rt.Call) -> str:
        await asyncio.sleep(5 if call.round == 0 else 1)
        return reply("opt-1", f"slow {call.round}")

    async def quick(call: rt.Call) -> str:
        return "broken" if call.purpose == "opening" else reply("opt-2", f"quick {call.round}")

    def spec(voices: Voices) -> DebateSpec:
        seats = (rt.Seat("slow", model=slow), rt.Seat("quick", model=quick))
        return voices.review(seats=seats, chairman=voices.seat("chair", VERDICT))

    first = recorded(spec(Voices()), path)
    asked = [line["body"]["seat"] for line in lines(path) if line["kind"] == "call_started"]
    assert asked == ["slow", "quick", "quick", "slow", "quick", "chair"]
    ended = [line["body"]["call"] for line in lines(path) if line["kind"] == "call_finished"]
    assert [call.split("/")[1] for call in ended] == [
        "slow", "quick", "quick", "slow", "quick", "chairman",
    ]  # fmt: skip
    assert [line["seq"] for line in lines(path)] == list(range(1, len(lines(path)) + 1))
    assert_same(first, recorded(spec(Voices()), path, "none"))


def test_replay_tells_listeners_every_event(path: Path) -> None:
    recorded(Voices().review(), path)
    told: list[tuple[int, str, int]] = []
    run = run_of(Voices().review(), path)
    run.listeners.append(lambda event, state: told.append((event.seq, event.kind, state.revision)))
    play(run.main())
    assert [kind for _, kind, _ in told] == kinds(path)
    assert all(seq == revision for seq, _, revision in told)
