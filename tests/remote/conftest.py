"""Other processes for every test of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.remote.processes import Others


@pytest.fixture
def others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Others]:
    """Other processes on a store that is this process's default one too."""
    store = tmp_path / "shared.db"
    monkeypatch.setenv("RT_NOTEBOOK_STORE", str(store))
    with ExitStack() as stack:
        yield Others(store, stack)
