"""What is believed of reported tokens and money, by whomever and wherever they are told."""

from __future__ import annotations

import math
from typing import Any

import pytest

from rt_notebook.domain.events import Event
from rt_notebook.domain.state import fold
from rt_notebook.domain.usage import MOST_TOKENS, MOST_USD, Usage
from tests.engine.debates import split


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        (0, 0),
        (MOST_TOKENS, MOST_TOKENS),
        (MOST_TOKENS + 1, None),
        pytest.param(10**5_000, None, id="more digits than are printed"),
        (-1, None),
        (1.5, None),
        (math.nan, None),
        ("7", None),
        (True, None),
        ([7], None),
    ],
)
def test_count_is_kept_where_it_can_be(told: Any, kept: int | None) -> None:
    names = ("prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens")
    usage = Usage.from_json(dict.fromkeys(names, told))
    assert usage == Usage(kept, kept, kept, kept)


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        (0, 0.0),
        (3, 3.0),
        (MOST_USD, MOST_USD),
        (MOST_USD + 1, None),
        pytest.param(10**400, None, id="more than a float holds"),
        (-0.01, None),
        (math.nan, None),
        (math.inf, None),
        ("free", None),
        (True, None),
    ],
)
def test_cost_is_kept_where_it_can_be(told: Any, kept: float | None) -> None:
    assert Usage.from_json({}, told) == Usage.from_json({"cost": told}) == Usage(cost=kept)


def test_log_with_impossible_usage_is_folded() -> None:
    """As a provider's report, or an editor, left it."""
    started = {"call": "0/a/opening/1", "round": 0, "seat": "a", "purpose": "opening",
               "attempt": 1, "model": "scripted", "messages_hash": "", "chars": 40}  # fmt: skip
    usage = {"prompt_tokens": -5, "completion_tokens": 10**5_000, "cached_tokens": "3"}
    finished = {"call": started["call"], "text": "PASS", "usage": usage, "cost": math.nan}
    told: list[tuple[str, dict[str, Any]]] = [
        ("created", {"spec": split().model_dump(mode="json"), "unattended": True}),
        ("round_started", {"round": 0}),
        ("call_started", started),
        ("call_finished", finished),
    ]
    state = fold(Event(1, "d", seq, 0, kind, body) for seq, (kind, body) in enumerate(told, 1))
    assert state.usage.to_json() == {
        "calls": 1, "prompt_tokens": 0, "completion_tokens": 0, "cached_tokens": 0, "cost": None,
    }  # fmt: skip
    assert state.usage.estimated_tokens == (40 + len("PASS")) // 4
