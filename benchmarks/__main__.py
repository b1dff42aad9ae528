"""Runs the benchmarks, each in a process of its own, and keeps their tables.

    python -m benchmarks                 all of them; what `make bench` does
    python -m benchmarks store live      some
    python -m benchmarks --no-peers      without the peers' environments
    python -m benchmarks --docs          writes the kept tables into docs/performance.md

`build/bench/NAME.md` holds each one's last output, `build/bench.md` all of them with date and
machine. Ends with 1 where a limit was broken or a benchmark failed, after all have run.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
import re
import sqlite3
import subprocess
import sys
import time
from datetime import UTC, datetime
from typing import Final

from tests.environment import ROOT

NAMES: Final = (
    "startup", "engine", "prompts", "memory", "store", "bus", "contract", "cli_streams", "frames",
    "live",
)  # fmt: skip
"""In the order in which they run and are told."""

WITH_PEERS: Final = frozenset({"startup", "engine", "prompts"})
KEPT: Final = ROOT / "build" / "bench"
WHOLE: Final = ROOT / "build" / "bench.md"
PAGE: Final = ROOT / "docs" / "performance.md"
LOOP: Final = 10_000_000
PACKAGES: Final = ("ipython", "ipykernel", "ipywidgets", "jupyterlab", "pandas", "pydantic")

_BLOCK = re.compile(r"(<!-- bench: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
_OUTCOMES: Final = {0: "limits kept", 1: "LIMIT BROKEN"}


def main() -> int:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(
        prog="benchmarks", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--no-peers", action="store_true", help="without other packages")
    parser.add_argument("--docs", action="store_true", help="write the kept tables into the docs")
    given = parser.parse_args()
    unknown = sorted(set(given.names) - set(NAMES))
    if unknown:
        parser.error(f"there is no benchmark {', '.join(unknown)}")
    if given.docs:
        text = PAGE.read_text("utf-8")
        PAGE.write_text(filled(text, kept()), "utf-8")
        return 0
    chosen = [name for name in NAMES if name in (given.names or NAMES)]
    KEPT.mkdir(parents=True, exist_ok=True)
    codes = {name: run(name, peers=not given.no_peers) for name in chosen}
    WHOLE.write_text(whole(kept()), "utf-8")
    print("\n== summary")
    for name, code in codes.items():
        print(f"{name:12} {_OUTCOMES.get(code, f'FAILED ({code})')}")
    print(f"All tables: {WHOLE.relative_to(ROOT)}")
    return int(any(codes.values()))


def run(name: str, *, peers: bool) -> int:
    """Run one benchmark, show what it prints, keep it, and return its exit code."""
    began = f"{machine()}\n\n"
    print(f"\n== {name}", flush=True)
    command = [sys.executable, "-u", "-m", f"benchmarks.{name}"]
    command += ["--no-peers"] if name in WITH_PEERS and not peers else []
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8") as child:
        assert child.stdout is not None
        lines = []
        for line in child.stdout:
            print(line, end="", flush=True)
            lines.append(line)
    # 1 is a limit's, and what Python ends with for an exception: then no limits were printed.
    code = child.returncode
    if code == 1 and "| Limit" not in "".join(lines):
        code = 2
    if code in _OUTCOMES:
        (KEPT / f"{name}.md").write_text(began + "".join(lines).strip() + "\n", "utf-8")
    return code


def machine() -> str:
    """Return the line that says when and on what a benchmark ran; names no host and no path."""
    load = f", load {os.getloadavg()[0]:.1f} at the start" if hasattr(os, "getloadavg") else ""
    return (
        f"{datetime.now(UTC):%-d %B %Y, %H:%M} UTC; {platform.system()} {platform.machine()}, "
        f"{os.cpu_count()} cores{load}; Python {platform.python_version()}, "
        f"an empty loop of {LOOP:,} steps took {empty_loop():.2f} s."
    )


def empty_loop() -> float:
    """Return the seconds of a bare loop: how fast the machine is, and how busy."""
    began = time.perf_counter()
    for _ in range(LOOP):
        pass
    return time.perf_counter() - began


def versions() -> str:
    """Return the versions of what the figures depend on."""
    found = [f"{name} {importlib.metadata.version(name)}" for name in PACKAGES]
    return f"{', '.join(found)}, SQLite {sqlite3.sqlite_version}."


def kept() -> dict[str, str]:
    """Return the last output of each benchmark that has run, and the versions here."""
    found = {
        name: (KEPT / f"{name}.md").read_text("utf-8").strip()
        for name in NAMES
        if (KEPT / f"{name}.md").is_file()
    }
    return {"versions": versions(), **found}


def whole(sections: dict[str, str]) -> str:
    """Return all sections as one page."""
    return "\n\n".join(f"## {name}\n\n{text}" for name, text in sections.items()) + "\n"


def filled(page: str, sections: dict[str, str]) -> str:
    """Return a page with its `<!-- bench: NAME -->` blocks filled; one without a run stays."""

    def fill(found: re.Match[str]) -> str:
        text = sections.get(found[2])
        return found[0] if text is None else f"{found[1]}\n{text}\n\n{found[3]}"

    return _BLOCK.sub(fill, page)


if __name__ == "__main__":
    sys.exit(main())
