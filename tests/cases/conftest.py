"""Fixtures of the reported cases."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.seats.table import KEYS
from tests.wire.server import WireServer


def pytest_configure(config: pytest.Config) -> None:
    """Makes the marker known that names the cases a test holds."""
    config.addinivalue_line("markers", "case(*ids): holds these cases of reports.jsonl")


@pytest.fixture
def wire() -> Iterator[WireServer]:
    """Serves the vendors' wires on loopback."""
    with WireServer() as server:
        yield server


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Plants a key of its own for each vendor; returns them by variable."""
    for name, key in KEYS.items():
        monkeypatch.setenv(name, key)
    return KEYS
