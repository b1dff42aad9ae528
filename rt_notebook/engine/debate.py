"""The one driver: carries out the steps that `review` decides, as events that are durable before they have effect.

It owns the tasks of a running debate and reacts to people's commands; what comes next is decided elsewhere.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from functools import partial
from typing import Any, Protocol

from rt_notebook.contract.prompts import Prompts
from rt_notebook.domain.events import EVENT_VERSION, Event
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.spec import CHAIRMAN_NAME
from rt_notebook.domain.state import State
from rt_notebook.engine.commands import Body
from rt_notebook.engine.limits import Budget
from rt_notebook.engine.review import next_step
from rt_notebook.engine.steps import Ask, AskVerdict, Conclude, OpenGate, Record
from rt_notebook.engine.turns import OnProgress, TurnTaker, failed_body
from rt_notebook.errors import CallError, StoreError
from rt_notebook.providers.base import Provider

Listener = Callable[[Event, State], None]
"""Called on the debate's loop after an event is durable and applied."""

Ready = Callable[[], Awaitable[None]]
"""Awaited before the first gate: until a form can be seen, or it is known that none will."""

_log = logging.getLogger(__name__)

_HALTS = {
    "finished": "cancelled: the person asked for the verdict",
    "stopped": "cancelled: the person stopped the debate",
    "clock": "cancelled: the debate's time is used up",
}


class EventSink(Protocol):
    """Where events become durable."""

    def append(self, events: Sequence[Event], committed: Callable[[], None]) -> Awaitable[None]:
        """Store events; call `committed` once they are durable, in order, before the awaitable resolves."""
        ...


