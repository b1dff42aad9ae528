"""A pytest plugin that writes what became of every test as a line: `-p tools.soak_report`.

Only tests that name their kernel or their front end are run: whatever else a kernel or Chromium is
needed for is the same each time, and `make test` shows it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tools.releases import KERNELS

NEWEST = next(iter(KERNELS))
FRONT_ENDS = {"lab": "JupyterLab", "notebook": "Notebook 7"}
"""What the tests call a front end, and its name."""
NO_PAGE = "no page"
"""A client without a page: nbclient, or one that speaks the kernel's protocol."""
_PLACE = "place"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the report's path."""
    parser.addoption("--soak-report", type=Path, help="the file that gets a line for every test")


def pytest_configure(config: pytest.Config) -> None:
    """Writes in the one process that hears of every test."""
    path = config.getoption("--soak-report")
    if path is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Reporter(path))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Notes each test's kernel and front end, to travel with its outcome; leaves out the others."""
    kept: list[pytest.Item] = []
    others: list[pytest.Item] = []
    for item in items:
        given = item.callspec.params if hasattr(item, "callspec") else {}
        names = [value for value in given.values() if isinstance(value, str)]
        kernel = next((name for name in names if name in KERNELS), None)
        front_end = FRONT_ENDS.get(given.get("app", ""))
        place = [kernel or NEWEST, front_end or NO_PAGE]
        item.user_properties.append((_PLACE, place))
        (kept if kernel or front_end else others).append(item)
    config.hook.pytest_deselected(items=others)
    items[:] = kept


class Reporter:
    """Writes one line a test: its last phase's, or the first that failed.

    Args:
        path: the report.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._failed: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Hears of a test's phase."""
        if report.failed:
            self._failed.add(report.nodeid)
        if report.when != "teardown":
            return
        told: Any = dict(report.user_properties)
        kernel, front_end = told[_PLACE]
        test, _, _ = report.nodeid.partition("@")  # xdist adds the group
        missed = report.nodeid in self._failed
        line = {
            "test": test, "kernel": kernel, "front_end": front_end, "missed": missed,
            "reconnects": told.get("reconnects", 0),
        }  # fmt: skip
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
