"""What holds for every provider: deadline, stall, size, blank answers, backoff, one limiter an account.

These wrap providers; neither the engine nor a provider has flags for them.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from rt_notebook.contract.text import is_blank
from rt_notebook.errors import CallError, one_line
from rt_notebook.providers.base import Call, Completion, Progress, Provider

MAX_ANSWER: Final = 8 * 1024 * 1024
"""Characters of an answer; a longer one is an `output_limit` failure."""

BACKOFF_BASE_S: Final = 1.0
BACKOFF_CAP_S: Final = 30.0

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
    deadline = asyncio.timeout(call.deadline_s)
    try:
        async with deadline:
            if stall_s > 0:
                completion = await _unstalled(provider, call, progress, stall_s)
            else:
                completion = await provider.complete(call, progress)
    except TimeoutError as exc:
        if deadline.expired():
            raise CallError(_timeout_text(provider, call), kind="timeout") from exc
        raise CallError(one_line(str(exc) or "timed out"), kind="timeout") from exc
    except CallError:
        raise
    except Exception as exc:
        # The edge to foreign code: whatever a provider or a user's function raises fails this call alone.
        _log.debug("provider failed", exc_info=True)
        raise CallError(one_line(f"{type(exc).__name__}: {exc}"), kind="provider") from exc
    return _checked(completion)


def retry_delay(error: CallError, attempt: int, retries: int, remaining_s: float) -> float | None:
    """Return seconds to wait before the next try, or None for no further try.

    Exponential backoff with full jitter (Brooker, "Exponential Backoff and Jitter", AWS, 2015); a provider's own
    `retry_after_s` is honoured as the least.

    Args:
        error: how this try failed.
        attempt: number of this try, from 1.
        retries: further tries allowed in all.
        remaining_s: seconds left of the turn.
    """
    if not error.retryable or attempt > retries:
        return None
    ceiling = min(BACKOFF_CAP_S, BACKOFF_BASE_S * 2 ** (attempt - 1))
    delay = max(error.retry_after_s or 0.0, random.uniform(0, ceiling))  # noqa: S311  (jitter, no secret)
    return delay if delay < remaining_s else None


class Limiter:
    """Bounds the calls at one vendor and account, and slows all its seats after a rate-limit answer.

    Args:
        max_concurrency: calls at a time; None: no bound.
    """

    def __init__(self, max_concurrency: int | None = None) -> None:
        self._slots = asyncio.Semaphore(max_concurrency) if max_concurrency else None
        self._free_at = 0.0

    async def enter(self) -> None:
        """Wait for the account's pause to end and for a slot."""
        loop = asyncio.get_running_loop()
        while (delay := self._free_at - loop.time()) > 0:
            await asyncio.sleep(delay)
        if self._slots is not None:
            await self._slots.acquire()

    def leave(self) -> None:
        """Give the slot back."""
        if self._slots is not None:
            self._slots.release()

    def slow_down(self, seconds: float) -> None:
        """Let no call of this account start for `seconds`."""
        self._free_at = max(self._free_at, asyncio.get_running_loop().time() + seconds)


class _Stalled:
    """Watches progress; after `stall_s` without any, `expired` is set and the waiting task is cancelled."""

    def __init__(self, stall_s: float, progress: Progress) -> None:
        self._stall_s = stall_s
        self._progress = progress
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        self._last = self._loop.time()
        self.expired = False

    def told(self, chars: int) -> None:
        self._last = self._loop.time()
        self._progress(chars)

    @contextmanager
    def watching(self) -> Iterator[None]:
        self._handle = self._loop.call_later(self._stall_s, self._check)
        try:
            yield
        finally:
            self._handle.cancel()

    def _check(self) -> None:
        left = self._last + self._stall_s - self._loop.time()
        if left > 0:
            self._handle = self._loop.call_later(left, self._check)
        elif self._task is not None:
            self.expired = True
            self._task.cancel()


async def _unstalled(provider: Provider, call: Call, progress: Progress, stall_s: float) -> Completion:
    watch = _Stalled(stall_s, progress)
    try:
        with watch.watching():
            return await provider.complete(call, watch.told)
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if watch.expired and task is not None and task.uncancel() == 0:
            raise CallError(f"no progress for {stall_s:g} s", kind="stall") from None
        raise


def _timeout_text(provider: Provider, call: Call) -> str:
    text = f"no answer within {call.deadline_s:g} s"
    return f"{text}; its thread may still run" if getattr(provider, "abandons", False) else text


def _checked(completion: Completion) -> Completion:
    text = completion.text
    if not isinstance(text, str):
        raise CallError(f"the answer is {type(text).__name__}, not text", kind="protocol")
    if len(text) > MAX_ANSWER:
        raise CallError(
            f"the answer has {len(text):,} characters; {MAX_ANSWER:,} are allowed", kind="output_limit", partial=text
        )
    if is_blank(text):
        raise CallError("the answer is empty", kind="empty", partial=text)
    return completion
