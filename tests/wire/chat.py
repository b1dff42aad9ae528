"""OpenAI's chat completions, which most other vendors speak too."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.wire.script import Asked, Fail, Say

_FINISH = {"end": "stop", "length": "length", "filter": "content_filter", "refusal": "stop"}
_CODES = {
    400: "invalid_request_error",
    401: "invalid_api_key",
    403: "permission_denied",
    404: "model_not_found",
    429: "rate_limit_exceeded",
}


def _usage(say: Say) -> dict[str, Any] | None:
    tokens = say.tokens
    if not say.has_usage:
        return None
    charged = {} if say.cost is None else {"cost": say.cost}
    return charged | {
        "prompt_tokens": tokens.prompt,
        "completion_tokens": tokens.completion,
        "total_tokens": tokens.prompt + tokens.completion,
        "prompt_tokens_details": {"cached_tokens": tokens.cached},
        "completion_tokens_details": {"reasoning_tokens": tokens.reasoning},
    }


def _finish(say: Say) -> str:
    return "tool_calls" if say.tools else _FINISH[say.stop]


def _tool_calls(say: Say) -> list[dict[str, Any]]:
    return [
        {
            "index": place,
            "id": tool.id,
            "type": "function",
            "function": {"name": tool.name, "arguments": json.dumps(dict(tool.arguments))},
        }
        for place, tool in enumerate(say.tools)
    ]


def _head(asked: Asked, say: Say, kind: str) -> dict[str, Any]:
    return {
        "id": "chatcmpl-wire",
        "object": kind,
        "created": 1_700_000_000,
        "model": say.model or asked.model,
    }


def whole(asked: Asked, say: Say) -> dict[str, Any]:
    """Returns an answer that isn't streamed."""
    message: dict[str, Any] = {"role": "assistant", "content": say.text, "refusal": None}
    if say.stop == "refusal":
        message |= {"content": None, "refusal": say.text}
    if say.tools:
        message["tool_calls"] = _tool_calls(say)
    choice = {"index": 0, "message": message, "finish_reason": _finish(say), "logprobs": None}
    head = _head(asked, say, "chat.completion")
    return head | {"choices": [choice], "usage": _usage(say)}


def frames(asked: Asked, say: Say) -> Iterator[tuple[str | None, Any, bool]]:
    """Yields the events of a streamed answer."""
    head = _head(asked, say, "chat.completion.chunk")

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return head | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield None, chunk({"role": "assistant", "content": None if say.text is None else ""}), False
    if say.thinking:
        yield None, chunk({"reasoning_content": say.thinking}), False
    for part in say.parts:
        yield None, chunk({"refusal" if say.stop == "refusal" else "content": part}), True
    if say.tools:
        yield None, chunk({"tool_calls": _tool_calls(say)}), False
    yield None, chunk({}, _finish(say)), False
    if say.has_usage:
        yield None, head | {"choices": [], "usage": _usage(say)}, False
    yield None, "[DONE]", False


def failure(fail: Fail) -> dict[str, Any]:
    """Returns the body of an error answer."""
    code = fail.code or _CODES.get(fail.status, "server_error")
    return {"error": {"message": fail.message, "type": code, "param": None, "code": code}}


def midstream_failure() -> tuple[str | None, dict[str, Any]]:
    """Returns the event by which a stream is broken off."""
    return None, failure(Fail(500, "the wire broke", "server_error"))
