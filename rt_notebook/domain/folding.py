"""What each kind of event changes in the state: one small function a kind, the whole of the fold.

Pure: no clock, no I/O, nothing but the event's body and the fields before it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from rt_notebook.domain.events import Event
from rt_notebook.domain.extension import Extension
from rt_notebook.domain.gate import Gate, Note, question_key
from rt_notebook.domain.kinds import window_of
from rt_notebook.domain.positions import Position
from rt_notebook.domain.reply import Reply, VerdictText
from rt_notebook.domain.research import RESEARCH, sources_of
from rt_notebook.domain.seat import vendor_of
from rt_notebook.domain.state_fields import StateFields
from rt_notebook.domain.turn import CANCELLED, Call, Turn
from rt_notebook.domain.usage import UNKNOWN, Tally
from rt_notebook.errors import SEAT_DOWN_KINDS

Handler = Callable[[StateFields, Event], None]

_NOT_ASKED: Final = "not asked again until the debate is resumed"
_ENDED: Final = "cancelled: the discussion had ended"
_TOO_LONG: Final = "context_length"
_CUT: Final = "it was cut short"


def _created(state: StateFields, event: Event) -> None:
    state.created_at = event.at


def _research_started(state: StateFields, event: Event) -> None:
    state.status, state.research_status = "researching", "running"


def _research_finished(state: StateFields, event: Event) -> None:
    state.status, state.research_status = "running", "ready"
    state.sources = sources_of(event.body["sources"])


def _research_failed(state: StateFields, event: Event) -> None:
    state.status, state.research_status = "running", "failed"
    state.research_error = event.body.get("message")


def _cut_research(state: StateFields) -> None:
    """Let research that was under way have failed: it is never made again by itself."""
    if state.research_status == "running":
        state.research_status, state.research_error = "failed", _CUT


def _round_started(state: StateFields, event: Event) -> None:
    state.round = event.body["round"]
    state.rounds = max(state.rounds, state.round)
    while len(state.turns) <= state.round:
        state.turns.append({})
    for name, kind in state.down.items():
        turn = Turn(state.round, name, final=True, error=kind, message=_NOT_ASKED)
        state.turns[state.round].setdefault(name, turn)


def _call_started(state: StateFields, event: Event) -> None:
    body = event.body
    call = Call(
        body["call"],
        body["round"],
        body["seat"],
        body["purpose"],
        body["attempt"],
        body["model"],
        event.at,
        body.get("chars", 0),
    )
    state.calls[call.id] = call
    for tally in _tallies(state, call):
        tally.calls += 1
    if call.purpose == RESEARCH:
        return
    if call.seat == state.chairman_name:
        state.verdict_calls.append(call)
    else:
        _turn_of(state, call.round, call.seat).calls.append(call)


def _call_finished(state: StateFields, event: Event) -> None:
    call = state.calls[event.body["call"]]
    call.finish(event)
    for tally in _tallies(state, call):
        tally.add(call.usage, call.prompt_chars + len(call.text or ""))


def _call_failed(state: StateFields, event: Event) -> None:
    call = state.calls[event.body["call"]]
    call.fail(event)
    if call.usage is not UNKNOWN:  # billed all the same
        for tally in _tallies(state, call):
            tally.add(call.usage, call.prompt_chars)
    if call.error == _TOO_LONG and call.retry_in_s is not None:
        _shorten(state, call.seat)
    if call.seat == state.chairman_name or call.purpose == RESEARCH:
        return
    if call.error in SEAT_DOWN_KINDS:
        state.down[call.seat] = call.error
    if call.retry_in_s is None:
        state.turns[call.round][call.seat].settle(call.error or CANCELLED, call.message)


def _reply_read(state: StateFields, event: Event) -> None:
    body = event.body
    turn = _turn_of(state, body["round"], body["seat"])
    data = body["reply"]
    # The log keeps a reply's text once, with its call.
    raw = "" if "raw" in data else state.calls[body["call"]].text or ""
    turn.reply = reply = Reply.from_json(data, raw)
    turn.repaired = event.kind == "repaired"
    turn.final = not body.get("repair", False)
    turn.error = turn.message = None
    if state.discusses:
        state.said.append(turn)
    if reply.question and turn.round not in state.asking[-1:]:
        state.asking.append(turn.round)
    if turn.final and turn.usable and reply.stance_key is not None:
        position = Position(turn.seat, turn.round, reply.stance_key, reply.stance or "")
        state.positions[turn.seat] = position
        state.history.setdefault(turn.seat, []).append(position)


def _gate_opened(state: StateFields, event: Event) -> None:
    state.gates.append(Gate.opened(event))
    state.status = "waiting"


def _gate_answered(state: StateFields, event: Event) -> None:
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


def _gate_held(state: StateFields, event: Event) -> None:
    state.gates[-1].holds += 1
    state.gates[-1].closes_at = event.body["closes_at"]


def _gate_closed(state: StateFields, event: Event) -> None:
    state.gates[-1].why = event.body["why"]
    state.status = "running"


def _interjection(state: StateFields, event: Event) -> None:
    _note(state, Note(max(state.round, 0), event.body.get("source", "person"), event.body["text"]))


def _note(state: StateFields, note: Note) -> None:
    state.notes.append(note)
    if state.discusses:
        state.said.append(note)


def _shorten(state: StateFields, seat: str) -> None:
    """Leave out the older half of the turns that a seat (or the observer) saw so far."""
    turns = sum(isinstance(entry, Turn) for entry in state.said)
    window = None if seat == state.chairman_name else window_of(state.spec.memory)
    unseen = max(state.shortened.get(seat, 0), 0 if window is None else turns - window)
    state.shortened[seat] = unseen + (turns - unseen + 1) // 2


def _consensus(state: StateFields, event: Event) -> None:
    state.consensus_round = event.body["round"]


def _limit_reached(state: StateFields, event: Event) -> None:
    state.limit = dict(event.body)
    state.ending = "clock" if event.body["limit"] == "max_minutes" else "limit"


def _finish_asked(state: StateFields, event: Event) -> None:
    state.finish_asked = True
    state.ending = "finished"


def _stop_asked(state: StateFields, event: Event) -> None:
    state.stop_asked = True


def _verdict_started(state: StateFields, event: Event) -> None:
    _settle_open_turns(state)
    state.status, state.verdict_asked = "verdict", True
    state.verdict_calls = []
    state.verdict_status, state.verdict, state.verdict_error = "none", None, None


def _verdict_written(state: StateFields, event: Event) -> None:
    state.verdict_status, state.verdict = "ready", VerdictText.from_json(event.body["verdict"])


def _verdict_failed(state: StateFields, event: Event) -> None:
    state.verdict_status, state.verdict_error = "failed", event.body.get("message")


def _interrupted(state: StateFields, event: Event) -> None:
    state.status, state.stop_reason = "interrupted", "interrupted"
    _cut_research(state)
    for call in state.calls.values():
        if call.outcome == "running":  # its turn stays open: it is asked again on resume
            call.error, call.message, call.finished_at = CANCELLED, "interrupted", event.at
            call.lost = True
    _leave_gate(state)


def _resumed(state: StateFields, event: Event) -> None:
    body = event.body
    state.status = "verdict" if state.verdict_asked else "running"
    state.stop_reason = None
    state.finish_asked = state.stop_asked = False
    state.unattended = bool(body.get("unattended", state.unattended))
    state.down.clear()
    if body.get("limits"):
        limits = type(state.spec.limits).model_validate(body["limits"])
        state.spec = state.spec.model_copy(update={"limits": limits})
    _leave_gate(state)
    if state.verdict_asked:
        return
    if state.verdict_status == "skipped":
        state.verdict_status = "none"
    if state.ending in ("limit", "clock"):  # the limits may be others now, the clock starts anew
        state.ending, state.limit = None, None
    if state.turns and state.ending is None and not state.extended_here:
        _reopen_turns(state)


def _extended(state: StateFields, event: Event) -> None:
    """Set an ended debate going again: the next step is a new round."""
    body = event.body
    added = Extension.of(event, max(state.round, 0))
    state.extensions.append(added)
    if added.prompt:
        source = body.get("source", "person")
        _note(state, Note(added.round, source, added.prompt, mode=added.mode))
    state.round = added.round
    state.rounds = state.round + added.rounds
    state.status, state.stop_reason = "running", None
    state.ending = state.limit = state.consensus_round = None
    state.finish_asked = state.stop_asked = False
    state.verdict_status, state.verdict, state.verdict_error = "none", None, None
    state.unattended = bool(body.get("unattended", state.unattended))
    state.down.clear()
    if body.get("observer_prompt"):
        changed = {"observer_prompt": body["observer_prompt"]}
        state.spec = state.spec.model_copy(update=changed)


def _reopen_turns(state: StateFields) -> None:
    """Ask again, in the current round, whom a failure there doesn't settle for good.

    Those are the seats that were cut short, all where no counted seat replied, and in a round under
    way those that were left out from its start.
    """
    complete = state.round_complete(state.round)
    nobody = complete and all(turn.failed for turn in state.counted_turns(state.round))
    for turn in state.turns[state.round].values():
        left_out = not turn.calls and not complete
        if turn.failed and (nobody or left_out or turn.cut_short):
            turn.reopen()


def _concluded(state: StateFields, event: Event) -> None:
    _settle_open_turns(state)
    _cut_research(state)
    state.status, state.stop_reason = event.body["status"], event.body["stop_reason"]
    state.verdict_asked = state.stop_asked = False
    if state.status == "stopped":  # the reason stays, should the verdict be asked for later
        state.ending = "stopped"
    if state.verdict_status == "none" and state.status in ("stopped", "error"):
        state.verdict_status = "skipped"


def _ends_with(reason: str) -> Handler:
    def handler(state: StateFields, event: Event) -> None:
        state.ending = reason

    return handler


def _turn_of(state: StateFields, number: int, seat: str) -> Turn:
    turns = state.turns[number]
    turn = turns.get(seat)
    if turn is None:
        turn = turns[seat] = Turn(number, seat)
    return turn


def _settle_open_turns(state: StateFields) -> None:
    """Close what a halt left open between two calls: nothing more is asked for it."""
    if state.turns:
        for turn in state.turns[-1].values():
            if not turn.final:
                turn.settle(CANCELLED, _ENDED)


def _leave_gate(state: StateFields) -> None:
    if state.gate is not None:
        state.gates[-1].why = "interrupted"


def _tallies(state: StateFields, call: Call) -> tuple[Tally, Tally, Tally]:
    vendor = vendor_of(call.model)
    return (
        state.usage,
        _tally(state.seat_usage, call.seat),
        _tally(state.vendor_usage, vendor),
    )


def _tally(tallies: dict[str, Tally], key: str) -> Tally:
    found = tallies.get(key)
    if found is None:
        found = tallies[key] = Tally()
    return found


HANDLERS: Final[dict[str, Handler]] = {
    "created": _created,
    "research_started": _research_started,
    "research_finished": _research_finished,
    "research_failed": _research_failed,
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
    "extended": _extended,
    "concluded": _concluded,
}
"""By the event's kind; a kind that isn't here has no effect."""
