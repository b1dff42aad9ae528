"""Records of debates: what a mode allows, what is refused and why, and the run that follows.

    once   replay the record where it is there and fits, record where it isn't there, else refuse
    new    replay what fits call by call, make only the calls that are missing
    none   replay, or refuse: nobody is ever called
    all    record anew

Knows no front end. How far a record fits is found out in `fitting`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rt_notebook.analysis.result import Result
from rt_notebook.contract.record import Record, record_line
from rt_notebook.domain.events import EVENT_VERSION, Event
from rt_notebook.domain.gate import Gate
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.domain.state import State, fold, start_state
from rt_notebook.engine.commands import Body
from rt_notebook.engine.estimate import Estimate, Range, spec_warnings
from rt_notebook.errors import (
    OptionError,
    RecordMismatchError,
    RoundtableError,
    StoreError,
    UnknownDebateError,
    nearest,
    one_line,
)
from rt_notebook.fitting import Fit, fit
from rt_notebook.next_steps import snapshot_of
from rt_notebook.providers.registry import all_scripted
from rt_notebook.providers.replay import Book
from rt_notebook.record_runs import Recorder, RecordingRun, ReplayRun, prompts_warning
from rt_notebook.running import DebateRun, created_body
from rt_notebook.store.log import Durability, Store
from rt_notebook.store.paths import new_debate_id
from rt_notebook.store.record import (
    check_writable,
    load_record,
    record_path,
    recorded,
    save_record,
)

ONCE: Final = "once"
NEW: Final = "new"
NONE: Final = "none"
ALL: Final = "all"
MODES: Final = (ONCE, NEW, NONE, ALL)
"""The record modes, the default first."""

MODE_VARIABLE: Final = "RT_NOTEBOOK_RECORD"
"""The environment variable that names the mode where no argument does."""

_WAYS_OUT: Final = (
    "record mode 'new' makes only the calls that are missing, 'all' records the debate anew"
)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done with a debate's record."""

    path: Path
    """The file."""
    name: str
    """As the caller named it, for messages."""
    mode: str
    """One of `MODES`."""
    record: Record | None = None
    """What is there; None where the debate is recorded from its beginning."""
    fit: Fit | None = None
    """How far it fits."""

    @property
    def replays(self) -> bool:
        """True where all of the debate is in the record: nobody is called or asked."""
        record, found = self.record, self.fit
        return record is not None and record.finished and found is not None and not found.misfit


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


def record_mode(given: str | None) -> str:
    """Return the mode: the caller's, else the environment's, else `once`.

    Raises:
        OptionError: there is no such mode.
    """
    text, where = given, "record_mode"
    if text is None:
        text, where = os.environ.get(MODE_VARIABLE) or ONCE, MODE_VARIABLE
    if text not in MODES:
        raise OptionError(
            f"{where}={one_line(str(text), 40)!r}: one of {', '.join(MODES)}"
            f"{nearest(str(text), MODES)}",
            option="record_mode",
        )
    return text


def plan_record(
    spec: DebateSpec, record: str | os.PathLike[str] | None, mode: str | None
) -> Plan | None:
    """Return what is to be done with a debate's record; None: it has none.

    Nothing is called, and no file is changed.

    Args:
        spec: the debate's definition.
        record: the record's path; None: it has none.
        mode: the mode; None: the environment's, else `once`.

    Raises:
        RecordMismatchError: the mode doesn't allow what would have to be done; it names what
            differs, and has it as `differences`, `seat` and `round` too.
        OptionError: path or mode are none.
    """
    chosen = record_mode(mode)
    if record is None:
        if chosen == NONE and not all_scripted(spec):
            raise RecordMismatchError(
                "record mode 'none': nobody may be called, and this debate has no record; give it "
                "one, such as --record reviews/payments.jsonl"
            )
        return None
    path, name = record_path(record), one_line(os.fspath(record), 200)
    if chosen == ALL:
        _check_replaceable(path, name)
        return Plan(path, name, chosen)
    found = _read(path, name, chosen)
    if found is None:
        return Plan(path, name, chosen)
    plan = Plan(path, name, chosen, found, fit(found, spec))
    if chosen in (ONCE, NONE) and not plan.replays:
        raise _refusal(plan)
    return plan


def replay_run(plan: Plan, spec: DebateSpec, store: Store, durability: Durability) -> DebateRun:
    """Return the run of a debate whose record has all of it.

    Raises:
        RecordMismatchError: it hasn't.
    """
    if plan.record is None or not plan.replays:
        raise _refusal(plan)
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


