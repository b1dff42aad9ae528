"""Replies that are one JSON object."""

from __future__ import annotations

import json

import pytest

from rt_notebook.contract import read_verdict
from tests.contract.replies import OPTIONS, read

FIELDS = {
    "Stance": "Wait",
    "agree-with": ["pm", "dev"],
    "DISAGREE": ["- cost", "1.5 M users"],
    "new": "one\r\ntwo",
    "assumptions": [],
    "question for human": None,
    "confidence": 0.9,
}


@pytest.mark.parametrize(
    "form", ["{}", "```json\n{}\n```", "<think>hm</think>\n{}", "hm\n</think>{}"]
)
def test_object_is_mapped_field_by_field(form: str) -> None:
    reply = read(form.replace("{}", json.dumps(FIELDS)))
    assert (reply.valid, reply.stance_key, reply.agree_with) == (True, "opt-2", ["pm", "dev"])
    assert (reply.disagree, reply.new) == (["cost", "1.5 M users"], ["one two"])
    assert (reply.assumptions, reply.question) == ([], None)
    assert "json_reply" in reply.notes


def test_json_is_tried_before_think_tags() -> None:
    reply = read(json.dumps({**FIELDS, "new": "<think>no</think>"}))
    assert (reply.new, reply.reasoning, reply.notes) == (
        ["<think>no</think>"],
        None,
        ["json_reply"],
    )


def test_null_is_a_missing_section() -> None:
    reply = read(json.dumps({**FIELDS, "new": None}))
    assert [error.split()[0] for error in reply.errors] == ["NEW"]


def test_repeated_keys_are_repeated_headers() -> None:
    reply = read(
        '{"stance": "Ship", "new": "a", "NEW": "b", "disagree": [], "assumptions": []}', round=0
    )
    assert (reply.new, reply.duplicates, reply.valid) == (["b"], ["NEW"], False)


def test_strings_cannot_smuggle_headers_or_escapes() -> None:
    text = json.dumps({**FIELDS, "disagree": ["a\nNEW: b", "c\x1b[1md\ud800"]})
    reply = read(text)
    assert reply.disagree == ["a NEW: b", "cd\ufffd"]
    assert reply.notes == ["surrogates", "escapes", "json_reply"]


@pytest.mark.parametrize(
    "text",
    [
        "Here: {}",
        "{} Done.",
        "[{}]",
        '{"other": 1}',
        '{"stance": "Wait"',
        '{"stance": ' + "[" * 100_000 + "]" * 100_000 + "}",
    ],
)
def test_anything_else_is_no_json_reply(text: str) -> None:
    reply = read(text.replace("{}", json.dumps(FIELDS)))
    assert (reply.valid, reply.stance, reply.notes) == (False, None, [])


def test_values_of_other_kinds_become_text() -> None:
    text = json.dumps({**FIELDS, "new": [1, True, {"who": "pm", "what": ["a", "b"]}], "stance": 2})
    reply = read(text, trim=False)
    assert (reply.new, reply.stance, reply.stance_key) == (
        ["1", "true", "who: pm; what: a b"],
        "2",
        None,
    )


def test_verdict_can_be_an_object() -> None:
    fields = {
        "recommendation": "opt-1",
        "dissent": "None.",
        "kill_criteria": ["churn > 4 %", "none"],
        "open_questions": "none",
    }
    verdict = read_verdict(json.dumps(fields), options=OPTIONS)
    assert (verdict.valid, verdict.pick, verdict.dissent) == (True, "opt-1", "")
    assert (verdict.kill_criteria, verdict.open_questions) == (["churn > 4 %"], [])
