"""The record's form: a debate's events as text, one canonical JSON object a line, and back.

Owns what a line looks like, in which order events stand, and what is refused on reading. Pure: it
opens no file, and hides no secret (`store.record` does both).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rt_notebook.characters import escaped_json
from rt_notebook.domain.body_types import wrong_key
from rt_notebook.domain.events import BODY_KEYS, EVENT_VERSION, Event, encode_body
from rt_notebook.domain.research import researcher_name
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.domain.state import RESUMABLE, State, start_state
from rt_notebook.domain.stored import NEWER, spec_of
from rt_notebook.errors import RoundtableError, StoreError, one_line

MAX_RECORD: Final = 256 * 1024 * 1024
"""Characters of a record that are read."""

_KEYS: Final = {"v": int, "debate": str, "seq": int, "at": int, "kind": str, "body": dict}
_ID: Final = re.compile(r"[a-z0-9-]{1,64}")
_OF_A_SEAT: Final = frozenset(
    {"call_started", "call_finished", "call_failed", "reply_read", "repaired"}
)
# What a record's seats must not bring along: where to send a key, and which one.
_NOT_KEPT: Final = ("base_url", "api_key_env")


@dataclass(frozen=True, slots=True)
class Record:
    """A record that was read."""

    events: tuple[Event, ...]
    """Its events in order; at least the first, `created`."""
    spec: DebateSpec
    """The recorded debate's definition."""
    state: State
    """Their fold."""
    torn: bool = False
    """True when its last line is cut off."""

    @property
    def id(self) -> str:
        """The debate's id."""
        return self.events[0].debate

    @property
    def finished(self) -> bool:
        """True when the debate has ended and nothing is left to be resumed."""
        state = self.state
        return not self.torn and not state.live and state.status not in RESUMABLE - {"error"}


