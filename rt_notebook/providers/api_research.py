"""Research over a model API, with the vendor's own web search; loads the client libraries."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from pydantic_ai.messages import (
    ModelResponse,
    ModelResponseStreamEvent,
    NativeToolCallPart,
    NativeToolReturnPart,
    PartStartEvent,
    TextPart,
    WebCitationSource,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.native_tools import WebSearchTool
from pydantic_ai.settings import ModelSettings

from rt_notebook.errors import CallError, SeatError
from rt_notebook.providers.api_calls import checked_text, prompt_of, stream_response
from rt_notebook.providers.api_doors import Door
from rt_notebook.providers.api_models import Line, check_model, settings_of
from rt_notebook.providers.api_usage import usage_of
from rt_notebook.providers.base import Call, Message, Progress
from rt_notebook.providers.research import Found, Source, Sources, research_prompt
from rt_notebook.providers.searching import LIGHT_MODELS

__all__ = ["LIGHT_MODELS", "RESEARCH_TIMEOUT_S", "check_search", "search"]

RESEARCH_TIMEOUT_S: Final = 120.0
"""Seconds that research may take by default."""

# Vendors whose search tool takes a bound itself; OpenAI's takes it as a bound on all tool calls.
_BOUNDED: Final = frozenset({"anthropic", "openrouter"})
_BOUNDED_CALLS: Final = frozenset({"openai", "openai-responses"})


async def search(
    door: Door,
    query: str,
    *,
    max_searches: int = 4,
    timeout_s: float = RESEARCH_TIMEOUT_S,
    effort: str = "low",
    progress: Progress | None = None,
) -> Found:
    """Return what the vendor's web search finds; only the query goes out.

    Args:
        door: where the call goes.
        query: what to look up.
        max_searches: bound of the searches, 1 to 10.
        timeout_s: seconds it may take.
        effort: reasoning effort.
        progress: told the characters so far.

    Raises:
        OptionError: the query or the bound can't be.
        SeatError: the model can't search the web.
        CallError: it failed, or went on searching beyond its bound.
    """
    prompt = research_prompt(query, max_searches)
    call = Call(
        [Message("user", prompt)], "", 0, "research", {"effort": effort}, (), deadline_s=timeout_s
    )
    line = Line(door)
    _check_search(line.model, door)
    await line.open()
    limit = asyncio.timeout(timeout_s)
    try:
        async with limit:
            return await _search(line, call, max_searches, progress)
    except TimeoutError as exc:
        if not limit.expired():
            raise
        raise CallError(
            f"{door.vendor}: no result within {timeout_s:g} s", kind="timeout", provider=door.vendor
        ) from exc
    finally:
        await line.close()


async def _search(line: Line, call: Call, max_searches: int, progress: Progress | None) -> Found:
    door = line.door
    tool = WebSearchTool(max_uses=max_searches if door.vendor in _BOUNDED else None)
    settings: dict[str, Any] = {**settings_of(call, line.model, door)}
    if door.vendor in _BOUNDED_CALLS:
        settings["extra_body"] = {"max_tool_calls": max_searches}
        settings["openai_include_web_search_sources"] = True
    counter = _Counter(line, max_searches, progress)
    response = await stream_response(
        line,
        prompt_of(call.messages),
        cast(ModelSettings, settings),
        ModelRequestParameters(native_tools=[tool]),
        counter,
    )
    return Found(
        checked_text(response, line),
        _sources(response),
        max(counter.searches, _searches(response)),
        usage_of(response, door),
        response.model_name,
        response.provider_response_id,
    )


class _Counter:
    """Counts characters and searches as they come, and ends a search that knows no bound."""

    def __init__(self, line: Line, max_searches: int, progress: Progress | None) -> None:
        self._line = line
        self._max = max_searches
        self._progress = progress
        self._chars = 0
        self.searches = 0

    def __call__(self, event: ModelResponseStreamEvent) -> None:
        """Take note of one event."""
        if isinstance(event, PartStartEvent) and isinstance(event.part, NativeToolCallPart):
            self.searches += 1
        text = getattr(getattr(event, "delta", None), "content_delta", None)
        self._chars += len(text) if isinstance(text, str) else 0
        if self._progress is not None:
            self._progress(self._chars)
        if self.searches > self._max:
            raise CallError(
                f"{self._line.door.vendor}: more than {self._max} searches; the call was stopped",
                kind="tool_policy",
            )


def check_search(door: Door) -> None:
    """Check, before any call, that a model can search the web.

    Raises:
        SeatError: it can't, or can't be made.
    """
    _check_search(check_model(door), door)


def _check_search(model: Model, door: Door) -> None:
    if WebSearchTool not in model.profile.get("supported_native_tools", ()):
        raise SeatError(
            f"research: '{door.vendor}:{door.model}' can't search the web; take a model of openai, "
            "anthropic, google or openrouter"
        )


def _searches(response: ModelResponse) -> int:
    """Count searches by their queries: Google reports all of them in one call."""
    queries = 0
    for part in response.parts:
        if isinstance(part, NativeToolCallPart):
            arguments = part.args_as_dict()
            named = arguments.get("queries")
            queries += len(named) if isinstance(named, list) else 1
    return queries


def _sources(response: ModelResponse) -> tuple[Source, ...]:
    found = Sources()
    for part in response.parts:
        if not isinstance(part, TextPart):
            continue
        for citation in part.citations or ():
            anchor = citation.anchor
            words = part.content[anchor.start : anchor.end] if anchor is not None else ""
            for source in citation.sources:
                if isinstance(source, WebCitationSource):
                    found.add(source.url, source.title, "\n".join(source.excerpts) or words)
    if not found.all():  # nothing is cited: what was found is better than nothing
        for url, title in _listed(response):
            found.add(url, title)
    return found.all()


def _listed(response: ModelResponse) -> Iterator[tuple[object, object]]:
    for part in response.parts:
        if isinstance(part, NativeToolReturnPart):
            content: Any = part.content
            pages = content.get("sources", ()) if isinstance(content, Mapping) else content
            for page in pages if isinstance(pages, list | tuple) else ():
                if isinstance(page, Mapping):
                    yield page.get("url") or page.get("uri"), page.get("title")
