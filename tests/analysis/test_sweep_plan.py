"""Which debates a sweep consists of, and under which ids."""

from __future__ import annotations

from typing import Any

import pytest

import rt_notebook as rt
from rt_notebook.analysis.sweep_plan import make_plan
from rt_notebook.domain.brief import Brief

OPTIONS = ("Ship", "Wait")


def plan(briefs: Any = "Ship now?", **given: Any) -> list[tuple[str, dict[str, str]]]:
    """Returns (question, what is varied) of each planned debate."""
    repeats, vary = given.pop("repeats", 1), given.pop("vary", None)
    seats = given.pop("seats", ["pm", "dev", "rv"])
    made = make_plan(briefs, seats, repeats, vary, {"options": OPTIONS, **given})
    return [(made.spec(one).brief.question, made.values(one)) for one in made.debates]


def test_variations_are_all_combinations() -> None:
    found = plan(vary={"rounds": [0, 1], "pm.lens": ["risk", "cost"]})
    assert [varied for _, varied in found] == [
        {"rounds": "0", "pm.lens": "risk"}, {"rounds": "0", "pm.lens": "cost"},
        {"rounds": "1", "pm.lens": "risk"}, {"rounds": "1", "pm.lens": "cost"},
    ]  # fmt: skip


def test_variations_reach_the_seats() -> None:
    seats = [rt.Seat("pm", lens="cost"), rt.Seat("dev")]
    vary = {"dev.lens": ["risk"], "mood": ["grill"], "pm.persona": ["You are kind."]}
    made = make_plan("Q?", seats, 1, vary, {"options": OPTIONS})
    pm, dev = made.spec(made.debates[0]).seats
    assert (pm.lens, pm.mood, pm.persona) == ("cost", "grill", "You are kind.")
    assert (dev.lens, dev.mood, dev.persona) == ("risk", "grill", None)


def test_models_and_panels_can_be_varied() -> None:
    def speaker(call: rt.Call) -> str:
        return "PASS"

    vary: dict[str, list[Any]] = {
        "seats": [["pm", "dev"], [rt.Seat("a"), rt.Seat("b"), rt.Seat("c")]],
        "model": ["scripted", speaker],
    }
    made = make_plan("Q?", None, 1, vary, {"options": OPTIONS})
    specs = [made.spec(one) for one in made.debates]
    assert [[seat.name for seat in spec.seats] for spec in specs] == [
        ["pm", "dev"], ["pm", "dev"], ["a", "b", "c"], ["a", "b", "c"],
    ]  # fmt: skip
    assert specs[1].seats[0].function is speaker
    assert made.values(made.debates[3]) == {"seats": "a/b/c", "model": "speaker"}


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("rotations", ["pm/dev/rv", "dev/rv/pm", "rv/pm/dev"]),
        ([("rv", "dev", "pm")], ["rv/dev/pm"]),
    ],
)
def test_orders_of_seats_can_be_varied(order: Any, expected: list[str]) -> None:
    assert [varied["order"] for _, varied in plan(vary={"order": order})] == expected
    assert len(plan(vary={"order": "all"})) == 6


def test_briefs_and_reviews_are_taken_as_they_are() -> None:
    brief = Brief(question="From a brief?", options=("A", "B"))
    review = rt.Review("From a review?", options=["C", "D"], seats=["pm", "dev"])
    made = make_plan([brief, review], ["pm", "dev"], 1, None, {})
    assert [made.spec(one).brief.options for one in made.debates] == [("A", "B"), ("C", "D")]


def test_equal_briefs_are_repeats() -> None:
    made = make_plan(["Q?", "Q?"], ["pm", "dev"], 2, None, {"options": OPTIONS})
    assert [one.repeat for one in made.debates] == [1, 2, 3, 4]
    assert len({one.id for one in made.debates}) == 4


def test_ids_follow_from_what_matters() -> None:
    def ids(**given: Any) -> str:
        seats = given.pop("seats", [rt.Seat("a"), rt.Seat("b")])
        return make_plan("Q?", seats, 1, None, {"options": OPTIONS, **given}).debates[0].id

    assert ids() == ids()
    assert ids() == ids(limits=rt.Limits(max_calls=9))
    assert ids() == ids(seats=[rt.Seat("a", color="#123456"), rt.Seat("b")])
    assert ids() != ids(rounds=2)
    assert ids() != ids(known=["six people"])
    assert ids() != ids(seats=[rt.Seat("a", lens="risk"), rt.Seat("b")])


