"""What a live view shows, as plain JSON messages made from events and the state after them.

Owns which event tells the page what, and in which words; `live_parts` has the messages' parts and
`static/live.js` draws them. Must not know widgets, kernels or threads: pure functions, called
where the state lives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from rt_notebook.domain.events import Event
from rt_notebook.domain.research import RESEARCH
from rt_notebook.domain.snapshot import limits_json
from rt_notebook.domain.state import State
from rt_notebook.domain.turn import CLOSING_PURPOSES, Turn
from rt_notebook.frontends import live_parts as parts
from rt_notebook.frontends import live_talk as talk
from rt_notebook.frontends.live_parts import Message
from rt_notebook.rendering.facts import ending_of
from rt_notebook.rendering.plain import one_line


def message_for(event: Event, state: State) -> list[Message]:
    """Return what the page is told about one event; `state` is the fold that includes it.

    Args:
        event: durable and applied.
        state: read only, and only during the call.
    """
    maker = _MAKERS.get(event.kind)
    messages = maker(event, state) if maker is not None else []
    if state.discusses and event.kind in _TALK_CHANGES:
        messages.append(talk.talk(state))
    if event.kind in _WITH_PROGRESS:
        messages.append(progress(state))
    return messages


def messages_so_far(state: State) -> list[Message]:
    """Return what a view needs that is made in the middle of a debate, such as after a resume."""
    messages = [parts.header(state, state.updated_at)]
    if state.discusses:
        messages += talk.so_far(state)
    for number in () if state.discusses else state.numbers:
        messages.append({"type": "round", "round": number, "rounds": state.rounds})
        messages += [message for turn in state.turns_of(number) for message in _turn(turn, state)]
        for gate in (gate for gate in state.gates if gate.round == number):
            if gate.has_text:
                messages.append(parts.gate_answered(gate))
            if gate is state.gate:
                messages.append(parts.gate_open(gate, state))
    if state.verdict_status in ("ready", "failed"):
        messages.append(_ending(state, state.updated_at))
    messages.append(progress(state))
    return messages


def progress(state: State) -> Message:
    """Return how far the debate is and what it has used."""
    seats = len(state.spec.seats)
    before = state.numbers.start
    done = seats * max(0, state.round - before)
    if 0 <= state.round < len(state.turns):
        done += sum(turn.final for turn in state.turns[state.round].values())
    total = seats * (state.rounds + 1 - before) + 1
    fraction = 1.0 if not state.live else min(done, total - 1) / total
    if state.status == "verdict":
        fraction = (total - 1) / total
    budget = {
        name: {"bound": limit["bound"], "used": limit["used"]}
        for name, limit in limits_json(state).items()
        if limit["used"] is not None or name == "max_cost"  # else there is nothing to show
    }
    return {
        "type": "progress",
        "round": state.round,
        "rounds": state.rounds,
        "status": state.status,
        "calls": state.usage.calls,
        "cost": state.usage.cost,
        "budget": budget,
        "fraction": round(fraction, 4),
    }


def _created(event: Event, state: State) -> list[Message]:
    return [parts.header(state, event.at)]


def _round_started(event: Event, state: State) -> list[Message]:
    return [{"type": "round", "round": event.body["round"], "rounds": state.rounds}]


def _call_started(event: Event, state: State) -> list[Message]:
    call = state.calls[event.body["call"]]
    aside = call.purpose == RESEARCH or call.purpose in CLOSING_PURPOSES
    return [] if aside else [parts.asked(call, state)]


def _reply_read(event: Event, state: State) -> list[Message]:
    turn = state.turns[event.body["round"]][event.body["seat"]]
    return [talk.speech(turn, state) if state.discusses else parts.reply(turn, state)]


def _call_failed(event: Event, state: State) -> list[Message]:
    call = state.calls[event.body["call"]]
    if call.purpose == RESEARCH:
        return []
    if call.purpose in CLOSING_PURPOSES:
        who = state.spec.closing_name
        return [_notice(event, f"The {who}'s call failed ({call.error}).", "warning")]
    turn = state.turns[call.round][call.seat]
    if state.discusses:
        return talk.skipped(call, turn, state)
    if turn.final and turn.reply is not None:  # the repair failed: its first reply stays
        message = parts.reply(turn, state)
        message.setdefault("errors", []).append(f"the second try failed ({call.error})")
        return [message]
    return [parts.failed(call, turn, state)]


def _turn(turn: Turn, state: State) -> list[Message]:
    """Return a turn as one message; what led to it is over."""
    last = turn.calls[-1] if turn.calls else None
    if turn.reply is not None:
        return [parts.reply(turn, state)]
    if last is None:
        return []
    return [
        parts.asked(last, state) if last.outcome == "running" else parts.failed(last, turn, state)
    ]


def _research_started(event: Event, state: State) -> list[Message]:
    return [_notice(event, f"Looking up on the web: {one_line(event.body['query'], 200)}")]


def _research_finished(event: Event, state: State) -> list[Message]:
    found, searches = len(event.body["sources"]), event.body.get("searches") or 0
    return [_notice(event, f"Found {found} sources in {searches} searches; every seat gets them.")]


def _research_failed(event: Event, state: State) -> list[Message]:
    why = one_line(str(event.body.get("message") or event.body["error"]), 300)
    return [_notice(event, f"Research failed: {why}; it goes on without sources.", "warning")]


def _gate_opened(event: Event, state: State) -> list[Message]:
    return [parts.gate_open(state.gates[-1], state)]


def _gate_held(event: Event, state: State) -> list[Message]:
    gate = state.gates[-1]
    return [
        {
            "type": "gate",
            "state": "held",
            "round": gate.round,
            "closes_at": gate.closes_at,
            "holds_left": gate.holds_left,
        }
    ]


def _gate_answered(event: Event, state: State) -> list[Message]:
    return [parts.gate_answered(state.gates[-1])]


def _gate_closed(event: Event, state: State) -> list[Message]:
    return [{"type": "gate", "state": "closed", **event.body}]


def _notice(event: Event, text: str, tone: str = "info") -> Message:
    return {"type": "notice", "kind": event.kind, "text": text, "tone": tone, "at": event.at}


def _consensus(event: Event, state: State) -> list[Message]:
    label = parts.label_of(event.body["stance_key"], state)
    return [_notice(event, f"Everybody agrees: {label}", "good")]


def _loop(event: Event, state: State) -> list[Message]:
    similarity = float(event.body.get("similarity") or 0.0)
    return [_notice(event, f"The seats repeat themselves (similarity {similarity:.2f}): enough.")]


def _limit_reached(event: Event, state: State) -> list[Message]:
    body = event.body
    goes = f"on to the {state.spec.ending_name}"
    if state.spec.limits.on_limit == "pause":
        goes = "the debate pauses"
    used = f"{body['used']:g} of {body['bound']:g} used" if body.get("used") is not None else ""
    text = f"Limit {body['limit']} reached{f' ({used})' if used else ''}: {goes}."
    return [_notice(event, text, "warning")]


def _finish_asked(event: Event, state: State) -> list[Message]:
    agent = event.body.get("source") == "agent"
    ending = state.spec.ending_name
    asked = f"An agent asked for the {ending}" if agent else f"The {ending} was asked for"
    return [_notice(event, f"{asked}: the discussion ends here.")]


def _stop_asked(event: Event, state: State) -> list[Message]:
    agent = event.body.get("source") == "agent"
    return [_notice(event, "An agent stops the debate." if agent else "Stopping.", "warning")]


def _resumed(event: Event, state: State) -> list[Message]:
    return [{"type": "clock", "started_at": event.at}, _notice(event, "Resumed.")]


def _interjection(event: Event, state: State) -> list[Message]:
    return [talk.words(state.notes[-1], event.at)]


def _verdict_started(event: Event, state: State) -> list[Message]:
    started: Message = {
        "type": "verdict",
        "word": state.spec.ending_name.capitalize(),
        "state": "started",
        "by": state.chairman_name,
        "model": one_line(state.closing_seat.model, 80),
        "at": event.at,
    }
    return [started]


def _verdict_told(event: Event, state: State) -> list[Message]:
    return [_ending(state, event.at)]


def _ending(state: State, at: int) -> Message:
    return talk.summary(state, at) if state.discusses else parts.verdict(state, at)


def _concluded(event: Event, state: State) -> list[Message]:
    status, reason = event.body["status"], event.body["stop_reason"]
    message: Message = {
        "type": "concluded",
        "status": status,
        "stop_reason": reason,
        "text": one_line(ending_of(state) or str(reason)),
        "at": event.at,
        "tally": parts.tally_rows(state),
    }
    return [message]


def _interrupted(event: Event, state: State) -> list[Message]:
    body = {"status": "interrupted", "stop_reason": "interrupted"}
    return _concluded(event._replace(body=body), state)


def _says(text: str, tone: str = "info") -> Callable[[Event, State], list[Message]]:
    return lambda event, state: [_notice(event, text, tone)]


_WITH_PROGRESS: Final = frozenset(
    {
        *("created", "round_started", "reply_read", "repaired", "call_failed", "verdict_started"),
        *("verdict_written", "verdict_failed", "interrupted", "resumed", "extended", "concluded"),
    }
)

_MAKERS: Final[Mapping[str, Callable[[Event, State], list[Message]]]] = {
    "created": _created,
    "research_started": _research_started,
    "research_finished": _research_finished,
    "research_failed": _research_failed,
    "round_started": _round_started,
    "call_started": _call_started,
    "call_failed": _call_failed,
    "reply_read": _reply_read,
    "repaired": _reply_read,
    "gate_opened": _gate_opened,
    "gate_answered": _gate_answered,
    "gate_held": _gate_held,
    "gate_closed": _gate_closed,
    "interjection": _interjection,
    "consensus": _consensus,
    "nothing_new": _says("Every seat passed: nobody has anything new."),
    "loop": _loop,
    "limit_reached": _limit_reached,
    "verdict_started": _verdict_started,
    "verdict_written": _verdict_told,
    "verdict_failed": _verdict_told,
    "finish_asked": _finish_asked,
    "stop_asked": _stop_asked,
    "interrupted": _interrupted,
    "resumed": _resumed,
    "extended": talk.extended,
    "concluded": _concluded,
}
_TALK_CHANGES: Final = frozenset(
    {"created", "resumed", "extended", "verdict_started", "interrupted", "concluded"}
)
