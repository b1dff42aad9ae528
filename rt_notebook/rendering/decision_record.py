"""The debate as an architecture decision record, for a code base: short, in Markdown, no HTML.

Says nothing that nobody said: without the chairman's words nothing is decided. Knows the fold and
the record's number; where the file lies, and what lies beside it, it is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote

from rt_notebook.contract.text import without_empty
from rt_notebook.domain.gate import question_key
from rt_notebook.domain.normal import normal_form
from rt_notebook.domain.positions import canonical_key
from rt_notebook.domain.reply import NO_PICK
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.state import LIVE, State
from rt_notebook.rendering import facts
from rt_notebook.rendering.markup import markdown_escape as esc
from rt_notebook.rendering.markup import markdown_points, markdown_quote
from rt_notebook.rendering.plain import one_line
from rt_notebook.rendering.sources import TITLE, source_lines
from rt_notebook.rendering.wording import joined, money, shell_line

TITLE_LIMIT: Final = 120
_BRAND: Final = "(Roundtable) - "
_CONTEXT_LIMIT: Final = 8_000
_ASSUMPTIONS: Final = 50
_NOTES: Final = (
    ("Known", "known"),
    ("Assumed", "assumed"),
    ("Constraints", "constraints"),
)


def decision_record(state: State, number: int, links: Sequence[tuple[str, str]] = ()) -> str:
    """Return the decision record as Markdown, safe whatever its texts hold.

    Args:
        state: the fold, finished or not; what isn't over is called a draft.
        number: the record's number in its folder.
        links: the files beside it, each as what it is, in plain words, and its relative path.
    """
    parts = [
        f"# {number}. {esc(record_title(state))}",
        f"Date: {_day(state.updated_at)}",
        *_section("Status", _status(state)),
        *_section("Context", _context(state)),
        *(_section("Summary", _summary(state)) if state.discusses else _review(state)),
        *_section("Provenance", _provenance(state, links)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _review(state: State) -> list[str]:
    return [
        *_section("Options", [_options(state)]),
        *_section("Decision", _decision(state)),
        *_section("Consequences", _consequences(state)),
        *_section("Dissent", _dissent(state)),
        *_section("Kill criteria", _kill_criteria(state)),
        *_section("Open questions", _open_questions(state)),
        *_section("Stances", _stances(state)),
    ]


def _summary(state: State) -> list[str]:
    """Return what a discussion ends with: it decides nothing."""
    if state.verdict_status == "failed":
        return [esc(facts.verdict_failure(state))]
    if state.verdict_status != "ready" or state.verdict is None:
        return ["There is none."]
    words = markdown_quote(state.verdict.recommendation, _CONTEXT_LIMIT)
    return [f"By {esc(facts.chairman_of(state))}:", words]


def record_title(state: State) -> str:
    """Return the debate's own title, or the question's first line, raw, on one line."""
    own = state.spec.title or state.spec.brief.question.strip().partition("\n")[0]
    return one_line(own, TITLE_LIMIT).removeprefix(_BRAND) or one_line(state.id)


def has_decision(state: State) -> bool:
    """Return whether the debate is over and its chairman picked an option."""
    verdict = state.verdict
    ready = state.status == "done" and state.verdict_status == "ready" and not state.discusses
    return ready and verdict is not None and verdict.pick not in (None, NO_PICK)


def bullet_list(items: Iterable[str]) -> str:
    """Return raw texts as a Markdown list."""
    return "\n".join(f"- {esc(item)}" for item in items)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return finished cells as a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def moment(milliseconds: int) -> str:
    """Return a time as `2025-06-15 15:06 UTC`."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")


