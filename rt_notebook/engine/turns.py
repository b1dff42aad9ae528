"""One seat's turn: its tries, the reading of its answer, and at most one repair, all inside the seat's deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple, Protocol

from rt_notebook.contract.prompts import Prompts, messages_hash
from rt_notebook.contract.reply import read_reply
from rt_notebook.contract.verdict import read_verdict
from rt_notebook.domain.reply import Reply, VerdictText
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.state import State
from rt_notebook.domain.turn import REPAIR, VERDICT, Turn
from rt_notebook.engine.limits import Budget
from rt_notebook.errors import CallError
from rt_notebook.providers.base import Call, Completion, Message, Provider
from rt_notebook.providers.policies import complete_bounded, retry_delay

Post = Callable[..., Awaitable[None]]
"""Puts (kind, body) pairs into the log; returns once they are durable and applied."""

OnProgress = Callable[[str, int], None]
"""Told a seat's name and the characters that have come so far."""


class Desk(Protocol):
    """What a turn needs of its debate."""

    state: State
    prompts: Prompts
    budget: Budget
    post: Post
    on_progress: OnProgress
    in_flight: dict[str, str]

    def provider(self, name: str) -> Provider:
        """Return the provider of a seat or of the chairman."""
        ...


class Answer(NamedTuple):
    """A finished try that isn't in the log yet."""

    call: str
    finished: dict[str, Any]
    text: str


class Failed(Exception):
    """The tries are used up; the last failure is in the log."""

    def __init__(self, error: CallError) -> None:
        super().__init__(str(error))
        self.error = error


class TurnTaker:
    """Takes one turn of one seat, or the chairman's.

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

    async def reply(self) -> None:
        """Take a seat's turn: until its reply is read, repaired or failed."""
        desk, seat = self._desk, self._seat
        purpose = "opening" if self._round == 0 else "critique"
        system = desk.prompts.system(seat)
        user = desk.prompts.opening(seat) if self._round == 0 else desk.prompts.critique(seat, desk.state)
        messages = [Message("system", system), Message("user", user)]
        turn = desk.state.turns[self._round].get(self._name)
        reply = turn.reply if turn is not None else None
        try:
            if reply is None:
                answer = await self._first_answer(turn, purpose, messages)
                reply = await self._record_reply(answer)
            if not reply.valid and self._wants_repair:
                await self._repair(messages, reply)
        except Failed:
            return

    async def verdict(self) -> None:
        """Ask the chairman, until its verdict is written or failed."""
        desk = self._desk
        seat = desk.state.spec.chairman
        messages = [
            Message("system", desk.prompts.chairman_system(seat)),
            Message("user", desk.prompts.verdict(desk.state)),
        ]
        try:
            text = self._text_of(REPAIR) or self._text_of(VERDICT)
            if text is None:
                answer = await self._tries(VERDICT, messages)
                text = answer.text
                if await self._record_verdict(answer, may_repair=True):
                    return
            elif self._is_settled(text):
                await desk.post(_outcome(self._read_verdict(text)))
                return
            again = Message("user", desk.prompts.repair(self._read_verdict(text).errors, verdict=True))
            messages = [*messages, Message("assistant", text), again]
            await self._record_verdict(await self._tries(REPAIR, messages, counted=True), may_repair=False)
        except Failed as exc:
            await desk.post(("verdict_failed", {"error": exc.error.kind, "message": str(exc)}))

    def _text_of(self, purpose: str) -> str | None:
        """Return what the chairman answered before the process died, or None."""
        calls = self._desk.state.verdict_calls
        return next((call.text for call in reversed(calls) if call.purpose == purpose and call.text), None)

    def _is_settled(self, text: str) -> bool:
        """Return whether an answer from before needs no repair any more: it is valid, or it was the repair."""
        return self._text_of(REPAIR) is not None or self._read_verdict(text).valid

    def _read_verdict(self, text: str) -> VerdictText:
        return read_verdict(text, options=self._desk.state.spec.brief.options)

    async def _record_verdict(self, answer: Answer, *, may_repair: bool) -> bool:
        """Put the chairman's answer into the log; True when it settled the verdict."""
        read = self._read_verdict(answer.text)
        repairs = not read.valid and may_repair and self._desk.budget.take_extra(self._seat, reserve=False)
        outcome = () if repairs else (_outcome(read),)
        await self._desk.post(("call_finished", answer.finished), *outcome)
        return not repairs

    @property
    def _wants_repair(self) -> bool:
        turn = self._desk.state.turns[self._round].get(self._name)
        return turn is not None and not turn.final

    async def _first_answer(self, turn: Turn | None, purpose: str, messages: Sequence[Message]) -> Answer:
        unread = turn.unread if turn is not None else None
        if unread is not None and unread.text is not None:  # finished before the process died, never read
            return Answer(unread.id, {}, unread.text)
        return await self._tries(purpose, messages)

    async def _record_reply(self, answer: Answer) -> Reply:
        reply = self._read(answer.text)
        repair = not reply.valid and self._seat.vendor != "human" and self._desk.budget.take_extra(self._seat)
        if not (reply.valid or repair):
            reply = reply.unresolved()
        body = self._reply_body(answer.call, reply, repair)
        finished = (("call_finished", answer.finished),) if answer.finished else ()
        await self._desk.post(*finished, ("reply_read", body))
        return reply

    async def _repair(self, messages: Sequence[Message], reply: Reply) -> None:
        again = Message("user", self._desk.prompts.repair(reply.errors))
        answer = await self._tries(REPAIR, [*messages, Message("assistant", reply.raw), again], counted=True)
        read = self._read(answer.text)
        if not read.valid:
            read = read.unresolved()
        body = self._reply_body(answer.call, read, False)
        await self._desk.post(("call_finished", answer.finished), ("repaired", body))

    def _reply_body(self, call: str, reply: Reply, repair: bool) -> dict[str, Any]:
        data = reply.to_json()
        del data["raw"]  # the call_finished event beside it holds the text
        return {"call": call, "round": self._round, "seat": self._name, "reply": data, "repair": repair}

    def _read(self, text: str) -> Reply:
        return read_as(self._desk.prompts, self._desk.state, self._seat, self._round, text)

    async def _tries(self, purpose: str, messages: Sequence[Message], *, counted: bool = False) -> Answer:
        """Ask until there is an answer, a failure that won't go away, or no time or budget left.

        Args:
            purpose: the call's purpose.
            messages: the prompt.
            counted: True when the budget has counted the first try already.

        Raises:
            Failed: there is no answer.
        """
        desk = self._desk
        attempt = 0
        while True:
            attempt += 1
            if not counted:
                desk.budget.take(self._seat)
            call_id = await self._start(purpose, messages)
            started = self._loop.time()
            try:
                completion, first = await self._ask(purpose, messages)
            except CallError as error:
                delay = retry_delay(error, attempt, self._seat.retries, self._deadline - self._loop.time())
                reserve = self._name != desk.state.chairman_name
                if delay is not None and not desk.budget.take_extra(self._seat, reserve=reserve):
                    delay = None
                del desk.in_flight[self._name]
                await desk.post(("call_failed", failed_body(call_id, error, delay)))
                if delay is None:
                    raise Failed(error) from None
                await asyncio.sleep(delay)
                counted = True
                continue
            del desk.in_flight[self._name]
            return Answer(call_id, _finished_body(call_id, completion, self._loop.time() - started, first), completion.text)

    async def _start(self, purpose: str, messages: Sequence[Message]) -> str:
        desk = self._desk
        number = 1 + sum(
            call.purpose == purpose and call.round == self._round for call in self._earlier_calls()
        )
        wire = desk.state.wire_ids.get(self._name, "chairman")
        call_id = f"{self._round}/{wire}/{purpose}/{number}"
        body = {
            "call": call_id,
            "round": self._round,
            "seat": self._name,
            "purpose": purpose,
            "attempt": number,
            "model": self._seat.model,
            "messages_hash": messages_hash([message.text for message in messages]),
            "chars": sum(len(message.text) for message in messages),
        }
        desk.in_flight[self._name] = call_id
        await desk.post(("call_started", body))
        return call_id

    def _earlier_calls(self) -> Sequence[Any]:
        state = self._desk.state
        if self._name == state.chairman_name:
            return [call for call in state.calls.values() if call.seat == self._name]
        turn = state.turns[self._round].get(self._name)
        return turn.calls if turn is not None else ()

    async def _ask(self, purpose: str, messages: Sequence[Message]) -> tuple[Completion, float | None]:
        desk, loop = self._desk, self._loop
        began = loop.time()
        first: float | None = None

        def progress(chars: int) -> None:
            nonlocal first
            if first is None:
                first = loop.time() - began
            desk.on_progress(self._name, chars)

        left = self._deadline - began
        if left <= 0:
            raise CallError(f"no time left of {self._seat.timeout_s:g} s", kind="timeout")
        call = Call(
            messages, self._name, self._round, purpose, self._settings, (), left, desk.state.spec.brief
        )
        completion = await complete_bounded(desk.provider(self._name), call, progress, stall_s=self._seat.stall_s)
        return completion, first


