"""Model strings and what stands behind them."""

from __future__ import annotations

import pytest

from rt_notebook.domain.seat import Seat
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.errors import NotResumableError, SeatError
from rt_notebook.providers.function import FunctionProvider
from rt_notebook.providers.human import Desk, HumanProvider
from rt_notebook.providers.registry import Context, all_scripted, check_provider, make_provider
from rt_notebook.providers.scripted import BelievableProvider, ScriptProvider
from tests.engine.debates import Ride, Voice, brief, reply, spec, split


def _context(definition: DebateSpec) -> Context:
    ride = Ride(definition)
    return Context(lambda: ride.state, Desk())


def test_model_string_names_provider() -> None:
    definition = split()
    context = _context(definition)
    for seat, kind in (
        (Seat("a"), BelievableProvider),
        (Seat("a", model="scripted:bold"), BelievableProvider),
        (definition.seats[0], ScriptProvider),
        (Seat("a", model=Voice(reply("opt-1"))), FunctionProvider),
        (Seat("a", model="python:json:dumps"), FunctionProvider),
        (Seat("a", model="human"), HumanProvider),
    ):
        check_provider(seat)
        assert type(make_provider(seat, context)) is kind


@pytest.mark.parametrize(
    ("model", "text"),
    [
        ("scriptd", "no provider is named 'scriptd'; did you mean 'scripted'"),
        ("nobody:x", "no provider is named 'nobody'"),
        ("human:Petra", "'human' takes nothing behind it"),
        ("python:json", "not of the form"),
        ("python:json:nothing", "can't be loaded"),
    ],
)
def test_wrong_model_is_refused(model: str, text: str) -> None:
    with pytest.raises(SeatError, match=text):
        check_provider(Seat("a", model=model))


def test_lost_function_is_named() -> None:
    seat = Seat("pm", model=Voice()).model_copy()
    seat = Seat.model_validate(seat.model_dump())
    with pytest.raises(NotResumableError, match=r"seat 'pm' sat on the function 'Voice'"):
        make_provider(seat, _context(split()))


def test_all_scripted_is_known() -> None:
    assert all_scripted(split())
    assert not all_scripted(spec(Seat("a"), Seat("b", model="human")))
    assert brief().options == ("Ship", "Wait")
