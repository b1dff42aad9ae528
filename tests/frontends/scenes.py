"""Debates without an engine: events made by hand, the state after them, and a control that records.

`Scene` is for pure tests. `FakeDebate` runs on the engine thread in a real kernel: it asks nobody,
but its gates wait for a person as the real ones do.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rt_notebook.domain.brief import Brief
from rt_notebook.domain.events import Event
from rt_notebook.domain.reply import Reply, VerdictText
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.snapshot import NextAction, Snapshot, TurnPart, snapshot
from rt_notebook.domain.spec import DebateSpec, Limits
from rt_notebook.domain.state import State, start_state
from rt_notebook.errors import UsageError

OPTIONS = ("Modular monolith", "Microservice", "Wait one sprint")
START = 1_700_000_000_000


def make_spec(**changes: Any) -> DebateSpec:
    """Returns a review of three scripted seats."""
    settings: dict[str, Any] = {
        "brief": Brief(question="Should payments become its own service?", options=OPTIONS),
        "seats": tuple(Seat(name, model="scripted") for name in ("pm", "dev", "rv")),
    }
    return DebateSpec(**(settings | changes))


def make_reply(stance: int | None = 1, **fields: Any) -> Reply:
    """Returns a valid reply for an option's number; its raw text holds its points."""
    points = [*fields.get("disagree", ()), *fields.get("new", ()), *fields.get("assumptions", ())]
    lines = [f"STANCE: opt-{stance}", *(f"- {point}" for point in points)]
    lines += [f"QUESTION_FOR_HUMAN: {fields['question']}"] if fields.get("question") else []
    own: dict[str, Any] = {
        "raw": "\n".join(lines),
        "valid": True,
        "stance": f"opt-{stance}",
        "stance_key": f"opt-{stance}",
    }
    return Reply(**(own | fields))


@dataclass
class Scene:
    """A debate's events so far and the state they make."""

    spec: DebateSpec = field(default_factory=make_spec)
    """The debate's definition."""

    clock: Callable[[], int] | None = None
    """Milliseconds since 1970; None: 100 more with every event."""

    events: list[Event] = field(default_factory=list)
    """Everything that happened."""

    state: State = field(init=False)
    """The fold."""

    def __post_init__(self) -> None:
        """Makes the first event."""
        created = self._event("created", {"spec": {}, "source": "person", "unattended": False})
        self.state = start_state(created, self.spec)

    def _event(self, kind: str, body: dict[str, Any]) -> Event:
        at = self.clock() if self.clock else START + 100 * len(self.events)
        event = Event(1, "payments-abc123", len(self.events) + 1, at, kind, body)
        self.events.append(event)
        return event

    def add(self, kind: str, **body: Any) -> Event:
        """Appends an event and applies it."""
        event = self._event(kind, body)
        self.state.apply(event)
        return event

    def ask(self, number: int, seat: str, purpose: str = "opening", attempt: int = 1) -> Event:
        """Starts a call."""
        return self.add(
            "call_started", call=f"{number}/{seat}/{purpose}/{attempt}", round=number, seat=seat,
            purpose=purpose, attempt=attempt, model=self.spec.seat(seat).model, chars=100,
        )  # fmt: skip

    def finish_call(self, number: int, seat: str, purpose: str = "opening") -> Event:
        """Ends a seat's call with a text."""
        return self.add(
            "call_finished", call=f"{number}/{seat}/{purpose}/1", text="text", cost=None
        )

    def reply(self, number: int, seat: str, reply: Reply, **body: Any) -> Event:
        """Reads a reply; `body` may hold `repair` or the `kind`."""
        kind = body.pop("kind", "reply_read")
        call = f"{number}/{seat}/opening/1"
        return self.add(kind, call=call, round=number, seat=seat, reply=reply.to_json(), **body)

    def turn(self, number: int, seat: str, reply: Reply) -> Event:
        """Asks a seat and reads its reply."""
        self.ask(number, seat)
        self.finish_call(number, seat)
        return self.reply(number, seat, reply)

    def open_gate(self, number: int, mode: str = "questions", **body: Any) -> Event:
        """Opens a gate with the round's questions."""
        questions = [question.to_json() for question in self.state.questions_of(number)]
        settings = {"questions": questions, "closes_at": START + 120_000, "reopen_calls": None}
        return self.add("gate_opened", round=number, mode=mode, **(settings | body))

    def snapshot(self) -> Snapshot:
        """Returns what outsiders see."""
        return snapshot(self.state, [], NextAction(type="none", instruction=""))


class RecordingControl:
    """Takes what a form hands over; `error` is raised instead while it is set."""

    id = "payments-abc123"

    def __init__(self, scene: Scene | None = None) -> None:
        self.scene = scene or Scene()
        self.calls: list[tuple[Any, ...]] = []
        self.error: str | None = None

    def _take(self, *call: Any) -> Snapshot:
        if self.error:
            raise UsageError(self.error)
        self.calls.append(call)
        return self.scene.snapshot()

    def answer(
        self,
        answers: Mapping[str, str] | None = None,
        *,
        message: str | None = None,
        round: int | None = None,
        source: str = "person",
    ) -> Snapshot:
        """Records the answers."""
        return self._take("answer", dict(answers or {}), message, round, source)

    def take_turn(self, *, round: int, seat: str, text: str) -> Snapshot:
        """Records a turn."""
        return self._take("turn", round, seat, text)

    def hold(self, *, round: int | None = None) -> Snapshot:
        """Records a hold."""
        return self._take("hold", round)

    def finish(self) -> Snapshot:
        """Records a finish."""
        return self._take("finish")

    def stop(self) -> Snapshot:
        """Records a stop."""
        return self._take("stop")


