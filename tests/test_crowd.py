"""A crowd of debates makes garbage collections rarer, and leaves the process as it was."""

from __future__ import annotations

import gc

import pytest

from rt_notebook import crowd


@pytest.fixture
def own() -> tuple[int, int, int]:
    return gc.get_threshold()


def test_few_debates_change_nothing(own: tuple[int, int, int]) -> None:
    for _ in range(crowd.CROWD - 1):
        crowd.enter()
    assert gc.get_threshold() == own
    for _ in range(crowd.CROWD - 1):
        crowd.leave()
    assert gc.get_threshold() == own


def test_setting_is_back_after_a_crowd(own: tuple[int, int, int]) -> None:
    for _ in range(crowd.CROWD + 3):
        crowd.enter()
    assert gc.get_threshold() == crowd.THRESHOLDS
    for _ in range(crowd.CROWD + 3):
        crowd.leave()
    assert gc.get_threshold() == own


def test_setting_made_meanwhile_is_kept(own: tuple[int, int, int]) -> None:
    for _ in range(crowd.CROWD):
        crowd.enter()
    gc.set_threshold(900, 9, 9)
    for _ in range(crowd.CROWD):
        crowd.leave()
    assert gc.get_threshold() == (900, 9, 9)
    gc.set_threshold(*own)
