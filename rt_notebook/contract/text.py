"""Model text before it is read: what is taken out of it, what counts as blank, what a bullet is.

Knows characters and lines only; headers, options and questions have modules of their own. Every
function is linear: plain string methods, and patterns whose repeats are possessive.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from rt_notebook.characters import IGNORABLE
from rt_notebook.errors import UsageError, one_line

BOM: Final = "bom"
ESCAPES: Final = "escapes"
SURROGATES: Final = "surrogates"

# CSI: parameters, intermediates, a final byte. OSC: up to BEL or ESC \, never past the line's end,
# so that a sequence cut short can't swallow the reply.
_ESCAPE: Final = re.compile(r"\x1b(?:\[[0-?]*+[ -/]*+[@-~]|\][^\x07\x1b\n]*+(?:\x07|\x1b\\))")
_NUMBER: Final = re.compile(r"[0-9]++[.)](?=\s|\Z)")
_MARKS: Final = "-*•"
_WHITE: Final = "".join(chr(code) for code in range(0x3001) if chr(code).isspace())
_BLANK: Final = re.compile(rf"(?:\s|{IGNORABLE.pattern})*+")
# `none` in the scripts whose models write it by themselves.
_NOTHING: Final = frozenset({"", "none", "n/a", "nothing", "无", "無", "なし", "없음"})
_WRAPPING: Final = _WHITE + "*_`()[]\"'.,;:-–—"
_DASHES: Final = "-–—"
_LONGEST_EMPTY: Final = 40
"""Characters of a bullet that may say that there is none, marks included."""


def check_text(of: str, text: object) -> None:
    """Check that a caller gave a text, whatever it holds.

    Args:
        of: the function that was called.
        text: what it was given.

    Raises:
        UsageError: it is none.
    """
    if not isinstance(text, str):
        raise UsageError(f"{of}: a text is expected, got {one_line(repr(text), 80)}")


def clean(text: str) -> tuple[str, list[str]]:
    """Return `text` as it is read, and a note for each kind of thing that had to go.

    Byte-order marks and terminal escape sequences are removed, lone surrogates become U+FFFD, a
    no-break space becomes a space, and CRLF becomes LF.
    """
    notes: list[str] = []
    if not text.isascii():
        if "\ufeff" in text:
            text = text.replace("\ufeff", "")
            notes.append(BOM)
        text = _without_surrogates(text, notes).replace("\xa0", " ")
    if "\x1b" in text:
        text = _ESCAPE.sub("", text).replace("\x1b", "")
        notes.append(ESCAPES)
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    return text, notes


def _without_surrogates(text: str, notes: list[str]) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        notes.append(SURROGATES)
        # By way of UTF-16, where two halves that belong together become one character again.
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def is_blank(text: str) -> bool:
    """Return whether nothing in `text` can be seen: white space, zero-width characters, escapes.

    Such an answer is a failure of the call, not a reply.
    """
    return _BLANK.fullmatch(text) is not None or (
        "\x1b" in text and _BLANK.fullmatch(clean(text)[0]) is not None
    )


def marked(line: str) -> bool:
    """Return whether a trimmed line begins with a bullet's mark."""
    return (line != "" and line[0] in _MARKS) or _NUMBER.match(line) is not None


def bullet(line: str) -> str:
    """Return one line without its white space and without one leading mark.

    A number is a mark only before white space or the line's end, `-` before a digit is a sign, and
    the `>` of a quoted bullet goes first.
    """
    line = line.strip()
    first = line[:1]
    if first == ">":
        inner = line.lstrip("> \t")
        if not inner or marked(inner):
            line, first = inner, inner[:1]
    if first == "-":
        return line if line[1:2].isdigit() else line[1:].lstrip()
    if first == "*" or first == "•":
        return line[1:].lstrip()
    if first.isdigit() and (number := _NUMBER.match(line)):
        return line[number.end() :].lstrip()
    return line


def bullets(lines: Iterable[str]) -> list[str]:
    """Return the bullets of a section's lines; empty ones are dropped."""
    return [text for line in lines if (bare := line.strip()) and (text := bullet(bare))]


def is_empty_bullet(text: str) -> bool:
    """Return whether a bullet only says `none`, `n/a`, `nothing`, `-`, `(none)` or the like."""
    if len(text) > _LONGEST_EMPTY:
        return False
    return text.strip(_WRAPPING).casefold() in _NOTHING


def without_empty(texts: Iterable[str]) -> list[str]:
    """Return the bullets that say something, as frames and prompts show them."""
    return [text for text in texts if len(text) > _LONGEST_EMPTY or not is_empty_bullet(text)]


def only_dashes(text: str) -> bool:
    """Return whether nothing but dashes and white space is there."""
    return not text.strip(_WHITE + _DASHES)
