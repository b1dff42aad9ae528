"""What tells the two kinds of debate apart: their memories, bounds and who has the last word.

Owns the rules that a definition must keep because of its kind; knows neither prompts nor engine.
"""

from __future__ import annotations

import re
from typing import Any, Final, Literal

from rt_notebook.errors import BriefError, OptionError

Kind = Literal["review", "discussion"]
"""review: seats take stances on options; discussion: a free round-robin with an observer."""

REVIEW: Final = "review"
DISCUSSION: Final = "discussion"
CHAIRMAN_NAME: Final = "chairman"
OBSERVER_NAME: Final = "observer"
MAX_OBSERVER_PROMPT: Final = 8_000
MAX_TOOL_PREVIEW: Final = 500
MEMORIES: Final = {REVIEW: ("stateless", "full"), DISCUSSION: ("full", "turn", "window:N")}
"""The memories by kind; the first one is the default."""
LEAST_ROUNDS: Final = {REVIEW: 0, DISCUSSION: 1}
"""The fewest rounds by kind: a discussion has no opening before them."""
MIN_OPTIONS: Final = 2

_WINDOW: Final = re.compile(r"window:([1-9][0-9]{0,3})", re.ASCII)


def window_of(memory: str) -> int | None:
    """Return how many of the last turns a seat of a discussion sees; None: all of them."""
    found = _WINDOW.fullmatch(memory)
    if found is not None:
        return int(found[1])
    return 0 if memory == "turn" else None


def fits_memory(kind: str, memory: str) -> bool:
    """Return whether a memory belongs to a kind."""
    if _WINDOW.fullmatch(memory):
        return kind == DISCUSSION
    return memory in MEMORIES[kind] and memory != "window:N"


def with_defaults(data: dict[str, Any]) -> dict[str, Any]:
    """Return a definition's fields with the defaults that depend on its kind."""
    kind = data.get("kind", REVIEW)
    if kind not in MEMORIES:
        return data
    found = dict(data)
    if found.get("memory") is None:
        found["memory"] = MEMORIES[kind][0]
    if kind == DISCUSSION and found.get("gates") is None:
        found["gates"] = "off"
    return found


def check_kind(
    kind: str, options: int, memory: str, gates: str, chairman: object, observer: object
) -> None:
    """Check what a definition may hold because of its kind.

    Args:
        kind: review or discussion.
        options: how many options the brief has.
        memory: what a seat sees.
        gates: when a person is asked.
        chairman: who writes a review's verdict, or None.
        observer: a discussion's observer or observer prompt, or None.

    Raises:
        BriefError: the options don't fit.
        OptionError: another field doesn't.
    """
    if not fits_memory(kind, memory):
        listed = ", ".join(MEMORIES[kind])
        raise OptionError(
            f"memory={memory!r}: a {kind} takes one of {listed}", option="memory", kind=kind
        )
    if kind == REVIEW:
        _check_review(options, observer)
    else:
        _check_discussion(options, gates, chairman)


def _check_review(options: int, observer: object) -> None:
    if options < MIN_OPTIONS:
        raise BriefError(
            f"a review needs at least {MIN_OPTIONS} options, got {options}; "
            "add a section `options:` with a bullet each",
            field="options",
        )
    if observer is not None:
        raise OptionError(
            "observer: a review ends with its chairman's verdict; an observer sums up discussions",
            option="observer",
        )


def _check_discussion(options: int, gates: str, chairman: object) -> None:
    if options:
        raise BriefError(
            f"a discussion has no options, got {options}; leave them out, or hold a review",
            field="options",
        )
    if gates != "off":
        raise OptionError(
            "gates: a discussion has none; say a word at any time with answer", option="gates"
        )
    if chairman is not None:
        raise OptionError(
            "chairman: a discussion ends with its observer's summary; name an observer",
            option="chairman",
        )
