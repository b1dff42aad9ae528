"""Runs the tests in kernels and front ends many times in a row: `python -m tools.soak`.

Every pass is a run of pytest of its own, and no test gets a second try. At the end a table says how
often each kernel and front end was tried and how often something missed. Owns the counting; knows
nothing of what the tests do. Other arguments go to pytest: `--passes 20 -k two_gates`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "soak"
"""Where each pass leaves its report and what pytest printed."""


@dataclass(frozen=True)
class Run:
    """One run of one test."""

    test: str
    """Its id."""

    kernel: str
    """The kernel it ran in."""

    front_end: str
    """The page that was there, or that there was none."""

    missed: bool
    """Whether it failed."""

    reconnects: int
    """How often the kernel had left a page's first requests unread, before anything of ours ran."""

    @classmethod
    def read(cls, line: str) -> Self:
        """Returns the run that a line of a report holds."""
        return cls(**json.loads(line))


def run_pass(number: int, workers: int, arguments: Iterable[str]) -> list[Run]:
    """Runs the tests once and returns what became of them.

    Raises:
        RuntimeError: pytest or one of its processes broke, or nothing was run.
    """
    report, printed = FOLDER / f"{number:02d}.jsonl", FOLDER / f"{number:02d}.txt"
    report.unlink(missing_ok=True)
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-p", "tools.soak_report"),
        # Without another worker for one that crashed: see the Makefile.
        *("-n", str(workers), "--max-worker-restart", "0"),
        *("--dist", "loadgroup", f"--soak-report={report}"),
        *("-m", "(notebook or browser) and not soak"),
        *arguments,
    ]
    with printed.open("w", encoding="utf-8") as file:
        done = subprocess.run(command, cwd=ROOT, stdout=file, stderr=subprocess.STDOUT, check=False)
    lines = report.read_text(encoding="utf-8").splitlines() if report.exists() else []
    runs = [Run.read(line) for line in lines]
    # A test that takes its process down has no line.
    if not runs or done.returncode != int(any(run.missed for run in runs)):
        raise RuntimeError(f"pytest ended with {done.returncode}; see {printed}")
    return runs


def table(runs: Iterable[Run]) -> str:
    """Returns the counts as a Markdown table, a row for each kernel and front end."""
    tried: Counter[tuple[str, str]] = Counter()
    missed: Counter[tuple[str, str]] = Counter()
    unread: Counter[tuple[str, str]] = Counter()
    for run in runs:
        tried[run.kernel, run.front_end] += 1
        missed[run.kernel, run.front_end] += run.missed
        unread[run.kernel, run.front_end] += run.reconnects
    rows = [
        f"| {kernel} | {front_end} | {count} | {missed[kernel, front_end]} "
        f"| {unread[kernel, front_end]} |"
        for (kernel, front_end), count in sorted(tried.items())
    ]
    head = ["| kernel | front end | runs | misses | reconnects |", "|---|---|---|---|---|"]
    return "\n".join([*head, *rows])


def main(given: list[str] | None = None) -> int:
    """Runs the passes; 1 when anything missed."""
    parser = argparse.ArgumentParser(prog="tools.soak", description=__doc__)
    parser.add_argument("--passes", type=int, default=20)
    parser.add_argument("--workers", type=int, default=2)
    known, arguments = parser.parse_known_args(given)
    FOLDER.mkdir(parents=True, exist_ok=True)
    runs: list[Run] = []
    for number in range(1, known.passes + 1):
        began = time.monotonic()
        found = run_pass(number, known.workers, arguments)
        runs += found
        misses = sorted(run.test for run in found if run.missed)
        took = time.monotonic() - began
        print(f"pass {number}: {len(found)} tests, {len(misses)} missed, {took:.0f} s", flush=True)
        for test in misses:
            print(f"  {test}", flush=True)
    print(f"\n{known.passes} passes\n\n{table(runs)}")
    return int(any(run.missed for run in runs))


if __name__ == "__main__":
    sys.exit(main())
