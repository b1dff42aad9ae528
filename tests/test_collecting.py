"""A crowd of debates and tables make collections rarer, and leave the process as it was."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from rt_notebook.analysis import frames
from rt_notebook.collecting import CROWD, THRESHOLDS, one_debate, rarer_collections


@pytest.fixture(autouse=True)
def own() -> Iterator[tuple[int, int, int]]:
    """The process's own setting, which is back after each test."""
    setting = gc.get_threshold()
    yield setting
    gc.set_threshold(*setting)


def running(debates: int) -> ExitStack:
    """Returns so many debates that run until it is closed."""
    stack = ExitStack()
    for _ in range(debates):
        stack.enter_context(one_debate())
    return stack


def test_few_debates_change_nothing(own: tuple[int, int, int]) -> None:
    with running(CROWD - 1):
        assert gc.get_threshold() == own
    assert gc.get_threshold() == own


def test_setting_is_back_after_a_crowd(own: tuple[int, int, int]) -> None:
    with running(CROWD):
        with running(3):
            assert gc.get_threshold()[0] == THRESHOLDS[0]
        assert gc.get_threshold()[0] == THRESHOLDS[0]
    assert gc.get_threshold() == own


def test_setting_made_meanwhile_is_kept(own: tuple[int, int, int]) -> None:
    with running(CROWD):
        gc.set_threshold(900, 9, 9)
    assert gc.get_threshold()[:2] == (900, 9)


def test_collector_that_is_off_stays_off(own: tuple[int, int, int]) -> None:
    gc.set_threshold(0)
    with rarer_collections():
        assert gc.get_threshold()[0] == 0
    assert gc.get_threshold()[0] == 0


def test_crowd_that_comes_during_a_table_counts(own: tuple[int, int, int]) -> None:
    with ExitStack() as crowd:
        with rarer_collections():
            crowd.enter_context(running(CROWD))
        assert gc.get_threshold()[0] == THRESHOLDS[0]
    assert gc.get_threshold() == own


def test_table_that_outlasts_a_crowd_keeps_it_slow(own: tuple[int, int, int]) -> None:
    with ExitStack() as table:
        with running(CROWD):
            table.enter_context(rarer_collections())
        assert gc.get_threshold()[0] == THRESHOLDS[0]
    assert gc.get_threshold() == own


def test_tables_are_made_with_rarer_collections(own: tuple[int, int, int]) -> None:
    seen = []

    def rows() -> Iterator[tuple[str]]:
        seen.append(gc.get_threshold()[0])
        yield ("a",)

    frames.frame_of_rows({"name": "text"}, rows())
    assert seen == [THRESHOLDS[0]]
    assert gc.get_threshold() == own


def test_threads_hold_one_setting_between_them(own: tuple[int, int, int]) -> None:
    together = threading.Barrier(8)

    def hold() -> None:
        together.wait()
        for _ in range(300):
            with rarer_collections(), one_debate():
                pass

    threads = [threading.Thread(target=hold) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert gc.get_threshold() == own


def test_what_somebody_sets_meanwhile_holds_for_all_who_come_after() -> None:
    with rarer_collections():
        gc.set_threshold(500, 5, 5)
        with rarer_collections():
            assert gc.get_threshold()[0] == 500
        assert gc.get_threshold()[0] == 500
    assert gc.get_threshold()[0] == 500
