"""A store of its own for every test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rt_notebook.store.sqlite import SqliteStore
from tests.store.samples import opened


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where this test's store is."""
    return tmp_path / "own" / "debates.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    """An empty store."""
    with opened(path) as found:
        yield found
