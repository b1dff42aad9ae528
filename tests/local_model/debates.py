"""Debates that a small model holds, and what must be true of each however badly it answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

import rt_notebook as rt
from rt_notebook.analysis.result import Result
from rt_notebook.domain.state import fold
from tests.local_model.relay import Passed
from tests.local_model.server import NAME
from tests.providers.cli.fakes import children

MODEL = f"openai-compatible:{NAME}"
QUESTION = "Should the bakery open on Sundays?"
OPTIONS = ["Open on Sundays", "Stay closed"]
ENDINGS = {"rounds", "consensus", "nothing_new", "loop"}
"""How a debate may end that nobody and nothing breaks off."""
TOKENS = 120
"""Tokens that an answer may have, so that a test takes a minute and not ten."""


class Place(Protocol):
    """Where the small model can be reached."""

    @property
    def url(self) -> str:
        """The base URL."""
        ...


def seat(place: Place, name: str, /, **fields: Any) -> rt.Seat:
    """Returns a seat that the small model sits in."""
    given: dict[str, Any] = {
        "model": MODEL,
        "max_tokens": TOKENS,
        "temperature": 0.7,
        "timeout_s": 1500.0,  # one answer at a time: the others wait meanwhile
    }
    return rt.Seat(name, base_url=place.url, **{**given, **fields})


def seats(place: Place) -> list[rt.Seat]:
    """Returns three seats, each asked in another way."""
    return [
        seat(place, "pm", lens="user impact"),
        seat(place, "dev", lens="cost", mood="grill", persona="You bake. You are short of sleep."),
        seat(place, "rv", lens="risk", temperature=0.0),
    ]


def review(place: Place, **settings: Any) -> rt.Review:
    """Returns a review by three seats and a chairman: opening, one critique, verdict."""
    given: dict[str, Any] = {
        "seats": seats(place),
        "chairman": seat(place, "chair"),
        "known": ["Two people bake; rent is due every month."],
        "rounds": 1,
        "unattended": True,
    }
    return rt.Review(QUESTION, options=OPTIONS, **{**given, **settings})


def assert_whole(result: Result) -> None:
    """Checks what holds for every debate that has ended.

    The log folds to the state, every call and every turn has an outcome, and what failed or could
    not be read is named.
    """
    state = result.fold
    # A record keeps no server's address, so a debate's that has one keeps none in its log either.
    assert replace(fold(result.events), spec=state.spec) == state
    assert {call.outcome for call in state.calls.values()} <= {"finished", "failed"}
    for number in state.numbers:
        turns = {turn.seat: turn for turn in state.turns_of(number)}
        assert set(turns) == {seat.name for seat in state.spec.seats}
        for turn in turns.values():
            assert turn.final
            assert (turn.reply is None) == (turn.error is not None)
    report = str(result)
    for turn in (turn for number in state.numbers for turn in state.turns_of(number)):
        if turn.failed:
            assert f"{turn.seat} in " in report
            assert f"{turn.error}: " in report
        elif not state.discusses and turn.reply is not None and not turn.reply.valid:
            assert turn.reply.errors
            assert "not readable" in report
    assert children() == []


def assert_counted(result: Result, passed: list[Passed]) -> None:
    """Checks that calls and tokens are the server's own, and that the missing cost is said once."""
    usage = result.state.usage
    assert usage["calls"] == len(passed)
    told = [one.usage or {} for one in passed if one.ends]
    for kind in ("prompt_tokens", "completion_tokens"):
        assert usage[kind] == sum(one.get(kind, 0) for one in told)
    assert usage["cost"] is None
    assert result.usage["cost"].isna().all()
    assert len([line for line in result.warnings if "no price is known" in line]) == 1
