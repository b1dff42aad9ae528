"""Research over the vendors' own web search: what goes out, what comes home, what bounds it."""

from __future__ import annotations

import dataclasses

import pytest

from rt_notebook.errors import CallError, OptionError, SeatError
from rt_notebook.providers import api_research
from rt_notebook.providers.api_doors import open_door
from rt_notebook.providers.api_research import LIGHT_MODELS, search
from rt_notebook.providers.research import Source
from tests.providers.api.sitting import CANARY, MODELS, Sitting
from tests.wire.script import Fail, Found, Hang, Say

pytestmark = [
    pytest.mark.asyncio,
    pytest.mark.filterwarnings("ignore:.*will reach end-of-life:DeprecationWarning"),
]

SEARCHERS = ("responses", "anthropic", "google")
every_searcher = pytest.mark.parametrize("vendor", SEARCHERS)

FOUND = Say(
    "Blue light scatters most.",
    queries=("sky colour", "rayleigh"),
    found=(
        Found("https://a.example/sky", "Sky", "blue is scattered"),
        Found("https://b.example/light?x=1", "Light", "shorter waves"),
    ),
)


@every_searcher
async def test_sources_come_home(sitting: Sitting, vendor: str) -> None:
    sitting.wire.script(FOUND)

    found = await search(sitting.door(vendor), "Why is the sky blue?")

    # Only Anthropic quotes the page; elsewhere the words that the page supports stand in.
    quotes = vendor == "anthropic"
    assert found.text == "Blue light scatters most."
    assert found.searches == 2
    assert found.sources == (
        Source("Sky", "https://a.example/sky", "blue is scattered" if quotes else found.text),
        Source("Light", "https://b.example/light?x=1", "shorter waves" if quotes else found.text),
    )
    assert found.model == MODELS[vendor].partition(":")[2]
    assert (found.usage.prompt_tokens, found.usage.completion_tokens) == (1000, 60)
    assert found.usage.cost is not None


TOOLS = {"responses": "web_search", "anthropic": "web_search_20", "google": "googleSearch"}


@every_searcher
async def test_only_query_and_search_go_out(sitting: Sitting, vendor: str) -> None:
    sitting.wire.script(FOUND)
    await search(sitting.door(vendor), "Why is the sky blue?", max_searches=3)

    body = str(sitting.last.body)
    assert len(sitting.wire.asked) == 1
    assert TOOLS[vendor] in str(sitting.last.body["tools"])
    assert "Why is the sky blue?" in body
    assert "at most 3 searches" in body


async def test_bound_reaches_vendors_that_take_one(sitting: Sitting) -> None:
    sitting.wire.script(FOUND)
    await search(sitting.door("anthropic"), "sky", max_searches=2)
    assert sitting.last.body["tools"][0]["max_uses"] == 2
    await search(sitting.door("responses"), "sky", max_searches=2)
    assert sitting.last.body["max_tool_calls"] == 2


@pytest.mark.parametrize("vendor", ["responses", "anthropic"])
async def test_too_many_searches_are_stopped(sitting: Sitting, vendor: str) -> None:
    sitting.wire.script(FOUND)
    with pytest.raises(CallError, match="more than 1 searches") as caught:
        await search(sitting.door(vendor), "sky", max_searches=1)
    assert caught.value.kind == "tool_policy"


@every_searcher
async def test_uncited_pages_are_better_than_none(sitting: Sitting, vendor: str) -> None:
    sitting.wire.script(dataclasses.replace(FOUND, cites=False))
    found = await search(sitting.door(vendor), "sky")
    assert [source.url for source in found.sources] == [page.url for page in FOUND.found]
    assert {source.excerpt for source in found.sources} == {""}


@every_searcher
async def test_search_that_finds_nothing_says_so(sitting: Sitting, vendor: str) -> None:
    sitting.wire.script(Say("I found nothing.", queries=("sky",)))
    found = await search(sitting.door(vendor), "sky")
    assert (found.text, found.sources, found.searches) == ("I found nothing.", (), 1)


@every_searcher
async def test_failed_search_has_its_kind(sitting: Sitting, vendor: str) -> None:
    sitting.wire.script(Fail(429, f"slow down {CANARY}", retry_after="3"))
    with pytest.raises(CallError, match="HTTP 429") as caught:
        await search(sitting.door(vendor), "sky")
    assert (caught.value.kind, caught.value.retry_after_s) == ("rate_limit", 3.0)
    assert CANARY not in str(caught.value)
    assert len(sitting.wire.asked) == 1


@every_searcher
async def test_hanging_search_ends_in_time(sitting: Sitting, vendor: str) -> None:
    sitting.wire.script(Hang())
    with pytest.raises(CallError, match=r"no result within 0\.5 s") as caught:
        await search(sitting.door(vendor), "sky", timeout_s=0.5)
    assert caught.value.kind == "timeout"


async def test_model_without_search_is_refused(sitting: Sitting) -> None:
    with pytest.raises(SeatError, match="'openai-chat:gpt-4o' can't search the web"):
        await search(sitting.door("chat"), "sky")
    assert sitting.wire.asked == []


@pytest.mark.parametrize("bound", [0, 11])
async def test_bound_of_searches_is_checked(sitting: Sitting, bound: int) -> None:
    with pytest.raises(OptionError, match=f"max_searches={bound}: a number from 1 to 10"):
        await search(sitting.door("google"), "sky", max_searches=bound)


async def test_empty_query_is_refused(sitting: Sitting) -> None:
    with pytest.raises(OptionError, match="the query is empty"):
        await search(sitting.door("google"), " \n")


@pytest.mark.parametrize("model", [m for m in LIGHT_MODELS.values() if not m.startswith("cli:")])
async def test_default_searchers_can_search(model: str) -> None:
    door = open_door(model, base_url="http://127.0.0.1:9", api_key_env="K", environ={"K": CANARY})
    api_research.check_search(door)
