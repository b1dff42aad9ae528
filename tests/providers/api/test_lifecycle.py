"""Connections: shared by the seats of an account, used again, closed with the last seat."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import warnings

import pytest

from rt_notebook.providers.api import api_provider
from rt_notebook.providers.base import Call, Message
from tests.environment import ROOT
from tests.providers.api.sitting import CANARY, MODELS, VENDORS, Sitting
from tests.wire.script import Say
from tests.wire.server import WireServer

pytestmark = pytest.mark.filterwarnings("ignore:.*will reach end-of-life:DeprecationWarning")

every_vendor = pytest.mark.parametrize("vendor", VENDORS)
CALL = Call([Message("user", "Hi")], "Ada", 0, "opening", deadline_s=30)


@every_vendor
@pytest.mark.asyncio
async def test_connection_is_used_again(sitting: Sitting, vendor: str) -> None:
    for _ in range(4):
        await sitting.ask(vendor)
    assert sitting.wire.connections == 1


@every_vendor
@pytest.mark.asyncio
async def test_seats_of_one_account_share_connections(sitting: Sitting, vendor: str) -> None:
    other = api_provider(
        MODELS[vendor],
        base_url=sitting.wire.base_url(vendor),
        api_key_env="THE_KEY",
        environ=sitting.environ,
    )
    await sitting.ask(vendor)
    await other.complete(CALL, lambda chars: None)
    await other.aclose()
    await sitting.ask(vendor)  # still open for this one
    assert sitting.wire.connections == 1


@every_vendor
@pytest.mark.asyncio
async def test_last_seat_closes_connections(sitting: Sitting, vendor: str) -> None:
    await sitting.ask(vendor)
    assert sitting.wire.open_connections == 1

    await sitting.provider(vendor).aclose()

    for _ in range(200):
        if sitting.wire.open_connections == 0:
            break
        await asyncio.sleep(0.01)
    assert sitting.wire.open_connections == 0


@every_vendor
@pytest.mark.asyncio
async def test_closed_provider_opens_again(sitting: Sitting, vendor: str) -> None:
    await sitting.ask(vendor)
    await sitting.provider(vendor).aclose()
    await sitting.provider(vendor).aclose()
    assert (await sitting.ask(vendor)).text == "Hello from the wire."


@every_vendor
@pytest.mark.asyncio
async def test_calls_of_one_seat_may_overlap(sitting: Sitting, vendor: str) -> None:
    sitting.wire.script(Say(pause_s=0.05))
    provider = sitting.provider(vendor)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(provider.complete(CALL, lambda chars: None)) for _ in range(8)]
    assert {task.result().text for task in tasks} == {"Hello from the wire."}


@every_vendor
def test_each_loop_has_its_own_connections(wire: WireServer, vendor: str) -> None:
    async def once() -> str:
        provider = api_provider(
            MODELS[vendor],
            base_url=wire.base_url(vendor),
            api_key_env="K",
            environ={"K": CANARY},
        )
        try:
            return (await provider.complete(CALL, lambda chars: None)).text
        finally:
            await provider.aclose()

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*will reach end-of-life", DeprecationWarning)
        texts = []
        for _ in range(2):
            with asyncio.Runner() as loop:
                texts.append(loop.run(once()))
        gc.collect()

    assert texts == ["Hello from the wire."] * 2


EXIT = """
import asyncio
from rt_notebook.engine.runner import runner
from rt_notebook.providers.api import api_provider
from rt_notebook.providers.base import Call, Message

async def main(job):
    for model, url in MODELS:
        provider = api_provider(model, base_url=url, api_key_env="K", environ={"K": "sk-canary-01"})
        call = Call([Message("user", "Hi")], "Ada", 0, "opening", deadline_s=30)
        try:
            print((await provider.complete(call, lambda chars: None)).text)
        finally:
            await provider.aclose()

runner().run_blocking(main)
"""


def test_process_exits_without_a_word(wire: WireServer) -> None:
    models = [(MODELS[vendor], wire.base_url(vendor)) for vendor in VENDORS]
    done = subprocess.run(
        [
            *(sys.executable, "-X", "dev", "-W", "default"),
            *("-W", "ignore::DeprecationWarning", "-c", f"MODELS = {models!r}\n{EXIT}"),
        ],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
        check=False,
    )
    # asyncio's debug mode tells how long the first import held the loop; nothing else is said.
    said = [line for line in done.stderr.splitlines() if not line.startswith("Executing <")]
    assert (said, done.returncode) == ([], 0)
    assert done.stdout == "Hello from the wire.\n" * 4
