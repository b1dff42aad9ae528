"""What the values in events' bodies are: for logs out of files that anybody may have edited.

The store's own logs were written by this package and aren't checked again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from rt_notebook.domain.events import BODY_KEYS

Check = Callable[[Any], bool]

_MOST: Final = 10**9
_LATEST: Final = 10**14  # milliseconds since 1970: the year 5138


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST


def _time(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LATEST


def _number(value: Any) -> bool:
    fits = isinstance(value, int | float) and not isinstance(value, bool)
    return fits and -_LATEST <= value <= _LATEST


def _word(*known: str) -> Check:
    return lambda value: isinstance(value, str) and value in known


def _maybe(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _list(check: Check) -> Check:
    return lambda value: isinstance(value, list) and all(map(check, value))


def _dict(check: Check) -> Check:
    return lambda value: isinstance(value, dict) and all(map(check, value.values()))


def _object(fields: Mapping[str, Check], needed: tuple[str, ...] = ()) -> Check:
    def check(value: Any) -> bool:
        return (
            isinstance(value, dict)
            and all(name in value for name in needed)
            and all(fits(value[name]) for name, fits in fields.items() if name in value)
        )

    return check


_anything: Final[Check] = lambda value: True  # noqa: E731  (what reads it checks it by itself)
_texts: Final = _list(_text)
_READ: Final[dict[str, Check]] = {
    **dict.fromkeys(("valid", "passed"), _maybe(_flag)),
    **dict.fromkeys(("errors", "duplicates", "notes", "trimmed"), _maybe(_texts)),
    **dict.fromkeys(("raw", "reasoning"), _maybe(_text)),
}
_reply: Final = _object({
    **_READ,
    **dict.fromkeys(("stance", "stance_key", "question"), _maybe(_text)),
    **dict.fromkeys(("agree_with", "disagree", "new", "assumptions"), _maybe(_texts)),
})  # fmt: skip
_verdict: Final = _object({
    **_READ,
    **dict.fromkeys(("pick", "recommendation", "dissent"), _maybe(_text)),
    **dict.fromkeys(("kill_criteria", "open_questions"), _maybe(_texts)),
})  # fmt: skip
_question: Final = _object({"id": _text, "text": _text, "askers": _texts}, ("id", "text", "askers"))

_CHECKS: Final[dict[str, Check]] = {
    **dict.fromkeys(
        ("call", "seat", "purpose", "messages_hash", "text", "error", "source", "why", "limit",
         "stance_key", "query"), _text),
    **dict.fromkeys(
        ("message", "partial", "request_id", "model", "prompt", "observer_prompt", "stop_reason"),
        _maybe(_text)),
    **dict.fromkeys(("round", "attempt", "chars", "rounds", "searches"), _count),
    **dict.fromkeys(("retry_in_s", "reopen_calls"), _maybe(_number)),
    **dict.fromkeys(("used", "bound", "similarity"), _number),
    **dict.fromkeys(("repair",), _flag),
    **dict.fromkeys(("unattended",), _maybe(_flag)),
    # What a call cost is believed as far as it can be, see `Usage`.
    **dict.fromkeys(("spec", "limits", "cost", "prompts_version"), _anything),
    "closes_at": _maybe(_time),
    "usage": _maybe(_dict(_anything)),
    **dict.fromkeys(("timings", "process"), _maybe(_dict(_number))),
    "tool_calls": _maybe(_list(_dict(_anything))),
    "sources": _list(_dict(_anything)),
    "answers": _maybe(_dict(_maybe(_text))),
    "questions": _list(_question),
    "reply": _reply,
    "verdict": _verdict,
    "mode": _maybe(_word("questions", "checkpoint", "blocking", "continue", "new")),
    "status": _word("done", "stopped", "paused", "error"),
}  # fmt: skip
_OWN: Final[dict[tuple[str, str], Check]] = {
    ("call_started", "model"): _text,
    ("gate_opened", "mode"): _word("questions", "checkpoint", "blocking"),
    ("extended", "mode"): _maybe(_word("continue", "new")),
}
"""Where a key is more in one kind of event than elsewhere."""


def wrong_key(kind: str, at: int, body: Mapping[str, Any]) -> str | None:
    """Return the name of what isn't of its type in an event, or None; unknown keys are left alone.

    Args:
        kind: the event's kind; an unknown one holds anything.
        at: its time.
        body: its body.
    """
    if not _time(at):
        return "at"
    for name in BODY_KEYS.get(kind, "").split():
        if name in body:
            check = _OWN.get((kind, name)) or _CHECKS[name]
            if not check(body[name]):
                return name
    return None
