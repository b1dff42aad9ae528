"""One debate run in this process: joins engine, store, providers and listeners.

Takes commands from any thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final, TypeVar

from rt_notebook.analysis.result import Result
from rt_notebook.collecting import one_debate
from rt_notebook.contract.verdict import read_verdict
from rt_notebook.crossing import result_on
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.snapshot import Snapshot, TurnPart
from rt_notebook.domain.state import State
from rt_notebook.engine import commands
from rt_notebook.engine.commands import Body
from rt_notebook.engine.debate import Debate, Listener, Ready
from rt_notebook.engine.tries import OnProgress
from rt_notebook.engine.turns import read_as
from rt_notebook.errors import RoundtableError, UsageError
from rt_notebook.next_steps import snapshot_of
from rt_notebook.open_turns import open_turns
from rt_notebook.orders import TURN, checked_source, make_of, refusal, turn_of
from rt_notebook.providers.base import Provider
from rt_notebook.providers.human import PERSON, Desk, OpenTurn
from rt_notebook.providers.registry import Context, make_provider
from rt_notebook.store.log import Answer, Command, DebateLog, Store

_NOTHING_SAID: Final[Mapping[str, Any]] = {}

COMMAND_TIMEOUT_S: Final = 15.0
"""Seconds that a command from another thread waits for its acknowledgement."""

T = TypeVar("T")

# Turns of the loop that a call's way from the log to the desk may take; it needs a few.
_TICKS: Final = 100

_log = logging.getLogger(__name__)

_running: dict[str, DebateRun] = {}


def running(debate: str) -> DebateRun | None:
    """Return the run of a debate that this process drives, or None."""
    return _running.get(debate)


def all_running() -> list[DebateRun]:
    """Return the debates that this process drives, oldest first."""
    return list(_running.values())


class DebateRun:
    """Drives one debate and controls it.

    Args:
        state: where it stands.
        store: where it is kept.
        log: its event log; a resumed debate's has been taken over.
        first: the events to begin with.
        warnings: what a person should know, for the result.
    """

    replays: ClassVar[bool] = False
    """True where nobody is called or asked: there is nothing to watch."""

    def __init__(
        self,
        state: State,
        store: Store,
        log: DebateLog,
        first: Sequence[Body],
        warnings: Iterable[str] = (),
    ) -> None:
        self.id = state.id
        """The debate's id."""
        self.store = store
        """Where it is kept."""
        self.warnings = [*warnings, *store.notes]
        """What a person should know, a line each."""
        self.listeners: list[Listener] = []
        """Told every event; filled in before `main`."""
        self.ready: Ready | None = None
        """Awaited before the first gate."""
        self.on_progress: OnProgress | None = None
        """Told characters as they come."""
        self.desk = Desk()
        """Human seats' open turns."""
        self._state = state
        self._log = log
        self._first = first
        self._debate: Debate | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = 0
        self._task: asyncio.Task[Any] | None = None
        self._begun = threading.Event()

    @property
    def fold(self) -> State:
        """The debate's fold; changed on the debate's loop only."""
        return self._state

    async def main(self) -> Result:
        """Run the debate on the running loop, to its end.

        Raises:
            StoreError: the log can't be written.
            asyncio.CancelledError: it was interrupted; `result()` has what is finished.
        """
        self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()
        self._task = asyncio.current_task()
        context = Context(lambda: self._state, self.desk)
        self._debate = Debate(
            self._state,
            self._log,
            lambda seat: self.provider(seat, context),
            listeners=self.listeners,
            ready=self.ready,
            on_progress=self.on_progress,
        )
        _running[self.id] = self
        self._begun.set()
        self._log.serve(self._obey)
        try:
            with one_debate():
                await self._debate.run(*self._first)
        finally:
            _running.pop(self.id, None)
            self._debate = None
            try:
                await self._log.end_service()
            finally:
                self._log.release()
        return self.result()

    def provider(self, seat: Seat, context: Context) -> Provider:
        """Return what answers a seat's calls."""
        return make_provider(seat, context)

    def result(self, variable: str | None = None) -> Result:
        """Return the result so far."""
        return Result(
            self._state,
            lambda: self.store.events(self.id),
            warnings=self.warnings,
            variable=variable,
            outside=snapshot_of,
        )

    def state(self) -> Snapshot:
        """Return the debate's state."""
        return self._on_loop(self._snapshot)

    def answer(
        self,
        answers: Mapping[str, str] | None = None,
        *,
        message: str | None = None,
        round: int | None = None,
        source: str = "person",
    ) -> Snapshot:
        """Answer the open gate and close it.

        Args:
            answers: texts by question id; those left out stay unanswered.
            message: a free message for all later prompts.
            round: the gate's round; None: the open one.
            source: person or agent.

        Raises:
            UsageError: no such gate is open, or a text doesn't fit; its `kept` attribute has the
                texts.
        """
        kept = {"answers": dict(answers or {}), "message": message}
        return self._command(
            lambda state: commands.answer(state, answers, message, round, source), kept
        )

    def take_turn(self, *, round: int, seat: str, text: str, source: str = "person") -> Snapshot:
        """Give a human seat's reply.

        Args:
            round: the turn's round.
            seat: the seat's name.
            text: the reply in the contract's form.
            source: person or agent.

        Raises:
            UsageError: no such turn is open, or the text breaks the contract: the errors are
                listed; its `kept` attribute has the text.
        """
        checked_source(source)
        loop = self._loop
        if self._debate is None or loop is None or threading.get_ident() == self._thread:
            self._give(round, seat, text, source)
        else:
            self._result_of(self._take_turn(round, seat, text, source), loop, {"text": text})
        return self.state()

    def hold(self, *, round: int | None = None, source: str = "person") -> Snapshot:
        """Extend the open gate by its own window, at most three times.

        Raises:
            UsageError: no such gate is open, or it can't be extended.
        """
        return self._command(lambda state: commands.hold(state, round, source, _now()))

    def finish(self, *, source: str = "person") -> Snapshot:
        """Go to the verdict with the complete replies.

        Raises:
            UsageError: there is nothing to judge yet, or the debate isn't running.
        """
        return self._command(lambda state: commands.finish(state, source))

    def stop(self, *, source: str = "person") -> Snapshot:
        """End the debate now; completed replies are kept.

        Raises:
            UsageError: it has ended.
        """
        return self._command(lambda state: commands.stop(state, source))

    def interrupt(self) -> None:
        """Cancel everything; the debate stays resumable."""
        loop = self._loop
        if loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: it has ended
                loop.call_soon_threadsafe(self._cancel)

    def _cancel(self) -> None:
        # Once it has ended, the task may go on with other things of whoever awaited the debate.
        if self._debate is not None and self._task is not None:
            self._task.cancel()

    def _command(
        self, make: Callable[[State], list[Body]], kept: Mapping[str, Any] = _NOTHING_SAID
    ) -> Snapshot:
        here = threading.get_ident() == self._thread
        if self._debate is None:
            make(self._state)  # says what doesn't fit
            if not here:  # started a moment ago, it may not have come to run yet
                self._begun.wait(COMMAND_TIMEOUT_S)
        debate, loop = self._debate, self._loop
        if debate is None or loop is None:
            raise UsageError(
                f"debate {self.id!r} isn't running in this process (status {self._state.status})"
            )
        if here:
            # Nobody may block the debate's own loop (a callback, an async program): the command is
            # checked now and carried out next.
            make(self._state)
            _keep(loop.create_task(debate.command(make)))
            return self._snapshot()
        self._result_of(debate.command(make), loop, kept)
        return self.state()

    async def _obey(self, command: Command) -> Answer:
        """Carry out what another process asks. On the debate's loop."""
        debate = self._debate
        try:
            if debate is None:
                raise UsageError(
                    f"{command.verb}: debate {self.id!r} has ended (status {self._state.status})"
                )
            if command.verb == TURN:
                await self._take_turn(*turn_of(command.body), checked_source(command.source))
            else:
                await debate.command(make_of(command.verb, command.body, command.source))
        except RoundtableError as error:
            return refusal(error)
        return Answer(self._state.revision)

    async def _take_turn(self, round: int, seat: str, text: str, source: str) -> None:
        """Give a reply and wait until it is read. On the debate's loop."""
        debate = self._debate
        for _ in range(_TICKS):
            # The log tells of a turn a moment before it lies on the desk.
            asked = open_turns(self._state, None if debate is None else debate.prompts)
            if not _holds(asked, round, seat) or _holds(self.open_turns(), round, seat):
                break
            await asyncio.sleep(0)
        self._give(round, seat, text, source)
        if debate is not None:
            await debate.wait_until(lambda state: _settled(state, round, seat))

    def _on_loop(self, work: Callable[[], T]) -> T:
        """Run `work` on the debate's loop while it runs, else here."""
        loop = self._loop
        if self._debate is None or loop is None or threading.get_ident() == self._thread:
            return work()

        async def do() -> T:
            return work()

        return self._result_of(do(), loop)

    def _result_of(
        self,
        work: Coroutine[Any, Any, T],
        loop: asyncio.AbstractEventLoop,
        kept: Mapping[str, Any] = _NOTHING_SAID,
    ) -> T:
        return result_on(loop, work, self.id, COMMAND_TIMEOUT_S, kept)

    def _give(self, round: int, seat: str, text: str, source: str) -> None:
        turn = self.desk.find(round, seat)
        kept = {"text": text}
        if source != PERSON and len(text) > commands.MAX_ANSWER:
            raise UsageError(
                f"the reply of {seat} in round {round} has {len(text):,} characters; "
                f"{commands.MAX_ANSWER:,} are allowed",
                kept=kept,
            )
        if not text.strip():
            raise UsageError(
                f"the reply of {seat} in round {round} is empty; write PASS to pass", kept=kept
            )
        errors = self._errors(turn, text)
        if errors:
            raise UsageError(
                f"the reply of {seat} in round {round} breaks the contract: {'; '.join(errors)}",
                errors=errors,
                kept=kept,
            )
        turn.answer.set_result((text, source))

    def _errors(self, turn: OpenTurn, text: str) -> list[str]:
        state, debate = self._state, self._debate
        if state.discusses:
            return []  # any words will do
        if turn.seat == state.chairman_name:
            return read_verdict(text, options=state.spec.brief.options).errors
        if debate is None:
            return []
        return read_as(debate.prompts, state, state.spec.seat(turn.seat), turn.round, text).errors

    def open_turns(self) -> list[TurnPart]:
        """Return the human seats' open turns. On the debate's loop."""
        return [
            TurnPart(round=turn.round, seat=turn.seat, prompt=turn.prompt, closes_at=turn.closes_at)
            for turn in self.desk.turns
            if not turn.answer.done()
        ]

    def _snapshot(self) -> Snapshot:
        return snapshot_of(self._state, self.open_turns())


def needs_person(seats: Iterable[Seat]) -> list[str]:
    """Return the names of the seats that a person fills."""
    return [seat.name for seat in seats if seat.vendor == "human"]


_background: set[asyncio.Task[None]] = set()


def _keep(task: asyncio.Task[None]) -> None:
    """Hold a task until it is done: the loop itself keeps only a weak reference."""
    _background.add(task)
    task.add_done_callback(_dropped)


def _dropped(task: asyncio.Task[None]) -> None:
    _background.discard(task)
    if not task.cancelled() and task.exception() is not None:
        _log.warning("a command came too late: %s", task.exception())


def _holds(turns: Iterable[TurnPart], round: int, seat: str) -> bool:
    return any(turn.round == round and turn.seat == seat for turn in turns)


def _settled(state: State, round: int, seat: str) -> bool:
    if not state.live or seat == state.chairman_name:
        return True
    turn = state.turns[round].get(seat) if round < len(state.turns) else None
    return turn is not None and turn.final


def _now() -> int:
    return time.time_ns() // 1_000_000
