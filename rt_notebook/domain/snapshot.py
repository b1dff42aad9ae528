"""The state of a debate as everybody outside sees it: one frozen object, the same in Python and as JSON."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from rt_notebook.domain.positions import at_round, count
from rt_notebook.domain.state import State

SNAPSHOT_VERSION = 1
Status = Literal[
    "researching", "running", "waiting", "verdict", "done", "stopped", "paused", "interrupted", "error"
]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class QuestionPart(_Part):
    """A question of the open gate."""

    id: str
    text: str
    askers: list[str]


class GatePart(_Part):
    """The open gate."""

    round: int
    mode: str
    questions: list[QuestionPart]
    closes_at: int | None
    """Milliseconds since 1970 UTC; None: it waits."""
    holds_left: int
    reopen_calls: int | None


class TurnPart(_Part):
    """A human seat's open turn."""

    round: int
    seat: str
    prompt: str
    closes_at: int | None


class PositionPart(_Part):
    """Where a seat stands."""

    seat: str
    round: int
    stance_key: str
    stance: str
    carried: bool
    """True when it was taken before the current round."""


class NextAction(_Part):
    """What to do now."""

    type: Literal["ask_user", "await_user", "wait", "resume", "verdict", "none"]
    instruction: str
    command: str | None = None
    wait_command: str | None = None
    hold_command: str | None = None


class Snapshot(_Part):
    """The state of a debate at one revision."""

    v: int
    id: str
    kind: str
    title: str
    status: Status
    stop_reason: str | None
    revision: int
    """Number of events so far."""
    round: int
    """The current round; -1 before the opening."""
    rounds: int
    completed_rounds: int
    """Critique rounds in which every seat replied, passed or failed."""
    gate: GatePart | None
    turns: list[TurnPart]
    positions: list[PositionPart]
    tally: dict[str, list[str]]
    """Counted seats' names by stance key."""
    verdict: dict[str, Any]
    """status (none, ready, failed, skipped) and, when ready, the verdict's fields."""
    usage: dict[str, Any]
    limits: dict[str, dict[str, float | None]]
    """{bound, used} by limit that is set."""
    errors: list[dict[str, Any]]
    """{round, seat, kind, message} of failed turns."""
    next_action: NextAction

    def to_json(self) -> dict[str, Any]:
        """Return the snapshot as a JSON-able dict."""
        return self.model_dump(mode="json")


def snapshot(state: State, turns: list[TurnPart], next_action: NextAction, status: str | None = None) -> Snapshot:
    """Return what outsiders see of `state`.

    Args:
        state: the fold.
        turns: human seats' open turns, which only the running process knows.
        next_action: what to do now.
        status: overrides the fold's status (a reader overlays `interrupted` on a stale lease).
    """
    gate = state.gate
    shown = status or state.status
    return Snapshot(
        v=SNAPSHOT_VERSION,
        id=state.id,
        kind=state.spec.kind,
        title=state.spec.shown_title,
        status=shown,  # type: ignore[arg-type]  # the fold only sets these words
        stop_reason="interrupted" if status == "interrupted" else state.stop_reason,
        revision=state.revision,
        round=state.round,
        rounds=state.rounds,
        completed_rounds=state.completed_rounds,
        gate=gate and GatePart(
            round=gate.round,
            mode=gate.mode,
            questions=[QuestionPart(**question.to_json()) for question in gate.questions],
            closes_at=gate.closes_at,
            holds_left=gate.holds_left,
            reopen_calls=gate.reopen_calls,
        ),
        turns=turns,
        positions=[
            PositionPart(
                seat=p.seat, round=p.round, stance_key=p.key, stance=p.stance, carried=p.round < state.round
            )
            for p in state.positions.values()
        ],
        tally=final_tally(state),
        verdict=verdict_json(state),
        usage=usage_json(state),
        limits=limits_json(state),
        errors=errors_json(state),
        next_action=next_action,
    )


def final_tally(state: State) -> dict[str, list[str]]:
    """Return the counted seats' names by stance key, from their latest positions."""
    return count(state.positions, (seat.name for seat in state.spec.counted))


def tally_at(state: State, number: int) -> dict[str, list[str]]:
    """Return the counted seats' names by stance key as they stood after a round."""
    return count(at_round(state.history, number), (seat.name for seat in state.spec.counted))


def participation(state: State) -> dict[str, list[str]]:
    """Return which counted seats' positions count from the last round, which are carried over, which are missing."""
    found: dict[str, list[str]] = {"counted": [], "carried": [], "missing": []}
    for seat in state.spec.counted:
        position = state.positions.get(seat.name)
        turn = state.turns[state.round].get(seat.name) if state.turns else None
        if position is None:
            found["missing"].append(seat.name)
        elif position.round == state.round or (turn is not None and turn.reply is not None and turn.reply.passed):
            found["counted"].append(seat.name)
        else:
            found["carried"].append(seat.name)
    return found


def verdict_json(state: State) -> dict[str, Any]:
    """Return the verdict as a dict: status and, when ready, pick, label and the sections."""
    text = state.verdict
    data: dict[str, Any] = {"status": state.verdict_status, "tally": final_tally(state)}
    data["participation"] = participation(state)
    if text is not None and state.verdict_status == "ready":
        data |= {
            "pick": text.pick,
            "label": state.spec.brief.label_of(text.pick) if text.pick != "none" else None,
            "recommendation": text.recommendation,
            "dissent": text.dissent,
            "kill_criteria": list(text.kill_criteria),
            "open_questions": list(text.open_questions),
        }
    elif state.verdict_error:
        data["error"] = state.verdict_error
    return data


def usage_json(state: State) -> dict[str, Any]:
    """Return calls, tokens and cost in all, by seat and by vendor."""
    data = state.usage.to_json()
    data["seats"] = {name: tally.to_json() for name, tally in state.seat_usage.items()}
    data["vendors"] = {name: tally.to_json() for name, tally in state.vendor_usage.items()}
    return data


def limits_json(state: State) -> dict[str, dict[str, float | None]]:
    """Return {bound, used} for each limit that is set; minutes' use is known to the running process only."""
    limits = state.spec.limits
    used: dict[str, tuple[float | None, float | None]] = {
        "max_calls": (limits.max_calls, state.usage.calls),
        "max_tokens": (limits.max_tokens, state.usage.estimated_tokens),
        "max_cost": (limits.max_cost, state.usage.cost),
        "max_minutes": (limits.max_minutes, None),
    }
    for vendor, bound in limits.max_calls_per_vendor.items():
        tally = state.vendor_usage.get(vendor)
        used[f"max_calls_per_vendor.{vendor}"] = (bound, tally.calls if tally else 0)
    return {name: {"bound": bound, "used": got} for name, (bound, got) in used.items() if bound is not None}


def errors_json(state: State) -> list[dict[str, Any]]:
    """Return the failed turns: round, seat, kind, message."""
    return [
        {"round": turn.round, "seat": turn.seat, "kind": turn.error, "message": turn.message}
        for turns in state.turns
        for turn in turns.values()
        if turn.failed
    ]
