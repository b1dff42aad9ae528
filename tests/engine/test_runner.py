"""Jobs share one engine thread, which outlives what they do and ends with the process."""

from __future__ import annotations

import asyncio
import concurrent.futures
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Coroutine, Iterator
from typing import Any

import pytest

from rt_notebook.engine.runner import Job, Runner, runner
from tests.engine.jobs import ENGINE, Sleeper, returning


@pytest.fixture
def own() -> Iterator[Runner]:
    """Gives a runner of the test's own, and sees that its thread ends."""
    made = Runner()
    yield made
    made.stop()


def _in_subprocess(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", code],
        capture_output=True,
        encoding="utf-8",
        timeout=30,
        check=False,
    )


def test_job_runs_on_engine_thread(own: Runner) -> None:
    async def main(job: Job[str]) -> str:
        assert asyncio.get_running_loop() is job.loop
        return threading.current_thread().name

    assert own.submit(main).result(5) == ENGINE


def test_all_jobs_share_one_loop(own: Runner) -> None:
    jobs = [own.submit(returning(number)) for number in range(3)]
    assert [job.result(5) for job in jobs] == [0, 1, 2]
    assert {id(job.loop) for job in jobs} == {id(own.loop)}


def test_process_has_one_runner() -> None:
    assert runner() is runner()


def test_error_reaches_whoever_asks(own: Runner) -> None:
    async def main(job: Job[None]) -> None:
        raise ValueError("no such seat")

    job = own.submit(main)
    with pytest.raises(ValueError, match="no such seat"):
        job.result(5)
    assert isinstance(job.exception(), ValueError)


def test_error_in_making_coroutine_settles_job(own: Runner) -> None:
    def main(job: Job[None]) -> Coroutine[Any, Any, None]:
        raise ValueError("bad brief")

    with pytest.raises(ValueError, match="bad brief"):
        own.submit(main).result(5)


def test_result_times_out_while_running(own: Runner) -> None:
    job = own.submit(Sleeper().main)
    with pytest.raises(TimeoutError, match=r"^$"):
        job.result(0.01)
    assert not job.done()


def test_unstarted_job_cancelled_never_runs(own: Runner) -> None:
    sleeper = Sleeper()
    job = own.new_job(sleeper.main)
    job.cancel()
    assert job.start().finished.is_set()
    assert not sleeper.begun.is_set()
    with pytest.raises(concurrent.futures.CancelledError, match=r"^$"):
        job.result(0)


def test_sys_exit_in_job_spares_engine(own: Runner) -> None:
    async def main(job: Job[None]) -> None:
        sys.exit(3)

    loop = own.loop
    with pytest.raises(SystemExit, match="3"):
        own.submit(main).result(5)
    assert own.submit(returning(1)).result(5) == 1
    assert own.loop is loop


# ---- blocking ----------------------------------------------------------------------------------


def test_interrupt_cancels_blocking_run(own: Runner) -> None:
    sleeper = Sleeper()

    async def main(job: Job[None]) -> None:
        job.loop.call_later(0.05, signal.raise_signal, signal.SIGINT)
        await sleeper.main(job)

    # pytest's own handling of Ctrl-C is the default one: KeyboardInterrupt in the main thread.
    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        own.run_blocking(main)
    assert sleeper.cleaned.is_set()


def test_blocking_on_engine_thread_is_refused(own: Runner) -> None:
    async def main(job: Job[None]) -> None:
        own.run_blocking(returning(1))

    with pytest.raises(RuntimeError, match="on the thread that runs it"):
        own.run_blocking(main)


# ---- the end -----------------------------------------------------------------------------------


def test_stop_cancels_and_next_use_restarts(own: Runner) -> None:
    sleeper = Sleeper(clean_up_s=0.05)
    job = own.submit(sleeper.main)
    assert sleeper.begun.wait(5)
    own.stop()
    assert job.finished.is_set()
    assert sleeper.cleaned.is_set()
    assert job.loop.is_closed()
    assert own.submit(returning(2)).result(5) == 2


def test_stop_is_bounded_for_stubborn_job(own: Runner) -> None:
    begun, release = threading.Event(), threading.Event()

    async def main(job: Job[None]) -> None:
        begun.set()
        while not release.is_set():
            try:
                await asyncio.sleep(0.05)
            except asyncio.CancelledError:
                continue

    job = own.submit(main)
    assert begun.wait(5)
    since = time.monotonic()
    own.stop(timeout=0.2)
    assert time.monotonic() - since < 2
    assert not job.done()
    release.set()
    assert job.finished.wait(5)
    job.loop.call_soon_threadsafe(job.loop.stop)


def test_dead_thread_is_replaced(own: Runner) -> None:
    job = own.submit(Sleeper().main)
    old = job.loop
    old.call_soon_threadsafe(old.stop)
    while not old.is_closed():
        time.sleep(0.01)
    assert job.finished.wait(5)  # its task was cancelled with the loop
    assert own.submit(returning(3)).result(5) == 3
    assert own.loop is not old


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_forked_child_gets_own_runner() -> None:
    done = _in_subprocess(
        "import os, warnings\n"
        # Python 3.12+ warns about what is tested here: forking beside a thread.
        "warnings.filterwarnings('ignore', category=DeprecationWarning)\n"
        "from rt_notebook.engine.runner import runner\n"
        "async def main(job): return os.getpid()\n"
        "assert runner().run_blocking(main) == os.getpid()\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    os._exit(runner().run_blocking(main) != os.getpid())\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0\n"
        "assert runner().run_blocking(main) == os.getpid()\n"
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_exit_cancels_running_job_without_noise() -> None:
    done = _in_subprocess(
        "import asyncio, threading\n"
        "from rt_notebook.engine.runner import runner\n"
        "begun = threading.Event()\n"
        "async def main(job):\n"
        "    begun.set()\n"
        "    left = asyncio.create_task(asyncio.sleep(60))\n"
        "    try: await asyncio.sleep(60)\n"
        "    finally:\n"
        "        await asyncio.sleep(0.05)\n"
        "        print('cleaned')\n"
        "runner().submit(main)\n"
        "begun.wait()\n"
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "cleaned\n", "")


def test_unwatched_failure_makes_no_noise(own: Runner, caplog: pytest.LogCaptureFixture) -> None:
    async def main(job: Job[None]) -> None:
        raise ValueError("seen by nobody")

    own.submit(main).finished.wait(5)
    gc.collect()
    own.stop()
    assert caplog.text == ""
