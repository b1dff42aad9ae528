"""The directory of doors: which provider a model string names, and what it needs.

Nothing heavy is loaded here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from rt_notebook.contract.prompts import shown_names
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.domain.state import State
from rt_notebook.errors import NotResumableError, SeatError, nearest
from rt_notebook.providers.base import Provider
from rt_notebook.providers.function import FunctionProvider, import_function
from rt_notebook.providers.human import Desk, HumanProvider
from rt_notebook.providers.scripted import BelievableProvider, ScriptProvider, load_script


@dataclass(frozen=True)
class Context:
    """What providers of one debate share."""

    state: Callable[[], State]
    """The debate so far."""
    desk: Desk
    """Where human seats' turns lie."""


Door = Callable[[Seat, str, Context], Provider]


def make_provider(seat: Seat, context: Context) -> Provider:
    """Return the provider of a seat.

    Raises:
        SeatError: no provider has that name, or what it needs is missing.
        NotResumableError: the seat's callable isn't there any more.
    """
    return door_of(seat)(seat, seat.model.partition(":")[2], context)


def door_of(seat: Seat) -> Door:
    """Return the door behind a seat's model string.

    Raises:
        SeatError: no provider has that name.
    """
    prefix = seat.model.partition(":")[0]
    if prefix not in DOORS:
        raise _unknown(seat)
    return DOORS[prefix]


def check_provider(seat: Seat) -> None:
    """Check, before any call, that a seat's provider exists and what it names can be loaded.

    Raises:
        SeatError: it doesn't, or can't.
    """
    prefix, _, rest = seat.model.partition(":")
    door_of(seat)
    if prefix == "python":
        import_function(rest)
    elif prefix == "scripted" and rest.endswith(".toml"):
        load_script(rest)
    elif prefix == "human" and rest:
        raise SeatError(
            f"seat {seat.name!r}: model {seat.model!r}: 'human' takes nothing behind it"
        )


def all_scripted(spec: DebateSpec) -> bool:
    """True when no seat asks a model, a function or a person: every rendering says so."""
    return all(seat.vendor == "scripted" for seat in spec.seats)


def _scripted(seat: Seat, rest: str, context: Context) -> Provider:
    state = context.state()
    steps = load_script(rest) if rest.endswith(".toml") else seat.script
    if steps is None:
        return BelievableProvider(seat, context.state, rest)
    return ScriptProvider(steps, _tries(state, seat), shown_names(state.spec))


def _tries(state: State, seat: Seat) -> int:
    """Count the tries that took a script's entry: finished or failed, not cut off by an interrupt.

    A chairman who was given a seat's own script goes on where that seat ended.
    """
    names = {seat.name}
    if seat is state.spec.closer:
        twins = [s.name for s in state.spec.seats if s.script and s.script == seat.script]
        names = {state.chairman_name, *twins[:1]}
    return sum(
        call.seat in names and call.outcome != "running" and not call.lost
        for call in state.calls.values()
    )


def _function(seat: Seat, rest: str, context: Context) -> Provider:
    if seat.function is None:
        raise NotResumableError(
            f"seat {seat.name!r} sat on the function {rest!r}, which isn't there any more; "
            f"give it again: rt.resume(id, models={{{seat.name!r}: {rest}}})",
            seat=seat.name,
        )
    return FunctionProvider(seat.function)


def _python(seat: Seat, rest: str, context: Context) -> Provider:
    return FunctionProvider(import_function(rest))


def _human(seat: Seat, rest: str, context: Context) -> Provider:
    return HumanProvider(context.desk)


def _unknown(seat: Seat) -> SeatError:
    prefix = seat.model.partition(":")[0]
    return SeatError(
        f"seat {seat.name!r}: no provider is named {prefix!r}{nearest(prefix, DOORS)}; "
        "this version seats 'scripted', 'scripted:FILE.toml', 'python:module:function', functions "
        "of the notebook and 'human'",
        seat=seat.name,
        model=seat.model,
    )


DOORS: Final[dict[str, Door]] = {
    "scripted": _scripted,
    "function": _function,
    "python": _python,
    "human": _human,
}
"""Providers by the model string's prefix."""
