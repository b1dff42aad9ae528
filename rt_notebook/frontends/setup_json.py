"""Changes one entry of a JSON file with comments, and leaves every other byte as it is.

Owns the small grammar that is needed for it. Reads and writes no file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rt_notebook.errors import OptionError

_SPACE: Final = re.compile(r"(?:[\s\ufeff]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_BARE: Final = re.compile(r"[^\s,:\[\]{}\"/]+")
_INDENT: Final = re.compile(r"(?:^|\n)([ \t]*)$")


@dataclass(frozen=True)
class _Member:
    key: str
    start: int
    value: int
    end: int


@dataclass(frozen=True)
class _Object:
    members: tuple[_Member, ...]
    start: int
    end: int  # of its closing brace's place


def parse(text: str) -> dict[str, Any]:
    """Return what a JSON text with comments and trailing commas says; an empty one says {}.

    Raises:
        OptionError: it is something else.
    """
    if not text.strip("\ufeff \t\r\n"):
        return {}
    found = json.loads(_without_comments(text))
    if not isinstance(found, dict):
        raise OptionError("it holds no JSON object")
    return found


def with_entry(text: str, path: Sequence[str], value: Any) -> str:
    """Return `text` with an entry set.

    Args:
        text: the file.
        path: the keys that lead to the entry.
        value: what it is to say.

    Raises:
        OptionError: something on the path is no object.
    """
    if not text.strip("\ufeff \t\r\n"):
        return json.dumps(_nested(path, value), indent=2, ensure_ascii=False) + "\n"
    place, depth = _object(text, _after_space(text, 0)), 0
    for key in path[:-1]:
        member = _find(place, key)
        if member is None:
            return _inserted(text, place, key, _nested(path[depth + 1 :], value))
        place, depth = _object(text, member.value), depth + 1
    member = _find(place, path[-1])
    if member is None:
        return _inserted(text, place, path[-1], value)
    indent = _indent_before(text, member.start)
    return text[: member.value] + _dumped(value, indent, text) + text[member.end :]


def without_entry(text: str, path: Sequence[str]) -> str:
    """Return `text` without an entry; the same text where it isn't there."""
    if not text.strip("\ufeff \t\r\n"):
        return text
    place = _object(text, _after_space(text, 0))
    for key in path[:-1]:
        member = _find(place, key)
        if member is None:
            return text
        place = _object(text, member.value)
    member = _find(place, path[-1])
    return text if member is None else _cut(text, place, member)


def _cut(text: str, place: _Object, member: _Member) -> str:
    start = len(text[: member.start].rstrip())
    comma = _after_space(text, member.end)
    if text[comma] == ",":
        return text[:start] + text[comma + 1 :]
    number = place.members.index(member)
    if number:
        before = _after_space(text, place.members[number - 1].end)  # the comma before it
        return text[:before] + text[before + 1 : start] + text[member.end :]
    return text[:start] + text[member.end :]


def _inserted(text: str, place: _Object, key: str, value: Any) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    last = place.members[-1] if place.members else None
    indent = _indent_before(text, last.start) if last is not None else None
    name = json.dumps(key, ensure_ascii=False)
    if last is None:
        # In a file on one line the entry stays on it, unless its object was the whole file.
        on_one_line = "\n" not in text.strip() and text[: place.start].strip("\ufeff \t") != ""
        indent = None if on_one_line else _line_indent(text, place.start) + "  "
    lead = " " if indent is None else newline + indent
    member = f"{lead}{name}: {_dumped(value, indent, text)}"
    if last is None:
        tail = "" if indent is None else newline + _line_indent(text, place.start)
        return f"{text[: place.start + 1]}{member}{tail}{text[place.end :]}"
    end = len(text[: place.end].rstrip())
    if text[_after_space(text, last.end)] == ",":
        return text[:end] + member + "," + text[end:]
    return f"{text[: last.end]},{text[last.end : end]}{member}{text[end:]}"


def _dumped(value: Any, indent: str | None, text: str) -> str:
    if indent is None:
        return json.dumps(value, ensure_ascii=False)
    newline = "\r\n" if "\r\n" in text else "\n"
    step = "\t" if "\t" in indent else 2
    return json.dumps(value, indent=step, ensure_ascii=False).replace("\n", newline + indent)


def _nested(path: Sequence[str], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _indent_before(text: str, start: int) -> str | None:
    """Return the white space before the first thing on a line; None where something is before."""
    found = _INDENT.search(text[:start])
    return found[1] if found else None


def _line_indent(text: str, place: int) -> str:
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return line[: len(line) - len(line.lstrip())].strip("\ufeff")


def _find(place: _Object, key: str) -> _Member | None:
    # The last one counts, as for whoever reads the file.
    return next((member for member in reversed(place.members) if member.key == key), None)


def _object(text: str, start: int) -> _Object:
    if text[start : start + 1] != "{":
        raise OptionError("the place for the entry holds no JSON object")
    members: list[_Member] = []
    place = _after_space(text, start + 1)
    while text[place] != "}":
        if text[place] == ",":
            place = _after_space(text, place + 1)
            continue
        end = _value_end(text, place)
        value = _after_space(text, _after_space(text, end) + 1)
        members.append(_Member(json.loads(text[place:end]), place, value, _value_end(text, value)))
        place = _after_space(text, members[-1].end)
    return _Object(tuple(members), start, place)


def _value_end(text: str, start: int) -> int:
    if text[start] == '"' or text[start] not in "[{":
        found = _STRING.match(text, start) or _BARE.match(text, start)
        if found is None:
            raise OptionError("it can't be read")
        return found.end()
    depth, place = 0, start
    while True:
        char = text[place]
        depth += (char in "[{") - (char in "]}")
        if depth == 0:
            return place + 1
        found = _STRING.match(text, place) if char == '"' else None
        place = _after_space(text, found.end() if found else place + 1)


def _after_space(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    return found.end() if found else place


def _without_comments(text: str) -> str:
    parts = list(_parts(text))
    kept = []
    for number, part in enumerate(parts):
        following = parts[number + 1] if number + 1 < len(parts) else ""
        if not (part == "," and following in ("]", "}")):
            kept.append(part)
    return " ".join(kept)


def _parts(text: str) -> Iterator[str]:
    place = _after_space(text, 0)
    while place < len(text):
        found = _STRING.match(text, place) or _BARE.match(text, place)
        if found is None and text[place] == '"':
            raise OptionError("a string in it doesn't end on its line")
        end = found.end() if found else place + 1
        yield text[place:end]
        place = _after_space(text, end)
