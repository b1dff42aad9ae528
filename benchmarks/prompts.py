"""How many characters go to the model by rounds, beside the peers: linear with stateless memory.

    python -m benchmarks.prompts

Three seats, one debate. The fit is the straight line by least squares; its deviation is the
largest distance of a measured value from it, and the exponent is that between the last two
columns: 1 for what grows with the rounds, 2 for what grows with their square.
"""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Sequence
from typing import NamedTuple

from benchmarks._report import Cell, Report
from benchmarks._workloads import OURS, PEERS, Contestant, Workload, medians, present

SEATS = 3
ROUNDS = (4, 8, 16, 32, 50)
MOST_DEVIATION = 2.0
FULL = Contestant("rt_notebook, memory=full", "_ours.py", "full")


class Fit(NamedTuple):
    """A straight line through some points."""

    start: float
    """Where it crosses 0."""
    slope: float
    """How much comes with one more."""
    deviation: float
    """The largest distance of a point from it, percent of the point."""


def line_through(xs: Sequence[float], ys: Sequence[float]) -> Fit:
    """Return the straight line that fits best."""
    slope, start = statistics.linear_regression(xs, ys)
    off = max(abs(start + slope * x - y) / y for x, y in zip(xs, ys, strict=True))
    return Fit(start, slope, 100 * off)


def main() -> int:
    """Print the table and the fit."""
    report = Report()
    rows = [OURS, FULL, *present(() if "--no-peers" in sys.argv[1:] else PEERS)]
    chars: dict[Contestant, list[int]] = {row: [] for row in rows}
    for rounds in ROUNDS:
        for row, measured in medians(rows, Workload(SEATS, rounds), 1).items():
            chars[row].append(measured.chars)
    heads = [f"{rounds} rounds" for rounds in ROUNDS]
    report.say(f"Characters sent to the model, {SEATS} seats, one debate:")
    report.table(["", *heads, "exponent"], [_row(row, chars[row]) for row in rows])
    fit = line_through(ROUNDS, chars[OURS])
    report.say(
        f"rt_notebook, memory=stateless: {fit.start:,.0f} + {fit.slope:,.0f} × rounds, "
        f"off by at most {fit.deviation:.2f} %."
    )
    report.limit("stateless: distance from a straight line", fit.deviation, MOST_DEVIATION, "%")
    return report.end()


def _row(row: Contestant, chars: list[int]) -> list[Cell]:
    grown = math.log(chars[-1] / chars[-2]) / math.log(ROUNDS[-1] / ROUNDS[-2])
    return [row.title, *chars, grown]


if __name__ == "__main__":
    sys.exit(main())
