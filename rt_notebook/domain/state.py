"""The state of a debate: a fold over its events, the only place where events get a meaning.

Live views, resuming, frames and replay all read this one fold, so they can't differ. It knows no clock and no I/O.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from rt_notebook.domain.events import Event
from rt_notebook.domain.gate import Gate, Note, Question, merged_questions, question_key
from rt_notebook.domain.positions import Position
from rt_notebook.domain.reply import Reply, VerdictText
from rt_notebook.domain.seat import wire_ids
from rt_notebook.domain.spec import CHAIRMAN_NAME, DebateSpec
from rt_notebook.domain.turn import Call, Turn
from rt_notebook.domain.usage import Tally
from rt_notebook.domain.values import normal_form
from rt_notebook.errors import SEAT_DOWN_KINDS

LIVE: Final = frozenset({"researching", "running", "waiting", "verdict"})
"""Statuses of a debate that some process runs, or ran when it died."""

RESUMABLE: Final = frozenset({"interrupted", "error", "paused"})
"""Statuses from which `resume` goes on."""

NOT_STARTED: Final = -1
"""The round of a debate whose opening hasn't begun."""


@dataclass(slots=True)
class State:
    """What is known of a debate after its first `revision` events."""

    id: str
    """The debate's id."""
    spec: DebateSpec
    """Its definition, limits changed by a resume included."""
    created_at: int
    """Milliseconds since 1970 UTC."""
    unattended: bool = False
    """True when nobody is asked."""
    source: str = "person"
    """Who started it: person, agent or process."""
    status: str = "running"
    """One of the running states of a review."""
    stop_reason: str | None = None
    """Why it ended; None while it runs."""
    revision: int = 0
    """Number of the last event."""
    updated_at: int = 0
    """Time of the last event, milliseconds since 1970 UTC."""
    round: int = NOT_STARTED
    """The current round; 0 is the opening."""
    rounds: int = 0
    """Critique rounds planned, those that a person added at a consensus included."""
    turns: list[dict[str, Turn]] = field(default_factory=list)
    """By round, then by seat."""
    calls: dict[str, Call] = field(default_factory=dict)
    """All tries by id, in order of their start."""
    gates: list[Gate] = field(default_factory=list)
    """All gates in order."""
    notes: list[Note] = field(default_factory=list)
    """What people said, in order."""
    answered: dict[str, Note] = field(default_factory=dict)
    """Answers by the question's normal form."""
    positions: dict[str, Position] = field(default_factory=dict)
    """Each seat's latest valid stance that isn't a pass."""
    history: dict[str, list[Position]] = field(default_factory=dict)
    """Each seat's positions as they were taken, in round order."""
    down: dict[str, str] = field(default_factory=dict)
    """Seats that aren't asked again until resume, with the error kind."""
    consensus_round: int | None = None
    """The last round after which everybody agreed."""
    ending: str | None = None
    """The reason that leads to the verdict, once an event settled it."""
    limit: dict[str, Any] | None = None
    """The limit that was reached: limit, used, bound."""
    finish_asked: bool = False
    """True once a person asked for the verdict."""
    stop_asked: bool = False
    """True once a person asked to stop."""
    verdict_status: str = "none"
    """none, ready, failed or skipped."""
    verdict: VerdictText | None = None
    """The chairman's words as read, once ready."""
    verdict_calls: list[Call] = field(default_factory=list)
    """The chairman's tries since the verdict was last asked for."""
    verdict_error: str | None = None
    """Why the verdict failed."""
    usage: Tally = field(default_factory=Tally)
    """Totals of the debate."""
    seat_usage: dict[str, Tally] = field(default_factory=dict)
    """Totals by seat; the chairman under its own name."""
    vendor_usage: dict[str, Tally] = field(default_factory=dict)
    """Totals by vendor."""
    unknown_kinds: dict[str, int] = field(default_factory=dict)
    """Kinds of events that this version doesn't know, with their counts; kept, without effect."""
    wire_ids: dict[str, str] = field(default_factory=dict)
    """ASCII id by seat name."""
    chairman_name: str = CHAIRMAN_NAME
    """The name under which the chairman's calls stand; no seat's name."""

    @property
    def live(self) -> bool:
        """True while the debate is (or was, at its process's death) at work."""
        return self.status in LIVE

    @property
    def gate(self) -> Gate | None:
        """The open gate, or None."""
        return self.gates[-1] if self.gates and self.gates[-1].why is None else None

    @property
    def hidden(self) -> frozenset[str]:
        """Names of the seats that aren't counted."""
        return frozenset(seat.name for seat in self.spec.seats if seat.hidden)

    @property
    def completed_rounds(self) -> int:
        """Critique rounds in which every seat replied, passed or failed."""
        return sum(self.round_complete(r) for r in range(1, len(self.turns)))

    def round_complete(self, number: int) -> bool:
        """True when every seat's turn in this round is settled."""
        if not 0 <= number < len(self.turns):
            return False
        turns = self.turns[number]
        return len(turns) == len(self.spec.seats) and all(turn.final for turn in turns.values())

    def turns_of(self, number: int) -> list[Turn]:
        """Return the turns of a round in seat order; seats not asked yet are left out."""
        turns = self.turns[number] if 0 <= number < len(self.turns) else {}
        return [turns[seat.name] for seat in self.spec.seats if seat.name in turns]

    def counted_turns(self, number: int) -> list[Turn]:
        """Return the turns of a round whose seats count, in seat order."""
        hidden = self.hidden
        return [turn for turn in self.turns_of(number) if turn.seat not in hidden]

    def questions_of(self, number: int) -> list[Question]:
        """Return what a round's seats ask and nobody answered in an earlier gate."""
        earlier = {key: note for key, note in self.answered.items() if note.round < number}
        return merged_questions(self.turns_of(number), self.hidden, earlier)

    def open_questions(self, before: int | None = None) -> list[Question]:
        """Return the questions of the rounds before `before` (all) that nobody answered, oldest first, each once."""
        found: dict[str, Question] = {}
        for number in range(len(self.turns) if before is None else min(before, len(self.turns))):
            for question in merged_questions(self.turns_of(number), self.hidden, self.answered):
                found.setdefault(question_key(question.text), question)
        return list(found.values())

    def latest_replies(self, before: int | None = None) -> dict[str, Turn]:
        """Return each seat's last turn before round `before` (any) whose reply isn't a pass, in seat order."""
        found: dict[str, Turn] = {}
        for seat in self.spec.seats:
            for turns in reversed(self.turns if before is None else self.turns[:before]):
                turn = turns.get(seat.name)
                if turn is not None and turn.reply is not None and not turn.reply.passed:
                    found[seat.name] = turn
                    break
        return found

    def apply(self, event: Event) -> None:
        """Take one event into account."""
        handler = _HANDLERS.get(event.kind)
        if handler is None:
            self.unknown_kinds[event.kind] = self.unknown_kinds.get(event.kind, 0) + 1
        else:
            handler(self, event)
        self.revision = event.seq
        self.updated_at = event.at


