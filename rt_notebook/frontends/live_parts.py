"""The parts of a live view's messages: seats, replies, gates and the verdict as plain JSON.

Owns how the state's values become what a page draws: made harmless as characters, bounded, with
labels and colours. Must not know events' order, widgets or kernels.
"""

from __future__ import annotations

from typing import Any, Final

from rt_notebook.domain.brief import Brief
from rt_notebook.domain.gate import Gate, Question
from rt_notebook.domain.normal import normal_form
from rt_notebook.domain.positions import canonical_key
from rt_notebook.domain.reply import OTHER
from rt_notebook.domain.snapshot import final_tally
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.domain.state import State
from rt_notebook.domain.turn import REPAIR, Call, Turn
from rt_notebook.rendering.facts import SCRIPTED_HELP, SCRIPTED_TITLE
from rt_notebook.rendering.palette import seat_colors, stance_color, text_on
from rt_notebook.rendering.plain import clip, one_line, plain

Message = dict[str, Any]
"""One message to the page; its `type` says what it is."""

POINT_LIMIT: Final = 2_000
"""Characters shown of one bullet, question or error."""

_NOBODY: Final = frozenset({"scripted", "human", "function", "python"})
_BULLETS: Final = ("disagree", "new", "assumptions")
# A bullet that says there is none; frames and prompts treat it as empty too.
_EMPTY: Final = frozenset({"none", "n/a", "nothing", "-", "(none)"})


def header(state: State, at: int) -> Message:
    """Return what stands above the replies; `at`: when the clock began, milliseconds since 1970."""
    spec = state.spec
    colors = seat_colors(spec)
    return {
        "type": "header",
        "kind": spec.kind,
        "id": state.id,
        "title": one_line(spec.shown_title),
        "question": plain(spec.brief.question),
        "options": [
            {"key": key, "label": plain(label), "color": stance_color(key), "ink": _ink(key)}
            for key, label in zip(spec.brief.option_ids, spec.brief.options, strict=True)
        ],
        "seats": [
            {
                "name": seat.name,
                "color": colors[seat.name],
                "model": one_line(seat.model, 80),
                "role": ", ".join(filter(None, (one_line(seat.lens or "", 80), seat.mood))),
                "hidden": seat.hidden,
            }
            for seat in spec.seats
        ],
        "chairman": {
            "name": state.chairman_name,
            "model": one_line(state.closing_seat.model, 80),
        },
        "banner": _banner(spec),
        "vendors": vendors(spec),
        "rounds": state.rounds,
        "anonymous": spec.anonymous,
        "started_at": at,
        "max_minutes": spec.limits.max_minutes,
    }


def vendors(spec: DebateSpec) -> list[str]:
    """Return who receives the brief, apart from scripts, own code and people."""
    seats = [*spec.seats, *([spec.closer] if spec.closer else [])]
    return sorted({seat.vendor for seat in seats} - _NOBODY)


def _banner(spec: DebateSpec) -> str | None:
    scripted = [seat.name for seat in spec.seats if seat.vendor == "scripted"]
    if len(scripted) == len(spec.seats):
        return f"{SCRIPTED_TITLE}. {SCRIPTED_HELP}"
    if scripted:
        return f"Scripted, so no model is asked there: {', '.join(scripted)}."
    return None


def asked(call: Call, state: State) -> Message:
    """Return that a seat is at work; the page counts the seconds."""
    message = {"type": "asked", "round": call.round, "seat": call.seat, "at": call.started_at}
    if call.purpose == REPAIR:
        message["repair"] = True
    if call.attempt > 1:
        message["attempt"] = call.attempt
    return {**message, "calls": state.usage.calls}


