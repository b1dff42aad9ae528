"""Reads the chairman's verdict: the pick, and the sections below it.

Reads one text with the brief's options; the tally is counted in code and never taken from here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rt_notebook.contract.headers import (
    DISSENT,
    KILL_CRITERIA,
    OPEN_QUESTIONS,
    RECOMMENDATION,
    VERDICT_NAMES,
    Sections,
    verdict_headers,
)
from rt_notebook.contract.naming import OptionNames, option_names
from rt_notebook.contract.reading import Grammar, take_apart
from rt_notebook.contract.text import (
    bullet,
    bullets,
    check_text,
    is_empty_bullet,
    without_empty,
)
from rt_notebook.domain.reply import VerdictText

_GRAMMAR: Final = Grammar(VERDICT_NAMES, verdict_headers, has_doubts=True, may_pass=False)
_REQUIRED: Final = (RECOMMENDATION, DISSENT, KILL_CRITERIA, OPEN_QUESTIONS)


def read_verdict(text: str, *, options: Sequence[str] = ()) -> VerdictText:
    """Read a verdict; never raises, whatever the text holds, in time linear in its length.

    Args:
        text: the verdict as it came.
        options: the labels of the options, in the brief's order.

    Returns:
        The verdict; `valid` says whether it keeps the contract, `errors` how it doesn't.

    Raises:
        UsageError: it is no text at all.
    """
    check_text("read_verdict", text)
    names = option_names(options)
    source = take_apart(text, _GRAMMAR, lambda found: _pick(found, names) is not None)
    found = source.sections
    pick = _pick(found, names)
    errors = _errors(found, pick, names)
    dissent = _section(found, DISSENT)
    return VerdictText(
        valid=not errors,
        errors=errors,
        pick=pick,
        recommendation=_section(found, RECOMMENDATION),
        dissent="" if is_empty_bullet(bullet(dissent)) else dissent,
        kill_criteria=without_empty(bullets(found.lines.get(KILL_CRITERIA, ()))),
        open_questions=without_empty(bullets(found.lines.get(OPEN_QUESTIONS, ()))),
        duplicates=found.duplicates,
        notes=source.notes,
        reasoning=source.reasoning,
        raw=text,
    )


def _section(found: Sections, name: str) -> str:
    return "\n".join(found.lines.get(name, ())).strip()


def _pick(found: Sections, names: OptionNames) -> str | None:
    for line in found.lines.get(RECOMMENDATION, ()):
        if first := line.strip():
            return names.pick(first)
    return None


def _errors(found: Sections, pick: str | None, names: OptionNames) -> list[str]:
    errors = [f"duplicate {name} section" for name in found.duplicates]
    for name in _REQUIRED:
        if name not in found.lines:
            errors.append(f"{name} is missing: write `{name}:` and its content, or none")
        elif not any(line.strip() for line in found.lines[name]):
            errors.append(f"{name} is empty: write its content, or none")
        elif name == RECOMMENDATION and pick is None:
            errors.append(
                "RECOMMENDATION names no option: its first line is one of "
                f"{', '.join(names.ids)}, or none; the reasons follow below it"
            )
    return errors
