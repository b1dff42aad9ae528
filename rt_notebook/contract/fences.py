"""Code fences around and inside a reply: which lines are it, which only look like headers.

A fence mark is three or more backticks or tildes on a line of its own. Knows marks and the header
lines that the caller found; what the headers mean is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from rt_notebook.contract.headers import Header

FENCED: Final = "fenced"
UNCLOSED: Final = "unclosed_fence"
_MARK: Final = re.compile(r"\s*+(`{3,}+|~{3,}+)(.*+)", re.DOTALL)


# Plain tuples, since a hostile text has hundreds of thousands of them.
_Mark = tuple[int, str, str]
"""A mark's line, its run of backticks or tildes, and what stands behind it."""


class Block(NamedTuple):
    """A stretch of lines that can be a reply, from its first header to its end."""

    headers: list[Header]
    """Its header lines; look-alikes inside fences that opened in a section are left out."""
    stop: int
    """The line behind the last one."""
    notes: tuple[str, ...]
    """`fenced` and `unclosed_fence`, as they apply."""


def may_hold_fence(text: str) -> bool:
    """Return whether a look for fences is worth while."""
    return "```" in text or "~~~" in text


def _marks(lines: Iterable[str]) -> Iterator[_Mark]:
    match = _MARK.match
    for number, line in enumerate(lines):
        if ("```" in line or "~~~" in line) and (found := match(line)):
            run, info = found.groups()
            if not info:
                yield number, run, ""
            elif run[0] != "`" or "`" not in info:
                yield number, run, info.strip()


def _closes(mark: _Mark, opening: _Mark) -> bool:
    return not mark[2] and mark[1].startswith(opening[1])


def unwrapped(text: str) -> tuple[str, tuple[str, ...]]:
    """Return what one fence around the whole text holds, with notes; else the text itself.

    A fence that is never closed runs to the end.
    """
    lines = text.strip().split("\n")
    marks = _marks(lines)
    opening = next(marks, None)
    if opening is None or opening[0]:
        return text, ()
    closing = next((mark for mark in marks if _closes(mark, opening)), None)
    if closing is None:
        return "\n".join(lines[1:]), (FENCED, UNCLOSED)
    if closing[0] + 1 < len(lines):
        return text, ()
    return "\n".join(lines[1:-1]), (FENCED,)


def blocks(
    lines: Sequence[str], headers: Sequence[Header], starts: Collection[int]
) -> Iterator[Block]:
    """Yield the stretches of lines that can be the reply, in order.

    A first header inside a fence: the stretch ends where that fence ends, and the next one is
    looked for behind it. A first header outside: the stretch is the rest.

    Args:
        lines: all lines.
        headers: the header lines among them.
        starts: numbers of the header lines that a reply can begin with.
    """
    around: _Mark | None = None  # the fence that the first header is in
    inner: _Mark | None = None  # a fence inside that one, or inside a section
    kept: list[Header] = []
    at = 0
    for mark in _marks(lines):
        at = _take(headers, at, mark[0], starts, None if inner else kept)
        if inner is not None:
            inner = None if _closes(mark, inner) else inner
        elif around is not None and _closes(mark, around):
            if kept:
                yield Block(kept, mark[0], (FENCED,))
            around, kept = None, []
        elif around is None and not kept:
            around = mark
        else:
            inner = mark
    _take(headers, at, len(lines), starts, None if inner else kept)
    if kept:
        notes = (FENCED,) if around else ()
        yield Block(kept, len(lines), (*notes, UNCLOSED) if around or inner else notes)


def _take(
    headers: Sequence[Header],
    at: int,
    line: int,
    starts: Collection[int],
    kept: list[Header] | None,
) -> int:
    """Add the headers from number `at` on that stand above a line; return the next one's number.

    The first one added is a start. One on the line itself is left out: it is a mark.
    """
    while at < len(headers) and headers[at].line < line:
        if kept is not None and (kept or headers[at].line in starts):
            kept.append(headers[at])
        at += 1
    return at + (at < len(headers) and headers[at].line == line)
