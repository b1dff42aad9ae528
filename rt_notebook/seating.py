"""Who sits in a stored debate: its callables put back, and whether its people can be asked.

Knows neither the store nor how a debate runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from rt_notebook.domain.seat import Seat
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.domain.state import State
from rt_notebook.errors import NotResumableError, SeatError
from rt_notebook.providers.consents import consents_of
from rt_notebook.providers.human import Desk
from rt_notebook.providers.registry import Context, check_provider, make_provider
from rt_notebook.running import needs_person


def with_functions(spec: DebateSpec, models: Mapping[str, Callable[..., Any]]) -> DebateSpec:
    """Return `spec` with callables put back where they sat.

    Args:
        spec: as the log holds it.
        models: callables by seat name; a tool's function by the tool's own name.

    Raises:
        SeatError: a name is no seat's and no tool's, or stands for something that can't be called.
    """
    if not models:
        return spec
    _check_callables(models)
    spec, models = _with_tools(spec, models)
    chairman = spec.closer
    named = {
        spec.seat(name).name: function
        for name, function in models.items()
        if not _chairs(chairman, name)
    }
    seats = tuple(
        seat.with_function(named[seat.name]) if seat.name in named else seat for seat in spec.seats
    )
    for name, function in models.items():
        if chairman is not None and _chairs(chairman, name):
            chairman = chairman.with_function(function)
    return spec.model_copy(update={"seats": seats, spec.closing_name: chairman})


def everybody(spec: DebateSpec) -> list[Seat]:
    """Return the seats, and whoever was named to have the last word."""
    return [*spec.seats, *([spec.closer] if spec.closer else [])]


def check_functions(state: State, seats: Iterable[Seat]) -> None:
    """Check that the seats' providers can be made before the log says that it goes on."""
    context, consents = Context(lambda: state, Desk()), consents_of(state.spec)
    for seat in seats:
        if seat.missing_tools:
            name = seat.missing_tools[0]
            raise NotResumableError(
                f"seat {seat.name!r} had the tool {name!r}, which isn't there any more; give it "
                f"again: rt.resume(id, models={{{name!r}: {name}}})",
                seat=seat.name,
            )
        make_provider(seat, context)
        check_provider(seat, consents)


def check_people(seats: Iterable[Seat], unattended: bool) -> None:
    """Check that somebody is there for the seats that are people.

    Raises:
        SeatError: nobody is.
    """
    people = needs_person(seats)
    if unattended and people:
        raise SeatError(
            f"seat {people[0]!r} is a person, and nobody can answer here; run it in a notebook or "
            "a terminal",
            seat=people[0],
        )


def is_unattended(spec: DebateSpec, attended: bool) -> bool:
    """Return whether nobody is asked: what the definition says, else what was found out."""
    return not attended if spec.unattended is None else spec.unattended


def _check_callables(models: object) -> None:
    if not isinstance(models, Mapping):
        raise SeatError("models: a dict of callables by seat name is expected")
    for name, function in models.items():
        if not callable(function):
            raise SeatError(
                f"models[{name!r}]: a callable is expected, got {type(function).__name__}"
            )


def _with_tools(
    spec: DebateSpec, given: Mapping[str, Callable[..., Any]]
) -> tuple[DebateSpec, dict[str, Callable[..., Any]]]:
    """Return the spec with its tools' functions, and what was given for other things."""
    missing = {name for seat in everybody(spec) for name in seat.missing_tools}

    def filled(seat: Seat) -> Seat:
        if not seat.missing_tools:
            return seat
        tools = tuple(
            given.get(tool, tool) if isinstance(tool, str) else tool for tool in seat.tools
        )
        return seat.model_copy(update={"tools": tools})

    changed: dict[str, object] = {"seats": tuple(filled(seat) for seat in spec.seats)}
    if spec.closer is not None:
        changed[spec.closing_name] = filled(spec.closer)
    left = {name: value for name, value in given.items() if name not in missing}
    return spec.model_copy(update=changed), left


def _chairs(chairman: Seat | None, name: str) -> bool:
    return chairman is not None and chairman.name == name
