"""The verbs by id, as Python functions: look at debates, take part, go on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, overload

from rt_notebook import session
from rt_notebook.analysis.result import Result
from rt_notebook.config import load_config, seat_table
from rt_notebook.domain.kinds import DISCUSSION
from rt_notebook.domain.script import Script, Step
from rt_notebook.domain.script import wait as wait_step
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.snapshot import Snapshot
from rt_notebook.domain.spec import Limits
from rt_notebook.errors import OptionError, SeatError
from rt_notebook.extending import Extending, extend_run
from rt_notebook.frontends.handle import Handle as Handle
from rt_notebook.frontends.launch import OnEvent, check_callback, hear
from rt_notebook.frontends.place import find_place
from rt_notebook.frontends.views import cell_for
from rt_notebook.frontends.ways import start_background

if TYPE_CHECKING:
    import pandas as pd

WAIT_S: Final = 25.0
"""Seconds that `wait` blocks unless told otherwise."""

Chairman = str | Seat | Script | Callable[..., Any] | None


def load(id: str | Path, *, store: str | Path | None = None) -> Result:
    """Return the result of a debate, running or not, or of a record; see `session.load`."""
    return session.load(id, store)


def debates(
    status: str | None = None, limit: int | None = 50, *, store: str | Path | None = None
) -> pd.DataFrame:
    """Return the newest debates, a row each, as a data frame.

    Args:
        status: only those with this status.
        limit: at most so many; None: all.
        store: a path; None: the default store.

    Raises:
        OptionError: there is no such status, or the limit is no whole number above 0.
    """
    from rt_notebook.analysis.frames import debates_frame

    return debates_frame(session.rows(status, limit, store))


def seats() -> pd.DataFrame:
    """Return the seats that can be named here, a row each, as a data frame."""
    from rt_notebook.analysis.frames import seats_frame

    return seats_frame(seat_table(load_config(), find_place().variables))


def resume(
    id: str,
    *,
    limits: Limits | Mapping[str, Any] | None = None,
    models: Mapping[str, Callable[..., Any]] | None = None,
    store: str | Path | None = None,
    on_event: OnEvent | None = None,
) -> Handle:
    """Go on with an interrupted, failed or paused debate; no finished call is made again.

    Args:
        id: the debate's id, or `last`.
        limits: new limits in place of the old ones; a dict changes those that it names.
        models: callables by seat name, for seats that sat on a function.
        store: a path; None: the default store.
        on_event: called with every event.

    Raises:
        UnknownDebateError: there is no such debate.
        NotResumableError: its state doesn't allow it, somebody else runs it, or a callable is
            missing.
    """
    check_callback(on_event)
    place = find_place()
    opening = session.Opening(store, attended=not place.headless_kernel)
    run = session.resume_run(id, opening, limits=limits, models=models)
    hear(run, on_event)
    return start_background(cell_for(run, place, display=None, background=True), place)


def verdict(
    id: str,
    *,
    models: Mapping[str, Callable[..., Any]] | None = None,
    store: str | Path | None = None,
    on_event: OnEvent | None = None,
) -> Handle:
    """Ask the chairman again, for a debate that is stopped or done without a verdict.

    Raises:
        UnknownDebateError: there is no such debate.
        NotResumableError: its state doesn't allow it.
    """
    check_callback(on_event)
    place = find_place()
    run = session.verdict_run(
        id, session.Opening(store, attended=not place.headless_kernel), models
    )
    hear(run, on_event)
    return start_background(cell_for(run, place, display=None, background=True), place)


def extend(
    id: str,
    prompt: str = "",
    *,
    rounds: int = 1,
    mode: Literal["continue", "new"] | None = None,
    observer_prompt: str | None = None,
    seats: Sequence[str] | None = None,
    models: Mapping[str, Callable[..., Any]] | None = None,
    store: str | Path | None = None,
    on_event: OnEvent | None = None,
) -> Handle:
    """Add rounds to a debate that is done, then a new verdict or summary; the first one is kept.

    Args:
        id: the debate's id, or `last`.
        prompt: your words. Those that begin with "continue", "go deeper" or the like extend the
            topic; others set a new challenge, with all that was said as its background.
        rounds: how many rounds to add.
        mode: says outright whether the prompt goes on or is new.
        observer_prompt: from now on, what a discussion's observer is asked to write.
        seats: the seats' names, should you want to name them; they stay the same.
        models: callables by seat name, for seats that sat on a function.
        store: a path; None: the default store.
        on_event: called with every event.

    Raises:
        UnknownDebateError: there is no such debate.
        NotResumableError: it isn't done (one that was interrupted is resumed first), somebody else
            runs it, or a callable is missing.
        SeatError: other seats are named.
        OptionError: rounds, mode or a text doesn't fit.
    """
    check_callback(on_event)
    place = find_place()
    one = isinstance(seats, str) or not isinstance(seats, Iterable)
    named: Any = None if seats is None else (seats,) if one else tuple(seats)
    more = Extending(prompt, rounds, mode, observer_prompt, named)
    opening = session.Opening(store, attended=not place.headless_kernel)
    run = extend_run(id, more, opening, models=models)
    hear(run, on_event)
    return start_background(cell_for(run, place, display=None, background=True), place)


def state(id: str, *, store: str | Path | None = None) -> Snapshot:
    """Return the state of a debate; see `session.state`."""
    return session.state(id, store)


@overload
def wait(what: str, seconds: float = WAIT_S, *, store: str | Path | None = None) -> Snapshot: ...


@overload
def wait(what: float, seconds: float = WAIT_S, *, then: str | Step | None = None) -> Step: ...


def wait(
    what: str | float,
    seconds: float = WAIT_S,
    *,
    then: str | Step | None = None,
    store: str | Path | None = None,
) -> Snapshot | Step:
    """Wait for a debate, or make a script's delayed step.

    `wait(id)` blocks until there is something to do for the debate, it is over, or `seconds` have
    passed, and returns
    its state. `wait(0.2, then=step)` returns a step for `rt.scripted` that takes 0.2 seconds.

    Raises:
        UnknownDebateError: there is no such debate.
        OptionError: `seconds` is no number.
        SeatError: the step isn't named.
    """
    if isinstance(what, str):
        return session.wait(what, seconds, store)
    if seconds != WAIT_S:  # a step given by place would be lost, and the seat would pass
        raise SeatError(f"wait({what!r}, ...): name the step: wait({what!r}, then=...)")
    return wait_step(what, then)


def answer(
    id: str,
    *,
    round: int | None = None,
    answers: Mapping[str, str] | None = None,
    message: str | None = None,
    seat: str | None = None,
    text: str | None = None,
    store: str | Path | None = None,
) -> Snapshot:
    """Answer an open gate, say a word in a discussion, or give a human seat's reply.

    As with the other verbs by id, any process may run the debate.

    Args:
        id: the debate's id, or `last`.
        round: the round that it is for; a word in a discussion needs none.
        answers: texts by question id.
        message: a free message.
        seat: a human seat's name, with `text`.
        text: its reply.
        store: a path; None: the default store.

    Raises:
        UnknownDebateError: there is no such debate.
        OptionError: the round is missing.
        UsageError: nothing is open there; `kept` has the texts.
    """
    run = session.control_of(id, store)
    if round is None and (seat is not None or run.state().kind != DISCUSSION):
        raise OptionError(
            "answer: round is missing; name the round that it is for, as the state shows it",
            option="round",
            kept={"answers": dict(answers or {}), "message": message, "text": text},
        )
    if (seat is None) != (text is None):
        raise OptionError("answer: seat and text belong together: a human seat's reply")
    if seat is not None and text is not None and round is not None:
        return run.take_turn(round=round, seat=seat, text=text)
    return run.answer(answers, message=message, round=round)


def hold(id: str, *, round: int, store: str | Path | None = None) -> Snapshot:
    """Extend an open gate by its own window, at most three times.

    Raises:
        UsageError: it isn't open, or can't be extended.
    """
    return session.control_of(id, store).hold(round=round)


def finish(id: str, *, store: str | Path | None = None) -> Snapshot:
    """Go to the verdict with the complete replies.

    Raises:
        UsageError: there is nothing to judge yet.
    """
    return session.control_of(id, store).finish()


def stop(id: str, *, store: str | Path | None = None) -> Snapshot:
    """End a debate now; completed replies are kept.

    Raises:
        UsageError: it has ended.
    """
    return session.control_of(id, store).stop()


def export(
    id: str | Path, path: str | os.PathLike[str], *, store: str | Path | None = None
) -> list[Path]:
    """Write a debate's decision record, transcript, log, report and tables into a folder.

    See `frontends.export` for the files. Again into the same folder: the debate's own files are
    overwritten, unless somebody changed them. All files are written, or none.

    Args:
        id: the debate's id, or `last`, or a record's path.
        path: the folder; made when it isn't there.
        store: a path; None: the default store.

    Returns:
        The files' paths, the decision record first.

    Raises:
        UnknownDebateError: there is no such debate.
        UsageError: a name is taken, or a file was changed since the last export.
        StoreError: the folder can't be written, or the disk is full.
    """
    from rt_notebook.frontends.export import export as write

    return write(session.load(id, store), path)


def delete(id: str, *, store: str | Path | None = None) -> None:
    """Delete a debate for good.

    Raises:
        NotResumableError: somebody runs it.
    """
    session.delete(id, store)
