"""The directory of doors: which provider a model string names, and what it needs.

Nothing heavy is loaded here.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from rt_notebook.contract.prompts import shown_names
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.domain.state import State
from rt_notebook.errors import NotResumableError, SeatError, nearest
from rt_notebook.providers.accounts import CLI_CONCURRENCY, Account, OnAccount
from rt_notebook.providers.api import api_provider, check_api
from rt_notebook.providers.api_doors import PREFIXES, has_key, is_api
from rt_notebook.providers.base import SETTINGS, Provider
from rt_notebook.providers.consents import NO_CONSENTS, Consents, consents_of
from rt_notebook.providers.function import FunctionProvider, import_function
from rt_notebook.providers.human import Desk, HumanProvider
from rt_notebook.providers.plug_ins import has_plug_in, plug_in_names, plug_in_provider
from rt_notebook.providers.replay import ReplayProvider, open_record
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
    if prefix in DOORS:
        return DOORS[prefix]
    if is_api(prefix):
        return _api
    if has_plug_in(prefix):
        return _plug_in
    raise _unknown(seat)


def can_sit(prefix: str) -> bool:
    """Return whether a person may write this prefix in a model string."""
    known = prefix in DOORS and prefix != "function"
    return known or is_api(prefix) or has_plug_in(prefix)


def asks_model(model: str) -> bool:
    """Return whether a model string means a model over an API or a vendor's command."""
    prefix = model.partition(":")[0]
    return prefix == "cli" or is_api(prefix)


def model_prefixes() -> tuple[str, ...]:
    """Return the prefixes that a person may write, those of other packages included."""
    return (*(prefix for prefix in DOORS if prefix != "function"), *plug_in_names())


def check_provider(seat: Seat, consents: Consents = NO_CONSENTS) -> None:
    """Check, before any call, that a seat's provider exists and what it names can be loaded.

    Args:
        seat: the seat.
        consents: what the person agreed to.

    Raises:
        SeatError: it doesn't, or can't.
        MissingExtraError: a package for it isn't installed.
    """
    prefix, _, rest = seat.model.partition(":")
    door = door_of(seat)
    if door is _api:
        _check_api(seat)
    elif door is _plug_in:
        plug_in_provider(seat)
    elif prefix == "cli":
        _commands().check_seat(seat, consents=consents)
    elif prefix == "python":
        import_function(rest)
    elif prefix == "scripted" and rest.endswith(".toml"):
        load_script(rest)
    elif prefix == "replay":
        open_record(rest)
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


def _replay(seat: Seat, rest: str, context: Context) -> Provider:
    return ReplayProvider(rest, context.state)


def _api(seat: Seat, rest: str, context: Context) -> Provider:
    return model_provider(seat)


def _check_api(seat: Seat) -> None:
    check_api(
        seat.model,
        seat=seat.name,
        base_url=seat.base_url,
        api_key_env=seat.api_key_env,
        tools=[tool for tool in seat.tools if callable(tool)],
    )


def _cli(seat: Seat, rest: str, context: Context) -> Provider:
    return _command(seat, consents_of(context.state().spec))


def _command(seat: Seat, consents: Consents) -> Provider:
    made: Provider = _commands().CliProvider.of_seat(seat, consents=consents)
    return OnAccount(made, Account(seat.vendor, seat.account, CLI_CONCURRENCY))


def model_provider(seat: Seat, consents: Consents = NO_CONSENTS) -> Provider:
    """Return the provider of a seat at an API or a command, for a call outside of any debate.

    Raises:
        UsageError: the seat can't be seated here.
    """
    if seat.model.partition(":")[0] == "cli":
        return _command(seat, consents)
    return OnAccount(
        api_provider(
            seat.model, seat=seat.name, base_url=seat.base_url, api_key_env=seat.api_key_env
        ),
        Account(seat.vendor, seat.account or seat.api_key_env),
    )


def _plug_in(seat: Seat, rest: str, context: Context) -> Provider:
    return OnAccount(plug_in_provider(seat), Account(seat.vendor, seat.account))


def _commands() -> Any:
    # Loaded late: most debates run no command.
    return importlib.import_module("rt_notebook.providers.cli.provider")


def seat_warnings(seats: Iterable[Seat], consents: Consents = NO_CONSENTS) -> list[str]:
    """Return what a person should know about the commands that sit here, each thing once."""
    found: dict[str, None] = {}
    for seat in seats:
        if seat.model.partition(":")[0] == "cli":
            provider = _commands().CliProvider.of_seat(seat, consents=consents)
            settings = {name: getattr(seat, name) for name in SETTINGS}
            found |= dict.fromkeys(provider.warnings(settings))
    return list(found)


def auth_of(seat: Seat, consents: Consents = NO_CONSENTS) -> str:
    """Return how a seat's calls are paid for: login, key or none."""
    prefix = seat.model.partition(":")[0]
    if prefix == "cli":
        auth: str = _commands().CliProvider.of_seat(seat, consents=consents).auth
        return auth
    return "key" if is_api(prefix) and has_key(prefix, seat.api_key_env) else "none"


def _unknown(seat: Seat) -> SeatError:
    prefix = seat.model.partition(":")[0]
    return SeatError(
        f"seat {seat.name!r}: no provider is named {prefix!r}{nearest(prefix, model_prefixes())}; "
        "take e.g. 'openai:MODEL', 'anthropic:MODEL', 'google:MODEL', 'cli:claude', 'cli:codex', "
        "a function of the notebook, 'human' or 'scripted'",
        seat=seat.name,
        model=seat.model,
    )


DOORS: Final[dict[str, Door]] = {
    "scripted": _scripted,
    "function": _function,
    "python": _python,
    "human": _human,
    "replay": _replay,
    "cli": _cli,
    **dict.fromkeys(sorted(PREFIXES), _api),
}
"""Providers by the model string's prefix."""
