"""Reviews in which a seat says what a case says, run as a caller of the package would run them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import rt_notebook as rt
from tests.engine.debates import Voice, reply

OPTIONS = ("support", "against")
"""What the cases' seats decide about."""

Said = str | Callable[[rt.Call], Any]


def speaker(name: str, *answers: Any, **fields: Any) -> rt.Seat:
    """Returns a seat that says these, one a call; the last one from then on."""
    return rt.Seat(name, model=Voice(*answers), **fields)


def calls_of(seat: rt.Seat) -> list[rt.Call]:
    """Returns what a seat made by `speaker` was asked."""
    assert isinstance(seat.function, Voice)
    return seat.function.calls


def prompts_of(seat: rt.Seat) -> list[str]:
    """Returns the whole texts of what a seat made by `speaker` was asked."""
    return ["\n".join(message.text for message in call.messages) for call in calls_of(seat)]


def others(options: Sequence[str] = OPTIONS) -> list[rt.Seat]:
    """Returns two seats that never agree."""
    return [speaker("bo", reply("opt-2", "the date")), speaker("cy", reply("opt-1", "the cost"))]


def review(*seats: rt.Seat, options: Sequence[str] = OPTIONS, **settings: Any) -> rt.Review:
    """Returns a review with nobody there."""
    settings = {"unattended": True, "loop_threshold": 0, **settings}
    return rt.Review("Shall we?", options=options, seats=seats, **settings)


def hear(text: Said, *, options: Sequence[str] = OPTIONS, **settings: Any) -> rt.Result:
    """Returns a review of one critique round in which the seat `ana` always says this."""
    return review(speaker("ana", text), *others(), options=options, **settings).run_sync()


def row_of(result: rt.Result, seat: str = "ana", round: int = 1) -> dict[str, Any]:
    """Returns a seat's row of the replies in a round."""
    frame = result.replies
    found = frame[(frame["seat"] == seat) & (frame["round"] == round)]
    assert len(found) == 1
    return {str(name): value for name, value in found.iloc[0].to_dict().items()}


def heard(text: Said, *, options: Sequence[str] = OPTIONS) -> dict[str, Any]:
    """Returns the row of what the seat `ana` said in round 1."""
    return row_of(hear(text, options=options))
