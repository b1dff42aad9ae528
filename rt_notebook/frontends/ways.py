"""The ways to run a `DebateCell` from Python: awaited, blocking, in the background."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any, Final

from rt_notebook.analysis.result import Result
from rt_notebook.engine.runner import runner
from rt_notebook.frontends.handle import Handle
from rt_notebook.frontends.launch import DebateCell
from rt_notebook.frontends.place import Place

STORED_WITHIN_S: Final = 5.0
"""How long a background start waits for the debate's first event before it returns anyway."""


async def run_awaited(cell: DebateCell, place: Place) -> Result:
    """Run a debate: in IPython on the runner's loop, elsewhere on the caller's.

    Terminal IPython abandons its loop at Ctrl-C, a debate that runs there too.
    """
    if place.shell is not None:
        from rt_notebook.frontends.cell_runner import run_job_async

        await run_job_async(cell)
    else:
        await run_here(cell)
    return _result_of(cell)


async def run_here(cell: DebateCell) -> None:
    """Run a debate on the caller's own loop."""
    job = LocalJob()
    cell.start_view(job)  # type: ignore[arg-type]  # of a job, a view outside a kernel uses `post` only
    try:
        await cell.main(job)  # type: ignore[arg-type]
    finally:
        cell.finish(job)  # type: ignore[arg-type]


class LocalJob:
    """Stands for a `Job` where debate and view share one thread: what is posted runs at once."""

    def post(self, fn: Callable[..., object], *args: Any) -> None:
        """Run `fn(*args)`."""
        fn(*args)

    def done(self) -> bool:
        """Return True: the view is finished only behind the debate's end."""
        return True


def run_blocking(cell: DebateCell, place: Place) -> Result:
    """Run a debate on the runner's loop and block until it ends."""
    if place.kernel is not None:
        from rt_notebook.frontends.cell_runner import run_job_sync

        run_job_sync(cell)
        return _result_of(cell)
    job = runner().new_job(cell.main)
    cell.start_view(job)
    try:
        job.start().wait_blocking()
    finally:
        cell.finish(job)
    return _result_of(cell)


def start_background(cell: DebateCell, place: Place) -> Handle:
    """Start a debate on the runner's loop; its result is shown where its view is.

    Returns once the debate is in the store: the verbs by id find it from then on.
    """
    job = runner().new_job(cell.main, direct=True)
    stored = threading.Event()
    cell.run.listeners.append(lambda event, state: stored.set())
    if place.kernel is not None:
        from rt_notebook.frontends.cell_runner import begin_in_background

        begin_in_background(cell, job)
    else:
        cell.start_view(job)
        job.on_done(cell.finish)
        job.start()
    job.on_done(lambda ended: stored.set())
    if _running_loop() is not runner().loop:  # on its own loop a debate begins only after this
        stored.wait(STORED_WITHIN_S)
    return Handle(cell.run, job)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _result_of(cell: DebateCell) -> Result:
    return cell.result if cell.result is not None else cell.run.result()
