"""Seats: names, numbers, and ids for the wire."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from rt_notebook.domain.script import scripted
from rt_notebook.domain.seat import Seat, check_seats, wire_ids
from rt_notebook.errors import SeatError


@pytest.mark.parametrize("name", ["pm", "Zoë", "Жанна", "审稿人", "a b-c_d.e", "x" * 40, "émigré"])
def test_names_of_any_script_are_accepted(name: str) -> None:
    assert Seat(f" {name} ").name == name


@pytest.mark.parametrize(
    "name",
    ["", "  ", "x" * 41, "a,b", "a;b", "a\nb", "(a)", "[a]", "{a}", "a<b", "a=b", "a、b",
     "a\uff0cb", "a\u2028b", "a\x07b", "a\u202eb", "a\u3164", "\ufe0f", "a\u034fb",
     "none", "Empty", "PASS", "\ud800"],
)  # fmt: skip
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(SeatError, match="seat name"):
        Seat(name)


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"timeout_s": 0}, "timeout_s=0.0: a number above 0 is needed"),
        ({"timeout_s": float("inf")}, "timeout_s=inf: a number above 0"),
        ({"stall_s": -1}, "stall_s=-1.0: a number 0 or more"),
        ({"retries": -1}, "retries=-1: a number 0 or more"),
        ({"max_tokens": 0}, "max_tokens=0: a number 1 or more"),
        ({"max_tokens": 10**400}, "0: a number 1 or more is needed"),
        ({"retries": 10**16}, "retries=10000000000000000: a number 0 or more"),
        ({"timeout_s": 1e300}, "timeout_s=1e+300: a number above 0"),
        ({"temperature": float("nan")}, "temperature=nan: a number 0 or more"),
        ({"color": "red"}, "color 'red' is not of the form '#rrggbb'"),
        ({"mood": "angry"}, "mood='angry'"),
        ({"effort": "max"}, "effort='max'"),
        ({"model": " "}, "is empty or unprintable"),
        ({"modle": "scripted"}, "Seat has no field 'modle'; did you mean 'model'"),
        ({"script": [{"shout": 1}]}, "a script's step is a text or one of"),
    ],
)
def test_wrong_field_is_named(fields: dict[str, Any], text: str) -> None:
    with pytest.raises(SeatError) as caught:  # noqa: PT011  (compared below, with its marks)
        Seat("a", **fields)
    assert text in str(caught.value)


def test_callable_is_stored_by_name() -> None:
    def my_model(call: object) -> str:
        return "PASS"

    seat = Seat("a", model=my_model)
    assert (seat.model, seat.vendor, seat.function) == ("function:my_model", "function", my_model)
    assert Seat.model_validate(seat.model_dump(mode="json")).function is None
    assert seat.model_copy().with_function(my_model).function is my_model


def test_script_is_stored_whole() -> None:
    seat = Seat("a", model=scripted(["PASS", {"hang": True}]))
    again = Seat.model_validate(seat.model_dump(mode="json"))
    assert again.script == ({"reply": "PASS"}, {"hang": True})
    assert again == seat


def test_seats_are_checked_together() -> None:
    with pytest.raises(SeatError, match="2 to 26 seats; got 1"):
        check_seats([Seat("a")])
    with pytest.raises(SeatError, match="2 to 26 seats; got 27"):
        check_seats([Seat(f"s{n}") for n in range(27)])
    with pytest.raises(SeatError, match="two seats are named 'PM'"):
        check_seats([Seat("pm"), Seat("PM")])


def test_wire_ids_are_ascii_and_unique() -> None:
    names = ["pm", "P.M.", "p m", "审稿人", "Chairman", "seat-4"]
    ids = wire_ids([Seat(name) for name in names])
    assert ids == {
        "pm": "pm", "P.M.": "p-m", "p m": "seat-3", "审稿人": "seat-4", "Chairman": "seat-5",
        "seat-4": "seat-6",
    }  # fmt: skip


def test_error_survives_pickling() -> None:
    with pytest.raises(SeatError, match="seat name") as caught:
        Seat("a,b")
    again = pickle.loads(pickle.dumps(caught.value))  # noqa: S301
    assert str(again) == str(caught.value)
