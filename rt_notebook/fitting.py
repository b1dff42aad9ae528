"""Which part of a record fits a debate: call by call, and decision by decision.

The record is walked under the debate's own definition: what a call is about must be the same as
when it was recorded, and what the debate would do next must be what the record says. What people
did and what seats answered is taken as it is. Pure: nothing is called and no file is opened.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from rt_notebook.contract.call_about import About, about_call
from rt_notebook.contract.differences import Difference, difference, differences
from rt_notebook.contract.record import Record
from rt_notebook.domain.events import Event
from rt_notebook.domain.research import RESEARCH
from rt_notebook.domain.seat import wire_ids
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.domain.state import State, start_state
from rt_notebook.engine.kinds import next_step
from rt_notebook.engine.steps import Ask, AskSearcher, AskVerdict, Conclude, OpenGate, Step
from rt_notebook.engine.steps import Record as Finding
from rt_notebook.errors import SeatError

_DECIDED: Final = frozenset(
    {
        *("round_started", "gate_opened", "consensus", "nothing_new", "loop", "limit_reached"),
        *("verdict_started", "concluded"),
    }
)
_CALLS: Final = frozenset(
    {"call_started", "call_finished", "call_failed", "reply_read", "repaired"}
)
# What a person may do to a debate that has ended.
_AFTERWARDS: Final = frozenset({"verdict_started", "resumed", "extended"})
# Settings that are part of no call, but explain why it sees something else.
_REASONS: Final = ("memory", "anonymous", "tool_preview")
_SETTINGS: Final = ("rounds", "loop_threshold", *_REASONS)


@dataclass(frozen=True, slots=True)
class Misfit:
    """The first place where a record and a debate part."""

    seat: str | None
    """Whose call it is; None for something that isn't a call."""
    round: int
    """The round."""
    what: str
    """The call's purpose, or what the debate does there."""
    differences: tuple[Difference, ...]
    """What differs, in the whole record."""

    def __str__(self) -> str:
        who = "" if self.seat is None else f"seat {self.seat!r} in "
        told = "; ".join(map(str, self.differences)) or self.what
        return f"first at {who}round {max(self.round, 0)} ({self.what}): {told}"


@dataclass(slots=True)
class Fit:
    """How far a record fits."""

    state: State
    """The debate after what fits, under its own definition."""
    kept: list[Event] = field(default_factory=list)
    """What fits, from the first event, with the record's numbers and times."""
    misfit: Misfit | None = None
    """Where it parts; None where all of it fits."""


def fit(record: Record, spec: DebateSpec) -> Fit:
    """Return how far a record fits a debate's definition.

    Budgets, windows and gates are the record's: what is there costs nothing, and what people said
    was said.

    Args:
        record: the record.
        spec: the debate's definition.
    """
    return _Walk(record, spec).done()


