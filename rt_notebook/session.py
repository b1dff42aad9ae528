"""The composition root: makes runs of debates and carries out the verbs by id.

Front ends decide what is shown and whether somebody is there; this module knows neither notebook
nor terminal.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rt_notebook.analysis.result import Result
from rt_notebook.arguments import check_listing, checked_seconds
from rt_notebook.beginning import created_body
from rt_notebook.domain.events import EVENT_VERSION, Event
from rt_notebook.domain.snapshot import Snapshot
from rt_notebook.domain.spec import DebateSpec, Limits, changed_limits
from rt_notebook.domain.state import LIVE, RESUMABLE, fold, start_state
from rt_notebook.domain.titles import running_line
from rt_notebook.engine.commands import Body
from rt_notebook.engine.estimate import Estimate, check_limits, estimate, spec_warnings
from rt_notebook.engine.limits import with_room
from rt_notebook.errors import NotResumableError, SeatError
from rt_notebook.following import Following
from rt_notebook.next_steps import awaiting, snapshot_of
from rt_notebook.providers.consents import consents_of
from rt_notebook.providers.registry import all_scripted, check_provider
from rt_notebook.providers.searching import searcher_of
from rt_notebook.record_starts import Start, recording_run, replay_run, warnings_of
from rt_notebook.recording import load_result, nothing_to_call, plan_record
from rt_notebook.remote import RemoteControl
from rt_notebook.running import DebateRun, running
from rt_notebook.seating import (
    check_functions,
    check_people,
    everybody,
    is_unattended,
    with_functions,
)
from rt_notebook.store import open_store
from rt_notebook.store.log import DebateRow, Durability, Store, brief_digest
from rt_notebook.store.paths import new_debate_id
from rt_notebook.store.record import is_record
from rt_notebook.stored import StoreChoice, find_debate, opened, take_over

Control = DebateRun | RemoteControl
"""Who carries the verbs out on a running debate: its run in this process, or a messenger to it."""


@dataclass(frozen=True)
class Opening:
    """How a debate is to be run, beside its definition."""

    store: StoreChoice = None
    """Where it is kept."""
    durability: Durability = "process"
    """What an event survives."""
    attended: bool = False
    """True when somebody can be asked."""
    source: str = "person"
    """Who starts it: person, agent or process."""
    record: str | os.PathLike[str] | None = None
    """The file that keeps the debate to be run again; None: none."""
    record_mode: str | None = None
    """once, new, none or all; None: the environment's, else once."""


def check_spec(spec: DebateSpec, attached: tuple[str, ...] = ()) -> Estimate:
    """Return what a debate would cost, after checking seats and limits; nothing is called.

    Raises:
        SeatError: a seat's provider doesn't exist or can't be loaded.
        LimitError: the least it needs breaks a limit.
    """
    check_seats(spec)
    found = estimate(spec, attached)
    check_limits(spec, found)
    return found


def check_seats(spec: DebateSpec) -> None:
    """Check that everybody who would be asked is there.

    Raises:
        SeatError: a seat's provider doesn't exist or can't be loaded.
    """
    consents = consents_of(spec)
    for seat in everybody(spec):
        check_provider(seat, consents)
        if seat.model.startswith("function:") and seat.function is None:
            raise SeatError(
                f"seat {seat.name!r}: the function {seat.model[9:]!r} isn't here; give the "
                "callable as model"
            )
    if (searcher := searcher_of(spec)) is not None:
        searcher.check()


def check_opening(spec: DebateSpec, opening: Opening, attached: tuple[str, ...] = ()) -> Estimate:
    """Return what a debate would cost here, its record counted; nothing is called.

    Raises:
        SeatError: a seat that would be asked has a provider that can't be loaded.
        LimitError: the least it needs breaks a limit.
        RecordMismatchError: the record doesn't fit, and its mode doesn't allow to go on.
    """
    plan = plan_record(spec, opening.record, opening.record_mode)
    if plan is not None and plan.replays:
        return nothing_to_call(attached)
    return check_spec(spec, attached)


