"""What is odd about a debate's log, as lines for the person.

Who answered in place of the model that was asked, and events that this version doesn't know. Reads
the fold alone; knows no vendor: names are compared word by word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from rt_notebook.domain.state import State
from rt_notebook.errors import one_line

_WORD: Final = re.compile(r"[a-z0-9]+")
# Words of a name that point at whatever is newest, and are replaced by it.
_POINTERS: Final = frozenset({"latest", "preview", "default", "auto"})


def log_notes(state: State) -> list[str]:
    """Return what a person should know of a log before trusting what is made of it."""
    return [*unknown_notes(state), *model_notes(state)]


def unknown_notes(state: State) -> list[str]:
    """Return a line for the events whose kind a newer version made: kept, and without effect."""
    kinds = [f"{one_line(kind, 40)} ({count})" for kind, count in state.unknown_kinds.items()]
    if not kinds:
        return []
    return [f"events of a kind that this version doesn't know were left aside: {', '.join(kinds)}"]


def model_notes(state: State) -> list[str]:
    """Return a line for each seat whose answers name another model than the one asked.

    A vendor may say more than was asked (a date, a version), but not something else: every word of
    the asked name is in the reported one.
    """
    return [
        f"{one_line(seat, 60)}: {one_line(asked, 80)} was asked, and "
        f"{one_line(reported, 80)} answered"
        for seat, asked, reported in dict.fromkeys(_others(state))
    ]


def _others(state: State) -> Iterator[tuple[str, str, str]]:
    for call in state.calls.values():
        reported = call.model_reported
        asked = _words(_name_of(call.model)) - _POINTERS
        if reported and asked and not asked <= _words(reported):
            yield call.seat, call.model, reported


def _name_of(model: str) -> str:
    """Return the model's own name: what stands behind the vendor's, or the command's."""
    vendor, _, name = model.partition(":")
    # A router's name has the vendor's in front, and its answer may leave it out.
    return name.partition("/")[2] if vendor == "cli" else name.rpartition("/")[2]


def _words(name: str) -> set[str]:
    return set(_WORD.findall(name.casefold()))
