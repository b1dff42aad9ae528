"""Extending a debate that is done: what may be added, and the run that goes on with it.

A review gets more critique rounds and a new verdict, a discussion more rounds and a new summary;
what was there before stays in the record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rt_notebook.characters import whole
from rt_notebook.domain.extension import CONTINUE, MAX_PROMPT, NEW
from rt_notebook.domain.kinds import MAX_OBSERVER_PROMPT
from rt_notebook.domain.spec import MAX_ROUNDS
from rt_notebook.domain.state import RESUMABLE, State
from rt_notebook.engine.estimate import spec_warnings
from rt_notebook.engine.limits import broken_limit
from rt_notebook.errors import (
    LimitError,
    NotResumableError,
    OptionError,
    SeatError,
    nearest,
    one_line,
)
from rt_notebook.running import DebateRun
from rt_notebook.seating import (
    check_functions,
    check_people,
    everybody,
    is_unattended,
    with_functions,
)
from rt_notebook.session import Opening
from rt_notebook.stored import find_debate, take_over


@dataclass(frozen=True)
class Extending:
    """What is to be added to a debate that has ended."""

    prompt: str = ""
    """The person's words: what to go on with, or a new challenge."""
    rounds: int = 1
    """Rounds to add."""
    mode: str | None = None
    """continue or new; None: found out by the prompt's first words."""
    observer_prompt: str | None = None
    """Replaces the stored one of a discussion; None: it stays."""
    seats: tuple[str, ...] | None = None
    """The seats' names; nobody else can be named."""


def extend_run(
    debate: str,
    more: Extending,
    opening: Opening,
    *,
    models: Mapping[str, Callable[..., Any]] | None = None,
) -> DebateRun:
    """Return a run that adds rounds to a debate that is done; seats and history stay.

    Args:
        debate: its id, or `last`.
        more: what is added.
        opening: how to run it.
        models: callables by seat name, for seats that sat on a function.

    Raises:
        UnknownDebateError: there is no such debate.
        NotResumableError: it isn't done, somebody else runs it, or a callable is missing.
        OptionError: something that is added doesn't fit.
        LimitError: no further round fits its limits.
        SeatError: other seats are named, or a seat is a person and nobody can answer here.
    """
    store, name = find_debate(debate, opening.store)
    log, state = take_over(store, name, opening.durability)
    try:
        if state.status != "done":
            raise _not_extendable(state)
        _check_extending(more, state)
        state.spec = with_functions(state.spec, models or {})
        check_functions(state, everybody(state.spec))
        unattended = is_unattended(state.spec, opening.attended)
        check_people(everybody(state.spec), unattended)
        body = {
            "prompt": whole(more.prompt).strip(),
            "rounds": more.rounds,
            "mode": more.mode,
            "observer_prompt": whole(more.observer_prompt or "") or None,
            "source": opening.source,
            "unattended": unattended,
        }
        return DebateRun(state, store, log, [("extended", body)], spec_warnings(state.spec))
    except BaseException:
        log.release()
        raise


def _not_extendable(state: State) -> NotResumableError:
    verb, first = "verdict", f"ask for its {state.spec.ending_name} first"
    if state.status in RESUMABLE or state.live:
        verb, first = "resume", "go on with it first"
    return NotResumableError(
        f"debate {state.id!r} is {state.status}; extend takes one that is done: {first} "
        f"(%roundtable {verb} {state.id}), then extend it",
        status=state.status,
        verb=verb,
    )


def _check_types(more: Any) -> None:
    """Check what no type checker has seen."""
    texts = {"prompt": more.prompt, "observer_prompt": more.observer_prompt or ""}
    wrong = {name: text for name, text in texts.items() if not isinstance(text, str)}
    for name, given in wrong.items():
        shown = one_line(repr(given), 80)
        raise OptionError(f"extend: {name}={shown}: a text is expected", option=name)
    if isinstance(more.rounds, bool) or not isinstance(more.rounds, int):
        shown = one_line(repr(more.rounds), 80)
        raise OptionError(f"extend: rounds={shown}: a whole number is expected", option="rounds")
    if more.mode not in (None, CONTINUE, NEW):
        hint = nearest(more.mode, (CONTINUE, NEW)) if isinstance(more.mode, str) else ""
        raise OptionError(f"extend: mode={more.mode!r}: {CONTINUE} or {NEW}{hint}", option="mode")


def _check_extending(more: Extending, state: State) -> None:
    _check_types(more)
    names = [seat.name for seat in state.spec.seats]
    if more.seats is not None and list(more.seats) != names:
        raise SeatError(
            f"extend keeps the seats ({', '.join(names)}); start a new debate for other ones"
        )
    left = MAX_ROUNDS - state.round
    if not 1 <= more.rounds <= left:
        raise OptionError(
            f"extend: rounds={more.rounds}: 1 to {left} more are allowed ({MAX_ROUNDS} in all)",
            option="rounds",
        )
    if more.mode == NEW and not more.prompt.strip():
        raise OptionError("extend: the new challenge is empty; write it", option="prompt")
    _check_texts(more, state)
    _check_budget(state)


def _check_budget(state: State) -> None:
    """Refuse what would only be paid for with a new ending: not one more round is to be had.

    Where a limit pauses the debate, it pauses here too, and goes on with other limits.
    """
    asked = [seat.name for seat in state.spec.seats]
    limit = broken_limit(state, asked[:1] if state.discusses else asked)
    if limit is not None and state.spec.limits.on_limit == "verdict":
        raise LimitError(
            f"extend: no further round fits its limits: {limit['limit']}={limit['bound']:g}, "
            f"{limit['used']:g} used; nothing was called",
            **limit,
        )


def _check_texts(more: Extending, state: State) -> None:
    if more.observer_prompt is not None and not state.discusses:
        raise OptionError(
            "extend: a review has a chairman and no observer; leave observer_prompt out",
            option="observer_prompt",
        )
    for what, text, bound in (
        ("the prompt", more.prompt, MAX_PROMPT),
        ("observer_prompt", more.observer_prompt or "", MAX_OBSERVER_PROMPT),
    ):
        if len(text) > bound:
            raise OptionError(f"extend: {what} has {len(text):,} characters; {bound:,} are allowed")