class Debate:
    """Drives one debate on the running loop.

    Args:
        state: where it stands: `start_state` for a new one, a fold for a resumed one.
        sink: the event log.
        providers: makes a seat's provider.
        listeners: told every event.
        ready: awaited before the first gate.
        on_progress: told characters as they come.
    """

    def __init__(
        self,
        state: State,
        sink: EventSink,
        providers: Callable[[Seat], Provider],
        *,
        listeners: Iterable[Listener] = (),
        ready: Ready | None = None,
        on_progress: OnProgress | None = None,
    ) -> None:
        self.state = state
        self.prompts = Prompts(state.spec)
        self.budget = Budget(state)
        self.on_progress = on_progress or _ignore_progress
        self.in_flight: dict[str, str] = {}
        self._sink = sink
        self._make_provider = providers
        self._providers: dict[str, Provider] = {}
        self._listeners = list(listeners)
        self._ready = ready
        self._seq = state.revision
        self._last_at = state.updated_at
        self._tasks: set[asyncio.Task[None]] = set()
        self._halted: str | None = None
        self._out_of_time = False
        self._fault: StoreError | None = None
        self._changed = asyncio.Event()
        self._commands = asyncio.Lock()
        self._gate_closes: float | None = None

    async def run(self, *first: Body) -> State:
        """Run the debate to its end, after putting `first` (created, resumed ...) into the log.

        Raises:
            StoreError: the log can't be written; nothing more was called.
            asyncio.CancelledError: the debate was interrupted; what is finished is kept.
        """
        clock = self._start_clock()
        try:
            await self.post(*first)
            while not await self._take_step():
                pass
        except asyncio.CancelledError:
            await self._interrupted()
            raise
        except StoreError as exc:
            self._broken(exc)
            raise
        finally:
            if clock is not None:
                clock.cancel()
        return self.state

    def post(self, *bodies: Body) -> Awaitable[None]:
        """Put events into the log; resolves once they are durable, applied and told.

        Raises:
            StoreError: they could not be stored.
        """
        self._last_at = max(self._last_at, time.time_ns() // 1_000_000)  # a clock that jumps back changes no order
        events = []
        for kind, body in bodies:
            self._seq += 1
            events.append(Event(EVENT_VERSION, self.state.id, self._seq, self._last_at, kind, body))
        return self._sink.append(events, partial(self._committed, events))

    async def command(self, make: Callable[[State], list[Body]]) -> None:
        """Carry out a person's command, made from the state as it is when its turn comes.

        Raises:
            UsageError: the command doesn't fit the state.
            StoreError: it could not be stored.
        """
        async with self._commands:
            await self.post(*make(self.state))
        gate = self.state.gate
        if gate is not None and gate.closes_at is not None:
            left = (gate.closes_at - time.time_ns() // 1_000_000) / 1000
            self._gate_closes = asyncio.get_running_loop().time() + max(left, 0.0)
        if self.state.stop_asked:
            self._halt("stopped")
        elif self.state.finish_asked and self.state.status != "verdict":
            self._halt("finished")

    async def wait_until(self, holds: Callable[[State], bool]) -> None:
        """Return once `holds(state)` is true."""
        while not holds(self.state):
            self._changed.clear()
            await self._changed.wait()

    def provider(self, name: str) -> Provider:
        """Return the provider of a seat or of the chairman, made once."""
        if name not in self._providers:
            self._providers[name] = self._make_provider(self._seat(name))
        return self._providers[name]

    async def _take_step(self) -> bool:
        """Take the next step; True when the debate has ended."""
        if self._fault is not None:
            raise self._fault
        if self._out_of_time and self.state.ending is None and self.state.status != "verdict":
            minutes = self.state.spec.limits.max_minutes
            await self.post(("limit_reached", {"limit": "max_minutes", "used": minutes, "bound": minutes}))
        step = next_step(self.state)
        match step:
            case Ask():
                await self._ask(step)
            case Record(kind, body):
                await self.post((kind, body))
            case OpenGate():
                await self._pass_gate(step)
            case AskVerdict():
                await self._ask_verdict()
            case Conclude(status, reason):
                await self.post(("concluded", {"status": status, "stop_reason": reason}))
                return True
        return False

    async def _ask(self, step: Ask) -> None:
        if step.starts:
            await self.post(("round_started", {"round": step.round}))
        takers = [TurnTaker(self, self._seat(name), name, step.round) for name in step.seats]
        await self._together({name: taker.reply() for name, taker in zip(step.seats, takers, strict=True)})

    async def _ask_verdict(self) -> None:
        if self.state.status != "verdict":
            await self.post(("verdict_started", {}))
        name = self.state.chairman_name
        taker = TurnTaker(self, self._seat(name), name, max(self.state.round, 0))
        await self._together({name: taker.verdict()})

    async def _together(self, turns: dict[str, Coroutine[Any, Any, None]]) -> None:
        """Run turns at the same time; a halt settles those in flight as cancelled, a fault stops the rest."""
        try:
            async with asyncio.TaskGroup() as group:
                for name, turn in turns.items():
                    task = group.create_task(self._settled(name, turn))
                    self._tasks.add(task)
                    task.add_done_callback(self._tasks.discard)
        finally:
            self._halted = None
        if self._fault is not None:
            raise self._fault

    async def _settled(self, name: str, turn: Coroutine[Any, Any, None]) -> None:
        try:
            if self._halted is not None:
                turn.close()
                return
            await turn
        except asyncio.CancelledError:
            if self._halted is None:
                raise
            await self._cancelled_call(name, _HALTS[self._halted])
        except StoreError as exc:
            self._fault = exc
            self._halt("stopped")

    async def _cancelled_call(self, name: str, message: str) -> None:
        call = self.in_flight.pop(name, None)
        if call is None or self._fault is not None:
            return
        try:
            await self.post(("call_failed", failed_body(call, CallError(message, kind="cancelled"), None)))
        except StoreError as exc:
            self._fault = exc

    async def _pass_gate(self, step: OpenGate) -> None:
        if self._ready is not None:
            await self._ready()
            self._ready = None
        loop = asyncio.get_running_loop()
        closes_at = None
        self._gate_closes = None
        if step.window_s is not None:
            closes_at = time.time_ns() // 1_000_000 + int(step.window_s * 1000)
            self._gate_closes = loop.time() + step.window_s
        questions = [question.to_json() for question in step.questions]
        body = {"round": step.round, "mode": step.mode, "questions": questions, "closes_at": closes_at}
        await self.post(("gate_opened", {**body, "reopen_calls": step.reopen_calls}))
        while self.state.gate is not None:
            try:
                async with asyncio.timeout_at(self._gate_closes):
                    self._changed.clear()
                    await self._changed.wait()
            except TimeoutError:
                await self._close_gate("timeout")
            if self._out_of_time:
                await self._close_gate("clock")

    async def _close_gate(self, why: str) -> None:
        async with self._commands:  # an answer on its way to the log goes first
            gate = self.state.gate
            late = self._gate_closes is None or self._gate_closes <= asyncio.get_running_loop().time()
            if gate is not None and (why == "clock" or late):
                await self.post(("gate_closed", {"round": gate.round, "why": why}))

    def _seat(self, name: str) -> Seat:
        if name != self.state.chairman_name:
            return self.state.spec.seat(name)
        return self.state.spec.chairman or Seat(CHAIRMAN_NAME)

    def _start_clock(self) -> asyncio.TimerHandle | None:
        minutes = self.state.spec.limits.max_minutes
        if minutes is None:
            return None
        return asyncio.get_running_loop().call_later(minutes * 60, self._time_is_up)

    def _time_is_up(self) -> None:
        self._out_of_time = True
        if self.state.status != "verdict":  # the chairman still gets its time
            self._halt("clock")
        self._changed.set()

    def _halt(self, why: str) -> None:
        if not self._tasks:
            return
        self._halted = why
        for task in self._tasks:
            task.cancel()

    def _committed(self, events: list[Event]) -> None:
        state = self.state
        for event in events:
            state.apply(event)
            for listener in self._listeners:
                try:
                    listener(event, state)
                except Exception:
                    # The edge to views and users' callbacks: a broken one must not end a paid debate.
                    _log.exception("a listener failed at event %s of %s", event.seq, event.debate)
        self._changed.set()

    async def _interrupted(self) -> None:
        try:
            await self.post(("interrupted", {"why": "interrupted in the running process"}))
        except StoreError as exc:
            self._broken(exc)

    def _broken(self, exc: StoreError) -> None:
        """Show what the log can no longer say: the debate stands still, with the fault as its reason."""
        self.state.status, self.state.stop_reason = "interrupted", "interrupted"
        _log.error("debate %s: the event log failed: %s", self.state.id, exc)


def _ignore_progress(seat: str, chars: int) -> None:
    """Nobody watches."""
