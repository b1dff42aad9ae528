"""What every form of a report says, once: phrases, tables and marks read off the fold.

Values here are as raw as the log's: whoever puts them on a page cleans and escapes them there.
Knows no markup and no clock.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from rt_notebook.domain.gate import Gate, question_key
from rt_notebook.domain.kinds import DISCUSSION
from rt_notebook.domain.positions import at_round, canonical_key, count, flips
from rt_notebook.domain.reply import NO_PICK
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.snapshot import participation
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.domain.state import State
from rt_notebook.domain.turn import CLOSING_PURPOSES, Turn
from rt_notebook.domain.usage import Tally
from rt_notebook.rendering.wording import Typed, duration, line_magic, money, plural, round_name

SCRIPTED: Final = "scripted"
SCRIPTED_TITLE: Final = "No model was asked: every seat is scripted"
SCRIPTED_HELP: Final = (
    "The replies are made up from the brief, to show how a debate works. To ask somebody, name a "
    "model, a command, a function or yourself: --seats pm=openai:…,dev=cli:claude,me=human or "
    "rt.Seat('pm', model=my_function)."
)
# One function or person says nothing about another of its kind, so these are no vendors.
_NO_VENDORS: Final = frozenset({"function", "python", "human"})

_ENDINGS: Final = {
    "rounds": "all rounds used",
    "consensus": "everybody agrees",
    "nothing_new": "every seat passed: nothing new",
    "loop": "the seats repeated themselves",
    "limit": "a budget was reached",
    "clock": "the time limit was reached",
    "finished": "finished early on request",
    "stopped": "stopped on request",
    "interrupted": "interrupted",
    "error": "every seat failed",
}
_STATUSES: Final = {
    "researching": "researching",
    "running": "running",
    "waiting": "waiting for answers",
    "paused": "paused at a limit",
}
_GATE_ENDS: Final = {
    "timeout": "nobody answered in time",
    "finished": "finish was asked for",
    "stopped": "the debate was stopped",
    "clock": "the time limit was reached",
    "interrupted": "interrupted",
}


class Cell(NamedTuple):
    """What one seat did in one round."""

    kind: str
    """stance, pass, invalid, failed, asked (no answer yet) or none (not asked)."""
    key: str | None = None
    """The stance's key; for a pass, the position it keeps."""
    label: str | None = None
    """What a person reads for `key`."""
    changed: bool = False
    """True when the seat left an earlier stance in this round."""
    error: str | None = None
    """The error kind of a failed turn."""


class TallyRow(NamedTuple):
    """Who stood for one option, at first and in the end."""

    key: str
    """`opt-N` or `other:<label>`."""
    label: str
    """What a person reads."""
    first: list[str]
    """Counted seats' names after the opening."""
    final: list[str]
    """Counted seats' names by their latest positions."""


class QuestionLine(NamedTuple):
    """A question to the person and what became of it."""

    round: int
    """The round it was asked in."""
    text: str
    """As its first asker wrote it."""
    asked: str
    """Who asked, as `asked by pm, dev`."""
    answer: str | None
    """The answer; None for none."""


def status_line(state: State) -> str:
    """Return where the debate stands and, once it is over, how it ended."""
    if state.status == "verdict":
        return f"the {state.spec.closing_name} writes the {state.spec.ending_name}"
    if state.status in _STATUSES:
        return _STATUSES[state.status]
    ending = ending_of(state)
    return state.status if not ending or ending == state.status else f"{state.status}: {ending}"


def ending_of(state: State) -> str | None:
    """Return how the debate ended, in words; None while it runs."""
    if state.stop_reason is None:
        return None
    words = _ENDINGS.get(state.stop_reason, state.stop_reason)
    if state.stop_reason == "consensus" and state.consensus_round is not None:
        return f"{words} after {round_name(state.consensus_round)}"
    if state.stop_reason == "limit" and state.limit is not None:
        return f"{words} ({state.limit.get('limit')}: {state.limit.get('bound')})"
    return words


def facts_of(state: State) -> list[str]:
    """Return the header's facts: seats, rounds, calls, time, cost."""
    noun = "round" if state.discusses else "critique round"
    rounds = f"{state.completed_rounds} of {state.rounds} {noun}s"
    if state.completed_rounds == state.rounds:
        rounds = plural(state.rounds, noun)
    return [
        plural(len(state.spec.seats), "seat"),
        rounds,
        plural(state.usage.calls, "call"),
        duration(state.updated_at - state.created_at),
        *cost_of(state.usage),
    ]


def cost_of(tally: Tally) -> list[str]:
    """Return the known tokens and money, one phrase each; nothing where nobody reported any."""
    found = []
    tokens = tally.prompt_tokens + tally.completion_tokens
    if tokens:
        found.append(f"{tokens:,} tokens")
    if tally.cost is not None:
        found.append(money(tally.cost))
    return found


def all_scripted(spec: DebateSpec) -> bool:
    """Return whether no seat is anything but scripted."""
    return all(seat.vendor == SCRIPTED for seat in spec.seats)


