"""The reported cases: what went wrong for people who do this kind of work, one a line of a file.

`@case("a1-cell-03")` names the case that a test holds; `given("a1-cell-03")` is its literal input.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

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
