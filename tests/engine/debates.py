"""Debates for the engine's tests: a log in memory, seats that remember, and the real driver.

Every run that goes through `Ride` is checked: the fold of what the log holds, read back from JSON,
is the state that lived.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rt_notebook.domain.brief import Brief
from rt_notebook.domain.events import EVENT_VERSION, Event, decode_event, encode_body
from rt_notebook.domain.script import say, scripted
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.snapshot import final_tally
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.domain.state import State, fold, start_state
from rt_notebook.engine import commands
from rt_notebook.engine.commands import Body
from rt_notebook.engine.debate import Debate, Listener, Ready
from rt_notebook.engine.tries import OnProgress
from rt_notebook.errors import StoreError
from rt_notebook.providers.base import Call
from rt_notebook.providers.human import Desk
from rt_notebook.providers.registry import Context, make_provider

Row = tuple[int, int, str, str]

VERDICT = (
    "RECOMMENDATION:\nopt-1\nIt is ready.\nDISSENT:\nnone\nKILL_CRITERIA:\n- it breaks\n"
    "OPEN_QUESTIONS:\nnone"
)


class MemoryLog:
    """An event log as the store keeps it: written at the end of a tick, as JSON, without gaps.

    Args:
        rows: what it holds already.
        fails_at: number of the write that fails, and all after it; None: none.
    """

    def __init__(self, rows: Iterable[Row] = (), fails_at: int | None = None) -> None:
        self.rows = list(rows)
        self.writes = 0
        self.appends: list[list[str]] = []
        self.fails_at = fails_at
        self._waiting: list[tuple[Sequence[Event], Callable[[], None], asyncio.Future[None]]] = []

    def append(self, events: Sequence[Event], committed: Callable[[], None]) -> Awaitable[None]:
        loop = asyncio.get_running_loop()
        self.appends.append([event.kind for event in events])
        if not self._waiting:
            loop.call_soon(self._flush)
        future: asyncio.Future[None] = loop.create_future()
        self._waiting.append((events, committed, future))
        return future

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        self.writes += 1
        for events, committed, future in waiting:
            if self.fails_at is not None and self.writes >= self.fails_at:
                if not future.done():
                    future.set_exception(StoreError("the disk is full"))
                continue
            self.rows += [(e.seq, e.at, e.kind, encode_body(e.body)) for e in events]
            committed()
            if not future.done():
                future.set_result(None)

    @property
    def events(self) -> list[Event]:
        return [
            decode_event(EVENT_VERSION, "d", seq, at, kind, body)
            for seq, at, kind, body in self.rows
        ]

    @property
    def kinds(self) -> list[str]:
        return [kind for _, _, kind, _ in self.rows]

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [event.body for event in self.events if event.kind == kind]


class Voice:
    """A seat's function that says what it is told to say, by round, and remembers its calls.

    Args:
        *answers: by call; the last one is given from then on; an exception is raised.
    """

    def __init__(self, *answers: Any) -> None:
        self.calls: list[Call] = []
        self._answers = answers or ("PASS",)

    async def __call__(self, call: Call) -> Any:
        answer = self._answers[min(len(self.calls), len(self._answers) - 1)]
        self.calls.append(call)
        if isinstance(answer, BaseException):
            raise answer
        return answer(call) if callable(answer) else answer

    @property
    def prompts(self) -> list[str]:
        return [call.messages[-1].text for call in self.calls]


@dataclass
class Ride:
    """One debate under way in a test."""

    spec: DebateSpec
    attended: bool = False
    log: MemoryLog | None = None
    listeners: Sequence[Listener] = ()
    ready: Ready | None = None
    on_progress: OnProgress | None = None

    def __post_init__(self) -> None:
        self.desk = Desk()
        self.sink = self.log or MemoryLog()
        if self.sink.rows:
            self.state = fold(self.sink.events)
            kept = {name: getattr(self.spec, name) for name in ("seats", "chairman", "observer")}
            self.state.spec = self.state.spec.model_copy(update=kept)
            self.first = self._resumed(None)
        else:
            self.state, self.first = self._created()
        self.debate = Debate(
            self.state,
            self.sink,
            lambda seat: make_provider(seat, Context(lambda: self.state, self.desk)),
            listeners=self.listeners,
            ready=self.ready,
            on_progress=self.on_progress,
        )

    def _created(self) -> tuple[State, list[Body]]:
        body = {
            "spec": self.spec.model_dump(mode="json"),
            "source": "person",
            "unattended": not self.attended,
            "prompts_version": 1,
        }
        now = time.time_ns() // 1_000_000
        state = start_state(Event(EVENT_VERSION, "d", 0, now, "created", body), self.spec)
        return state, [("created", body)]

    def _resumed(self, limits: dict[str, Any] | None) -> list[Body]:
        gone: list[Body] = [("interrupted", {"why": "gone"})] if self.state.live else []
        body = {"source": "person", "limits": limits, "unattended": not self.attended}
        return [*gone, ("resumed", body)]

    def with_limits(self, **limits: Any) -> Ride:
        """Let the resume change the limits."""
        new = self.state.spec.limits.model_copy(update=limits)
        self.first = self._resumed(new.model_dump(mode="json"))
        return self

    async def run(self) -> State:
        """Run it to its end, and check that the log tells the same."""
        try:
            await self.debate.run(*self.first)
        finally:
            if self.debate._fault is None:
                assert_told_by(self.sink, self.state)
        return self.state

    async def answer(
        self, answers: dict[str, str] | None = None, message: str | None = None, **more: Any
    ) -> None:
        number, source = more.get("round"), more.get("source", "person")
        await self.debate.command(
            lambda state: commands.answer(state, answers, message, number, source)
        )

    async def hold(self) -> None:
        now = time.time_ns() // 1_000_000
        await self.debate.command(lambda state: commands.hold(state, None, "person", now))

    async def finish(self) -> None:
        await self.debate.command(lambda state: commands.finish(state, "person"))

    async def stop(self) -> None:
        await self.debate.command(lambda state: commands.stop(state, "person"))

    async def gate(self) -> None:
        """Wait for the next gate."""
        await self.debate.wait_until(lambda state: state.gate is not None)


async def interrupt(task: asyncio.Task[State]) -> None:
    """Cancel a run and wait for its end."""
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()


def assert_told_by(log: MemoryLog, state: State) -> None:
    """Check that the log's fold is this state, callables in the seats apart."""
    told = fold(log.events)
    assert state.spec.model_dump() == told.spec.model_dump()
    assert replace(state, spec=told.spec) == told


