"""A reply that is one JSON object instead of sections: mapped field by field, nothing else guessed.

Knows JSON and the sections' names; what the fields mean is read elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from rt_notebook.contract.headers import AGREE_WITH, Sections
from rt_notebook.contract.text import clean

JSON_REPLY: Final = "json_reply"


class _Pairs(list[tuple[str, Any]]):
    """A JSON object with its repeated keys kept."""


def read_object(text: str, names: Sequence[str], notes: list[str]) -> Sections | None:
    """Return the sections of a reply that is one JSON object with at least one of `names` as a key.

    Args:
        text: the whole reply, trimmed.
        names: the sections' names; keys match in any case.
        notes: takes up what had to be removed from the strings.

    Returns:
        None when it is no such object. A null is a missing section.
    """
    if text[:1] != "{" or text[-1:] != "}":
        return None
    try:
        # Numbers stay text: a million digits are no reason to compute. Not strict: line breaks
        # inside strings happen, and become spaces like escaped ones.
        pairs = json.loads(
            text,
            strict=False,
            object_pairs_hook=_Pairs,
            parse_int=str,
            parse_float=str,
            parse_constant=str,
        )
        return _sections(pairs, names, notes)
    except (ValueError, RecursionError):
        return None


def _sections(pairs: _Pairs, names: Sequence[str], notes: list[str]) -> Sections | None:
    lines: dict[str, list[str]] = {}
    duplicates: list[str] = []
    known = False
    seen: set[str] = set()
    for key, value in pairs:
        name = key.strip().upper().replace(" ", "_").replace("-", "_")
        if name not in names:
            continue
        known = True
        if name in seen:
            duplicates.append(name)
        seen.add(name)
        if value is None:
            lines.pop(name, None)
            continue
        texts = _texts(value, notes)
        lines[name] = [f"[{', '.join(texts)}]"] if name == AGREE_WITH else texts or [""]
    return Sections(lines, duplicates) if known else None


def _texts(value: Any, notes: list[str]) -> list[str]:
    """Return a value's texts: a list's one by one, an object's as `key: value`."""
    if value is None:
        return []
    if isinstance(value, str):
        return [_one_line(value, notes)]
    if isinstance(value, bool):
        return [str(value).lower()]
    if isinstance(value, _Pairs):
        return [
            "; ".join(
                f"{_one_line(key, notes)}: {' '.join(_texts(item, notes))}" for key, item in value
            )
        ]
    return [text for item in value for text in _texts(item, notes)]


def _one_line(text: str, notes: list[str]) -> str:
    text, found = clean(text)
    notes += [note for note in found if note not in notes]
    return " ".join(text.splitlines()).strip()
