"""Who stands where, and who moved."""

from __future__ import annotations

from rt_notebook.domain.gate import merged_questions, question_key
from rt_notebook.domain.positions import (
    Flip,
    Position,
    at_round,
    by_round,
    canonical_key,
    count,
    flips,
)
from rt_notebook.domain.reply import Reply
from rt_notebook.domain.turn import Turn
from rt_notebook.domain.usage import Tally, Usage

HISTORY = {
    "a": [Position("a", 0, "opt-1", "Ship"), Position("a", 2, "opt-2", "Wait")],
    "b": [Position("b", 1, "other: Rent it", "other: Rent it")],
    "c": [Position("c", 0, "opt-10", "x"), Position("c", 1, "opt-10", "x")],
    "d": [Position("d", 0, "opt-2", "y"), Position("d", 1, "other:rent  IT", "z")],
}


def test_own_labels_are_compared_normalised() -> None:
    assert canonical_key("other:  Rent IT ") == canonical_key("other:rent it") == "other:rent it"
    assert canonical_key("opt-1") == "opt-1"


def test_positions_after_round() -> None:
    assert {name: p.key for name, p in at_round(HISTORY, 0).items()} == {
        "a": "opt-1", "c": "opt-10", "d": "opt-2",
    }  # fmt: skip
    assert at_round(HISTORY, 9)["a"].key == "opt-2"


def test_positions_of_all_rounds_are_those_of_each() -> None:
    found = by_round(HISTORY, 4)
    assert found == [at_round(HISTORY, number) for number in range(4)]
    assert [list(held) for held in found[:2]] == [["a", "c", "d"], ["a", "b", "c", "d"]]
    assert by_round(HISTORY, 0) == []


def test_tally_orders_options_by_number() -> None:
    found = count(at_round(HISTORY, 9), ["b", "c", "d", "a", "nobody"])
    assert list(found.items()) == [
        ("opt-2", ["a"]), ("opt-10", ["c"]), ("other: Rent it", ["b", "d"]),
    ]  # fmt: skip


def test_flips_are_changes_only() -> None:
    assert flips(HISTORY) == [
        Flip("d", 1, "opt-2", "other:rent  IT"),
        Flip("a", 2, "opt-1", "opt-2"),
    ]


def test_questions_are_one_per_text() -> None:
    turns = [
        Turn(0, name, reply=Reply(valid=True, question=text))
        for name, text in (("a", "How much?"), ("b", None), ("c", "HOW much? "), ("d", "When?"))
    ]
    found = merged_questions(turns, frozenset({"c"}), {question_key("when?"): None})  # type: ignore[dict-item]
    assert [(q.id, q.text, q.askers) for q in found] == [
        ("q1", "How much?", ["a", "an unnamed voice"])
    ]


def test_usage_sums_what_is_known() -> None:
    tally = Tally()
    tally.add(Usage(prompt_tokens=10, completion_tokens=5, cost=0.25), 4_000)
    tally.add(Usage(), 41)
    tally.add(Usage(cost=0.5), 8)
    assert tally.to_json() == {
        "calls": 0, "prompt_tokens": 10, "completion_tokens": 5, "cached_tokens": 0, "cost": 0.75,
    }  # fmt: skip
    assert tally.estimated_tokens == 15 + 10 + 2
    assert Usage.from_json({"prompt_tokens": 3, "novel": 9}, 0.5) == Usage(3, cost=0.5)
    assert Tally().to_json()["cost"] is None


def test_free_calls_make_no_price_for_the_others() -> None:
    tally = Tally()
    costs = []
    # What the second call cost, nobody knows.
    for usage in (Usage(cost=0.0), Usage(prompt_tokens=900), Usage(cost=0.5)):
        tally.add(usage, 10)
        costs.append(tally.cost)
    assert costs == [0.0, None, 0.5]
