"""Tells a real question to the person from a placeholder; when unsure, the person is asked.

Knows the text of one section only.
"""

from __future__ import annotations

import re
from typing import Final

from rt_notebook.contract.text import check_text, only_dashes

# Emphasis and white space may alternate at the ends.
_AROUND: Final = "*_` \t\n\r"
_STOPS: Final = ".,;:!-–—"
_PLACEHOLDER: Final = re.compile(
    r"""(?:none | n/a | not\s++applicable
        | no(?:\s++(?:further|additional|unanswered))*+\s++questions?+
          (?:\s++for\s++(?:the\s++)?+human)?+
        )\b
        (?:\s++(?:at\s++this\s++time|at\s++present|for\s++now|needed|from\s++me)\b)*+""",
    re.VERBOSE | re.IGNORECASE,
)
# Bookkeeping is one line at most; a longer one is read by the person.
_LONGEST: Final = 400
_ASKING: Final = re.compile(
    r"\b(?:who|what|when|where|why|how|which|whether|please|confirm|clarify)\b", re.IGNORECASE
)
_CLAUSE_ENDS: Final = re.compile(r"[.,;:!]|\s[-–—]\s")
_SETTLED: Final = re.compile(
    r"""(?:and\s)?+
        (?: (?:(?:all|the|these|my|of|open|other)\s)*+ questions?+ \s
            (?:(?:is|are|were|have\sbeen)\s)?+ (?:(?:already|now|all)\s)?+ answered
          | (?:(?:the|this|that|these|all|any|other)\s)*+ (?:information|answer|detail|value)s?+ \s
            (?:is|are|remains?+) \s (?:still\s)?+ (?:unknown|not\sprovided)
        )""",
    re.VERBOSE | re.IGNORECASE,
)
_TREATED_AS: Final = re.compile(r".\sas\s(?:an?\s)?+(?:unknown|assumption)s?\Z", re.IGNORECASE)
# How long the words that `_TREATED_AS` looks for can be.
_TREATED_LONGEST: Final = 20


def read_question(text: str) -> str | None:
    """Return the question in a QUESTION_FOR_HUMAN section, or None for a placeholder.

    Args:
        text: the section's content, in a reply its lines joined with a space.

    Returns:
        The question as written, without one leading `-` or `•`.

    Raises:
        UsageError: it is no text at all.
    """
    check_text("read_question", text)
    lines = text.strip()
    if lines[:1] in "-•":
        lines = lines[1:].strip()
    core = lines.strip(_AROUND)
    if only_dashes(core):
        return None
    if "?" in core or "？" in core:
        return lines
    return None if _is_placeholder(core) else lines


def _is_placeholder(core: str) -> bool:
    start = _PLACEHOLDER.match(core)
    if start is None:
        return False
    rest = core[start.end() :].strip()
    if not rest:
        return True
    if rest[0] not in _STOPS:
        return False
    remark = rest.strip(_STOPS + " \t")
    return not remark or _is_bookkeeping(remark)


def _is_bookkeeping(remark: str) -> bool:
    """Return whether a remark only says how open points are handled."""
    if len(remark) > _LONGEST or "\n" in remark or _ASKING.search(remark):
        return False
    treating = False
    for part in _CLAUSE_ENDS.split(remark):
        clause = " ".join(part.split())
        treating = treating or clause.casefold().startswith(("treat ", "and treat "))
        if treating:
            # What is treated as unknown may hold commas: on until it says so.
            treating = not _TREATED_AS.search(clause, max(0, len(clause) - _TREATED_LONGEST))
        elif clause and not _SETTLED.fullmatch(clause):
            return False
    return not treating
