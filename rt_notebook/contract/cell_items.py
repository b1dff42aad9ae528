"""Cuts a section's text into entries: bullets with their continuation lines, or plain text.

Owns what a line, a bullet and a code fence are in a cell; knows sections only by their names.
"""

from __future__ import annotations

import re
from typing import Final

from rt_notebook.errors import BriefError, one_line

# `-5 %` is a value, `---` a rule and `*word*` emphasis; a number is a mark only before a space.
_MARK: Final = re.compile(r"(?:-(?=[^\W\d])|[-*]\s++|[-*]$|•\s*+|\d{1,9}[.)](?:\s++|$))")
_FENCE: Final = re.compile(r"\s*+(?:[-*•]\s++|\d{1,9}[.)]\s++)?+(`{3,}+|~{3,}+)(.*+)", re.DOTALL)
_ONE_LINE: Final = frozenset({"options", "seats"})
"""Sections whose entries are one line each, so that wrapped lines are joined by a space."""


def lines_of(text: str) -> list[tuple[int, int]]:
    """Return each line's start and end in `text`, without its LF or CRLF."""
    bounds: list[tuple[int, int]] = []
    start = 0
    for line in text.split("\n"):
        bounds.append((start, start + len(line.removesuffix("\r"))))
        start += len(line) + 1
    return bounds


class Fences:
    """Follows code fences from line to line."""

    def __init__(self) -> None:
        self.opened = 0
        """The number of the line that opened the current fence, from 1; 0: none is open."""
        self._mark = ""
        self._line = 0

    def holds(self, line: str) -> bool:
        """Take the next line; return whether it is inside a fence that opened before it."""
        self._line += 1
        if self._mark:
            text = line.strip()
            if text.startswith(self._mark) and not text.strip(self._mark[0]):
                self.opened, self._mark = 0, ""
            return True
        fence = _FENCE.fullmatch(line)
        if fence and not (fence[1][0] == "`" and "`" in fence[2]):
            self.opened, self._mark = self._line, fence[1]
        return False


def items_of(section: str, text: str) -> tuple[str, ...]:
    """Return the entries of a section's text.

    Bullets are `-`, `*`, `•` and numbers with `.` or `)`; lines indented under a bullet belong to
    it. Text without a bullet is an entry a line in `options` and `seats`, else one a paragraph.

    Raises:
        BriefError: a line in `options` or `seats` that could be an option or a continuation.
    """
    reader = _Reader(section)
    for start, stop in lines_of(text):
        reader.take(text[start:stop])
    return reader.entries()


class _Reader:
    """Collects entries line by line."""

    def __init__(self, section: str) -> None:
        self._section = section
        self._one_line = section in _ONE_LINE
        self._base: int | None = None
        self._blank = False
        self._bulleted = False
        self._fences = Fences()
        self._found: list[list[str]] = []

    def take(self, line: str) -> None:
        """Take the next line."""
        text = line.strip()
        indent = len(line[: len(line) - len(line.lstrip())].expandtabs(4))
        if not self._one_line and self._fences.holds(line):
            self._found[-1].append(self._dedented(line, indent))
            return
        if not text:
            self._blank = True
            return
        mark = _MARK.match(text)
        if mark and (self._base is None or indent <= self._base + 1):
            self._base = indent if self._base is None else self._base
            self._start(text[mark.end() :].strip(), bulleted=True)
        elif self._bulleted and self._base is not None and indent > self._base:
            self._continue(line, indent, nested=mark is not None)
        else:
            self._plain(text)
        self._blank = False

    def entries(self) -> tuple[str, ...]:
        """Return what was found; bullets without text are dropped."""
        glue = " " if self._one_line else "\n"
        return tuple(entry for lines in self._found if (entry := glue.join(lines).strip()))

    def _start(self, text: str, *, bulleted: bool) -> None:
        self._found.append([text] if text else [])
        self._bulleted = bulleted

    def _continue(self, line: str, indent: int, *, nested: bool) -> None:
        if self._one_line and nested:
            raise self._unclear(line, "is a bullet below a bullet; an entry here is one line")
        if self._one_line:
            self._found[-1].append(line.strip())
            return
        if self._blank:
            self._found[-1].append("")
        self._found[-1].append(self._dedented(line, indent))

    def _dedented(self, line: str, indent: int) -> str:
        # Deeper structure (a list, code) keeps its shape, two columns being the bullet's own.
        own = (self._base or 0) + 2 if self._bulleted else 0
        return " " * max(0, indent - own) + line.strip()

    def _plain(self, text: str) -> None:
        if self._one_line:
            if self._base is not None:
                raise self._unclear(text, "has no bullet; start it with '- ', or indent it")
            self._start(text, bulleted=False)
        elif self._found and not self._blank:
            self._found[-1].append(text)
        else:
            self._start(text, bulleted=False)

    def _unclear(self, text: str, problem: str) -> BriefError:
        return BriefError(f"{self._section}: {one_line(text, 60)!r} {problem}", field=self._section)
