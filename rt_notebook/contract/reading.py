"""From a model's whole text to its sections: cleaning, JSON, reasoning, fences, in this order.

Shared by the reply and the verdict, which hand in their grammar; gives sections no meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from rt_notebook.contract.fences import blocks, may_hold_fence, unwrapped
from rt_notebook.contract.headers import Header, Sections, sections, settled
from rt_notebook.contract.json_reply import JSON_REPLY, read_object
from rt_notebook.contract.text import clean
from rt_notebook.contract.thinking import THINK_REMOVED, part
from rt_notebook.domain.reply import PASS


class Grammar(NamedTuple):
    """What a kind of text looks like."""

    names: Sequence[str]
    """The sections' names; a text of this kind has at least the first one."""
    headers: Callable[[Sequence[str]], list[Header]]
    """Finds the header lines."""
    has_doubts: bool
    """True when header lines can turn out to be prose."""
    may_pass: bool
    """True when a lone PASS is a whole text of this kind."""


class Source(NamedTuple):
    """A text taken apart."""

    sections: Sections
    """Its sections; empty for a pass."""
    passed: bool
    """True for a lone PASS."""
    notes: list[str]
    """What was put right."""
    reasoning: str | None
    """What stood between think tags."""


_NOTHING: Final = Sections({}, [])
# A lone PASS, fenced or not, is never longer.
_SHORT: Final = 40


def take_apart(text: str, grammar: Grammar, is_answer: Callable[[Sections], bool]) -> Source:
    """Return the sections of a model's text.

    Args:
        text: the text as it came.
        grammar: the kind of text.
        is_answer: tells whether sections hold what the first section must name; of several fenced
            blocks, those before the first such one are templates.
    """
    body, notes = clean(text)
    body = body.strip()
    reasoning = None
    source = _whole(body, grammar, notes)
    if source is None and "<" in body:
        parted = part(body, _settling(grammar), lambda rest: _whole(rest, grammar, []) is not None)
        if parted.removed:
            body, reasoning = parted.body.strip(), parted.reasoning
            notes.append(THINK_REMOVED)
            source = _whole(body, grammar, notes)
    if source is None:
        return Source(_read_lines(body, grammar, is_answer, notes), False, notes, reasoning)
    return source if reasoning is None else source._replace(reasoning=reasoning)


def _settling(grammar: Grammar) -> Callable[[Sequence[str]], list[Header]]:
    if not grammar.has_doubts:
        return grammar.headers
    return lambda lines: settled(grammar.headers(lines))


def _whole(body: str, grammar: Grammar, notes: list[str]) -> Source | None:
    """Return a text that is one whole, a pass or a JSON object, fenced or not; else None."""
    fence_notes: tuple[str, ...] = ()
    if body[:3] in ("```", "~~~"):
        inside = body[body.find("\n") + 1 :].lstrip()
        if inside[:1] != "{" and len(inside) > _SHORT:
            return None
        body, fence_notes = unwrapped(body)
        body = body.strip()
    if grammar.may_pass and _is_pass(body):
        notes += fence_notes
        return Source(_NOTHING, True, notes, None)
    found = read_object(body, grammar.names, notes)
    if found is None:
        return None
    notes += (*fence_notes, JSON_REPLY)
    return Source(found, False, notes, None)


def _is_pass(body: str) -> bool:
    word = body.strip("*")
    return len(word) < _SHORT and word.removesuffix(".").strip("*").upper() == PASS


def _read_lines(
    body: str, grammar: Grammar, is_answer: Callable[[Sections], bool], notes: list[str]
) -> Sections:
    lines = body.split("\n")
    headers = grammar.headers(lines)
    known = settled(headers) if grammar.has_doubts else headers
    if not may_hold_fence(body):
        return sections(lines, known, len(lines))
    chosen: Sections = _NOTHING
    chosen_notes: tuple[str, ...] = ()
    for block in blocks(lines, headers, {header.line for header in known}):
        given = settled(block.headers) if grammar.has_doubts else block.headers
        found = sections(lines, given, block.stop)
        if chosen is _NOTHING or grammar.names[0] in found.lines:
            chosen, chosen_notes = found, block.notes
        if is_answer(found):
            break
    notes += chosen_notes
    return chosen