def fold(events: Iterable[Event]) -> State:
    """Return the state after `events`, the first of which is `created`.

    Raises:
        ValueError: there is no event, or the first isn't `created`.
    """
    stream = iter(events)
    first = next(stream, None)
    if first is None or first.kind != "created":
        raise ValueError("a debate's first event is 'created'")
    state = start_state(first, DebateSpec.model_validate(first.body["spec"]))
    for event in stream:
        state.apply(event)
    return state


def start_state(created: Event, spec: DebateSpec) -> State:
    """Return the state after the `created` event; `spec` is what its body holds, maybe with live callables."""
    state = State(created.debate, spec, created.at)
    state.unattended = bool(created.body.get("unattended"))
    state.source = created.body.get("source", "person")
    state.rounds = spec.rounds
    state.wire_ids = wire_ids(spec.seats)
    state.chairman_name = _chairman_name(spec)
    state.revision, state.updated_at = created.seq, created.at
    return state


def _chairman_name(spec: DebateSpec) -> str:
    name = spec.chairman.name if spec.chairman else CHAIRMAN_NAME
    taken = {normal_form(seat.name) for seat in spec.seats}
    return f"{name} (chairman)" if normal_form(name) in taken else name


def _round_started(state: State, event: Event) -> None:
    state.round = event.body["round"]
    state.rounds = max(state.rounds, state.round)
    while len(state.turns) <= state.round:
        state.turns.append({})
    for name, kind in state.down.items():
        turn = Turn(state.round, name, final=True, error=kind, message="not asked again until the debate is resumed")
        state.turns[state.round].setdefault(name, turn)


