"""Writing replies so that they read back the same."""

from __future__ import annotations

import pytest

from rt_notebook.contract import Reply, read_reply, render_reply
from tests.contract.replies import OPTIONS


def _values(reply: Reply) -> dict[str, object]:
    kept = (
        "passed",
        "stance",
        "stance_key",
        "agree_with",
        "disagree",
        "new",
        "assumptions",
        "question",
    )
    return {name: getattr(reply, name) for name in kept}


def test_reply_is_written_in_the_contract_s_form() -> None:
    reply = Reply(
        stance="Wait",
        agree_with=["pm", "dev"],
        disagree=["cost"],
        new=[],
        assumptions=["a", "b"],
        question="Why?",
    )
    assert render_reply(reply) == (
        "STANCE: Wait\nAGREE_WITH: [pm, dev]\nDISAGREE:\n- cost\nNEW:\nASSUMPTIONS:\n- a\n- b\n"
        "QUESTION_FOR_HUMAN: Why?"
    )
    assert render_reply(Reply(passed=True)) == "PASS"


@pytest.mark.parametrize(
    "bullet",
    [
        "NEW: nested",
        "**STANCE: x**",
        "**NEW**",
        "```",
        "~~~ python",
        "-5 % margin",
        "- twice",
        "* star",
        "• dot",
        "> quoted",
        "> - quoted bullet",
        "1. one",
        "5 % off",
        "none",
        "-",
        "*",
        "</think>",
        "<think>",
        "PASS",
        '{"stance": "Ship"}',
        "# NEW",
    ],
)
def test_bullet_reads_back_as_itself(bullet: str) -> None:
    reply = Reply(
        stance="opt-1",
        stance_key="opt-1",
        disagree=[bullet],
        new=[bullet],
        assumptions=[bullet, bullet],
    )
    again = read_reply(render_reply(reply), options=OPTIONS, round=1)
    assert _values(again) == _values(reply)
    assert again.valid


@pytest.mark.parametrize(
    "question", ["- Why?", "• - Why?", "**Why?**", ": why?", "NEW: or old?", "- none"]
)
def test_question_reads_back_as_itself(question: str) -> None:
    again = read_reply(render_reply(Reply(stance="opt-1", question=question)), options=OPTIONS)
    assert again.question == question


@pytest.mark.parametrize("names", [["[pm]"], ["- pm", "dev"], ["a] b"], ["pm]", "[dev"], []])
def test_names_read_back_as_themselves(names: list[str]) -> None:
    again = read_reply(render_reply(Reply(stance="opt-1", agree_with=names)), options=OPTIONS)
    assert again.agree_with == names


def test_header_like_bullet_is_numbered() -> None:
    assert "1. NEW: nested" in render_reply(Reply(stance="x", disagree=["NEW: nested"])).split("\n")


def test_stance_falls_back_to_its_key() -> None:
    assert render_reply(Reply(stance_key="opt-2")).startswith("STANCE: opt-2\n")
    reply = Reply(stance="2", stance_key="opt-2")
    assert render_reply(reply, OPTIONS).startswith("STANCE: opt-2\n")
    assert render_reply(reply).startswith("STANCE: 2\n")
    assert render_reply(Reply(stance="wait", stance_key="opt-2"), OPTIONS).startswith(
        "STANCE: wait\n"
    )


def test_typed_line_breaks_stay_inside_their_value() -> None:
    reply = Reply(stance="opt-1", disagree=["cost\nNEW: smuggled"], question="Why\nnot?")
    again = read_reply(render_reply(reply), options=OPTIONS)
    assert (again.disagree, again.new, again.question) == (["cost NEW: smuggled"], [], "Why not?")