class FakeDebate(RecordingControl):
    """A debate in a kernel: a script of rounds on the engine's loop, with gates that wait.

    Args:
        spec: the debate's definition.
        rounds: each round's replies by seat.
        delay_s: how long a seat takes.
        wait_s: how long a gate stays open.
        linger_s: how long the view stays after the verdict.
    """

    def __init__(
        self,
        spec: DebateSpec,
        rounds: Sequence[Mapping[str, Reply]],
        *,
        delay_s: float = 0.0,
        wait_s: float | None = 60.0,
        linger_s: float = 0.0,
    ) -> None:
        super().__init__(Scene(spec, clock=lambda: time.time_ns() // 1_000_000))
        self.listener: Callable[[Event, State], None] = lambda event, state: None
        self.turn_listener: Callable[[list[TurnPart]], None] = lambda turns: None
        self.human: str | None = None
        self._rounds, self._delay_s, self._wait_s = rounds, delay_s, wait_s
        self._linger_s = linger_s
        self._loop: asyncio.AbstractEventLoop | None = None
        self._decided: asyncio.Future[str] | None = None

    async def run(self, ready: Callable[[], Any]) -> str:
        """Plays the rounds; `ready` is awaited before the first gate."""
        self._loop = asyncio.get_running_loop()
        self.listener(self.scene.events[0], self.scene.state)
        waiting = asyncio.create_task(ready())
        for number, replies in enumerate(self._rounds):
            await self._play_round(number, replies)
            await waiting
            if number < len(self._rounds) - 1 and await self._gate(number) != "answered":
                break
        self._verdict()
        await asyncio.sleep(self._linger_s)
        return "done"

    async def _play_round(self, number: int, replies: Mapping[str, Reply]) -> None:
        self._tell(self.scene.add("round_started", round=number))
        for seat in replies:
            self._tell(self.scene.ask(number, seat))
        for seat, reply in replies.items():
            await asyncio.sleep(self._delay_s)
            if seat == self.human:
                await self._human_turn(number, seat)
            self._tell(self.scene.finish_call(number, seat))
            self._tell(self.scene.reply(number, seat, reply))

    async def _human_turn(self, number: int, seat: str) -> None:
        closes_at = time.time_ns() // 1_000_000 + 60_000
        self._decided = asyncio.get_running_loop().create_future()
        prompt = "Decide & <b>explain</b>"
        self.turn_listener([TurnPart(round=number, seat=seat, prompt=prompt, closes_at=closes_at)])
        await self._decided
        self.turn_listener([])

    async def _gate(self, number: int) -> str:
        self._decided = asyncio.get_running_loop().create_future()
        ends = (
            None if self._wait_s is None else time.time_ns() // 1_000_000 + int(self._wait_s * 1000)
        )
        self._tell(self.scene.open_gate(number, closes_at=ends))
        try:
            async with asyncio.timeout(self._wait_s):
                why = await self._decided
        except TimeoutError:
            why = "timeout"
        self._tell(self.scene.add("gate_closed", round=number, why=why))
        return "answered" if why == "timeout" else why

    def _verdict(self) -> None:
        self._tell(self.scene.add("verdict_started"))
        text = VerdictText(
            valid=True, pick="opt-1", recommendation="opt-1\nIt keeps **one** deployment.",
            dissent="dev still wants a service.", kill_criteria=["p95 above 400 ms"],
        )  # fmt: skip
        self._tell(self.scene.add("verdict_written", verdict=text.to_json()))
        self._tell(self.scene.add("concluded", status="done", stop_reason="rounds"))

    def _tell(self, event: Event) -> None:
        self.listener(event, self.scene.state)

    def _take(self, *call: Any) -> Snapshot:
        assert self._loop is not None
        try:
            super()._take(*call)
        except UsageError:
            self.error = None  # the next try works
            raise
        asyncio.run_coroutine_threadsafe(self._act(*call), self._loop).result(5)
        return self.scene.snapshot()

    async def _act(self, verb: str, *args: Any) -> None:
        decided = self._decided
        if decided is None or decided.done():
            raise UsageError("this gate has closed; your text is kept")
        if verb == "answer":
            answers, message, number, source = args
            self._tell(self.scene.add(
                "gate_answered", round=number, answers=answers, message=message, source=source
            ))  # fmt: skip
            decided.set_result("answered")
        elif verb == "hold":
            gate = self.scene.state.gates[-1]
            later = (gate.closes_at or 0) + 60_000
            self._tell(self.scene.add("gate_held", round=gate.round, closes_at=later))
        else:
            decided.set_result({"finish": "finished", "stop": "stopped"}.get(verb, verb))


def many_limits() -> Limits:
    """Returns limits whose use can be shown."""
    return Limits(max_calls=40, max_cost=2.0)
