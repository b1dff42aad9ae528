"""Reads the body of a `%%roundtable` cell: the question, then sections with bullets or text.

Pure text in, plain values out. Owns the grammar of sections; knows nothing of lines, variables,
configuration or models. Limits of the brief are the brief's own business (domain/brief.py).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from rt_notebook.contract.cell_items import Fences, items_of, lines_of
from rt_notebook.contract.options import SEAT_FIELDS, SECTIONS
from rt_notebook.contract.research_section import read_research
from rt_notebook.errors import BriefError, SeatError, nearest, one_line

EXAMPLE: Final = """\
Should the payments module become its own service?

options:
- Modular monolith
- Microservice
"""
"""The smallest whole cell; errors and the help show it."""

_BLANK: Final = " \t\u00a0"
_LISTS: Final = ("options", "known", "assumed", "constraints")
_HEADER: Final = re.compile(rf"({'|'.join(SECTIONS)}):", re.IGNORECASE | re.ASCII)
# A word alone on its line with a colon, decorated or not: what a misspelt section looks like.
_LONE_WORD: Final = re.compile(r"[\s#*_>]{0,12}+([^\W\d_]{3,20}+)[*_]{0,6}+\s*+[:：][*_]{0,6}+")
_FIRST_WORD: Final = re.compile(r"([^\W\d_]{3,20}+)\s*+[:：]")
_BULLET: Final = re.compile(r"\s*+(?:[-*•]|\d{1,9}[.)])(?:\s|[^\W\d])")
# Other words for a section's name, too far from it for a slip of the fingers.
_SYNONYMS: Final = {"assumptions": "assumed", "assumption": "assumed", "assume": "assumed"}
_ROLES: Final = {"model": str, **SEAT_FIELDS}


@dataclass(frozen=True, slots=True, kw_only=True)
class CellBody:
    """What one cell's body says; a section that isn't there is empty or None."""

    question: str
    """All before the first section, as typed, outer blank lines apart."""
    options: tuple[str, ...] = ()
    """The options' labels; empty: the cell holds a discussion."""
    known: tuple[str, ...] = ()
    """Facts."""
    assumed: tuple[str, ...] = ()
    """Guesses."""
    constraints: tuple[str, ...] = ()
    """Limits that any decision must keep."""
    reversibility: str | None = None
    """How easily the decision can be taken back."""
    deadline: str | None = None
    """By when it is needed."""
    context: str | None = None
    """Further material, as typed, outer blank lines apart."""
    research: Mapping[str, Any] | None = None
    """What to look up on the web: `query`, and the other fields that are given."""
    seats: tuple[Mapping[str, Any], ...] = ()
    """A dict for each seat: `name`, and `model` and the fields of `Seat` that are given."""

    def brief_fields(self) -> dict[str, Any]:
        """Return all but the seats, under the names that `Brief` has for them."""
        names = ("question", *_LISTS, "reversibility", "deadline", "context")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True)
class _Section:
    name: str
    line: int
    text: str


def read_cell(body: str) -> CellBody:
    """Read a cell's body.

    A section starts at a line that begins with one of the fixed names, in any case, and a colon;
    inside a code fence none starts.

    Raises:
        BriefError: an empty body, no question, empty options, a misspelt or repeated section, or
            one in a code fence that is never closed.
        SeatError: a seat's line can't be read.
    """
    if not body.strip():
        raise BriefError(f"the cell is empty; write for example: {_flat(EXAMPLE)}")
    question, sections, fence = _split(body)
    if not question:
        raise BriefError("the question is empty; write it above the first section")
    found = {section.name: section.text for section in sections}
    lists = {name: items_of(name, found.get(name, "")) for name in _LISTS}
    _check_options(body, found, lists["options"], fence)
    return CellBody(
        question=question,
        options=lists["options"],
        known=lists["known"],
        assumed=lists["assumed"],
        constraints=lists["constraints"],
        reversibility=_note(found.get("reversibility", "")),
        deadline=_note(found.get("deadline", "")),
        context=_trim(found.get("context", "").lstrip(_BLANK)) or None,
        research=read_research(found.get("research", "")),
        seats=_seats(found.get("seats", "")),
    )


def _check_options(
    body: str, found: Mapping[str, str], options: tuple[str, ...], fence: int
) -> None:
    """Refuse a body that was meant to have options, and would pass for a discussion's."""
    if options:
        return
    if "options" in found:
        raise BriefError(
            "the section `options:` is empty; write a bullet each, or leave it out for a "
            "discussion",
            field="options",
        )
    lost = body.split("\n")[fence:] if fence else ()
    if any(_HEADER.match(line) for line in lost):
        raise BriefError(
            f"the code fence of line {fence} is never closed, so the sections below it are text; "
            "close it",
            field="options",
        )


def section_names(body: str) -> tuple[str, ...]:
    """Return the names of the sections that start in `body`, in order, whatever else is wrong."""
    return tuple(name for name, _ in _headers(body)[0])


def open_fence(body: str) -> int:
    """Return the number of the line whose code fence is still open at the end, or 0."""
    return _headers(body)[2]


def _split(body: str) -> tuple[str, list[_Section], int]:
    headers, prose, fence = _headers(body)
    _check_misspelt(body, prose)
    sections: list[_Section] = []
    bounds = lines_of(body)
    first = bounds[headers[0][1]][0] if headers else len(body)
    for place, (name, line) in enumerate(headers):
        earlier = next((section for section in sections if section.name == name), None)
        if earlier is not None:
            raise BriefError(
                f"the section `{name}:` is there twice, in lines {earlier.line} and {line + 1} "
                "of the body; make them one",
                field=name,
            )
        start = bounds[line][0] + len(name) + 1
        following = headers[place + 1][1] if place + 1 < len(headers) else None
        stop = len(body) if following is None else bounds[following][0]
        sections.append(_Section(name, line + 1, body[start:stop]))
    return _trim(body[:first]), sections, fence