def vendor_note(spec: DebateSpec) -> str | None:
    """Return the note that belongs beside a verdict when all seats come from one vendor."""
    vendors = {seat.vendor for seat in spec.seats}
    if len(vendors) != 1 or vendors & _NO_VENDORS:
        return None
    (vendor,) = vendors
    return f"All seats are of one vendor ({vendor}): they may share blind spots."


def chairman_of(state: State) -> str:
    """Return who writes the verdict, and that it is scripted where it is."""
    models = [call.model for call in state.calls.values() if call.purpose in CLOSING_PURPOSES]
    chairman = state.spec.closer
    model = models[-1] if models else chairman.model if chairman else SCRIPTED
    name = state.chairman_name
    if model.partition(":")[0] == SCRIPTED:
        return f"{name} (scripted)"
    return name if name == model else f"{name} ({model})"


def pick_label(state: State) -> str:
    """Return what the verdict picks, in words; only for a verdict that is ready."""
    pick = state.verdict.pick if state.verdict is not None else None
    return "No pick" if pick in (None, NO_PICK) else state.spec.brief.label_of(pick) or str(pick)


def verdict_failure(state: State) -> str:
    """Return what failed, and how many seats answered; nothing that could pass for a verdict."""
    why = state.verdict_error or "no reason was recorded"
    if state.discusses:
        turns = sum(isinstance(entry, Turn) for entry in state.said)
        return f"The summary failed: {why}. {plural(turns, 'turn')} can be read above it."
    answered = sum(seat.name in state.positions for seat in state.spec.counted)
    seats = plural(len(state.spec.counted), "seat")
    return f"The verdict failed: {why}. {answered} of {seats} took a stance."


def next_step(state: State, typed: Typed | None = None) -> tuple[str, str] | None:
    """Return the command that goes on from here, and what it does; None when all is done.

    Args:
        state: the fold.
        typed: writes a verb as it is typed where this is shown; None: as the line magic.
    """
    typed = typed or line_magic
    if state.status in ("interrupted", "error", "paused"):
        kept = sum(call.text is not None for call in state.calls.values())
        limit = ", with a higher limit" if state.status == "paused" else ""
        return (
            typed("resume", state.id),
            f"goes on where it ended{limit}; {plural(kept, 'finished call')} kept",
        )
    if state.status == "stopped" or (state.status == "done" and state.verdict_status == "failed"):
        who = state.spec.closing_name
        return typed("verdict", state.id), f"asks the {who}, from the saved replies"
    return None


def access_line(variable: str | None, kind: str = "review") -> str:
    """Return how to get at the data from the next cell."""
    name = variable or "result"
    parts = ("replies", "stances", "tally", "questions", "verdict")
    if kind == DISCUSSION:
        parts = ("replies", "tool_calls", "calls", "usage", "summary")
    return ", ".join(f"{name}.{part}" for part in parts)


def skip_notice(turn: Turn, state: State) -> str:
    """Return what a discussion does about a failed turn: `dev failed in round 2, going on ...`."""
    names = [seat.name for seat in state.spec.seats]
    later = names[names.index(turn.seat) + 1 :]
    onward = f"going on with {later[0]}" if later else "going on"
    return f"{turn.seat} failed in {round_name(turn.round)}, {onward}"


def latest(state: State) -> str:
    """Return the heading for where the seats stand: `Final` only once the debate is over."""
    return "Final" if state.status == "done" else "Latest"


def tally_rows(state: State) -> list[TallyRow]:
    """Return a row for each option in order, then for each stance of the seats' own."""
    names = [seat.name for seat in state.spec.counted]
    first = _by_canonical(count(at_round(state.history, 0), names))
    final = _by_canonical(count(state.positions, names))
    keys = dict.fromkeys([*state.spec.brief.option_ids, *final, *first])
    return [
        TallyRow(shown, label_of(state.spec, shown), first.get(key, (key, []))[1], names_final)
        for key in keys
        for shown, names_final in [final.get(key) or (first.get(key, (key, []))[0], [])]
    ]


def label_of(spec: DebateSpec, key: str | None) -> str:
    """Return what a person reads for a stance key; an own stance is marked as such."""
    label = spec.brief.label_of(key) or ""
    return f"other: {label}" if key is not None and key.startswith("other:") else label


def stance_row(state: State, seat: Seat) -> list[Cell]:
    """Return what a seat did, a cell for each round that began."""
    moves = {(flip.seat, flip.round) for flip in flips(state.history)}
    return [
        _cell(state, turns.get(seat.name), (seat.name, number) in moves)
        for number, turns in enumerate(state.turns)
    ]


def cell_words(cell: Cell) -> str:
    """Return a cell of the stance table in words."""
    if cell.kind == "stance":
        return f"→ {cell.label}" if cell.changed else str(cell.label)
    if cell.kind == "pass":
        return f"pass (keeps {cell.label})" if cell.label else "pass"
    if cell.kind == "failed":
        return f"failed: {cell.error}"
    return {"invalid": "not readable", "asked": "no answer yet"}.get(cell.kind, "–")


