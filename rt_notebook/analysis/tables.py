"""The tables of a debate as plain rows: which columns there are, of what kind, and what they hold.

Owns every column's meaning and the order of the rows; knows no pandas, reads nothing but the fold.
A row is a tuple in its table's column order; None stands for what is missing or unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final, Literal

from rt_notebook.contract.text import without_empty
from rt_notebook.domain.gate import Question, question_key
from rt_notebook.domain.normal import normal_form
from rt_notebook.domain.positions import Flip, by_round, canonical_key, flips
from rt_notebook.domain.reply import OTHER, Reply
from rt_notebook.domain.seat import vendor_of
from rt_notebook.domain.snapshot import final_tally, tally_at
from rt_notebook.domain.state import State
from rt_notebook.domain.turn import CLOSING_PURPOSES, Call, Turn
from rt_notebook.domain.usage import UNKNOWN

Kind = Literal["text", "int", "float", "flag", "list", "time"]
Row = tuple[Any, ...]
Columns = Mapping[str, Kind]

OTHER_CATEGORY: Final = "other"
"""The category of every stance that names none of the options."""

_PROCESS: Final = ("idle_s", "stdout_bytes", "stderr_bytes", "exit_code")
_TOKENS: Final[Columns] = {
    "prompt_tokens": "int",
    "completion_tokens": "int",
    "cached_tokens": "int",
    "cost": "float",
}

REPLIES: Final[Columns] = {
    "debate": "text",
    "round": "int",
    "seat": "text",
    "model": "text",
    "lens": "text",
    "mood": "text",
    "stance_key": "text",
    "stance": "text",
    "agree_with": "list",
    "disagree": "list",
    "new": "list",
    "assumptions": "list",
    "question": "text",
    "passed": "flag",
    "valid": "flag",
    "repaired": "flag",
    "changed": "flag",
    "error": "text",
    "text": "text",
    **_TOKENS,
    "latency_s": "float",
}
"""One row per seat and round, once there is a reply or a failure."""

CALLS: Final[Columns] = {
    "debate": "text",
    "call": "text",
    "round": "int",
    "seat": "text",
    "purpose": "text",
    "attempt": "int",
    "model": "text",
    "model_reported": "text",
    "error": "text",
    **_TOKENS,
    "latency_s": "float",
    "first_output_s": "float",
    "idle_s": "float",
    "stdout_bytes": "int",
    "stderr_bytes": "int",
    "exit_code": "int",
    "outcome": "text",
}
"""One row per try at a provider."""

FLIPS: Final[Columns] = {
    "seat": "text",
    "round": "int",
    "from_key": "text",
    "to_key": "text",
    "agreed_with": "list",
}
"""One row per change of a counted seat's position."""

QUESTIONS: Final[Columns] = {
    "round": "int",
    "id": "text",
    "text": "text",
    "seats": "list",
    "answer": "text",
    "answered_by": "text",
}
"""One row per distinct question of a round."""

TALLY: Final[Columns] = {
    "option": "text",
    "first": "int",
    "final": "int",
    "change": "int",
    "first_seats": "list",
    "final_seats": "list",
}
"""One row per option, then per stance of its own; `option` becomes the index."""

USAGE: Final[Columns] = {"scope": "text", "name": "text", "calls": "int", **_TOKENS}
"""One row per seat (the chairman's after them), per vendor, and one for all."""


def storable(text: str) -> str:
    """Return `text` as the store gives it back and a file can take it: no lone surrogates."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def storable_texts(values: Sequence[str | None]) -> Sequence[str | None]:
    """Return a column of texts as `storable` has each."""
    if all(map(str.isascii, filter(None, values))):
        return values
    return [value and storable(value) for value in values]


def storable_lists(values: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
    """Return a column of lists of texts as `storable` has each text."""
    if all(map(str.isascii, chain.from_iterable(values))):
        return values
    return [[storable(text) for text in value] for value in values]


def reply_rows(state: State) -> Iterator[Row]:
    """Yield the rows of `REPLIES`, by round, then in the seats' order; hidden seats are in them."""
    seats = {seat.name: seat for seat in state.spec.seats}
    moved = {(flip.seat, flip.round) for flip in _counted_flips(state)}
    for number in state.numbers:
        for turn in state.turns_of(number):
            if turn.reply is None and not turn.final:
                continue
            seat = seats[turn.seat]
            yield (
                state.id,
                number,
                turn.seat,
                turn.calls[-1].model if turn.calls else seat.model,
                seat.lens,
                seat.mood,
                *_reading(state, turn),
                (turn.seat, number) in moved,
                turn.error,
                turn.reply.raw if turn.reply is not None else None,
                *_tokens(turn.calls),
                _total(map(latency_s, turn.calls)),
            )


def call_rows(state: State) -> Iterator[Row]:
    """Yield the rows of `CALLS`, by round, seat (chairman or observer last), then as started."""
    for call in calls_in_order(state):
        yield (
            state.id,
            call.id,
            call.round,
            call.seat,
            call.purpose,
            call.attempt,
            call.model,
            call.model_reported,
            call.error,
            *_tokens([call]),
            latency_s(call),
            call.timings.get("first_output"),
            *(call.process.get(name) for name in _PROCESS),
            call.outcome,
        )


def calls_in_order(state: State) -> list[Call]:
    """Return all tries by round, seat (the chairman last), then as they started."""
    place = {seat.name: number for number, seat in enumerate(state.spec.seats)}
    last = len(place)

    def order(call: Call) -> tuple[int, int]:
        return call.round, last if call.purpose in CLOSING_PURPOSES else place.get(call.seat, last)

    return sorted(state.calls.values(), key=order)


