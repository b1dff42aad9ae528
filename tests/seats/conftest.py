"""Whole debates whose seats are asked over loopback wires and by commands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.seats.table import KEYS, claude_folder
from tests.wire.server import WireServer


@pytest.fixture
def wire() -> Iterator[WireServer]:
    with WireServer() as server:
        yield server


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Plants a key of its own for each vendor; returns them by variable."""
    for name, key in KEYS.items():
        monkeypatch.setenv(name, key)
    return KEYS


@pytest.fixture
def claude(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Puts a command `claude` on PATH that answers like the real one; returns its folder."""
    folder = claude_folder(tmp_path)
    monkeypatch.setenv("PATH", str(folder))
    return folder
