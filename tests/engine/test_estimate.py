"""What a review would cost: exact numbers, warnings, and limits that are too low."""

from __future__ import annotations

from typing import Any

import pytest

from rt_notebook.contract.prompts import Prompts
from rt_notebook.domain.brief import Brief
from rt_notebook.domain.script import say, scripted
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.spec import DebateSpec, Limits
from rt_notebook.engine.estimate import Range, check_limits, estimate, spec_warnings
from rt_notebook.errors import LimitError
from rt_notebook.providers.base import Call
from tests.engine.clocks import play
from tests.engine.debates import Ride, split, voices


@pytest.mark.parametrize(
    ("seats", "rounds", "calls"),
    [(2, 1, Range(3, 5, 10)), (3, 2, Range(4, 10, 20)), (2, 0, Range(3, 3, 6))],
)
def test_calls_follow_from_seats_and_rounds(seats: int, rounds: int, calls: Range) -> None:
    found = estimate(voices(*["opt-1"] * seats, rounds=rounds))
    assert found.calls == calls


def test_size_that_fits_most_decisions_is_five_calls() -> None:
    definition = split(rounds=1)
    assert estimate(definition).calls.expected == 5
    assert play(Ride(definition).run()).usage.calls == 5


def test_tokens_are_characters_by_four() -> None:
    definition = voices("opt-1", "opt-2", rounds=1)
    prompts = Prompts(definition)
    brief = [(len(prompts.system(seat)) + len(prompts.opening())) // 4 for seat in definition.seats]
    found = estimate(definition)
    asked = len(prompts.opening()) + len(prompts.chairman_system(definition.chairman))
    verdict = asked // 4 + 2 * 400
    assert found.prompt_tokens.min == sum(brief) + verdict
    assert found.prompt_tokens.expected == 2 * sum(brief) + 2 * 2 * 400 + verdict
    assert found.prompt_tokens.max == 2 * found.prompt_tokens.expected
    assert found.completion_tokens == Range(2 * 400 + 600, 4 * 400 + 600, 2 * (4 * 400 + 600))


@pytest.mark.parametrize("kind", ["review", "discussion"])
def test_whole_brief_is_sent_to_whom_has_the_last_word_too(kind: Any) -> None:
    options = () if kind == "discussion" else ("Ship", "Wait")
    briefs = [
        Brief(question="Ship now?", options=options, context=context)
        for context in (None, "x" * 40_000)
    ]
    seats = (Seat("a"), Seat("b"))
    found = [estimate(DebateSpec(kind=kind, brief=brief, seats=seats)) for brief in briefs]
    grown = found[1].prompt_tokens.min - found[0].prompt_tokens.min
    assert 3 * 10_000 <= grown < 3 * 10_000 + 100


def test_full_memory_costs_more() -> None:
    stateless = estimate(voices("opt-1", "opt-2", rounds=3))
    full = estimate(voices("opt-1", "opt-2", rounds=3, memory="full"))
    grown = full.prompt_tokens.expected - stateless.prompt_tokens.expected
    assert grown == (1 + 2 + 3 - 3) * 2 * 2 * 400


def test_vendors_are_counted_apart() -> None:
    definition = voices("opt-1", "opt-2", rounds=1, chairman=Seat("boss", model="human"))
    definition = definition.model_copy(update={"seats": (*definition.seats, Seat("s"))})
    found = estimate(definition)
    assert {name: figures["calls"] for name, figures in found.vendors.items()} == {
        "function": Range(2, 4, 8),
        "scripted": Range(1, 2, 4),
        "human": Range(1, 1, 2),
    }
    assert found.vendors["function"]["cost"] is None
    assert found.cost is None


def test_scripted_review_is_free() -> None:
    found = estimate(split(rounds=1))
    assert found.cost == Range(0.0, 0.0, 0.0)
    assert str(found).splitlines() == [
        "Nothing was called. Calls: 5 expected (3 to 10).",
        f"Tokens: about {found.prompt_tokens.expected:,.0f} in, 2,200 out.",
        "Cost: 0.0000 USD expected.",
        "The brief goes to: scripted.",
    ]


def test_unknown_price_and_attachments_are_named() -> None:
    text = str(estimate(voices("opt-1", "opt-2"), attached=("sales", "notes")))
    assert "Cost: unknown.\nThe brief goes to: function, scripted.\nAttached: sales, notes." in text


def _twins(*seats: Seat) -> list[str]:
    return spec_warnings(DebateSpec(brief=split().brief, seats=seats))


def test_twins_are_warned_about() -> None:
    assert _twins(Seat("a"), Seat("b")) == [
        "a and b have the same model, lens and mood: they mostly agree, which wastes a call"
    ]


def test_same_function_twice_is_a_twin() -> None:
    def speak(call: Call) -> str:
        return "PASS"

    assert len(_twins(Seat("a", model=speak), Seat("b", model=speak))) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Seat("a"), Seat("b", lens="risk")),
        (Seat("a"), Seat("b", mood="grill")),
        (Seat("a"), Seat("b", model="scripted:calm")),
        (Seat("a", model="human"), Seat("b", model="human")),
        (Seat("a", model=lambda call: "x"), Seat("b", model=lambda call: "y")),
        (Seat("a", model=scripted([say("PASS")])), Seat("b", model=scripted([say("PASS")]))),
    ],
)
def test_different_voices_are_no_twins(one: Seat, other: Seat) -> None:
    assert _twins(one, other) == []


def test_many_rounds_are_warned_about() -> None:
    assert spec_warnings(split(rounds=8)) == []
    assert spec_warnings(split(rounds=9)) == ["rounds=9: more than 8 rarely change a verdict"]


def test_other_settings_without_effect_are_warned_about() -> None:
    definition = split(
        gates="blocking", unattended=True, limits=Limits(max_calls_per_vendor={"openai": 3})
    )
    assert spec_warnings(definition) == [
        "gates='blocking' has no effect: the debate is unattended, no gate opens",
        "max_calls_per_vendor names 'openai', which no seat uses",
    ]


@pytest.mark.parametrize(
    ("limits", "text"),
    [
        (Limits(max_calls=2), "max_calls=2 is below the least this debate needs (3)"),
        (Limits(max_tokens=100), "max_tokens=100 is below the least this debate needs ("),
        (
            Limits(max_calls_per_vendor={"function": 1}),
            "max_calls_per_vendor function=1 is below the least this debate needs (2)",
        ),
    ],
)
def test_limit_below_least_is_refused(limits: Limits, text: str) -> None:
    definition = voices("opt-1", "opt-2", limits=limits)
    with pytest.raises(LimitError, match="raise it or take fewer seats") as caught:
        check_limits(definition, estimate(definition))
    assert str(caught.value).startswith(text)


def test_limit_at_least_is_accepted() -> None:
    definition = voices("opt-1", "opt-2", limits=Limits(max_calls=3))
    check_limits(definition, estimate(definition))
