"""OpenAI's responses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.wire.chat import failure
from tests.wire.script import Asked, Say

__all__ = ["failure", "frames", "midstream_failure", "whole"]

_INCOMPLETE = {"length": "max_output_tokens", "filter": "content_filter"}


def _usage(say: Say) -> dict[str, Any] | None:
    tokens = say.tokens
    if not say.has_usage:
        return None
    return {
        "input_tokens": tokens.prompt,
        "input_tokens_details": {"cached_tokens": tokens.cached},
        "output_tokens": tokens.completion,
        "output_tokens_details": {"reasoning_tokens": tokens.reasoning},
        "total_tokens": tokens.prompt + tokens.completion,
    }


def _content(say: Say) -> dict[str, Any]:
    text = say.text or ""
    if say.stop == "refusal":
        return {"type": "refusal", "refusal": text}
    cited = [
        {
            "type": "url_citation",
            "url": page.url,
            "title": page.title,
            "start_index": 0,
            "end_index": max(1, len(text)),
        }
        for page in (say.found if say.cites else ())
    ]
    return {"type": "output_text", "text": text, "annotations": cited}


def _items(say: Say) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = [
        {
            "type": "web_search_call",
            "id": f"ws_{place}",
            "status": "completed",
            "action": {
                "type": "search",
                "query": query,
                "sources": [{"type": "url", "url": page.url} for page in say.found],
            },
        }
        for place, query in enumerate(say.queries)
    ]
    if say.text:
        items.append(
            {
                "type": "message",
                "id": "msg_wire",
                "role": "assistant",
                "status": "completed",
                "content": [_content(say)],
            }
        )
    items += [
        {
            "type": "function_call",
            "id": f"fc_{tool.id}",
            "call_id": tool.id,
            "name": tool.name,
            "arguments": json.dumps(dict(tool.arguments)),
            "status": "completed",
        }
        for tool in say.tools
    ]
    return items


def whole(asked: Asked, say: Say) -> dict[str, Any]:
    """Returns an answer that isn't streamed."""
    reason = _INCOMPLETE.get(say.stop)
    return _head(asked, say) | {
        "status": "incomplete" if reason else "completed",
        "incomplete_details": {"reason": reason} if reason else None,
        "output": _items(say),
        "usage": _usage(say),
    }


def _head(asked: Asked, say: Say) -> dict[str, Any]:
    return {
        "id": "resp_wire",
        "object": "response",
        "created_at": 1_700_000_000,
        "status": "in_progress",
        "model": say.model or asked.model,
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }


def frames(asked: Asked, say: Say) -> Iterator[tuple[str | None, Any, bool]]:
    """Yields the events of a streamed answer."""
    number = 0

    def event(kind: str, is_text: bool = False, **fields: Any) -> tuple[str, dict[str, Any], bool]:
        nonlocal number
        number += 1
        return kind, {"type": kind, "sequence_number": number, **fields}, is_text

    yield event("response.created", response=_head(asked, say))
    for place, item in enumerate(_items(say)):
        begun = item | {"status": "in_progress"}
        if item["type"] == "message":
            begun["content"] = []
        if item["type"] == "function_call":
            begun["arguments"] = ""
        yield event("response.output_item.added", output_index=place, item=begun)
        where = {"item_id": item["id"], "output_index": place}
        if item["type"] == "message":
            where["content_index"] = 0
            for kind, is_text, fields in _text_events(say, item["content"][0]):
                yield event(kind, is_text, **where, **fields)
        elif item["type"] == "function_call":
            arguments = item["arguments"]
            yield event("response.function_call_arguments.delta", **where, delta=arguments)
            yield event(
                "response.function_call_arguments.done",
                **where,
                arguments=arguments,
                name=item["name"],
            )
        yield event("response.output_item.done", output_index=place, item=item)
    final = whole(asked, say)
    yield event(f"response.{final['status']}", response=final)


def _text_events(say: Say, content: dict[str, Any]) -> Iterator[tuple[str, bool, dict[str, Any]]]:
    refuses = say.stop == "refusal"
    noun = "refusal" if refuses else "output_text"
    empty = {"refusal": ""} if refuses else {"text": "", "annotations": []}
    yield "response.content_part.added", False, {"part": {"type": content["type"], **empty}}
    for part in say.parts:
        fields: dict[str, Any] = {"delta": part} if refuses else {"delta": part, "logprobs": []}
        yield f"response.{noun}.delta", True, fields
    if refuses:
        yield "response.refusal.done", False, {"refusal": say.text}
    else:
        for place, cited in enumerate(content["annotations"]):
            fields = {"annotation": cited, "annotation_index": place}
            yield "response.output_text.annotation.added", False, fields
        yield "response.output_text.done", False, {"text": say.text, "logprobs": []}
    yield "response.content_part.done", False, {"part": content}


def midstream_failure() -> tuple[str | None, dict[str, Any]]:
    """Returns the event by which a stream is broken off."""
    return "error", {
        "type": "error",
        "sequence_number": 99,
        "code": "server_error",
        "message": "the wire broke",
        "param": None,
    }
