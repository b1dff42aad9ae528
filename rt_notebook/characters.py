"""Characters that act or hide: which they are, and a text without them. Knows no markup.

Everything from outside that reaches a person's eyes goes through `plain` first, an error's message
included, whatever it becomes next. Every function is linear in the text's length.
"""

from __future__ import annotations

import re
from typing import Any, Final

# Unicode's Default_Ignorable_Code_Point, in parts: nobody sees them, a program does.
_UNSEEN: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2060-\u2065"
    "\u206a-\u206f\u3164\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)
_BIDI: Final = "\u202a-\u202e\u2066-\u2069"
_SHAPING: Final = "\u200c\u200d\ufe00-\ufe0f"  # joiners, and what selects a character's look
_NOTES: Final = "\ufff9-\ufffb"  # not in that list: they hide an annotation

IGNORABLE: Final = re.compile(f"[{_UNSEEN}{_BIDI}{_SHAPING}]+")
"""Characters that two texts may differ in while they look the same."""

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
_INVISIBLE: Final = re.compile(f"[{_UNSEEN}{_NOTES}]")
# Joiners shape Persian, Indic scripts and emoji; beside ASCII, or in a row, they only hide.
_JOINERS: Final = re.compile(
    r"(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?=[\u200c\u200d\x00-\x7f]|\Z)"
)
_REORDERING: Final = re.compile(f"[{_BIDI}]")
_NAMES: Final = {
    code: f"[U+{code:04X}]" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
}
# More than four marks on one character climb over the lines around it.
_STACKED: Final = re.compile(
    r"(?<=[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]{4})"
    r"[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+"
)
_ACTING: Final = re.compile(
    f"[\x7f-\x9f\u2028\u2029\ud800-\udfff{_UNSEEN}{_BIDI}{_NOTES}]|{_JOINERS.pattern}"
)


def plain(text: str) -> str:
    """Return `text` with nothing in it that acts: safe to print, and the first step to any markup.

    Terminal sequences, control and invisible characters go, other line ends become LF, a character
    that reorders what follows (bidi override, embedding, isolate) is shown as `[U+202E]`, half a
    surrogate pair becomes U+FFFD, a tab four spaces.
    """
    if text.isascii() and text.isprintable():
        return text
    text = _ESCAPES.sub("", whole(text))
    text = _CONTROLS.sub("", _BREAKS.sub("\n", text).replace("\t", "    "))
    if text.isascii():
        return text
    text = _INVISIBLE.sub("", text)
    text = _JOINERS.sub("", text)
    if _REORDERING.search(text):
        text = text.translate(_NAMES)
    return _STACKED.sub("", text)


def whole(text: str) -> str:
    """Return `text` with U+FFFD for each half of a surrogate pair: nothing can store or send one.

    Two halves that belong together become the character that they are.
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def whole_in(value: Any) -> Any:
    """Return a value whose texts, in lists and dicts too, are `whole`."""
    if isinstance(value, str):
        return whole(value)
    if type(value) in (list, tuple):
        return type(value)(map(whole_in, value))
    if type(value) is dict:
        return {whole_in(name): whole_in(inner) for name, inner in value.items()}
    return value


def escaped_json(text: str) -> str:
    r"""Return JSON with what acts or hides as `\uXXXX`: the same data, safe to print and to edit.

    Args:
        text: JSON; its control characters are escaped already.
    """
    # DEL is the one of them in ASCII.
    return text if text.isascii() and "\x7f" not in text else _ACTING.sub(_as_json, text)


def _as_json(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4))