class _Walk:
    """Walks a record under a definition and, beside it, under its own."""

    def __init__(self, record: Record, spec: DebateSpec) -> None:
        self._record = record
        self._spec = spec
        # Where they define the same calls, none needs to be looked at.
        self._same = _calls_of(record.spec) == _calls_of(spec)
        first = record.events[0]
        walked = spec.model_copy(update={"gates": record.spec.gates, "limits": record.spec.limits})
        self._own = start_state(first, record.spec)
        self._state = start_state(first, walked)
        self._kept = [first]
        self._dropped: set[str] = set()
        self._askers = {
            event.body["call"]: event.body["seat"]
            for event in record.events
            if event.kind == "call_started"
        }

    def done(self) -> Fit:
        """Return what was found."""
        if self._record.spec.kind != self._spec.kind:
            return Fit(self._state, self._kept, self._other_kind())
        misfit: Misfit | None = None
        events = self._record.events[1:]
        for place, event in enumerate(events):
            if misfit is not None:
                break
            misfit = self._part(event)
            if misfit is None:
                self._take(event)
            elif event.kind == "call_started" and not self._state.discusses:
                # In a discussion, who speaks later in the round has heard what doesn't fit.
                self._take_rest_of_round(events[place:])
        if misfit is not None:
            misfit = self._explained(misfit)
        kept = self._kept if misfit is None else self._renamed()
        self._state.spec = self._state.spec.model_copy(
            update={"gates": self._spec.gates, "limits": self._limits()}
        )
        return Fit(self._state, kept, misfit)

    def _take(self, event: Event) -> None:
        self._kept.append(event)
        self._state.apply(event)
        if not self._same:
            self._own.apply(event)

    def _take_rest_of_round(self, events: Sequence[Event]) -> None:
        """Keep what the other seats did in the round in which one no longer fits."""
        for event in events:
            if event.kind not in _CALLS:
                return
            call = str(event.body["call"])
            if event.kind == "call_started" and self._differs(event):
                # All that this seat did in the round goes.
                self._dropped.add(str(event.body["seat"]))
            if self._askers.get(call) not in self._dropped:
                self._take(event)

    def _part(self, event: Event) -> Misfit | None:
        """Return the misfit of an event, or None where it fits."""
        if event.kind == "call_started":
            found = self._differs(event)
            if found is None:
                return None
            body = event.body
            return Misfit(body["seat"], body["round"], body["purpose"], tuple(found))
        if event.kind in _DECIDED:
            return self._decides_otherwise(event)
        return None

    def _differs(self, event: Event) -> list[Difference] | None:
        """Return what differs in a call, or None where it is the same."""
        if self._same:
            return None
        body = event.body
        name, purpose, round = body["seat"], body["purpose"], body["round"]
        one = _about(self._own, name, purpose, round)
        two = _about(self._state, name, purpose, round)
        if one == two:
            return None
        if one is None or two is None:
            return [difference("seats", _names(self._record.spec), _names(self._spec))]
        return differences(one, two, name)

    def _decides_otherwise(self, event: Event) -> Misfit | None:
        state = self._state
        if not state.live and event.kind in _AFTERWARDS:
            return None
        if event.kind == "limit_reached" and event.body.get("limit") == "max_minutes":
            return None
        step = next_step(state)
        if _is_step(event, step):
            return None
        words = f"{_told(event)} in the record, {_planned(step)} here"
        found = Difference("what follows", _told(event), _planned(step), words)
        seat = step.seats[0] if isinstance(step, Ask) else None
        return Misfit(seat, state.round, _planned(step), (found,))

    def _explained(self, misfit: Misfit) -> Misfit:
        """Return a misfit with all that differs: what every call is about, then the settings."""
        found = {each.field: each for each in self._all_differences()}
        if not found:
            # A letter in a name's place follows from `anonymous`, which is told below.
            told = misfit.differences
            found = {each.field: each for each in told if not each.field.endswith(": name")}
        one, two = self._record.spec, self._spec
        names = _SETTINGS if misfit.seat is None or not found else _REASONS
        for name in names:
            if getattr(one, name) != getattr(two, name):
                made = difference(name, getattr(one, name), getattr(two, name))
                found.setdefault(name, made)
        return Misfit(misfit.seat, misfit.round, misfit.what, tuple(found.values()))

    def _all_differences(self) -> Iterator[Difference]:
        """Yield what differs in the definitions of calls: brief, seats, language, order."""
        one, two = _calls_of(self._record.spec), _calls_of(self._spec)
        seats, other = one.pop("seats"), two.pop("seats")
        names, here = one.pop("order"), two.pop("order")
        yield from differences({"brief": one.pop("brief")}, {"brief": two.pop("brief")}, "")
        if names != here:
            field = "seats" if sorted(names) != sorted(here) else "the order of the seats"
            yield difference(field, names, here)
        for name in names:
            if name in other:
                yield from differences({"seat": seats[name]}, {"seat": other[name]}, name)
        closer = self._spec.closing_name
        yield from differences({"seat": one.pop("closer")}, {"seat": two.pop("closer")}, closer)
        asked, asks = one.pop("research"), two.pop("research")
        for each in differences({"brief": asked["research"]}, {"brief": asks["research"]}, ""):
            yield difference(f"research: {each.field}", each.recorded, each.here)
        for reason in _REASONS:  # told where they matter
            one.pop(reason), two.pop(reason)
        yield from differences(one, two, "")

    def _other_kind(self) -> Misfit:
        one, two = self._record.spec.kind, self._spec.kind
        return Misfit(None, 0, "its kind", (difference("kind", one, two),))

    def _limits(self) -> Any:
        # Limits that a recorded resume changed are part of what happened.
        changed = any(event.body.get("limits") for event in self._kept if event.kind == "resumed")
        return self._state.spec.limits if changed else self._spec.limits

    def _renamed(self) -> list[Event]:
        """Return what is kept with the calls' ids that the seats have in this debate."""
        old, new = wire_ids(self._record.spec.seats), wire_ids(self._spec.seats)
        moved = {old[name]: new[name] for name in old if name in new and old[name] != new[name]}
        if not moved:
            return self._kept
        return [_moved(event, moved) for event in self._kept]


