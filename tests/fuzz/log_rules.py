"""What holds for the log of every debate, whatever was said, asked, killed and resumed.

Each rule reads the events once and raises an AssertionError that names the event.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

from rt_notebook.domain.events import BODY_KEYS, Event
from rt_notebook.domain.seat import vendor_of
from rt_notebook.domain.spec import DebateSpec, Limits
from rt_notebook.domain.turn import CLOSING_PURPOSES, REPAIR

AFTER_END: Final = {
    "concluded": {"resumed", "extended", "verdict_started"},
    "interrupted": {"resumed"},
}
"""What may follow an end."""

_GATE: Final = {"gate_answered", "gate_held", "gate_closed"}


def check_log(events: Sequence[Event]) -> None:
    """Check every rule."""
    for rule in RULES:
        try:
            rule(events)
        except AssertionError as exc:
            raise AssertionError(f"{rule.__doc__}\n{exc}\n{_story(events)}") from exc


def _story(events: Sequence[Event]) -> str:
    def told(event: Event) -> str:
        body = event.body
        facts = [body[name] for name in ("call", "error", "why", "limit", "status") if name in body]
        return f"{event.seq} {event.kind} {' '.join(map(str, facts))}".strip()

    return "; ".join(map(told, events))


def events_are_in_order(events: Sequence[Event]) -> None:
    """Numbers have no hole, times never go back, one debate, known kinds with known keys."""
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert len({event.debate for event in events}) == 1
    for before, event in pairwise(events):
        assert before.at <= event.at, event
    assert [e.seq for e in events if e.kind == "created"] == [1]
    for event in events:
        assert event.kind in BODY_KEYS, event
        extra = set(event.body) - set(BODY_KEYS[event.kind].split())
        assert not extra, (event.kind, extra)


def ends_are_ends(events: Sequence[Event]) -> None:
    """After an end only what sets a debate going again follows."""
    for before, event in pairwise(events):
        if before.kind in AFTER_END:
            assert event.kind in AFTER_END[before.kind], (before, event)
        if event.kind == "extended":
            assert before.kind == "concluded", (before, event)


def calls_are_told_once(events: Sequence[Event]) -> None:
    """A call starts once, ends at most once, after its start, and is read after its end."""
    started: set[str] = set()
    ended: set[str] = set()
    finished: set[str] = set()
    for event in events:
        call = str(event.body.get("call"))
        if event.kind == "call_started":
            assert call not in started, event
            started.add(call)
        elif event.kind in ("call_finished", "call_failed"):
            assert call in started, event
            assert call not in ended, event
            ended.add(call)
            if event.kind == "call_finished":
                finished.add(call)
        elif event.kind in ("reply_read", "repaired"):
            assert call in finished, event


def finished_calls_are_not_repeated(events: Sequence[Event]) -> None:
    """Who has answered isn't asked the same again; a verdict is asked for anew on demand only."""
    purpose_of: dict[str, tuple[Any, ...]] = {}
    answered: set[tuple[Any, ...]] = set()
    verdicts = 0
    for event in events:
        body = event.body
        verdicts += event.kind == "verdict_started"
        if event.kind == "call_started":
            closes = body["purpose"] in CLOSING_PURPOSES
            closes = closes or (body["purpose"] == REPAIR and not _turn(events, body))
            key = (body["seat"], body["round"], body["purpose"], verdicts if closes else None)
            assert key not in answered, event
            purpose_of[body["call"]] = key
        elif event.kind == "call_finished":
            answered.add(purpose_of[body["call"]])


def _turn(events: Sequence[Event], body: dict[str, Any]) -> bool:
    """Return whether a repair is a seat's own, not the chairman's."""
    seats = {seat["name"] for seat in events[0].body["spec"]["seats"]}
    return body["seat"] in seats


def gates_are_kept(events: Sequence[Event]) -> None:
    """One gate at a time; it is answered once, held three times at most, and then closed."""
    number: int | None = None
    counts: Counter[str] = Counter()
    for event in events:
        if event.kind == "gate_opened":
            assert number is None, event
            number = event.body["round"]
            counts.clear()
        elif event.kind in _GATE:
            assert event.body["round"] == number, event
            counts[event.kind] += 1
            assert counts["gate_answered"] <= 1, event
            assert counts["gate_held"] <= 3, event
            if event.kind == "gate_closed":
                number = None
        elif event.kind in ("interrupted", "resumed"):
            number = None  # it opens again
        else:
            assert number is None or event.kind in ("finish_asked", "stop_asked"), event


def rounds_follow_each_other(events: Sequence[Event]) -> None:
    """Rounds begin one after the other, and an answer is read in the round it was asked in."""
    first = 1 if events[0].body["spec"]["kind"] == "discussion" else 0
    rounds = [event.body["round"] for event in events if event.kind == "round_started"]
    assert rounds == list(range(first, first + len(rounds)))


def asks_nothing_after_the_word_to_end(events: Sequence[Event]) -> None:
    """After a stop nobody is called, after a finish no seat is."""
    seats = {seat["name"] for seat in events[0].body["spec"]["seats"]}
    stopped = finished = False
    for event in events:
        if event.kind in ("stop_asked", "finish_asked"):
            stopped = stopped or event.kind == "stop_asked"
            finished = finished or event.kind == "finish_asked"
        elif event.kind in ("resumed", "extended", "concluded"):
            stopped = False  # to resume is the newer word
            # A finish holds across an interruption; a new round is only had by extending.
            finished = finished and event.kind == "resumed"
        elif event.kind == "call_started":
            assert not stopped, event
            assert not (finished and event.body["seat"] in seats), event


def budgets_hold(events: Sequence[Event]) -> None:
    """No limit on calls is overrun by more than what an end cut off, or a person asked for."""
    spec = DebateSpec.model_validate(events[0].body["spec"])
    limits, spare = spec.limits, 0
    used: Counter[str] = Counter()
    running: set[str] = set()
    for before, event in zip([events[0], *events], events, strict=False):
        body = event.body
        if event.kind == "resumed" and body.get("limits"):
            limits = Limits.model_validate(body["limits"])
        if event.kind in ("interrupted", "resumed"):
            spare += len(running)
            running.clear()
        if event.kind == "verdict_started" and before.kind == "concluded":
            spare += 1  # a person asks for it, whatever was spent
        if event.kind == "call_started":
            running.add(body["call"])
            used[vendor_of(body["model"])] += 1
            _check_bounds(limits, used, spare, event)
        elif event.kind in ("call_finished", "call_failed"):
            running.discard(body["call"])


def _check_bounds(limits: Limits, used: Counter[str], spare: int, event: Event) -> None:
    if limits.max_calls is not None:
        assert used.total() <= limits.max_calls + spare, (event, limits, spare)
    for vendor, bound in limits.max_calls_per_vendor.items():
        assert used[vendor] <= bound + spare, (event, limits, spare)


RULES: Final = (
    events_are_in_order,
    ends_are_ends,
    calls_are_told_once,
    finished_calls_are_not_repeated,
    gates_are_kept,
    rounds_follow_each_other,
    asks_nothing_after_the_word_to_end,
    budgets_hold,
)
