"""What goes wrong among several seats: endings, silence, the chair, budgets, resuming, old logs."""

from __future__ import annotations

import asyncio
import inspect
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rt_notebook as rt
from tests.cases.catalogue import case, given
from tests.cases.reviews import (
    calls_of,
    heard,
    others,
    prompts_of,
    review,
    row_of,
    speaker,
)
from tests.engine.debates import VERDICT, reply

WAIT_S = 20.0


def _until_gate(handle: rt.Handle) -> Any:
    """Waits for an open gate and returns the state."""
    found = rt.wait(handle.id, WAIT_S)
    assert found.gate is not None, found.status
    return found


def _until(holds: Callable[[], bool]) -> None:
    """Waits until something holds."""
    deadline = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < deadline, "it never came to that"
        time.sleep(0.01)


def _asked(*seats: rt.Seat) -> list[int]:
    """Returns how often each seat was asked."""
    return [len(calls_of(seat)) for seat in seats]


# ---- endings -------------------------------------------------------------------------------------


@case("a3-scn-02")
def test_agreement_ends_the_debate_at_once() -> None:
    """Three seats of one mind: no second round, whatever they would go on to say."""
    seats = [speaker(name, reply("opt-1", f"{name} thanks you")) for name in ("ana", "bo", "cy")]
    result = review(*seats, rounds=8).run_sync()
    assert (result.stop_reason, result.state.completed_rounds) == ("consensus", 0)
    assert _asked(*seats) == [1, 1, 1]


@case("a3-scn-02")
def test_thanks_without_end_are_a_loop() -> None:
    """Two camps that only repeat themselves are stopped after the first repetition."""
    seats = [
        speaker("ana", reply("opt-1", "thank you for this fine point, I agree with it entirely")),
        speaker(
            "bo", reply("opt-2", "thanks, likewise, and I will gladly go on from here with it")
        ),
    ]
    result = review(*seats, rounds=8, loop_threshold=0.85).run_sync()
    assert (result.stop_reason, _asked(*seats)) == ("loop", [2, 2])


@case("a3-scn-03")
def test_end_at_the_last_round_says_so() -> None:
    result = review(*others(), rounds=2).run_sync()
    assert (result.stop_reason, result.state.stop_reason) == ("rounds", "rounds")
    assert rt.debates().loc[0, "stop_reason"] == "rounds"
    shown = [str(result), *result._repr_mimebundle_().values()]
    assert all("all rounds used" in text for text in shown)


@case("a3-scn-04")
def test_question_that_pauses_the_debate_is_named() -> None:
    ana = speaker("ana", reply("opt-1", "a", question="What is the budget?"))
    handle = review(ana, *others(), unattended=False, question_wait_s=60).start()
    found = _until_gate(handle)
    assert (found.status, found.gate.mode, found.gate.round) == ("waiting", "questions", 0)
    (question,) = found.gate.questions
    assert (question.id, question.askers, question.text) == ("q1", ["ana"], "What is the budget?")
    assert found.next_action.type == "ask_user"
    (opened,) = [e.body for e in rt.load(handle.id).events if e.kind == "gate_opened"]
    assert [entry["id"] for entry in opened["questions"]] == ["q1"]
    rt.stop(handle.id)
    handle.result(WAIT_S)


# ---- silence -------------------------------------------------------------------------------------


@case("a3-seat-05", "a3-seat-06")
@pytest.mark.parametrize("id", ["a3-seat-05", "a3-seat-06"])
def test_silence_is_a_failed_call_and_no_opinion(id: str) -> None:
    """No second try: silence was an answer, and it may have been paid for."""
    ana, bo, cy = speaker("ana", given(id)), *others()
    result = review(ana, bo, cy).run_sync()
    row = row_of(result)
    assert (row["error"], row["stance_key"], row["passed"]) == ("empty", None, False)
    assert _asked(ana, bo, cy) == [2, 2, 2]
    assert (result.status, result.verdict.status) == ("done", "ready")
    assert result.state.tally == {"opt-1": ["cy"], "opt-2": ["bo"]}
    assert result.verdict.participation["missing"] == ["ana"]