def question_lines(state: State) -> list[QuestionLine]:
    """Return every question with its answer, gate by gate; then those that no gate asked."""
    found = [
        QuestionLine(
            gate.round, question.text, asked_by(question.askers), gate.answers.get(question.id)
        )
        for gate in state.gates
        for question in gate.questions
    ]
    return found + ungated_questions(state)


def message_lines(state: State) -> list[tuple[str, str]]:
    """Return the free messages of gates: when, and the words."""
    return [
        (f"Free message after {round_name(gate.round)}", gate.message)
        for gate in state.gates
        if gate.message
    ]


def ungated_questions(state: State) -> list[QuestionLine]:
    """Return the open questions that no gate asked: the last round's, or with nobody there."""
    gated = {question_key(question.text) for gate in state.gates for question in gate.questions}
    return [
        QuestionLine(state.round, question.text, asked_by(question.askers), None)
        for question in state.open_questions()
        if question_key(question.text) not in gated
    ]


def asked_by(askers: Iterable[str]) -> str:
    """Return who asked, in words."""
    return f"asked by {', '.join(askers)}"


def failure_lines(state: State) -> list[tuple[str, str, str]]:
    """Return each turn that failed or couldn't be read: seat, when, why."""
    return [
        (turn.seat, round_name(turn.round), why)
        for number in state.numbers
        for turn in state.turns_of(number)
        if (why := _why_failed(turn, state.discusses))
    ]


def participation_line(state: State) -> str:
    """Return whose stances count from the last round, which are older, and which are missing."""
    if not state.turns:
        return ""
    parts = participation(state)
    seats = plural(len(state.spec.counted), "seat")
    said = [f"{len(parts['counted'])} of {seats} took or kept a stance in the last round"]
    said += [f"from an earlier round: {', '.join(parts['carried'])}"] if parts["carried"] else []
    said += [f"without a stance: {', '.join(parts['missing'])}"] if parts["missing"] else []
    said += [f"not counted: {', '.join(sorted(state.hidden))}"] if state.hidden else []
    return "; ".join(said)


def letters(spec: DebateSpec) -> dict[str, str]:
    """Return the letter under which each seat was shown to the others; empty unless anonymous."""
    if not spec.anonymous:
        return {}
    return {seat.name: f"Seat {chr(ord('A') + place)}" for place, seat in enumerate(spec.seats)}


def gate_line(gate: Gate) -> str:
    """Return what became of a gate: who answered, or why it closed."""
    if gate.source is not None:
        who = gate.source if gate.source != "person" else "a person"
        return f"answered by {who}" if gate.has_text else f"continued by {who} without an answer"
    if gate.why is None:
        return "open"
    return _GATE_ENDS.get(gate.why, gate.why)


def usage_rows(state: State) -> list[tuple[str, str, Tally]]:
    """Return name, model and totals of each seat in order, then of the chairman."""
    models = {seat.name: seat.model for seat in state.spec.seats}
    asked = {call.seat: call.model for call in state.calls.values()}
    names = [name for name in models if name in state.seat_usage]
    names += [name for name in state.seat_usage if name not in models]
    return [
        (name, asked.get(name) or models.get(name, ""), state.seat_usage[name]) for name in names
    ]


def seat_traits(seat: Seat) -> str:
    """Return a seat's model, lens and mood on one line."""
    parts = [seat.model, seat.lens, seat.mood, "not counted" if seat.hidden else None]
    return " · ".join(part for part in parts if part)


def _why_failed(turn: Turn, discusses: bool) -> str:
    if turn.failed:
        return f"{turn.error}: {turn.message}" if turn.message else str(turn.error)
    if discusses or turn.reply is None or turn.reply.valid or not turn.final:
        return ""
    # What would have been right stands behind each colon: for the model, not for the reader.
    missing = "; ".join(error.partition(":")[0] for error in turn.reply.errors)
    return f"not readable: {missing}"


def _by_canonical(tally: dict[str, list[str]]) -> dict[str, tuple[str, list[str]]]:
    return {canonical_key(key): (key, names) for key, names in tally.items()}


def _cell(state: State, turn: Turn | None, changed: bool) -> Cell:
    if turn is None:
        return Cell("none")
    if turn.reply is None:
        return Cell("failed", error=turn.error) if turn.failed else Cell("asked")
    if turn.reply.passed:
        position = at_round(state.history, turn.round).get(turn.seat)
        return (
            Cell("pass", position.key, label_of(state.spec, position.key))
            if position
            else Cell("pass")
        )
    if not turn.usable or turn.reply.stance_key is None:
        return Cell("invalid") if turn.final else Cell("asked")
    return Cell(
        "stance", turn.reply.stance_key, label_of(state.spec, turn.reply.stance_key), changed
    )
