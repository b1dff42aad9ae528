"""What the tests of sweeps share."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Gives the path of a store of the test's own."""
    return tmp_path / "debates.db"