def given_parts(state: State, context_limit: int) -> list[str]:
    """Return what the seats were given besides question and options, as Markdown.

    Args:
        state: the fold.
        context_limit: characters of the attached material that are shown.
    """
    brief = state.spec.brief
    parts = []
    for title, name in _NOTES:
        entries: tuple[str, ...] = getattr(brief, name)
        parts += [f"{title}:", bullet_list(entries)] if entries else []
    lines = (("Reversibility", brief.reversibility), ("Deadline", brief.deadline))
    parts += [f"{title}: {esc(line)}" for title, line in lines if line]
    if brief.context:
        parts += ["Further material:", markdown_quote(brief.context, context_limit)]
    if state.sources:
        parts += [f"{TITLE}:", bullet_list(source_lines(state))]
    return parts


def _section(title: str, parts: Sequence[str]) -> list[str]:
    return [f"## {title}", *parts]


def _day(milliseconds: int) -> str:
    return moment(milliseconds)[:10]


def _status(state: State) -> list[str]:
    found = [_standing(state)]
    step = facts.next_step(state)
    if step is not None:
        in_shell, effect = facts.next_step(state, shell_line) or step
        found.append(f"`{step[0]}`, in a shell `{in_shell}`, {esc(effect)}.")
    if facts.all_scripted(state.spec):
        found.append(
            f"**{esc(facts.SCRIPTED_TITLE)}.** The replies are made up: this record shows the "
            "form, no reasons."
        )
    return found


def _standing(state: State) -> str:
    where = esc(facts.status_line(state))
    if state.status in LIVE:
        return f"Draft: the debate isn't over ({where}). Export it again once it is."
    if has_decision(state) and facts.all_scripted(state.spec):
        return "Example: what follows shows what a recommendation looks like."
    if has_decision(state):
        return (
            "Proposed: what follows is the recommendation of a debate between seats; to accept it "
            "is up to a person."
        )
    if state.status == "done" and state.discusses:
        return "Discussed: a discussion decides nothing; what it came to stands below."
    if state.status == "done" and state.verdict_status == "ready":
        return "Open: the debate is over, and its verdict picks no option."
    return f"Draft: there is no {state.spec.ending_name} ({where})."


def _context(state: State) -> list[str]:
    answered = [
        f"{line.text} ({line.asked}): {line.answer}"
        for line in facts.question_lines(state)
        if line.answer
    ]
    answered += [f"{when}: {words}" for when, words in facts.message_lines(state)]
    return [
        markdown_quote(state.spec.brief.question),
        *given_parts(state, _CONTEXT_LIMIT),
        *(["Answers given during the debate:", bullet_list(answered)] if answered else []),
    ]


def _options(state: State) -> str:
    rows = [
        [
            f"`{row.key}`" if row.key in state.spec.brief.option_ids else "",
            esc(row.label),
            str(len(row.first)),
            str(len(row.final)),
            esc(joined(row.final)),
        ]
        for row in facts.tally_rows(state)
    ]
    return table(["Id", "Option", "First", facts.latest(state), "Seats"], rows)


def _decision(state: State) -> list[str]:
    verdict = state.verdict
    if state.verdict_status == "failed":
        return [esc(facts.verdict_failure(state))]
    if state.verdict_status != "ready" or verdict is None:
        return ["None: no chairman has written a verdict."]
    found = [f"**{esc(facts.pick_label(state))}**, recommended by {esc(facts.chairman_of(state))}."]
    found += [markdown_quote(verdict.rationale)] if verdict.rationale else []
    note = facts.vendor_note(state.spec)
    return [*found, esc(note)] if note else found


def _consequences(state: State) -> list[str]:
    if not has_decision(state):
        return ["None: nothing is decided."]
    brief = state.spec.brief
    lines = (("Reversibility", brief.reversibility), ("Deadline", brief.deadline))
    found = [f"{title}: {esc(line)}" for title, line in lines if line]
    assumed = _assumptions(state)
    if assumed:
        found += ["It rests on what the seats that stand for it assume:", bullet_list(assumed)]
    return found or ["None were named."]


