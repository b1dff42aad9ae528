"""Anthropic's messages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.wire.script import Asked, Fail, Say

_STOP = {"end": "end_turn", "length": "max_tokens", "filter": "refusal", "refusal": "refusal"}
_CODES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def _usage(say: Say) -> dict[str, Any]:
    tokens = say.tokens
    searched = {"server_tool_use": {"web_search_requests": len(say.queries)}} if say.queries else {}
    return searched | {
        # The wire counts cached and written tokens beside the others, not among them.
        "input_tokens": tokens.prompt - tokens.cached - tokens.written,
        "cache_read_input_tokens": tokens.cached,
        "cache_creation_input_tokens": tokens.written,
        "output_tokens": tokens.completion,
    }


def _blocks(say: Say) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if say.thinking:
        blocks.append({"type": "thinking", "thinking": say.thinking, "signature": "c2ln"})
    for place, query in enumerate(say.queries):
        blocks.append(
            {
                "type": "server_tool_use",
                "id": f"srvtoolu_{place}",
                "name": "web_search",
                "input": {"query": query},
            }
        )
        pages = [
            {
                "type": "web_search_result",
                "url": page.url,
                "title": page.title,
                "encrypted_content": "ZW5j",
                "page_age": None,
            }
            for page in say.found
        ]
        blocks.append(
            {
                "type": "web_search_tool_result",
                "tool_use_id": f"srvtoolu_{place}",
                "content": pages,
            }
        )
    if say.text:
        blocks.append({"type": "text", "text": say.text, "citations": _citations(say) or None})
    for tool in say.tools:
        blocks.append(
            {"type": "tool_use", "id": tool.id, "name": tool.name, "input": dict(tool.arguments)}
        )
    return blocks


def _citations(say: Say) -> list[dict[str, Any]]:
    return [
        {
            "type": "web_search_result_location",
            "url": page.url,
            "title": page.title,
            "encrypted_index": "aWR4",
            "cited_text": page.excerpt,
        }
        for page in (say.found if say.cites else ())
    ]


def _head(asked: Asked, say: Say) -> dict[str, Any]:
    return {
        "id": "msg_wire",
        "type": "message",
        "role": "assistant",
        "model": say.model or asked.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }


def _stop(say: Say) -> str:
    return "tool_use" if say.tools else _STOP[say.stop]


def whole(asked: Asked, say: Say) -> dict[str, Any]:
    """Returns an answer that isn't streamed."""
    fields = {"content": _blocks(say), "stop_reason": _stop(say), "usage": _usage(say)}
    return _head(asked, say) | fields


def frames(asked: Asked, say: Say) -> Iterator[tuple[str | None, Any, bool]]:
    """Yields the events of a streamed answer."""

    def event(kind: str, is_text: bool = False, **fields: Any) -> tuple[str, dict[str, Any], bool]:
        return kind, {"type": kind, **fields}, is_text

    usage = _usage(say)
    started = _head(asked, say) | {"usage": usage | {"output_tokens": 1}}
    yield event("message_start", message=started)
    for place, block in enumerate(_blocks(say)):
        begun, deltas = _deltas(say, block)
        yield event("content_block_start", index=place, content_block=begun)
        for delta in deltas:
            is_text = delta["type"] == "text_delta"
            yield event("content_block_delta", is_text, index=place, delta=delta)
        yield event("content_block_stop", index=place)
    delta = {"stop_reason": _stop(say), "stop_sequence": None}
    yield event("message_delta", delta=delta, usage=usage)
    yield event("message_stop")


def _deltas(say: Say, block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    match block["type"]:
        case "text":
            begun = {"type": "text", "text": "", "citations": None}
            cited = [{"type": "citations_delta", "citation": c} for c in _citations(say)]
            return begun, [*cited, *({"type": "text_delta", "text": part} for part in say.parts)]
        case "thinking":
            return block | {"thinking": "", "signature": ""}, [
                {"type": "thinking_delta", "thinking": block["thinking"]},
                {"type": "signature_delta", "signature": block["signature"]},
            ]
        case "tool_use" | "server_tool_use":
            text = json.dumps(block["input"])
            return block | {"input": {}}, [{"type": "input_json_delta", "partial_json": text}]
    return block, []


def failure(fail: Fail) -> dict[str, Any]:
    """Returns the body of an error answer."""
    code = fail.code or _CODES.get(fail.status, "api_error")
    error = {"type": code, "message": fail.message}
    return {"type": "error", "error": error, "request_id": "req_wire"}


def midstream_failure() -> tuple[str | None, dict[str, Any]]:
    """Returns the event by which a stream is broken off."""
    return "error", failure(Fail(529, "the wire broke"))
