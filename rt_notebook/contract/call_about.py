"""What a call is about, as plain data, and its hash: what decides whether a recorded answer fits.

It holds what the answer depends on (the purpose, the round, the seat, the brief, the texts that it
may see) and nothing that doesn't change it: no wording of our own prompts, no colour, no time, no
server's address. Pure; knows no record and no provider.
"""

from __future__ import annotations

import hashlib
import json
import ntpath
import posixpath
from collections.abc import Iterable, Mapping
from typing import Any, Final

from rt_notebook.contract.prompts import shown_names
from rt_notebook.domain.gate import Note
from rt_notebook.domain.kinds import window_of
from rt_notebook.domain.research import RESEARCH
from rt_notebook.domain.seat import Seat, tool_name
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.domain.state import State
from rt_notebook.domain.turn import CLOSING_PURPOSES, REPAIR, SUMMARY, VERDICT, Call, Turn

About = dict[str, Any]
"""What a call is about, JSON-able."""

ANSWERING: Final = ("model", "effort", "temperature", "max_tokens", "tools", "script")
"""A seat's fields that say who answers; the others say what is asked."""

_MANNERS: Final = ("persona", "lens", "mood")
_FILES: Final = ("scripted:", "replay:")


def call_key(about: Mapping[str, Any]) -> str:
    """Return the hash of what a call is about: 64 hex digits of the SHA-256 of canonical JSON."""
    text = json.dumps(about, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def about_call(state: State, name: str, purpose: str, round: int) -> About:
    """Return what a call that is to be made now is about.

    Args:
        state: the debate before the call; what seats of the same round say doesn't count yet.
        name: whose call it is: a seat's name, the chairman's or the searcher's.
        purpose: what for.
        round: its round.

    Raises:
        SeatError: no seat has that name.
    """
    if purpose == RESEARCH:
        return {"purpose": purpose, "research": _research(state.spec)}
    asked = _asked_before(state, name, round) if purpose == REPAIR else purpose
    about = _turn(state, name, asked, round)
    if purpose == REPAIR:
        about |= {"purpose": purpose, "repairs": _broken(state, name, round)}
    return about


def without_answering(about: About) -> About:
    """Return what is asked, whoever answers: for a seat that answers from a record."""
    seat = about.get("seat")
    if not isinstance(seat, dict):
        return about
    return {**about, "seat": {key: seat[key] for key in seat if key not in ANSWERING}}


def portable_model(model: str) -> str:
    """Return a model string without the folder of a file that it names by an absolute path."""
    for prefix in _FILES:
        path = model.removeprefix(prefix)
        if path != model:
            if posixpath.isabs(path) or path.startswith("~"):
                return prefix + posixpath.basename(path)
            if ntpath.isabs(path) or ntpath.splitdrive(path)[0]:
                return prefix + ntpath.basename(path)
    return model


def _turn(state: State, name: str, purpose: str, round: int) -> About:
    spec = state.spec
    closes = purpose in CLOSING_PURPOSES
    seat = state.closing_seat if closes else spec.seat(name)
    about: About = {
        "purpose": purpose,
        "round": round,
        "seat": _seat(seat, None if closes else _own_name(spec, seat)),
        "brief": _given(spec.brief.model_dump(mode="json")),
        "language": spec.language,
        "sources": [source.to_json() for source in state.sources],
    }
    if purpose == SUMMARY:
        about["observer_prompt"] = spec.observer_prompt
    if state.discusses:
        shown_to = state.chairman_name if closes else name
        about |= {"seats": list(shown_names(spec).values()), "sees": _said(state, shown_to, closes)}
    elif round > 0 or purpose == VERDICT:
        about |= {"seats": list(shown_names(spec).values()), **_seen(state, purpose, round)}
    return about


def _seen(state: State, purpose: str, round: int) -> About:
    """Return the texts that a review's critique or verdict may see."""
    notes = [_note(note) for note in state.notes]
    if purpose == VERDICT:
        replies = _turns(state, state.final_replies().values())
        unanswered = state.open_questions()
    elif state.spec.memory == "full":
        numbers = range(min(round, len(state.turns)))
        told = (turn for number in numbers for turn in state.turns_of(number))
        replies = _turns(state, (turn for turn in told if turn.reply is not None))
        notes = [[note.round, *_note(note)] for note in state.notes]
        unanswered = state.open_questions(before=round)
    else:
        replies = _turns(state, state.latest_replies(before=round).values())
        unanswered = state.open_questions(before=round)
    return {"sees": replies, "people": notes, "open": [question.text for question in unanswered]}


def _said(state: State, name: str, closes: bool) -> list[Any]:
    """Return what a speaker of a discussion sees: people's words, and the turns of its memory."""
    window = None if closes else window_of(state.spec.memory)
    turns = sum(isinstance(entry, Turn) for entry in state.said)
    unseen = max(state.shortened.get(name, 0), 0 if window is None else turns - window)
    found: list[Any] = []
    number = 0
    for entry in state.said:
        if isinstance(entry, Note):
            found.append(_note(entry))
            continue
        number += 1
        if number > unseen and entry.usable:
            found.extend(_turns(state, [entry]))
    return found


def _turns(state: State, turns: Iterable[Turn]) -> list[Any]:
    shown = shown_names(state.spec)
    return [
        [shown[turn.seat], turn.round, turn.reply.raw, *_tools(turn, state.spec.tool_preview)]
        for turn in turns
        if turn.reply is not None
    ]


def _tools(turn: Turn, limit: int) -> list[list[str]]:
    used = [tool for call in turn.calls for tool in call.tool_calls]
    return [[str(tool.get("name")), str(tool.get("preview") or "")[:limit]] for tool in used]


def _note(note: Note) -> list[Any]:
    return [note.source, note.question, note.text, note.mode]


def _own_name(spec: DebateSpec, seat: Seat) -> str:
    # Under an anonymous debate's letters, a seat's place is its name.
    return f"#{spec.seats.index(seat) + 1}" if spec.anonymous else seat.name


def _seat(seat: Seat, name: str | None) -> About:
    fields = {field: getattr(seat, field) for field in (*ANSWERING, *_MANNERS)}
    fields["model"] = portable_model(seat.model)
    fields["tools"] = [tool_name(tool) for tool in seat.tools]
    fields["script"] = None if seat.script is None else [dict(step) for step in seat.script]
    return _given({**fields, "name": name})


def _research(spec: DebateSpec) -> About:
    research = spec.research
    return {} if research is None else _given(research.model_dump(exclude={"timeout_s", "account"}))


def _asked_before(state: State, name: str, round: int) -> str:
    """Return the purpose of the call that a repair repairs."""
    found = [call.purpose for call in _calls(state, name, round) if call.purpose != REPAIR]
    return found[-1] if found else VERDICT


def _broken(state: State, name: str, round: int) -> str:
    """Return the text that a repair repairs."""
    found = [call for call in _calls(state, name, round) if call.purpose != REPAIR and call.text]
    return (found[-1].text or "") if found else ""


def _calls(state: State, name: str, round: int) -> list[Call]:
    if name == state.chairman_name:
        return state.verdict_calls
    turn = state.turns[round].get(name) if 0 <= round < len(state.turns) else None
    return turn.calls if turn is not None else []


def _given(fields: About) -> About:
    """Leave out what isn't given, so that a later version's new fields change no hash."""
    return {name: value for name, value in fields.items() if value not in (None, [], (), "", {})}
