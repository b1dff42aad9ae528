"""Takes a model's reasoning, between think tags, off the front of its reply.

Tags in front of the first header are reasoning; tags further down are content. Knows tags and,
from the caller, what a header line is; looks at no character more than a few times.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from rt_notebook.contract.headers import RECOMMENDATION, STANCE, Header

THINK_REMOVED: Final = "think_removed"
_TAG: Final = re.compile(r"<(/?)think>", re.IGNORECASE | re.ASCII)
_BLOCKS: Final = re.compile(
    r"(?:\s*+<think>[^<]*+(?:<(?!/think>)[^<]*+)*+</think>)*+", re.IGNORECASE | re.ASCII
)
# A text behind a closing tag is tried as JSON for so many tags only, so that the time stays linear.
_TRIES: Final = 3

HeaderFinder = Callable[[Sequence[str]], list[Header]]


class Parted(NamedTuple):
    """A text parted into reasoning and reply."""

    body: str
    """What is to be read."""
    reasoning: str | None
    """What stood between the tags; None when nothing did."""
    removed: bool
    """True when a tag went."""


def part(text: str, headers: HeaderFinder, is_whole: Callable[[str], bool]) -> Parted:
    """Part `text` into reasoning and reply.

    Args:
        text: the cleaned text.
        headers: finds the header lines of the reply's kind.
        is_whole: tells whether a text is a lone PASS or one JSON object.
    """
    if "<" not in text or not (tags := list(_TAG.finditer(text))):
        return Parted(text, None, False)
    pieces: list[str] = []
    cut = _alone(text, tags, headers, is_whole)
    if cut is not None:
        pieces.append(text[: cut.start()])
        text = text[cut.end() :]
        tags = list(_TAG.finditer(text))
    body, removed = _in_front(text, tags, headers, pieces)
    reasoning = "\n".join(piece for piece in (_TAG.sub("", raw).strip() for raw in pieces) if piece)
    return Parted(body, reasoning or None, removed or cut is not None)


def _alone(
    text: str, tags: Sequence[re.Match[str]], headers: HeaderFinder, is_whole: Callable[[str], bool]
) -> re.Match[str] | None:
    """Return the last closing tag without an opening one that a reply follows."""
    alone: list[tuple[re.Match[str], bool]] = []
    opened, offset, blank = False, 0, True
    for tag in tags:
        between = text[offset : tag.start()]
        begins_line = _ends_blank(between, blank) if between else blank
        offset, blank = tag.end(), False
        if not tag[1]:
            opened = True
        elif opened:
            opened = False
        else:
            alone.append((tag, begins_line))
    if not alone:
        return None
    last = _last_start(text, headers)
    for tag, begins_line in reversed(alone):
        if tag.end() <= last or (begins_line and _is_start(_line_from(text, tag.end()), headers)):
            return tag
    for tag, begins_line in alone[:_TRIES]:
        behind = _BLOCKS.match(text, tag.end())
        rest = text[behind.end() if behind else tag.end() :].lstrip()
        later = "\n" in text[tag.end() : len(text) - len(rest)]
        if (begins_line or later) and is_whole(rest.rstrip()):
            return tag
    return None


def _last_start(text: str, headers: HeaderFinder) -> int:
    """Return the offset of the last line with a STANCE or RECOMMENDATION header; -1 without one."""
    lines = text.split("\n")
    for header in reversed(headers(lines)):
        if header.name in (STANCE, RECOMMENDATION):
            return sum(len(line) + 1 for line in lines[: header.line])
    return -1


def _is_start(line: str, headers: HeaderFinder) -> bool:
    return len(line) >= len(STANCE) and any(
        header.name in (STANCE, RECOMMENDATION) for header in headers([line])
    )


def _line_from(text: str, offset: int) -> str:
    end = text.find("\n", offset)
    return text[offset:] if end < 0 else text[offset:end]


def _in_front(
    text: str, tags: Sequence[re.Match[str]], headers: HeaderFinder, pieces: list[str]
) -> tuple[str, bool]:
    """Take the blocks in front of the first header out of `text`, their content to `pieces`."""
    kept: list[str] = []
    offset, blank, number = 0, True, 0
    closings = [index for index, tag in enumerate(tags) if tag[1]]
    closings.reverse()
    while number < len(tags):
        tag = tags[number]
        between = text[offset : tag.start()]
        if between and _holds_header(between, headers, blank):
            break
        number += 1
        if tag[1]:
            # A closing tag that no reply follows is content.
            kept.append(text[offset : tag.end()])
            offset, blank = tag.end(), False
            continue
        while closings and closings[-1] < number:
            closings.pop()
        if between:
            kept.append(between)
            blank = _ends_blank(between, blank)
        if closings:
            closing = tags[closings[-1]]
            pieces.append(text[tag.end() : closing.start()])
            offset, number = closing.end(), closings[-1] + 1
        else:
            offset = tag.end()
    removed = offset > 0 and any(not tag[1] for tag in tags[:number])
    kept.append(text[offset:])
    return "".join(kept), removed


def _ends_blank(text: str, blank: bool) -> bool:
    """Return whether the line that is open behind `text` is blank so far."""
    newline = text.rfind("\n")
    return not text[newline + 1 :].strip() and (newline >= 0 or blank)


def _holds_header(text: str, headers: HeaderFinder, blank: bool) -> bool:
    """Return whether a header begins in `text`; its first line counts only if `blank` before."""
    lines = text.split("\n")
    return bool(headers(lines if blank else lines[1:]))
