"""What events mean for a debate's row in the list: its status, its verdict's pick, its lease.

Pure. The fold of the domain says what a status is; this keeps a copy of it where it can be
searched, and a test compares the two. Must not know how rows are stored.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from rt_notebook.domain.events import Event
from rt_notebook.domain.spec import title_of
from rt_notebook.store.log import brief_digest

CREATED: Final = "created"
FIRST_STATUS: Final = "running"
INTERRUPTED: Final = "interrupted"
RESUMED: Final = "resumed"
"""Stands for `verdict` where one is being asked for, else `running`; only the row knows."""

# None: the event's body says it.
_STATUS: Final[dict[str, str | None]] = {
    "gate_opened": "waiting",
    "gate_closed": "running",
    "verdict_started": "verdict",
    "interrupted": INTERRUPTED,
    "resumed": RESUMED,
    "extended": "running",
    "concluded": None,
}
_REASONS: Final = frozenset({"interrupted", "resumed", "extended", "concluded"})
_VERDICTS: Final = frozenset({"verdict_started", "verdict_written", "extended"})
_CHANGES: Final = frozenset(_STATUS) | _VERDICTS
_ENDINGS: Final = frozenset({"interrupted", "concluded"})
# These set an ended debate going again.
_STARTS: Final = frozenset({"resumed", "extended", "verdict_started"})


class NewRow(NamedTuple):
    """What a `created` event says about the new debate's row."""

    kind: str
    """review."""
    title: str
    """As people see it."""
    brief: str
    """The brief's digest."""
    seats: str
    """The seats' names, a JSON list."""
    at: int
    """When it was created, milliseconds since 1970 UTC."""
    seq: int
    """The event's number."""


@dataclass(slots=True)
class RowChange:
    """What some events change in a debate's row."""

    at: int = 0
    """When, milliseconds since 1970 UTC."""
    seq: int = 0
    """The number of the last event that changed something."""
    status: str | None = None
    """The new status, perhaps `RESUMED`; None: it stays."""
    sets_reason: bool = False
    """True when `stop_reason` is new."""
    stop_reason: str | None = None
    """Why it ended, if it did."""
    sets_pick: bool = False
    """True when `pick` is new."""
    pick: str | None = None
    """The verdict's option id or `none`; None where a verdict is asked for again."""
    verdict_asked: bool | None = None
    """Whether the verdict is being asked for; None: as before."""

    def apply(self, event: Event) -> None:
        """Take one event of `_CHANGES` into account."""
        kind, body = event.kind, event.body
        self.at, self.seq = event.at, event.seq
        if kind in _STATUS:
            self.status = _STATUS[kind] or body["status"]
        if kind == "resumed" and self.verdict_asked is not None:
            self.status = "verdict" if self.verdict_asked else "running"
        if kind in _REASONS:
            self.sets_reason = True
            self.stop_reason = INTERRUPTED if kind == "interrupted" else body.get("stop_reason")
        if kind in _VERDICTS:
            self.sets_pick = True
            self.pick = (body.get("verdict") or {}).get("pick")
        if kind in ("verdict_started", "concluded"):
            self.verdict_asked = kind == "verdict_started"


class Changes(NamedTuple):
    """What one append changes beside the log."""

    new: NewRow | None = None
    """The debate's row, when it is created."""
    row: RowChange | None = None
    """What becomes of the row, if anything."""
    releases: bool = False
    """True when the lease is given back with these events."""


_NOTHING: Final = Changes()


def changes_of(events: Sequence[Event]) -> Changes:
    """Return what appending `events` changes beside the log."""
    new = new_row(events[0]) if events and events[0].kind == CREATED else None
    relevant = [event for event in events if event.kind in _CHANGES]
    if not relevant:
        return Changes(new) if new else _NOTHING
    row = RowChange()
    releases = False
    for event in relevant:
        row.apply(event)
        releases = event.kind in _ENDINGS or (releases and event.kind not in _STARTS)
    return Changes(new, row, releases)


def new_row(created: Event) -> NewRow:
    """Return the row of a new debate."""
    spec = created.body["spec"]
    brief = spec["brief"]
    return NewRow(
        kind=spec.get("kind", "review"),
        title=_storable(title_of(spec.get("title"), brief["question"])),
        brief=brief_digest(brief),
        seats=json.dumps([seat["name"] for seat in spec["seats"]]),
        at=created.at,
        seq=created.seq,
    )


def _storable(text: str) -> str:
    # Lone surrogates can't be written as UTF-8.
    return text.encode("utf-8", "replace").decode("utf-8")
