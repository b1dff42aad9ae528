"""The one driver: carries out the steps that `review` decides, as events durable before effect.

It owns the tasks of a running debate and reacts to people's commands; what comes next is decided
elsewhere. Deciding a step and logging what it does happen under one lock with people's commands, so
that no command can fall between them; calls run outside of it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from functools import partial
from typing import Any, Final

from rt_notebook.contract.discussion_prompts import prompts_for
from rt_notebook.domain.events import EVENT_VERSION, Event
from rt_notebook.domain.research import researcher_name
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.state import State
from rt_notebook.domain.turn import CANCELLED
from rt_notebook.engine.commands import Body
from rt_notebook.engine.kinds import TurnTaker, closing_taker, next_step, turn_taker
from rt_notebook.engine.limits import Budget
from rt_notebook.engine.researching import ResearchTaker
from rt_notebook.engine.sink import EventSink
from rt_notebook.engine.step_events import event_of
from rt_notebook.engine.steps import Ask, AskSearcher, AskVerdict, Conclude, OpenGate, Record, Step
from rt_notebook.engine.tries import OnProgress, failed_body
from rt_notebook.errors import CallError, StoreError, one_line
from rt_notebook.providers.base import Provider
from rt_notebook.providers.closing import close_all
from rt_notebook.providers.policies import still_running
from rt_notebook.providers.searching import searcher_of

Listener = Callable[[Event, State], None]
"""Called on the debate's loop after an event is durable and applied."""

Ready = Callable[[], Awaitable[None]]
"""Awaited before the first gate: until a form can be seen, or it is known that none will."""

_log = logging.getLogger(__name__)

