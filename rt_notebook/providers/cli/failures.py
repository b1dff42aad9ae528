"""What a command's words and numbers about a failure mean, in this package's few kinds.

Owns that reading for every vendor, and how the end of an error output is quoted. The words are
those the commands were seen to use; whatever isn't known is `provider`.
"""

from __future__ import annotations

import json
import re
import signal
from typing import Final

from rt_notebook.errors import CallError, one_line
from rt_notebook.providers.cli.process import Ended

STDERR_QUOTED: Final = 2 * 1024
"""Characters of the error output that stand in a message."""

_BY_HAND: Final = "run it by hand to see why, or `rt-notebook doctor`"

_STATUS: Final = {
    401: "auth",
    402: "quota",
    403: "auth",
    404: "not_found",
    408: "timeout",
    413: "context_length",
    429: "rate_limit",
}
_JSON_LIMIT: Final = 64 * 1024
# In this order: the first that fits decides.
_WORDS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        (
            "quota",
            r"insufficient_quota|credit balance|usage limit|limit reached|out of credits"
            r"|quota (?:exceeded|exhausted)|exceeded your current quota|billing",
        ),
        (
            "output_limit",
            r"max_output_tokens|output token maximum|maximum output|output limit",
        ),
        (
            "context_length",
            r"context[_ ](?:length|window)|prompt is too long|maximum context|too many tokens"
            r"|input is too long|exceeds \d+ ?MB|maximum length",
        ),
        (
            "auth",
            r"not logged in|please run /login|log ?in again|api key|authenticat|unauthorized"
            r"|missing environment variable|invalid auth|credentials",
        ),
        (
            "not_found",
            r"model.{0,120}(?:not found|does not exist|isn't available|not supported)"
            r"|(?:no such|unknown) model|providermodelnotfound",
        ),
        ("rate_limit", r"rate.?limit|too many requests|resource_exhausted"),
        ("overloaded", r"overloaded|high demand|internal (?:server )?error|unavailable"),
        ("timeout", r"timed out|timeout|deadline exceeded"),
        (
            "connection",
            r"econn|enotfound|epipe|eai_again|socket|network error|fetch failed|terminated"
            r"|stream (?:disconnected|ended)|ended without|connection|error sending request",
        ),
        ("protocol", r"parse json|incomplete json|unexpected token|invalid json"),
        ("refused", r"usage polic|content polic|safety|refus"),
        ("empty", r"empty response|no visible output"),
    )
)
_STATUS_IN_TEXT: Final = re.compile(
    r"(?:status|error|code|http|\()\W{0,4}([45]\d\d)(?!\d)", re.IGNORECASE
)


def kind_of(text: str, status: int | None = None) -> str:
    """Return the kind that a failure's text and HTTP status say.

    Args:
        text: what the command printed about it.
        status: the status, where it's told apart from the text.
    """
    text = text[:4096]
    if status is None and (found := _STATUS_IN_TEXT.search(text)):
        status = int(found[1])
    worded = next((kind for kind, words in _WORDS if words.search(text)), None)
    if status is None:
        return worded or "provider"
    if status == 429 and worded == "quota":
        return "quota"
    if status in _STATUS:
        return _STATUS[status]
    if status >= 500:
        return "overloaded"
    return worded if worded in ("context_length", "quota", "auth", "not_found") else "provider"


def unwrapped(text: str) -> tuple[str, int | None]:
    """Return the message inside an error that a service sent as JSON, and its status if it's there.

    Args:
        text: what the command printed; anything else than such an error comes back as it is.
    """
    begin, end = text.find("{"), text.rfind("}")
    if begin < 0 or end - begin > _JSON_LIMIT:
        return text, None
    try:
        error = json.loads(text[begin : end + 1])["error"]
        message, code = error["message"], error.get("code")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return text, None
    if not isinstance(message, str):
        return text, None
    return message, code if isinstance(code, int) else None


def missing_answer(ended: Ended, aside: str, partial: str = "") -> CallError:
    """Return the error of a command that ended without a final answer.

    Args:
        ended: how it ended.
        aside: the last line of its output that was for people.
        partial: the answer's text so far.
    """
    tail = ended.stderr[-STDERR_QUOTED:].strip() or aside.strip()
    said = f"it said: {tail}" if tail else f"in {ended.seconds:.1f} s it said nothing; {_BY_HAND}"
    text = f"the command {ending(ended.returncode)} without a final answer; {said}"
    return CallError(one_line(text, 2_600), kind="protocol", partial=partial)


def last_words(ended: Ended, aside: str) -> str:
    """Return what a command that was stopped had told people last, to be added to a message."""
    lines = ended.stderr.strip().splitlines()
    said = one_line(aside, 500) or one_line(lines[-1] if lines else "", 500)
    return f"; its last words: {said}" if said else ""


def ending(returncode: int | None) -> str:
    """Return how a process ended, in words."""
    if returncode is None:
        return "didn't end"
    if returncode >= 0:
        return f"exited with code {returncode}"
    try:
        return f"was ended by {signal.Signals(-returncode).name}"
    except ValueError:
        return f"was ended by signal {-returncode}"
