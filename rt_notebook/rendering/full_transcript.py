"""Everything that was said in a debate, word for word, as Markdown without HTML."""

from __future__ import annotations

from typing import Final

from rt_notebook.domain.gate import Gate
from rt_notebook.domain.state import LIVE, State
from rt_notebook.domain.turn import Turn
from rt_notebook.rendering import facts
from rt_notebook.rendering.decision_record import bullet_list, given_parts, moment, record_title
from rt_notebook.rendering.discussion import note_heading, spoken
from rt_notebook.rendering.markup import markdown_escape as esc
from rt_notebook.rendering.markup import markdown_quote
from rt_notebook.rendering.wording import round_name

TEXT_LIMIT: Final = 250_000
"""Characters of one text that are shown; the rest is named, and stays in the record."""


def full_transcript(state: State) -> str:
    """Return the whole debate as Markdown, in the order in which it is read.

    Texts stand in quotes with everything escaped that Markdown would act on, so they show as they
    were written, and none can forge a heading.

    Args:
        state: the fold, finished or not.
    """
    parts = [f"# Transcript: {esc(record_title(state))}", *_head(state), *_brief(state)]
    if state.discusses:
        parts += _discussion(state)
    for number in () if state.discusses else state.numbers:
        parts.append(f"## {round_name(number).removeprefix('the ').capitalize()}")
        for turn in state.turns_of(number):
            parts += _turn(state, turn)
        for gate in state.gates:
            if gate.round == number:
                parts += _gate(gate)
    parts += _verdict(state)
    return "\n\n".join(part for part in parts if part) + "\n"


def _discussion(state: State) -> list[str]:
    """Return what was said in a discussion, in order."""
    parts = ["## What was said"]
    for entry in spoken(state):
        if entry.turn is not None:
            parts.append(f"### {esc(entry.turn.seat)} (Round {entry.turn.round})")
        elif entry.note is not None:
            parts.append(f"### {esc(note_heading(entry.note))}")
        if entry.skipped is not None:
            parts.append(f"*{esc(entry.skipped)}*")
            continue
        parts.append(markdown_quote(entry.text, TEXT_LIMIT))
        parts += [f"Used {esc(name)}: {esc(preview)}" for name, preview in entry.tools]
    return parts


def _head(state: State) -> list[str]:
    found = [
        f"Debate `{state.id}`, {moment(state.created_at)} to {moment(state.updated_at)}: "
        f"{esc(facts.status_line(state))}."
    ]
    if state.status in LIVE:
        found.append("The debate isn't over: this is what was said so far.")
    if facts.all_scripted(state.spec):
        found.append(f"**{esc(facts.SCRIPTED_TITLE)}.**")
    return found


def _brief(state: State) -> list[str]:
    brief, shown = state.spec.brief, facts.letters(state.spec)
    options = [
        f"- `{key}` {esc(label)}"
        for key, label in zip(brief.option_ids, brief.options, strict=True)
    ]
    seats = [
        f"- {shown[seat.name] + ' = ' if shown else ''}**{esc(seat.name)}**: "
        f"{esc(facts.seat_traits(seat))}"
        for seat in state.spec.seats
    ]
    return [
        "## Brief",
        markdown_quote(brief.question, TEXT_LIMIT),
        *(["Options:", "\n".join(options)] if options else []),
        *given_parts(state, TEXT_LIMIT),
        "Seats:",
        "\n".join(seats),
    ]


def _turn(state: State, turn: Turn) -> list[str]:
    marks = " (not counted)" if turn.seat in state.hidden else ""
    head = f"### {esc(turn.seat)}{marks}: {_outcome(state, turn)}"
    reply = turn.reply
    if reply is None:
        return [head, esc(turn.message)] if turn.message else [head]
    errors = [f"Not readable: {esc(error)}" for error in reply.errors[:20]]
    used = [f"Used {esc(str(tool.get('name')))}." for tool in _tools(turn)]
    text = "" if reply.passed else markdown_quote(reply.raw, TEXT_LIMIT)
    return [head, *used, text, *errors]


def _outcome(state: State, turn: Turn) -> str:
    if turn.failed:
        return f"failed, {esc(turn.error or 'provider')}"
    if turn.reply is None:
        return "no answer yet"
    if turn.reply.passed:
        return "pass"
    label = facts.label_of(state.spec, turn.reply.stance_key) or "not readable"
    return esc(label) + (" (repaired)" if turn.repaired else "")


def _tools(turn: Turn) -> list[dict[str, object]]:
    return [dict(tool) for call in turn.calls for tool in call.tool_calls]


def _gate(gate: Gate) -> list[str]:
    if not gate.questions and not gate.has_text:
        return []
    parts = [f"### Questions to you: {esc(facts.gate_line(gate))}"]
    for question in gate.questions:
        answer = gate.answers.get(question.id)
        parts.append(bullet_list([f"{question.text} ({facts.asked_by(question.askers)})"]))
        parts.append(markdown_quote(answer, TEXT_LIMIT) if answer else "*not answered*")
    if gate.message:
        parts += ["Free message:", markdown_quote(gate.message, TEXT_LIMIT)]
    return parts


def _verdict(state: State) -> list[str]:
    title = f"## {state.spec.ending_name.capitalize()}"
    if state.verdict_status == "failed":
        return [title, esc(facts.verdict_failure(state))]
    verdict = state.verdict
    if state.verdict_status != "ready" or verdict is None:
        return []
    if state.discusses:
        by = f"By {esc(facts.chairman_of(state))}:"
        return [title, by, markdown_quote(verdict.recommendation, TEXT_LIMIT)]
    return [
        "## Verdict",
        f"**{esc(facts.pick_label(state))}**, by {esc(facts.chairman_of(state))}",
        markdown_quote(verdict.raw or verdict.recommendation, TEXT_LIMIT),
    ]