_HALTS: Final = {
    "finished": "cancelled: the person asked for the verdict",
    "stopped": "cancelled: the person stopped the debate",
    "clock": "cancelled: the debate's time is used up",
    "fault": "cancelled: the event log failed",
}
_READY: Final = ""


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
        """The fold; changed on the debate's loop only."""
        self.prompts = prompts_for(state.spec, state.sources)
        """What seats and chairman are told."""
        self.budget = Budget(state)
        """Counts calls as they are decided."""
        self.in_flight: dict[str, str] = {}
        """Calls under way: their ids by the asked one's name."""
        self._sink = sink
        self._make_provider = providers
        self._providers: dict[str, Provider] = {}
        self._listeners = list(listeners)
        self._ready = ready
        self._watcher = on_progress
        self._seq = state.revision
        self._last_at = state.updated_at
        self._tasks: set[asyncio.Task[None]] = set()
        self._halted: str | None = None
        self._clock: asyncio.TimerHandle | None = None
        self._out_of_time = False
        self._fault: StoreError | None = None
        self._last_word: asyncio.Future[None] | None = None
        self._changed = asyncio.Event()
        self._commands = asyncio.Lock()

    async def run(self, *first: Body) -> State:
        """Run the debate to its end, after putting `first` (created, resumed ...) into the log.

        Raises:
            StoreError: the log can't be written; nothing more was called.
            asyncio.CancelledError: the debate was interrupted; what is finished is kept.
        """
        try:
            if first:
                await self.post(*first)
            self._start_clock()
            while not await self._take_step():
                pass
        except asyncio.CancelledError:
            await self._record_interruption("interrupted in the running process")
            raise
        except StoreError as exc:
            self._broken(exc)
            raise
        except Exception as exc:
            # A fault of this package: the log says so, and the debate can be resumed.
            await self._record_interruption(one_line(f"{type(exc).__name__}: {exc}"))
            raise
        finally:
            if self._clock is not None:
                self._clock.cancel()
            await close_all(self._providers.values())
        return self.state

    def post(self, *bodies: Body) -> Awaitable[None]:
        """Put events into the log; done once they are durable, applied and told.

        They are on their way when this returns: a cancelled `await` loses nothing.

        Raises:
            StoreError: they could not be stored.
        """
        if self._fault is not None:
            raise self._fault
        # A clock that jumps back changes no order.
        self._last_at = max(self._last_at, time.time_ns() // 1_000_000)
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
            try:
                await self.post(*make(self.state))
            except StoreError as exc:
                self._fail(exc)
                raise
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
        """Return the provider of a seat or of the chairman, made once.

        Raises:
            RoundtableError: it can't be made any more.
        """
        found = self._providers.get(name)
        if found is None:
            found = self._providers[name] = self._make_provider(self._seat(name))
        return found

    def on_progress(self, seat: str, chars: int) -> None:
        """Tell whoever watches how much of a seat's answer has come."""
        if self._watcher is None:
            return
        try:
            self._watcher(seat, chars)
        except Exception:  # the edge to views: a broken one must not fail a paid call
            _log.exception("a view of the progress failed")

    async def _take_step(self) -> bool:
        """Take the next step; True when the debate has ended."""
        takers: dict[str, TurnTaker] = {}
        async with self._commands:
            if self._fault is not None:
                raise self._fault
            step = self._decide()
            # A gate without a window can't be answered, whoever sees it.
            waits = isinstance(step, OpenGate) and step.window_s != 0 and self._ready is not None
            event = None if waits else event_of(step)
            if isinstance(step, Ask):
                takers = {
                    name: turn_taker(self, self._seat(name), step.round) for name in step.seats
                }
                await self._begin(takers.values())
            elif event is not None and isinstance(step, Conclude):
                self._last_word = asyncio.ensure_future(self.post(event))
                await asyncio.shield(self._last_word)
            elif event is not None:
                await self.post(event)
        match step:
            case Ask():
                await self._together({name: taker.take for name, taker in takers.items()})
            case AskSearcher():
                await self._research()
            case OpenGate():
                await (self._until_ready() if waits else self._wait_at_gate(step.window_s))
            case AskVerdict():
                name = self.state.chairman_name
                await self._together({name: closing_taker(self, self._seat(name)).take})
        return isinstance(step, Conclude)

    async def _begin(self, takers: Iterable[TurnTaker]) -> None:
        """Let the log say, with one append, which calls a round makes at once."""
        events = [event for taker in takers if (event := taker.begin()) is not None]
        if events:
            await self.post(*events)

    async def _research(self) -> None:
        searcher = searcher_of(self.state.spec)
        if searcher is not None:
            name = researcher_name(self.state.spec.seats)
            await self._together({name: ResearchTaker(self, searcher).take})

    def _decide(self) -> Step:
        state = self.state
        running = state.status != "verdict" and state.ending is None and not state.stop_asked
        if self._out_of_time and running:
            minutes = state.spec.limits.max_minutes
            body = {"limit": "max_minutes", "used": minutes, "bound": minutes}
            return Record("limit_reached", body)
        return next_step(state)

    async def _together(self, turns: Mapping[str, Callable[[], Coroutine[Any, Any, None]]]) -> None:
        """Run turns at the same time; a halt settles those in flight as cancelled."""
        try:
            async with asyncio.TaskGroup() as group:
                for name, turn in turns.items():
                    self._tasks.add(group.create_task(self._settled(name, turn)))
                if self._out_of_time and self.state.status != "verdict":
                    self._halt("clock")  # while what begins here was being logged
            if self._halted is not None:
                for name in turns:  # a task that was cancelled before it began settled nothing
                    await self._cancelled_call(name, _HALTS[self._halted])
        finally:
            self._tasks.clear()
            self._halted = None

    async def _settled(self, name: str, turn: Callable[[], Coroutine[Any, Any, None]]) -> None:
        try:
            await turn()
        except asyncio.CancelledError:
            if self._halted is None:
                raise  # the whole debate is interrupted
            await self._cancelled_call(name, _HALTS[self._halted])
        except StoreError as exc:
            self._fail(exc)

    async def _cancelled_call(self, name: str, message: str) -> None:
        call = self.in_flight.pop(name, None)
        if call is None or self._fault is not None:
            return
        error = CallError(message + still_running(self._providers.get(name)), kind=CANCELLED)
        try:
            await self.post(("call_failed", failed_body(call, error, None)))
        except StoreError as exc:
            self._fail(exc)

    async def _until_ready(self) -> None:
        """Wait until a form can be seen; what a halt changes meanwhile is decided anew after it."""
        ready, self._ready = self._ready, None
        if ready is not None:
            await self._together({_READY: partial(_seen, ready)})

    async def _wait_at_gate(self, window_s: float | None) -> None:
        # The window runs on the loop's own clock: one that somebody sets changes no window.
        began = asyncio.get_running_loop().time()
        while (gate := self.state.gate) is not None and self._fault is None:
            if self._out_of_time:
                await self._close_gate("clock")
                continue
            closes_at = gate.closes_at
            self._changed.clear()
            try:
                ends = None if window_s is None else began + window_s * (1 + gate.holds)
                async with asyncio.timeout_at(ends):
                    await self._changed.wait()
            except TimeoutError:
                await self._close_gate("timeout", closes_at)

    async def _close_gate(self, why: str, closes_at: int | None = None) -> None:
        """Close the open gate, unless a command on its way has answered or extended it."""
        async with self._commands:
            gate = self.state.gate
            if gate is not None and (why == "clock" or gate.closes_at == closes_at):
                await self.post(("gate_closed", {"round": gate.round, "why": why}))

    def _seat(self, name: str) -> Seat:
        if name != self.state.chairman_name:
            return self.state.spec.seat(name)
        return self.state.closing_seat

    def _start_clock(self) -> None:
        minutes = self.state.spec.limits.max_minutes
        if minutes is not None:
            loop = asyncio.get_running_loop()
            self._clock = loop.call_later(minutes * 60, self._time_is_up)

    def _time_is_up(self) -> None:
        self._out_of_time = True
        if self.state.status != "verdict":  # the chairman still gets its time
            self._halt("clock")
        self._changed.set()

    def _halt(self, why: str) -> None:
        """Cancel the turns under way; the steps after it follow from the state."""
        if not self._tasks:
            return
        self._halted = why
        for task in self._tasks:
            task.cancel()

    def _fail(self, exc: StoreError) -> None:
        """End the run: nothing may happen that the log can't say."""
        if self._fault is None:
            self._fault = exc
            self._halt("fault")
            self._changed.set()

    def _committed(self, events: list[Event]) -> None:
        state = self.state
        for event in events:
            state.apply(event)
            for listener in self._listeners:
                try:
                    listener(event, state)
                except Exception:
                    # The edge to views and users' callbacks: a broken one must not end a debate.
                    _log.exception("a listener failed at event %s of %s", event.seq, event.debate)
        self._changed.set()

    async def _record_interruption(self, why: str) -> None:
        """Put the interruption into the log; a second one meanwhile doesn't cut that short."""
        if self._fault is not None:
            self._broken(self._fault)
            return
        running = [name for name in self.in_flight if still_running(self._providers.get(name))]
        if running:
            why = f"{why}; the functions of {', '.join(running)} may still run"
        written = asyncio.ensure_future(self._write_interruption(why))
        while not written.done():
            try:
                await asyncio.wait([written])
            except asyncio.CancelledError:
                continue

    async def _write_interruption(self, why: str) -> None:
        async with self._commands:  # a command on its way goes first
            try:
                # A conclusion on its way is the last word: it came before the interruption.
                await (self._last_word or self.post(("interrupted", {"why": why})))
            except StoreError as exc:
                self._broken(exc)

    def _broken(self, exc: StoreError) -> None:
        """Let the state say what the log no longer can: the debate stands still, interrupted."""
        state, body = self.state, {"why": one_line(str(exc))}
        self._fault = self._fault or exc
        last = (EVENT_VERSION, state.id, state.revision, state.updated_at)
        state.apply(Event(*last, "interrupted", body))
        self._changed.set()
        _log.error("debate %s: the event log failed: %s", state.id, exc)


async def _seen(ready: Ready) -> None:
    try:
        await ready()
    except Exception:  # the edge to views: a broken one leaves the gate to its countdown
        _log.exception("it could not be found out whether a form is seen")
