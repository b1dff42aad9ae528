"""Who speaks when in a discussion, and when it ends: one pure function, as `review` has one.

Seats speak one after the other; a failed one is skipped and asked again in the next round. There
are no gates. Whatever ends it early, the observer still sums it up.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rt_notebook.contract.similarity import similarity
from rt_notebook.contract.speech import spoken_text
from rt_notebook.domain.state import State
from rt_notebook.domain.turn import Turn
from rt_notebook.engine.limits import broken_limit
from rt_notebook.engine.steps import Ask, AskVerdict, Conclude, Record, Step

_START_SUMMARY: Final = Record("verdict_started", {})


def next_step(state: State) -> Step:
    """Return what to do next.

    Args:
        state: the fold; at most one turn is open.
    """
    if state.verdict_status in ("ready", "failed"):  # a stop that comes after it is too late
        return Conclude("done", stop_reason(state))
    if state.stop_asked:
        return Conclude("stopped", "stopped")
    if state.status == "verdict":
        return AskVerdict()
    if state.ending is not None:
        return _ended(state, state.ending)
    if state.extended_here or not state.turns:
        return _next_round(state)
    similar = loop_similarity(state)
    if similar is not None:
        return Record("loop", {"round": state.round, "similarity": round(similar, 4)})
    return _in_round(state)


def stop_reason(state: State) -> str:
    """Return why the discussion ended: an event's reason, or the rounds."""
    return state.stop_reason or state.ending or "rounds"


def loop_similarity(state: State) -> float | None:
    """Return how alike the last turn is to its seat's previous one or to the one before it.

    None where that isn't above the threshold. Turns from before an extension count no more: the
    new words deserve an answer.
    """
    threshold = state.spec.loop_threshold
    if threshold <= 0:
        return None
    turns = _latest_turns(state)
    last = next(turns, None)
    if last is None:
        return None
    text, found, own = _text(last), 0.0, False
    for place, earlier in enumerate(turns):
        mine = earlier.seat == last.seat
        if place == 0 or (mine and not own):
            found = max(found, similarity(text, _text(earlier)))
        own = own or mine
        if own and place > 0:
            break
    return found if found > threshold else None


def _latest_turns(state: State) -> Iterator[Turn]:
    """Yield the turns of counted seats that say something, newest first."""
    since = state.extensions[-1].round if state.extensions else 0
    hidden = state.hidden
    for entry in reversed(state.said):
        if isinstance(entry, Turn) and entry.usable and entry.seat not in hidden:
            if entry.round <= since:
                return
            yield entry


def _text(turn: Turn) -> str:
    return spoken_text(turn.reply) if turn.reply is not None else ""


def _ended(state: State, reason: str) -> Step:
    if reason in ("limit", "clock") and state.spec.limits.on_limit == "pause":
        return Conclude("paused", reason)
    if not any(isinstance(entry, Turn) for entry in state.said):
        return Conclude("error", reason)  # nobody said anything: there is nothing to sum up
    return _START_SUMMARY


def _in_round(state: State) -> Step:
    turns = state.turns[state.round]
    for seat in state.spec.seats:
        if seat.name not in turns or not turns[seat.name].final:
            limit = broken_limit(state, (seat.name,))
            if limit is not None:
                return Record("limit_reached", limit)
            return Ask(state.round, (seat.name,))
    if all(turn.failed for turn in state.counted_turns(state.round)):
        return Conclude("error", "error")
    return _START_SUMMARY if state.round >= state.rounds else _next_round(state)


def _next_round(state: State) -> Step:
    asked = [seat.name for seat in state.spec.seats if seat.name not in state.down]
    limit = broken_limit(state, asked[:1])
    if limit is not None:
        return Record("limit_reached", limit)
    return Record("round_started", {"round": max(state.round, 0) + 1})
