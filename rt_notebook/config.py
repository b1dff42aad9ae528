"""Turns names into seats: variables, then the project's and the user's file, then built-in seats.

Owns the order in which names are looked up. Runs no seat and asks no model; what the files may say
is config_files.py's business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal
from unicodedata import normalize

from rt_notebook.config_files import Config, SeatEntry, load_config, seat_entries
from rt_notebook.contract.options import SEAT_FIELDS
from rt_notebook.domain.kinds import CHAIRMAN_NAME
from rt_notebook.domain.normal import normal_form
from rt_notebook.domain.script import Script
from rt_notebook.domain.seat import Seat, check_seats
from rt_notebook.errors import OptionError, SeatError, UsageError, nearest, one_line
from rt_notebook.providers.consents import Consents
from rt_notebook.providers.registry import (
    asks_model,
    auth_of,
    can_sit,
    check_provider,
    door_of,
    model_prefixes,
)

__all__ = [
    "BUILT_IN",
    "Config",
    "SeatEntry",
    "choose_research",
    "choose_seats",
    "load_config",
    "resolve_chairman",
    "resolve_seats",
    "seat_names",
    "seat_table",
]

BUILT_IN: Final[tuple[Seat, ...]] = (
    Seat("pm", lens="user impact", mood="steelman", color="#3b6fb6"),
    Seat("dev", lens="cost", mood="builder", color="#2e8b57"),
    Seat("rv", lens="risk", mood="grill", color="#b5533c"),
)
"""The scripted seats that are always there, and sit where nobody else is named."""

_WHAT_SITS: Final = (
    "a model such as 'openai:MODEL', 'anthropic:MODEL', 'google:MODEL', 'cli:claude' or "
    "'cli:codex', 'python:module:function', 'human', 'scripted', or a variable that holds a "
    "function or a script"
)

Request = str | Mapping[str, Any] | Seat
"""A seat asked for: `name`, `name=model`, a dict with `name` and more (from a cell), a Seat."""


@dataclass(frozen=True, slots=True)
class _Known:
    """A seat that can be named; made only when it is."""

    name: str
    source: str
    make: Callable[[], Seat]


def choose_seats(line: Sequence[str] | None, cell: Sequence[Request]) -> Sequence[Request] | None:
    """Return the seats that a cell asks for, on its line or in its body; None: nobody is named.

    Raises:
        OptionError: both name seats.
    """
    if line and cell:
        raise OptionError("--seats and the section `seats:` both name seats; keep one of them")
    return line or cell or None


def choose_research(
    line: str | None, cell: Mapping[str, Any] | None
) -> str | Mapping[str, Any] | None:
    """Return what a cell wants to be looked up, on its line or in its body.

    Raises:
        OptionError: both say something.
    """
    if line and cell:
        raise OptionError(
            "--research and the section `research:` both name a query; keep one of them"
        )
    return line or cell


def resolve_seats(
    names: Sequence[Request] | None, variables: Mapping[str, object], config: Config
) -> list[Seat]:
    """Return the seats of a debate.

    Args:
        names: what was asked for; None: the files' default seats, else the built-in three.
        variables: the notebook's variables.
        config: what the files say.

    Raises:
        SeatError: an unknown name (the message lists the known ones), a model that this version
            can't seat, a field that breaks its rule, a name used twice, too few or too many seats.
    """
    asked = names or config.default_seats or tuple(seat.name for seat in BUILT_IN)
    seats = [_asked(request, variables, config) for request in asked]
    return list(check_seats(seats))


def resolve_chairman(
    text: str | None,
    variables: Mapping[str, object],
    config: Config,
    seats: Sequence[Seat],
    name: str = CHAIRMAN_NAME,
) -> Seat | None:
    """Return who has the last word, under the name `chairman`; None: the built-in one.

    Where nobody is named, the model of the first seat that asks one over an API or a command has
    it, its effort one step higher, without that seat's persona, lens and mood.

    Args:
        text: a seat's name, a variable or a model; None: what the files say.
        variables: the notebook's variables.
        config: what the files say.
        seats: the seats of this debate, whose names go first.
        name: `observer` for a discussion's.

    Raises:
        SeatError: nothing of that name is known, or this version can't seat it.
    """
    if text is None and config.chairman is None:
        return _default_closer(seats, name)
    if text is None:
        text = config.chairman or ""
        if not config.chairman_trusted:
            # A cloned project's file must not pick which of the notebook's functions is run.
            variables = {name: v for name, v in variables.items() if isinstance(v, Seat)}
    text = text.strip()
    key = normal_form(text)
    seat = next((seat for seat in seats if normal_form(seat.name) == key), None)
    seat = seat or _find(text, variables, config)
    if seat:
        return _renamed(seat, name)
    also = [seat.name for seat in seats] + seat_names(variables, config)
    return _on_model(name, text, variables, also=also)


def seat_names(variables: Mapping[str, object], config: Config) -> list[str]:
    """Return every name that `--seats` knows, in the order of looking up."""
    return [known.name for known in _known(variables, config)]


def seat_table(config: Config, variables: Mapping[str, object]) -> list[dict[str, object]]:
    """Return a row for each seat that can be named, in the order of looking up.

    Columns: `name` (to be typed), `seat` (the seat's own name), `model`, `persona`, `lens`, `mood`,
    `effort`, `auth` (how it is paid for: `login`, `key` or `none`), `source` (`variable`,
    `project`, `user`, `built-in`) and `problem` (why it can't sit here, or None).
    """
    consents = Consents(api_billing=bool(config.review_defaults().get("api_billing")))
    return [_table_row(known, consents) for known in _known(variables, config)]


def _table_row(known: _Known, consents: Consents) -> dict[str, object]:
    row: dict[str, object] = {"name": known.name, "seat": known.name, "model": None}
    row |= dict.fromkeys(("persona", "lens", "mood", "effort", "auth"))
    row |= {"source": known.source, "problem": None}
    try:
        seat = known.make()
        row["auth"] = auth_of(seat, consents)
    except SeatError as exc:
        return {**row, "problem": str(exc)}
    try:
        check_provider(seat, consents)
    except UsageError as exc:
        row["problem"] = str(exc)
    return {
        **row,
        "seat": seat.name,
        "model": seat.model,
        "persona": seat.persona,
        "lens": seat.lens,
        "mood": seat.mood,
        "effort": seat.effort,
    }


def _known(variables: Mapping[str, object], config: Config) -> Iterator[_Known]:
    seen: set[str] = set()
    for known in _all(variables, config):
        key = normal_form(known.name)
        if key not in seen:
            seen.add(key)
            yield known


def _all(variables: Mapping[str, object], config: Config) -> Iterator[_Known]:
    for name, value in sorted(variables.items()):
        # `_`, `_1` and the like are IPython's.
        if isinstance(value, Seat) and not name.startswith("_"):
            yield _Known(name, "variable", partial(_checked, value))
    for entry in seat_entries(config):
        yield _Known(entry.name, entry.source, partial(_from_file, entry))
    for seat in BUILT_IN:
        yield _Known(seat.name, "built-in", partial(_checked, seat))


def _asked(request: Request, variables: Mapping[str, object], config: Config) -> Seat:
    if isinstance(request, Seat):
        return _checked(request)
    if isinstance(request, str):
        name, equals, model = (part.strip() for part in request.partition("="))
        if equals and not (name and model):
            raise SeatError(f"the seat {one_line(request, 80)!r} is not of the form name=model")
        request = {"name": name, "model": model} if equals else {"name": name}
    fields = {key: value for key, value in request.items() if key not in ("name", "model")}
    name = str(request["name"])
    if "model" in request:
        return _on_model(name, str(request["model"]), variables, fields)
    seat = _find(name, variables, config)
    if seat is None:
        raise _unknown(name, variables, config)
    return _with_fields(seat, fields) if fields else seat


def _find(name: str, variables: Mapping[str, object], config: Config) -> Seat | None:
    # A variable is found by its exact name; the others without regard to case, as seats' names are.
    value = variables.get(normalize("NFKC", name))
    if isinstance(value, Seat):
        return _checked(value)
    key = normal_form(name)
    for known in _all({}, config):
        if normal_form(known.name) == key:
            return known.make()
    return None


def _on_model(
    name: str,
    text: str,
    variables: Mapping[str, object],
    fields: Mapping[str, Any] | None = None,
    also: Sequence[str] = (),
) -> Seat:
    """Return a seat on what `text` means: first a variable, then a model string.

    `also` are further names that may have been meant.
    """
    more = dict(fields or {})
    variable = normalize("NFKC", text)
    value = variables.get(variable) if variable.isidentifier() else None
    if isinstance(value, Seat):
        return _with_fields(_renamed(value, name), more)
    if isinstance(value, Script):
        return Seat(name, model=value, **more)
    if callable(value):
        # Stored under the variable's name, which may not be the function's own: a resume looks for
        # it among the variables.
        return Seat(name, model=f"function:{variable}", **more).with_function(value)
    prefix = text.partition(":")[0]
    if can_sit(prefix):
        return _checked(Seat(name, model=text, **more))
    if text.isidentifier():
        problem = f"{text!r} is no variable and no model"
        if variable in variables:
            problem = f"the variable {text!r} holds a value of type {type(value).__name__}"
        hint = nearest(text, [*model_prefixes(), *_seatable(variables), *also])
        raise SeatError(f"{name}={text[:80]}: {problem}{hint}; a seat takes {_WHAT_SITS}")
    raise SeatError(
        f"{name}={one_line(text, 80)}: no provider is named {one_line(prefix, 40)!r}"
        f"{nearest(prefix, model_prefixes())}; a seat takes {_WHAT_SITS}",
        seat=name,
        model=text,
    )


def _seatable(variables: Mapping[str, object]) -> list[str]:
    return [
        name
        for name, value in variables.items()
        if not name.startswith("_") and (isinstance(value, Seat | Script) or callable(value))
    ]


def _checked(seat: Seat) -> Seat:
    door_of(seat)
    return seat


def _default_closer(seats: Sequence[Seat], name: str) -> Seat | None:
    asked = (seat for seat in seats if seat.function is None and asks_model(seat.model))
    seat = next(asked, None)
    if seat is None:
        return None
    higher: dict[str | None, Literal["medium", "high"]] = {"low": "medium"}
    return Seat(
        name,
        model=seat.model,
        effort=higher.get(seat.effort, "high"),
        account=seat.account,
        base_url=seat.base_url,
        api_key_env=seat.api_key_env,
        timeout_s=seat.timeout_s,
        stall_s=seat.stall_s,
        retries=seat.retries,
    )


def _renamed(seat: Seat, name: str) -> Seat:
    return _rebuilt(seat, name, {})


def _with_fields(seat: Seat, fields: Mapping[str, Any]) -> Seat:
    return _rebuilt(seat, seat.name, fields)


def _rebuilt(seat: Seat, name: str, fields: Mapping[str, Any]) -> Seat:
    kept = {key: getattr(seat, key) for key in SEAT_FIELDS if key in Seat.model_fields}
    more = {**kept, **fields, "tools": seat.tools}
    copy = Seat(name, model=seat.model, script=seat.script, **more)
    return copy.with_function(seat.function)


def _from_file(entry: SeatEntry) -> Seat:
    where = f"{entry.path}: [seats.{entry.name}]"
    model = str(entry.fields.get("model", "scripted"))
    fields = {key: value for key, value in entry.fields.items() if key != "model"}
    try:
        # No variables: what sits in a file's seat is the file's word alone.
        return _on_model(entry.name, model, {}, fields)
    except SeatError as exc:
        raise SeatError(f"{where}: {exc}", **exc.facts) from None


def _unknown(name: str, variables: Mapping[str, object], config: Config) -> SeatError:
    shown = one_line(name, 60)
    value = variables.get(name)
    known = seat_names(variables, config)
    if isinstance(value, Script) or callable(value):
        hint = f"; the variable {shown} holds no Seat, give it a seat's name: NAME={shown}"
    elif can_sit(name.partition(":")[0]) or ":" in name:
        hint = f"; to seat a model, give it a name: NAME={shown}"
    else:
        hint = nearest(name[:60], known)
    return SeatError(f"no seat is named {shown!r} (known: {', '.join(known)}){hint}", seat=name)
