"""Peak memory by the number of debates, at once and one after the other, beside the bound.

    python -m benchmarks.memory

A process of its own for every cell. Debates at once hold what they need to go on; debates one after
the other must leave nothing behind.
"""

from __future__ import annotations

import sys

from benchmarks._report import Cell, Report
from benchmarks._workloads import DURABLE, OURS, Measured, Workload, medians

AT_ONCE = tuple(Workload(3, 3, debates, 0.05) for debates in (1, 100, 500, 1000))
IN_TURN = tuple(Workload(3, 3, debates) for debates in (100, 1000))
LONG = tuple(Workload(8, rounds) for rounds in (5, 50))
PEAK_MB = 100.0
GROWTH_MB = 10.0


def main() -> int:
    """Print the table."""
    report = Report()
    rows: list[list[Cell]] = []
    ours: dict[Workload, Measured] = {}
    for how, workloads in (("at once", AT_ONCE), ("in turn", IN_TURN), ("one long", LONG)):
        for workload in workloads:
            found = medians((DURABLE, OURS), workload, 1)
            ours[workload] = found[OURS]
            row = f"{workload.title.partition(' ')[0]}, {how}"
            rows.append([row, found[OURS].peak_mb, found[OURS].before_mb, found[DURABLE].peak_mb])
    report.say("Peak MB of the process (seats, rounds, debates):")
    report.table(["", "rt_notebook", "before the first debate", "SQLite bound"], rows)
    few, many = (ours[workload].peak_mb for workload in IN_TURN)
    report.limit("500 debates of 3 seats and 3 rounds at once", ours[AT_ONCE[2]].peak_mb,
                 PEAK_MB, "MB")  # fmt: skip
    report.limit("growth from 100 to 1,000 debates in turn", many - few, GROWTH_MB, "MB")
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
