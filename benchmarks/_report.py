"""What a benchmark prints: Markdown tables, and for every limit of ours the figure beside it.

    report = Report()
    report.table(["events", "ms"], [["one", 3.2]])
    report.limit("a store's list", 3.2, 50, "ms")
    return report.end()                       # prints the limits; 1 where one is broken

Owns how figures look. Must not know what is measured.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from typing import NamedTuple

Cell = str | float | int | None


class Limit(NamedTuple):
    """A promise and what was measured."""

    what: str
    """What is promised about."""
    figure: float
    """What was measured."""
    bound: float
    """What may not be passed."""
    unit: str = ""
    """Of figure and bound."""
    at_least: bool = False
    """True where more is better."""

    @property
    def kept(self) -> bool:
        """Whether the figure stays within the bound; no number at all doesn't."""
        return self.figure >= self.bound if self.at_least else self.figure <= self.bound

    @property
    def row(self) -> list[Cell]:
        """The line of the limits' table."""
        unit = f" {self.unit}" if self.unit and self.unit not in "×%" else self.unit
        bound = f"at {'least' if self.at_least else 'most'} {self.bound:,g}{unit}"
        return [self.what, f"{figure(self.figure)}{unit}", bound, "yes" if self.kept else "BROKEN"]


class Report:
    """One benchmark's output."""

    def __init__(self) -> None:
        self.limits: list[Limit] = []
        """The limits so far."""

    def say(self, text: str) -> None:
        """Print a line of its own."""
        print(f"{text}\n", flush=True)

    def table(self, heads: Sequence[str], rows: Iterable[Sequence[Cell]]) -> None:
        """Print a table; numbers get three significant digits."""
        print(table(heads, list(rows)) + "\n", flush=True)

    def limit(
        self, what: str, figure: float, bound: float, unit: str = "", *, at_least: bool = False
    ) -> None:
        """Hold a figure against its limit; printed at the end."""
        self.limits.append(Limit(what, figure, bound, unit, at_least))

    def end(self) -> int:
        """Print the limits and return the exit code: 1 where one is broken."""
        if self.limits:
            self.table(["Limit", "Measured", "Allowed", "Kept"], [one.row for one in self.limits])
        broken = [one.what for one in self.limits if not one.kept]
        if broken:
            print(f"Broken: {'; '.join(broken)}", file=sys.stderr)
        return int(bool(broken))


def table(heads: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """Return a Markdown table that is aligned in plain text too; numbers at the right."""
    texts = [[_text(cell) for cell in row] for row in rows]
    right = [
        at > 0 and all(not isinstance(row[at], str) or _is_number(row[at]) for row in rows)
        for at in range(len(heads))
    ]
    widths = [
        max(len(head), 3, *(len(row[at]) for row in texts)) if texts else max(len(head), 3)
        for at, head in enumerate(heads)
    ]

    def line(cells: Sequence[str]) -> str:
        padded = [
            cell.rjust(width) if at_right else cell.ljust(width)
            for cell, width, at_right in zip(cells, widths, right, strict=True)
        ]
        return f"| {' | '.join(padded)} |"

    rule = [
        "-" * (width - 1) + ":" if at_right else "-" * width
        for width, at_right in zip(widths, right, strict=True)
    ]
    return "\n".join([line(heads), line(rule), *map(line, texts)])


def figure(value: float) -> str:
    """Return a number with three significant digits, thousands apart, integers whole."""
    if isinstance(value, int) or not math.isfinite(value):
        return f"{value:,}"
    if value == 0:
        return "0"
    digits = 2 - math.floor(math.log10(abs(value)))
    return f"{round(value, digits):,.{max(0, digits)}f}"


def _text(cell: Cell) -> str:
    if cell is None:
        return ""
    # A bar would end the cell.
    return cell.replace("|", "\\|") if isinstance(cell, str) else figure(cell)


def _is_number(cell: Cell) -> bool:
    """True for what reads as a number, with a ratio in parentheses or a unit behind it."""
    return isinstance(cell, str) and (not cell or cell[0].isdigit())
