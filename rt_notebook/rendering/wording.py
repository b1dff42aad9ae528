"""Numbers, times, lists and verbs in words; knows nothing of debates."""

from __future__ import annotations

from collections.abc import Callable, Iterable

Typed = Callable[[str, str], str]
"""Writes a verb and a debate's id as they are typed where a text is shown."""


def line_magic(verb: str, debate: str) -> str:
    """Return a verb as a notebook's cell takes it."""
    return f"%roundtable {verb} {debate}"


def shell_line(verb: str, debate: str) -> str:
    """Return a verb as a shell takes it."""
    return f"rt-notebook {verb} {debate}"


def round_name(number: int) -> str:
    """Return `the opening` or `round N`."""
    return "the opening" if number == 0 else f"round {number}"


def money(usd: float) -> str:
    """Return dollars with as many digits as say something."""
    return f"${usd:,.2f}" if usd >= 1 or usd == 0 else f"${usd:.4f}"


def duration(milliseconds: int) -> str:
    """Return a time span for a person: `0.4 s`, `12 s`, `3 min 05 s`, `2 h 10 min`."""
    seconds = max(0, milliseconds) / 1000
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def plural(number: int, noun: str) -> str:
    """Return `1 seat`, `3 seats`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def joined(names: Iterable[str]) -> str:
    """Return names with commas, or a dash for nobody."""
    return ", ".join(names) or "–"
