"""Runs one debate in one cell: the cell waits, the debate goes on on the engine thread.

Owns the order of things while a cell runs (pump, first display, start, wait, end) and what an
interrupt does to it. Must not know options, widgets or debates: those are behind `CellJob`, which
whoever calls `install` makes from a cell's line and body.

    await run_job_async(cell)    on the kernel's loop (a cell that is awaited)
    run_job_sync(cell)           blocks (below another magic, in `run_cell`, in a function)

Both go the same way: the pump is switched on; `cell.start_view(job)`; the job starts; the cell
waits; `cell.finish(job)`, whatever happened; the pump is switched off; an error of the debate is
raised. With `cell.background` the cell waits only until `cell.seen()`; the rest happens later.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import logging
import time
import weakref
from collections.abc import Callable, Coroutine, Iterable, Iterator
from typing import Any, Final, Protocol

from IPython.core.getipython import get_ipython

from rt_notebook.engine.job import Job, render_in_one_line
from rt_notebook.engine.runner import runner
from rt_notebook.frontends import cell_transform
from rt_notebook.frontends.publisher import guard_capture, remember_publisher
from rt_notebook.frontends.pump import INTERVAL_S, CommPump, on_interrupt, unstrand

logger = logging.getLogger(__name__)

INTERRUPT_GRACE_S: Final = 1.8
"""How long an interrupted cell waits for the debate's clean-up: it is over within 2 s."""

SEEN_WITHIN_S: Final = 10.0
"""How long a `--background` cell waits for its form to be seen before it returns anyway."""

RECOMMENDATION: Final = (
    "ipykernel 7.0-7.3 sometimes leaves a message unread. That is mended from here on; "
    "ipykernel 7.4 or newer (or 6.x) never does."
)
"""What to tell, once, where the kernel needed mending."""


class CellInterrupted(KeyboardInterrupt):
    """The person interrupted the cell; Run All stops, and one line is shown."""

    def _render_traceback_(self) -> list[str]:
        return [f"KeyboardInterrupt: {self}"]


# Front ends show and compare this name; to them it is any interrupted cell.
CellInterrupted.__name__ = "KeyboardInterrupt"


class CellJob(Protocol):
    """One debate as its cell sees it. Nothing has been called or shown when it is made.

    "Main thread" is the thread the cell runs on. In the background, `main` posts straight to the
    engine thread (`job.direct`), because the next cell may block the main one.
    """

    @property
    def background(self) -> bool:
        """Whether the cell returns as soon as the form was seen. Where nobody can: False."""
        ...

    def start_view(self, job: Job[Any]) -> None:
        """Make the first display. Main thread, in the cell's own output, before `main` runs.

        A handler of the view may use `job.call` from now on, from any thread.
        """
        ...

    def main(self, job: Job[Any]) -> Coroutine[Any, Any, Any]:
        """Return the debate's coroutine. Engine thread; it shows things by `job.post(fn, *args)`.

        It is cancelled on interrupt; its clean-up should be over within `INTERRUPT_GRACE_S`.
        """
        ...

    def seen(self) -> bool:
        """Return whether a front end shows the form, or none is needed. Asked in the background."""
        ...

    def finish(self, job: Job[Any]) -> None:
        """Show the static result and set the variable. Main thread, exactly once, the last call.

        In the background it is called on the kernel's loop, or where there is none on the engine
        thread. `job.done()` is False if the clean-up took too long; what is posted from then on is
        dropped. An error raised here reaches the cell unless another one is on its way.
        """
        ...

    def interruption(self) -> str:
        """Return the one line an interrupted cell ends with: what is kept, how to resume.

        Asked after `finish`; in the background, before it.
        """
        ...


Prepare = Callable[[str, str], CellJob | None]
"""Makes a cell's line and body into its job; None: there is nothing to run (help, an estimate).

Runs on the main thread, in the cell. What it raises is the cell's error.
"""

_prepare: weakref.WeakKeyDictionary[Any, Prepare] = weakref.WeakKeyDictionary()


def install(ip: Any, prepare: Prepare) -> tuple[str, ...]:
    """Make `%%roundtable` cells of this shell run through `prepare`; again is harmless.

    Returns:
        What the person should be told about the kernel, if anything.
    """
    kernel = getattr(ip, "kernel", None)
    remember_publisher(ip)
    mended = unstrand(kernel)
    _prepare[ip] = prepare
    cell_transform.install(ip)
    note = CommPump.of(kernel).note
    return ((RECOMMENDATION,) if mended else ()) + ((note,) if note else ())


def uninstall(ip: Any) -> None:
    """Undo `install`; debates that run go on."""
    cell_transform.remove(ip)
    _prepare.pop(ip, None)


async def run_cell_async(line: str, body: str, outer: Iterable[tuple[str, str]] = ()) -> None:
    """Run a cell's debate; what the input transformer calls.

    Args:
        line: what stands behind `%%roundtable`.
        body: what stands below it.
        outer: the stacked `%%time` and `%%capture` with their lines, outermost first.

    Raises:
        CellInterrupted: the cell was interrupted; the debate is cancelled and finished.
    """
    ip = get_ipython()
    with cell_transform.outer_magics(ip, outer):
        cell = _prepared(ip, line, body)
        if cell is None:
            return
        try:
            await run_job_async(cell)
        except (asyncio.CancelledError, concurrent.futures.CancelledError):
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                task.uncancel()  # it ends here, as a KeyboardInterrupt
            raise CellInterrupted(cell.interruption()) from None


def run_cell_sync(line: str, body: str) -> None:
    """Run a cell's debate, blocking; what the magic calls where `await` can't be.

    Raises:
        CellInterrupted: the cell was interrupted; the debate is cancelled and finished.
    """
    cell = _prepared(get_ipython(), line, body)
    if cell is not None:
        run_job_sync(cell)


