"""Near-duplicates among the points: what joins a group, what doesn't, and what it may cost."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from rt_notebook.analysis.points import group_points, point_rows
from tests.analysis.debates import empty, full


def test_bullets_become_rows_in_order() -> None:
    rows = list(point_rows(full().state))
    assert rows == [
        (0, "dev", "disagree", "too slow", 1),
        (0, "dev", "assumption", "six people", 2),
    ]
    assert list(point_rows(empty().state)) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Six people can't run two deployments.", "six people cannot run two deployments"),
        ("The p95 latency comes from the database", "p95 latency comes from our databases"),
        ("Six people can't run two deployments", "Six people can’t run two deployments…"),
        ("The latency comes from storing", "the latency comes from ſtoring"),  # noqa: RUF001
        ("六個人無法同時維護兩套部署環境", "六個人無法同時維護兩套部署系統"),
        ("障害時の復旧手順が決まっていない", "障害時の復旧手順はまだ決まっていない"),
        ("...", "..."),
    ],
)
def test_rewordings_join_one_group(one: str, other: str) -> None:
    assert group_points([one, "Nobody asked the support team", other]) == [1, 2, 1]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Six people can't run two deployments", "A rollback costs a weekend of downtime"),
        ("Costs rise", "Risks fall"),
        ("...", "???"),
        ("決済の遅延", "採用の計画"),
    ],
)
def test_different_points_stay_apart(one: str, other: str) -> None:
    assert group_points([one, other]) == [1, 2]


def test_groups_do_not_drift_along_chains() -> None:
    """The third is like the second, which is like the first; but not like the first."""
    first, second, third = "a b c d", "a b c d e f", "c d e f"
    assert group_points([second, third]) == [1, 1]
    assert group_points([first, second, third]) == [1, 1, 2]


def test_likest_group_is_joined() -> None:
    assert group_points(["a b c d e f", "e f g h i j", "f g h i j"]) == [1, 2, 2]


@pytest.mark.parametrize(
    "make",
    [
        lambda n: f"the same {n} words in every point of them all {n * 7}",
        lambda n: " ".join(f"w{(n * k) % 997}" for k in range(40)),
        lambda n: " ".join([*(f"c{k}" for k in range(8)), *(f"{k}u{n}" for k in range(10))]),
        lambda n: "x" * (n % 50 + 1) + " y" * 500,
        lambda n: "無" * (n % 300) + str(n),
    ],
)
def test_grouping_takes_linear_time(make: Callable[[int], str]) -> None:
    def took(count: int) -> float:
        texts = [make(n) for n in range(count)]
        start = time.process_time()
        group_points(texts)
        return time.process_time() - start

    took(200)
    small = max(took(1_000), 0.001)
    assert took(8_000) / small < 8 * 4


def test_huge_point_is_read_in_part() -> None:
    start = time.process_time()
    assert group_points(["word " * 400_000, "word " * 400_000 + "end"]) == [1, 1]
    assert time.process_time() - start < 1
