"""Bounds around any provider: retries' waits, watching a call, an account's limiter."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest

from rt_notebook.domain.usage import Usage
from rt_notebook.errors import CALL_ERROR_KINDS, RETRYABLE_KINDS, CallError
from rt_notebook.providers.base import Call, Completion, Message, Progress
from rt_notebook.providers.function import FunctionProvider
from rt_notebook.providers.policies import (
    Limited,
    Limiter,
    complete_bounded,
    retry_delay,
)
from tests.engine.clocks import play


def call(deadline_s: float = 60.0) -> Call:
    return Call((Message("user", "?"),), "a", 0, "opening", deadline_s=deadline_s)


def ignore(chars: int) -> None:
    """Nobody watches."""


@pytest.mark.parametrize("kind", sorted(CALL_ERROR_KINDS))
def test_only_passing_faults_wait(kind: str) -> None:
    delay = retry_delay(CallError("x", kind=kind), 1, 2, 300.0)
    assert (delay is not None) == (kind in RETRYABLE_KINDS)


def test_jitter_is_full_and_its_ceiling_doubles() -> None:
    error = CallError("x", kind="overloaded")
    for attempt, ceiling in ((1, 1.0), (2, 2.0), (3, 4.0), (6, 30.0), (9, 30.0)):
        delays = [retry_delay(error, attempt, 99, 300.0) for _ in range(400)]
        known = [delay for delay in delays if delay is not None]
        assert len(known) == 400
        assert 0.0 <= min(known) < 0.1 * ceiling
        assert 0.9 * ceiling < max(known) <= ceiling


def test_asked_wait_is_least() -> None:
    error = CallError("x", kind="rate_limit", retry_after_s=20.0)
    assert {retry_delay(error, 1, 2, 300.0) for _ in range(20)} == {20.0}


@pytest.mark.parametrize(
    "asked",
    ["soon", -1.0, math.nan, math.inf, 1e300, [3], pytest.param(10**400, id="no float holds it")],
)
def test_wait_that_cannot_be_is_not_asked(asked: Any) -> None:
    assert CallError("x", kind="rate_limit", retry_after_s=asked).retry_after_s is None


def test_wait_after_very_many_tries_is_bounded() -> None:
    error = CallError("x", kind="overloaded")
    delay = retry_delay(error, 5_000, 10_000, 300.0)
    assert delay is not None
    assert 0.0 <= delay <= 30.0


@pytest.mark.parametrize(("attempt", "left"), [(3, 300.0), (1, 20.0), (1, 0.0)])
def test_no_further_try_is_made(attempt: int, left: float) -> None:
    error = CallError("x", kind="rate_limit", retry_after_s=20.0)
    assert retry_delay(error, attempt, 2, left) is None


def test_cancelled_from_outside_stays_cancelled() -> None:
    async def main() -> None:
        async def forever(call: Call) -> str:
            await asyncio.Event().wait()
            return ""

        task = asyncio.create_task(complete_bounded(FunctionProvider(forever), call(), ignore))
        await asyncio.sleep(1)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()

    play(main())


def test_timeout_leaves_no_cancellation_behind() -> None:
    async def main() -> int:
        async def forever(call: Call) -> str:
            await asyncio.Event().wait()
            return ""

        with pytest.raises(CallError, match="no answer within 5 s") as caught:
            await complete_bounded(FunctionProvider(forever), call(5), ignore)
        assert caught.value.kind == "timeout"
        await asyncio.sleep(1)  # would raise, were the task still being cancelled
        task = asyncio.current_task()
        assert task is not None
        return task.cancelling()

    assert play(main()) == 0


def test_error_in_answer_to_timeout_is_timeout() -> None:
    async def main() -> CallError:
        async def sulking(call: Call) -> str:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                raise ValueError("how rude") from None
            return ""

        with pytest.raises(CallError, match="no answer within 5 s") as caught:
            await complete_bounded(FunctionProvider(sulking), call(5), ignore)
        return caught.value

    assert play(main()).kind == "timeout"


def test_answer_given_at_timeout_is_kept() -> None:
    async def main() -> str:
        async def late(call: Call) -> str:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                return "at last"
            return ""

        found = await complete_bounded(FunctionProvider(late), call(5), ignore)
        await asyncio.sleep(0)
        return found.text

    assert play(main()) == "at last"


def test_error_whose_text_breaks_is_named() -> None:
    class Odd(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no text")

    async def main() -> None:
        async def odd(call: Call) -> str:
            raise Odd

        with pytest.raises(CallError, match=r"^Odd$"):
            await complete_bounded(FunctionProvider(odd), call(), ignore)

    play(main())


class Told:
    """A provider that answers with a given completion."""

    def __init__(self, completion: Completion) -> None:
        self._completion = completion

    async def complete(self, call: Call, progress: Progress) -> Completion:
        return self._completion


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (Usage(prompt_tokens=3, cost=0.5), Usage(prompt_tokens=3, cost=0.5)),
        (Usage(prompt_tokens=-3, completion_tokens="7", cost=float("nan")), Usage()),  # type: ignore[arg-type]
        (Usage(cost=float("inf"), cached_tokens=2.5), Usage()),  # type: ignore[arg-type]
        ({"prompt_tokens": 3}, None),
    ],
)
def test_usage_is_numbers_or_unknown(given: Any, kept: Usage | None) -> None:
    found = play(complete_bounded(Told(Completion("x", usage=given)), call(), ignore))
    assert found.usage == kept


class Nameless:
    """A value that can't be shown."""

    def __repr__(self) -> str:
        raise ValueError("there are no words for it")


