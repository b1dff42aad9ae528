"""One debate on its way through a cell or a call: joins a run, its view and its variable."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any, Protocol

from rt_notebook.analysis.result import Result
from rt_notebook.domain.events import Event
from rt_notebook.domain.snapshot import TurnPart
from rt_notebook.domain.state import State
from rt_notebook.engine.job import Job
from rt_notebook.errors import OptionError, one_line
from rt_notebook.frontends.handle import Handle
from rt_notebook.frontends.place import Place
from rt_notebook.next_steps import snapshot_of
from rt_notebook.running import DebateRun

OnEvent = Callable[[Event], object]
"""A user's callback for every event; runs on the debate's loop."""

Assign = Callable[[Any], None]
"""Puts the result (or a handle) where the person wants it."""


class View(Protocol):
    """What shows a debate while it runs: the notebook's live view or the terminal's."""

    settled: bool
    """True once somebody has seen it, or waiting for that has ended."""

    def show(self, fresh: bool = False) -> None:
        """Show it for the first time. Main thread, in its own cell."""

    def listener(self, event: Event, state: State) -> None:
        """Take an event. Engine thread; `state` is read during the call only."""

    def turns_changed(self, turns: list[TurnPart]) -> None:
        """Show the open turns of human seats. Engine thread."""

    async def ready(self) -> bool:
        """Return once it is known whether somebody sees it. Engine thread."""

    async def confirm(self, text: str) -> bool:
        """Ask whether to start. Engine thread."""

    def finish(self, result: object) -> None:
        """Put the static result in its place. Main thread."""


class DebateCell:
    """A debate as its cell (or a Python call in a cell) sees it; a `cell_runner.CellJob`.

    Args:
        run: the debate.
        place: where it runs.
        make_view: makes the view, given what posts to the main thread; None: nothing is shown
            before the end.
        background: the cell returns at once.
        assign: gets the result at the end.
        confirm: the question to be answered with Start before anything is called.
        variable: the variable's name, for hints in the result.
        shown: displays the result in the running cell, where no view does; None: nothing is.
        captured: whether the running cell's output is captured, so that the view, which stands on
            the page, isn't where the result belongs.
        typed: writes a verb as it is typed here; None: as the line magic.
    """

    def __init__(
        self,
        run: DebateRun,
        place: Place,
        *,
        make_view: Callable[[Callable[..., object]], View] | None,
        background: bool = False,
        assign: Assign | None = None,
        confirm: str | None = None,
        variable: str | None = None,
        shown: Callable[[Result], None] | None = None,
        captured: Callable[[], bool] = lambda: False,
        typed: Callable[[str, str], str] | None = None,
    ) -> None:
        self.run = run
        self.background = background
        self.view: View | None = None
        self.result: Result | None = None
        self.cancelled = False
        """True when the person didn't confirm the start."""
        self._place = place
        self._make_view = make_view
        self._assign = assign
        self._confirm = confirm
        self._variable = variable
        self._shown = shown
        self._captured = captured
        self._typed = typed

    def start_view(self, job: Job[Any]) -> None:
        """Show the view; in the background leave a handle in the variable. Main thread."""
        if self.background and self._assign is not None:
            self._assign(Handle(self.run, job))
        if self._make_view is None:
            return
        self.view = view = self._make_view(job.post)
        self.run.listeners.append(view.listener)
        self.run.desk.changed.append(lambda: view.turns_changed(self.run.open_turns()))
        view.show()

    async def main(self, job: Job[Any]) -> Result | None:
        """Run the debate. Engine thread."""
        view = self.view
        if view is None:
            return await self.run.main()
        handshake = asyncio.create_task(view.ready())
        self.run.ready = lambda: _seen(handshake)
        try:
            if self._confirm is not None and not await view.confirm(self._confirm):
                self.cancelled = True
                return None
            return await self.run.main()
        finally:
            handshake.cancel()

    def seen(self) -> bool:
        """Return whether the debate is in the store and its view has been seen, or needn't be."""
        return self.run.fold.revision > 0 and (self.view is None or self.view.settled)

    def finish(self, job: Job[Any]) -> None:
        """Set the variable and show the static result. Main thread, once, last."""
        if self.cancelled:
            if self.view is not None:
                self.view.finish(NotStarted())
            return
        self.result = result = self.run.result(self._variable)
        if not job.done() and self.run.fold.live:
            self.result = result = _cut_off(self.run, self._variable)
        result.typed = self._typed
        if self._assign is not None and not self.background:
            self._assign(result)
        if self.view is not None:
            self.view.finish(result)
        if self._shown is not None and (self.view is None or self._is_captured()):
            self._shown(result)
        else:
            return
        result.shown_above = _same_cell(self._place.shell)

    def _is_captured(self) -> bool:
        # A background debate ends while some other cell runs: that one's capture isn't its own.
        return not self.background and self._captured()

    def interruption(self) -> str:
        """Return what an interrupted cell says."""
        if self.run.fold.revision == 0:
            return "interrupted before anything was called"
        command = f"`%roundtable resume {self.run.id}`"
        return f"the debate is interrupted, what is finished is kept; {command} goes on"


class NotStarted:
    """What a cell shows whose start wasn't confirmed."""

    def __repr__(self) -> str:
        return "Not started; nothing was called."


def _cut_off(run: DebateRun, variable: str | None) -> Result:
    """Return the result of a debate whose loop is blocked, so that it can't record its own end."""
    return Result(
        run.fold,
        lambda: run.store.events(run.id),
        warnings=run.warnings,
        variable=variable,
        outside=lambda state: snapshot_of(state, status="interrupted" if state.live else None),
        status="interrupted",
    )


def _same_cell(shell: Any) -> Callable[[], bool]:
    """Return what says whether the same cell still runs: its value isn't to be shown twice."""
    count = getattr(shell, "execution_count", None)
    return lambda: shell is not None and shell.execution_count == count


async def _seen(handshake: asyncio.Task[bool]) -> None:
    """Wait for the handshake without owning it: it goes on when this wait is cancelled."""
    await asyncio.wait([handshake])


def check_callback(on_event: object) -> None:
    """Check a user's callback before a run is made, which may take a debate over.

    Raises:
        OptionError: it can't be called, or is a coroutine function, which nobody would await.
    """
    if on_event is None:
        return
    if not callable(on_event) or inspect.iscoroutinefunction(on_event):
        raise OptionError(
            f"on_event={one_line(repr(on_event), 80)}: a plain function of one argument is "
            "expected, not a coroutine function",
            option="on_event",
        )


def hear(run: DebateRun, on_event: OnEvent | None) -> None:
    """Let a user's callback hear every event of a run."""
    if on_event is not None:
        run.listeners.append(lambda event, state: _tell(on_event, event))


def _tell(on_event: OnEvent, event: Event) -> None:
    on_event(event)
