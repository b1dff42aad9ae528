"""The soak's report: which tests are repeated, what became of each, and the counts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.environment import ROOT
from tools import soak
from tools.soak import Run, run_pass, table

_TESTS = """
import pytest

@pytest.mark.parametrize("kernel", ["ipykernel-7.1", "ipykernel-newest"])
@pytest.mark.parametrize("app", ["lab"])
def test_in_places(kernel, app, request):
    request.node.user_properties.append(("reconnects", 2))
    assert kernel != "ipykernel-7.1"

@pytest.mark.parametrize("kernel", ["ipykernel-6.31"])
def test_without_page(kernel):
    pass

@pytest.mark.parametrize("rows", [["not", "a", "name"]])
def test_anywhere(rows):
    pass
"""


def test_only_tests_that_name_a_place_are_counted(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (tmp_path / "test_some.py").write_text(_TESTS, encoding="utf-8")
    report = tmp_path / "report.jsonl"
    command = [
        *(sys.executable, "-m", "pytest", "-p", "tools.soak_report", "-p", "no:cacheprovider"),
        *(f"--soak-report={report}", "-c", str(tmp_path / "pytest.ini"), str(tmp_path)),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    runs = [Run.read(line) for line in report.read_text(encoding="utf-8").splitlines()]
    assert table(runs).splitlines()[2:] == [
        "| ipykernel-6.31 | no page | 1 | 0 | 0 |",
        "| ipykernel-7.1 | JupyterLab | 1 | 1 | 2 |",
        "| ipykernel-newest | JupyterLab | 1 | 0 | 2 |",
    ]


_DIES = """
import os

import pytest

@pytest.mark.notebook
@pytest.mark.parametrize("kernel", ["ipykernel-7.1", "ipykernel-7.3"])
def test_that_dies(kernel):
    if kernel == "ipykernel-7.3":
        os._exit(3)
"""


def test_test_that_takes_its_process_down_is_no_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(soak, "FOLDER", tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = notebook\n", encoding="utf-8")
    (tmp_path / "test_some.py").write_text(_DIES, encoding="utf-8")
    arguments = ["-p", "no:cacheprovider", "-c", str(tmp_path / "pytest.ini"), str(tmp_path)]
    with pytest.raises(RuntimeError, match=r"pytest ended with 1; see .*01\.txt"):
        run_pass(1, 2, arguments)
