"""What differs between a recorded call and the one to be made, field by field, in a person's words.

Pure. Which calls are compared is not known here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rt_notebook.errors import one_line

_SHOWN: Final = 60
_NAMES: Final[Mapping[str, str]] = {
    "sees": "the replies it may see",
    "people": "what people said",
    "open": "the open questions",
    "seats": "the order of the seats",
    "repairs": "the reply to be repaired",
    "sources": "the sources that research found",
}


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that differs."""

    field: str
    """Its name, such as `question`, `options`, `seat dev: persona`."""
    recorded: Any
    """The record's value."""
    here: Any
    """The debate's value."""
    words: str
    """Both in a person's words: where they part, cut to what fits on a line."""

    def __str__(self) -> str:
        return f"{self.field}: {self.words}"

    def to_json(self) -> dict[str, Any]:
        """Return it as a dict."""
        fields = {"field": self.field, "recorded": self.recorded, "here": self.here}
        return {**fields, "words": self.words}


def differences(
    recorded: Mapping[str, Any], here: Mapping[str, Any], seat: str
) -> list[Difference]:
    """Return what differs between what two calls are about.

    Args:
        recorded: the record's call.
        here: the debate's.
        seat: whose call it is.
    """
    found: list[Difference] = []
    for key in {**recorded, **here}:
        one, two = recorded.get(key), here.get(key)
        if one == two:
            continue
        if key == "brief":
            found += _fields("", one or {}, two or {})
        elif key == "seat":
            found += _fields(f"seat {seat}: ", one or {}, two or {})
        else:
            found.append(difference(_NAMES.get(key, key), one, two))
    return found


def difference(field: str, recorded: Any, here: Any) -> Difference:
    """Return how two values of a field differ."""
    return Difference(field, recorded, here, _words(recorded, here))


def word_difference(recorded: str, here: str) -> str:
    """Return which words of two texts differ: `word 3: 'module' in the record, 'service' here`."""
    one, two = recorded.split(), here.split()
    if one == two:
        return "only white space differs"
    start = 0
    while start < min(len(one), len(two)) and one[start] == two[start]:
        start += 1
    end = 0
    while end < min(len(one), len(two)) - start and one[-1 - end] == two[-1 - end]:
        end += 1
    before, after = one[start : len(one) - end], two[start : len(two) - end]
    gone, new = _shown(" ".join(before)), _shown(" ".join(after))
    return f"word {start + 1}: {gone} in the record, {new} here"


def _fields(prefix: str, one: Mapping[str, Any], two: Mapping[str, Any]) -> Iterator[Difference]:
    for name in {**one, **two}:
        if one.get(name) != two.get(name):
            yield difference(f"{prefix}{name}", one.get(name), two.get(name))


def _words(one: Any, two: Any) -> str:
    if isinstance(one, str) and isinstance(two, str) and len((one + " " + two).split()) > 2:
        return word_difference(one, two)
    one = [] if one is None and _is_texts(two) else one
    two = [] if two is None and _is_texts(one) else two
    if _is_texts(one) and _is_texts(two):
        return _list_words(one, two)
    if isinstance(one, list | dict) or isinstance(two, list | dict):
        return f"{_size(one)} in the record, {_size(two)} here, not the same"
    return f"{_shown(one)} in the record, {_shown(two)} here"


def _list_words(one: Sequence[str], two: Sequence[str]) -> str:
    if sorted(one) == sorted(two):
        return f"{_shown(', '.join(one))} in the record, {_shown(', '.join(two))} here (order)"
    if len(one) == len(two):
        place = next(n for n, pair in enumerate(zip(one, two, strict=True)) if pair[0] != pair[1])
        return f"entry {place + 1}, {_words(one[place], two[place])}"
    gone = [entry for entry in one if entry not in two]
    new = [entry for entry in two if entry not in one]
    parts = [f"only in the record: {_shown('; '.join(gone))}"] if gone else []
    parts += [f"only here: {_shown('; '.join(new))}"] if new else []
    return ", ".join(parts) or f"{len(one)} entries in the record, {len(two)} here"


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(entry, str) for entry in value)


def _size(value: Any) -> str:
    if isinstance(value, list | dict):
        return f"{len(value)} {'entry' if len(value) == 1 else 'entries'}"
    return _shown(value)


def _shown(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, str):
        return repr(one_line(value, _SHOWN)) if value else "nothing"
    return one_line(repr(value), _SHOWN)
