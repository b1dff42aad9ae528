"""Errors as programs get them: `{kind, message, field?, hint?}` and the texts that weren't sent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from rt_notebook import errors
from rt_notebook.errors import RoundtableError, RunError, one_line, told_facts

_HINT: Final = re.compile(r"; (did you mean [^;]*\?)")
# Facts that say the same as the message, or hold objects.
_TEXTS: Final = ("kept", "errors", "status")


def kind_of(error: RoundtableError) -> str:
    """Return an error's kind: its class's name in lower case, such as `unknown_debate`."""
    name = type(error).__name__.removesuffix("Error")
    known = name if hasattr(errors, f"{name}Error") else "Option"
    return re.sub(r"(?<!^)(?=[A-Z])", "_", known).lower()


def error_json(error: RoundtableError) -> dict[str, Any]:
    """Return an error as JSON-able data."""
    verb = error.facts.get("verb", "")
    message = one_line(str(error).replace(f"%roundtable {verb}", f"{verb}") if verb else str(error))
    found: dict[str, Any] = {"kind": kind_of(error), "message": message}
    field = error.facts.get("field") or error.facts.get("option")
    if isinstance(field, str) and field:
        found["field"] = field
    if hint := _HINT.search(message):
        found["hint"] = hint[1]
    for name in _TEXTS:
        if name in error.facts and _is_plain(error.facts[name]):
            found[name] = error.facts[name]
    return found


def error_of(data: Mapping[str, Any]) -> RoundtableError:
    """Return the error that JSON data stands for."""
    name = "".join(word.capitalize() for word in str(data.get("kind", "run")).split("_"))
    kind = getattr(errors, f"{name}Error", RunError)
    facts = {key: value for key, value in data.items() if key not in ("kind", "message", "hint")}
    found: RoundtableError = kind(str(data.get("message")), **told_facts(facts))
    return found


def _is_plain(value: object) -> bool:
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _is_plain(item) for key, item in value.items())
    if isinstance(value, list | tuple):
        return all(_is_plain(item) for item in value)
    return value is None or isinstance(value, str | int | float | bool)