def _moved(event: Event, moved: dict[str, str]) -> Event:
    call = event.body.get("call")
    if not isinstance(call, str):
        return event
    round, wire, rest = [*call.split("/", 2), "", ""][:3]
    return event._replace(body={**event.body, "call": f"{round}/{moved.get(wire, wire)}/{rest}"})


def _about(state: State, name: str, purpose: str, round: int) -> About | None:
    try:
        return about_call(state, name, purpose, round)
    except SeatError:
        return None


def _calls_of(spec: DebateSpec) -> dict[str, Any]:
    """Return what of a definition any call may depend on."""
    state = start_state(_NOTHING, spec)
    first = 1 if state.discusses else 0
    purpose = "turn" if state.discusses else "opening"
    asked = {seat.name: _about(state, seat.name, purpose, first) or {} for seat in spec.seats}
    any_call = next(iter(asked.values()))
    closing = "summary" if state.discusses else "verdict"
    last = _about(state, state.chairman_name, closing, 0) or {}
    return {
        "brief": any_call["brief"],
        "language": spec.language,
        "seats": {name: _unnamed(about["seat"]) for name, about in asked.items()},
        "order": list(asked),
        "closer": last["seat"],
        "observer_prompt": spec.observer_prompt,
        "research": _about(state, "", RESEARCH, 0),
        "memory": spec.memory,
        "anonymous": spec.anonymous,
        "tool_preview": spec.tool_preview,
    }


def _unnamed(seat: Mapping[str, Any]) -> About:
    return {key: value for key, value in seat.items() if key != "name"}


def _is_step(event: Event, step: Step) -> bool:
    body = event.body
    match step:
        case Finding(kind, planned):
            return event.kind == kind and body.get("round") == planned.get("round")
        case OpenGate():
            return event.kind == "gate_opened" and body.get("round") == step.round
        case Conclude():
            ends = (body.get("status"), body.get("stop_reason"))
            return event.kind == "concluded" and ends == (step.status, step.stop_reason)
    return False


def _told(event: Event) -> str:
    if event.kind == "gate_opened":
        return f"a gate after round {event.body.get('round')}"
    if event.kind == "concluded":
        return f"the end ({event.body.get('status')}, {event.body.get('stop_reason')})"
    return _found(event.kind, event.body)


def _planned(step: Step) -> str:
    match step:
        case Finding(kind, body):
            return _found(kind, body)
        case Ask(round, seats):
            return f"a call of {', '.join(seats)} in round {round}"
        case OpenGate():
            return f"a gate after round {step.round}"
        case AskVerdict():
            return "a call for the verdict"
        case AskSearcher():
            return "research"
        case Conclude(status, reason):
            return f"the end ({status}, {reason})"


def _found(kind: str, body: Mapping[str, Any]) -> str:
    if kind == "round_started":
        return f"round {body.get('round')}"
    if kind == "verdict_started":
        return "the verdict"
    if kind == "limit_reached":
        return f"the limit {body.get('limit')}"
    return f"an end by {kind.replace('_', ' ')} in round {body.get('round')}"


def _names(spec: DebateSpec) -> list[str]:
    return [seat.name for seat in spec.seats]


_NOTHING: Final = Event(1, "none", 1, 0, "created", {})
