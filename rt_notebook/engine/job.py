"""One coroutine on the engine's loop, and the bridge between it and the thread that waits for it.

Owns what a cancellation does to a job, and how work and results cross threads. Must not know
kernels, widgets or terminals, nor what a debate is: a job is any coroutine.

    engine thread                                      waiting thread
      job.post(fn, *args)  -- queue and wake-up -->      job.drain() runs fn(*args)
      fn(*args)            <-- call_soon_threadsafe --   job.call(fn, *args)
"""

from __future__ import annotations

import asyncio
import collections
import concurrent.futures
import contextlib
import logging
import threading
from collections.abc import Callable, Coroutine
from typing import Any, Final, Generic, TypeVar, TypeVarTuple

logger = logging.getLogger(__name__)

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

GRACE_S: Final = 3.0
"""How long a cancelled job gets for its clean-up before its waiter goes on without it."""

# Bounds a blocking wait, so that Ctrl-C is seen where a lock can't be interrupted (Windows).
_TICK_S: Final = 0.1

_OWN_THREAD: Final = "a debate can't be waited for on the thread that runs it; await it instead"


class Job(Generic[T]):
    """One coroutine on the engine's loop, seen from any thread.

    Made by `Runner.submit` (runs at once) or `Runner.new_job` (runs when `start` is called).

    Args:
        loop: the engine's loop.
        main: called with this job on the engine thread; what it returns is the job's result.
        ui_loop: the loop that is to run posted functions; None: whoever waits runs them.
        direct: run posted functions on the engine thread at once, because the other thread may be
            blocked for long.
        on_end: called on the engine thread when the job has ended, before anybody hears of it.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        main: Callable[[Job[T]], Coroutine[Any, Any, T]],
        *,
        ui_loop: asyncio.AbstractEventLoop | None,
        direct: bool,
        on_end: Callable[[Job[T]], object],
    ) -> None:
        self.loop: Final = loop
        """The loop the coroutine runs on."""
        self.finished: Final = threading.Event()
        """Set once the job has ended and its callbacks were handed over."""
        self.wake: Final = threading.Event()
        """Set whenever the waiting thread has something to do: drain, or look at `finished`."""
        self.direct: Final = direct
        """Whether posted functions run on the engine thread at once."""
        self._main = main
        self._ui_loop = ui_loop
        self._on_end = on_end
        self._lock = threading.RLock()
        self._started = self._cancelling = self._muted = self._drain_due = False
        self._task: asyncio.Task[T] | None = None
        self._callbacks: list[Callable[[Job[T]], object]] = []
        self._queue: collections.deque[tuple[Callable[..., object], tuple[Any, ...]]] = (
            collections.deque()
        )
        self._outcome: concurrent.futures.Future[T] = concurrent.futures.Future()
        # What waiters await. It is marked as running, so cancelling an await of it never cancels
        # it for the others, and it never holds an exception that somebody would have to retrieve.
        self._settled: concurrent.futures.Future[None] = concurrent.futures.Future()
        self._settled.set_running_or_notify_cancel()

    # ---- life ----------------------------------------------------------------------------------

    def start(self) -> Job[T]:
        """Begin, if that hasn't happened yet; a job cancelled before stays cancelled."""
        with self._lock:
            if self._started or self._cancelling:
                return self
            self._started = True
        self.call(self._begin)
        return self

    def cancel(self) -> None:
        """Cancel the coroutine, from any thread; one that never began ends at once."""
        with self._lock:
            self._cancelling = True
            if self.done():
                return
            if not self._started:
                self._started = True
                self._end(None)
                return
        self.call(self._cancel_task)

    @property
    def cancelling(self) -> bool:
        """Whether `cancel` was called."""
        return self._cancelling

    def done(self) -> bool:
        """Whether there is a result, an error or a cancellation."""
        return self._outcome.done()

    def result(self, timeout: float | None = None) -> T:
        """Return what the coroutine returned, waiting for at most `timeout` seconds.

        Raises:
            TimeoutError: the job hasn't ended in time.
            concurrent.futures.CancelledError: it was cancelled.
            RuntimeError: called on the engine thread before the end: it would wait for itself.
            BaseException: what the coroutine raised.
        """
        if not self.done() and timeout != 0 and self._on_engine_thread():
            raise RuntimeError(_OWN_THREAD)
        return self._outcome.result(timeout)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Return what the coroutine raised (a `CancelledError` too), or None; waits like `result`.

        Raises:
            TimeoutError: the job hasn't ended in time.
        """
        return self._outcome.exception(timeout)

    def on_done(self, callback: Callable[[Job[T]], object]) -> None:
        """Post `callback(job)` when the job has ended; at once if it has."""
        with self._lock:
            if not self.done():
                self._callbacks.append(callback)
                return
        self.post(callback, self)

    def _begin(self) -> None:
        self._task = self.loop.create_task(self._run_main())
        self._task.add_done_callback(self._end)
        if self._cancelling:
            self._task.cancel()

    async def _run_main(self) -> T:
        # In a coroutine, so that an error in making the other one settles the job as well.
        return await self._main(self)

    def _cancel_task(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _end(self, task: asyncio.Task[T] | None) -> None:
        """Settle, in this order: the result, the callbacks, then whoever waits."""
        self._on_end(self)
        with self._lock:
            if task is None or task.cancelled():
                self._outcome.set_exception(concurrent.futures.CancelledError())
            elif (error := task.exception()) is not None:
                self._outcome.set_exception(error)
            else:
                self._outcome.set_result(task.result())
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            self.post(callback, self)
        self.finished.set()
        self.wake.set()
        self._settled.set_result(None)

    def lose(self) -> None:
        """Settle a job whose thread has died, so that nobody waits for it; for the runner."""
        if not self.done():
            self._outcome.set_exception(RuntimeError("the engine thread has died"))
            self.finished.set()
            self.wake.set()
            self._settled.set_result(None)

    # ---- between the threads -------------------------------------------------------------------

    def call(self, fn: Callable[[*Ts], object], *args: *Ts) -> None:
        """Run `fn(*args)` on the engine's loop, from any thread; nothing once that is closed."""
        # Closed: the job has ended, so there is nothing left that the call could matter to.
        with contextlib.suppress(RuntimeError):
            self.loop.call_soon_threadsafe(fn, *args)

    def post(self, fn: Callable[[*Ts], object], *args: *Ts) -> None:
        """Have `fn(*args)` run on the waiting thread (`direct`: on the engine's, at once)."""
        if self._muted:
            return
        if self.direct:
            if self._on_engine_thread():
                self._run_posted(fn, args)
            else:
                self.call(self._run_posted, fn, args)
            return
        self._queue.append((fn, args))
        self.wake.set()
        if self._ui_loop is not None and not self._drain_due:
            self._drain_due = True
            # A closed loop: the waiter has left, the queue waits for whoever drains next.
            with contextlib.suppress(RuntimeError):
                self._ui_loop.call_soon_threadsafe(self.drain)

    def drain(self) -> None:
        """Run what was posted, on this thread, in order; an error in one is logged."""
        self._drain_due = False  # before looking: a post from now on schedules a new drain
        while self._queue:
            try:
                fn, args = self._queue.popleft()
            except IndexError:  # another thread drained at the same time
                return
            self._run_posted(fn, args)

    def mute(self) -> None:
        """Drop what is posted from now on: nobody is there to see it."""
        self._muted = True
        self._queue.clear()

    def _run_posted(self, fn: Callable[..., object], args: tuple[Any, ...]) -> None:
        try:
            fn(*args)
        except Exception:  # an edge: a broken view must not end the debate it shows
            logger.exception("a function posted by a debate failed")

    def _on_engine_thread(self) -> bool:
        try:
            return asyncio.get_running_loop() is self.loop
        except RuntimeError:
            return False

    # ---- waiting -------------------------------------------------------------------------------

    async def wait(self, grace: float = GRACE_S) -> T:
        """Return the result, from any loop; being cancelled meanwhile cancels the job.

        The job then gets `grace` seconds for its clean-up, and the `CancelledError` goes on, which
        IPython shows as one line. Posted functions run on this loop if no other was named.

        Raises:
            asyncio.CancelledError: this await was cancelled.
            concurrent.futures.CancelledError: somebody else cancelled the job.
            BaseException: what the coroutine raised.
        """
        self._adopt(asyncio.get_running_loop())
        try:
            await asyncio.wrap_future(self._settled)
        except asyncio.CancelledError as error:
            render_in_one_line(error, "Interrupted: the debate was cancelled.")
            await self.abort(grace)
            raise
        self.drain()
        return self.result(0)

    async def join(self) -> T:
        """Return the result, from any loop; being cancelled meanwhile leaves the job alone.

        Raises:
            asyncio.CancelledError: this await was cancelled.
            concurrent.futures.CancelledError: the job was cancelled.
            BaseException: what the coroutine raised.
        """
        await asyncio.wrap_future(self._settled)
        if asyncio.get_running_loop() is self._ui_loop:
            self.drain()
        return self.result(0)

    async def abort(self, grace: float = GRACE_S) -> None:
        """Cancel, wait for the clean-up for at most `grace` seconds, and drain."""
        self.cancel()
        settled = asyncio.wrap_future(self._settled)
        try:
            await asyncio.wait([settled], timeout=grace)
        finally:
            settled.cancel()
            self.drain()

    def wait_blocking(self, grace: float = GRACE_S) -> T:
        """Return the result, blocking this thread; Ctrl-C cancels the job as in `wait`.

        Raises:
            KeyboardInterrupt: Ctrl-C, after the clean-up or `grace` seconds.
            RuntimeError: called on the engine thread, which would wait for itself.
        """
        if self._on_engine_thread():
            raise RuntimeError(_OWN_THREAD)
        try:
            while not self.finished.is_set():
                self.wake.wait(_TICK_S)
                self.wake.clear()
                self.drain()
        except KeyboardInterrupt:
            self.cancel()
            self.finished.wait(grace)
            self.drain()
            raise
        self.drain()
        return self.result()

    def _adopt(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._ui_loop is None and not self.direct:
            self._ui_loop = loop
            self.drain()


def render_in_one_line(error: BaseException, text: str) -> None:
    """Let IPython show this very exception as `text`; its type must stay what asyncio expects."""
    error._render_traceback_ = lambda: [text]  # type: ignore[attr-defined]
