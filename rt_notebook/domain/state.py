"""The state of a debate: a fold over its events, the only place where events get a meaning.

Live views, resuming, frames and replay all read this one fold, so they can't differ. It knows no
clock and no I/O.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from rt_notebook.domain.events import Event
from rt_notebook.domain.folding import HANDLERS
from rt_notebook.domain.normal import normal_form
from rt_notebook.domain.seat import wire_ids
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.domain.state_fields import LIVE, NOT_STARTED, StateFields
from rt_notebook.domain.stored import spec_of
from rt_notebook.errors import StoreError, one_line

__all__ = ["LIVE", "NOT_STARTED", "RESUMABLE", "State", "apply_stored", "fold", "start_state"]

RESUMABLE: Final = frozenset({"interrupted", "error", "paused"})
"""Statuses from which `resume` goes on."""


@dataclass(slots=True)
class State(StateFields):
    """The fold of a debate's events; see `StateFields` for what it knows."""

    def apply(self, event: Event) -> None:
        """Take one event into account; an unknown kind is counted, without effect."""
        handler = HANDLERS.get(event.kind)
        if handler is None:
            self.unknown_kinds[event.kind] = self.unknown_kinds.get(event.kind, 0) + 1
        else:
            handler(self, event)
        self.revision = event.seq
        self.updated_at = event.at


def fold(events: Iterable[Event]) -> State:
    """Return the state after `events`, the first of which is `created`.

    Raises:
        ValueError: there is no event, or the first isn't `created`.
        StoreError: a newer version wrote them, or they are damaged.
    """
    stream = iter(events)
    first = next(stream, None)
    if first is None or first.kind != "created":
        raise ValueError("a debate's first event is 'created'")
    state = start_state(first, spec_of(first))
    for event in stream:
        apply_stored(state, event)
    return state


def apply_stored(state: State, event: Event) -> None:
    """Take an event into account that was read, from a file in which anything may stand.

    Raises:
        StoreError: it can't follow from those before it.
    """
    try:
        state.apply(event)
    except Exception as exc:
        raise StoreError(
            f"debate {event.debate!r}: event {event.seq} ({one_line(event.kind, 40)}) doesn't "
            "follow from those before it; a newer version wrote it, or it is damaged",
            debate=event.debate,
            seq=event.seq,
            fault="damaged",
        ) from exc


def start_state(created: Event, spec: DebateSpec) -> State:
    """Return the state after the `created` event.

    Args:
        created: the event.
        spec: what its body holds, maybe with live callables in the seats.
    """
    state = State(created.debate, spec, created.at)
    state.unattended = bool(created.body.get("unattended"))
    state.source = created.body.get("source", "person")
    state.rounds = spec.rounds
    state.wire_ids = wire_ids(spec.seats)
    state.chairman_name = _chairman_name(spec)
    state.revision, state.updated_at = created.seq, created.at
    return state


def _chairman_name(spec: DebateSpec) -> str:
    name = spec.closer.name if spec.closer else spec.closing_name
    taken = {normal_form(seat.name) for seat in spec.seats}
    return f"{name} ({spec.closing_name})" if normal_form(name) in taken else name
