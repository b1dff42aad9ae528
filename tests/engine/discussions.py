"""Discussions for tests: seats whose words are known, through the real driver."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rt_notebook.contract.speech import spoken_text
from rt_notebook.domain.brief import Brief
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.domain.state import State
from rt_notebook.domain.turn import Turn
from rt_notebook.providers.base import Call
from tests.engine.debates import Voice

TOPIC = "How should we ship the payments module?"
SUMMARY = "They agree to start small."

WORDS = (
    "The migration can be cut into four steps, each of which runs on its own for a week.",
    "Who is paged at night when the second database falls behind by half an hour?",
    "A feature flag per customer lets us turn it off without a deployment.",
    "Our contract with the bank says nothing about retries, somebody has to ask them.",
    "Measure the queue first: without its length every estimate here is a guess.",
    "Training the support team takes longer than the code, so begin with it.",
    "Half of the errors last year came from the currency tables, not from the service.",
    "If we wait until March, the old library is out of support anyway.",
)
"""Texts that are long enough to count and no two of which are alike."""


def talk(*seats: Seat, **fields: Any) -> DebateSpec:
    """Return a discussion's definition."""
    brief = Brief(question=fields.pop("question", TOPIC))
    return DebateSpec(**{"kind": "discussion", "brief": brief, "seats": seats, **fields})


def speakers(*names: str, observer: Any = None, **fields: Any) -> DebateSpec:
    """Return a discussion of function seats, each of which says something new in every turn."""
    seats = [Seat(name, model=Voice(*_words(place))) for place, name in enumerate(names)]
    return talk(*seats, observer=observer or observing(), **fields)


def _words(place: int) -> list[str]:
    return [f"{WORDS[(place + 3 * turn) % len(WORDS)]} ({place}.{turn})" for turn in range(8)]


def observing(*answers: Any, name: str = "sage", **fields: Any) -> Seat:
    """Return an observer that sums up in these words."""
    return Seat(name, model=Voice(*(answers or (SUMMARY,))), **fields)


def said(state: State) -> list[tuple[str, int]]:
    """Return who spoke, in order, with the round."""
    return [(entry.seat, entry.round) for entry in state.said if isinstance(entry, Turn)]


def texts(state: State) -> list[str]:
    """Return what was said, people's words included, in order."""
    found: list[str] = []
    for entry in state.said:
        if not isinstance(entry, Turn):
            found.append(entry.text)
        elif entry.reply is not None:
            found.append(spoken_text(entry.reply))
    return found


def calls(spec: DebateSpec) -> list[Call]:
    """Return every call that the seats and the observer got."""
    everybody: Sequence[Seat] = [*spec.seats, *([spec.observer] if spec.observer else [])]
    return [
        call
        for seat in everybody
        if isinstance(seat.function, Voice)
        for call in seat.function.calls
    ]