@case("a3-human-08")
def test_blank_answer_is_no_answer_and_ends_the_gate() -> None:
    """It is kept as unanswered, and told to the seats as open, never as a fact."""
    ana = speaker("ana", reply("opt-1", "a", question="What is the budget?"), reply("opt-1", "b"))
    bo, cy = others()
    handle = review(
        ana, bo, cy, unattended=False, question_wait_s=60, checkpoint_wait_s=0, rounds=2
    ).start()
    _until_gate(handle)
    handle.answer({"q1": given("a3-human-08")}, message=given("a3-human-08"))
    result = handle.result(WAIT_S)
    assert result.questions[["answer", "answered_by"]].isna().all(axis=None)
    (answered,) = [e.body for e in result.events if e.kind == "gate_answered"]
    assert (answered["answers"], answered["message"]) == ({}, None)
    assert [gate.questions for gate in result.fold.gates[1:]] == [[]]
    later = prompts_of(bo)[2]
    assert later.count("What is the budget?") == 1
    assert "questions still open, unanswered>>>\n- What is the budget?\n<<<" in later
    assert "The person answers" not in later


@case("a3-seatname-12")
def test_seat_with_a_bad_name_is_named() -> None:
    with pytest.raises(rt.SeatError, match="seat name '' has 0 characters"):
        rt.Seat("")
    with pytest.raises(rt.SeatError, match="two seats are named 'ana'"):
        review(rt.Seat("ana"), rt.Seat("ana"), rt.Seat("  bo "))
    assert rt.Seat("  bo ").name == "bo"
    assert [seat.name for seat in review(rt.Seat("ana"), rt.Seat("  bo ")).spec.seats] == [
        "ana",
        "bo",
    ]


# ---- the chair, and who is missing ---------------------------------------------------------------


@case("a3-scn-15")
def test_chair_that_fails_loses_no_reply_and_is_asked_again_alone() -> None:
    ana, bo, cy = speaker("ana", reply("opt-1", "a")), *others()
    chair = speaker("boss", TimeoutError(), TimeoutError(), VERDICT)
    result = review(ana, bo, cy, chairman=chair).run_sync()
    assert (result.status, result.verdict.status, result.verdict.pick) == ("done", "failed", None)
    assert len(result.replies) == 6
    assert result.verdict.tally == {"opt-1": ["ana", "cy"], "opt-2": ["bo"]}
    assert result.state.next_action.type == "verdict"
    models = {seat.name: seat.function for seat in (ana, bo, cy, chair) if seat.function}
    again = rt.verdict(result.id, models=models).result(WAIT_S)
    assert again.verdict.status == "failed"
    last = rt.verdict(result.id, models=models).result(WAIT_S)
    assert (last.verdict.status, last.verdict.pick) == ("ready", "opt-1")
    assert _asked(ana, bo, cy, chair) == [2, 2, 2, 3]


@case("a3-scn-17")
def test_missing_seat_is_named_to_chair_and_reader() -> None:
    chair = speaker("boss", VERDICT)
    silent = speaker("ana", TimeoutError())
    result = review(silent, *others(), chairman=chair).run_sync()
    assert result.verdict.participation == {
        "counted": ["bo", "cy"],
        "carried": [],
        "missing": ["ana"],
    }
    (prompt,) = prompts_of(chair)
    assert "Seats without a position (their view is missing): ana" in prompt
    assert "2 of 3 seats" in " ".join(str(result).split())
    assert result.replies["error"].dropna().tolist() == ["timeout", "timeout"]


@case("a3-scn-55")
def test_dissenter_cannot_be_left_out_by_going_on() -> None:
    """Seats stay the same for resume and extend; a seat that fails keeps its last position."""
    cy = speaker("cy", reply("opt-2", "no"), rt.CallError("gone", kind="provider"))
    ana, bo = (speaker(name, reply("opt-1", "yes")) for name in ("ana", "bo"))
    result = review(ana, bo, cy, limits=rt.Limits(max_calls=6, on_limit="pause")).run_sync()
    assert (result.status, result.stop_reason) == ("paused", "limit")
    assert "seats" not in inspect.signature(rt.resume).parameters
    models: dict[str, Any] = {seat.name: seat.function for seat in (ana, bo, cy)}
    done = rt.resume(result.id, limits={"max_calls": 20}, models=models).result(WAIT_S)
    assert (done.status, done.stop_reason) == ("done", "rounds")
    assert done.verdict.tally == {"opt-1": ["ana", "bo"], "opt-2": ["cy"]}
    assert done.verdict.participation["carried"] == ["cy"]
    with pytest.raises(rt.SeatError, match=r"extend keeps the seats \(ana, bo, cy\)"):
        _ = rt.extend(done.id, seats=["ana", "bo"], models=models)