def reply(stance: str, *points: str, agree: Sequence[str] = (), question: str | None = None) -> str:
    """Return a valid reply."""
    text = f"STANCE: {stance}\nAGREE_WITH: [{', '.join(agree)}]\nDISAGREE:\n"
    text += "".join(f"- {point}\n" for point in points) + "NEW:\nASSUMPTIONS:"
    return text + (f"\nQUESTION_FOR_HUMAN: {question}" if question else "")


def brief(**fields: Any) -> Brief:
    """Return a brief."""
    return Brief(**{"question": "Ship now?", "options": ["Ship", "Wait"], **fields})


def spec(*seats: Seat, **fields: Any) -> DebateSpec:
    """Return a review's definition; a loop ends it only where asked for."""
    return DebateSpec(**{"brief": brief(), "seats": seats, "loop_threshold": 0, **fields})


def voices(*stances: str, **fields: Any) -> DebateSpec:
    """Return a review of function seats named a, b, c ... that keep these stances."""
    seats = (Seat(chr(97 + n), model=Voice(reply(key))) for n, key in enumerate(stances))
    return spec(*seats, **fields)


def split(**fields: Any) -> DebateSpec:
    """Return a review of two scripted seats that never agree."""
    steps = [say(stance=key) for key in ("Ship", "Wait")]
    seats = (
        Seat(name, model=scripted([step] * 60))
        for name, step in zip(("a", "b"), steps, strict=True)
    )
    return spec(*seats, **fields)


def voice(seat: Seat) -> Voice:
    """Return the function of a seat made by `voices`."""
    assert isinstance(seat.function, Voice)
    return seat.function


def outcome(state: State) -> tuple[Any, ...]:
    """Return what must not depend on interruptions."""
    positions = {name: position.key for name, position in state.positions.items()}
    pick = state.verdict.pick if state.verdict else None
    ended = (state.status, state.stop_reason, state.verdict_status, pick)
    return positions, final_tally(state), ended, state.completed_rounds
