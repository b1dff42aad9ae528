"""The grammar of header lines, for a seat's reply and for the chairman's verdict.

Reads one line at a time, left to right, and never looks back; fences, options and the sections'
meaning are somebody else's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

STANCE: Final = "STANCE"
AGREE_WITH: Final = "AGREE_WITH"
DISAGREE: Final = "DISAGREE"
NEW: Final = "NEW"
ASSUMPTIONS: Final = "ASSUMPTIONS"
QUESTION: Final = "QUESTION_FOR_HUMAN"
RECOMMENDATION: Final = "RECOMMENDATION"
DISSENT: Final = "DISSENT"
KILL_CRITERIA: Final = "KILL_CRITERIA"
OPEN_QUESTIONS: Final = "OPEN_QUESTIONS"
TALLY: Final = "TALLY"
REPLY_NAMES: Final = (STANCE, AGREE_WITH, DISAGREE, NEW, ASSUMPTIONS, QUESTION)
VERDICT_NAMES: Final = (RECOMMENDATION, DISSENT, KILL_CRITERIA, OPEN_QUESTIONS, TALLY)

_EMPHASIS: Final = "*_`"
_TOUCHING: Final = frozenset(_EMPHASIS)
_BESIDE_EMPHASIS: Final = "#>- \t"
# The look ahead for a first letter turns nearly every content line away at its first character.
_REPLY: Final = re.compile(
    r"""([\s*_`\#>-]*+) (?=[SADNQsadnq])
        ((?ai:STANCE|AGREE[ _-]WITH|DISAGREE|NEW|ASSUMPTIONS|QUESTION[ _-]FOR[ _-]HUMAN))
        ([*_`]*+) (\s*+) ([:：]?+)""",
    re.VERBOSE,
)
_VERDICT: Final = re.compile(
    r"""([\s*\#_-]*+) (?=[RDKOTrdkot])
        ((?ai:RECOMMENDATION|DISSENT|KILL[ _-]CRITERIA|OPEN[ _-]QUESTIONS|TALLY))
        ([*_]*+) (\s*+) ([:：]?+)""",
    re.VERBOSE,
)
_AS_ASKED: Final = frozenset(REPLY_NAMES)
_CANONICAL: Final = {name: name for name in (*REPLY_NAMES, *VERDICT_NAMES)}


class Header(NamedTuple):
    """One header line."""

    line: int
    """The line's number, from 0."""
    name: str
    """The section, spelled as in the contract."""
    value: str
    """The section's first content; may be empty."""
    doubtful: bool = False
    """True when it counts only if no other line gives this header (verdicts only)."""


class Sections(NamedTuple):
    """What stands under each header; the last of repeated ones counts."""

    lines: dict[str, list[str]]
    """Content lines by section, the header line's rest first."""
    duplicates: list[str]
    """A section's name for each repeat."""


def reply_headers(lines: Sequence[str]) -> list[Header]:
    """Return the header lines of a seat's reply."""
    match = _REPLY.match
    found = []
    for number, line in enumerate(lines):
        name, colon, rest = line.partition(":")
        if colon and name in _AS_ASKED:  # most are, and need no pattern
            value = _on_one_line(rest)
            if value is not None:
                found.append(Header(number, name, value))
        elif (start := match(line)) and (header := _reply_header(number, line, start)):
            found.append(header)
    return found


def is_reply_header(line: str) -> bool:
    """Return whether a line alone would be a header line of a seat's reply."""
    start = _REPLY.match(line)
    return start is not None and _reply_header(0, line, start) is not None


def verdict_headers(lines: Sequence[str]) -> list[Header]:
    """Return the header lines of a verdict, doubtful ones included."""
    match = _VERDICT.match
    found = []
    for number, line in enumerate(lines):
        if (start := match(line)) and (header := _verdict_header(number, line, start)):
            found.append(header)
    return found


def _reply_header(number: int, line: str, start: re.Match[str]) -> Header | None:
    decoration, name, closing, _, colon = start.groups()
    if colon:
        value = _value(line[start.end() :], decoration, closing)
        if value is None:
            return None
    elif start.end() < len(line) or not _is_decorated(decoration, closing):
        return None
    else:
        value = ""
    return Header(number, _canonical(name), value)


def _verdict_header(number: int, line: str, start: re.Match[str]) -> Header | None:
    decoration, name, closing, gap, colon = start.groups()
    rest = line[start.end() :]
    if rest and not gap and not colon:
        return None
    value = _value(rest, decoration, closing, colon=bool(colon))
    if value is None:
        return None
    doubtful = not (colon or not value or name.isupper() or decoration.strip("- \t"))
    return Header(number, _canonical(name), value, doubtful)


def _value(rest: str, decoration: str, closing: str, *, colon: bool = True) -> str | None:
    """Return what a header line holds behind its name, or None when the line is no header."""
    value = _on_one_line(rest)
    if value is None or not decoration or not (opened := _opened(decoration)):
        return value
    closes = opened[::-1]
    if colon and rest.startswith(closes):
        behind = rest[len(closes) :]
        if not behind or behind[0].isspace():
            return behind.strip()
    return value if closing else value.removesuffix(closes).rstrip()


def _on_one_line(rest: str) -> str | None:
    """Return a header line's rest trimmed, or None where some reader would end the line in it."""
    value = rest.strip()
    return None if "\r" in value or "\u2028" in value or "\u2029" in value else value


def _opened(decoration: str) -> str:
    """Return the run of emphasis that a decoration opens; the `*` of a bullet opens none."""
    inner = decoration.rstrip(_BESIDE_EMPHASIS)
    run = inner[len(inner.rstrip(_EMPHASIS)) :]
    return "" if run == "*" and len(inner) < len(decoration) else run


def _is_decorated(decoration: str, closing: str) -> bool:
    """Return whether a name alone on its line is a heading, or emphasised on both sides."""
    return "#" in decoration or bool(closing and decoration[-1:] in _TOUCHING)


def _canonical(name: str) -> str:
    return _CANONICAL.get(name) or name.upper().replace(" ", "_").replace("-", "_")


def settled(headers: Sequence[Header]) -> list[Header]:
    """Return the headers without the doubtful ones that are prose.

    A doubtful line counts when no other line gives its header, and then only the first one.
    """
    for header in headers:
        if header.doubtful:
            break
    else:
        return list(headers)
    given = {header.name for header in headers if not header.doubtful}
    kept = []
    for header in headers:
        if header.doubtful:
            if header.name in given:
                continue
            given.add(header.name)
        kept.append(header)
    return kept


def sections(lines: Sequence[str], headers: Iterable[Header], stop: int) -> Sections:
    """Return the lines under each header, up to line `stop`."""
    found: dict[str, list[str]] = {}
    duplicates: list[str] = []
    before: list[str] | None = None
    begin = 0
    for line, name, value, _ in headers:
        if before is not None:
            before += lines[begin:line]
        if name in found:
            duplicates.append(name)
        before = found[name] = [value]
        begin = line + 1
    if before is not None:
        before += lines[begin:stop]
    return Sections(found, duplicates)
