"""Puts variables into a cell: `{name}` for `--with`, whole variables as evidence for `--context`.

Owns which braces mean something: exactly the listed names, replaced once. Nothing is evaluated: no
attribute, no index, no call; what a value holds is never read again.
"""

from __future__ import annotations

import dataclasses
import datetime
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rt_notebook.contract.cell import CellBody
from rt_notebook.contract.tables import as_text, is_frame
from rt_notebook.errors import OptionError, nearest, one_line

_SEAT_TEXTS: Final = ("persona", "lens")
# A typo in a width would otherwise take all memory.
_WIDEST: Final = 10_000


@dataclass(frozen=True, slots=True)
class Filled:
    """A cell with its variables in place."""

    cell: CellBody
    """The cell as the seats will see it."""
    attached: tuple[str, ...]
    """The names of the variables that are in it, in the order of the line."""
    warnings: tuple[str, ...]
    """What a person may have meant otherwise."""


def fill(text: str, names: Sequence[str], values: Mapping[str, object]) -> str:
    """Replace `{name}` and `{name:format}` for exactly these names, each once.

    `{{name}}` and every other brace stay as they are.

    Args:
        text: any text of a cell.
        names: the names that `--with` lists.
        values: the notebook's variables.

    Raises:
        OptionError: a listed variable doesn't exist, or a value can't be formatted so.
    """
    found = _lookup("with", names, values)
    return _replace(text, found, set())


def attach(names: Sequence[str], values: Mapping[str, object]) -> str:
    """Return the listed variables as Markdown, each below its name.

    Raises:
        OptionError: a listed variable doesn't exist.
    """
    found = _lookup("context", names, values)
    parts = (f"### {name}\n\n{as_text(name, value)}" for name, value in found.items())
    return "\n\n".join(parts)


def fill_cell(
    cell: CellBody,
    *,
    with_names: Sequence[str] = (),
    context: Sequence[str] = (),
    values: Mapping[str, object],
) -> Filled:
    """Fill every text of a read cell and attach evidence to its context.

    Reading comes first, so a value that looks like a section or a bullet can't become one.

    Args:
        cell: the cell as typed.
        with_names: the names that `--with` lists.
        context: the names that `--context` lists.
        values: the notebook's variables.

    Raises:
        OptionError: a listed variable doesn't exist, or a value can't be formatted so.
    """
    found = _lookup("with", with_names, values)
    used: set[str] = set()
    fields = {name: _deep(value, found, used) for name, value in cell.brief_fields().items()}
    seats = tuple(
        {key: _deep(v, found, used) if key in _SEAT_TEXTS else v for key, v in seat.items()}
        for seat in cell.seats
    )
    research = cell.research
    if research is not None:
        research = {**research, "query": _replace(research["query"], found, used)}
    evidence = attach(context, values)
    fields["context"] = "\n\n".join(filter(None, (fields["context"], evidence))) or None
    warnings = tuple(
        f"--with {name}: the body holds no {{{name}}}, so its value isn't sent"
        for name in found
        if name not in used
    )
    attached = tuple(dict.fromkeys((*(name for name in found if name in used), *context)))
    filled = dataclasses.replace(cell, **fields, research=research, seats=seats)
    return Filled(filled, attached, warnings)


def _lookup(option: str, names: Iterable[str], values: Mapping[str, object]) -> dict[str, object]:
    missing = [name for name in names if name not in values]
    if missing:
        public = [name for name in values if not name.startswith("_")]
        hint = nearest(missing[0], public)
        raise OptionError(f"--{option}: there is no variable {missing[0]!r}{hint}", option=option)
    return {name: values[name] for name in names}


def _deep(value: Any, found: Mapping[str, object], used: set[str]) -> Any:
    if isinstance(value, tuple):
        return tuple(_replace(part, found, used) for part in value)
    return value if value is None else _replace(value, found, used)


def _replace(text: str, found: Mapping[str, object], used: set[str]) -> str:
    if not found:
        return text
    # Doubled braces come first: they are matched whole, and so left alone.
    one = rf"\{{({'|'.join(map(re.escape, found))})(?::([^{{}}\n]*))?\}}"
    pattern = re.compile(rf"\{{{one}\}}|{one}")

    def value(match: re.Match[str]) -> str:
        name = match[3]
        if name is None:
            return match[0]
        used.add(name)
        return _formatted(name, found[name], match[4])

    return pattern.sub(value, text)


def _formatted(name: str, value: object, spec: str | None) -> str:
    if not spec:
        return as_text(name, value)
    shown = one_line(f"{{{name}:{spec}}}", 80)
    if is_frame(value):
        raise OptionError(f"{shown}: a data frame or series takes no format; write {{{name}}}")
    # A date's format is text, in which a number may stand for anything.
    is_date = isinstance(value, datetime.date | datetime.time)
    numbers = [] if is_date else re.findall(r"\d+", spec)
    if any(len(number) > 9 or int(number) > _WIDEST for number in numbers):
        raise OptionError(
            f"{shown}: a width or precision is at most {_WIDEST:,}", option="with", limit=_WIDEST
        )
    try:
        return format(value, spec)
    except Exception as exc:  # the value's own code runs here, and may raise anything
        reason = one_line(str(exc) or type(exc).__name__, 200)
        kind = type(value).__name__
        raise OptionError(f"{shown}: {name} is of type {kind}: {reason}", option="with") from exc
