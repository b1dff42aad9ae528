"""The engine's own cost beside bounds and peers: one workload, one table, one run.

    python -m benchmarks.engine             installs the peers first, each in its own environment
    python -m benchmarks.engine --no-peers  the bounds and this package only

The bounds are a bare asyncio loop, and the same with one SQLite commit a turn: the least that a
debate which survives a crash must pay. Only ratios within one run mean anything.
"""

from __future__ import annotations

import argparse
import sys

from benchmarks._report import Cell, Report, figure
from benchmarks._workloads import (
    BARE,
    DURABLE,
    OURS,
    OURS_POWER,
    PEERS,
    Contestant,
    Measured,
    Workload,
    medians,
    present,
)

LONG = Workload(8, 50, 1)
CROWD = Workload(3, 3, 500, 0.05)
WORKLOADS = (Workload(3, 2, 1), Workload(3, 2, 200), Workload(5, 10, 20), LONG, CROWD)
TIMES_BOUND = {CROWD: 3.0, LONG: 6.0}
PEAK_MB = 100.0

Found = dict[Workload, dict[Contestant, Measured]]


def main() -> int:
    """Run everything and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--no-peers", action="store_true", help="bounds and this package only")
    parser.add_argument("--runs", type=int, default=5, help="runs of each; the median counts")
    given = parser.parse_args()
    report = Report()
    rows = [BARE, DURABLE, OURS, OURS_POWER, *present(() if given.no_peers else PEERS)]
    found: Found = {workload: medians(rows, workload, given.runs) for workload in WORKLOADS}
    report.say(f"Wall seconds, median of {given.runs} runs (times the SQLite bound):")
    report.table(["", *(one.title for one in WORKLOADS)], [_times(row, found) for row in rows])
    report.say(f"Memory of the process at {CROWD.title}, and characters sent at {LONG.title}:")
    report.table(
        ["", "version", "peak MB", "before MB", "M characters"],
        [_memory(row, found) for row in rows],
    )
    _judge(report, rows, found)
    return report.end()


def _times(row: Contestant, found: Found) -> list[Cell]:
    cells: list[Cell] = [row.title]
    for workload in WORKLOADS:
        wall = found[workload][row].wall_s
        times = wall / found[workload][DURABLE].wall_s
        cells.append(f"{figure(wall)} ({times:.{1 if times >= 1 else 2}f})")
    return cells


def _memory(row: Contestant, found: Found) -> list[Cell]:
    crowd, long = found[CROWD][row], found[LONG][row]
    version = "" if crowd.version == "-" else crowd.version
    return [row.title, version, crowd.peak_mb, crowd.before_mb, long.chars / 1e6]


def _judge(report: Report, rows: list[Contestant], found: Found) -> None:
    for workload, most in TIMES_BOUND.items():
        times = found[workload][OURS].wall_s / found[workload][DURABLE].wall_s
        report.limit(f"{workload.title}: times the SQLite bound", times, most, "×")
    for row in rows:
        if row.keeps:
            times = found[CROWD][OURS].wall_s / found[CROWD][row].wall_s
            report.limit(f"{CROWD.title}: times {row.title}, which keeps its state", times, 1, "×")
    report.limit(f"{CROWD.title}: peak memory", found[CROWD][OURS].peak_mb, PEAK_MB, "MB")


if __name__ == "__main__":
    sys.exit(main())
