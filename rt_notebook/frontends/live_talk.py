"""What a live view shows of a discussion: turns, words of a person, the summary, as plain JSON.

Owns the messages that only discussions have; `live_model` says when they are sent. Must not know
widgets or kernels.
"""

from __future__ import annotations

from rt_notebook.domain.events import Event
from rt_notebook.domain.gate import Note
from rt_notebook.domain.state import State
from rt_notebook.domain.turn import CLOSING_PURPOSES, Call, Turn
from rt_notebook.frontends.live_parts import POINT_LIMIT, Message, asked, failed, took_ms
from rt_notebook.rendering.discussion import Spoken, note_heading, spoken
from rt_notebook.rendering.facts import skip_notice
from rt_notebook.rendering.plain import clip, one_line, plain

TOOLS: int = 50
"""Tool calls of one turn that are shown."""
TOO_LONG = "context_length"


def speech(turn: Turn, state: State) -> Message:
    """Return a turn's words, with the tools it used."""
    said = Spoken(turn, state)
    text, left_out = clip(plain(said.text))
    message: Message = {
        "type": "speech",
        "round": turn.round,
        "seat": turn.seat,
        "text": text,
        "tools": [
            {"name": one_line(name, 80), "preview": plain(preview)}
            for name, preview in said.tools[:TOOLS]
        ],
    }
    if left_out:
        message["left_out"] = left_out
    took = took_ms(turn)
    return {**message, "took_ms": took} if took is not None else message


def skipped(call: Call, turn: Turn, state: State) -> list[Message]:
    """Return that a try failed, and where that skips the seat, who goes on."""
    found = failed(call, turn, state)
    if call.error == TOO_LONG and call.retry_in_s is not None:
        text = f"{call.seat}: what was said is too long for its model; the oldest turns are left "
        return [found, {"type": "notice", "kind": TOO_LONG, "text": text + "out.", "tone": "info"}]
    if not turn.final or turn.cut_short:
        return [{**found, "next": "The discussion ends here."}] if turn.cut_short else [found]
    notice = f"{skip_notice(turn, state)}."
    return [{**found, "next": f"{notice[0].upper()}{notice[1:]}"}]


def words(note: Note, at: int) -> Message:
    """Return a person's words."""
    text = clip(plain(note.text))[0]
    message: Message = {"type": "note", "source": note.source, "text": text, "at": at}
    return {**message, "heading": note_heading(note)} if note.mode else message


def talk(state: State) -> Message:
    """Return whether a word can be said now."""
    return {"type": "talk", "state": "open" if state.status == "running" else "closed"}


def summary(state: State, at: int) -> Message:
    """Return the observer's words, or only what failed: nothing else stands in for them."""
    model = state.closing_seat.model
    message: Message = {
        "type": "verdict",
        "word": "Summary",
        "state": "ready" if state.verdict_status == "ready" else "failed",
        "by": state.chairman_name,
        "model": one_line(model, 80),
        "at": at,
    }
    if state.verdict_status != "ready" or state.verdict is None:
        why = one_line(state.verdict_error or "no reason given", POINT_LIMIT)
        return {**message, "message": why}
    return {**message, "text": clip(plain(state.verdict.recommendation))[0]}


def extended(event: Event, state: State) -> list[Message]:
    """Return what an extension shows: the clock anew, and the person's words."""
    added = state.extensions[-1]
    rounds = f"{added.rounds} more round{'s' if added.rounds > 1 else ''}"
    notice = {"type": "notice", "kind": event.kind, "text": f"Extended: {rounds}.", "tone": "info"}
    said = [words(state.notes[-1], event.at)] if added.prompt else []
    return [{"type": "clock", "started_at": event.at}, {**notice, "at": event.at}, *said]


def so_far(state: State) -> list[Message]:
    """Return what was said before the view was made, in order."""
    found: list[Message] = []
    number = 0
    for entry in spoken(state):
        if entry.turn is not None and entry.turn.round > number:
            number = entry.turn.round
            found.append({"type": "round", "round": number, "rounds": state.rounds})
        if entry.note is not None:
            found.append(words(entry.note, state.updated_at))
        elif entry.turn is not None and entry.skipped is None:
            found.append(speech(entry.turn, state))
        elif entry.turn is not None and entry.turn.calls:
            found += skipped(entry.turn.calls[-1], entry.turn, state)
    found += [asked(call, state) for call in state.calls.values() if _under_way(call)]
    return [*found, talk(state)]


def _under_way(call: Call) -> bool:
    return call.outcome == "running" and call.purpose not in CLOSING_PURPOSES
