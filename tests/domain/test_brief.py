"""The brief's limits: what breaks one is refused with the field, the limit and what was found."""

from __future__ import annotations

from typing import Any

import pytest

from rt_notebook.domain.brief import Brief
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.errors import BriefError


def make(**fields: Any) -> Brief:
    return Brief(**{"question": "Ship now?", "options": ("Ship", "Wait"), **fields})


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"question": ""}, "the question is empty"),
        ({"question": " \n"}, "the question is empty"),
        ({"question": "x" * 20_001}, "question has 20,001 characters; 20,000 are allowed"),
        ({"options": ("A",)}, "options: 2 to 12 are allowed, got 1"),
        ({"options": tuple("ABCDEFGHIJKLM")}, "options: 2 to 12 are allowed, got 13"),
        ({"options": ("A", "x" * 201)}, "has 201 characters; one line of 200 is allowed"),
        ({"options": ("A", "b\nc")}, "one line of 200 is allowed"),
        ({"options": ("A", " ")}, "an option is empty"),
        ({"options": ("Ship", "\uff33hip")}, "'\uff33hip' is the same as 'Ship'"),
        ({"options": ("Ship  it", "ship it")}, "make them distinct"),
        ({"options": ("Ship", "Sh\u200bip")}, r"'Sh\u200bip' is the same as 'Ship'"),
        ({"options": ("Ship", "\u2060Ship\ufe0f")}, "is the same as 'Ship'"),
        ({"options": ("Ship", "\x1b[31mShip\x00")}, "is the same as 'Ship'"),
        ({"options": ("A", "\u200b")}, "an option is empty"),
        ({"options": ("A", "\x1b[0m")}, "an option is empty"),
        ({"options": ("A", "no\u00adne")}, "is reserved"),
        ({"question": "\u200b\x1b[0m\ufeff"}, "the question is empty"),
        ({"options": ("A", "opt-7")}, "'opt-7' is reserved"),
        ({"options": ("A", "OPT-1")}, "is reserved"),
        ({"options": ("A", "None")}, "'None' is reserved"),
        ({"options": ("A", "no  pick")}, "is reserved"),
        ({"options": ("A", "Other")}, "is reserved"),
        ({"known": ("x",) * 51}, "known: 50 entries are allowed, got 51"),
        ({"assumed": ("x" * 2_001,)}, "an entry of assumed has 2,001 characters; 2,000 are"),
        ({"deadline": "x" * 501}, "deadline has 501 characters; 500 are allowed"),
        ({"reversibility": "a\nb"}, "reversibility: one line is allowed, got several"),
        ({"context": "x" * 200_001}, "context has 200,001 characters; 200,000 are allowed"),
        ({"nown": ("x",)}, "brief has no field 'nown'; did you mean 'known'"),
    ],
)
def test_broken_limit_is_named(fields: dict[str, Any], text: str) -> None:
    with pytest.raises(BriefError) as caught:  # noqa: PT011  (compared below, with its marks)
        make(**fields)
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)


def test_everything_at_its_limit_is_accepted() -> None:
    found = make(
        question="x" * 20_000,
        options=tuple(f"{n:02}" + "y" * 198 for n in range(12)),
        known=("z" * 2_000,) * 50,
        deadline="d" * 500,
        context="c" * 200_000,
    )
    assert len(found.options) == 12
    assert found.option_ids[0] == "opt-1"
    assert found.option_ids[-1] == "opt-12"


def test_notes_are_trimmed_and_blank_ones_dropped() -> None:
    found = make(known=[" six people ", " "], deadline=" ", constraints="one")
    assert (found.known, found.deadline, found.constraints) == (("six people",), None, ("one",))


def test_labels_are_found_by_key() -> None:
    found = make()
    assert [found.label_of(key) for key in ("opt-2", "other: Rent", "opt-3", "opt-²", None)] == [
        "Wait", "Rent", "opt-3", "opt-²", None,
    ]  # fmt: skip


def test_review_needs_options() -> None:
    with pytest.raises(BriefError, match="a review needs at least 2 options, got 0"):
        DebateSpec(brief=Brief(question="Why?"), seats=(Seat("a"), Seat("b")))