def _call_started(state: State, event: Event) -> None:
    body = event.body
    call = Call(
        body["call"], body["round"], body["seat"], body["purpose"], body["attempt"], body["model"],
        event.at, body.get("chars", 0),
    )  # fmt: skip
    state.calls[call.id] = call
    for tally in _tallies(state, call):
        tally.calls += 1
    if call.seat == state.chairman_name:
        state.verdict_calls.append(call)
        return
    turn = state.turns[call.round].get(call.seat)
    if turn is None:
        turn = state.turns[call.round][call.seat] = Turn(call.round, call.seat)
    turn.calls.append(call)


def _call_finished(state: State, event: Event) -> None:
    call = state.calls[event.body["call"]]
    call.finish(event)
    for tally in _tallies(state, call):
        tally.add(call.usage, call.prompt_chars + len(call.text or ""))


def _call_failed(state: State, event: Event) -> None:
    call = state.calls[event.body["call"]]
    call.fail(event)
    if call.error in SEAT_DOWN_KINDS:
        state.down[call.seat] = call.error or "provider"
    if call.seat != state.chairman_name:
        state.turns[call.round][call.seat].fail_call(call)


def _reply_read(state: State, event: Event) -> None:
    body = event.body
    turn = state.turns[body["round"]].setdefault(body["seat"], Turn(body["round"], body["seat"]))
    data = body["reply"]
    if "raw" not in data:  # the log keeps a reply's text once, with its call
        data = {**data, "raw": state.calls[body["call"]].text or ""}
    turn.reply = Reply.from_json(data)
    turn.repaired = event.kind == "repaired"
    turn.final = not body.get("repair", False)
    turn.error = turn.message = None
    if turn.final and turn.usable and turn.reply.stance_key is not None:
        position = Position(turn.seat, turn.round, turn.reply.stance_key, turn.reply.stance or "")
        state.positions[turn.seat] = position
        state.history.setdefault(turn.seat, []).append(position)


def _gate_opened(state: State, event: Event) -> None:
    state.gates.append(Gate.opened(event))
    state.status = "waiting"


def _gate_answered(state: State, event: Event) -> None:
    gate, body = state.gates[-1], event.body
    gate.source = body.get("source", "person")
    gate.message = body.get("message") or None
    gate.answers = {key: text for key, text in (body.get("answers") or {}).items() if text}
    for question in gate.questions:
        if question.id in gate.answers:
            note = Note(gate.round, gate.source, gate.answers[question.id], question.text)
            state.notes.append(note)
            state.answered[question_key(question.text)] = note
    if gate.message:
        state.notes.append(Note(gate.round, gate.source, gate.message))


def _gate_held(state: State, event: Event) -> None:
    state.gates[-1].holds += 1
    state.gates[-1].closes_at = event.body["closes_at"]


def _gate_closed(state: State, event: Event) -> None:
    state.gates[-1].why = event.body["why"]
    state.status = "running"


def _interjection(state: State, event: Event) -> None:
    state.notes.append(Note(state.round, event.body.get("source", "person"), event.body["text"]))


