"""The one background loop: a daemon thread that every debate of this process runs on.

Owns the thread, its event loop, and their end. Must not know kernels, widgets or terminals, nor
what a debate is.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import os
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

from rt_notebook.engine.job import GRACE_S, Job

__all__ = ["GRACE_S", "Job", "Runner", "runner"]

logger = logging.getLogger(__name__)

T = TypeVar("T")

# What is left on a loop that is being closed gets this long to end.
_CLOSE_S: Final = 0.5


class Runner:
    """The engine thread: started when first needed, one for the whole process.

    Use `runner()`; a second instance is for tests.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._jobs: set[Job[Any]] = set()
        self._registered = False

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The engine's event loop; starts the thread if there is none, or none any more."""
        with self._lock:
            if self._loop is None or self._thread is None or not self._thread.is_alive():
                self._loop = self._start()
            return self._loop

    def new_job(
        self,
        main: Callable[[Job[T]], Coroutine[Any, Any, T]],
        *,
        ui_loop: asyncio.AbstractEventLoop | None = None,
        direct: bool = False,
    ) -> Job[T]:
        """Return a job that begins with `job.start()`; see `Job` for the arguments."""
        job = Job(self.loop, main, ui_loop=ui_loop, direct=direct, on_end=self._jobs.discard)
        self._jobs.add(job)
        return job

    def submit(
        self,
        main: Callable[[Job[T]], Coroutine[Any, Any, T]],
        *,
        ui_loop: asyncio.AbstractEventLoop | None = None,
        direct: bool = False,
    ) -> Job[T]:
        """Run `main(job)` on the engine's loop and return its job; see `Job` for the arguments."""
        return self.new_job(main, ui_loop=ui_loop, direct=direct).start()

    def run_blocking(
        self, main: Callable[[Job[T]], Coroutine[Any, Any, T]], *, grace: float = GRACE_S
    ) -> T:
        """Run `main(job)` and return its result, blocking this thread; see `Job.wait_blocking`."""
        return self.submit(main).wait_blocking(grace)

    def stop(self, timeout: float = GRACE_S) -> None:
        """Cancel every job, give their clean-up `timeout` seconds in all, and end the thread.

        A job that doesn't end in time keeps the (daemon) thread. Using the runner again starts a
        new thread.
        """
        deadline = time.monotonic() + timeout
        with self._lock:
            loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
            jobs, self._jobs = list(self._jobs), set()
        if loop is None or thread is None or not thread.is_alive():
            return
        for job in jobs:
            if not job.cancelling:  # a second cancellation would break a clean-up under way
                job.cancel()
        for job in jobs:
            job.finished.wait(max(0.0, deadline - time.monotonic()))
        if all(job.finished.is_set() for job in jobs):
            loop.call_soon_threadsafe(loop.stop)
            if thread is not threading.current_thread():
                thread.join(max(_CLOSE_S, deadline - time.monotonic()))

    def _start(self) -> asyncio.AbstractEventLoop:
        lost, self._jobs = self._jobs, set()
        for job in lost:  # only when the thread died under them
            job.lose()
        loop = asyncio.new_event_loop()
        # A daemon: a stuck provider must not keep the interpreter from exiting.
        self._thread = threading.Thread(
            target=_serve, args=(loop,), name="roundtable-engine", daemon=True
        )
        self._thread.start()
        if not self._registered:
            self._registered = True
            atexit.register(self.stop)
        return loop


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    """Run the loop until somebody stops it; a task that calls `sys.exit` ends only itself."""
    asyncio.set_event_loop(loop)
    while True:
        try:
            loop.run_forever()
            break
        except (SystemExit, KeyboardInterrupt):
            # asyncio hands these to the task's waiter and lets them through here as well.
            logger.debug("a task tried to end the engine thread", exc_info=True)
    try:
        _end_tasks(loop)
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()


def _end_tasks(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel what jobs left behind, so that nothing pending is destroyed with the loop."""
    tasks = asyncio.all_tasks(loop)
    if not tasks:
        return
    for task in tasks:
        task.cancel()
    done, _ = loop.run_until_complete(asyncio.wait(tasks, timeout=_CLOSE_S))
    for task in done:
        if not task.cancelled():
            task.exception()  # seen: asyncio need not complain about it


_runner = Runner()
# The loops of forked-off parents: closing one would disturb the parent's selector.
_parents: list[Runner] = []


def runner() -> Runner:
    """Return the process's runner; a forked child gets its own."""
    return _runner


def _after_fork() -> None:
    global _runner
    _parents.append(_runner)
    _runner = Runner()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
