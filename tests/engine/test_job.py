"""What a job posts, and what waiting for it does, on whichever thread and loop that happens."""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import threading
import time
from collections.abc import Iterator

import pytest

from rt_notebook.engine.runner import Job, Runner
from tests.engine.jobs import ENGINE, Sleeper, returning


@pytest.fixture
def own() -> Iterator[Runner]:
    """Gives a runner of the test's own, and sees that its thread ends."""
    made = Runner()
    yield made
    made.stop()


# ---- posting -----------------------------------------------------------------------------------


def test_posted_functions_run_in_order_on_waiting_thread(own: Runner) -> None:
    seen: list[tuple[int, str]] = []

    async def main(job: Job[None]) -> None:
        for number in range(5):
            job.post(lambda n: seen.append((n, threading.current_thread().name)), number)
            await asyncio.sleep(0)

    own.run_blocking(main)
    here = threading.current_thread().name
    assert seen == [(number, here) for number in range(5)]


def test_direct_posts_run_on_engine_thread(own: Runner) -> None:
    seen: list[str] = []
    ended = threading.Event()

    def note() -> None:
        seen.append(threading.current_thread().name)

    async def main(job: Job[None]) -> None:
        job.post(note)
        assert seen == [ENGINE]

    job = own.submit(main, direct=True)
    job.result(5)
    job.post(note)  # from here: still on the engine's
    job.post(ended.set)
    assert ended.wait(5)
    assert seen == [ENGINE, ENGINE]


def test_failing_post_is_logged_only(own: Runner, caplog: pytest.LogCaptureFixture) -> None:
    seen: list[int] = []

    async def main(job: Job[int]) -> int:
        job.post(lambda: 1 // 0)
        job.post(seen.append, 1)
        return 7

    with caplog.at_level(logging.ERROR, logger="rt_notebook"):
        assert own.run_blocking(main) == 7
    assert seen == [1]
    assert "ZeroDivisionError" in caplog.text


def test_muted_job_drops_posts(own: Runner) -> None:
    seen: list[int] = []
    job = own.new_job(returning(0))
    job.post(seen.append, 1)
    job.mute()
    job.post(seen.append, 2)
    job.drain()
    assert seen == []
    job.start().result(5)


@pytest.mark.parametrize("direct", [False, True])
def test_done_callback_sees_result(own: Runner, direct: bool) -> None:
    seen: list[int] = []
    job = own.submit(returning(4), direct=direct)
    job.on_done(lambda ended: seen.append(ended.result(0)))
    job.finished.wait(5)
    late = threading.Event()
    job.on_done(lambda ended: late.set())
    job.drain()
    assert late.wait(5)
    assert seen == [4]


def test_call_runs_on_engine_loop(own: Runner) -> None:
    asked: list[Job[str]] = []

    async def main(job: Job[str]) -> str:
        answer: asyncio.Future[str] = job.loop.create_future()
        job.post(lambda: job.call(answer.set_result, "Wait"))
        asked.append(job)
        return await answer

    assert own.run_blocking(main) == "Wait"
    own.stop()
    asked[0].call(print, "nobody hears this")  # a closed loop is no error


# ---- waiting in another loop -------------------------------------------------------------------


@pytest.mark.asyncio
async def test_wait_runs_posts_on_waiting_loop(own: Runner) -> None:
    seen: list[str] = []

    async def main(job: Job[int]) -> int:
        await asyncio.sleep(0.01)
        job.post(lambda: seen.append(threading.current_thread().name))
        return 5

    assert await own.submit(main).wait() == 5
    assert seen == [threading.main_thread().name]


@pytest.mark.asyncio
async def test_cancelled_wait_cancels_job(own: Runner) -> None:
    sleeper = Sleeper(clean_up_s=0.05)
    job = own.submit(sleeper.main)
    waiting = asyncio.create_task(job.wait())
    await asyncio.to_thread(sleeper.begun.wait, 5)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError, match=r"^$") as caught:
        await waiting
    assert sleeper.cleaned.is_set()
    assert job.done()
    assert caught.type is asyncio.CancelledError  # what asyncio.timeout looks for on 3.11


@pytest.mark.asyncio
async def test_timeout_around_wait_works(own: Runner) -> None:
    job = own.submit(Sleeper().main)
    with pytest.raises(TimeoutError, match=r"^$"):
        async with asyncio.timeout(0.05):
            await job.wait()
    assert job.cancelling


@pytest.mark.asyncio
async def test_cancelled_wait_renders_in_one_line(own: Runner) -> None:
    job = own.submit(Sleeper().main)
    lines: list[str] = []

    async def cell() -> None:
        try:
            await job.wait()
        except asyncio.CancelledError as error:
            # What IPython does with it.
            lines.extend(error._render_traceback_())  # type: ignore[attr-defined]
            raise

    waiting = asyncio.create_task(cell())
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError, match=r"^$"):
        await waiting
    assert lines == ["Interrupted: the debate was cancelled."]


@pytest.mark.asyncio
async def test_stuck_clean_up_does_not_hold_waiter(own: Runner) -> None:
    sleeper = Sleeper(clean_up_s=1.0)
    job = own.submit(sleeper.main)
    waiting = asyncio.create_task(job.wait(grace=0.05))
    await asyncio.to_thread(sleeper.begun.wait, 5)
    since = time.monotonic()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError, match=r"^$"):
        await waiting
    assert time.monotonic() - since < 0.9
    assert not job.done()
    assert await asyncio.to_thread(sleeper.cleaned.wait, 5)


@pytest.mark.asyncio
async def test_cancelled_join_leaves_job_running(own: Runner) -> None:
    proceed = threading.Event()

    async def main(job: Job[int]) -> int:
        await asyncio.to_thread(proceed.wait, 5)
        return 6

    job = own.submit(main)
    joining = asyncio.create_task(job.join())
    await asyncio.sleep(0)
    joining.cancel()
    with pytest.raises(asyncio.CancelledError, match=r"^$"):
        await joining
    assert not job.done()
    proceed.set()
    assert [await job.join(), await job.join()] == [6, 6]


@pytest.mark.asyncio
async def test_job_cancelled_by_others_ends_wait(own: Runner) -> None:
    sleeper = Sleeper()
    job = own.submit(sleeper.main)
    await asyncio.to_thread(sleeper.begun.wait, 5)
    job.cancel()
    # Not asyncio's: nobody has cancelled the task that waits.
    for waiting in (job.wait(), job.join()):
        with pytest.raises(concurrent.futures.CancelledError, match=r"^$"):
            await waiting
