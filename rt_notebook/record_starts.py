"""The runs of debates with a record: replayed, recorded anew, or gone on with.

Which of them is due is decided in `recording`; how they run stands in `record_runs`.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rt_notebook.beginning import created_body
from rt_notebook.contract.record import Record, lines_of, record_line
from rt_notebook.domain.events import EVENT_VERSION, Event
from rt_notebook.domain.gate import Gate
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.domain.state import State, fold, start_state
from rt_notebook.engine.commands import Body
from rt_notebook.engine.estimate import spec_warnings
from rt_notebook.errors import RoundtableError, UnknownDebateError
from rt_notebook.fitting import Fit, fit
from rt_notebook.providers.replay import Book
from rt_notebook.record_runs import Recorder, RecordingRun, ReplayRun, prompts_warning
from rt_notebook.recording import Plan, refusal
from rt_notebook.running import DebateRun
from rt_notebook.store.log import Durability, Store
from rt_notebook.store.paths import new_debate_id
from rt_notebook.store.record import check_writable, recorded, save_record


@dataclass(frozen=True)
class Start:
    """How a debate that isn't replayed as a whole begins."""

    durability: Durability
    """What an event survives."""
    source: str
    """Who starts it."""
    unattended: bool
    """Whether nobody is asked."""
    warnings: Sequence[str]
    """What a person should know."""


def warnings_of(spec: DebateSpec, unattended: bool) -> list[str]:
    """Return what a person should know about a debate before it runs."""
    warnings = spec_warnings(spec)
    if spec.gates == "blocking" and unattended:
        warnings.append(
            "gates='blocking', but nobody can answer here: no gate opens, questions stay open"
        )
    return warnings


def replay_run(plan: Plan, spec: DebateSpec, store: Store, durability: Durability) -> DebateRun:
    """Return the run of a debate whose record has all of it.

    Raises:
        RecordMismatchError: it hasn't.
    """
    if plan.record is None or not plan.replays:
        raise refusal(plan)
    return _replay(plan.record, spec, store, durability)


def recording_run(plan: Plan, spec: DebateSpec, store: Store, start: Start) -> DebateRun:
    """Return the run of a debate that makes the calls which its record lacks, and writes it.

    Raises:
        StoreError: the record can't be written.
        NotResumableError: somebody runs the recorded debate.
    """
    check_writable(plan.path, plan.name)
    if plan.record is None or plan.fit is None:
        return _fresh(plan, spec, store, start)
    if plan.fit.misfit is None:
        found = _completed(plan, plan.record, spec, store, start)
        if found is not None:
            return found
    return _partly(plan, plan.record, plan.fit, spec, store, start)


def _replay(record: Record, spec: DebateSpec, store: Store, durability: Durability) -> DebateRun:
    try:
        warnings = warnings_of(spec, record.state.unattended)
    except RoundtableError:  # what the seats would need isn't here, and isn't needed
        warnings = []
    warnings += prompts_warning(record.events)
    return ReplayRun(record.events, spec, store, store.log(record.id, durability), warnings)


def _fresh(plan: Plan, spec: DebateSpec, store: Store, start: Start) -> DebateRun:
    debate = new_debate_id(spec.shown_title)
    created = created_body(
        spec.model_dump(mode="json"), start.source, start.unattended, start.durability
    )
    state = start_state(Event(EVENT_VERSION, debate, 0, _now(), *created), spec)
    log = store.log(debate, start.durability)
    return RecordingRun(state, store, log, [created], start.warnings, _recorder(plan, spec))


def _completed(
    plan: Plan, record: Record, spec: DebateSpec, store: Store, start: Start
) -> DebateRun | None:
    """Return the run that goes on where an unfinished record ends, as the same debate.

    None where the store holds another debate under its id.
    """
    whole = replace(record, torn=False)
    if whole.finished:  # nothing but its last line's end is missing
        save_record(plan.path, lines_of(whole.events))
        return _replay(whole, spec, store, start.durability)
    log = store.log(record.id, start.durability)
    try:
        store.row(record.id)
    except UnknownDebateError:
        return _gone_on(plan, record, spec, store, start)
    log.take_over()
    try:
        events = store.events(record.id)
        known = recorded(events, fold(events[:1]).spec)
        if not _begins_with(known, record.events):
            log.release()
            return None
        further = _of_events(known, record)
        found = fit(further, spec)
        if further.finished and found.misfit is None:
            # It was resumed in the store: the record only has to learn how it ended.
            log.release()
            save_record(plan.path, lines_of(known))
            return _replay(further, spec, store, start.durability)
        state = start_state(events[0]._replace(seq=0), spec)
        return RecordingRun(
            state,
            store,
            log,
            _resumed(further.state, start),
            start.warnings,
            _recorder(plan, spec),
            past=events,
            keep_past=False,
        )
    except BaseException:
        log.release()
        raise


