"""Seats on `replay:path`: answers from a record, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import rt_notebook as rt
from rt_notebook import session
from rt_notebook.session import Opening
from tests.engine.clocks import play
from tests.recording.scenes import Voices, lines, recorded, write


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "r.jsonl"
    recorded(Voices().review(rounds=2), found)
    return found


def replaying(path: Path, **fields: Any) -> rt.Result:
    model = f"replay:{path}"
    voices = Voices()
    given = {
        "seats": (rt.Seat("pm", model=model), rt.Seat("dev", model=model)),
        "chairman": rt.Seat("chair", model=model),
        "rounds": 2,
        **fields,
    }
    result = play(session.new_run(voices.review(**given), Opening()).main())
    assert voices.calls == []
    return result


def test_seats_answer_from_the_record(path: Path) -> None:
    result, recorded_one = replaying(path), rt.load(path)
    assert result.id != recorded_one.id
    assert result.replies.stance_key.tolist() == recorded_one.replies.stance_key.tolist()
    texts = [[call.text for call in r.fold.calls.values()] for r in (result, recorded_one)]
    assert texts[0] == texts[1]
    assert result.verdict.pick == "opt-1"


def test_each_round_gets_its_own_reply(path: Path) -> None:
    result = replaying(path)
    said = [turn.reply.disagree for turns in result.fold.turns for turn in turns.values()
            if turn.reply is not None]  # fmt: skip
    assert said == [[f"point {n} for {key}"] for n in range(3) for key in ("opt-1", "opt-2")]


def test_miss_names_seat_round_and_what_differs(path: Path) -> None:
    result = replaying(path, question="Should the service ship now?")
    assert result.status == "error"
    found = [error["message"] for error in result.state.errors]
    assert len(found) == 2
    assert "doesn't answer seat 'pm' in round 0 (opening): question: word 3: 'module'" in found[0]
    assert {error["kind"] for error in result.state.errors} == {"not_found"}


def test_seat_that_the_record_doesnt_know_is_told(path: Path) -> None:
    seats = (rt.Seat("pm", model=f"replay:{path}"), rt.Seat("new", model=f"replay:{path}"))
    result = replaying(path, seats=seats, rounds=0)
    assert "it holds no opening of 'new' in round 0" in result.state.errors[0]["message"]


def test_usage_and_latency_are_the_records(path: Path) -> None:
    found = lines(path)
    for line in found:
        if line["kind"] == "call_finished":
            line["body"] |= {"timings": {"total": 9.5}, "usage": {"prompt_tokens": 7}, "cost": 0.5}
    write(path, found)
    result = replaying(path)
    assert {call.timings["total"] for call in result.fold.calls.values()} == {9.5}
    assert result.fold.usage.cost == 3.5


@pytest.mark.parametrize("text", [None, "", "# notes\n"])
def test_unreadable_record_is_refused_before_any_call(tmp_path: Path, text: str | None) -> None:
    path = tmp_path / "x.jsonl"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(rt.SeatError, match=r"model 'replay:.*x\.jsonl': "):
        replaying(path)
    with pytest.raises(rt.SeatError, match="'replay:' names no record"):
        replaying(Path(""), seats=(rt.Seat("a", model="replay:"), rt.Seat("b", model="replay:")))
