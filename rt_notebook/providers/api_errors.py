"""What a vendor's failure means: Pydantic AI's error classes become the few kinds of `CallError`.

Loads the client libraries; only other `api_` modules import it, late.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from pydantic import ValidationError
from pydantic_ai import exceptions as vendor_errors

from rt_notebook.errors import CallError, one_line
from rt_notebook.providers.api_doors import Door
from rt_notebook.providers.prices import UNLISTED
from rt_notebook.providers.redaction import redact

MESSAGE_CHARS: Final = 500
"""Characters kept of a vendor's own words."""

_KINDS: Final[tuple[tuple[type[BaseException], str], ...]] = (
    # The first that fits counts: the special ones stand before what they derive from.
    (vendor_errors.ModelAuthenticationError, "auth"),
    (vendor_errors.ModelQuotaExceededError, "quota"),
    (vendor_errors.ModelRateLimitError, "rate_limit"),
    (vendor_errors.ModelUnavailableError, "overloaded"),
    (vendor_errors.ModelServerError, "overloaded"),
    (vendor_errors.ModelContextWindowExceededError, "context_length"),
    (vendor_errors.ModelNotFoundError, "not_found"),
    (vendor_errors.ModelTimeoutError, "timeout"),
    (vendor_errors.ModelConnectionError, "connection"),
    (vendor_errors.ModelRequestTimeout, "timeout"),
    (vendor_errors.ContentFilterError, "refused"),
    (vendor_errors.UnexpectedModelBehavior, "protocol"),
    (ValidationError, "protocol"),
    (json.JSONDecodeError, "protocol"),
    (UnicodeDecodeError, "protocol"),
)

_POLICY_CODES: Final = (
    "content_filter",
    "content_policy",
    "moderation",
    "invalid_prompt",
    "safety",
)

# The client libraries' words around a transport's failure, which says what happened.
_SAYS_NOTHING: Final = frozenset({"", "Connection error"})

_NOT_SENT: Final = frozenset({"pool", "connect"})


def call_error(error: Exception, door: Door, *, partial: str = "") -> CallError:
    """Return a vendor's failure as one of the kinds, with a message that a person can act on.

    Args:
        error: what the client library or Pydantic AI raised.
        door: where the call went.
        partial: the text that came before.
    """
    kind = kind_of(error)
    after = getattr(error, "retry_after", None)
    return CallError(
        _message(error, kind, door),
        kind=kind,
        provider=door.vendor,
        model=f"{door.vendor}:{door.model}",
        partial=redact(partial, door.secrets),
        retry_after_s=after if isinstance(after, int | float) else None,
    )


def kind_of(error: BaseException) -> str:
    """Return the kind of a failure."""
    if isinstance(error, vendor_errors.ModelTimeoutError) and error.phase in _NOT_SENT:
        return "connection"
    if isinstance(error, vendor_errors.ModelRequestRejectedError) and _is_policy(error):
        return "refused"
    for known, kind in _KINDS:
        if isinstance(error, known):
            return kind
    if isinstance(error, vendor_errors.ModelAPIError) and error.__cause__ is not None:
        inner = kind_of(error.__cause__)
        if inner != "provider" or _is_unreadable(error):
            return inner if inner != "provider" else "protocol"
    if isinstance(error, vendor_errors.ModelAPIError) and _is_unreadable(error):
        return "protocol"
    return "provider"


def _is_policy(error: vendor_errors.ModelAPIError) -> bool:
    code = str(error.provider_error_code or "").lower()
    return any(word in code for word in _POLICY_CODES)


def _is_unreadable(error: vendor_errors.ModelAPIError) -> bool:
    return str(error).startswith(("Failed to decode", "Expected a JSON"))


def _message(error: Exception, kind: str, door: Door) -> str:
    words = one_line(redact(_words(error), door.secrets), MESSAGE_CHARS)
    status = getattr(error, "status_code", None)
    head = f"{door.vendor}: HTTP {status}: {words}" if status else f"{door.vendor}: {words}"
    tail = _way_out(error, kind, door)
    request = _request_id(error)
    return head + (f"; {tail}" if tail else "") + (f" (request {request})" if request else "")


def _words(error: Exception) -> str:
    """Return the vendor's own words, out of the many layers around them."""
    body: Any = getattr(error, "body", None)
    for name in ("error", "message"):
        if isinstance(body, Mapping) and name in body:
            body = body[name]
    if isinstance(body, Mapping) and "message" in body:
        body = body["message"]
    if isinstance(body, str) and body.strip():
        return body
    if isinstance(error, ValidationError):  # its own words quote the input, which is the answer
        return "the answer has a wrong form"
    text = str(error).strip()
    if text.rstrip(".") in _SAYS_NOTHING and isinstance(error.__cause__, Exception):
        text = _words(error.__cause__)
    return text or type(error).__name__


def _way_out(error: Exception, kind: str, door: Door) -> str:
    if kind == "auth":
        return f"check the key in {door.key_variable}" if door.key_variable else "check the login"
    wait = getattr(error, "retry_after", None)
    if kind == "rate_limit" and isinstance(wait, int | float):
        return f"it asks to wait {wait:,.0f} s"
    if kind == "quota":
        return "the account's quota or credit is used up"
    if kind == "not_found":
        near = getattr(error, "suggested_model_id", None)
        return f"check the model's name {door.model!r}" + (f"; is it {near!r}?" if near else "")
    if kind == "context_length":
        return "the prompt is longer than the model takes; shorten the context"
    if kind == "protocol" and door.vendor in UNLISTED:
        # llama.cpp's Python server ends a stream without a word where it should have said no.
        return "its own log may say why, such as a prompt that is longer than its context"
    if kind == "connection" and door.base_url and getattr(error, "phase", None) in _NOT_SENT:
        return f"does a server listen at {redact(door.base_url, door.secrets)}?"
    return ""


def _request_id(error: Exception) -> str | None:
    headers = getattr(error, "headers", None) or {}
    for name in ("x-request-id", "request-id", "x-goog-request-id"):
        if value := headers.get(name):
            return one_line(str(value), 80)
    return None
