"""The engine's own cost beside bounds and peers: one workload, one table, one run.

    python benchmarks/engine.py             installs the peers first, each in its own environment
    python benchmarks/engine.py --no-peers  the bounds and this package only

Workload S,R,D: D debates of S seats and R rounds with an instant model (or one that takes L
seconds, all debates at once), replies of 600 characters, one closing call. The bounds are a bare
asyncio loop, and the same with one SQLite commit a turn: the least that a debate which survives a
crash must pay. Only ratios within one run mean anything. Exits 1 where this package costs more than
its promise: 3x the SQLite bound at 3,3,500 and 6x at 8,50,1.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
CACHE = HERE.parent / ".cache" / "bench"


class Workload(NamedTuple):
    """One column of the table."""

    seats: int
    rounds: int
    debates: int
    latency_s: float = 0.0

    @property
    def title(self) -> str:
        """The column's head."""
        head = f"{self.seats},{self.rounds},{self.debates}"
        return f"{head} at {self.latency_s} s" if self.latency_s else head

    @property
    def arguments(self) -> list[str]:
        """What the harness is called with."""
        mode = "conc" if self.latency_s else "seq"
        return [
            *("-S", str(self.seats), "-R", str(self.rounds), "-D", str(self.debates)),
            *("-L", str(self.latency_s), "--mode", mode),
        ]


class Contestant(NamedTuple):
    """One row of the table."""

    title: str
    script: str
    variant: str = ""
    environment: str | None = None
    """Name of the requirements file, for a peer; None: this package's own environment."""


WORKLOADS = (
    Workload(3, 2, 1),
    Workload(3, 2, 200),
    Workload(5, 10, 20),
    Workload(8, 50, 1),
    Workload(3, 3, 500, 0.05),
)
BOUND = Contestant("bound: a SQLite commit a turn", "peers/bound_durable.py", "sqlite")
OURS = Contestant("rt_notebook, store on", "_ours.py")
CONTESTANTS = (
    Contestant("bound: bare loop, rounds in parallel", "peers/bound_bare.py", "par"),
    BOUND,
    OURS,
    Contestant("rt_notebook, durability=power", "_ours.py", "power"),
    Contestant("aragora-debate", "peers/peer_aragora.py", environment="aragora-debate"),
    Contestant("ag2 0.x", "peers/peer_ag2classic.py", environment="ag2classic"),
    Contestant("freemad", "peers/peer_freemad.py", environment="freemad"),
    Contestant("langgraph", "peers/peer_langgraph.py", environment="langgraph"),
    Contestant("langgraph, checkpointer", "peers/peer_langgraph.py", "ckpt", "langgraph"),
    Contestant("autogen-agentchat", "peers/peer_autogen.py", environment="autogen"),
)
PROMISES = {Workload(8, 50, 1): 6.0, Workload(3, 3, 500, 0.05): 3.0}


def main() -> int:
    """Run everything and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--no-peers", action="store_true", help="bounds and this package only")
    parser.add_argument("--runs", type=int, default=5, help="runs of each; the median counts")
    given = parser.parse_args()
    rows = [row for row in CONTESTANTS if not (given.no_peers and row.environment)]
    pythons = {row: _python(row) for row in rows}
    found: dict[tuple[Contestant, Workload], dict[str, Any]] = {}
    for workload in WORKLOADS:
        runs: dict[Contestant, list[dict[str, Any]]] = {row: [] for row in rows}
        for _ in range(given.runs):  # in turn, so that a busy moment hits everybody alike
            for row in rows:
                runs[row].append(_measure(pythons[row], row, workload))
        for row in rows:
            found[row, workload] = _median(runs[row])
    _print(rows, found)
    return _judge(found)


def _python(row: Contestant) -> str:
    if row.environment is None:
        return sys.executable
    folder = CACHE / row.environment
    requirements = HERE / "peers" / f"requirements-{row.environment}.txt"
    stamp = folder / "requirements.txt"
    python = str(folder / ("Scripts" if os.name == "nt" else "bin") / "python")
    if not stamp.exists() or stamp.read_text("utf-8") != requirements.read_text("utf-8"):
        print(f"installing {row.title} ...", file=sys.stderr)
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "-r", str(requirements)], check=True)
        stamp.write_text(requirements.read_text("utf-8"), "utf-8")
    return python


def _measure(python: str, row: Contestant, workload: Workload) -> dict[str, Any]:
    script = HERE / row.script
    command = [python, str(script), *workload.arguments, "--variant", row.variant]
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", cwd=script.parent, check=False
    )
    if done.returncode:
        raise SystemExit(f"{row.title} failed at {workload.title}:\n{done.stderr[-2000:]}")
    measured: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return measured


def _median(runs: list[dict[str, Any]]) -> dict[str, Any]:
    ordered = sorted(runs, key=lambda run: float(run["wall_s"]))
    middle = ordered[len(ordered) // 2]
    return {**middle, "wall_s": statistics.median(float(run["wall_s"]) for run in runs)}


def _print(
    rows: list[Contestant], found: dict[tuple[Contestant, Workload], dict[str, Any]]
) -> None:
    width = max(len(row.title) for row in rows)
    heads = [f"{workload.title:>20}" for workload in WORKLOADS]
    print("wall seconds, median (times the SQLite bound)")
    print(" " * width, *heads, f"{'peak MB, last':>14}", f"{'Mchars sent, 8,50':>18}")
    for row in rows:
        cells = []
        for workload in WORKLOADS:
            wall = float(found[row, workload]["wall_s"])
            times = wall / float(found[BOUND, workload]["wall_s"])
            cells.append(f"{wall:>11.4f} ({times:5.1f})")
        last = found[row, WORKLOADS[-1]]
        sent = float(found[row, WORKLOADS[3]]["prompt_chars_total"]) / 1e6
        print(f"{row.title:<{width}}", *cells, f"{last['peak_rss_mb']:>14.1f}", f"{sent:>18.2f}")


def _judge(found: dict[tuple[Contestant, Workload], dict[str, Any]]) -> int:
    broken = 0
    for workload, promise in PROMISES.items():
        times = float(found[OURS, workload]["wall_s"]) / float(found[BOUND, workload]["wall_s"])
        word = "kept" if times <= promise else "BROKEN"
        broken += times > promise
        print(
            f"promise at {workload.title}: at most {promise:g}x the SQLite bound: "
            f"{times:.2f}x, {word}"
        )
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
