"""Records of debates: what a mode allows, what is refused and why, and the run that follows.

    once   replay the record where it is there and fits, record where it isn't there, else refuse
    new    replay what fits call by call, make only the calls that are missing
    none   replay, or refuse: nobody is ever called
    all    record anew

Knows no front end. How far a record fits is found out in `fitting`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rt_notebook.analysis.result import Result
from rt_notebook.contract.record import Record
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.domain.state import State
from rt_notebook.engine.estimate import Estimate, Range
from rt_notebook.errors import (
    OptionError,
    RecordMismatchError,
    StoreError,
    nearest,
    one_line,
)
from rt_notebook.fitting import Fit, fit
from rt_notebook.next_steps import snapshot_of
from rt_notebook.providers.registry import all_scripted
from rt_notebook.record_runs import prompts_warning
from rt_notebook.store.record import (
    load_record,
    record_path,
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
        raise refusal(plan)
    return plan


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
        status=status,
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


def refusal(plan: Plan) -> RecordMismatchError:
    """Return why a record can't be replayed as it is."""
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
