"""The test command ends, whatever a test does: hang, hang again, take its process down."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.environment import ROOT

_HANGS = """
import time

def test_that_hangs():
    time.sleep(60)

def test_after_it():
    pass
"""
_CRASHES = """
import ctypes

import pytest

@pytest.mark.parametrize("number", range(4))
def test_some(number):
    if {crashes}:
        ctypes.string_at(0)
"""


def _options(variable: str) -> list[str]:
    """Returns what the Makefile gives to pytest in a variable."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    found = re.search(rf"^{variable} [?]?= (.*)$", makefile, re.MULTILINE)
    assert found is not None
    return found[1].split()


def _run(folder: Path, *options: str) -> str:
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:asyncio"),
        *("-p", "tests.second_tries", "-c", str(folder / "pytest.ini"), *options, str(folder)),
    ]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


def test_second_try_that_hangs_ends_too(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(_HANGS, encoding="utf-8")
    said = _run(tmp_path, *_options("RERUNS"), "--timeout=1")
    assert "1 failed, 1 passed, 2 rerun" in said


@pytest.mark.parametrize("spread", ["loadfile", "loadgroup"])
def test_crash_of_a_worker_ends_the_run(tmp_path: Path, spread: str) -> None:
    # With that many files, xdist waits for ever for the tests of a worker that it replaced.
    for number in range(40):
        text = _CRASHES.format(crashes=f"{number} == 20 and number == 2")
        (tmp_path / f"test_{number}.py").write_text(text, encoding="utf-8")
    said = _run(tmp_path, "-n", "2", "--dist", spread, *_options("RERUNS"), *_options("CRASHES"))
    assert "crashed while running 'test_20.py::test_some[2]'" in said
