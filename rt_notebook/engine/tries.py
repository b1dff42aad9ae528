"""Asking one provider until there is an answer: tries, retries and their events, in one deadline.

What a seat is asked and what its answer means is known to `turns` and `verdicts`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

from rt_notebook.characters import whole
from rt_notebook.contract.prompts import MAX_QUOTE, PROMPTS_VERSION, Prompts, messages_hash
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.state import State
from rt_notebook.domain.turn import Call as LoggedCall
from rt_notebook.domain.usage import UNKNOWN, Usage
from rt_notebook.engine.commands import Body
from rt_notebook.engine.limits import Budget
from rt_notebook.errors import CallError, RoundtableError, one_line
from rt_notebook.providers.base import NOTHING, SETTINGS, Call, Completion, Message, Provider
from rt_notebook.providers.policies import complete_bounded, retry_delay

OnProgress = Callable[[str, int], None]
"""Told a seat's name and the characters that have come so far."""

Shorter = Callable[[], Sequence[Message] | None]
"""Makes a prompt anew once the log says that it was too long; None: there is nothing to cut."""

TOO_LONG: Final = "context_length"
"""The kind of failure that a shorter prompt may help."""


class Desk(Protocol):
    """What a turn needs of its debate."""

    state: State
    """The fold."""
    prompts: Prompts
    """What is asked."""
    budget: Budget
    """Counts calls."""
    in_flight: dict[str, str]
    """Calls under way: their ids by the asked one's name."""

    def on_progress(self, seat: str, chars: int) -> None:
        """Take note of how much of an answer has come."""
        ...

    def post(self, *bodies: Body) -> Awaitable[None]:
        """Put events into the log; done once they are durable and applied."""
        ...

    def provider(self, name: str) -> Provider:
        """Return the provider of a seat or of the chairman."""
        ...


class Answer(NamedTuple):
    """A finished try that isn't in the log yet."""

    call: str
    """The call's id."""
    text: str
    """What came."""
    event: Body
    """What is to be put into the log, together with what was read."""


class Failed(Exception):
    """The tries are used up; the last failure is in the log."""

    def __init__(self, error: CallError) -> None:
        super().__init__(str(error))
        self.error = error


