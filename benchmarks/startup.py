"""How long it takes until the package can be used, in fresh processes, beside the peers.

    python -m benchmarks.startup

Seconds around the import itself: starting Python isn't in them. `%load_ext` is what it adds where
IPython and ipywidgets are loaded already, as they are in a kernel that has shown a widget.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from benchmarks._report import Report
from benchmarks._workloads import python_of, why_missing
from tests.environment import scrubbed_environment

RUNS = 15
MOST_S = 0.1

# The clock starts where the setting-up ends.
_MEASURE = """
{before}
import resource, time
began = time.perf_counter()
{measured}
took = time.perf_counter() - began
print(took, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""
_SHELL = """
import IPython, ipywidgets
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
"""


class Start(NamedTuple):
    """What is measured."""

    title: str
    """As the table calls it."""
    measured: str
    """The statement."""
    before: str = ""
    """What happens before it."""
    environment: str | None = None
    """A peer's environment; None: this package's own."""
    limited: bool = False
    """True where `MOST_S` is promised."""


STARTS = (
    Start("import rt_notebook", "import rt_notebook", limited=True),
    Start("%load_ext rt_notebook, in IPython with ipywidgets",
          "shell.run_line_magic('load_ext', 'rt_notebook')", _SHELL, limited=True),
    Start("import rt_notebook.contract", "import rt_notebook.contract"),
    Start("rt_notebook --help, without Python's start",
          "import sys; sys.argv[1:] = ['--help']\n"
          "from rt_notebook.frontends.cli import main\n"
          "import contextlib, io\n"
          "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):\n"
          "    main()"),
    Start("for comparison: import IPython, ipywidgets, pandas",
          "import IPython, ipywidgets, pandas"),
    Start("import aragora_debate", "import aragora_debate", environment="aragora-debate"),
    Start("import autogen (ag2 0.x)", "import autogen", environment="ag2classic"),
    Start("import freemad", "import freemad", environment="freemad"),
    Start("import langgraph.graph", "import langgraph.graph", environment="langgraph"),
    Start("import autogen_agentchat.agents", "import autogen_agentchat.agents",
          environment="autogen"),
)  # fmt: skip


def main() -> int:
    """Print the table."""
    report = Report()
    starts = [start for start in STARTS if _is_here(start)]
    runs: dict[Start, list[tuple[float, float]]] = {start: [] for start in starts}
    with tempfile.TemporaryDirectory() as home:
        for start in starts:  # writes the byte code, and brings the files into memory
            _run(start, Path(home))
        for _ in range(RUNS):
            for start in starts:
                runs[start].append(_run(start, Path(home)))
    report.say(f"Fresh processes, {RUNS} each:")
    rows = []
    for start in starts:
        seconds, peaks = zip(*runs[start], strict=True)
        middle = statistics.median(seconds)
        rows.append([start.title, middle * 1000, min(seconds) * 1000, statistics.median(peaks)])
        if start.limited:
            report.limit(start.title, middle, MOST_S, "s")
    report.table(["", "median ms", "fastest ms", "peak MB"], rows)
    return report.end()


def _is_here(start: Start) -> bool:
    if start.environment is not None and "--no-peers" in sys.argv[1:]:
        return False
    why = why_missing(start.environment)
    if why is not None:
        print(f"{start.title} isn't measured: it can't be installed here ({why}).\n")
    return why is None


def _run(start: Start, home: Path) -> tuple[float, float]:
    code = _MEASURE.replace("{before}", start.before).replace("{measured}", start.measured)
    done = subprocess.run(
        [str(python_of(start.environment)), "-c", code],
        capture_output=True, encoding="utf-8", cwd=home, env=scrubbed_environment(home),
        check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{start.title} failed:\n{done.stderr[-2000:]}")
    seconds, peak = done.stdout.strip().splitlines()[-1].split()
    return float(seconds), float(peak)


if __name__ == "__main__":
    sys.exit(main())
