"""Positions: where each seat stands, who stands together, and who moved.

Pure functions over the fold's values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from rt_notebook.domain.normal import normal_form


class Position(NamedTuple):
    """A seat's valid stance that wasn't a pass."""

    seat: str
    """The seat's name."""
    round: int
    """The round it was taken in."""
    key: str
    """An option id, or `other:<label>` as written."""
    stance: str
    """The stance as written."""


class Flip(NamedTuple):
    """A change of stance."""

    seat: str
    """The seat's name."""
    round: int
    """The round in which the new stance was taken."""
    from_key: str
    """The stance it left."""
    to_key: str
    """The stance it took."""


def canonical_key(key: str) -> str:
    """Return the key under which stances are compared: an id, or `other:` and a normal form."""
    return "other:" + normal_form(key[6:]) if key.startswith("other:") else key


def count(positions: Mapping[str, Position], seats: Iterable[str]) -> dict[str, list[str]]:
    """Return seats' names by stance key: options first in order, then others as they came."""
    found: dict[str, tuple[str, list[str]]] = {}
    for name in seats:
        if name in positions:
            key = positions[name].key
            found.setdefault(canonical_key(key), (key, []))[1].append(name)
    ordered = sorted(found.items(), key=lambda item: _order(item[0]))
    return {shown: names for _, (shown, names) in ordered}


def at_round(history: Mapping[str, Sequence[Position]], number: int) -> dict[str, Position]:
    """Return each seat's position as it stood after a round."""
    found: dict[str, Position] = {}
    for name, taken in history.items():
        past = [position for position in taken if position.round <= number]
        if past:
            found[name] = past[-1]
    return found


def by_round(history: Mapping[str, Sequence[Position]], rounds: int) -> list[dict[str, Position]]:
    """Return `at_round` of the rounds from 0, in one pass over the history."""
    found: list[dict[str, Position]] = [{} for _ in range(rounds)]
    for name, taken in history.items():
        latest, upcoming = None, 0
        for number, held in enumerate(found):
            while upcoming < len(taken) and taken[upcoming].round <= number:
                latest, upcoming = taken[upcoming], upcoming + 1
            if latest is not None:
                held[name] = latest
    return found


def flips(history: Mapping[str, Sequence[Position]]) -> list[Flip]:
    """Return every change of stance, by round, then in the seats' order."""
    found: list[Flip] = []
    for name, taken in history.items():
        for before, after in pairwise(taken):
            same = before.key == after.key or canonical_key(before.key) == canonical_key(after.key)
            if not same:
                found.append(Flip(name, after.round, before.key, after.key))
    return sorted(found, key=lambda flip: flip.round)


def _order(key: str) -> tuple[int, int]:
    if key.startswith("opt-") and key[4:].isdecimal():
        return 0, int(key[4:])
    return 1, 0
