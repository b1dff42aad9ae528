"""Limits that the seats of one account share."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from rt_notebook.errors import CallError
from rt_notebook.providers import policies
from rt_notebook.providers.accounts import Account, OnAccount, limiter_of
from rt_notebook.providers.base import Call, Completion, Message, Progress
from rt_notebook.providers.function import FunctionProvider
from rt_notebook.providers.policies import Limiter, complete_bounded

pytestmark = pytest.mark.asyncio

CALL = Call([Message("user", "Hi")], "Ada", 0, "opening")


class Counting:
    """Counts calls in flight; each one lasts until the next turns of the loop are over."""

    def __init__(self, error: CallError | None = None) -> None:
        self.error = error
        self.now = self.most = self.total = 0
        self.closed = False

    async def complete(self, call: Call, progress: Progress) -> Completion:
        self.now += 1
        self.total += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.01)
        self.now -= 1
        if self.error is not None:
            raise self.error
        return Completion("fine")

    async def aclose(self) -> None:
        self.closed = True


async def ask(provider: OnAccount) -> Completion:
    return await provider.complete(CALL, lambda chars: None)


async def test_seats_of_one_account_share_slots() -> None:
    inner = Counting()
    account = Account("anthropic", "work", max_concurrency=3)
    seats = [OnAccount(inner, account) for _ in range(4)]
    async with asyncio.TaskGroup() as group:
        for seat in seats * 3:
            group.create_task(ask(seat))
    assert (inner.most, inner.total) == (3, 12)


async def test_other_account_has_slots_of_its_own() -> None:
    inner = Counting()
    async with asyncio.TaskGroup() as group:
        for name in ("work", "home"):
            seat = OnAccount(inner, Account("anthropic", name, max_concurrency=1))
            group.create_task(ask(seat))
    assert inner.most == 2


async def test_api_account_takes_sixteen_at_a_time() -> None:
    inner = Counting()
    seat = OnAccount(inner, Account("openai"))
    async with asyncio.TaskGroup() as group:
        for _ in range(40):
            group.create_task(ask(seat))
    assert inner.most == 16


async def test_limiter_is_one_per_account_and_loop() -> None:
    assert limiter_of(Account("openai")) is limiter_of(Account("openai"))
    assert limiter_of(Account("openai")) is not limiter_of(Account("google"))


async def test_rate_limit_slows_every_seat() -> None:
    loop = asyncio.get_running_loop()
    account = Account("openai", "slow")
    error = CallError("slow down", kind="rate_limit", retry_after_s=0.2)
    with pytest.raises(CallError, match="slow down"):
        await ask(OnAccount(Counting(error), account))
    began = loop.time()

    answer = await ask(OnAccount(Counting(), account))

    assert loop.time() - began >= 0.19
    assert answer.timings["queued"] == pytest.approx(0.2, abs=0.1)


async def test_pause_longer_than_a_call_may_take_is_not_waited_for() -> None:
    inner = Counting(CallError("slow down", kind="rate_limit", retry_after_s=3600))
    account = Account("anthropic", "work")
    with pytest.raises(CallError, match="slow down"):
        await ask(OnAccount(inner, account))
    inner.error = None
    async with asyncio.timeout(1):
        assert (await ask(OnAccount(inner, account))).text == "fine"


async def test_other_failures_slow_nobody() -> None:
    account = Account("openai", "broken")
    with pytest.raises(CallError, match="overloaded"):
        await ask(OnAccount(Counting(CallError("overloaded", kind="overloaded")), account))
    assert "queued" not in (await ask(OnAccount(Counting(), account))).timings


async def test_calls_a_minute_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policies, "MINUTE_S", 0.3)
    limiter = Limiter(per_minute=3)
    loop = asyncio.get_running_loop()
    began = loop.time()
    starts: list[float] = []

    async def once() -> None:
        await limiter.enter()
        starts.append(loop.time() - began)
        limiter.leave()

    async with asyncio.TaskGroup() as group:
        for _ in range(7):
            group.create_task(once())

    starts.sort()
    assert [round(start / 0.3) for start in starts] == [0, 0, 0, 1, 1, 1, 2]
    for early, late in zip(starts, starts[3:], strict=False):
        assert late - early >= 0.299


async def test_waiting_call_can_be_cancelled() -> None:
    limiter = Limiter(1)
    limiter.slow_down(60)
    task = asyncio.create_task(limiter.enter())
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    limiter._free_at = 0.0
    async with asyncio.timeout(1):  # its slot is free again
        await limiter.enter()


async def test_closing_reaches_the_provider() -> None:
    inner = Counting()
    await OnAccount(inner, Account("openai")).aclose()
    assert inner.closed


async def test_stall_counts_from_the_end_of_the_queue() -> None:
    """A call that waits for another one's end makes no progress, and isn't to blame for it."""
    account = Account("queue", max_concurrency=1)
    free = asyncio.Event()

    async def slow(call: Call) -> str:
        await free.wait()
        return "first"

    async def stuck(call: Call) -> str:
        await asyncio.Event().wait()
        return "never"

    def asked(function: Any) -> Any:
        call = Call([], "pm", 0, "opening", deadline_s=20)
        provider = OnAccount(FunctionProvider(function), account)
        return complete_bounded(provider, call, lambda chars: None, stall_s=0.05)

    with pytest.raises(CallError, match=r"no progress for 0\.05 s"):
        await asked(stuck)
    holder = OnAccount(FunctionProvider(slow), account)
    call = Call([], "rv", 0, "opening", deadline_s=20)
    first = asyncio.create_task(complete_bounded(holder, call, lambda chars: None))
    await asyncio.sleep(0)
    waiting = asyncio.create_task(asked(stuck))
    await asyncio.sleep(0.15)  # three times the stall
    assert not waiting.done()
    free.set()
    assert (await first).text == "first"
    with pytest.raises(CallError, match=r"no progress for 0\.05 s"):
        await waiting