def _headers(body: str) -> tuple[list[tuple[str, int]], list[tuple[str, int]], int]:
    """Return where sections start, the prose lines with their section, and an unclosed fence."""
    headers: list[tuple[str, int]] = []
    prose: list[tuple[str, int]] = []
    fences = Fences()
    for number, (start, stop) in enumerate(lines_of(body)):
        line = body[start:stop]
        if fences.holds(line):
            continue
        if header := _HEADER.match(line):
            headers.append((header[1].lower(), number))
        else:
            prose.append((headers[-1][0] if headers else "", number))
    return headers, prose, fences.opened


def _check_misspelt(body: str, prose: list[tuple[str, int]]) -> None:
    bounds = lines_of(body)
    for section, number in prose:
        line = body[slice(*bounds[number])]
        if alone := _LONE_WORD.fullmatch(line.rstrip()):
            meant = _near_section(alone[1].casefold())
            below = (body[slice(*bounds[n])] for n in range(number + 1, len(bounds)))
            if meant and _BULLET.match(next((text for text in below if text.strip()), "")):
                raise _misspelt(line, number, meant)
        # In free text any word may stand before a colon; below other sections it hardly does.
        elif (
            section not in ("", "context")
            and (word := _FIRST_WORD.match(line))
            and (meant := _near_section(word[1].casefold()))
        ):
            raise _misspelt(line, number, meant)


def _misspelt(line: str, number: int, meant: str) -> BriefError:
    return BriefError(
        f"line {number + 1} of the body, {one_line(line, 60)!r}, looks like the section "
        f"`{meant}:`; write '{meant}:' at the start of the line, or put text in a code fence",
        field=meant,
    )


@lru_cache(maxsize=256)
def _near_section(word: str) -> str:
    if word in SECTIONS:
        return word
    near = [name for name in SECTIONS if _one_slip(word, name)]
    return near[0] if near else _SYNONYMS.get(word, "")


def _one_slip(word: str, name: str) -> bool:
    """Return whether one or two slips of the fingers turn `name` into `word`.

    One letter left out, added, replaced, or two neighbours swapped; two slips in a long name whose
    first letter is right. Tighter than a similarity, so that `Actions:` or `Unknown:` stay prose.
    """
    allowed = 2 if len(name) > len("options") and word[0] == name[0] else 1
    return abs(len(word) - len(name)) <= allowed and _distance(word, name) <= allowed


def _distance(left: str, right: str) -> int:
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, one in enumerate(left, 1):
        two_above, before, row = before, row, [i]
        for j, other in enumerate(right, 1):
            best = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (one != other))
            if i > 1 and j > 1 and one == right[j - 2] and left[i - 2] == other:
                best = min(best, two_above[j - 2] + 1)
            row.append(best)
    return row[-1]


def _trim(text: str) -> str:
    """Return `text` without blank lines around it; its own lines keep every byte."""
    lines = text.split("\n")
    while lines and not lines[0].strip():
        del lines[0]
    while lines and not lines[-1].strip():
        del lines[-1]
    return "\n".join(lines).removesuffix("\r")


def _note(text: str) -> str | None:
    kept = _trim(text).strip()
    if "\n" in kept:
        return kept
    # `deadline:` with one bullet below means the bullet's text.
    return next(iter(items_of("note", kept)), None)


def _seats(text: str) -> tuple[dict[str, Any], ...]:
    entries: list[str] = []
    for entry in items_of("seats", text):
        # Names hold no comma, lenses may: `seats: pm, dev` is two seats.
        entries += [entry] if ";" in entry else entry.split(",")
    return tuple(_seat(entry.strip()) for entry in entries)


def _seat(entry: str) -> dict[str, Any]:
    shown = one_line(entry, 80)
    head, *parts = entry.split(";")
    name, equals, model = (piece.strip() for piece in head.partition("="))
    if name.casefold() == "name" and any(part.lstrip().startswith("model") for part in parts):
        # `name=pm; model=scripted`: the form's own words, taken literally.
        name, equals, model = model, "", ""
    if not name or (equals and not model):
        raise SeatError(f"the seat line {shown!r} is not of the form `name=model; lens=...`")
    seat: dict[str, Any] = {"name": name}
    if model:
        seat["model"] = model
    for part in parts:
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not part.strip():
            continue
        field = key.casefold().replace("-", "_")
        if field not in _ROLES:
            hint = nearest(field, _ROLES)
            raise SeatError(f"the seat line {shown!r}: a seat has no {key!r}{hint}", seat=name)
        if field in seat or not value:
            problem = "is given twice" if field in seat else "has no value"
            raise SeatError(f"the seat line {shown!r}: {key!r} {problem}", seat=name)
        seat[field] = _typed(field, value, shown)
    return seat


def _typed(field: str, value: str, shown: str) -> Any:
    kind = _ROLES[field]
    try:
        return kind(value)
    except ValueError:
        words = "whole number" if kind is int else "number"
        raise SeatError(f"the seat line {shown!r}: {field} takes a {words}") from None


def _flat(text: str) -> str:
    return " / ".join(line for line in text.split("\n") if line)
