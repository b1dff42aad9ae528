"""The report as Markdown, for places that show no HTML; models' words are shown word for word."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rt_notebook.contract.text import without_empty
from rt_notebook.domain.state import State
from rt_notebook.domain.turn import Turn
from rt_notebook.rendering import facts
from rt_notebook.rendering.discussion import note_heading, spoken
from rt_notebook.rendering.markup import markdown_escape as esc
from rt_notebook.rendering.markup import markdown_points, markdown_quote, markdown_strong
from rt_notebook.rendering.sources import source_lines
from rt_notebook.rendering.wording import joined, round_name


def report_markdown(state: State, *, variable: str | None = None, notes: Sequence[str] = ()) -> str:
    """Return the debate as Markdown (tables and lists, no HTML), safe whatever its texts hold.

    Args:
        state: the fold, finished or not.
        variable: the notebook variable that holds the result.
        notes: warnings to list.
    """
    parts = [
        *_header(state),
        *(_discussion(state) if state.discusses else _review(state)),
        *_list(
            "Failed turns",
            (f"{seat}, {when}: {why}" for seat, when, why in facts.failure_lines(state)),
        ),
        *_list("Sources", source_lines(state)),
        *_list("Warnings", notes),
        "The data: "
        + ", ".join(
            f"`{name}`" for name in facts.access_line(variable, state.spec.kind).split(", ")
        )
        + ", …",
    ]
    return "\n\n".join(parts) + "\n"


def _review(state: State) -> list[str]:
    made = (_verdict, _tally, _stances, _questions, _replies)
    return [part for make in made for part in make(state)]


def _discussion(state: State) -> list[str]:
    found = []
    if state.verdict_status == "failed":
        found += ["#### Summary", esc(facts.verdict_failure(state))]
    elif state.verdict_status == "ready" and state.verdict is not None:
        by = f"By {esc(facts.chairman_of(state))}:"
        found += ["#### Summary", by, markdown_quote(state.verdict.recommendation)]
    for entry in spoken(state):
        if entry.turn is not None:
            found.append(f"#### {esc(entry.turn.seat)} (Round {entry.turn.round})")
        elif entry.note is not None:
            found.append(f"#### {esc(note_heading(entry.note))}")
        if entry.skipped is not None:
            found.append(f"*{esc(entry.skipped)}*")
        else:
            found.append(markdown_quote(entry.text))
        if entry.tools:
            found.append("\n".join(f"- {esc(name)}: {esc(text)}" for name, text in entry.tools))
    return found


def _header(state: State) -> list[str]:
    first, _, rest = state.spec.brief.question.strip().partition("\n")
    found = (
        [f"> **{esc(facts.SCRIPTED_TITLE)}.** {esc(facts.SCRIPTED_HELP)}"]
        if facts.all_scripted(state.spec)
        else []
    )
    found.append(markdown_strong(first))
    if rest.strip():
        found.append(markdown_quote(rest))
    found.append(
        " · ".join(
            [
                f"**{esc(facts.status_line(state))}**",
                *map(esc, facts.facts_of(state)),
                f"`{state.id}`",
            ]
        )
    )
    shown = facts.letters(state.spec)
    letters = {name: f"{letter} = " for name, letter in shown.items()}
    seats = [
        f"{letters.get(seat.name, '')}**{esc(seat.name)}** ({esc(facts.seat_traits(seat))})"
        for seat in state.spec.seats
    ]
    found.append("Seats: " + ", ".join(seats))
    step = facts.next_step(state)
    if step is not None:
        found.append(f"`{step[0]}` {esc(step[1])}.")
    return found


def _verdict(state: State) -> list[str]:
    if state.verdict_status == "failed":
        return ["#### Verdict", esc(facts.verdict_failure(state))]
    verdict = state.verdict
    if state.verdict_status != "ready" or verdict is None:
        return []
    found = [
        "#### Verdict",
        f"**{esc(facts.pick_label(state))}**, by {esc(facts.chairman_of(state))}",
        markdown_quote(verdict.rationale) if verdict.rationale else "",
        *(["Dissent:", markdown_points(verdict.dissent)] if verdict.dissent else []),
        *_list("Kill criteria", verdict.kill_criteria, level=""),
        *_list("Open questions", verdict.open_questions, level=""),
    ]
    note = facts.vendor_note(state.spec)
    return [part for part in [*found, esc(note) if note else ""] if part]


def _tally(state: State) -> list[str]:
    if not state.positions:
        return []
    rows = [
        [esc(row.label), str(len(row.first)), str(len(row.final)), esc(joined(row.final))]
        for row in facts.tally_rows(state)
    ]
    table = _table(["Option", "First", facts.latest(state), "Seats"], rows)
    return ["#### Tally", table, esc(facts.participation_line(state))]


def _stances(state: State) -> list[str]:
    if not state.turns:
        return []
    head = ["Seat", "Opening", *(f"Round {number}" for number in range(1, len(state.turns)))]
    rows = [
        [esc(seat.name), *(esc(facts.cell_words(cell)) for cell in facts.stance_row(state, seat))]
        for seat in state.spec.seats
    ]
    return ["#### Stances by round", _table(head, rows)]


def _questions(state: State) -> list[str]:
    lines = [
        f"- {esc(line.text)} ({esc(line.asked)}): "
        + (esc(line.answer) if line.answer else "*not answered*")
        for line in facts.question_lines(state)
    ]
    lines += [f"- {when}: {esc(words)}" for when, words in facts.message_lines(state)]
    return ["#### Questions to you", "\n".join(lines)] if lines else []


def _replies(state: State) -> list[str]:
    found = []
    for number in range(len(state.turns)):
        lines = [line for turn in state.turns_of(number) for line in _reply(state, turn)]
        found += [f"#### Replies of {round_name(number)}", "\n".join(lines)] if lines else []
    return found


def _reply(state: State, turn: Turn) -> list[str]:
    reply = turn.reply
    if reply is None or reply.passed:
        return []
    label = facts.label_of(state.spec, reply.stance_key) or "not readable"
    lines = [f"- **{esc(turn.seat)}**: {esc(label)}"]
    for title, points in (
        ("disagrees", reply.disagree),
        ("new", reply.new),
        ("assumes", reply.assumptions),
    ):
        lines += [f"  - {title}: {esc(point)}" for point in without_empty(points)[:50]]
    return lines


def _list(title: str, items: Iterable[str], level: str = "#### ") -> list[str]:
    lines = [f"- {esc(item)}" for item in items]
    return [f"{level}{title}" + ("" if level else ":"), "\n".join(lines)] if lines else []


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
