"""The report for a terminal, and one line for lists; nothing in it that a terminal would obey."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rt_notebook.domain.state import State
from rt_notebook.rendering import facts
from rt_notebook.rendering.discussion import discussion_text
from rt_notebook.rendering.plain import cells, clip, cut_cells, one_line, pad, plain, wrap
from rt_notebook.rendering.sources import source_lines
from rt_notebook.rendering.wording import Typed, joined

WIDTH: Final = 88
"""Columns of the text report."""
_INDENT: Final = "  "
_LABEL: Final = 28
_TEXT_LIMIT: Final = 4_000


def report_text(
    state: State,
    *,
    variable: str | None = None,
    notes: Sequence[str] = (),
    width: int = WIDTH,
    typed: Typed | None = None,
) -> str:
    """Return the debate as plain text of at most `width` columns, safe to print.

    Args:
        state: the fold, finished or not.
        variable: the notebook variable that holds the result.
        notes: warnings to list.
        width: columns, at least 40.
        typed: writes a verb as it is typed where this is shown; None: as the line magic.
    """
    if state.discusses:
        return discussion_text(state, variable=variable, notes=notes, typed=typed)
    width = max(40, width)
    failed = (f"{seat} in {when}: {why}" for seat, when, why in facts.failure_lines(state))
    lines = [
        *_header(state, width, typed),
        *_verdict(state, width),
        *_tally(state, width),
        *_stances(state, width),
        *_questions(state, width),
        *_items("Sources", source_lines(state), width),
        *_items("Failed turns", failed, width),
        *_items("Warnings", notes, width),
        "",
        *wrap(f"The data: {facts.access_line(variable)}, ...", width, "          ", ""),
    ]
    return "\n".join(lines)


def summary_line(state: State, width: int = WIDTH) -> str:
    """Return the debate on one line: id, where it stands, tally or pick, question."""
    picked = ""
    if state.verdict_status == "ready" and not state.discusses:
        picked = f" -> {one_line(facts.pick_label(state), 60)}"
    elif state.verdict_status == "failed":
        picked = f" ({state.spec.ending_name} failed)"
    head = f"{state.id}  {one_line(facts.status_line(state), 80)}{picked}"
    title = one_line(state.spec.title or state.spec.brief.question)
    line = f"{head}  {title}"
    return line if cells(line) <= width else cut_cells(line, width - 1) + "…"


def _header(state: State, width: int, typed: Typed | None) -> list[str]:
    lines = []
    if facts.all_scripted(state.spec):
        lines += wrap(f"{facts.SCRIPTED_TITLE}. {facts.SCRIPTED_HELP}", width, "! ")
        lines.append("")
    first, _, rest = _shown(state.spec.brief.question).partition("\n")
    lines += wrap(first, width)
    # Set off, so that no line of it passes for one of the report's titles.
    lines += wrap(rest, width, _INDENT) if rest else []
    lines += wrap(f"{facts.status_line(state)} · {' · '.join(facts.facts_of(state))}", width)
    shown = facts.letters(state.spec)
    for seat in state.spec.seats:
        letter = f"{shown[seat.name]} = " if shown else ""
        lines += wrap(
            one_line(f"{letter}{seat.name} ({facts.seat_traits(seat)})"), width, "    ", _INDENT
        )
    step = facts.next_step(state, typed)
    return lines if step is None else [*lines, *wrap(f"{step[0]}  {step[1]}", width, _INDENT, "")]


def _verdict(state: State, width: int) -> list[str]:
    if state.verdict_status == "failed":
        return [
            *_title("Verdict"),
            *wrap(one_line(facts.verdict_failure(state), 2_000), width, _INDENT),
        ]
    verdict = state.verdict
    if state.verdict_status != "ready" or verdict is None:
        return []
    head = f"{one_line(facts.pick_label(state))}, by {one_line(facts.chairman_of(state))}"
    lines = [*_title("Verdict"), *wrap(head, width, _INDENT)]
    if verdict.rationale:
        lines += ["", *wrap(_shown(verdict.rationale), width, _INDENT)]
    if verdict.dissent:
        lines += _title("Dissent") + wrap(_shown(verdict.dissent), width, _INDENT)
    lines += _items("Kill criteria", verdict.kill_criteria, width)
    lines += _items("Open questions", verdict.open_questions, width)
    note = facts.vendor_note(state.spec)
    return [*lines, "", *wrap(note, width)] if note else lines


def _tally(state: State, width: int) -> list[str]:
    if not state.positions:
        return []
    lines = [
        *_title("Tally"),
        f"{_INDENT}{pad('option', _LABEL)} first {facts.latest(state).lower()[:6]:>6}  seats",
    ]
    for row in facts.tally_rows(state):
        head = (
            f"{_INDENT}{pad(one_line(row.label), _LABEL)} {len(row.first):5} {len(row.final):6}  "
        )
        names = one_line(joined(row.final))
        lines += _behind(head, names, width)
    return [*lines, *wrap(facts.participation_line(state), width, _INDENT)]


def _stances(state: State, width: int) -> list[str]:
    if not state.turns:
        return []
    lines = _title("Stances by round")
    for seat in state.spec.seats:
        row = " | ".join(
            one_line(facts.cell_words(cell), 40) for cell in facts.stance_row(state, seat)
        )
        lines += _behind(f"{_INDENT}{pad(one_line(seat.name), 16)} ", row, width)
    return lines


def _questions(state: State, width: int) -> list[str]:
    items = [
        f"{line.text} ({line.asked}): {line.answer or 'not answered'}"
        for line in facts.question_lines(state)
    ]
    items += [f"{when}: {words}" for when, words in facts.message_lines(state)]
    return _items("Questions to you", items, width)


def _items(title: str, items: Iterable[str], width: int) -> list[str]:
    lines = [
        line
        for item in items
        for line in wrap(one_line(item, _TEXT_LIMIT), width, "    ", f"{_INDENT}- ")
    ]
    return [*_title(title), *lines] if lines else []


def _behind(head: str, text: str, width: int) -> list[str]:
    """Return text wrapped behind a head, its further lines set under its beginning."""
    return wrap(text, width, " " * cells(head), head)


def _title(text: str) -> list[str]:
    return ["", text.upper()]


def _shown(text: str) -> str:
    shown, left_out = clip(plain(text).strip(), _TEXT_LIMIT)
    return f"{shown} ({left_out:,} more characters)" if left_out else shown
