"""The long part of the HTML report: replies, folded by round, and gates with their answers."""

from __future__ import annotations

from typing import Final

from rt_notebook.contract.text import without_empty
from rt_notebook.domain.gate import Gate
from rt_notebook.domain.reply import Reply
from rt_notebook.domain.state import State
from rt_notebook.domain.turn import Turn
from rt_notebook.rendering import facts, parts
from rt_notebook.rendering.markup import escape, inline, verbatim
from rt_notebook.rendering.palette import NEUTRAL, seat_colors, tint
from rt_notebook.rendering.plain import SHOWN_LIMIT, one_line
from rt_notebook.rendering.wording import plural, round_name

TEXTS_LIMIT: Final = 600_000
"""Characters of all replies' full texts together: a notebook has to open in the end."""
_LEAST: Final = 500


def replies_html(state: State) -> str:
    """Return all replies, one folded part a round, in it one card a seat."""
    turns = [turn for number in range(len(state.turns)) for turn in state.turns_of(number)]
    if not turns:
        return ""
    limit = max(_LEAST, min(SHOWN_LIMIT, TEXTS_LIMIT // len(turns)))
    colors = seat_colors(state.spec)
    cells = {seat.name: facts.stance_row(state, seat) for seat in state.spec.seats}
    rounds = []
    for number in range(len(state.turns)):
        cards = [
            _card(state, turn, cells[turn.seat][number], colors[turn.seat], limit)
            for turn in state.turns_of(number)
        ]
        title = "Opening" if number == 0 else f"Round {number}"
        summary = f"{title} {parts.muted(escape(_summed(state.turns_of(number))))}"
        rounds.append(parts.folded(summary, *cards))
    return parts.section("Replies", *rounds)


def _summed(turns: list[Turn]) -> str:
    replies = sum(turn.reply is not None and not turn.reply.passed for turn in turns)
    passes = sum(turn.reply is not None and turn.reply.passed for turn in turns)
    failed = sum(turn.failed for turn in turns)
    said = [f"{replies} replies" if replies != 1 else "1 reply"]
    said += [plural(passes, "pass").replace("passs", "passes")] if passes else []
    said += [f"{failed} failed"] if failed else []
    return " · ".join(said)


def _card(state: State, turn: Turn, cell: facts.Cell, color: str, limit: int) -> str:
    head = parts.tag(
        "div",
        "display:flex;flex-wrap:wrap;gap:2px 10px;align-items:center",
        parts.name(turn.seat, color),
        parts.cell_mark(cell),
        parts.muted("repaired") if turn.repaired else "",
        parts.muted("not counted") if turn.seat in state.hidden else "",
    )
    style = (
        f"border-left:3px solid {color};background:{tint(NEUTRAL, 0.06)};border-radius:0 6px 6px 0;"
        "padding:6px 12px;margin:6px 0 0"
    )
    return parts.tag("div", style, head, *_body(turn, limit))


def _body(turn: Turn, limit: int) -> list[str]:
    reply = turn.reply
    if reply is None:
        why = one_line(turn.message or turn.error or "no answer yet")
        return [parts.tag("div", parts.MUTED, escape(why))]
    if reply.passed:
        return []
    body = _points(reply)
    if not reply.valid and reply.errors:
        body.append(_labelled("Not readable", escape(one_line("; ".join(reply.errors[:20])))))
    text = parts.tag(
        "div",
        "white-space:pre-wrap;overflow-wrap:break-word;font-size:0.92em;margin:4px 0 0",
        verbatim(reply.raw, limit),
        extra='dir="auto"',
    )
    return [*body, parts.folded(parts.muted("Full text"), text, style="margin:4px 0 0")]


def _points(reply: Reply) -> list[str]:
    found = []
    if reply.agree_with:
        found.append(
            _labelled("Agrees with", ", ".join(parts.bdi(name) for name in reply.agree_with[:40]))
        )
    for title, points in (
        ("Disagrees", reply.disagree),
        ("New", reply.new),
        ("Assumes", reply.assumptions),
    ):
        said = without_empty(points)[:50]
        if said:
            found.append(_labelled(title, parts.bullets(inline(point) for point in said)))
    if reply.question:
        found.append(_labelled("Asks you", inline(reply.question)))
    return found


def _labelled(title: str, content: str) -> str:
    label = parts.tag("span", f"font-weight:600;{parts.MUTED}", escape(title), ": ")
    return parts.tag("div", "margin:3px 0 0", label, content, extra='dir="auto"')


def gates_html(state: State) -> str:
    """Return every question to the person with its answer, and what stayed unanswered."""
    shown = [_gate(gate) for gate in state.gates if gate.questions or gate.has_text]
    rest = [
        f"{inline(line.text)} {parts.muted(escape(line.asked))}"
        for line in facts.ungated_questions(state)
    ]
    asked = parts.section("Questions to you", *shown) if shown else ""
    return asked + (
        parts.section("Questions nobody was asked", parts.bullets(rest)) if rest else ""
    )


def _gate(gate: Gate) -> str:
    rows = [
        [
            f"{inline(question.text)} {parts.muted(escape(facts.asked_by(question.askers)))}",
            inline(gate.answers[question.id])
            if question.id in gate.answers
            else parts.tag("em", "opacity:0.75", "not answered"),
        ]
        for question in gate.questions
    ]
    if gate.message:
        rows.append([parts.muted("Free message"), inline(gate.message)])
    when = f"After {round_name(gate.round)}: {facts.gate_line(gate)}"
    return parts.tag("div", parts.MUTED, escape(when)) + parts.table(
        ["Question", "Answer"], rows, align="top", label=when
    )
