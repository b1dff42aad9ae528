"""The reported cases: what went wrong for people who do this kind of work, one a line of a file.

`@case("a1-cell-03")` names the case that a test holds; `given("a1-cell-03")` is its literal input.
"""

from __future__ import annotations

import ast
import json
from functools import cache
from pathlib import Path

import pytest

from tests.source_tree import package_modules, tree_of

HERE = Path(__file__).parent
"""This folder."""


@cache
def reports() -> dict[str, dict[str, str]]:
    """Returns every case by its id."""
    lines = (HERE / "reports.jsonl").read_text(encoding="utf-8").split("\n")
    rows = [json.loads(line) for line in lines if line]
    return {row["id"]: row for row in rows}


def case(*ids: str) -> pytest.MarkDecorator:
    """Marks a test as the one that holds these cases."""
    return pytest.mark.case(*ids)


def given(id: str) -> str:
    """Returns a case's literal input."""
    return reports()[id]["input"]


def used_in_package(*names: str) -> set[str]:
    """Returns which of these names the package's code uses, as variables or attributes."""
    found: set[str] = set()
    for path in package_modules().values():
        text = path.read_text(encoding="utf-8")
        if any(name in text for name in names):  # parsing all of it takes seconds
            for node in ast.walk(tree_of(path)):
                if isinstance(node, ast.Name | ast.Attribute):
                    found.add(node.id if isinstance(node, ast.Name) else node.attr)
    return found & set(names)