# ---- asking again --------------------------------------------------------------------------------


@case("a3-scn-37")
def test_answer_at_a_gate_repeats_no_call() -> None:
    seats = [speaker("ana", reply("opt-1", "a", question="How much?")), *others()]
    settings: dict[str, Any] = {"unattended": False, "question_wait_s": 60, "checkpoint_wait_s": 60}
    handle = review(*seats, rounds=2, **settings).start()
    _until_gate(handle)
    handle.answer({"q1": "A lot."})
    _until(lambda: (gate := handle.state().gate) is not None and gate.round == 1)
    assert _asked(*seats) == [2, 2, 2]
    handle.answer()
    handle.result(WAIT_S)
    assert _asked(*seats) == [3, 3, 3]


@case("a3-scn-38")
def test_going_on_needs_no_await() -> None:
    seats = others()
    paused = review(*seats, limits=rt.Limits(max_calls=5, on_limit="pause"), rounds=2).run_sync()
    assert paused.status == "paused"
    models: dict[str, Any] = {seat.name: seat.function for seat in seats}
    handle = rt.resume(paused.id, limits={"max_calls": 20}, models=models)
    assert isinstance(handle, rt.Handle)
    assert not asyncio.iscoroutine(handle)
    # It goes on by itself; nobody has to wait for it.
    _until(lambda: rt.state(paused.id).status == "done")
    assert _asked(*seats) == [3, 3]


@case("a3-scn-50")
def test_budget_is_checked_before_it_is_broken() -> None:
    """Seats that can all be asked are asked; the chairman's call is kept; nothing goes over."""
    ana, bo, cy = speaker("ana", reply("opt-1", "a")), *others()
    limits = rt.Limits(max_calls=5, on_limit="pause")
    result = review(ana, bo, cy, rounds=3, limits=limits).run_sync()
    assert (result.status, result.stop_reason, _asked(ana, bo, cy)) == (
        "paused",
        "limit",
        [1, 1, 1],
    )
    (reached,) = [event.body for event in result.events if event.kind == "limit_reached"]
    assert (reached["limit"], reached["used"], reached["bound"]) == ("max_calls", 3, 5)
    models: dict[str, Any] = {seat.name: seat.function for seat in (ana, bo, cy)}
    done = rt.resume(result.id, limits={"max_calls": 20}, models=models).result(WAIT_S)
    assert (done.status, _asked(ana, bo, cy)) == ("done", [4, 4, 4])


@case("a3-scn-50")
def test_tokens_that_a_round_would_break_are_not_spent() -> None:
    usage = rt.Completion(reply("opt-1", "a"))
    usage.usage = _usage(2_500)
    seats = [speaker("ana", lambda call: usage), *others()]
    limits = rt.Limits(max_tokens=5_000, on_limit="pause")
    with pytest.raises(rt.LimitError, match="max_tokens"):
        review(*seats, limits=rt.Limits(max_tokens=100)).run_sync()
    assert _asked(*seats) == [0, 0, 0]
    result = review(*seats, rounds=3, limits=limits).run_sync()
    assert (result.status, result.stop_reason, _asked(*seats)) == ("paused", "limit", [1, 1, 1])


def _usage(tokens: int) -> Any:
    from rt_notebook.domain.usage import Usage

    return Usage(tokens, 10, None, None, None)


# ---- what seats see ------------------------------------------------------------------------------


@case("a3-scn-48")
def test_opening_is_blind_and_order_is_the_seats() -> None:
    """Whoever answers first sways nobody and stands nowhere else."""

    def slow(seconds: float, text: str) -> Any:
        async def answer(call: rt.Call) -> str:
            await asyncio.sleep(seconds)
            return text

        return answer

    prompts: dict[str, list[str]] = {}
    seats = []
    for name, seconds in (("ana", 0.2), ("bo", 0.1), ("cy", 0.0)):
        text = reply("opt-1" if name == "bo" else "opt-2", f"point of {name}")
        answer = slow(seconds, text)

        async def remember(call: rt.Call, answer: Any = answer) -> str:
            prompts.setdefault(call.seat, []).append(call.messages[-1].text)
            found: str = await answer(call)
            return found

        seats.append(rt.Seat(name, model=remember))
    result = review(*seats).run_sync()
    assert all("point of" not in shown[0] for shown in prompts.values())
    assert len({shown[0] for shown in prompts.values()}) == 1
    assert len({shown[1] for shown in prompts.values()}) == 1
    later = prompts["ana"][1]
    places = [later.index(f"reply of {name}>>>") for name in ("ana", "bo", "cy")]
    assert places == sorted(places)
    assert result.replies["seat"].tolist() == ["ana", "bo", "cy"] * 2


