"""The state of a debate as everybody outside sees it: one frozen object, in Python and as JSON."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from rt_notebook.domain.gate import Gate
from rt_notebook.domain.positions import Position, at_round, count
from rt_notebook.domain.research import RESEARCH
from rt_notebook.domain.state import State
from rt_notebook.domain.titles import shown_title
from rt_notebook.errors import one_line

SNAPSHOT_VERSION = 1
Status = Literal[
    "researching",
    "running",
    "waiting",
    "verdict",
    "done",
    "stopped",
    "paused",
    "interrupted",
    "error",
]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class QuestionPart(_Part):
    """A question of the open gate."""

    id: str
    """q1, q2, ... within its round: the key of its answer."""
    text: str
    """As its first asker wrote it."""
    askers: list[str]
    """The seats that asked it; a hidden one is `an unnamed voice`."""


class GatePart(_Part):
    """The open gate."""

    round: int
    """The round it follows; an answer names it."""
    mode: str
    """questions, checkpoint or blocking."""
    questions: list[QuestionPart]
    """What the round's seats ask; may be empty."""
    closes_at: int | None
    """Milliseconds since 1970 UTC; None: it waits."""
    holds_left: int
    """How often `hold` still works."""
    reopen_calls: int | None
    """At a consensus: how many calls any text costs (one more round)."""


class TurnPart(_Part):
    """A human seat's open turn."""

    round: int
    """The round it is for."""
    seat: str
    """The seat's name."""
    prompt: str
    """What the person is asked, as the other seats would be."""
    closes_at: int | None
    """Milliseconds since 1970 UTC."""


class PositionPart(_Part):
    """Where a seat stands."""

    seat: str
    """The seat's name."""
    round: int
    """The round it was taken in."""
    stance_key: str
    """An option's id, or `other:` and a label."""
    stance: str
    """The stance as written."""
    carried: bool
    """True when it was taken before the current round."""


class NextAction(_Part):
    """What to do now."""

    type: Literal["ask_user", "await_user", "wait", "resume", "verdict", "none"]
    """Who is to act, and how."""
    instruction: str
    """The same in a sentence."""
    command: str | None = None
    """The command that does it."""
    wait_command: str | None = None
    """The command that waits for the next change."""
    hold_command: str | None = None
    """The command that extends the open gate; None where it can't be extended."""


class Snapshot(_Part):
    """The state of a debate at one revision."""

    v: int
    """Version of this form."""
    id: str
    """The debate's id."""
    kind: str
    """review or discussion."""
    title: str
    """Its own title, or one made from the question; a discussion's says where it is."""
    status: Status
    """Where it is between start and end; `interrupted` for one whose process is gone."""
    stop_reason: str | None
    """Why it ended (rounds, consensus, nothing_new, loop, limit, clock, ...); None before."""
    revision: int
    """Number of events so far."""
    round: int
    """The current round; -1 before the first."""
    rounds: int
    """Rounds planned, those that a person added included; a review's opening isn't counted."""
    completed_rounds: int
    """Those of them in which every seat replied, passed or failed."""
    gate: GatePart | None
    """The open gate."""
    turns: list[TurnPart]
    """Open turns of human seats, with their prompts."""
    positions: list[PositionPart]
    """Each seat's latest valid stance that isn't a pass."""
    tally: dict[str, list[str]]
    """Counted seats' names by stance key."""
    verdict: dict[str, Any] | None
    """A review's: status (none, ready, failed, skipped) and, when ready, the verdict's fields."""
    summary: dict[str, Any] | None
    """A discussion's: status (the same words) and text."""
    usage: dict[str, Any]
    """calls, prompt_tokens, completion_tokens, cached_tokens, cost, seats, vendors."""
    limits: dict[str, dict[str, float | None]]
    """{bound, used} by limit that is set."""
    errors: list[dict[str, Any]]
    """{round, seat, kind, message} of failed turns."""
    next_action: NextAction
    """What to do now."""

    def to_json(self) -> dict[str, Any]:
        """Return the snapshot as a JSON-able dict, with `verdict` or `summary`."""
        return self.model_dump(mode="json", exclude={"verdict" if self.summary else "summary"})

    @property
    def ending(self) -> dict[str, Any]:
        """The verdict or the summary, whichever this kind of debate ends with."""
        return self.summary or self.verdict or {"status": "none"}

    def __repr__(self) -> str:
        """Return one line, safe to print."""
        return f"<Snapshot {self._standing()}>"

    def __str__(self) -> str:
        """Return some lines: where it stands, what waits for a person, and what to do now."""
        asked = self.gate.questions if self.gate is not None else []
        lines = [self._standing()]
        lines += [f"{q.id} ({', '.join(q.askers)}): {q.text}" for q in asked]
        lines += [f"{turn.seat} is to speak in round {turn.round}" for turn in self.turns]
        command = self.next_action.command or self.next_action.wait_command
        lines += [line for line in (self.next_action.instruction, command) if line]
        return "\n".join(one_line(line, 300) for line in lines)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Print the lines, in IPython."""
        for number, line in enumerate(str(self).split("\n")):
            if number:
                printer.break_()
            printer.text(line)

    def _standing(self) -> str:
        status = f"{self.status} ({self.stop_reason})" if self.stop_reason else self.status
        ending = "summary" if self.summary is not None else "verdict"
        rounds = f"{self.completed_rounds} of {self.rounds} round{'s' if self.rounds != 1 else ''}"
        calls = f"{self.usage['calls']} call{'s' if self.usage['calls'] != 1 else ''}"
        return one_line(
            f"{self.id}: {status}; {rounds}, {calls}; {ending} {self.ending['status']}; "
            f"{one_line(self.title, 80)!r}"
        )


def snapshot(
    state: State, turns: list[TurnPart], next_action: NextAction, status: str | None = None
) -> Snapshot:
    """Return what outsiders see of `state`.

    Args:
        state: the fold.
        turns: human seats' open turns.
        next_action: what to do now.
        status: overrides the fold's status (a reader overlays `interrupted` on a stale lease).
    """
    shown = status or state.status
    return Snapshot(
        v=SNAPSHOT_VERSION,
        id=state.id,
        kind=state.spec.kind,
        title=shown_title(state),
        status=shown,  # type: ignore[arg-type]  # the fold only sets these words
        stop_reason="interrupted" if status == "interrupted" else state.stop_reason,
        revision=state.revision,
        round=state.round,
        rounds=state.rounds,
        completed_rounds=state.completed_rounds,
        gate=_gate_part(state.gate),
        turns=turns,
        # In the seats' order: the fold holds them in the order in which the replies came.
        positions=[
            _position_part(state.positions[seat.name], state.round)
            for seat in state.spec.seats
            if seat.name in state.positions
        ],
        tally=final_tally(state),
        verdict=None if state.discusses else verdict_json(state),
        summary=summary_json(state) if state.discusses else None,
        usage=usage_json(state),
        limits=limits_json(state),
        errors=errors_json(state),
        next_action=next_action,
    )


def _gate_part(gate: Gate | None) -> GatePart | None:
    if gate is None:
        return None
    return GatePart(
        round=gate.round,
        mode=gate.mode,
        questions=[QuestionPart(**question.to_json()) for question in gate.questions],
        closes_at=gate.closes_at,
        holds_left=gate.holds_left,
        reopen_calls=gate.reopen_calls,
    )


def _position_part(position: Position, current: int) -> PositionPart:
    return PositionPart(
        seat=position.seat,
        round=position.round,
        stance_key=position.key,
        stance=position.stance,
        carried=position.round < current,
    )


def final_tally(state: State) -> dict[str, list[str]]:
    """Return the counted seats' names by stance key, from their latest positions."""
    return count(state.positions, (seat.name for seat in state.spec.counted))


