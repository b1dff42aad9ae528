"""Debates with somebody there: what a person does runs beside the debate."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from rt_notebook.domain.spec import DebateSpec
from tests.engine.clocks import play
from tests.engine.debates import Ride


def attend(definition: DebateSpec, person: Callable[[Ride], Awaitable[None]]) -> Ride:
    """Run a debate with somebody there."""

    async def main() -> Ride:
        ride = Ride(definition, attended=True)
        async with asyncio.TaskGroup() as group:
            group.create_task(ride.run())
            group.create_task(_coroutine(person(ride)))
        return ride

    return play(main())


async def _coroutine(work: Awaitable[None]) -> None:
    await work


async def nobody(ride: Ride) -> None:
    """Say nothing."""