def reply(turn: Turn, state: State) -> Message:
    """Return a reply: stance, points and text, without sending a point twice.

    Raises:
        ValueError: the turn holds none.
    """
    read = turn.reply
    if read is None:
        raise ValueError("the turn holds no reply")
    text, left_out = clip(plain(read.raw))
    key = "PASS" if read.passed else read.stance_key if read.valid else None
    message: Message = {
        "type": "reply",
        "round": turn.round,
        "seat": turn.seat,
        # A stance of its own is told by its label; the page only asks whether there is a key.
        "key": OTHER[:-1] if key is not None and key.startswith(OTHER) else key,
        "label": label_of(key, state),
        "text": text,
    }
    changed = _changed_from(turn, state) if turn.usable else None
    flags = {"left_out": left_out, "repaired": turn.repaired, "repairing": not turn.final}
    message |= {name: value for name, value in flags.items() if value}
    if changed is not None:
        message["changed_from"] = label_of(changed, state)
    if key is not None and not read.passed:
        message |= {"color": stance_color(key), "ink": _ink(key)}
    if not read.valid:
        message["errors"] = [one_line(error) for error in read.errors[:8]]
    if read.agree_with:
        message["agree_with"] = [one_line(name, 40) for name in read.agree_with[:26]]
    for name in _BULLETS:
        points = [_part(point, text) for point in getattr(read, name) if not _says_none(point)]
        if points:
            message[name] = points[:20]
    if read.question:
        message["question"] = _part(read.question, text)
    took = took_ms(turn)
    return {**message, "took_ms": took} if took is not None else message


def _part(point: str, text: str) -> str | list[int]:
    """Return where `point` stands in the reply's text, so that it isn't sent twice, or itself.

    The places count UTF-16 units, as the page's strings do.
    """
    point = plain(point)
    place = text.find(point)
    if place < 0 or len(point) > POINT_LIMIT or len(point) < 12:
        return point if len(point) <= POINT_LIMIT else point[: POINT_LIMIT - 1] + "…"
    return [_units(text[:place]), _units(text[: place + len(point)])]


