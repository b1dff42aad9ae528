"""Text from outside made harmless as characters: no terminal control, no hidden or reordering ones.

Everything that is shown goes through `plain` first, whatever it becomes next (HTML, Markdown, a
terminal's lines). Knows no markup. Every function is linear in the text's length.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

SHOWN_LIMIT: Final = 20_000
"""Characters of one text that are shown; the rest is named, and stays in the frames."""

# CSI; then OSC, DCS, SOS, PM and APC up to their terminator, on one line; then ESC with
# intermediates. Both the 7-bit and the C1 forms. Repeats are possessive and stop where the next
# sequence could begin, so a megabyte of any of these stays linear.
_ESCAPES: Final = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*+[ -/]*+[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\n\x07\x1b\x90-\x9f]*+(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]++[0-~]"
)
_BREAKS: Final = re.compile(r"\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]")
# What nobody sees but a program does: soft hyphens, zero widths, fillers, tags, private selectors.
_INVISIBLE: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2060-\u2065"
    "\u206a-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]"
)
# Joiners shape Persian, Indic scripts and emoji; beside ASCII, or in a row, they only hide.
_JOINERS: Final = re.compile(
    r"(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?=[\u200c\u200d\x00-\x7f]|\Z)"
)
_REORDERING: Final = re.compile("[\u202a-\u202e\u2066-\u2069]")
# More than four marks on one character climb over the lines around it.
_STACKED: Final = re.compile(
    r"(?<=[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]{4})"
    r"[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+"
)


def plain(text: str) -> str:
    """Return `text` with nothing in it that acts: safe to print, and the first step to any markup.

    Terminal sequences, control and invisible characters go, other line ends become LF, a character
    that reorders what follows (bidi override, embedding, isolate) is shown as `[U+202E]`, half a
    surrogate pair becomes U+FFFD, a tab four spaces.
    """
    if text.isascii() and text.isprintable():
        return text
    if not text.isascii():
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    text = _ESCAPES.sub("", text)
    text = _CONTROLS.sub("", _BREAKS.sub("\n", text).replace("\t", "    "))
    if text.isascii():
        return text
    text = _INVISIBLE.sub("", text)
    text = _JOINERS.sub("", text)
    text = _REORDERING.sub(lambda found: f"[U+{ord(found[0]):04X}]", text)
    return _STACKED.sub("", text)


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