def flip_rows(state: State) -> Iterator[Row]:
    """Yield the rows of `FLIPS`, by round, then in the seats' order."""
    for flip in _counted_flips(state):
        reply = state.turns[flip.round][flip.seat].reply
        agreed = list(reply.agree_with) if reply is not None else []
        yield flip.seat, flip.round, flip.from_key, flip.to_key, agreed


def question_rows(state: State) -> Iterator[Row]:
    """Yield the rows of `QUESTIONS`, by round and id, those that no gate asked included.

    A question is its text: once answered, it is answered in every round it was asked in.
    """
    asked = {gate.round: gate.questions for gate in state.gates if gate.questions}
    for number in state.numbers:
        for question in asked.get(number) or state.questions_of(number):
            note = state.answered.get(question_key(question.text))
            yield (
                number,
                question.id,
                question.text,
                _askers(state, number, question),
                note.text if note is not None else None,
                note.source if note is not None else None,
            )


def tally_rows(state: State) -> Iterator[Row]:
    """Yield the rows of `TALLY`: all options in order, then the other stances as they came."""
    brief = state.spec.brief
    first = _by_canonical_key(tally_at(state, 0))
    final = _by_canonical_key(final_tally(state))
    labels = dict(zip(brief.option_ids, brief.options, strict=True))
    taken = {normal_form(label) for label in brief.options}
    for canonical, (key, _) in {**first, **final}.items():
        label = brief.label_of(key) or key
        # `other: Ship` beside the option `Ship` would make the index ambiguous.
        labels.setdefault(canonical, f"{OTHER} {label}" if normal_form(label) in taken else label)
    for canonical, label in labels.items():
        before = first.get(canonical, ("", []))[1]
        after = final.get(canonical, ("", []))[1]
        yield label, len(before), len(after), len(after) - len(before), before, after


def usage_rows(state: State) -> Iterator[Row]:
    """Yield the rows of `USAGE`; tokens and cost that no call reported are None, not 0."""
    by_seat: dict[str, list[Call]] = {seat.name: [] for seat in state.spec.seats}
    by_vendor: dict[str, list[Call]] = {}
    for call in state.calls.values():
        by_seat.setdefault(call.seat, []).append(call)
        by_vendor.setdefault(vendor_of(call.model), []).append(call)
    groups = [("seat", name, calls) for name, calls in by_seat.items()]
    groups += [("vendor", name, calls) for name, calls in by_vendor.items()]
    groups.append(("all", "all", list(state.calls.values())))
    for scope, name, calls in groups:
        yield scope, name, len(calls), *_tokens(calls)


def stance_columns(state: State) -> dict[int, list[str | None]]:
    """Return by round each counted seat's position after it: a label, `other`, or None without one.

    A position holds until the seat takes another, so one that passed or failed keeps its earlier
    one. The column of a round at work is where everybody stands now.
    """
    labels = dict(zip(state.spec.brief.option_ids, state.spec.brief.options, strict=True))
    found: dict[int, list[str | None]] = {}
    positions = by_round(state.history, len(state.turns))
    names = [seat.name for seat in state.spec.counted]
    for number in state.numbers:
        held = positions[number]
        found[number] = [
            labels.get(held[name].key, OTHER_CATEGORY) if name in held else None for name in names
        ]
    return found


def latency_s(call: Call) -> float | None:
    """Return the seconds that a try took, waiting included; None in flight or cancelled.

    The provider's own figure is taken where there is one, else the time between the try's two
    events. A cancelled try has none: after a crash its end is written only at the resume.
    """
    total = call.timings.get("total")
    if total is not None or call.finished_at is None or call.error == "cancelled":
        return total
    return (call.finished_at - call.started_at) / 1000


def _reading(state: State, turn: Turn) -> Row:
    """Return a reply's columns from `stance_key` to `repaired`, or those of a failed turn."""
    reply = turn.reply or Reply()
    stance = state.spec.brief.label_of(reply.stance_key) if reply.stance_key else reply.stance
    return (
        reply.stance_key,
        None if reply.passed else stance,
        list(reply.agree_with),
        without_empty(reply.disagree),
        without_empty(reply.new),
        without_empty(reply.assumptions),
        reply.question,
        reply.passed,
        reply.valid,
        turn.repaired,
    )


def _tokens(calls: Iterable[Call]) -> Row:
    """Return the sums of what is known over some tries, in the order of `_TOKENS`."""
    tries = list(calls)
    told = [call.usage for call in tries if call.usage is not UNKNOWN]
    if len(tries) == 1 or not told:
        only = told[0] if told else UNKNOWN
        return only.prompt_tokens, only.completion_tokens, only.cached_tokens, only.cost
    *tokens, cost = (_total(getattr(usage, name) for usage in told) for name in _TOKENS)
    unpriced = any(call.outcome == "finished" and call.usage.cost is None for call in tries)
    # As a debate's tally has it: 0 would say that those without a price cost nothing.
    return *tokens, cost or (None if unpriced else cost)


def _total(values: Iterable[float | None]) -> float | None:
    """Return the sum of the known values; None where none is known."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _counted_flips(state: State) -> list[Flip]:
    history = state.history
    # The fold's history stands in the order of the seats' first stances, not of the seats.
    return flips({s.name: history[s.name] for s in state.spec.counted if s.name in history})


def _askers(state: State, number: int, question: Question) -> list[str]:
    """Return who asked, by real names: what is unnamed to the other seats isn't to the person."""
    key = question_key(question.text)
    names = [
        turn.seat
        for turn in state.turns_of(number)
        if turn.reply is not None
        and turn.reply.question
        and question_key(turn.reply.question) == key
    ]
    return names or list(question.askers)


def _by_canonical_key(tally: Mapping[str, list[str]]) -> dict[str, tuple[str, list[str]]]:
    return {canonical_key(key): (key, names) for key, names in tally.items()}
