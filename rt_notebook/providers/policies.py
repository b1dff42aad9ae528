"""What holds for every provider: deadline, stall, size, blank answers, backoff, limiters.

These wrap providers; neither the engine nor a provider has flags for them.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections import deque
from collections.abc import Mapping
from numbers import Real
from typing import Any, Final

from rt_notebook.characters import whole
from rt_notebook.contract.fences import unwrapped
from rt_notebook.contract.text import is_blank
from rt_notebook.domain.usage import Usage
from rt_notebook.errors import CallError, one_line
from rt_notebook.providers.base import PROCESS_FACTS, Call, Completion, Progress, Provider

MAX_ANSWER: Final = 8 * 1024 * 1024
"""Characters of an answer; a longer one is an `output_limit` failure."""

MAX_PREVIEW: Final = 500
"""Characters kept of what a tool was given and said."""

BACKOFF_BASE_S: Final = 1.0
BACKOFF_CAP_S: Final = 30.0

MINUTE_S: Final = 60.0
"""Seconds that a bound of calls per minute looks back."""

# Characters of an answer that may be nothing but a code fence.
_BARE_FENCE: Final = 200

# A year: whatever claims to have taken longer is no time.
_LONGEST_S: Final = 366 * 86_400.0

# Timers fire up to a clock's tick early.
_TICK_S: Final = 0.001

_MOST_BYTES: Final = 2**53

_log = logging.getLogger(__name__)


async def complete_bounded(
    provider: Provider, call: Call, progress: Progress, *, stall_s: float = 0.0
) -> Completion:
    """Answer `call` within its deadline, or fail with one of the kinds.

    Args:
        provider: who answers.
        call: the request; `deadline_s` bounds it.
        progress: told the characters so far.
        stall_s: seconds without progress after which the call is stopped; 0: none.

    Raises:
        CallError: timeout, stall, empty, output_limit, protocol, or what the provider raised.
    """
    watch = _Watch(call, progress, stall_s, waits=getattr(provider, "queues", False))
    if stall_s > 0:
        call.begin = watch.begin
    try:
        completion = await provider.complete(call, watch.told)
    except asyncio.CancelledError:
        kind = watch.stop()
        if kind is None:
            raise  # somebody ended the turn
        raise _given_up(provider, call, kind, stall_s) from None
    except Exception as exc:
        # The edge to foreign code: what a provider or a user's function raises fails this call.
        kind = watch.stop()
        if kind in ("timeout", "stall"):  # it answered its cancellation with an error of its own
            raise _given_up(provider, call, kind, stall_s) from exc
        if isinstance(exc, CallError):
            raise
        _log.debug("provider failed", exc_info=True)
        kind = "timeout" if isinstance(exc, TimeoutError) else "provider"
        raise CallError(_words(exc), kind=kind) from exc
    watch.stop()
    try:
        return _checked(completion)
    except CallError:
        raise
    except Exception as exc:  # the same edge: what foreign code handed over is no answer
        raise CallError(f"the answer can't be read: {_words(exc)}", kind="protocol") from exc


def retry_delay(error: CallError, attempt: int, retries: int, remaining_s: float) -> float | None:
    """Return seconds to wait before the next try, or None for no further try.

    Exponential backoff with full jitter (Brooker, "Exponential Backoff and Jitter", AWS, 2015); a
    provider's own `retry_after_s` is honoured as the least.

    Args:
        error: how this try failed.
        attempt: number of this try, from 1.
        retries: further tries allowed in all.
        remaining_s: seconds left of the turn.
    """
    if not error.retryable or attempt > retries:
        return None
    ceiling = min(BACKOFF_CAP_S, BACKOFF_BASE_S * 2 ** min(attempt - 1, 30))
    jitter = random.uniform(0, ceiling)  # noqa: S311  (no secret)
    delay = max(error.retry_after_s or 0.0, jitter)
    return delay if delay < remaining_s else None


class Limiter:
    """Bounds the calls at one vendor and account, and slows all its seats after a rate limit.

    Args:
        max_concurrency: calls at a time; None: no bound.
        per_minute: calls that may start within any 60 seconds; None: no bound.
    """

    def __init__(self, max_concurrency: int | None = None, per_minute: int | None = None) -> None:
        self._slots = asyncio.Semaphore(max_concurrency) if max_concurrency else None
        self._free_at = 0.0
        self._starts: deque[float] | None = deque(maxlen=per_minute) if per_minute else None

    async def enter(self) -> None:
        """Wait for a slot, then for the account's pause and its minute to end."""
        if self._slots is not None:
            await self._slots.acquire()
        loop = asyncio.get_running_loop()
        try:
            while (delay := self._opens_at() - loop.time()) > 0:  # noqa: ASYNC110  (it can move on)
                await asyncio.sleep(delay)
        except BaseException:
            self.leave()
            raise
        if self._starts is not None:
            self._starts.append(loop.time())

    def leave(self) -> None:
        """Give the slot back."""
        if self._slots is not None:
            self._slots.release()

    def slow_down(self, seconds: float) -> None:
        """Let no call of this account start for `seconds`."""
        self._free_at = max(self._free_at, asyncio.get_running_loop().time() + seconds)

    def _opens_at(self) -> float:
        # The deque is as long as the minute's bound: full, its first call is the one to wait for.
        starts = self._starts
        if starts is None or len(starts) < (starts.maxlen or 0):
            return self._free_at
        return max(self._free_at, starts[0] + MINUTE_S)