def tally_at(state: State, number: int) -> dict[str, list[str]]:
    """Return the counted seats' names by stance key as they stood after a round."""
    return count(at_round(state.history, number), (seat.name for seat in state.spec.counted))


def participation(state: State) -> dict[str, list[str]]:
    """Return the counted seats by what their positions rest on.

    `counted`: the last round, a pass included; `carried`: an earlier round; `missing`: nothing.
    """
    found: dict[str, list[str]] = {"counted": [], "carried": [], "missing": []}
    for seat in state.spec.counted:
        position = state.positions.get(seat.name)
        turn = state.turns[-1].get(seat.name) if state.turns else None
        if position is None:
            found["missing"].append(seat.name)
        elif position.round == state.round or (
            turn is not None and turn.reply is not None and turn.reply.passed
        ):
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


def summary_json(state: State) -> dict[str, Any]:
    """Return a discussion's summary as a dict: status, text and, when it failed, error."""
    read = state.verdict if state.verdict_status == "ready" else None
    text = read.recommendation if read is not None else ""
    data: dict[str, Any] = {"status": state.verdict_status, "text": text}
    if state.verdict_status == "failed":
        data["error"] = state.verdict_error
    return data


def usage_json(state: State) -> dict[str, Any]:
    """Return calls, tokens and cost in all, by seat and by vendor."""
    data = state.usage.to_json()
    data["seats"] = {name: tally.to_json() for name, tally in state.seat_usage.items()}
    data["vendors"] = {name: tally.to_json() for name, tally in state.vendor_usage.items()}
    return data


def limits_json(state: State) -> dict[str, dict[str, float | None]]:
    """Return {bound, used} for each limit that is set.

    Minutes' use is known to the running process only, so it is None.
    """
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
    return {
        name: {"bound": bound, "used": got}
        for name, (bound, got) in used.items()
        if bound is not None
    }


def errors_json(state: State) -> list[dict[str, Any]]:
    """Return what failed: round, seat, kind, message of research and of turns."""
    failed = [
        {"round": 0, "seat": call.seat, "kind": call.error, "message": call.message}
        for call in state.calls.values()
        if call.purpose == RESEARCH and call.error
    ]
    return failed + [
        {"round": turn.round, "seat": turn.seat, "kind": turn.error, "message": turn.message}
        for turns in state.turns
        for turn in turns.values()
        if turn.failed
    ]
