"""Harmless text as it is shown: on one line, cut, padded, wrapped by a terminal's columns.

Everything that is shown goes through `plain` first, whatever it becomes next (HTML, Markdown, a
terminal's lines). Knows no markup. Every function is linear in the text's length.
"""

from __future__ import annotations

import unicodedata
from typing import Final

from rt_notebook.characters import plain as plain

SHOWN_LIMIT: Final = 20_000
"""Characters of one text that are shown; the rest is named, and stays in the frames."""


def one_line(text: str, limit: int = 500) -> str:
    """Return `plain(text)` on one line, white space folded, cut at `limit` characters."""
    flat = " ".join(plain(text[: 8 * limit]).split())
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def clip(text: str, limit: int = SHOWN_LIMIT) -> tuple[str, int]:
    """Return the first `limit` characters of `text`, and how many were left out."""
    return text[:limit], max(0, len(text) - limit)


def cells(text: str) -> int:
    """Return the columns that a terminal needs for `text`: wide characters take two, marks none."""
    if text.isascii():
        return len(text)
    return sum(_width(char) for char in text)


def pad(text: str, width: int) -> str:
    """Return `text` filled with spaces to `width` columns, or cut to them with an ellipsis."""
    missing = width - cells(text)
    return text + " " * missing if missing >= 0 else pad(cut_cells(text, width - 1) + "…", width)


def cut_cells(text: str, width: int) -> str:
    """Return the longest beginning of `text` that fits into `width` columns."""
    used = 0
    for index, char in enumerate(text):
        used += _width(char)
        if used > width:
            return text[:index]
    return text


def wrap(text: str, width: int, indent: str = "", first: str | None = None) -> list[str]:
    """Return plain text as lines of at most `width` columns, its own line breaks kept.

    Args:
        text: what to wrap; it is not cleaned here.
        width: columns, the indent included.
        indent: in front of every line.
        first: in front of the first line in place of `indent`.
    """
    room = max(8, width - max(cells(indent), cells(first or "")))
    lines = [piece for line in text.split("\n") for piece in _wrapped(line, room)]
    return [((first if first is not None and not n else indent) + line).rstrip()
            for n, line in enumerate(lines)]  # fmt: skip


def _wrapped(line: str, room: int) -> list[str]:
    lines: list[str] = []
    current, used = "", 0
    for word in line.split():
        size = cells(word)
        if current and used + 1 + size <= room:
            current, used = f"{current} {word}", used + 1 + size
            continue
        if current:
            lines.append(current)
        while size > room:
            piece = cut_cells(word, room)
            lines.append(piece)
            word, size = word[len(piece) :], size - cells(piece)
        current, used = word, size
    return [*lines, current] if current or not lines else lines


def _width(char: str) -> int:
    if char < "\u0300":
        return 1
    if unicodedata.combining(char) or char in "\u200c\u200d\ufe0e\ufe0f":
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
