"""Gives each further try of a failed test a time limit of its own.

pytest-timeout starts one timer for a test, whatever its tries. Where the first ran out of time,
nothing would end the second, and so the run.
"""

from __future__ import annotations

import pytest

_SETTINGS = pytest.StashKey[object]()


@pytest.hookimpl(tryfirst=True)
def pytest_timeout_set_timer(item: pytest.Item, settings: object) -> None:
    """Keeps what the timer was started with, and leaves starting it to pytest-timeout."""
    item.stash[_SETTINGS] = settings


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Starts the timer anew for a second try."""
    if getattr(item, "execution_count", 1) > 1 and _SETTINGS in item.stash:
        item.ihook.pytest_timeout_cancel_timer(item=item)
        item.ihook.pytest_timeout_set_timer(item=item, settings=item.stash[_SETTINGS])