class Limited:
    """A provider whose calls go through its account's limiter.

    Args:
        provider: who answers.
        limiter: shared by all seats of the account.
    """

    queues = True
    """A call may wait before it begins."""

    def __init__(self, provider: Provider, limiter: Limiter) -> None:
        self._provider = provider
        self._limiter = limiter

    async def complete(self, call: Call, progress: Progress) -> Completion:
        """Answer one call once it is its turn; a rate limit slows everybody on the account."""
        loop = asyncio.get_running_loop()
        asked = loop.time()
        await self._limiter.enter()
        queued = loop.time() - asked
        call.begin()
        try:
            answer = await self._provider.complete(call, progress)
            if queued > _TICK_S:
                answer.timings = {**answer.timings, "queued": queued}
            return answer
        except CallError as error:
            wait = error.retry_after_s or BACKOFF_BASE_S
            # For a longer wait than a turn has time for, everybody else would only time out; and
            # the vendor may mean one model, or be paid meanwhile: each call hears it itself.
            if error.kind == "rate_limit" and wait < call.deadline_s:
                self._limiter.slow_down(wait)
            raise
        finally:
            self._limiter.leave()


class _Watch:
    """Bounds one call: cancels the task that waits for it at the deadline, or at a stall.

    One timer for both, which costs half of what `asyncio.timeout` around a second watcher does.
    """

    __slots__ = (
        "_cancelling",
        "_ends",
        "_handle",
        "_kind",
        "_last",
        "_loop",
        "_progress",
        "_stall_s",
        "_task",
        "_waits",
    )

    def __init__(
        self, call: Call, progress: Progress, stall_s: float, *, waits: bool = False
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        self._cancelling = self._task.cancelling() if self._task is not None else 0
        self._progress = progress
        self._stall_s = stall_s
        self._kind: str | None = None
        self._last = now = self._loop.time()
        self._ends = now + call.deadline_s
        self._waits = waits
        self._handle = self._loop.call_at(self._next(), self._check)

    def begin(self) -> None:
        """Let the stall's time run from now on: the call has left its account's queue."""
        self._waits, self._last = False, self._loop.time()
        self._handle.cancel()
        self._handle = self._loop.call_at(self._next(), self._check)

    def told(self, chars: int) -> None:
        """Take note of progress and tell it on."""
        self._last = self._loop.time()
        self._progress(chars)

    def stop(self) -> str | None:
        """Stop watching; return what ended the call, or None where somebody else cancelled it.

        `provider`: nobody did, the cancellation came out of the called code itself.
        """
        self._handle.cancel()
        task = self._task
        if task is None:
            return self._kind
        if self._kind is None:
            return "provider" if task.cancelling() <= self._cancelling else None
        return self._kind if task.uncancel() <= self._cancelling else None

    def _next(self) -> float:
        if self._stall_s <= 0 or self._waits:
            return self._ends
        return min(self._ends, self._last + self._stall_s)

    def _check(self) -> None:
        if self._next() - self._loop.time() > _TICK_S:
            self._handle = self._loop.call_at(self._next(), self._check)
        elif self._task is not None:
            late = self._ends - self._loop.time() <= _TICK_S
            self._kind = "timeout" if late else "stall"
            self._task.cancel()


def _given_up(provider: Provider, call: Call, kind: str, stall_s: float) -> CallError:
    if kind == "provider":
        return CallError("the call was cancelled from within", kind=kind)
    text = f"no answer within {call.deadline_s:g} s"
    if kind == "stall":
        text = f"no progress for {stall_s:g} s"
    return CallError(text + still_running(provider), kind=kind, partial=_came(call))


def _came(call: Call) -> str:
    try:
        return str(call.came())
    except Exception:  # the edge to foreign code: what had come is no reason to fail otherwise
        return ""


def still_running(provider: object) -> str:
    """Return what to add to a failure's message where the provider can't be stopped, else ''."""
    return "; its thread may still run" if getattr(provider, "abandons", False) else ""


def _words(exc: Exception) -> str:
    try:
        return one_line(f"{type(exc).__name__}: {exc}")
    except Exception:  # a foreign exception whose text can't be made
        return type(exc).__name__


def _checked(completion: Completion) -> Completion:
    text = completion.text
    if not isinstance(text, str):
        raise CallError(f"the answer is {type(text).__name__}, not text", kind="protocol")
    if len(text) > MAX_ANSWER:
        raise CallError(
            f"the answer has {len(text):,} characters; {MAX_ANSWER:,} are allowed",
            kind="output_limit",
            partial=text,
        )
    if _says_nothing(text):
        raise CallError("the answer is empty", kind="empty", partial=text)
    if not text.isascii():
        completion.text = whole(text)
    return completion if completion.is_plain else _with_clean_facts(completion)


def _says_nothing(text: str) -> bool:
    """Return whether an answer is blank, or a fence around nothing."""
    return is_blank(text) or (len(text) < _BARE_FENCE and is_blank(unwrapped(text)[0]))


def _with_clean_facts(completion: Completion) -> Completion:
    """Drop what isn't of its type: a paid answer isn't lost over what stands beside it."""
    # Foreign code made it: nothing but the text is known to be what the types say.
    facts: Any = completion
    tools = facts.tool_calls if isinstance(facts.tool_calls, list | tuple) else ()
    timings = facts.timings if isinstance(facts.timings, Mapping) else {}
    return Completion(
        completion.text,
        tuple(_tool(tool) for tool in tools if isinstance(tool, Mapping)),
        facts.usage.believed() if isinstance(facts.usage, Usage) else None,
        _word(facts.model),
        _word(facts.request_id),
        {str(name): s for name, value in timings.items() if (s := _number(value)) is not None},
        _process(facts.process),
    )


def _process(told: Any) -> dict[str, float] | None:
    if not isinstance(told, Mapping):
        return None
    found: dict[str, float] = {}
    for name in PROCESS_FACTS:
        value: Any = told.get(name)
        # An exit status may be below 0.
        if type(value) in (int, float) and abs(value) <= _MOST_BYTES:
            found[name] = value
    return found or None


def _tool(tool: Mapping[Any, Any]) -> dict[str, str]:
    return {str(key): one_line(_shown(value), MAX_PREVIEW) for key, value in tool.items()}


def _shown(value: object) -> str:
    try:
        return str(value)
    except Exception:  # a foreign object, or a number of too many digits
        return type(value).__name__


def _word(value: object) -> str | None:
    return one_line(value, MAX_PREVIEW) if isinstance(value, str) else None


def _number(value: Any) -> float | None:
    told: Any = value if isinstance(value, Real) else -1
    return float(told) if 0 <= told <= _LONGEST_S else None
