"""Seats at the vendors' APIs, whose servers are the loopback server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from tests.providers.api.sitting import CANARY, Sitting
from tests.wire.server import WireServer


@pytest.fixture
def wire() -> Iterator[WireServer]:
    with WireServer() as server:
        yield server


@pytest_asyncio.fixture
async def sitting(wire: WireServer) -> AsyncIterator[Sitting]:
    """Seats people at any vendor, and gives their connections back afterwards."""
    made = Sitting(wire, {"THE_KEY": CANARY})
    yield made
    await made.close()
