"""The lists of debates and of seats as plain rows: which columns there are and what they hold.

Knows no pandas, opens no store and reads no settings file; it is handed what they found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from rt_notebook.analysis.tables import Columns, Row
from rt_notebook.store.log import DebateRow

DEBATES: Final[Columns] = {
    "id": "text",
    "title": "text",
    "kind": "text",
    "status": "text",
    "stop_reason": "text",
    "created": "time",
    "updated": "time",
    "pick": "text",
    "seats": "list",
}
"""One row per debate of a store."""

SEATS: Final[Columns] = {
    "name": "text",
    "model": "text",
    "lens": "text",
    "mood": "text",
    "effort": "text",
    "persona": "text",
    "auth": "text",
    "source": "text",
    "problem": "text",
}
"""One row per seat that a debate can name."""


def debate_rows(debates: Iterable[DebateRow]) -> Iterator[Row]:
    """Yield the rows of `DEBATES`, in the order given."""
    for row in debates:
        yield (
            row.id, row.title, row.kind, row.status, row.stop_reason, row.created_at,
            row.updated_at, row.pick, list(row.seats),
        )  # fmt: skip


def seat_rows(seats: Iterable[Mapping[str, object]]) -> Iterator[Row]:
    """Yield the rows of `SEATS`, in the order given; keys that aren't columns are left out."""
    for seat in seats:
        yield tuple(seat.get(name) for name in SEATS)
