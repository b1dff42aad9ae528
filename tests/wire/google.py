"""Google's generateContent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.wire.script import Asked, Fail, Say

_FINISH = {"end": "STOP", "length": "MAX_TOKENS", "filter": "SAFETY"}
_STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    529: "UNAVAILABLE",
}


def _usage(say: Say) -> dict[str, Any]:
    tokens = say.tokens
    return {
        "promptTokenCount": tokens.prompt,
        "cachedContentTokenCount": tokens.cached,
        # The wire counts thoughts beside the candidates' tokens, not among them.
        "candidatesTokenCount": tokens.completion - tokens.reasoning,
        "thoughtsTokenCount": tokens.reasoning,
        "totalTokenCount": tokens.prompt + tokens.completion,
    }


def _answer(
    asked: Asked, say: Say, parts: list[dict[str, Any]], *, last: bool = False
) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    answer = {"modelVersion": say.model or asked.model, "responseId": "google-wire"}
    if not last:
        return answer | {"candidates": [candidate]}
    candidate["finishReason"] = _FINISH.get(say.stop, "STOP")
    if say.queries:
        candidate["groundingMetadata"] = _grounding(say)
    usage = {"usageMetadata": _usage(say)} if say.has_usage else {}
    if say.stop == "refusal":  # the prompt itself is blocked: there is no candidate at all
        return answer | {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}} | usage
    return answer | {"candidates": [candidate]} | usage


def _grounding(say: Say) -> dict[str, Any]:
    text = say.text or ""
    return {
        "webSearchQueries": list(say.queries),
        "groundingChunks": [{"web": {"uri": page.url, "title": page.title}} for page in say.found],
        "groundingSupports": [
            {
                "segment": {"startIndex": 0, "endIndex": len(text.encode()), "text": text},
                "groundingChunkIndices": [place],
            }
            for place, _ in enumerate(say.found if say.cites else ())
        ],
    }


def _ending(say: Say) -> list[dict[str, Any]]:
    calls = [
        {"functionCall": {"name": tool.name, "args": dict(tool.arguments)}} for tool in say.tools
    ]
    return calls or [{"text": ""}]


def whole(asked: Asked, say: Say) -> dict[str, Any]:
    """Returns an answer that isn't streamed."""
    words = [{"text": say.text}] if say.text else []
    return _answer(asked, say, [*words, *_ending(say)], last=True)


def frames(asked: Asked, say: Say) -> Iterator[tuple[str | None, Any, bool]]:
    """Yields the events of a streamed answer."""
    if say.thinking:
        yield None, _answer(asked, say, [{"text": say.thinking, "thought": True}]), False
    for part in [] if say.stop == "refusal" else say.parts:
        yield None, _answer(asked, say, [{"text": part}]), True
    yield None, _answer(asked, say, _ending(say), last=True), False


def failure(fail: Fail) -> dict[str, Any]:
    """Returns the body of an error answer."""
    status = fail.code or _STATUS.get(fail.status, "INTERNAL")
    return {"error": {"code": fail.status, "message": fail.message, "status": status}}


def midstream_failure() -> tuple[str | None, dict[str, Any]]:
    """Returns the event by which a stream is broken off."""
    return None, failure(Fail(503, "the wire broke"))
