"""How long the tables of many debates of 3 seats and 3 rounds take, by their rows.

    python -m benchmarks.frames

The debates are read, folded and kept before the clock starts: what is measured is making the
frames. Each table's time is the median of five, in seconds of this process on its processor, so
that a busy machine doesn't count.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

from benchmarks._report import Cell, Report
from rt_notebook.analysis.many import Frames, frames
from rt_notebook.analysis.result import Result
from rt_notebook.domain.seat import Seat
from tests.analysis.debates import Log, spec_of

DEBATES = (10, 100, 1_000)
ROUNDS = 3
REPEATS = 5
MOST_S = 1.0

SPOKEN = (
    "Six people can't run two deployments and their data at once. The p95 latency comes from "
    "the database, which a new service would call as often as before; a pilot can be taken back "
    "within one sprint, while a split of the schema can't. Nobody has said what a rollback costs."
)
WORDS = SPOKEN.split()


def bullet(number: int) -> str:
    """Return a point of twelve words; every fifth one comes again in nearly the same words."""
    return " ".join(
        WORDS[(number * 7 + step * (1 + number % 5)) % len(WORDS)] for step in range(12)
    )


def debate(number: int) -> Result:
    """Return a finished debate whose seats say five points a reply and move now and then."""
    log = Log(spec_of(Seat("rv"), Seat("dev"), Seat("pm")), f"debate-{number:06d}")
    for round_number in range(ROUNDS):
        log.start_round(round_number)
        for place, name in enumerate(("rv", "dev", "pm")):
            at = number * 31 + round_number * 5 + place
            log.say(
                name,
                f"opt-{1 + (at * at) % 2}",
                agree_with=["dev"] if name != "dev" and round_number else [],
                disagree=[bullet(at), bullet(at + 11)],
                new=[bullet(at + 3), bullet(at + 17)],
                assumptions=[bullet(at + 29)],
                raw=" ".join(bullet(at + step) for step in range(8)),
            )
    log.add("concluded", status="done", stop_reason="rounds")
    return Result(log.state, log.events)


def median_s(work: Callable[[], object]) -> float:
    """Return the median seconds of `REPEATS` runs."""
    took = []
    for _ in range(REPEATS):
        start = time.process_time()
        work()
        took.append(time.process_time() - start)
    return statistics.median(took)


def main() -> int:
    """Print each table's time and all tables' by the number of debates."""
    report = Report()
    results = [debate(number) for number in range(DEBATES[-1])]
    made = [frames(results[:count]) for count in DEBATES]
    assert len(made[-1].replies) == DEBATES[-1] * ROUNDS * 3
    rows: list[list[Cell]] = []
    totals = [0.0] * len(DEBATES)
    for name in Frames.names():
        took = [median_s(lambda of=of, name=name: getattr(of, name)) for of in made]  # type: ignore[misc]
        totals = [total + one for total, one in zip(totals, took, strict=True)]
        rows.append(_row(name, took, len(getattr(made[-1], name))))
    rows.append(_row("all tables", totals, sum(int(str(row[-2])) for row in rows)))
    for name in ("to_arrow", "to_polars"):
        took = [median_s(getattr(of, name)) for of in made]
        rows.append(_row(name, took, len(made[-1].replies)))
    report.say(f"Milliseconds by the number of debates, median of {REPEATS}:")
    heads = [f"{count:,}" for count in DEBATES]
    report.table(["table", *heads, f"rows of {heads[-1]}", "us a row"], rows)
    report.limit(f"all tables of {heads[-1]} debates", totals[-1], MOST_S, "s")
    return report.end()


def _row(name: str, took_s: list[float], rows: int) -> list[Cell]:
    each = took_s[-1] / rows * 1e6 if rows else None
    return [name, *(one * 1000 for one in took_s), rows, each]


if __name__ == "__main__":
    sys.exit(main())
