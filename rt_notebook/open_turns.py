"""What waits for a person, as the log tells it: every process sees it, not only the one that asks.

A human seat's turn is open while its call is under way. What it asks is a pure function of the
state, and its window is the seat's own, so no event holds either.
"""

from __future__ import annotations

from rt_notebook.contract.discussion_prompts import prompts_for
from rt_notebook.contract.prompts import Prompts
from rt_notebook.domain.snapshot import TurnPart
from rt_notebook.domain.state import State
from rt_notebook.domain.turn import CLOSING_PURPOSES, Call

HUMAN = "human"
"""The vendor of a seat that a person fills."""


def open_turns(state: State, prompts: Prompts | None = None) -> list[TurnPart]:
    """Return the open turns of human seats, oldest first.

    Args:
        state: the fold.
        prompts: the debate's, where somebody has made them already.
    """
    calls = _running(state)
    if not calls:
        return []
    prompts = prompts or prompts_for(state.spec, state.sources)
    return [_part(call, state, prompts) for call in calls]


def _running(state: State) -> list[Call]:
    if not state.live:
        return []
    turns = state.turns[-1].values() if state.turns else ()
    last = [turn.calls[-1] for turn in turns if turn.calls and not turn.final]
    last += state.verdict_calls[-1:]
    found = [call for call in last if call.model == HUMAN and call.outcome == "running"]
    return sorted(found, key=lambda call: call.started_at)


def _part(call: Call, state: State, prompts: Prompts) -> TurnPart:
    if call.purpose in CLOSING_PURPOSES:
        prompt, seat = prompts.verdict(state), state.closing_seat
    else:
        seat = state.spec.seat(call.seat)
        prompt = prompts.turn(state, seat)
    closes_at = call.started_at + int(seat.timeout_s * 1000)
    return TurnPart(round=call.round, seat=call.seat, prompt=prompt, closes_at=closes_at)
