"""Events: everything that happens in a debate, one immutable row each; the log's only content.

Bodies are plain JSON dicts whose keys by kind stand in `BODY_KEYS`. `call` is
`round/seat-id/purpose/attempt`.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from pydantic_core import PydanticSerializationError, to_json

from rt_notebook.errors import StoreError

EVENT_VERSION: Final = 1

BODY_KEYS: Final[dict[str, str]] = {
    "created": "spec source unattended prompts_version",
    "research_started": "query",
    "research_finished": "sources searches",
    "research_failed": "error message",
    "round_started": "round",
    "call_started": "call round seat purpose attempt model messages_hash chars prompts_version",
    "call_finished": "call text tool_calls usage cost model request_id timings process",
    "call_failed": "call error message partial retry_in_s usage cost process",
    "reply_read": "call round seat reply repair",
    "repaired": "call round seat reply",
    "gate_opened": "round mode questions closes_at reopen_calls",
    "gate_answered": "round answers message source",
    "gate_held": "round closes_at source",
    "gate_closed": "round why",
    "interjection": "text source",
    "consensus": "round stance_key",
    "nothing_new": "round",
    "loop": "round similarity",
    "limit_reached": "limit used bound",
    "verdict_started": "",
    "verdict_written": "verdict",
    "verdict_failed": "error message",
    "finish_asked": "source",
    "stop_asked": "source",
    "interrupted": "why",
    "resumed": "source limits unattended",
    "extended": "prompt rounds mode observer_prompt source unattended",
    "concluded": "status stop_reason",
}
"""The kinds of events of schema version 1 and their bodies' keys."""


class Event(NamedTuple):
    """One thing that happened in a debate."""

    v: int
    """Schema version of the body."""
    debate: str
    """The debate's id."""
    seq: int
    """The event's number in its debate, from 1: the debate's revision after it."""
    at: int
    """Milliseconds since 1970-01-01 UTC."""
    kind: str
    """One of `BODY_KEYS`."""
    body: dict[str, Any]
    """The facts, JSON-able."""

    @property
    def time(self) -> datetime:
        """The event's time in UTC."""
        return datetime.fromtimestamp(self.at / 1000, UTC)


def encode_body(body: dict[str, Any]) -> str:
    """Return a body as compact JSON that can be stored as UTF-8: lone surrogates become `?`."""
    try:
        return to_json(body, inf_nan_mode="null").decode()
    except PydanticSerializationError:
        # The fast encoder refuses lone surrogates; the other one lets them through.
        text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8", "replace").decode()


def decode_event(v: int, debate: str, seq: int, at: int, kind: str, body: str) -> Event:
    """Return the event of a stored row.

    Raises:
        StoreError: the schema version is newer than this package, or the body isn't JSON.
    """
    if v > EVENT_VERSION:
        raise StoreError(
            f"debate {debate!r} holds an event of schema version {v}; this version reads up to "
            f"{EVENT_VERSION}: upgrade rt-notebook to open it",
            debate=debate,
            version=v,
        )
    try:
        data = json.loads(body)
    except ValueError as exc:
        raise StoreError(
            f"debate {debate!r}: event {seq} is damaged: {exc}", debate=debate, seq=seq
        ) from exc
    return Event(v, debate, seq, at, kind, data)