def record_line(event: Event) -> str:
    """Return an event's line: compact JSON, keys sorted.

    Characters that a terminal obeys or an editor hides stand as JSON escapes.
    """
    # By way of the log's own encoding, so that an event from memory gives the line of a stored one.
    data = {**event._asdict(), "body": json.loads(encode_body(event.body))}
    line = json.dumps(data, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return escaped_json(line) + "\n"


class SeatOrder:
    """Puts a log into a record's order, event by event: seats that spoke at once in seat order.

    Only what seats do at the same time is put in order, each seat's own events as they came; what
    the debate or a person did keeps its place between them.

    Args:
        spec: the debate's definition.
    """

    def __init__(self, spec: DebateSpec) -> None:
        self._places = {seat.name: number for number, seat in enumerate(spec.seats)}
        self._asked: dict[str, int] = {}
        self._together: list[tuple[int, Event]] = []
        self._count = 0

    def take(self, event: Event) -> list[Event]:
        """Take the next event; return those whose place is settled by it, renumbered."""
        if event.kind in _OF_A_SEAT:
            last = len(self._places)
            call = str(event.body.get("call"))
            if "seat" in event.body:
                self._asked[call] = self._places.get(str(event.body["seat"]), last)
            self._together.append((self._asked.get(call, last), event))
            return []
        settled = [*self.rest(), event._replace(seq=self._count + len(self._together) + 1)]
        self._together.clear()
        self._count += len(settled)
        return settled

    def rest(self) -> list[Event]:
        """Return the events whose place isn't settled, as if nothing came behind them."""
        found = sorted(self._together, key=lambda pair: pair[0])
        return [
            event._replace(seq=number) for number, (_, event) in enumerate(found, self._count + 1)
        ]


def in_seat_order(events: Iterable[Event], spec: DebateSpec) -> list[Event]:
    """Return a whole log in a record's order; doing it twice changes nothing."""
    order = SeatOrder(spec)
    settled = [done for event in events for done in order.take(event)]
    return [*settled, *order.rest()]


def read_record(text: str, name: str) -> Record:
    """Return the record that a text holds.

    A last line that is cut off is left out and told by `torn`; any other line that isn't an event
    is damage. What the seats say about servers and keys is dropped: a file that came with somebody
    else's repository must not send a key away.

    Args:
        text: the file's text.
        name: what the file is called, for messages.

    Raises:
        StoreError: it is no record, damaged, or of a newer version.
    """
    if len(text) > MAX_RECORD:
        raise StoreError(f"record {name!r} is larger than {MAX_RECORD >> 20} MiB", path=name)
    lines = text.split("\n")
    last = lines.pop()
    events = [_event(line, number, name) for number, line in enumerate(lines, 1)]
    torn = False
    if last:
        try:
            events.append(_event(last, len(lines) + 1, name))  # an editor took its end
        except StoreError as exc:
            if not events or getattr(exc, "fault", "") != "damaged":
                raise
            torn = True
    if not events:
        raise StoreError(
            f"record {name!r} is empty: it holds no event; remove it, or record anew (record mode "
            "'all')",
            path=name,
            fault="empty",
        )
    _check_whole(events, name)
    return _folded([_without_places(events[0]), *events[1:]], torn, name)


def _event(line: str, number: int, name: str) -> Event:
    try:
        data = json.loads(line, parse_constant=_no_number)
    except (ValueError, RecursionError) as exc:
        raise _damaged(name, number, f"it isn't JSON ({one_line(str(exc), 80)})") from exc
    if not isinstance(data, dict):
        raise _damaged(name, number, "it isn't an event")
    version = data.get("v")
    if isinstance(version, int) and version > EVENT_VERSION:
        raise StoreError(
            f"record {name!r} is of version {version}; this version reads up to {EVENT_VERSION}: "
            "upgrade rt-notebook to read it",
            path=name,
            version=version,
        )
    for key, kind in _KEYS.items():
        if not isinstance(data.get(key), kind) or isinstance(data[key], bool):
            raise _damaged(name, number, f"its {key!r} is missing or of another type")
    return Event(*(data[key] for key in _KEYS))


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no JSON number")


def _check_whole(events: Sequence[Event], name: str) -> None:
    debate = events[0].debate
    if events[0].kind != "created" or not _ID.fullmatch(debate):
        raise _damaged(name, 1, "a record begins with its debate's 'created'")
    for number, event in enumerate(events, 1):
        if event.debate != debate:
            raise _damaged(name, number, "it belongs to another debate")
        if event.seq != number:
            raise _damaged(name, number, f"it has the number {event.seq}: lines are missing")


def _without_places(created: Event) -> Event:
    """Return the first event without what a foreign file must not say about servers and keys."""
    spec = created.body.get("spec")
    if not isinstance(spec, dict):
        return created
    return created._replace(body={**created.body, "spec": portable_spec(spec)})


def portable_spec(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a definition's JSON without its seats' servers and names of keys."""
    seats = spec.get("seats")
    cleaned = {name: _portable_seat(spec.get(name)) for name in ("chairman", "observer")}
    kept = {name: seat for name, seat in cleaned.items() if name in spec}
    if isinstance(seats, list | tuple):
        kept["seats"] = [_portable_seat(seat) for seat in seats]
    return {**spec, **kept}


def _portable_seat(seat: Any) -> Any:
    if not isinstance(seat, dict):
        return seat
    return {name: value for name, value in seat.items() if name not in _NOT_KEPT}


def _folded(events: list[Event], torn: bool, name: str) -> Record:
    try:
        spec = spec_of(events[0])
        state = start_state(events[0], spec)
    except StoreError as exc:
        if exc.facts.get("fault") == NEWER:
            raise StoreError(f"record {name!r}: {exc}", path=name, fault=NEWER) from exc
        raise _damaged(name, 1, one_line(str(exc.__cause__ or exc), 200)) from exc
    except (RoundtableError, ValueError, TypeError, KeyError, AttributeError) as exc:
        raise _damaged(name, 1, one_line(str(exc), 200)) from exc
    _check_bodies(events, state, name)
    for number, event in enumerate(events[1:], 2):
        try:
            state.apply(event)
        except Exception as exc:  # the edge to a file that anybody may have edited
            why = f"{event.kind!r} doesn't follow from the lines before"
            raise _damaged(name, number, why) from exc
    return Record(tuple(events), spec, state, torn)


def _check_bodies(events: Sequence[Event], state: State, name: str) -> None:
    """Refuse what the fold would take, and whoever shows it would stumble over."""
    speakers = {*state.wire_ids, state.chairman_name, researcher_name(state.spec.seats)}
    for number, event in enumerate(events, 1):
        wrong = wrong_key(event.kind, event.at, event.body)
        seat = event.body.get("seat", state.chairman_name)
        if wrong is None and event.kind in BODY_KEYS and seat not in speakers:
            wrong = "seat"
        if wrong is not None:
            raise _damaged(name, number, f"its {wrong!r} can't be that of {event.kind!r}")


def _damaged(name: str, number: int, why: str) -> StoreError:
    return StoreError(
        f"record {name!r} is damaged at line {number}: {why}; restore the file, or record anew "
        "(record mode 'all')",
        path=name,
        line=number,
        fault="damaged",
    )


def lines_of(events: Iterable[Event]) -> str:
    """Return a record's text."""
    return "".join(map(record_line, events))