def load_result(path: str | os.PathLike[str]) -> Result:
    """Return the result that a record tells, finished or not.

    Raises:
        StoreError: it isn't there, or no sound record.
    """
    record = load_record(record_path(path), one_line(os.fspath(path), 200))
    warnings = prompts_warning(record.events)
    if record.torn:
        warnings.append("the record's last line is cut off; what stands before it is shown")
    status = "interrupted" if record.state.live else None
    return Result(
        record.state,
        record.events,
        warnings=warnings,
        outside=lambda state: snapshot_of(state, status=status),
    )


def nothing_to_call(attached: tuple[str, ...] = ()) -> Estimate:
    """Return the estimate of a debate that is replayed."""
    none = Range(0, 0, 0)
    return Estimate(
        calls=none,
        prompt_tokens=none,
        completion_tokens=none,
        cost=none,
        vendors={},
        warnings=(),
        attached=attached,
    )


def warnings_of(spec: DebateSpec, unattended: bool) -> list[str]:
    """Return what a person should know about a debate before it runs."""
    warnings = spec_warnings(spec)
    if spec.gates == "blocking" and unattended:
        warnings.append(
            "gates='blocking', but nobody can answer here: no gate opens, questions stay open"
        )
    return warnings


def _replay(record: Record, spec: DebateSpec, store: Store, durability: Durability) -> DebateRun:
    try:
        warnings = warnings_of(spec, record.state.unattended)
    except RoundtableError:  # what the seats would need isn't here, and isn't needed
        warnings = []
    warnings += prompts_warning(record.events)
    return ReplayRun(record.events, spec, store, store.log(record.id, durability), warnings)


def _fresh(plan: Plan, spec: DebateSpec, store: Store, start: Start) -> DebateRun:
    debate = new_debate_id(spec.shown_title)
    created = created_body(spec.model_dump(mode="json"), start.source, start.unattended)
    state = start_state(Event(EVENT_VERSION, debate, 0, _now(), *created), spec)
    log = store.log(debate, start.durability)
    return RecordingRun(state, store, log, [created], start.warnings, _recorder(plan, spec))


def _completed(
    plan: Plan, record: Record, spec: DebateSpec, store: Store, start: Start
) -> DebateRun | None:
    """Return the run that goes on where an unfinished record ends, as the same debate.

    None where the store holds another debate under its id.
    """
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
            save_record(plan.path, known)
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
    body = created_body(spec.model_dump(mode="json"), start.source, start.unattended)[1]
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


def _read(path: Path, name: str, mode: str) -> Record | None:
    """Return the record that is there, or None where there is none and one may be made."""
    try:
        return load_record(path, name)
    except StoreError as exc:
        fault = getattr(exc, "fault", None)
        if mode != NONE and (fault == "missing" or (fault == "empty" and mode == NEW)):
            return None
        hint = "; record mode 'none' calls nobody" if mode == NONE else ""
        raise RecordMismatchError(f"{exc}{hint}", path=name) from exc


def _refusal(plan: Plan) -> RecordMismatchError:
    record, found = plan.record, plan.fit
    misfit = found.misfit if found is not None else None
    if misfit is not None:
        return RecordMismatchError(
            f"the record {plan.name!r} doesn't fit this debate, {misfit}; nothing was called; "
            f"{_WAYS_OUT}",
            path=plan.name,
            seat=misfit.seat,
            round=misfit.round,
            differences=[difference.to_json() for difference in misfit.differences],
        )
    why = "is cut off" if record is not None and record.torn else "is unfinished"
    status = "" if record is None else f" (status {_status(record.state)})"
    return RecordMismatchError(
        f"the record {plan.name!r} {why}{status}; nothing was called; {_WAYS_OUT}", path=plan.name
    )


def _status(state: State) -> str:
    return "interrupted" if state.live else state.status


def _check_replaceable(path: Path, name: str) -> None:
    """Check that what `all` writes over is a record, sound or not.

    Raises:
        OptionError: it is another file.
    """
    try:
        with path.open("rb") as file:
            head = file.read(4096)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as exc:
        why = f"record={name!r} can't be read: {exc.strerror}"
        raise OptionError(why, option="record") from exc
    if head.strip() and not (head.lstrip().startswith(b"{") and b'"at":' in head):
        raise OptionError(
            f"record={name!r} is another file, no record; name a file that may be written over",
            option="record",
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
