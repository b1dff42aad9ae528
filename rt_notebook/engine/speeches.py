"""A discussion's turns and its summary: plain texts, asked for once, without a repair.

Both go on from whatever the log already holds. A prompt that is too long for its model is asked
again once, with the oldest turns left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from rt_notebook.contract.speech import read_speech, read_summary
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.turn import SPEECH, SUMMARY
from rt_notebook.engine.commands import Body
from rt_notebook.engine.tries import Desk, Failed, Tries, ending_refused
from rt_notebook.providers.base import Message

_UNREADABLE: Final = "protocol"


class SpeechTaker:
    """Takes one seat's turn in a discussion.

    Args:
        desk: the debate.
        seat: who is asked.
        round: the round.
    """

    def __init__(self, desk: Desk, seat: Seat, round: int) -> None:
        self._desk = desk
        self._seat = seat
        self._round = round
        self._tries = Tries(desk, seat, seat.name, round)
        turn = desk.state.turns[round].get(seat.name)
        self._unread = turn.unread if turn is not None else None
        if self._unread is None:
            desk.budget.take(seat.vendor)
        self._first: Sequence[Message] = ()

    def begin(self) -> Body | None:
        """Return the event of the first call, which `take` makes; None: the log has its answer."""
        if self._unread is not None:
            return None
        self._first = self._messages()
        return self._tries.begin(SPEECH, self._first)

    async def take(self) -> None:
        """Ask until the seat has spoken or failed."""
        if self._unread is not None:  # it came before the process died
            await self._desk.post(self._read(self._unread.id, self._unread.text or ""))
            return
        try:
            answer = await self._tries.answer(SPEECH, self._first, self._shorter)
        except Failed:
            return
        await self._desk.post(answer.event, self._read(answer.call, answer.text))

    def _messages(self) -> Sequence[Message]:
        prompts = self._desk.prompts
        asked = prompts.turn(self._desk.state, self._seat)
        return Message("system", prompts.system(self._seat)), Message("user", asked)

    def _shorter(self) -> Sequence[Message] | None:
        """Return the messages again, or None where no turn could be left out of them."""
        shows = self._desk.prompts.shows_turns(self._desk.state, self._seat.name)
        return self._messages() if shows else None

    def _read(self, call: str, text: str) -> Body:
        data: dict[str, Any] = read_speech(text).to_json()
        del data["raw"]  # the call's own event holds the text
        body = {"call": call, "round": self._round, "seat": self._seat.name, "reply": data}
        return "reply_read", {**body, "repair": False}


class SummaryTaker:
    """Asks the observer, from whatever the log already holds of the summary.

    Args:
        desk: the debate.
        seat: the observer.
    """

    def __init__(self, desk: Desk, seat: Seat) -> None:
        self._desk = desk
        self._seat = seat
        state = desk.state
        self._tries = Tries(desk, seat, state.chairman_name, max(state.round, 0))

    async def take(self) -> None:
        """Ask until the summary is written or failed."""
        desk = self._desk
        logged = next((call.text for call in desk.state.verdict_calls if call.text), None)
        if logged is not None:
            await desk.post(_outcome(logged))
            return
        refused = ending_refused(desk, self._seat)
        if refused is not None:
            await desk.post(refused)
            return
        try:
            answer = await self._tries.answer(SUMMARY, self._messages(), self._shorter)
        except Failed as exc:
            await desk.post(("verdict_failed", {"error": exc.error.kind, "message": str(exc)}))
            return
        await desk.post(answer.event, _outcome(answer.text))

    def _messages(self) -> Sequence[Message]:
        prompts, state = self._desk.prompts, self._desk.state
        system = prompts.chairman_system(state.spec.closer)
        return Message("system", system), Message("user", prompts.verdict(state))

    def _shorter(self) -> Sequence[Message] | None:
        state = self._desk.state
        shows = self._desk.prompts.shows_turns(state, state.chairman_name)
        return self._messages() if shows else None


def _outcome(text: str) -> Body:
    read = read_summary(text)
    if read.valid:
        return "verdict_written", {"verdict": read.to_json()}
    message = f"the observer's summary can't be read: {'; '.join(read.errors)}"
    return "verdict_failed", {"error": _UNREADABLE, "message": message}
