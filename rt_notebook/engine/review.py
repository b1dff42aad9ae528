"""Who speaks when in a review, and when it ends: one pure function from a state to the next step.

Resuming is nothing else: fold the log, ask for the next step, go on.
"""

from __future__ import annotations

from typing import Final

from rt_notebook.contract.similarity import bullets_text, similarity
from rt_notebook.domain.gate import Gate
from rt_notebook.domain.positions import canonical_key
from rt_notebook.domain.state import State
from rt_notebook.domain.turn import Turn
from rt_notebook.engine.limits import broken_calls, broken_limit
from rt_notebook.engine.steps import Ask, AskVerdict, Conclude, OpenGate, Record, Step

_START_VERDICT: Final = Record("verdict_started", {})


def next_step(state: State) -> Step:
    """Return what to do next.

    Args:
        state: the fold; every turn of the current round is either settled or open.
    """
    if state.verdict_status in ("ready", "failed"):  # a stop that comes after it is too late
        return Conclude("done", stop_reason(state))
    if state.stop_asked:
        return Conclude("stopped", "stopped")
    if state.status == "verdict":
        return AskVerdict()
    if state.ending is not None:
        return _ended(state, state.ending)
    if state.extended_here:
        return _next_round(state)
    if not state.round_complete(state.round):
        return _round_under_way(state)
    return _after_round(state)


def stop_reason(state: State) -> str:
    """Return why the discussion ended: an event's reason, consensus, or the rounds."""
    if state.stop_reason is not None:  # a verdict asked for after the end keeps the first reason
        return state.stop_reason
    if state.ending is not None:
        return state.ending
    return "consensus" if state.consensus_round == state.round else "rounds"


def agreed_key(state: State) -> str | None:
    """Return the stance on which all counted seats stand, or None.

    At least two counted seats, each with a position, all equal; `other:` labels are compared in
    normal form.
    """
    positions = [state.positions.get(seat.name) for seat in state.spec.counted]
    if len(positions) < 2 or any(position is None for position in positions):
        return None
    keys = {canonical_key(position.key) for position in positions if position is not None}
    first = positions[0]
    return first.key if len(keys) == 1 and first is not None else None


def loop_similarity(state: State) -> float | None:
    """Return the least similarity of the round's replies to the same seats' previous ones.

    None when the round isn't a loop: somebody moved, failed, has no earlier reply, or says
    something new. A pass fits a loop, but passes alone are no loop.
    """
    threshold = state.spec.loop_threshold
    if threshold <= 0 or state.round < 1:
        return None
    found: list[float] = []
    for turn in state.counted_turns(state.round):
        if turn.reply is not None and turn.reply.valid and turn.reply.passed:
            continue
        score = _similar_to_own(state, turn)
        if score is None or score <= threshold:
            return None
        found.append(score)
    return min(found, default=None)


def _ended(state: State, reason: str) -> Step:
    if reason in ("limit", "clock") and state.spec.limits.on_limit == "pause":
        return Conclude("paused", reason)
    if not any(turn.reply is not None for turns in state.turns for turn in turns.values()):
        return Conclude("error", reason)  # nobody said anything: there is nothing to judge
    return _START_VERDICT


def _round_under_way(state: State) -> Step:
    """Return the step in a round whose turns aren't all settled, before the opening too."""
    if not state.turns:
        return _next_round(state)
    turns = state.turns[state.round]
    names = [seat.name for seat in state.spec.seats]
    still_open = tuple(name for name in names if name not in turns or not turns[name].final)
    # Calls that an interruption cut off count too: what is left may not suffice any more.
    limit = broken_calls(state, still_open)
    return Record("limit_reached", limit) if limit is not None else Ask(state.round, still_open)


def _after_round(state: State) -> Step:
    if all(turn.failed for turn in state.counted_turns(state.round)):
        return Conclude("error", "error")
    agreed = agreed_key(state)
    if agreed is not None:
        return _after_consensus(state, agreed)
    finding = _finding(state)
    if finding is not None:
        return finding
    if state.round >= state.rounds:
        return _START_VERDICT
    limit = broken_limit(state, _askable(state))
    if limit is not None:
        return Record("limit_reached", limit)
    if not _asks_people(state) or _closed_gate(state) is not None:
        return _next_round(state)
    return _gate(state)


def _after_consensus(state: State, agreed: str) -> Step:
    if state.consensus_round != state.round:
        return Record("consensus", {"round": state.round, "stance_key": agreed})
    if not _asks_people(state):
        return _START_VERDICT
    gate = _closed_gate(state)
    if gate is not None:
        return _next_round(state) if gate.has_text else _START_VERDICT
    if broken_limit(state, _askable(state)) is not None:  # one more round isn't to be had
        return _START_VERDICT
    return _gate(state, reopen_calls=len(state.spec.seats))


def _next_round(state: State) -> Step:
    limit = broken_limit(state, _askable(state))
    if limit is not None:
        return Record("limit_reached", limit)
    return Record("round_started", {"round": state.round + 1})


def _askable(state: State) -> tuple[str, ...]:
    return tuple(seat.name for seat in state.spec.seats if seat.name not in state.down)


def _finding(state: State) -> Record | None:
    turns = state.counted_turns(state.round)
    if all(turn.reply is not None and turn.reply.valid and turn.reply.passed for turn in turns):
        return Record("nothing_new", {"round": state.round})
    similar = loop_similarity(state)
    if similar is not None:
        return Record("loop", {"round": state.round, "similarity": round(similar, 4)})
    return None


def _similar_to_own(state: State, turn: Turn) -> float | None:
    before = next(
        (
            earlier.reply
            for turns in reversed(state.turns[: turn.round])
            if (earlier := turns.get(turn.seat)) is not None and earlier.usable
        ),
        None,
    )
    if before is None or turn.reply is None or not turn.usable:
        return None
    if canonical_key(before.stance_key or "") != canonical_key(turn.reply.stance_key or ""):
        return None
    return similarity(bullets_text(before), bullets_text(turn.reply))


def _asks_people(state: State) -> bool:
    return not state.unattended and state.spec.gates != "off"


def _closed_gate(state: State) -> Gate | None:
    """Return the gate after the current round, if it ran its course.

    One that an interruption or the clock cut short opens again on resume.
    """
    for gate in reversed(state.gates):
        if gate.round == state.round and gate.why not in (None, "interrupted", "clock"):
            return gate
    return None


def _gate(state: State, reopen_calls: int | None = None) -> OpenGate:
    questions = state.questions_of(state.round)
    if state.spec.gates == "blocking":
        return OpenGate(state.round, "blocking", questions, None, reopen_calls)
    mode = "questions" if questions else "checkpoint"
    window = state.spec.question_wait_s if questions else state.spec.checkpoint_wait_s
    return OpenGate(state.round, mode, questions, window, reopen_calls)
