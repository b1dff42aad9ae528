"""How long the tables of 1,000 debates of 3 seats and 3 rounds take: under 1 s is promised.

    python benchmarks/frames.py

The debates are read, folded and kept before the clock starts: what is measured is making the
frames. Each table's time is the median of five, in seconds of this process on its processor, so
that a busy machine doesn't count; the promise is for all tables together.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from rt_notebook.analysis.many import Frames, frames
from rt_notebook.analysis.result import Result
from rt_notebook.domain.seat import Seat
from tests.analysis.debates import Log, spec_of

DEBATES = 1_000
ROUNDS = 3
REPEATS = 5
PROMISED_S = 1.0

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
    """Print each table's time and the sum; 1 where the promise is broken."""
    results = [debate(number) for number in range(DEBATES)]
    made = frames(results)
    assert len(made.replies) == DEBATES * ROUNDS * 3
    total = 0.0
    print(f"{DEBATES:,} debates of 3 seats and {ROUNDS} rounds, seconds, median of {REPEATS}")
    for name in Frames.names():
        rows = len(getattr(made, name))
        took = median_s(lambda name=name: getattr(made, name))  # type: ignore[misc]
        total += took
        print(f"{name:<14}{took:>8.3f}{rows:>10,} rows")
    print(f"{'all tables':<14}{total:>8.3f}")
    for name, work in (("to_arrow", made.to_arrow), ("to_polars", made.to_polars)):
        print(f"{name:<14}{median_s(work):>8.3f}")
    word = "kept" if total <= PROMISED_S else "BROKEN"
    print(f"promise: all tables together in {PROMISED_S:g} s: {total:.2f} s, {word}")
    return 0 if total <= PROMISED_S else 1


if __name__ == "__main__":
    sys.exit(main())
