"""The table of faults in this folder's README: every cell is there, every test in it exists."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

from tests.environment import ROOT

README = Path(__file__).with_name("README.md")
_ROW = re.compile(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
_TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`( \(soak\))?")

CELLS = {
    "SIGKILL at every kind of event": {
        "driver", "kernel", "command line", "command", "log refused",
    },
    "SIGSTOP": {"driver", "command line", "command", "API"},
    "Disk full": {"driver", "command line"},
    "Read-only store": {"driver", "command line"},
    "Damaged or truncated database": {"driver", "several processes", "command line"},
    "Clock that jumps": {"driver", "several processes"},
    "Two kernels and a command line at once": {"kernel"},
    "Log (WAL) refused": {"driver"},
    "Lies about usage": {"driver"},
    "Replies of 10 MB": {"driver", "command", "API"},
    "10,000 events a second": {"driver", "kernel"},
}  # fmt: skip
"""What has to be tried where; the table may hold more."""


def _rows() -> list[tuple[str, str, str]]:
    rows = _ROW.findall(README.read_text(encoding="utf-8"))
    return [row for row in rows if row[0] not in ("Fault", "---")]


@functools.cache
def _tests(path: str) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {
        node.name: node
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def _is_soak(path: str, name: str) -> bool:
    text = (ROOT / path).read_text(encoding="utf-8")
    marks = [ast.unparse(mark) for mark in _tests(path)[name].decorator_list]
    whole = re.search(r"^pytestmark = .*$", text, re.MULTILINE)
    return any("mark.soak" in mark for mark in [*marks, whole[0] if whole else ""])


def test_no_cell_is_missing() -> None:
    found: dict[str, set[str]] = {}
    for fault, where, _ in _rows():
        found.setdefault(fault, set()).add(where)
    for fault, places in CELLS.items():
        assert places <= found.get(fault, set()), fault


def test_every_test_in_the_table_exists() -> None:
    for fault, where, cell in _rows():
        named = _TEST.findall(cell)
        assert named, (fault, where)
        assert len(named) == cell.count("::"), cell
        for path, name, soak in named:
            assert (ROOT / path).is_file(), path
            assert name in _tests(path), f"{path}::{name}"
            assert _is_soak(path, name) == bool(soak), f"{path}::{name}"
        # Every cell has a test that runs each time.
        assert not all(soak for _, _, soak in named), (fault, where)


def test_every_test_of_this_folder_is_named() -> None:
    text = README.read_text(encoding="utf-8")
    for file in Path(__file__).parent.glob("test_*.py"):
        if file.name == Path(__file__).name:
            continue
        path = file.relative_to(ROOT).as_posix()
        assert path in text, path