class Tries:
    """Asks for one turn: every try, repairs included, shares its deadline.

    Args:
        desk: the debate.
        seat: who is asked.
        name: the name under which its calls stand.
        round: the round.
    """

    def __init__(self, desk: Desk, seat: Seat, name: str, round: int) -> None:
        self._desk = desk
        self._seat = seat
        self._name = name
        self._round = round
        self._loop = asyncio.get_running_loop()
        self._deadline = self._loop.time() + seat.timeout_s
        self._settings = _settings(seat)
        self._tools = tuple(filter(callable, seat.tools))
        self._began = 0.0
        self._first: float | None = None
        self._begun = ""  # a call that the log says has begun, and that isn't made yet

    def begin(self, purpose: str, messages: Sequence[Message]) -> Body:
        """Begin a try and return its event; `answer` makes the call, once the log has that."""
        desk = self._desk
        number = 1
        for call in self._earlier_calls():
            number += call.purpose == purpose and call.round == self._round
        wire = desk.state.wire_ids.get(self._name, desk.state.spec.closing_name)
        self._begun = call_id = f"{self._round}/{wire}/{purpose}/{number}"
        texts = [message.text for message in messages]
        body = {
            "call": call_id,
            "round": self._round,
            "seat": self._name,
            "purpose": purpose,
            "attempt": number,
            "model": self._seat.model,
            "messages_hash": messages_hash(texts),
            "prompts_version": PROMPTS_VERSION,
            "chars": sum(map(len, texts)),
        }
        desk.in_flight[self._name] = call_id
        return "call_started", body

    async def answer(
        self, purpose: str, messages: Sequence[Message], shorter: Shorter | None = None
    ) -> Answer:
        """Ask until there is an answer, or no further try can help or is allowed.

        The budget has counted the first try, and `begin` may have begun it.

        Args:
            purpose: what for.
            messages: the prompt.
            shorter: makes the prompt again where it was too long for the model; used once.

        Raises:
            Failed: there is no answer.
        """
        attempt = 0
        while True:
            attempt += 1
            if not self._begun:
                await self._start(purpose, messages)
            call, self._begun = self._begun, ""
            try:
                completion = await self._ask(purpose, messages)
            except CallError as error:
                delay = self._delay(error, attempt)
                if delay is None and self._may_shorten(error, shorter):
                    messages, shorter = await self._shortened(call, error, messages, shorter), None
                    continue
                self._desk.in_flight.pop(self._name, None)
                await self._desk.post(("call_failed", failed_body(call, error, delay)))
                if delay is None:
                    raise Failed(error) from None
                await asyncio.sleep(delay)
            else:
                self._desk.in_flight.pop(self._name, None)
                body = self._finished_body(call, completion)
                return Answer(call, completion.text, ("call_finished", body))

    def _delay(self, error: CallError, attempt: int) -> float | None:
        """Return seconds to the next try, which is then counted, or None for no further try."""
        left = self._deadline - self._loop.time()
        delay = retry_delay(error, attempt, self._seat.retries, left)
        return delay if delay is not None and self._extra() else None

    def _may_shorten(self, error: CallError, shorter: Shorter | None) -> bool:
        return (
            error.kind == TOO_LONG
            and shorter is not None
            and shorter() is not None
            and self._extra()
        )

    async def _shortened(
        self, call: str, error: CallError, messages: Sequence[Message], shorter: Shorter | None
    ) -> Sequence[Message]:
        """Let the log say that the prompt was too long, and return it as it is after that."""
        self._desk.in_flight.pop(self._name, None)
        await self._desk.post(("call_failed", failed_body(call, error, 0.0)))
        return (shorter() if shorter is not None else None) or messages

    def _extra(self) -> bool:
        desk = self._desk
        reserve = self._name != desk.state.chairman_name
        return desk.budget.take_extra(self._seat.vendor, reserve=reserve)

    async def _start(self, purpose: str, messages: Sequence[Message]) -> None:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            # What was called may have swallowed the cancellation; nothing more is called after it.
            raise asyncio.CancelledError
        await self._desk.post(self.begin(purpose, messages))

    def _earlier_calls(self) -> Sequence[LoggedCall]:
        state = self._desk.state
        if self._name == state.chairman_name:
            return [call for call in state.calls.values() if call.seat == self._name]
        turn = state.turns[self._round].get(self._name)
        return turn.calls if turn is not None else ()

    async def _ask(self, purpose: str, messages: Sequence[Message]) -> Completion:
        desk = self._desk
        self._began, self._first = self._loop.time(), None
        left = self._deadline - self._began
        if left <= 0:
            raise CallError(f"no time left of {self._seat.timeout_s:g} s", kind="timeout")
        try:
            provider = desk.provider(self._name)
        except RoundtableError as exc:  # a script or module that was there at the start is gone
            raise CallError(str(exc), kind="spawn") from exc
        call = Call(
            messages,
            self._name,
            self._round,
            purpose,
            self._settings,
            self._tools,
            left,
            desk.state.spec.brief,
        )
        return await complete_bounded(provider, call, self._told, stall_s=self._seat.stall_s)

    def _told(self, chars: int) -> None:
        if self._first is None:
            self._first = self._loop.time() - self._began
        self._desk.on_progress(self._name, chars)

    def _finished_body(self, call: str, completion: Completion) -> dict[str, Any]:
        usage = completion.usage
        timings = {name: round(seconds, 3) for name, seconds in completion.timings.items()}
        if self._first is not None:
            timings.setdefault("first_output", round(self._first, 3))
        # An answer out of a record, or a command that timed itself, brings its own.
        timings.setdefault("total", round(self._loop.time() - self._began, 3))
        process = {} if completion.process is None else {"process": dict(completion.process)}
        return {
            "call": call,
            "text": completion.text,
            "tool_calls": list(completion.tool_calls),
            "usage": usage.to_json() if usage is not None else None,
            "cost": usage.cost if usage is not None else None,
            "model": completion.model,
            "request_id": completion.request_id,
            "timings": timings,
            **process,
        }


def ending_refused(desk: Desk, seat: Seat) -> Body | None:
    """Count the first try for the ending, or return the event of its failure.

    One call is kept for it, and one that was cut off may be made again. Where it failed before the
    process died, another try has to be within the limits, as it would have had to be then.
    """
    tried = [call for call in desk.state.verdict_calls if not call.lost]
    if not tried:
        desk.budget.take(seat.vendor)
    elif not desk.budget.take_extra(seat.vendor, reserve=False):
        return "verdict_failed", {"error": tried[-1].error, "message": tried[-1].message}
    return None


def with_repair(messages: Sequence[Message], text: str, request: str) -> Sequence[Message]:
    """Return the messages of a repair: what was asked, what came (cut if long), what is wanted."""
    shown = text if len(text) <= MAX_QUOTE else text[:MAX_QUOTE] + "\n[cut]"
    return (*messages, Message("assistant", shown), Message("user", request))


def failed_body(call: str, error: CallError, retry_in_s: float | None) -> dict[str, Any]:
    """Return the body of a `call_failed` event."""
    body: dict[str, Any] = {
        "call": call,
        "error": error.kind,
        "message": one_line(str(error)),
        "partial": whole(error.partial) or None,
        "retry_in_s": None if retry_in_s is None else round(retry_in_s, 3),
    }
    usage = error.usage.believed() if isinstance(error.usage, Usage) else UNKNOWN
    if usage != UNKNOWN:  # it was billed all the same
        body |= {"usage": usage.to_json(), "cost": usage.cost}
    if error.process is not None:
        body["process"] = dict(error.process)
    return body


def _settings(seat: Seat) -> Mapping[str, Any]:
    found = {name: value for name in SETTINGS if (value := getattr(seat, name)) is not None}
    return found or NOTHING