def test_tool_s_values_without_a_text_are_named_by_type() -> None:
    tool = {"name": Nameless(), "preview": 10**5_000}
    answer = Completion("x", tool_calls=[tool])
    found = play(complete_bounded(Told(answer), call(), ignore))
    assert found.tool_calls == ({"name": "Nameless", "preview": "int"},)


def test_answer_whose_facts_break_fails_the_call() -> None:
    answer = Completion("x", tool_calls=[{Nameless(): "x"}])  # type: ignore[dict-item]
    with pytest.raises(CallError, match=r"^the answer can't be read: ValueError") as caught:
        play(complete_bounded(Told(answer), call(), ignore))
    assert caught.value.kind == "protocol"


def test_time_that_nobody_took_is_dropped() -> None:
    timings: Any = {"queued": 1e300, "slept": 10**400, "thought": math.nan, "told": 5}
    found = play(complete_bounded(Told(Completion("x", timings=timings)), call(), ignore))
    assert found.timings == {"told": 5.0}


def test_half_a_character_becomes_a_mark() -> None:
    found = play(complete_bounded(Told(Completion("a\ud800 \ud83d\ude00")), call(), ignore))
    assert found.text == "a\ufffd \U0001f600"


def test_foreign_numbers_become_plain() -> None:
    import numpy as np

    usage = Usage(prompt_tokens=np.int64(7), cost=np.float64(0.25))  # type: ignore[arg-type]
    found = play(complete_bounded(Told(Completion("x", usage=usage)), call(), ignore))
    assert found.usage is not None
    assert type(found.usage.prompt_tokens) is int
    assert type(found.usage.cost) is float


def test_plain_answer_is_handed_on_as_it_is() -> None:
    given = Completion("x")
    assert play(complete_bounded(Told(given), call(), ignore)) is given


def test_limiter_bounds_calls_at_a_time() -> None:
    async def main() -> tuple[int, float]:
        running, most = 0, 0

        async def work(call: Call) -> str:
            nonlocal running, most
            running += 1
            most = max(most, running)
            await asyncio.sleep(1)
            running -= 1
            return "x"

        provider = Limited(FunctionProvider(work), Limiter(2))
        began = asyncio.get_running_loop().time()
        async with asyncio.TaskGroup() as group:
            for _ in range(5):
                group.create_task(provider.complete(call(), ignore))
        return most, asyncio.get_running_loop().time() - began

    most, seconds = play(main())
    assert most == 2
    assert seconds == pytest.approx(3.0)


def test_rate_limit_slows_whole_account() -> None:
    async def main() -> list[float]:
        began = asyncio.get_running_loop().time()
        at: list[float] = []

        async def work(call: Call) -> str:
            at.append(asyncio.get_running_loop().time() - began)
            if len(at) == 1:
                raise CallError("slow down", kind="rate_limit", retry_after_s=9.0)
            return "x"

        limiter = Limiter()
        one, other = (Limited(FunctionProvider(work), limiter) for _ in range(2))
        with pytest.raises(CallError, match="slow down"):
            await one.complete(call(), ignore)
        await other.complete(call(), ignore)
        return at

    assert play(main()) == [0.0, pytest.approx(9.0)]


def test_cancelled_wait_gives_its_slot_back() -> None:
    async def main() -> None:
        limiter = Limiter(1)
        limiter.slow_down(100)
        provider = Limited(Told(Completion("x")), limiter)
        task = asyncio.create_task(provider.complete(call(), ignore))
        await asyncio.sleep(1)
        task.cancel()
        await asyncio.wait([task])
        found = await asyncio.wait_for(provider.complete(call(), ignore), 200)
        assert found.text == "x"

    play(main())
