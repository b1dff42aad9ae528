"""The loopback server itself: both ways of every format are read by the real client libraries."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from pydantic_ai.direct import model_request
from pydantic_ai.messages import ModelRequest, TextPart

from rt_notebook.providers.api_doors import open_door
from rt_notebook.providers.api_models import Line
from tests.providers.api.sitting import CANARY, MODELS, VENDORS
from tests.wire.script import Asked, Fail, Say, Step, Tokens
from tests.wire.server import WireServer

pytestmark = [
    pytest.mark.asyncio,
    pytest.mark.filterwarnings("ignore:.*will reach end-of-life:DeprecationWarning"),
]


@pytest.fixture
def wire() -> Iterator[WireServer]:
    with WireServer() as server:
        yield server


async def ask(wire: WireServer, vendor: str, key: str = CANARY) -> str:
    door = open_door(
        MODELS[vendor], base_url=wire.base_url(vendor), api_key_env="K", environ={"K": key}
    )
    line = Line(door)
    await line.open()
    try:
        response = await model_request(
            line.model,
            [ModelRequest.user_text_prompt("Hi")],
            model_settings={"max_retries": 0, "max_tokens": 100},
            instrument=False,
        )
    finally:
        await line.close()
    return "".join(part.content for part in response.parts if isinstance(part, TextPart))


@pytest.mark.parametrize("vendor", VENDORS)
async def test_answer_need_not_be_streamed(wire: WireServer, vendor: str) -> None:
    wire.script(Say("All at once."))
    assert await ask(wire, vendor) == "All at once."
    assert not wire.asked[-1].streams
    assert wire.asked[-1].wire == vendor


async def test_requests_and_tokens_are_counted_by_key(wire: WireServer) -> None:
    for key in ("key-one-11", "key-two-22", "key-one-11"):
        await ask(wire, "anthropic", key)
    assert wire.calls == {"key-one-11": 2, "key-two-22": 1}
    assert wire.billed["key-one-11"] == Tokens(2000, 400, 0, 120, 40)


async def test_broken_answer_is_counted_but_not_billed(wire: WireServer) -> None:
    wire.script(Say("0123456789", ends="drop"))
    with pytest.raises(Exception, match=r"incomplete|closed|Connection"):
        await ask(wire, "chat")
    assert (wire.calls[CANARY], wire.billed[CANARY].prompt) == (1, 0)


async def test_steps_follow_each_other_by_model(wire: WireServer) -> None:
    wire.script(Say("one"), Say("two"), model="gpt-4o")
    wire.script(Say("other"))
    texts = [await ask(wire, vendor) for vendor in ("chat", "google", "chat", "chat")]
    assert texts == ["one", "other", "two", "two"]


async def test_step_may_depend_on_the_request(wire: WireServer) -> None:
    def echo(asked: Asked) -> Step:
        return Say(f"{asked.wire} {asked.model}") if asked.wire == "chat" else Fail(500)

    wire.script(echo)
    assert await ask(wire, "chat") == "chat gpt-4o"


async def test_many_clients_are_served_at_once(wire: WireServer) -> None:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(ask(wire, vendor)) for vendor in VENDORS * 4]
    assert {task.result() for task in tasks} == {"Hello from the wire."}
    assert wire.calls == {CANARY: 16}