def _assumptions(state: State) -> list[str]:
    """Return what the counted seats that stand for the pick assume, each once, with their names."""
    pick = state.verdict.pick if state.verdict is not None else None
    found: dict[str, tuple[str, list[str]]] = {}
    for name, turn in state.final_replies().items():
        position = state.positions.get(name)
        if turn.reply is None or position is None or name in state.hidden:
            continue
        if canonical_key(position.key) != pick:
            continue
        for text in without_empty(turn.reply.assumptions):
            names = found.setdefault(normal_form(text), (text, []))[1]
            names += [name] if name not in names else []
    return [f"{text} ({', '.join(names)})" for text, names in list(found.values())[:_ASSUMPTIONS]]


def _dissent(state: State) -> list[str]:
    verdict = state.verdict
    if state.verdict_status != "ready" or verdict is None:
        return ["Not judged; the seats' stances stand below."]
    return [markdown_points(verdict.dissent)] if verdict.dissent else ["None was recorded."]


def _kill_criteria(state: State) -> list[str]:
    named = without_empty(state.verdict.kill_criteria) if state.verdict is not None else []
    if state.verdict_status != "ready" or not named:
        return ["None were named."]
    return ["The decision is taken back when one of these holds:", bullet_list(named)]


def _open_questions(state: State) -> list[str]:
    ready = state.verdict if state.verdict_status == "ready" else None
    unanswered = {
        question_key(line.text): f"{line.text} ({line.asked})"
        for line in facts.question_lines(state)
        if not line.answer
    }
    # The chairman repeats the seats' questions; below, they stand with their askers.
    named = [
        text
        for text in without_empty(ready.open_questions if ready is not None else ())
        if question_key(text) not in unanswered
    ]
    found = [bullet_list(named)] if named else []
    if unanswered:
        found += ["Asked during the debate, and not answered:", bullet_list(unanswered.values())]
    return found or ["None."]


def _stances(state: State) -> list[str]:
    if not state.turns:
        return ["No seat has been asked yet."]
    head = ["Seat", "Opening", *(f"Round {number}" for number in range(1, len(state.turns)))]
    rows = [
        [
            esc(seat.name) + (" (not counted)" if seat.hidden else ""),
            *(esc(facts.cell_words(cell)) for cell in facts.stance_row(state, seat)),
        ]
        for seat in state.spec.seats
    ]
    return [table(head, rows), esc(facts.participation_line(state))]


def _provenance(state: State, links: Sequence[tuple[str, str]]) -> list[str]:
    lines = [
        f"- Debate: `{state.id}`, {moment(state.created_at)} to {moment(state.updated_at)}",
        f"- How it stands: {esc(facts.status_line(state))}",
        f"- Size: {esc(', '.join(facts.facts_of(state)))}",
        f"- {state.spec.closing_name.capitalize()}: {esc(facts.chairman_of(state))}",
    ]
    sources = sorted({gate.source for gate in state.gates if gate.source and gate.has_text})
    lines += [f"- Answers came from: {esc(', '.join(sources))}"] if sources else []
    failed = facts.failure_lines(state)
    lines += [f"- Failed turn: {esc(f'{seat} in {when}: {why}')}" for seat, when, why in failed]
    lines += [f"- [{what}](./{quote(path)})" for what, path in links]
    return ["\n".join(lines), _seats(state)]


def _seats(state: State) -> str:
    shown = facts.letters(state.spec)
    models = {name: model for name, model, _ in facts.usage_rows(state)}
    rows = []
    for seat in state.spec.seats:
        used = state.seat_usage.get(seat.name)
        cost = used.cost if used is not None else None
        rows.append([
            esc(seat.name),
            *([shown[seat.name]] if shown else []),
            esc(models.get(seat.name) or seat.model),
            esc(_traits(seat)),
            f"{used.calls:,}" if used is not None else "0",
            "–" if cost is None else esc(money(cost)),
        ])  # fmt: skip
    letters = ["Shown as"] if shown else []
    return table(["Seat", *letters, "Model", "Lens, mood", "Calls", "Cost"], rows)


def _traits(seat: Seat) -> str:
    parts = [
        seat.lens,
        seat.mood,
        "own persona" if seat.persona else None,
        "not counted" if seat.hidden else None,
    ]
    return ", ".join(part for part in parts if part) or "–"
