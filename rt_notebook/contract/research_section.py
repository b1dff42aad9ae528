"""Reads the section `research:` of a cell: the query, and lines such as `model: openai:...`."""

from __future__ import annotations

import re
from typing import Any, Final

from rt_notebook.contract.cell_items import items_of
from rt_notebook.errors import OptionError, one_line

_FIELDS: Final[dict[str, type]] = {
    "query": str,
    "max_searches": int,
    "timeout_s": float,
    "model": str,
    "effort": str,
    "account": str,
}
_FIELD: Final = re.compile(
    rf"({'|'.join(name.replace('_', '[-_ ]') for name in _FIELDS)})\s*[:=]\s*(.+)", re.IGNORECASE
)


def read_research(text: str) -> dict[str, Any] | None:
    """Return the fields that a section's text gives; None for an empty one.

    Lines that name no field are the query.

    Raises:
        OptionError: a field is there twice, or its value has another form.
    """
    found: dict[str, Any] = {}
    query: list[str] = []
    for line in "\n".join(items_of("research", text)).splitlines():
        if field := _FIELD.fullmatch(line.strip()):
            name = re.sub(r"[- ]", "_", field[1].lower())
            if name in found:
                raise OptionError(f"research: {name!r} is given twice", option="research")
            found[name] = _typed(name, field[2])
        elif line.strip():
            query.append(line.strip())
    if query and "query" in found:
        raise OptionError(
            f"research: {one_line(query[0], 60)!r} is no field, and the query is given already",
            option="research",
        )
    if query:
        found["query"] = "\n".join(query)
    if found and "query" not in found:
        raise OptionError("research: the query is missing; say what to look up", option="research")
    return found or None


def _typed(name: str, text: str) -> Any:
    kind = _FIELDS[name]
    try:
        return kind(text.strip())
    except ValueError:
        words = "whole number" if kind is int else "number"
        raise OptionError(
            f"research: {name} takes a {words}; got {one_line(text, 60)!r}", option="research"
        ) from None
