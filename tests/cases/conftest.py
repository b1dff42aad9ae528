"""Fixtures of the reported cases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.frontends.shells import Shell
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


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    """Gives a shell with the extension loaded, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    opened = Shell()
    yield opened
    opened.close()