def _gone_on(plan: Plan, record: Record, spec: DebateSpec, store: Store, start: Start) -> DebateRun:
    """Return the run of an unfinished record that the store doesn't know."""
    number = len(record.events)
    past = [_under(record.events[0], spec), *record.events[1:]]
    now = max(_now(), record.state.updated_at)
    for kind, body in _resumed(record.state, start):
        number += 1
        past.append(Event(EVENT_VERSION, record.id, number, now, kind, body))
    state = start_state(past[0]._replace(seq=0), spec)
    log = store.log(record.id, start.durability)
    recorder = _recorder(plan, spec)
    return RecordingRun(state, store, log, (), start.warnings, recorder, past=past)


def _partly(
    plan: Plan, record: Record, found: Fit, spec: DebateSpec, store: Store, start: Start
) -> DebateRun:
    """Return the run of another debate that takes over what fits."""
    debate = new_debate_id(spec.shown_title)
    body = created_body(
        spec.model_dump(mode="json"), start.source, start.unattended, start.durability
    )[1]
    kept = _without_loose_calls(found.kept)
    if found.misfit is None:  # whole, but the store knows another debate of this id
        resumed = _resumed(found.state, start)
        at = max(_now(), record.state.updated_at)
        kept += [Event(EVENT_VERSION, debate, 0, at, *each) for each in resumed]
    past = [
        event._replace(debate=debate, seq=number, body=body if number == 1 else event.body)
        for number, event in enumerate(kept, 1)
    ]
    used = {event.body.get("call") for event in found.kept if event.kind == "call_finished"}
    book = Book(record.events, record.spec, skip=lambda event: event.body.get("call") in used)
    state = start_state(past[0]._replace(seq=0), spec)
    return RecordingRun(
        state,
        store,
        store.log(debate, start.durability),
        (),
        start.warnings,
        _recorder(plan, spec),
        past=past,
        book=book,
        gates=_later_gates(record.state, found.state),
    )


def _resumed(state: State, start: Start) -> list[Body]:
    """Return the events with which an unfinished debate goes on."""
    found: list[Body] = [("interrupted", {"why": "its process is gone"})] if state.live else []
    body = {"source": start.source, "limits": None, "unattended": start.unattended}
    return [*found, ("resumed", body)]


def _begins_with(known: Sequence[Event], events: Sequence[Event]) -> bool:
    """Return whether a log tells the same as a record, as far as that goes."""
    # The first event holds the definition, which `fit` has compared.
    pairs = zip(known[1 : len(events)], events[1:], strict=False)
    return len(known) >= len(events) and all(record_line(a) == record_line(b) for a, b in pairs)


def _of_events(events: Sequence[Event], record: Record) -> Record:
    return Record(tuple(events), record.spec, fold(events))


def _under(created: Event, spec: DebateSpec) -> Event:
    return created._replace(body={**created.body, "spec": spec.model_dump(mode="json")})


def _without_loose_calls(events: Iterable[Event]) -> list[Event]:
    """Return events without the calls that have no end: they are asked anew."""
    kept = list(events)
    ends = ("call_finished", "call_failed")
    ended = {event.body["call"] for event in kept if event.kind in ends}
    return [event for event in kept if event.kind != "call_started" or event.body["call"] in ended]


def _later_gates(whole: State, kept: State) -> list[Gate]:
    return whole.gates[len(kept.gates) :]


def _recorder(plan: Plan, spec: DebateSpec) -> Recorder:
    return Recorder(plan.path, plan.name, spec)


def _now() -> int:
    return time.time_ns() // 1_000_000