def test_consents_are_given_to_every_debate() -> None:
    given = {"acknowledge_terms": ("antigravity",), "allow_limited_isolation": True}
    made = make_plan(["Q?", "R?"], ["pm", "dev"], 1, None, {"options": OPTIONS, **given})
    specs = [made.spec(one) for one in made.debates]
    assert [spec.acknowledge_terms for spec in specs] == [("antigravity",)] * 2
    assert all(spec.allow_limited_isolation for spec in specs)


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("gates", "blocking", "nobody is asked in a sweep; leave it out"),
        ("unattended", False, "nobody is asked in a sweep"),
        ("title", "T", "a title is one brief's; give the briefs as dicts with a title each"),
        ("record", "x.jsonl", "a sweep is kept in its store"),
    ],
)
def test_what_a_sweep_cannot_do_is_refused(name: str, value: Any, why: str) -> None:
    with pytest.raises(rt.OptionError, match=f"sweep takes no {name}: {why}"):
        plan(**{name: value})
    assert len(plan(unattended=True)) == 1


def test_varied_chairman_is_the_panels_own_seat() -> None:
    def speaker(call: rt.Call) -> str:
        return "PASS"

    panel = [rt.Seat("pm", model=speaker), rt.Seat("dev", model=speaker)]
    varied: list[dict[str, Any]] = [
        {"chairman": ["pm"]},
        {"chairman": "pm"},
        {"chairman": ["pm"], "seats": [panel]},
    ]
    for vary in varied:
        seats = ["pm", "dev"] if "seats" in vary else panel
        made = make_plan("Q?", seats, 1, vary, {"options": OPTIONS})
        (spec,) = [made.spec(one) for one in made.debates]
        assert spec.chairman is not None
        assert spec.chairman.model == "function:speaker"
        assert made.values(made.debates[0])["chairman"] == "pm"


def test_chairmans_colour_makes_no_other_debate() -> None:
    ids = []
    for color in (None, "#00aa00"):
        chairman = rt.Seat("boss", model="scripted", color=color)
        given = {"options": OPTIONS, "chairman": chairman}
        ids.append(make_plan("Q?", ["pm", "dev"], 1, None, given).debates[0].id)
    assert ids[0] == ids[1]


def test_consent_given_later_makes_no_other_debate() -> None:
    def ids(**given: Any) -> list[str]:
        made = make_plan("Q?", ["pm", "dev"], 1, None, {"options": OPTIONS, **given})
        return [one.id for one in made.debates]

    assert ids() == ids(allow_limited_isolation=True, acknowledge_terms=["antigravity"])
    # Who pays is kept with a debate that goes on, so another payer makes another debate.
    assert ids() != ids(api_billing=True)


def test_order_does_not_change_who_judges() -> None:
    seats = [rt.Seat("a", model="ollama:one"), rt.Seat("b", model="ollama:two")]
    made = make_plan("Q?", seats, 1, {"order": "rotations"}, {"options": OPTIONS})
    specs = [made.spec(one) for one in made.debates]
    assert [[seat.name for seat in spec.seats] for spec in specs] == [["a", "b"], ["b", "a"]]
    assert [spec.chairman and spec.chairman.model for spec in specs] == ["ollama:one"] * 2


@pytest.mark.parametrize("panels", ["pm", ["pm", "dev"], [rt.Seat("a"), rt.Seat("b")]])
def test_panels_that_are_no_lists_are_refused(panels: Any) -> None:
    with pytest.raises(rt.OptionError, match="'seats' takes a list of panels, each a list"):
        plan(vary={"seats": panels})


def test_single_value_is_one_choice() -> None:
    seat = rt.Seat("boss", model="scripted", lens="cost")
    vary: dict[str, Any] = {"chairman": seat, "rounds": 2}
    made = make_plan("Q?", ["pm", "dev"], 1, vary, {"options": OPTIONS})
    (spec,) = [made.spec(one) for one in made.debates]
    assert (spec.chairman, spec.rounds) == (seat, 2)
