"""Reads a seat's reply: what its sections say, and what in them breaks the contract.

Reads one text with the options and names that the seat was shown; who asked, and whether a broken
reply is repaired, is not known here.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from rt_notebook.contract.headers import (
    AGREE_WITH,
    ASSUMPTIONS,
    DISAGREE,
    NEW,
    QUESTION,
    REPLY_NAMES,
    STANCE,
    Sections,
    reply_headers,
)
from rt_notebook.contract.naming import OptionNames, option_names, seat_names
from rt_notebook.contract.question import read_question
from rt_notebook.contract.reading import Grammar, Source, take_apart
from rt_notebook.contract.text import bullet, bullets, check_text, marked
from rt_notebook.domain.reply import PASS, Reply

TRIMMED: Final = "trimmed"
UNKNOWN_SEAT: Final = "unknown_seat"
OWN_NAME: Final = "own_name"
REPAIRED: Final = "repaired"
"""The engine's note on a reply that a repair call gave."""
MAX_DISAGREE: Final = 3
MAX_NEW: Final = 2
_GRAMMAR: Final = Grammar(REPLY_NAMES, reply_headers, has_doubts=False, may_pass=True)
_MISSING: Final = {
    name: f"{name} is missing: write `{name}:` and its bullets, or `{name}: none`"
    for name in (DISAGREE, NEW, ASSUMPTIONS)
}
_NO_AGREE_WITH: Final = (
    "AGREE_WITH is missing: write `AGREE_WITH:` and the seats you agree with, or []"
)


def read_reply(
    text: str,
    *,
    options: Sequence[str] = (),
    round: int = 0,
    trim: bool = True,
    require_agree: bool = True,
    seat: str | None = None,
    seats: Sequence[str] = (),
) -> Reply:
    """Read a seat's reply; never raises, whatever the text holds, in time linear in its length.

    Args:
        text: the reply as it came.
        options: the labels of the options, in the brief's order.
        round: 0 for the opening; from 1 on AGREE_WITH is required.
        trim: cut DISAGREE to 3 bullets and NEW to 2; off for hidden seats.
        require_agree: off for seats that are read leniently.
        seat: the replying seat's own name, as shown to it.
        seats: the names that AGREE_WITH can hold; none given: any name is taken as written.

    Returns:
        The reply; `valid` says whether it keeps the contract, `errors` how it doesn't.

    Raises:
        UsageError: it is no text at all.
    """
    check_text("read_reply", text)
    names = option_names(options)
    source = take_apart(text, _GRAMMAR, lambda found: _stance(found, names)[1] is not None)
    notes = source.notes
    if source.passed:
        return _pass(source, text)
    found = source.sections
    given = found.lines
    stance, key = _stance(found, names)
    agree_with = _agree_with(given.get(AGREE_WITH, ()), seat, seats, notes)
    disagree = bullets(given.get(DISAGREE, ()))
    new = bullets(given.get(NEW, ()))
    trimmed = _cut(disagree, new, notes) if trim else []
    errors = _errors(found, stance, key, names, require_agree=require_agree and round >= 1)
    return Reply(
        not errors,
        errors,
        False,
        stance,
        key,
        agree_with,
        disagree,
        new,
        bullets(given.get(ASSUMPTIONS, ())),
        read_question(" ".join(given[QUESTION])) if QUESTION in given else None,
        found.duplicates,
        trimmed,
        notes,
        source.reasoning,
        text,
    )


def _pass(source: Source, text: str) -> Reply:
    # Lists of its own, since it goes to a caller; the fold's replies share their empty ones.
    return Reply(
        valid=True,
        errors=[],
        passed=True,
        stance_key=PASS,
        agree_with=[],
        disagree=[],
        new=[],
        assumptions=[],
        duplicates=[],
        trimmed=[],
        notes=source.notes,
        reasoning=source.reasoning,
        raw=text,
    )


def _cut(disagree: list[str], new: list[str], notes: list[str]) -> list[str]:
    """Cut the lists to their limits; return the names of the sections that were cut."""
    trimmed = []
    for name, texts, most in ((DISAGREE, disagree, MAX_DISAGREE), (NEW, new, MAX_NEW)):
        if len(texts) > most:
            del texts[most:]
            trimmed.append(name)
    if trimmed:
        notes.append(TRIMMED)
    return trimmed


def _stance(found: Sections, names: OptionNames) -> tuple[str | None, str | None]:
    lines = found.lines.get(STANCE)
    if not lines:
        return None, None
    text = lines[0] if len(lines) == 1 else " ".join(lines).strip()
    return (text, names.stance(text)) if text else (None, None)


def _agree_with(
    lines: Sequence[str], seat: str | None, seats: Sequence[str], notes: list[str]
) -> list[str]:
    entries = _entries(lines)
    if not entries:
        return entries
    found = seat_names(tuple(seats)).read(entries, seat)
    if found.unknown:
        notes.append(UNKNOWN_SEAT)
    if found.own:
        notes.append(OWN_NAME)
    return found.names


def _entries(lines: Sequence[str]) -> list[str]:
    """Return the names in an AGREE_WITH section: one a bullet, or parted by commas."""
    text = lines[0] if len(lines) == 1 else _joined_names(lines)
    if text[:1] == "[":
        text = text[1:]
    if text[-1:] == "]":
        text = text[:-1]
    if not text.isascii():
        text = text.replace("、", ",").replace("\uff0c", ",")
    if ";" in text:
        text = text.replace(";", ",")
    if "," not in text:
        text = text.strip()
        return [text] if text else []
    return [name for part in text.split(",") if (name := part.strip())]


def _joined_names(lines: Sequence[str]) -> str:
    filled = [line for text in lines if (line := text.strip())]
    if filled and not (lines[0] if lines else "") and all(_is_bullet(line) for line in filled):
        return ",".join(bullet(line) for line in filled)
    return " ".join(lines).strip()


def _is_bullet(line: str) -> bool:
    """Return whether a line is a bullet and not emphasised text."""
    line = line.lstrip("> ")
    return marked(line) and not line.startswith("**")


def _errors(
    found: Sections, stance: str | None, key: str | None, names: OptionNames, *, require_agree: bool
) -> list[str]:
    given = found.lines
    errors = [_duplicate(name) for name in found.duplicates]
    if key is None:
        errors.append(_stance_error(names.ids, missing=stance is None))
    errors += [text for name, text in _MISSING.items() if name not in given]
    if require_agree and AGREE_WITH not in given:
        errors.append(_NO_AGREE_WITH)
    return errors


@lru_cache(maxsize=16)
def _duplicate(name: str) -> str:
    return f"duplicate {name} section"


@lru_cache(maxsize=128)
def _stance_error(ids: tuple[str, ...], *, missing: bool) -> str:
    what = "STANCE is missing" if missing else "STANCE names no option"
    return f"{what}: write one of {', '.join(ids)}, or other: and a label of your own"
