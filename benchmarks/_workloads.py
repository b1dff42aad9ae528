"""One workload for everybody: this package, the bounds and the peers, each in a process of its own.

Workload S,R,D: D debates of S seats and R rounds with an instant model (or one that takes L
seconds, all debates at once), replies of 600 characters, one closing call; see `peers/common.py`.
Owns the peers' environments: each gets its own in `.cache/bench` at its first use; after that the
network isn't touched.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from tests.environment import CACHE, scrubbed_environment

HERE = Path(__file__).resolve().parent


class Workload(NamedTuple):
    """What one run does."""

    seats: int
    """Seats of each debate."""
    rounds: int
    """Rounds, the opening included."""
    debates: int = 1
    """Debates: one after the other, or all at once where the model takes time."""
    latency_s: float = 0.0
    """Seconds that the model takes for a reply."""

    @property
    def title(self) -> str:
        """The column's head."""
        head = f"{self.seats},{self.rounds},{self.debates}"
        return f"{head} at {self.latency_s:g} s" if self.latency_s else head

    @property
    def arguments(self) -> list[str]:
        """What the harness is called with."""
        mode = "conc" if self.latency_s else "seq"
        return [
            *("-S", str(self.seats), "-R", str(self.rounds), "-D", str(self.debates)),
            *("-L", str(self.latency_s), "--mode", mode),
        ]


class Contestant(NamedTuple):
    """One row of a table."""

    title: str
    """As the table calls it."""
    script: str
    """Runs the workload and prints a line of JSON."""
    variant: str = ""
    """Which way of the script."""
    environment: str | None = None
    """Name of the requirements file, for a peer; None: this package's own environment."""
    keeps: bool = False
    """True for a peer that keeps a debate's state to go on from."""


class Measured(NamedTuple):
    """The median of some runs."""

    wall_s: float
    """Seconds."""
    peak_mb: float
    """The process's peak memory."""
    before_mb: float
    """What it took before the first debate."""
    chars: int
    """Characters sent to the model."""
    turns_per_s: float
    """Seat turns a second."""
    version: str
    """The measured package's."""


BARE = Contestant("bound: a bare loop, rounds in parallel", "peers/bound_bare.py", "par")
DURABLE = Contestant("bound: one SQLite commit a turn", "peers/bound_durable.py", "sqlite")
OURS = Contestant("rt_notebook, store on", "_ours.py")
OURS_POWER = Contestant("rt_notebook, durability=power", "_ours.py", "power")
PEERS = (
    Contestant("aragora-debate", "peers/peer_aragora.py", environment="aragora-debate"),
    Contestant("ag2 0.x", "peers/peer_ag2classic.py", environment="ag2classic"),
    Contestant("freemad", "peers/peer_freemad.py", environment="freemad"),
    Contestant("langgraph", "peers/peer_langgraph.py", environment="langgraph"),
    Contestant("langgraph, checkpointer", "peers/peer_langgraph.py", "ckpt", "langgraph", True),
    Contestant("autogen-agentchat", "peers/peer_autogen.py", environment="autogen"),
)


def present(contestants: Iterable[Contestant]) -> list[Contestant]:
    """Return those that can run here; a line says why a peer can't."""
    found = []
    for one in contestants:
        why = why_missing(one.environment)
        if why is None:
            found.append(one)
        else:
            print(f"{one.title} isn't measured: it can't be installed here ({why}).\n", flush=True)
    return found


@cache
def why_missing(environment: str | None) -> str | None:
    """Install a peer's environment where it isn't there; return why it can't be, else None."""
    if environment is None:
        return None
    requirements = HERE / "peers" / f"requirements-{environment}.txt"
    folder = CACHE / "bench" / environment
    stamp, wanted = folder / "installed.txt", requirements.read_text("utf-8") + sys.version
    if stamp.is_file() and stamp.read_text("utf-8") == wanted:
        return None
    print(f"installing {environment} ...", file=sys.stderr)
    try:
        venv.create(folder, clear=True)
    except OSError as error:
        return str(error)
    # This environment's pip, so that none has to be installed first.
    pip = [sys.executable, "-m", "pip", "--python", str(folder), "install", "-q", "--retries", "1"]
    pip += ["--disable-pip-version-check", "-r", str(requirements)]
    done = subprocess.run(pip, capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.strip()]
        return said[-1].strip() if said else f"pip ended with {done.returncode}"
    stamp.write_text(wanted, "utf-8")
    return None


def python_of(environment: str | None) -> Path:
    """Return the interpreter of an environment; None: this one."""
    if environment is None:
        return Path(sys.executable)
    place = ("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")
    return CACHE / "bench" / environment / Path(*place)


def medians(
    contestants: Iterable[Contestant], workload: Workload, runs: int
) -> dict[Contestant, Measured]:
    """Run everybody in turn, so that a busy moment hits all alike; return each one's medians."""
    rows = list(contestants)
    found: dict[Contestant, list[dict[str, Any]]] = {row: [] for row in rows}
    print(f"running {workload.title} ...", file=sys.stderr, flush=True)
    for _ in range(runs):
        for row in rows:
            found[row].append(_measure(row, workload))
    return {row: _median(found[row]) for row in rows}


def _measure(row: Contestant, workload: Workload) -> dict[str, Any]:
    script = HERE / row.script
    command = [str(python_of(row.environment)), str(script), *workload.arguments]
    with tempfile.TemporaryDirectory() as home:
        # No key and no setting of the person's reaches a peer; what they write goes with it.
        places = scrubbed_environment(Path(home)) | {"TMPDIR": home}
        done = subprocess.run(
            [*command, "--variant", row.variant],
            capture_output=True, encoding="utf-8", cwd=script.parent, env=places, check=False,
        )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{row.title} failed at {workload.title}:\n{done.stderr[-2000:]}")
    measured: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return measured


def _median(runs: list[dict[str, Any]]) -> Measured:
    def middle(key: str) -> float:
        return statistics.median(float(run[key]) for run in runs)

    return Measured(
        wall_s=middle("wall_s"),
        peak_mb=middle("peak_rss_mb"),
        before_mb=middle("rss_before_run_mb"),
        chars=int(middle("prompt_chars_total")),
        turns_per_s=middle("turns_per_s"),
        version=str(runs[0]["version"]),
    )
