"""What the benchmarks print, and that a broken limit is told."""

from __future__ import annotations

import math

import pytest

from benchmarks._report import Limit, Report, figure, table


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (0.07542, "0.0754"),
        (3.14159, "3.14"),
        (99.96, "100.0"),
        (1234.5, "1,230"),
        (2_000, "2,000"),
        (-0.5, "-0.500"),
        (math.inf, "inf"),
    ],
)
def test_figures_have_three_digits(value: float, text: str) -> None:
    assert figure(value) == text


def test_table_is_markdown_and_aligned() -> None:
    text = table(["what", "ms"], [["a | b", 12.345], ["c", None]])
    assert text.splitlines() == [
        "| what   |   ms |",
        "| ------ | ---: |",
        "| a \\| b | 12.3 |",
        "| c      |      |",
    ]


@pytest.mark.parametrize(
    ("figure", "bound", "at_least", "kept"),
    [
        (50.0, 50, False, True),
        (50.1, 50, False, False),
        (9.9, 10, True, False),
        (10, 10, True, True),
        (math.nan, 50, False, False),
        (math.nan, 50, True, False),
    ],
)
def test_limit_is_kept_up_to_its_bound(
    figure: float, bound: float, at_least: bool, kept: bool
) -> None:
    assert Limit("x", figure, bound, "ms", at_least).kept is kept


def test_report_ends_with_1_where_a_limit_is_broken(capsys: pytest.CaptureFixture[str]) -> None:
    report = Report()
    report.limit("list", 12.0, 50, "ms")
    assert report.end() == 0
    report.limit("reading", 1.5, 2, "MB/s", at_least=True)
    assert report.end() == 1
    said = capsys.readouterr()
    assert "| list    |   12.0 ms | at most 50 ms   | yes    |" in said.out
    assert "| reading | 1.50 MB/s | at least 2 MB/s | BROKEN |" in said.out
    assert said.err == "Broken: reading\n"
