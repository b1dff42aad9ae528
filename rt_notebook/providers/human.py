"""A person in a seat: open turns lie on a desk until a front end takes their text."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from rt_notebook.errors import UsageError
from rt_notebook.providers.base import Call, Completion, Progress

PERSON: Final = "person"
"""Who fills a human seat, unless something else is said."""

_log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class OpenTurn:
    """A turn that waits for a person."""

    round: int
    """The round."""
    seat: str
    """The seat's name."""
    purpose: str
    """opening, critique, repair or verdict."""
    prompt: str
    """What the person is asked, as the other seats would be."""
    closes_at: int
    """Milliseconds since 1970 UTC."""
    answer: asyncio.Future[tuple[str, str]]
    """Settled with the text and who sent it: person, agent or process."""


class Desk:
    """The open turns of one debate's human seats; lives on the debate's loop."""

    def __init__(self) -> None:
        self.turns: list[OpenTurn] = []
        """What waits for a person, oldest first."""
        self.changed: list[Callable[[], None]] = []
        """Called whenever a turn comes or goes."""

    async def ask(self, call: Call) -> tuple[str, str]:
        """Lay a turn on the desk and return the text that somebody gives, and who did."""
        answer: asyncio.Future[tuple[str, str]] = asyncio.get_running_loop().create_future()
        closes_at = time.time_ns() // 1_000_000 + int(call.deadline_s * 1000)
        turn = OpenTurn(
            call.round, call.seat, call.purpose, call.messages[-1].text, closes_at, answer
        )
        self.turns.append(turn)
        self._tell()
        try:
            return await answer
        finally:
            self.turns.remove(turn)
            self._tell()

    def find(self, round: int, seat: str) -> OpenTurn:
        """Return the open turn of a seat.

        Raises:
            UsageError: there is none.
        """
        for turn in self.turns:
            if turn.round == round and turn.seat == seat and not turn.answer.done():
                return turn
        opened = ", ".join(f"{turn.seat} (round {turn.round})" for turn in self.turns) or "none"
        raise UsageError(
            f"no turn of {seat!r} is open in round {round}; open turns: {opened}",
            seat=seat,
            round=round,
        )

    def _tell(self) -> None:
        for listener in self.changed:
            try:
                listener()
            except Exception:  # the edge to views: a broken one must not fail the person's turn
                _log.exception("a view of the open turns failed")


class HumanProvider:
    """Answers calls with what a person writes."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def complete(self, call: Call, progress: Progress) -> Completion:
        """Wait for a person's text; where an agent sent it, that is the model that it names."""
        text, source = await self._desk.ask(call)
        return Completion(text, model=None if source == PERSON else source)