def _units(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2


def _says_none(point: str) -> bool:
    return point.strip().rstrip(".").casefold() in _EMPTY


def took_ms(turn: Turn) -> int | None:
    """Return how long a turn took from its first call to the end of its last; None under way."""
    calls = turn.calls
    if not calls or calls[-1].finished_at is None:
        return None
    return calls[-1].finished_at - calls[0].started_at


def _changed_from(turn: Turn, state: State) -> str | None:
    taken = state.history.get(turn.seat, [])
    now = next((p for p in taken if p.round == turn.round), None)
    before = [p for p in taken if p.round < turn.round]
    if now is None or not before or canonical_key(before[-1].key) == canonical_key(now.key):
        return None
    return before[-1].key


def failed(call: Call, turn: Turn, state: State) -> Message:
    """Return that a try failed: why, and whether there is another."""
    message: Message = {
        "type": "failed",
        "round": call.round,
        "seat": call.seat,
        "kind": call.error,
        "message": one_line(call.message or "", POINT_LIMIT),
        "final": turn.final,
    }
    if call.retry_in_s is not None and call.finished_at is not None:
        message |= {"retry_in_s": call.retry_in_s, "retry_at": call.finished_at}
    if call.seat in state.down:
        message["down"] = True
    return message


def gate_open(gate: Gate, state: State) -> Message:
    """Return what an open gate asks, and until when."""
    message = {
        "type": "gate",
        "state": "open",
        "round": gate.round,
        "mode": gate.mode,
        "at": gate.opened_at,
        "closes_at": gate.closes_at,
        "holds_left": gate.holds_left,
        "questions": [_question(question, state) for question in gate.questions],
    }
    if gate.reopen_calls is not None:
        keys = [state.positions[seat.name].key for seat in state.spec.counted
                if seat.name in state.positions]  # fmt: skip
        agreed = label_of(keys[0], state) if keys else None
        message |= {"reopen_calls": gate.reopen_calls, "agreed": agreed}
    return message


def _question(question: Question, state: State) -> Message:
    return {
        "id": question.id,
        "text": plain(question.text)[:POINT_LIMIT],
        "askers": list(question.askers),
        "choices": [plain(label) for label in named_options(question.text, state.spec.brief)],
    }


def gate_answered(gate: Gate) -> Message:
    """Return a person's words, as the transcript shows them."""
    return {
        "type": "gate",
        "state": "answered",
        "round": gate.round,
        "source": gate.source,
        "answers": [
            {"question": plain(q.text)[:POINT_LIMIT], "text": words_shown(gate.answers[q.id])}
            for q in gate.questions
            if q.id in gate.answers
        ],
        "message": words_shown(gate.message) if gate.message else None,
    }


def words_shown(text: str) -> str:
    """Return a person's words as the transcript shows them."""
    return clip(plain(text))[0]


def named_options(question: str, brief: Brief) -> list[str]:
    """Return the labels of the options that a question names, if it names at least two.

    A label inside a longer one isn't named by it: `Ship later` doesn't name `Ship`.
    """
    text = normal_form(question[:POINT_LIMIT])
    found: set[str] = set()
    names = [(normal_form(label), label) for label in brief.options]
    names += list(zip(brief.option_ids, brief.options, strict=True))
    for name, label in sorted(names, key=lambda pair: -len(pair[0])):
        place = _find_word(text, name)
        while place >= 0:
            found.add(label)
            text = text[:place] + "\0" * len(name) + text[place + len(name) :]
            place = _find_word(text, name)
    return [label for label in brief.options if label in found] if len(found) > 1 else []


def _find_word(text: str, word: str) -> int:
    """Return where `word` stands on its own; scripts without spaces between words need no edge."""
    place = text.find(word)
    while place >= 0:
        end = place + len(word)
        before = text[place - 1 : place] + word[0]
        after = word[-1] + text[end : end + 1]
        if not (_joined(before) or _joined(after)):
            return place
        place = text.find(word, place + 1)
    return -1


def _joined(pair: str) -> bool:
    return len(pair) == 2 and all(char.isalnum() and char < "\u2e80" for char in pair)


def verdict(state: State, at: int) -> Message:
    """Return the chairman's words, or only what failed: nothing else stands in for them."""
    model = state.closing_seat.model
    message: Message = {
        "type": "verdict",
        "word": "Verdict",
        "state": "ready" if state.verdict_status == "ready" else "failed",
        "by": state.chairman_name,
        "model": one_line(model, 80),
        "at": at,
        "tally": tally_rows(state),
    }
    text = state.verdict
    if state.verdict_status != "ready" or text is None:
        answered = sum(seat.name in state.positions for seat in state.spec.counted)
        message["message"] = one_line(state.verdict_error or "no reason given", POINT_LIMIT)
        message["answered"] = [answered, len(state.spec.counted)]
        return message
    pick = None if text.pick == "none" else text.pick
    return message | {
        "pick": text.pick,
        "label": label_of(pick, state) or "No pick",
        "color": stance_color(pick),
        "ink": _ink(pick),
        "rationale": clip(plain(text.rationale))[0],
        "dissent": clip(plain(text.dissent))[0],
        "kill_criteria": [plain(point)[:POINT_LIMIT] for point in text.kill_criteria[:50]],
        "open_questions": [plain(point)[:POINT_LIMIT] for point in text.open_questions[:50]],
    }


def tally_rows(state: State) -> list[Message]:
    """Return who stands where, options first, as rows of label, colour and names."""
    return [
        {"label": label_of(key, state), "color": stance_color(key), "seats": list(names)}
        for key, names in final_tally(state).items()
    ]


def label_of(key: str | None, state: State) -> str | None:
    """Return what a person reads for a stance key."""
    if key is None:
        return None
    return "pass" if key == "PASS" else one_line(state.spec.brief.label_of(key) or key, 200)


def _ink(key: str | None) -> str:
    return text_on(stance_color(key))