def _prepared(ip: Any, line: str, body: str) -> CellJob | None:
    prepare = _prepare.get(ip)
    if prepare is None:
        raise RuntimeError("rt_notebook isn't loaded; run `%load_ext rt_notebook` first")
    return prepare(line, body)


async def run_job_async(cell: CellJob) -> None:
    """Run a debate in the cell that awaits this; see the module's docstring.

    Raises:
        asyncio.CancelledError: the await was cancelled (an interrupt, a timeout): so was the
            debate. IPython shows it as `cell.interruption()`.
        concurrent.futures.CancelledError: somebody else cancelled the debate.
    """
    try:
        await _run_async(cell)
    except (asyncio.CancelledError, concurrent.futures.CancelledError) as error:
        render_in_one_line(error, cell.interruption())
        raise


async def _run_async(cell: CellJob) -> None:
    ip, kernel = _shell()
    loop = asyncio.get_running_loop()
    job = runner().new_job(cell.main, ui_loop=loop, direct=cell.background)
    pump = CommPump.of(kernel)
    with _interrupt_cancels_task(kernel):
        if not cell.background:
            async with pump:
                with _finishing(cell, job):
                    _show(ip, cell, job)
                    await job.wait(INTERRUPT_GRACE_S)
            return
        _finish_later(cell, job, pump, loop)
        try:
            _show(ip, cell, job)
            await _until_seen(cell, job)
        except BaseException:
            await job.abort(INTERRUPT_GRACE_S)
            raise


def run_job_sync(cell: CellJob) -> None:
    """Run a debate in the cell that called this, blocking; see the module's docstring.

    Raises:
        CellInterrupted: it was interrupted: so was the debate.
    """
    try:
        _run_sync(cell)
    except (KeyboardInterrupt, concurrent.futures.CancelledError):
        raise CellInterrupted(cell.interruption()) from None


def _run_sync(cell: CellJob) -> None:
    ip, kernel = _shell()
    job = runner().new_job(cell.main, direct=cell.background)
    pump = CommPump.of(kernel)
    if not cell.background:
        with _finishing(cell, job, INTERRUPT_GRACE_S):
            _show(ip, cell, job)
            pump.wait_sync(job)
            job.result(0)
        return
    _finish_later(cell, job, pump, _running_loop())
    try:
        _show(ip, cell, job)
        pump.wait_sync(job, until=cell.seen, timeout=SEEN_WITHIN_S)
    except BaseException:
        job.cancel()
        job.finished.wait(INTERRUPT_GRACE_S)
        raise


def begin_in_background(cell: CellJob, job: Job[Any]) -> None:
    """Show a debate's view in this cell and start its (direct) job; the cell goes on at once."""
    ip, kernel = _shell()
    _finish_later(cell, job, CommPump.of(kernel), _running_loop())
    try:
        _show(ip, cell, job)
    except BaseException:
        job.cancel()  # ends it, and so gives the pump back
        raise


def _shell() -> tuple[Any, Any]:
    ip = get_ipython()
    return ip, getattr(ip, "kernel", None)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _show(ip: Any, cell: CellJob, job: Job[Any]) -> None:
    if ip is not None:
        guard_capture(ip)
        # From Python alone, nobody has loaded the extension.
        if unstrand(getattr(ip, "kernel", None)):
            print(RECOMMENDATION)
    cell.start_view(job)
    job.start()


@contextlib.contextmanager
def _finishing(cell: CellJob, job: Job[Any], grace: float = 0.0) -> Iterator[None]:
    """Call `cell.finish` at the end, after cancelling and at most `grace` seconds on an error."""
    try:
        yield
    except BaseException:
        job.cancel()  # nothing to one that has ended; one that never began is settled by it
        job.finished.wait(grace)
        job.drain()
        _finish_quietly(cell, job)  # the error under way is the one to show
        raise
    job.drain()
    try:
        cell.finish(job)
    finally:
        job.mute()


def _finish_quietly(cell: CellJob, job: Job[Any]) -> None:
    try:
        cell.finish(job)
    except Exception:  # an edge: nobody is left who could be told
        logger.exception("the result of a debate can't be shown")
    finally:
        job.mute()


def _finish_later(
    cell: CellJob, job: Job[Any], pump: CommPump, loop: asyncio.AbstractEventLoop | None
) -> None:
    """Hold the pump for a background job, and finish when it ends, on the kernel's loop."""
    if loop is None or _shell()[1] is None:  # a terminal: no loop turns between two cells
        job.on_done(lambda ended: _finish_quietly(cell, ended))
        return
    pump.acquire()

    def end() -> None:
        _finish_quietly(cell, job)
        pump.release()

    def hand_over(_: Job[Any]) -> None:
        with contextlib.suppress(RuntimeError):  # the kernel's loop is closed: it is going down
            loop.call_soon_threadsafe(end)

    job.on_done(hand_over)


async def _until_seen(cell: CellJob, job: Job[Any]) -> None:
    """Stay until the form has been seen: the next queued cell may block the main thread."""
    deadline = time.monotonic() + SEEN_WITHIN_S
    while not (cell.seen() or job.done() or time.monotonic() > deadline):  # noqa: ASYNC110
        await asyncio.sleep(INTERVAL_S)  # `seen` may turn true on any thread


@contextlib.contextmanager
def _interrupt_cancels_task(kernel: Any) -> Iterator[None]:
    """Ctrl-C cancels the awaiting task. A kernel does that by itself; a terminal abandons it."""
    task = asyncio.current_task()
    if kernel is not None or task is None:
        yield
        return
    with on_interrupt(lambda: task.get_loop().call_soon_threadsafe(task.cancel)):
        yield