@case("a3-scn-49")
def test_letters_hide_names_and_models() -> None:
    """What a seat says of itself in its own words can't be known; its name is taken out of them."""
    claude = speaker("claude", reply("opt-1", "As Claude I think so", agree=["Seat B"]))
    bo, cy = others()
    result = review(
        claude, bo, cy, anonymous=True, chairman=(chair := speaker("boss", VERDICT))
    ).run_sync()
    seen = "".join(prompts_of(bo) + prompts_of(cy) + prompts_of(chair))
    assert "reply of Seat A" in seen
    assert "function:" not in seen
    assert not any(name in seen for name in ("reply of claude", "Seats: claude", "reply of bo"))
    assert "claude" not in seen.casefold().replace("as claude i think", "")
    # The key is the same in every round, and the tables have the names.
    assert seen.count("<<<") == 2 * seen.count("end>>>")
    assert row_of(result, "claude")["agree_with"] == ["bo"]
    assert "A = " in str(result)


@case("a3-seat-59")
def test_endless_repetition_is_cut_for_everybody_else() -> None:
    """Four thousand lines below STANCE are no stance; the others see the beginning."""
    text = "STANCE: support\n" + "I have finished the task.\n" * 4000
    ana, bo, cy = speaker("ana", text), *others()
    began = time.monotonic()
    result = review(ana, bo, cy).run_sync()
    assert time.monotonic() - began < 10
    row = row_of(result)
    assert (row["valid"], row["stance_key"], row["text"]) == (False, None, text)
    assert max(map(len, prompts_of(bo))) < 20_000
    assert "\n[cut]\n<<<" in prompts_of(bo)[1]
    assert len(str(result)) < 20_000
    assert heard(text.replace("\nI have", "\nNEW:\n- I have"))["error"] is None


# ---- old and broken logs -------------------------------------------------------------------------


def _recorded(path: Path) -> list[str]:
    """Records a review and returns the record's lines."""
    review(rt.Seat("ana"), rt.Seat("bo"), record=path, rounds=0).run_sync()
    return path.read_text(encoding="utf-8").splitlines()


@case("a3-record-40")
def test_record_of_another_schema_is_refused_and_left_alone(tmp_path: Path) -> None:
    """Ours begin at schema 1, which lacks what came later and loads; a newer one is refused."""
    path = tmp_path / "review.jsonl"
    lines = _recorded(path)
    first = json.loads(lines[0])
    assert first["v"] == 1
    for name in ("loop_threshold", "tool_preview", "language", "research"):
        first["body"]["spec"].pop(name, None)
    path.write_text("\n".join([json.dumps(first), *lines[1:]]) + "\n", encoding="utf-8")
    assert rt.load(path).status == "done"

    newer = [json.dumps({**json.loads(line), "v": 2}) for line in lines]
    for text in ("\n".join(newer) + "\n", given("a3-record-40") + "\n"):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(rt.StoreError, match=r"review\.jsonl"):
            rt.load(path)
        assert path.read_text(encoding="utf-8") == text


@case("a3-record-41")
def test_unknown_kind_and_torn_line_lose_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "review.jsonl"
    lines = _recorded(path)
    whole = rt.load(path)
    strange = {**json.loads(lines[-1]), "kind": "hologram", "body": {"x": 1}}
    torn = [*lines[:-1], json.dumps(strange), lines[-1][: len(lines[-1]) // 2]]
    path.write_text("\n".join(torn), encoding="utf-8")
    found = rt.load(path)
    assert found.replies["text"].tolist() == whole.replies["text"].tolist()
    told = "\n".join(found.warnings)
    assert "hologram" in told
    assert "torn" in told or "last line" in told
