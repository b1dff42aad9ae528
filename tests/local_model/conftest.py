"""Tests with a real small model, which `make test-real` runs; skipped, with the reason, without."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.local_model.relay import Relay
from tests.local_model.server import ModelServer, why_not
from tests.providers.cli.fakes import BYSTANDERS

_HERE = Path(__file__).parent
_TIMEOUT_S = 1800
"""Seconds for one test: a busy machine reads twenty tokens a second."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks every test below this folder, so that no file can forget to."""
    for item in items:
        if item.path.is_relative_to(_HERE):
            item.add_marker(pytest.mark.local_model)
            item.add_marker(pytest.mark.timeout(_TIMEOUT_S))


@pytest.fixture(scope="session")
def installed() -> None:
    """Skips, with the reason, where there is no small model."""
    if reason := why_not():
        pytest.skip(reason)


@pytest.fixture(scope="session")
def model_server(
    installed: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ModelServer]:
    """Runs the small model for all tests."""
    with ModelServer(tmp_path_factory.mktemp("model-server")) as server:
        BYSTANDERS.add(server.pid)
        yield server
        BYSTANDERS.discard(server.pid)


@pytest.fixture
def model(model_server: ModelServer) -> Iterator[Relay]:
    """Gives the small model, through a relay of the test's own."""
    with Relay(model_server.address) as relay:
        yield relay
    assert model_server.alive, model_server.said()[-2000:]
