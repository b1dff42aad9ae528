"""Reads what is said in a discussion: plain text, of which only a model's reasoning is taken."""

from __future__ import annotations

import re
from typing import Final

from rt_notebook.contract.text import clean, is_blank
from rt_notebook.contract.thinking import THINK_REMOVED
from rt_notebook.domain.reply import PASS, Reply, VerdictText

NOTHING_SAID: Final = "the answer holds nothing but reasoning"
"""Why an answer says nothing, though it isn't blank."""

# An opening tag begins a line; one in the midst of a line, or in code, is what is talked about.
_OPENING: Final = re.compile(r"^[ \t]*+<think>", re.IGNORECASE | re.ASCII | re.MULTILINE)
_CLOSING: Final = re.compile(r"(?<!`)</think>", re.IGNORECASE | re.ASCII)
# And one that follows reasoning at once begins more of it.
_NEXT: Final = re.compile(r"[ \t]*+<think>", re.IGNORECASE | re.ASCII)


def read_speech(text: str) -> Reply:
    """Return a turn as a reply without a stance; invalid when nothing but reasoning came."""
    spoken, reasoning, notes = _parted(text)
    valid = not is_blank(spoken)
    return Reply(
        valid=valid,
        errors=[] if valid else [NOTHING_SAID],
        passed=spoken == PASS,
        notes=notes,
        reasoning=reasoning,
        raw=text,
    )


def read_summary(text: str) -> VerdictText:
    """Return an observer's summary: its text stands under `recommendation`."""
    spoken, reasoning, notes = _parted(text)
    valid = not is_blank(spoken)
    return VerdictText(
        valid=valid,
        errors=[] if valid else [NOTHING_SAID],
        recommendation=spoken,
        notes=notes,
        reasoning=reasoning,
        raw="" if spoken == text else text,
    )


def spoken_text(reply: Reply) -> str:
    """Return what a turn says, without any reasoning."""
    return _parted(reply.raw)[0]


def _parted(text: str) -> tuple[str, str | None, list[str]]:
    """Return text, reasoning and notes.

    Reasoning is what stands before a first closing tag that was never opened, between an opening
    tag that begins a line, or follows reasoning at once, and its closing one, and all after one
    that is never closed.
    """
    cleaned, notes = clean(text)
    if "think>" not in cleaned.casefold():
        return cleaned.strip(), None, notes
    kept: list[str] = []
    thought: list[str] = []
    place = 0
    opening, closing = _OPENING.search(cleaned), _CLOSING.search(cleaned)
    if closing is not None and (opening is None or closing.start() < opening.start()):
        thought.append(cleaned[: closing.start()])
        place = closing.end()
    while opening := _NEXT.match(cleaned, place) or _OPENING.search(cleaned, place):
        kept.append(cleaned[place : opening.start()])
        closing = _CLOSING.search(cleaned, opening.end())
        thought.append(cleaned[opening.end() : closing.start() if closing else len(cleaned)])
        place = closing.end() if closing else len(cleaned)
    kept.append(cleaned[place:])
    if not thought:
        return cleaned.strip(), None, notes
    reasoning = "\n".join(filter(None, (part.strip() for part in thought)))
    return "".join(kept).strip(), reasoning or None, [*notes, THINK_REMOVED]
