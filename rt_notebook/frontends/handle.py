"""A debate in the background, as the one who started it holds it."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Mapping
from concurrent.futures import CancelledError
from typing import Any

from rt_notebook.analysis.result import Result
from rt_notebook.arguments import checked_seconds
from rt_notebook.domain.snapshot import Snapshot
from rt_notebook.engine.job import Job
from rt_notebook.running import DebateRun


class Handle:
    """A debate in the background; `await handle` returns its result.

    Cancelling that await leaves the debate running.
    """

    def __init__(self, run: DebateRun, job: Job[Any]) -> None:
        self._run = run
        self._job = job

    @property
    def id(self) -> str:
        """The debate's id."""
        return self._run.id

    def __repr__(self) -> str:
        return f"<Handle {self.id}: {self._run.fold.status}>"

    def __await__(self) -> Generator[Any, Any, Result]:
        return self._joined().__await__()

    def done(self) -> bool:
        """Return whether the debate has ended."""
        return self._job.done()

    def result(self, timeout: float | None = None) -> Result:
        """Return the result, waiting for at most `timeout` seconds.

        Raises:
            TimeoutError: it hasn't ended by then.
            OptionError: `timeout` is no number.
            StoreError: the event log can't be written.
        """
        if timeout is not None:
            timeout = checked_seconds(timeout)
        with contextlib.suppress(CancelledError):  # interrupted: what is finished is the result
            self._job.result(timeout)
        return self._run.result()

    def state(self) -> Snapshot:
        """Return the debate's state."""
        return self._run.state()

    def answer(
        self,
        answers: Mapping[str, str] | None = None,
        *,
        message: str | None = None,
        round: int | None = None,
    ) -> Snapshot:
        """Answer the open gate; see `rt.answer`."""
        return self._run.answer(answers, message=message, round=round)

    def hold(self) -> Snapshot:
        """Extend the open gate's window; see `rt.hold`."""
        return self._run.hold()

    def finish(self) -> Snapshot:
        """Go to the verdict with what there is; see `rt.finish`."""
        return self._run.finish()

    def stop(self) -> Snapshot:
        """End the debate now; see `rt.stop`."""
        return self._run.stop()

    async def _joined(self) -> Result:
        with contextlib.suppress(CancelledError):  # the debate was interrupted, not this await
            await self._job.join()
        return self._run.result()
