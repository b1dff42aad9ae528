"""Every reported case is held by a test, or there is a line that says why it can't apply."""

from __future__ import annotations

import ast
import re

from tests.cases.catalogue import HERE, reports
from tests.environment import ROOT
from tests.source_tree import tree_of

FIELDS = ["id", "area", "source", "symptom", "input", "expected"]


def _tests() -> dict[str, list[str]]:
    """Returns the ids of each marked test function, by its name and module."""
    found: dict[str, list[str]] = {}
    for path in sorted(HERE.glob("test_*.py")):
        for node in tree_of(path).body:
            if isinstance(node, ast.FunctionDef) and (ids := _ids(node)):
                found[f"{path.name}::{node.name}"] = ids
    return found


def _ids(node: ast.FunctionDef) -> list[str]:
    return [
        str(ast.literal_eval(argument))
        for mark in node.decorator_list
        if isinstance(mark, ast.Call) and getattr(mark.func, "id", "") == "case"
        for argument in mark.args
    ]


def _listed(title: str) -> list[str]:
    """Returns the ids that a section of the README has a line for."""
    text = (HERE / "README.md").read_text(encoding="utf-8")
    (section,) = re.findall(rf"^## {title}\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    return re.findall(r"^- ([\w-]+): \S", section, re.MULTILINE)


def _held() -> set[str]:
    return {id for ids in _tests().values() for id in ids}


def test_every_case_has_a_test_or_a_reason() -> None:
    excused = _listed("Can't apply")
    assert len(excused) == len(set(excused))
    assert _held() | set(excused) == set(reports())
    assert not _held() & set(excused)


def test_what_is_decided_otherwise_is_tested() -> None:
    otherwise = _listed("Decided otherwise")
    assert len(otherwise) == len(set(otherwise)) > 0
    assert set(otherwise) <= _held()


def test_marked_functions_are_tests() -> None:
    assert all(name.partition("::")[2].startswith("test_") for name in _tests())


def test_reports_are_whole_and_name_no_machine() -> None:
    text = (HERE / "reports.jsonl").read_text(encoding="utf-8")
    assert all(list(row) == FIELDS for row in reports().values())
    assert len(reports()) == len(text.splitlines())
    assert not re.findall(r"/(?:home|root|Users|tmp|private|work|mnt)/|[A-Z]:\\\\", text)


def test_documentation_counts_them_right() -> None:
    page = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    said = re.search(r"(\d+) cases.*?(\d+) tests.*?(\d+) of them can't apply", page, re.DOTALL)
    assert said is not None
    counts = [len(reports()), len(_tests()), len(_listed("Can't apply"))]
    assert [int(number) for number in said.groups()] == counts
