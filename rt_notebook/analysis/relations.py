"""Tables of who stands with whom, who named whom and who used which tool, as plain rows.

Like `tables`: knows no pandas and reads nothing but the fold.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rt_notebook.analysis.tables import Columns, Row, calls_in_order
from rt_notebook.domain.normal import normal_form
from rt_notebook.domain.positions import Position, by_round, canonical_key
from rt_notebook.domain.state import State

ENDORSEMENTS: Final[Columns] = {"seat": "text", "named": "text", "round": "int"}
"""One row per seat that a reply names in AGREE_WITH."""

TOOL_CALLS: Final[Columns] = {"round": "int", "seat": "text", "name": "text", "preview": "text"}
"""One row per tool that a seat used."""

AGREEMENT: Final[Columns] = {
    "seat": "text",
    "other": "text",
    "agreement": "float",
    "rounds": "int",
}
"""One row per ordered pair of counted seats, a seat with itself included."""


def endorsement_rows(state: State) -> Iterator[Row]:
    """Yield the rows of `ENDORSEMENTS`, by round, the seats' order, then as named.

    Names that are no seat of the debate have no row; `replies` has them as written. Hidden seats
    name others like everybody.
    """
    known = {normal_form(seat.name): seat.name for seat in state.spec.seats}
    for number in range(len(state.turns)):
        for turn in state.turns_of(number):
            for named in turn.reply.agree_with if turn.reply is not None else ():
                seat = known.get(normal_form(named))
                if seat is not None:
                    yield turn.seat, seat, number


def tool_rows(state: State) -> Iterator[Row]:
    """Yield the rows of `TOOL_CALLS`, in the order of `calls`, then as used."""
    for call in calls_in_order(state):
        for used in call.tool_calls:
            name, preview = used.get("name"), used.get("preview")
            yield call.round, call.seat, _text(name), _text(preview)


def agreement_rows(state: State) -> Iterator[Row]:
    """Yield the rows of `AGREEMENT`, both seats in their order.

    Agreement: of the rounds after which both have a position (`rounds`), the share in which the
    two are the same; None where there is no such round. Stances of their own are the same when
    their labels are.
    """
    keys = keys_by_round(state)
    names = [seat.name for seat in state.spec.counted]
    for one in names:
        for other in names:
            both = [row[one] == row[other] for row in keys if one in row and other in row]
            yield one, other, sum(both) / len(both) if both else None, len(both)


def keys_by_round(state: State) -> list[dict[str, str]]:
    """Return for each round the canonical key of every counted seat's position after it.

    Seats without a position are left out.
    """
    names = {seat.name for seat in state.spec.counted}
    history: dict[str, list[Position]] = {
        name: taken for name, taken in state.history.items() if name in names
    }
    return [
        {name: canonical_key(position.key) for name, position in held.items()}
        for held in by_round(history, len(state.turns))
    ]


def _text(value: object) -> str | None:
    return None if value is None else str(value)