def read_as(prompts: Prompts, state: State, seat: Seat, round: int, text: str) -> Reply:
    """Return a seat's reply as the contract reads it, with the names that the seat was shown mapped back."""
    names = prompts.reader_names(seat)
    reply = read_reply(
        text,
        options=state.spec.brief.options,
        round=round,
        trim=not seat.hidden,
        require_agree=not seat.hidden,
        seat=prompts.own_name(seat),
        seats=tuple(names),
    )
    if not prompts.anonymous or not reply.agree_with:
        return reply
    mapped = list(dict.fromkeys(names.get(name, name) for name in reply.agree_with))
    return prompts.with_names(reply, [name for name in mapped if name != seat.name])


def failed_body(call: str, error: CallError, retry_in_s: float | None) -> dict[str, Any]:
    """Return the body of a `call_failed` event."""
    return {
        "call": call,
        "error": error.kind,
        "message": str(error),
        "partial": error.partial or None,
        "retry_in_s": None if retry_in_s is None else round(retry_in_s, 3),
    }


def _outcome(read: VerdictText) -> tuple[str, dict[str, Any]]:
    if read.valid:
        return "verdict_written", {"verdict": read.to_json()}
    message = "the chairman's verdict can't be read: " + "; ".join(read.errors)
    return "verdict_failed", {"error": "protocol", "message": message}


def _finished_body(call: str, completion: Completion, total_s: float, first_s: float | None) -> dict[str, Any]:
    usage = completion.usage
    timings = {name: round(seconds, 3) for name, seconds in completion.timings.items()}
    if first_s is not None:
        timings.setdefault("first_output", round(first_s, 3))
    timings["total"] = round(total_s, 3)
    return {
        "call": call,
        "text": completion.text,
        "tool_calls": [dict(tool) for tool in completion.tool_calls],
        "usage": usage.to_json() if usage is not None else None,
        "cost": usage.cost if usage is not None else None,
        "model": completion.model,
        "request_id": completion.request_id,
        "timings": timings,
    }


def _settings(seat: Seat) -> dict[str, Any]:
    found = {"effort": seat.effort, "temperature": seat.temperature, "max_tokens": seat.max_tokens}
    return {name: value for name, value in found.items() if value is not None}
