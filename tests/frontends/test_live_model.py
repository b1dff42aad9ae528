"""What the page is told, event by event; and that hostile or huge texts stay small and harmless."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rt_notebook.domain.brief import Brief
from rt_notebook.domain.reply import Reply, VerdictText
from rt_notebook.domain.seat import Seat
from rt_notebook.frontends.live_model import message_for, messages_so_far
from rt_notebook.frontends.live_parts import named_options
from rt_notebook.rendering.facts import ending_of
from tests.frontends.scenes import OPTIONS, Scene, make_reply, make_spec, many_limits


def told(scene: Scene, kind: str) -> dict[str, Any]:
    """Returns the message of one type that the last event makes."""
    messages = message_for(scene.events[-1], scene.state)
    return next(message for message in messages if message["type"] == kind)


def shown(part: Any, text: str) -> Any:
    """Returns a point as the page shows it: places count UTF-16 units."""
    if isinstance(part, str):
        return part
    units = text.encode("utf-16-le")
    return units[2 * part[0] : 2 * part[1]].decode("utf-16-le")


def opening(scene: Scene | None = None) -> Scene:
    scene = scene or Scene()
    scene.add("round_started", round=0)
    return scene


def test_header_names_seats_options_and_vendors() -> None:
    seats = (
        Seat("pm", model="openai:gpt-5", lens="cost", color="#112233"),
        Seat("Zoë", model="scripted", mood="rant"),
        Seat("me", model="human"),
    )
    header = told(Scene(make_spec(seats=seats)), "header")
    assert header["question"] == "Should payments become its own service?"
    assert [option["label"] for option in header["options"]] == list(OPTIONS)
    assert [seat["name"] for seat in header["seats"]] == ["pm", "Zoë", "me"]
    assert header["seats"][0]["color"] == "#112233"
    assert header["seats"][0]["role"] == "cost"
    assert [seat["hidden"] for seat in header["seats"]] == [False, True, False]
    assert header["vendors"] == ["openai"]
    assert header["banner"] == "Scripted, so no model is asked there: Zoë."


def test_banner_says_when_no_model_is_asked() -> None:
    header = told(Scene(), "header")
    assert header["banner"].startswith("No model was asked: every seat is scripted.")
    assert header["vendors"] == []


def test_seat_at_work_has_start_time() -> None:
    scene = opening()
    event = scene.ask(0, "dev")
    assert told(scene, "asked") == {
        "type": "asked", "round": 0, "seat": "dev", "at": event.at, "calls": 1
    }  # fmt: skip


def test_reply_carries_stance_points_and_duration() -> None:
    scene = opening()
    reply = make_reply(
        2, new=["Deploys get 😀 independent of each other."], agree_with=["pm"],
        disagree=["none"], question="Who carries the pager at night?",
    )  # fmt: skip
    scene.turn(0, "dev", reply)
    message = told(scene, "reply")
    assert (message["key"], message["label"]) == ("opt-2", "Microservice")
    assert message["agree_with"] == ["pm"]
    assert [shown(part, message["text"]) for part in message["new"]] == reply.new
    assert message["new"] != reply.new
    assert shown(message["question"], message["text"]) == reply.question
    assert "disagree" not in message
    assert message["took_ms"] == 100
    assert "changed_from" not in message


def test_changed_stance_names_the_old_one() -> None:
    scene = opening()
    scene.turn(0, "dev", make_reply(2))
    scene.add("round_started", round=1)
    scene.turn(1, "dev", make_reply(1))
    assert told(scene, "reply")["changed_from"] == "Microservice"
    scene.turn(1, "pm", make_reply(1))
    assert "changed_from" not in told(scene, "reply")


def test_pass_keeps_position_and_is_marked() -> None:
    scene = opening()
    passed = Reply(valid=True, passed=True, stance_key="PASS", raw="PASS")
    scene.turn(0, "dev", passed)
    message = told(scene, "reply")
    assert (message["key"], message["label"]) == ("PASS", "pass")
    assert "color" not in message


def test_invalid_reply_says_why_and_that_it_is_repaired() -> None:
    scene = opening()
    bad = Reply(valid=False, errors=["no STANCE line"], raw="I think so")
    scene.ask(0, "dev")
    scene.reply(0, "dev", bad, repair=True)
    first = told(scene, "reply")
    assert (first["key"], first["errors"], first["repairing"]) == (None, ["no STANCE line"], True)
    scene.reply(0, "dev", make_reply(1), kind="repaired")
    second = told(scene, "reply")
    assert second["repaired"] is True
    assert "repairing" not in second
    assert "errors" not in second


def test_failed_repair_keeps_first_reply_in_view() -> None:
    scene = opening()
    scene.ask(0, "dev")
    scene.reply(0, "dev", Reply(valid=False, errors=["no STANCE"], raw="I think"), repair=True)
    scene.ask(0, "dev", purpose="repair")
    scene.add("call_failed", call="0/dev/repair/1", error="timeout", message="late")
    message = told(scene, "reply")
    assert message["text"] == "I think"
    assert message["errors"] == ["no STANCE", "the second try failed (timeout)"]
    assert "repairing" not in message


@pytest.mark.parametrize("text", ["word " * 40, "жук " * 50, "😀 " * 60])
def test_reply_costs_little_beyond_its_text(text: str) -> None:
    scene = opening()
    points = {"disagree": [text + str(n) for n in range(3)], "new": [text + "a", text + "b"]}
    reply = make_reply(1, **points, assumptions=[text], question=f"{text}?")
    scene.turn(0, "dev", reply)
    messages = message_for(scene.events[-1], scene.state)
    size = len(json.dumps(messages, ensure_ascii=False).encode())
    assert size - len(reply.raw.encode()) < 900


def test_huge_reply_is_cut_and_says_how_much() -> None:
    scene = opening()
    scene.turn(0, "dev", make_reply(1, raw="x" * 50_000, new=["y" * 9_000]))
    message = told(scene, "reply")
    assert len(message["text"]) == 20_000
    assert message["left_out"] == 30_000
    assert len(message["new"][0]) == 2_000


def test_hostile_characters_never_reach_the_page() -> None:
    scene = opening()
    raw = "\x1b[31mred \ud800 \u202egnp.exe"
    scene.turn(0, "dev", make_reply(1, raw=raw, new=["\x9b2J\ud800 point of eleven"]))
    message = told(scene, "reply")
    assert message["text"] == "red \ufffd [U+202E]gnp.exe"
    json.dumps(message, ensure_ascii=False).encode("utf-8")


def test_failure_says_kind_reason_and_next_try() -> None:
    scene = opening()
    event = scene.ask(0, "dev")
    call = event.body["call"]
    scene.add("call_failed", call=call, error="rate_limit", message="slow\ndown", retry_in_s=2.5)
    message = told(scene, "failed")
    assert (message["kind"], message["message"]) == ("rate_limit", "slow down")
    assert (message["final"], message["retry_in_s"]) == (False, 2.5)
    scene.ask(0, "dev", attempt=2)
    scene.add("call_failed", call="0/dev/opening/2", error="auth", message="no key")
    message = told(scene, "failed")
    assert (message["final"], message["down"]) == (True, True)
    assert "retry_in_s" not in message


def test_gate_offers_named_options_as_choices() -> None:
    scene = opening()
    scene.turn(0, "pm", make_reply(1, question="What is the budget?"))
    scene.turn(0, "dev", make_reply(2, question="Microservice or wait one sprint?"))
    scene.turn(0, "rv", make_reply(3))
    scene.open_gate(0)
    gate = told(scene, "gate")
    assert (gate["state"], gate["mode"], gate["holds_left"]) == ("open", "questions", 3)
    assert [(q["id"], q["askers"], q["choices"]) for q in gate["questions"]] == [
        ("q1", ["pm"], []),
        ("q2", ["dev"], ["Microservice", "Wait one sprint"]),
    ]


def test_consensus_gate_says_what_more_costs() -> None:
    scene = opening()
    for seat in ("pm", "dev", "rv"):
        scene.turn(0, seat, make_reply(2))
    scene.add("consensus", round=0, stance_key="opt-2")
    assert told(scene, "notice")["text"] == "Everybody agrees: Microservice"
    scene.open_gate(0, "checkpoint", reopen_calls=3)
    gate = told(scene, "gate")
    assert (gate["reopen_calls"], gate["agreed"]) == (3, "Microservice")


def test_answers_stand_in_transcript_with_source() -> None:
    scene = opening()
    scene.turn(0, "pm", make_reply(1, question="What is the budget?"))
    scene.open_gate(0)
    scene.add("gate_held", round=0, closes_at=99, source="person")
    held = told(scene, "gate")
    assert (held["state"], held["closes_at"], held["holds_left"]) == ("held", 99, 2)
    answers = {"q1": "12,000"}
    scene.add("gate_answered", round=0, answers=answers, message="Mind the audit", source="agent")
    assert told(scene, "gate") == {
        "type": "gate", "state": "answered", "round": 0, "source": "agent",
        "answers": [{"question": "What is the budget?", "text": "12,000"}],
        "message": "Mind the audit",
    }  # fmt: skip
    scene.add("gate_closed", round=0, why="answered")
    assert told(scene, "gate")["why"] == "answered"


def test_early_endings_are_told_in_words() -> None:
    scene = opening()
    cases: list[tuple[str, dict[str, Any], str]] = [
        ("nothing_new", {"round": 0}, "Every seat passed"),
        ("loop", {"round": 0, "similarity": 0.91}, "similarity 0.91"),
        ("limit_reached", {"limit": "max_calls", "used": 9, "bound": 10}, "9 of 10 used"),
        ("finish_asked", {"source": "person"}, "verdict was asked for"),
        ("stop_asked", {"source": "person"}, "Stopping"),
        ("finish_asked", {"source": "agent"}, "An agent asked for the verdict"),
        ("stop_asked", {"source": "agent"}, "An agent stops the debate"),
    ]
    for kind, body, words in cases:
        scene.add(kind, **body)
        assert words in told(scene, "notice")["text"]


def test_end_is_told_in_the_report_s_words() -> None:
    for reason in ("rounds", "nothing_new", "loop", "clock", "finished", "stopped", "error"):
        scene = opening()
        scene.add("concluded", status="done", stop_reason=reason)
        assert told(scene, "concluded")["text"] == ending_of(scene.state)
    scene = opening()
    scene.add("consensus", round=1, stance_key="opt-1")
    scene.add("concluded", status="done", stop_reason="consensus")
    assert told(scene, "concluded")["text"] == "everybody agrees after round 1"
    scene.add("interrupted", why="cell")
    assert told(scene, "concluded")["text"] == "interrupted"


def test_verdict_tells_pick_reasons_and_tally() -> None:
    scene = opening()
    scene.turn(0, "pm", make_reply(1))
    scene.turn(0, "dev", make_reply(2))
    scene.add("verdict_started")
    assert told(scene, "verdict")["state"] == "started"
    text = VerdictText(valid=True, pick="opt-1", recommendation="opt-1\nCheaper.", dissent="dev")
    scene.add("verdict_written", verdict=text.to_json())
    verdict = told(scene, "verdict")
    assert (verdict["label"], verdict["rationale"]) == ("Modular monolith", "Cheaper.")
    assert [(row["label"], row["seats"]) for row in verdict["tally"]] == [
        ("Modular monolith", ["pm"]),
        ("Microservice", ["dev"]),
    ]


def test_failed_verdict_shows_nothing_in_its_place() -> None:
    scene = opening()
    scene.turn(0, "pm", make_reply(1))
    scene.add("verdict_started")
    scene.add("verdict_failed", error="timeout", message="no answer within 300 s")
    verdict = told(scene, "verdict")
    assert verdict["state"] == "failed"
    assert verdict["answered"] == [1, 3]
    assert verdict["message"] == "no answer within 300 s"
    assert "label" not in verdict
    assert "rationale" not in verdict


def test_progress_counts_calls_budget_and_share() -> None:
    scene = opening(Scene(make_spec(limits=many_limits())))
    scene.turn(0, "pm", make_reply(1))
    progress = told(scene, "progress")
    assert (progress["calls"], progress["cost"], progress["round"]) == (1, None, 0)
    assert progress["budget"]["max_calls"] == {"bound": 40, "used": 1}
    # The page doesn't count minutes down, so they aren't sent with every reply.
    assert "max_minutes" not in progress["budget"]
    assert progress["fraction"] == pytest.approx(1 / 7, abs=1e-4)
    scene.add("concluded", status="done", stop_reason="rounds")
    assert told(scene, "progress")["fraction"] == 1.0


def test_late_view_gets_the_same_replies() -> None:
    scene = opening()
    scene.turn(0, "pm", make_reply(1, question="What is the budget?"))
    scene.turn(0, "dev", make_reply(2))
    scene.ask(0, "rv")
    scene.add("call_failed", call="0/rv/opening/1", error="timeout", message="late")
    scene.open_gate(0)
    live = [m for e in scene.events for m in message_for(e, scene.state)]
    late = messages_so_far(scene.state)
    for kind in ("reply", "failed", "gate"):
        wanted = [message for message in live if message["type"] == kind]
        assert [message for message in late if message["type"] == kind] == wanted
    assert late[0]["type"] == "header"
    assert late[-1]["type"] == "progress"


@pytest.mark.parametrize(
    ("question", "options", "named"),
    [
        ("Ship or Wait?", ("Ship", "Wait", "Stop"), ["Ship", "Wait"]),
        ("ship later, or ship?", ("Ship", "Ship later"), ["Ship", "Ship later"]),
        ("Does ship later help?", ("Ship", "Ship later"), []),
        ("opt-1 or opt-3?", ("A1", "B2", "C3"), ["A1", "C3"]),
        ("Are shipping and waiting compared?", ("Ship", "Wait"), []),
        ("选择微服务还是单体架构?", ("微服务", "单体架构"), ["微服务", "单体架构"]),
        ("What is the budget?", ("Ship", "Wait"), []),
    ],
)
def test_question_names_options_by_whole_words(
    question: str, options: tuple[str, ...], named: list[str]
) -> None:
    assert named_options(question, Brief(question="?", options=options)) == named
