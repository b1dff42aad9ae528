"""Reasoning between think tags."""

from __future__ import annotations

import pytest

from rt_notebook.contract import read_verdict
from tests.contract.replies import OPTIONS, VALID, read

DRAFT = "STANCE: opt-2\nNEW: draft"


@pytest.mark.parametrize(
    ("text", "reasoning"),
    [
        (f"<think>{DRAFT}</think>\n{VALID}", DRAFT),
        (f"<THINK>\n{DRAFT}\n</Think>{VALID}", DRAFT),
        (f"Sure.\n<think>a</think>\n<think>b</think>\n{VALID}", "a\nb"),
        (f"{DRAFT}\n</think>\n{VALID}", DRAFT),
        (f"{DRAFT} so be it </think>\n\n{VALID}", f"{DRAFT} so be it"),
        (f"{DRAFT}\n</think>{VALID}", DRAFT),
        (f"<think>a <think> b</think> c</think>\n{VALID}", "a  b c"),
        (f"<think>\n{VALID}", None),
        (f"</think>\n{VALID}", None),
        (f"<think></think>{VALID}", None),
    ],
)
def test_reasoning_before_the_reply_is_kept_apart(text: str, reasoning: str | None) -> None:
    reply = read(text)
    assert (reply.valid, reply.stance_key, reply.new) == (True, "opt-1", ["none"])
    assert (reply.reasoning, reply.notes) == (reasoning, ["think_removed"])


@pytest.mark.parametrize(
    "bullet",
    [
        "strip </think> tags",
        "the <think>x</think> tags",
        "</think>",
        "an open <think>",
        "</think> STANCE: opt-2",
    ],
)
def test_tags_below_the_first_header_are_content(bullet: str) -> None:
    reply = read(VALID.replace("- cost", f"- {bullet}"))
    assert (reply.disagree, reply.reasoning, reply.notes) == ([bullet], None, [])


def test_closing_tag_counts_where_a_whole_reply_follows() -> None:
    assert read("Let me pass.\n</think>\nPASS").passed
    assert read("Let me pass.\n</think>PASS").passed
    assert read("Let me pass. </think>\n\nPASS").passed
    assert not read("Let me pass. </think> PASS").passed
    assert read("Let me pass.\n</think>\n<think>Yes.</think>\nPASS").passed
    assert read("Let me pass.\n</think> <think>Yes.</think><think>Or?</think>\n\nPASS").passed
    assert not read("Let me pass. </think> <think>Yes.</think> PASS").passed
    assert not read("Let me pass.\n</think>\nNo. <think>Yes.</think>\nPASS").passed
    reply = read(
        'Hm </think>\n{"stance": "Wait", "new": [], '
        '"disagree": ["a </think> b"], "assumptions": []}'
    )
    assert (reply.stance_key, reply.disagree, reply.reasoning) == ("opt-2", ["a </think> b"], "Hm")


def test_closing_tag_on_header_s_line_must_begin_it() -> None:
    assert read(f"I say </think> {VALID}").stance is None


def test_verdict_s_reasoning_is_kept_apart() -> None:
    sections = "RECOMMENDATION: opt-1\nDISSENT: none\nKILL_CRITERIA: none\nOPEN_QUESTIONS: none"
    verdict = read_verdict(f"RECOMMENDATION: opt-2?\n</think>\n{sections}", options=OPTIONS)
    assert (verdict.pick, verdict.valid, verdict.reasoning) == (
        "opt-1",
        True,
        "RECOMMENDATION: opt-2?",
    )
