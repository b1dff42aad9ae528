"""One seat's turn: its answer read by the contract, at most one repair, all in its deadline.

A turn goes on from whatever the log already holds of it, so that no finished call is made again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rt_notebook.contract.prompts import Prompts
from rt_notebook.contract.reply import REPAIRED, read_reply
from rt_notebook.domain.reply import Reply
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.state import State
from rt_notebook.domain.turn import REPAIR, Call
from rt_notebook.engine.commands import Body
from rt_notebook.engine.tries import Desk, Failed, Tries, with_repair
from rt_notebook.providers.base import Message


class ReplyTaker:
    """Takes one turn of one seat.

    Made for all seats of a round before any is asked, so that every first try is in the budget
    before a repair or retry asks for what is left, and all of them begin in the log together.

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
        self._reply = turn.reply if turn is not None else None
        self._unread = turn.unread if turn is not None else None
        if self._reply is None and self._unread is None:
            desk.budget.take(seat.vendor)
        self._messages = self._shown()
        self._purpose = "opening" if round == 0 else "critique"

    def begin(self) -> Body | None:
        """Return the event of the first call, which `take` makes; None: the log has its answer."""
        if self._reply is not None or self._unread is not None:
            return None
        return self._tries.begin(self._purpose, self._messages)

    async def take(self) -> None:
        """Take the turn: until its reply is read, repaired or failed."""
        try:
            if self._reply is not None:
                await self._go_on(self._reply)
                return
            broken = await self._first_reply()
            if broken is not None:
                await self._repair(broken)
        except Failed:
            return

    def _shown(self) -> Sequence[Message]:
        desk, opens = self._desk, self._round == 0
        user = desk.prompts.opening() if opens else desk.prompts.critique(desk.state)
        return Message("system", desk.prompts.system(self._seat)), Message("user", user)

    async def _first_reply(self) -> Reply | None:
        """Get and record the reply; return it where it needs a repair that may be made."""
        if self._unread is not None:  # it came before the process died
            return await self._record_reply(self._unread.id, self._unread.text or "")
        answer = await self._tries.answer(self._purpose, self._messages)
        return await self._record_reply(answer.call, answer.text, answer.event)

    async def _record_reply(self, call: str, text: str, *before: Body) -> Reply | None:
        reply = self._read(text)
        repair = not reply.valid and self._may_repair()
        if not (reply.valid or repair):
            reply = reply.unresolved()
        body = {**self._body(call, reply), "repair": repair}
        await self._desk.post(*before, ("reply_read", body))
        return reply if repair else None

    def _may_repair(self) -> bool:
        # A person's form shows the errors again by itself.
        vendor = self._seat.vendor
        return vendor != "human" and self._desk.budget.take_extra(vendor)

    async def _go_on(self, reply: Reply) -> None:
        """Go on where the process died between a broken reply and its repair."""
        if self._unread is not None:
            await self._record_repair(self._unread.id, self._unread.text or "")
        elif self._may_repair():
            await self._repair(reply)
        else:
            calls = self._desk.state.turns[self._round][self._seat.name].calls
            first = next((call for call in calls if _gave(call, reply)), calls[-1])
            body = {**self._body(first.id, reply.unresolved()), "repair": False}
            await self._desk.post(("reply_read", body))

    async def _repair(self, reply: Reply) -> None:
        request = self._desk.prompts.repair(reply.errors)
        answer = await self._tries.answer(REPAIR, with_repair(self._messages, reply.raw, request))
        await self._record_repair(answer.call, answer.text, answer.event)

    async def _record_repair(self, call: str, text: str, *before: Body) -> None:
        read = self._read(text)
        read = read._replace(notes=[*read.notes, REPAIRED]) if read.valid else read.unresolved()
        await self._desk.post(*before, ("repaired", self._body(call, read)))

    def _body(self, call: str, reply: Reply) -> dict[str, Any]:
        data = reply.to_json()
        del data["raw"]  # the call's own event holds the text
        return {"call": call, "round": self._round, "seat": self._seat.name, "reply": data}

    def _read(self, text: str) -> Reply:
        return read_as(self._desk.prompts, self._desk.state, self._seat, self._round, text)


def read_as(prompts: Prompts, state: State, seat: Seat, round: int, text: str) -> Reply:
    """Return a seat's reply as the contract reads it, the names it was shown mapped back."""
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
    mapped = dict.fromkeys(names.get(name, name) for name in reply.agree_with)
    return reply._replace(agree_with=[name for name in mapped if name != seat.name])


def _gave(call: Call, reply: Reply) -> bool:
    return call.text is not None and call.purpose != REPAIR and call.text == reply.raw
