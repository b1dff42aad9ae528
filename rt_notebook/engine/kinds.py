"""What differs between the kinds of debate, for the one driver: who decides and who asks."""

from __future__ import annotations

from typing import Protocol

from rt_notebook.domain.seat import Seat
from rt_notebook.domain.state import State
from rt_notebook.engine import discussion, review
from rt_notebook.engine.commands import Body
from rt_notebook.engine.speeches import SpeechTaker, SummaryTaker
from rt_notebook.engine.steps import AskSearcher, Step
from rt_notebook.engine.tries import Desk
from rt_notebook.engine.turns import ReplyTaker
from rt_notebook.engine.verdicts import VerdictTaker


class Taker(Protocol):
    """Gets one thing out of one seat: a turn, a verdict, a summary."""

    async def take(self) -> None:
        """Ask until it is there or failed."""
        ...


class TurnTaker(Taker, Protocol):
    """Takes a seat's turn in a round."""

    def begin(self) -> Body | None:
        """Return the event of the first call, which `take` makes; None: the log has its answer."""
        ...


def next_step(state: State) -> Step:
    """Return what a debate does next; research comes before anybody is asked."""
    if state.research_due and not state.stop_asked and state.ending is None:
        return AskSearcher()
    return discussion.next_step(state) if state.discusses else review.next_step(state)


def turn_taker(desk: Desk, seat: Seat, round: int) -> TurnTaker:
    """Return what takes a seat's turn."""
    return SpeechTaker(desk, seat, round) if desk.state.discusses else ReplyTaker(desk, seat, round)


def closing_taker(desk: Desk, seat: Seat) -> Taker:
    """Return what asks the chairman or the observer."""
    return SummaryTaker(desk, seat) if desk.state.discusses else VerdictTaker(desk, seat)
