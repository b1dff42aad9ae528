"""The whole definition of a review, and its limits."""

from __future__ import annotations

from typing import Any

import pytest

from rt_notebook.domain.brief import Brief
from rt_notebook.domain.research import Research
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.spec import DebateSpec, Limits
from rt_notebook.errors import OptionError, SeatError


def make(**fields: Any) -> DebateSpec:
    given = {
        "brief": Brief(question="Ship now?", options=("Ship", "Wait")),
        "seats": (Seat("a"), Seat("b", lens="risk")),
        **fields,
    }
    return DebateSpec(**given)


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"rounds": 51}, "rounds=51: 0 to 50 critique rounds are allowed"),
        ({"rounds": -1}, "rounds=-1"),
        ({"title": "x" * 201}, "title: one line of 200 characters"),
        ({"loop_threshold": 1.5}, "loop_threshold=1.5: 0 to 1 is allowed"),
        ({"question_wait_s": -1}, "question_wait_s=-1.0"),
        ({"memory": "none"}, "memory='none'"),
        ({"gates": "maybe"}, "gates='maybe'"),
        ({"roundz": 1}, "Review has no field 'roundz'; did you mean 'rounds'"),
    ],
)
def test_wrong_option_is_named(fields: dict[str, Any], text: str) -> None:
    with pytest.raises(OptionError) as caught:  # noqa: PT011  (compared below, with its marks)
        make(**fields)
    assert text in str(caught.value)


def test_some_seat_must_count() -> None:
    seats = (Seat("a", mood="rant"), Seat("b", mood="rant"))
    with pytest.raises(SeatError, match="every seat has the mood 'rant'"):
        make(seats=seats)
    assert [seat.name for seat in make(seats=(*seats, Seat("c"))).counted] == ["c"]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"max_calls": 0}, "max_calls=0: a limit is a number above 0"),
        ({"max_cost": float("nan")}, "max_cost=nan"),
        ({"max_cost": 1e300}, "max_cost=1e+300: a limit is a number above 0"),
        ({"max_tokens": 10**400}, "0: a limit is a number above 0"),
        ({"max_minutes": -3}, "max_minutes=-3.0"),
        ({"max_calls_per_vendor": {"openai": -1}}, "openai=-1: a bound is 0 or more"),
        ({"max_calls_per_vendor": {"openai": 10**16}}, "openai=10000000000000000: a bound is"),
        ({"max_call": 3}, "Limits has no field 'max_call'; did you mean 'max_calls'"),
        ({"on_limit": "stop"}, "on_limit='stop'"),
    ],
)
def test_wrong_limit_is_named(fields: dict[str, Any], text: str) -> None:
    with pytest.raises(OptionError) as caught:  # noqa: PT011  (compared below, with its marks)
        Limits(**fields)
    assert text in str(caught.value)


def test_defaults_are_those_promised() -> None:
    spec = make()
    assert (spec.rounds, spec.memory, spec.gates, spec.anonymous) == (
        1,
        "stateless",
        "timed",
        False,
    )
    assert (spec.question_wait_s, spec.checkpoint_wait_s, spec.loop_threshold) == (120, 15, 0.85)
    assert spec.limits == Limits(max_minutes=30, on_limit="verdict")
    assert (spec.seats[0].timeout_s, spec.seats[0].stall_s, spec.seats[0].retries) == (300, 0, 2)


def test_seat_is_found_without_regard_to_case() -> None:
    assert make().seat("A").name == "a"
    with pytest.raises(SeatError, match=r"no seat is named 'c' \(seats: a, b\)"):
        make().seat("c")


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("Ship now?", "(Roundtable) - Ship now?"),
        ("a  b\n c", "(Roundtable) - a b c"),
        ("word " * 30, "(Roundtable) - " + "word " * 11 + "word"),
        ("x" * 99, "(Roundtable) - " + "x" * 60),
    ],
)
def test_title_is_made_from_question(question: str, title: str) -> None:
    brief = Brief(question=question, options=("Ship", "Wait"))
    assert make(brief=brief).shown_title == title
    assert make(title=" Mine ").shown_title == "Mine"


def test_spec_survives_json() -> None:
    spec = make(chairman=Seat("boss"), limits=Limits(max_calls=9, max_calls_per_vendor={"x": 1}))
    assert DebateSpec.model_validate(spec.model_dump(mode="json")) == spec


@pytest.mark.parametrize("seconds", [0, -1.0, float("nan"), float("inf"), 1e300])
def test_time_for_research_is_one_that_passes(seconds: float) -> None:
    with pytest.raises(OptionError, match=r"^research: timeout_s=.*: a number above 0 is needed$"):
        Research(query="x", timeout_s=seconds)