def _consensus(state: State, event: Event) -> None:
    state.consensus_round = event.body["round"]


def _limit_reached(state: State, event: Event) -> None:
    state.limit = dict(event.body)
    state.ending = "clock" if event.body["limit"] == "max_minutes" else "limit"


def _finish_asked(state: State, event: Event) -> None:
    state.finish_asked = True
    state.ending = "finished"


def _stop_asked(state: State, event: Event) -> None:
    state.stop_asked = True


def _verdict_started(state: State, event: Event) -> None:
    state.status, state.stop_asked = "verdict", False
    state.verdict_calls = []
    state.verdict_status, state.verdict, state.verdict_error = "none", None, None


def _verdict_written(state: State, event: Event) -> None:
    state.verdict_status, state.verdict = "ready", VerdictText.from_json(event.body["verdict"])


def _verdict_failed(state: State, event: Event) -> None:
    state.verdict_status, state.verdict_error = "failed", event.body.get("message")


def _interrupted(state: State, event: Event) -> None:
    state.status, state.stop_reason = "interrupted", "interrupted"
    for call in state.calls.values():
        if call.outcome == "running":  # its turn stays open: it is asked again on resume
            call.error, call.message, call.finished_at = "cancelled", "interrupted", event.at
            call.lost = True
    if state.gate is not None:
        state.gates[-1].why = "interrupted"


def _resumed(state: State, event: Event) -> None:
    state.status, state.stop_reason = "running", None
    state.finish_asked = state.stop_asked = False
    state.down.clear()
    if event.body.get("limits"):
        limits = state.spec.limits.model_validate(event.body["limits"])
        state.spec = state.spec.model_copy(update={"limits": limits})
    if state.ending in ("limit", "clock") and state.verdict_status == "none":
        state.ending, state.limit = None, None
    if state.gate is not None:
        state.gates[-1].why = "interrupted"
    if state.turns:
        _reopen(list(state.turns[state.round].values()), state.round_complete(state.round))


def _reopen(turns: list[Turn], complete: bool) -> None:
    """Ask again who failed, where all failed; and who wasn't asked, where the round isn't complete."""
    everybody_failed = bool(turns) and all(turn.failed for turn in turns)
    for turn in turns:
        if turn.failed and (everybody_failed or not (turn.calls or complete)):
            turn.reopen()


def _concluded(state: State, event: Event) -> None:
    state.status, state.stop_reason = event.body["status"], event.body["stop_reason"]
    if state.verdict_status == "none" and state.status in ("stopped", "error"):
        state.verdict_status = "skipped"


def _ends_with(reason: str) -> Callable[[State, Event], None]:
    def handler(state: State, event: Event) -> None:
        state.ending = reason

    return handler


def _tallies(state: State, call: Call) -> tuple[Tally, Tally, Tally]:
    vendor = call.model.partition(":")[0]
    return (
        state.usage,
        state.seat_usage.setdefault(call.seat, Tally()),
        state.vendor_usage.setdefault(vendor, Tally()),
    )


_HANDLERS: Final[dict[str, Callable[[State, Event], None]]] = {
    "created": lambda state, event: None,
    "round_started": _round_started,
    "call_started": _call_started,
    "call_finished": _call_finished,
    "call_failed": _call_failed,
    "reply_read": _reply_read,
    "repaired": _reply_read,
    "gate_opened": _gate_opened,
    "gate_answered": _gate_answered,
    "gate_held": _gate_held,
    "gate_closed": _gate_closed,
    "interjection": _interjection,
    "consensus": _consensus,
    "nothing_new": _ends_with("nothing_new"),
    "loop": _ends_with("loop"),
    "limit_reached": _limit_reached,
    "verdict_started": _verdict_started,
    "verdict_written": _verdict_written,
    "verdict_failed": _verdict_failed,
    "finish_asked": _finish_asked,
    "stop_asked": _stop_asked,
    "interrupted": _interrupted,
    "resumed": _resumed,
    "concluded": _concluded,
}