def new_run(spec: DebateSpec, opening: Opening) -> DebateRun:
    """Return a run of a new debate; nothing is called or stored before its `main`.

    Raises:
        UsageError: the spec can't be run here.
        StoreError: the store can't be opened.
    """
    plan = plan_record(spec, opening.record, opening.record_mode)
    if plan is not None and plan.replays:
        return replay_run(plan, spec, open_store(opening.store), opening.durability)
    check_seats(spec)
    if spec.limits.bounds_use:  # else no estimate is needed, which takes the prompts to be made
        check_limits(spec, estimate(spec))
    unattended = is_unattended(spec, opening.attended)
    check_people(everybody(spec), unattended)
    store = open_store(opening.store)
    warnings = warnings_of(spec, unattended)
    if plan is not None:
        start = Start(opening.durability, opening.source, unattended, warnings)
        return recording_run(plan, spec, store, start)
    spec_json = spec.model_dump(mode="json")
    debate = new_debate_id(spec.shown_title)
    created = created_body(spec_json, opening.source, unattended, opening.durability)
    state = start_state(
        Event(EVENT_VERSION, debate, 0, time.time_ns() // 1_000_000, *created), spec
    )
    return DebateRun(state, store, store.log(debate, opening.durability), [created], warnings)


def resume_run(
    debate: str,
    opening: Opening,
    *,
    limits: Limits | Mapping[str, Any] | None = None,
    models: Mapping[str, Callable[..., Any]] | None = None,
) -> DebateRun:
    """Return a run that goes on with an interrupted, failed or paused debate.

    Args:
        debate: its id, or `last`.
        opening: how to run it.
        limits: new limits in place of the old ones; a dict changes those that it names; None keeps
            them all.
        models: callables by seat name, for seats that sat on a function.

    Raises:
        UnknownDebateError: there is no such debate.
        NotResumableError: its state doesn't allow it, somebody else runs it, or a callable is
            missing.
        SeatError: a seat is a person, and nobody can answer here.
    """
    store, name = find_debate(debate, opening.store)
    log, state = take_over(store, name, opening.durability)
    try:
        if state.status not in RESUMABLE | LIVE:
            raise NotResumableError(
                f"debate {name!r} is {state.status}; resume takes one that is interrupted, error "
                "or paused",
                status=state.status,
            )
        state.spec = with_functions(state.spec, models or {})
        check_functions(state, everybody(state.spec))
        unattended = is_unattended(state.spec, opening.attended)
        check_people(everybody(state.spec), unattended)
        first: list[Body] = [("interrupted", {"why": "its process is gone"})] if state.live else []
        new_limits = with_room(state, changed_limits(state.spec.limits, limits))
        body = {
            "source": opening.source,
            "limits": new_limits and new_limits.model_dump(mode="json"),
            "unattended": unattended,
        }
        first.append(("resumed", body))
        return DebateRun(state, store, log, first, spec_warnings(state.spec))
    except BaseException:
        log.release()
        raise


def verdict_run(
    debate: str, opening: Opening, models: Mapping[str, Callable[..., Any]] | None = None
) -> DebateRun:
    """Return a run that asks the chairman, or the observer, again from the saved replies.

    Raises:
        UnknownDebateError: there is no such debate.
        NotResumableError: it is neither stopped nor done without a verdict, has no reply, somebody
            else runs it, or the chairman's callable is missing.
        SeatError: the chairman is a person, and nobody can answer here.
    """
    store, name = find_debate(debate, opening.store)
    log, state = take_over(store, name, opening.durability)
    try:
        allowed = state.status == "stopped" or (
            state.status == "done" and state.verdict_status != "ready"
        )
        if not allowed:
            ending = state.spec.ending_name
            raise NotResumableError(
                f"debate {name!r} is {state.status}, its {ending} {state.verdict_status}; "
                f"verdict takes one that is stopped, or done without a {ending}",
                status=state.status,
            )
        if not state.latest_replies():
            raise NotResumableError(f"debate {name!r} has no reply to judge")
        state.spec = with_functions(state.spec, models or {})
        chairman = [state.spec.closer] if state.spec.closer else []
        check_functions(state, chairman)
        check_people(chairman, is_unattended(state.spec, opening.attended))
        return DebateRun(state, store, log, [("verdict_started", {})])
    except BaseException:
        log.release()
        raise


def load(debate: str | os.PathLike[str], store: StoreChoice = None) -> Result:
    """Return the result of a debate, running or not.

    Args:
        debate: its id, or `last`, or a record's path (which ends in `.jsonl`).
        store: a path; None: the default store.

    Raises:
        UnknownDebateError: there is no such debate.
        StoreError: the store or the record can't be read.
    """
    if is_record(debate):
        return load_result(debate)
    found, name = find_debate(str(debate), store)
    events = found.events(name)
    shown = _shown_status(found, name)
    return Result(
        fold(events),
        events,
        warnings=found.notes,
        outside=lambda state: snapshot_of(state, status=shown),
        status=shown,
    )


def rows(
    status: str | None = None, limit: int | None = 50, store: StoreChoice = None
) -> list[DebateRow]:
    """Return the newest debates first; a wrong status or limit is an OptionError."""
    check_listing(status, limit)
    return opened(store).debates(status, limit)


def running_rows(store: StoreChoice = None) -> list[DebateRow]:
    """Return the debates at work in any process, newest first."""
    found = opened(store)
    live = [row for status in LIVE for row in found.debates(status, None)]
    return sorted(live, key=lambda row: (row.created_at, row.id), reverse=True)


def running_lines(store: StoreChoice = None) -> list[str]:
    """Return a line for each debate at work in any process: seats, round and phase."""
    found = opened(store)
    return [running_line(fold(found.events(row.id))) for row in running_rows(store)]


def state(debate: str, store: StoreChoice = None) -> Snapshot:
    """Return the state of a debate, running here, elsewhere or nowhere.

    Raises:
        UnknownDebateError: there is no such debate.
    """
    return control_of(debate, store).state()


def wait(
    debate: str, seconds: float, store: StoreChoice = None, *, after_round: int | None = None
) -> Snapshot:
    """Return a debate's state once there is something to do, it is over, or time has passed.

    Args:
        debate: its id, or `last`.
        seconds: how long to block at most.
        store: a path; None: the default store.
        after_round: the gate of this round (or an earlier one) has been shown to the person already
            and is nothing to return for; the next action is then `await_user`.

    Raises:
        UnknownDebateError: there is no such debate.
        OptionError: `seconds` is no number.
    """
    seconds = checked_seconds(seconds)
    following = follow(debate, store)
    found = following.until(
        lambda found: awaiting(found, after_round).next_action.type not in ("wait", "await_user"),
        seconds,
    )
    return awaiting(found, after_round)


def follow(debate: str, store: StoreChoice = None) -> Following:
    """Return what keeps up with a debate that any process runs.

    Raises:
        UnknownDebateError: there is no such debate.
    """
    return Following(*find_debate(debate, store))


def control_of(debate: str, store: StoreChoice = None) -> Control:
    """Return what steers a debate, whichever process runs it.

    Args:
        debate: its id, or `last`.
        store: a path; None: where a debate of this process is kept, else the default store.

    Raises:
        UnknownDebateError: there is no such debate.
    """
    found, name = find_debate(debate, store)
    run = running(name)
    if run is not None and run.store is found:
        return run
    return RemoteControl(found, name)


def delete(debate: str, store: StoreChoice = None) -> None:
    """Delete a debate for good; a running one can't be.

    Raises:
        UnknownDebateError: there is no such debate.
        NotResumableError: somebody runs it.
    """
    found, name = find_debate(debate, store)
    found.delete(name)


def interrupted_twins(spec: DebateSpec, store: StoreChoice = None) -> list[DebateRow]:
    """Return the debates of the same brief that could be resumed, newest first."""
    digest = brief_digest(spec.brief.model_dump(mode="json"))
    return opened(store).find_interrupted(digest)


def missing_functions(debate: str, store: StoreChoice = None) -> dict[str, str]:
    """Return the function's name by seat, for the seats of a stored debate that sat on one.

    A tool's function stands under its own name.
    """
    found, name = find_debate(debate, store)
    seats = everybody(fold(found.events(name)[:1]).spec)
    tools = {name: name for seat in seats for name in seat.missing_tools}
    return tools | {
        seat.name: seat.model[9:] for seat in seats if seat.model.startswith("function:")
    }


def is_all_scripted(spec: DebateSpec) -> bool:
    """True when no model, function or person is asked."""
    return all_scripted(spec)


def _shown_status(store: Store, debate: str) -> str | None:
    """Return `interrupted` for a live debate whose holder is gone, else None."""
    row = store.row(debate)
    return "interrupted" if row.status == "interrupted" else None
