"""Which values an event's body may hold."""

from __future__ import annotations

import math
from typing import Any

import pytest

from rt_notebook.domain.body_types import wrong_key
from rt_notebook.domain.events import BODY_KEYS


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("call_finished", {"call": "c", "text": "", "usage": None, "timings": {"total": 0.5}}),
        ("call_finished", {"tool_calls": [{"name": "x", "preview": ""}], "usage": {"x": "y"}}),
        ("call_failed", {"error": "timeout", "message": None, "retry_in_s": 1}),
        ("gate_opened", {"mode": "blocking", "closes_at": None, "questions": []}),
        ("gate_answered", {"answers": {"q1": None}, "message": None, "round": 0}),
        ("extended", {"mode": None, "rounds": 1, "prompt": ""}),
        ("reply_read", {"reply": {"valid": True, "stance": None, "new": []}}),
        ("round_started", {"round": 0, "of another version": object()}),
        ("of another version", {"round": "any"}),
    ],
)
def test_what_the_log_holds_fits(kind: str, body: dict[str, Any]) -> None:
    assert wrong_key(kind, 0, body) is None


@pytest.mark.parametrize(
    ("kind", "key", "value"),
    [
        ("round_started", "round", "0"),
        ("round_started", "round", -1),
        ("round_started", "round", True),
        ("round_started", "round", 10**30),
        ("call_started", "model", None),
        ("call_started", "seat", ["a"]),
        ("call_finished", "text", None),
        ("call_finished", "usage", [5]),
        ("call_finished", "timings", {"total": "soon"}),
        ("call_finished", "timings", {"total": math.nan}),
        ("call_finished", "tool_calls", ["x"]),
        ("call_failed", "retry_in_s", 1e300),
        ("reply_read", "reply", {"stance": 5}),
        ("reply_read", "reply", {"new": "one"}),
        ("reply_read", "reply", {"valid": "yes"}),
        ("verdict_written", "verdict", {"kill_criteria": [None]}),
        ("gate_opened", "mode", "continue"),
        ("gate_opened", "questions", [{"id": "q1", "text": "?"}]),
        ("gate_opened", "closes_at", 10**15),
        ("gate_answered", "answers", ["x"]),
        ("research_finished", "sources", [5]),
        ("extended", "mode", "questions"),
        ("concluded", "status", "running"),
        ("limit_reached", "used", "9"),
    ],
)
def test_value_of_another_type_is_named(kind: str, key: str, value: Any) -> None:
    assert key in BODY_KEYS[kind].split()
    assert wrong_key(kind, 0, {key: value}) == key


@pytest.mark.parametrize("at", [-1, True, 0.5, 10**15])
def test_time_that_no_calendar_holds_is_named(at: Any) -> None:
    assert wrong_key("round_started", at, {"round": 0}) == "at"


def test_every_key_of_every_kind_has_its_type() -> None:
    for kind, names in BODY_KEYS.items():
        for name in names.split():
            assert wrong_key(kind, 0, {name: object()}) in (name, None)
