"""How the command line shows a debate: the terminal's view, or plain lines where there is none.

Owns what of a debate that another process runs a view needs, and telling a view what was before.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final, TextIO, cast

from rt_notebook import session
from rt_notebook.domain.events import Event
from rt_notebook.domain.snapshot import Snapshot, TurnPart
from rt_notebook.domain.state import State, start_state
from rt_notebook.frontends.launch import View
from rt_notebook.frontends.live_model import message_for
from rt_notebook.frontends.live_parts import Message
from rt_notebook.frontends.place import Place
from rt_notebook.frontends.terminal import TerminalView
from rt_notebook.frontends.terminal_lines import Transcript
from rt_notebook.rendering.plain import plain
from rt_notebook.running import DebateRun

_WIDTH: Final = 100
# A gate that was is no gate to be asked at.
_ASKING: Final = ("gate_opened", "gate_held")


class PlainView:
    """A view without a terminal: lines as they come, then the report; a `launch.View`.

    Args:
        steps: where what happens goes, usually stderr.
        report: where the report goes; None: nowhere.
    """

    settled = True
    """Always: nobody has to be waited for."""

    def __init__(self, steps: TextIO, report: TextIO | None) -> None:
        self._steps, self._report = steps, report
        self._transcript = Transcript(chips=False)

    def show(self, fresh: bool = False) -> None:
        """Do nothing: the first event shows what there is."""

    def listener(self, event: Event, state: State) -> None:
        """Print what an event means."""
        messages = [message for message in message_for(event, state) if not _asks(message)]
        for line in self._transcript.lines(messages, _WIDTH):
            print(plain(line.plain), file=self._steps)
        self._steps.flush()

    def turns_changed(self, turns: list[TurnPart]) -> None:
        """Do nothing: nobody can be asked."""

    async def ready(self) -> bool:
        """Return False: nobody sees it."""
        return False

    async def confirm(self, text: str) -> bool:
        """Return False: nobody can be asked."""
        return False

    def finish(self, result: object) -> None:
        """Print the report."""
        if self._report is not None:
            print(result, file=self._report)
            self._report.flush()


def _asks(message: Message) -> bool:
    """Return whether a message only says that a seat is asked: its reply follows."""
    return message["type"] == "asked" and not message.get("repair") and "attempt" not in message


class Watched:
    """A debate that another process runs, as a view holds it: its fold and its verbs."""

    def __init__(self, debate: str, store: str | None, leave: Callable[[], None]) -> None:
        self._following = session.follow(debate, store)
        self.id = self._following.debate
        """The debate's id."""
        self._control: Any = session.control_of(self.id, store)
        self._leave = leave
        self._store = store

    @property
    def fold(self) -> State:
        """The debate's fold."""
        return self._following.state

    def interrupt(self) -> None:
        """Look away; the debate goes on."""
        self._leave()

    def answer(self, *given: Any, **said: Any) -> Snapshot:
        """Answer the open gate."""
        return cast(Snapshot, self._control.answer(*given, **said))

    def take_turn(self, **said: Any) -> Snapshot:
        """Give a human seat's reply."""
        return cast(Snapshot, self._control.take_turn(**said))

    def hold(self, **said: Any) -> Snapshot:
        """Extend the open gate."""
        return cast(Snapshot, self._control.hold(**said))

    def finish(self) -> Snapshot:
        """Go to the verdict."""
        return cast(Snapshot, self._control.finish())

    def stop(self) -> Snapshot:
        """End the debate."""
        return cast(Snapshot, self._control.stop())

    def follow(self, view: View) -> Snapshot:
        """Tell a view what was and what comes, until nobody is at work any more."""
        self._tell_past(view)
        has_people = any(seat.vendor == "human" for seat in self.fold.spec.seats)
        turns: list[TurnPart] = []

        def told(event: Event, state: State) -> None:
            nonlocal turns
            view.listener(event, state)
            if has_people:
                turns = self._show_turns(view, turns)

        if has_people:
            turns = self._show_turns(view, turns)
        return self._following.follow(told)

    def _show_turns(self, view: View, before: list[TurnPart]) -> list[TurnPart]:
        turns = list(self._following.snapshot().turns)
        if turns != before:
            view.turns_changed(turns)
        return turns

    def _tell_past(self, view: View) -> None:
        now = self.fold
        gate = now.gate.round if now.gate is not None and not self._following.over else None
        state: State | None = None
        for event in session.load(self.id, self._store).events:
            if event.seq > now.revision:
                break
            if state is None:
                state = start_state(event, now.spec)
            state.apply(event)
            if event.kind not in _ASKING or event.body.get("round") == gate:
                view.listener(event, state)


def view_for(run: DebateRun | Watched, place: Place, *, json: bool) -> View:
    """Return what shows a debate here.

    Args:
        run: the debate.
        place: where this is.
        json: stdout is for one line of JSON.
    """
    if place.terminal and not json:
        # A terminal's view asks of a run only what `Watched` has too.
        return TerminalView(cast(DebateRun, run))
    return PlainView(sys.stderr, None if json else sys.stdout)
