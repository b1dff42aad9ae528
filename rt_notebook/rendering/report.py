"""The static result that a finished cell leaves: one HTML fragment, a pure function of the fold.

It must read well in a notebook, trusted or not, on a static site and on paper, so there is no
script, no style sheet and nothing to load. What is said comes from `facts`, the look from `parts`.
"""

from __future__ import annotations

from collections.abc import Sequence

from rt_notebook.domain.state import RESUMABLE, State
from rt_notebook.rendering import facts, parts
from rt_notebook.rendering.discussion_html import discussion_html
from rt_notebook.rendering.markup import block, escape, inline
from rt_notebook.rendering.palette import ALERT, NEUTRAL, seat_colors, stance_color
from rt_notebook.rendering.plain import one_line
from rt_notebook.rendering.sources_html import sources_html
from rt_notebook.rendering.transcript import gates_html, replies_html
from rt_notebook.rendering.wording import money, shell_line

_HEADLINE = 300
_CONTEXT = 8_000
_BRAND = "letter-spacing:0.06em;font-size:0.85em;opacity:0.75;font-weight:600"
_COLUMN = "flex:1 1 240px;min-width:0"


def report_html(
    state: State,
    *,
    variable: str | None = None,
    notes: Sequence[str] = (),
    anywhere: bool = False,
) -> str:
    """Return the debate as a static HTML fragment, safe whatever its texts hold.

    Args:
        state: the fold, finished or not.
        variable: the notebook variable that holds the result, for the line on how to get the data.
        notes: warnings to list.
        anywhere: it is read outside of a notebook too, so commands are named as in a shell as well.
    """
    body = [
        _banner(state),
        _header(state, anywhere),
        discussion_html(state) if state.discusses else _review(state),
        _failures(state),
        _warnings(notes),
        _usage(state),
        _footer(state, variable),
    ]
    style = (
        "max-width:1040px;margin:4px 0 8px;line-height:1.45;text-align:left;"
        "overflow-wrap:break-word"
    )
    return parts.tag("div", style, *body)


def _review(state: State) -> str:
    """Return what only a review has: verdict, tally, stances, gates, replies by contract."""
    made = (_verdict, _tally, _stances, gates_html, replies_html)
    return "".join(make(state) for make in made)


def _banner(state: State) -> str:
    if not facts.all_scripted(state.spec):
        return ""
    title = parts.tag("b", "font-weight:600", escape(facts.SCRIPTED_TITLE + "."))
    style = (
        f"border:1px dashed {NEUTRAL};border-radius:6px;padding:6px 12px;margin:0 0 10px;"
        "font-size:0.92em"
    )
    return parts.tag("div", style, f"{title} {escape(facts.SCRIPTED_HELP)}", extra='role="note"')


def _header(state: State, anywhere: bool) -> str:
    color = ALERT if state.status in ("error", "interrupted") else NEUTRAL
    top = " ".join([
        parts.tag("span", _BRAND, "ROUNDTABLE"),
        parts.badge(facts.status_line(state), color),
        parts.muted(f"<code>{escape(state.id)}</code>"),
    ])  # fmt: skip
    parts_of_head = [
        parts.tag("div", "display:flex;flex-wrap:wrap;gap:4px 10px;align-items:center", top),
        _question(state.spec.brief.question),
        _given(state),
        sources_html(state),
        parts.tag("div", parts.MUTED, escape(" · ".join(facts.facts_of(state)))),
        _seats(state),
        _next(state, anywhere),
    ]
    return parts.tag("header", "", *parts_of_head)


def _question(question: str) -> str:
    first, _, rest = question.strip().partition("\n")
    fits = len(first) <= _HEADLINE
    headline = parts.tag(
        "div",
        "font-size:1.2em;font-weight:600;margin:6px 0 4px;line-height:1.3",
        inline(first if fits else first[: _HEADLINE - 1] + "…"),
        extra='role="heading" aria-level="3" dir="auto"',
    )
    whole = rest.strip() if fits else question
    if not whole:
        return headline
    body = parts.tag("div", "margin:4px 0 8px", block(whole), extra='dir="auto"')
    title = "More of the question" if fits else "The whole question"
    return headline + parts.folded(parts.muted(title), body, style="margin:0 0 4px")


def _given(state: State) -> str:
    """Return what the seats were given besides the question, folded."""
    brief = state.spec.brief
    lists = (("Known", brief.known), ("Assumed", brief.assumed), ("Constraints", brief.constraints))
    lines = (("Reversibility", brief.reversibility), ("Deadline", brief.deadline))
    body = [_column(title, _listed(entries)) for title, entries in lists if entries]
    body += [_column(title, inline(line)) for title, line in lines if line]
    if brief.context:
        body.append(parts.tag("div", "flex:1 1 100%;min-width:0", block(brief.context, _CONTEXT)))
    if not body:
        return ""
    content = parts.tag("div", "display:flex;flex-wrap:wrap;gap:8px 24px;margin:4px 0 8px", *body)
    return parts.folded(parts.muted("What the seats were given"), content, style="margin:0 0 4px")


def _seats(state: State) -> str:
    colors = seat_colors(state.spec)
    shown = facts.letters(state.spec)
    chips = []
    for seat in state.spec.seats:
        letter = f"{shown[seat.name]} = " if shown else ""
        traits = parts.muted(escape(one_line(facts.seat_traits(seat), 120)))
        chips.append(
            f"<span>{escape(letter)}{parts.name(seat.name, colors[seat.name])} {traits}</span>"
        )
    line = parts.tag("div", "display:flex;flex-wrap:wrap;gap:2px 18px;margin:6px 0 0", *chips)
    if not shown:
        return line
    return line + parts.tag(
        "div", parts.MUTED, "Anonymous: the seats and the chairman saw letters only."
    )


def _next(state: State, anywhere: bool) -> str:
    step = facts.next_step(state)
    if step is None:
        return ""
    what, effect = step
    in_shell = facts.next_step(state, shell_line) if anywhere else None
    also = f", in a shell {parts.command(in_shell[0])}," if in_shell is not None else ""
    content = f"{parts.command(what)}{also} {escape(effect)}."
    if state.status in RESUMABLE:
        return parts.callout(ALERT, content)
    return parts.tag("div", "margin:8px 0 0", content)


def _verdict(state: State) -> str:
    if state.verdict_status == "failed":
        content = parts.tag("div", "", escape(facts.verdict_failure(state)))
        return parts.section("Verdict", parts.callout(ALERT, content))
    if state.verdict_status == "skipped":
        return parts.tag("div", "margin:10px 0 0", parts.muted("No verdict was asked for."))
    verdict = state.verdict
    if state.verdict_status != "ready" or verdict is None:
        return ""
    pick = verdict.pick if verdict.pick != "none" else None
    head = parts.tag(
        "div",
        "display:flex;flex-wrap:wrap;gap:6px 12px;align-items:center",
        parts.filled_chip(pick, facts.pick_label(state)),
        parts.muted(f"by {escape(facts.chairman_of(state))}"),
    )
    reasons = parts.tag("div", "margin:8px 0 0", block(verdict.rationale), extra='dir="auto"')
    columns = [
        _column("Dissent", block(verdict.dissent) if verdict.dissent else ""),
        _column("Kill criteria", _listed(verdict.kill_criteria)),
        _column("Open questions", _listed(verdict.open_questions)),
    ]
    below = parts.tag("div", "display:flex;flex-wrap:wrap;gap:8px 24px;margin:8px 0 0", *columns)
    note = facts.vendor_note(state.spec)
    noted = parts.tag("div", f"margin:6px 0 0;{parts.MUTED}", escape(note)) if note else ""
    return parts.section("Verdict", parts.callout(stance_color(pick), head, reasons, below, noted))


def _column(title: str, content: str) -> str:
    head = parts.tag("div", f"font-weight:600;{parts.MUTED}", escape(title))
    body = content or parts.muted("none")
    return parts.tag("div", _COLUMN, head, parts.tag("div", "", body, extra='dir="auto"'))


def _listed(items: Sequence[str]) -> str:
    return parts.bullets(inline(item) for item in items) if items else ""


def _tally(state: State) -> str:
    if not state.positions:
        return ""
    seats = max(1, len(state.spec.counted))
    colors = seat_colors(state.spec)
    rows = []
    for row in facts.tally_rows(state):
        names = " ".join(parts.name(name, colors[name]) for name in row.final)
        rows.append([
            parts.chip(row.key, row.label),
            str(len(row.first)),
            str(len(row.final)),
            parts.bars(len(row.first) / seats, len(row.final) / seats, stance_color(row.key)),
            parts.tag("div", "display:flex;flex-wrap:wrap;gap:2px 12px", names or parts.muted("–")),
        ])  # fmt: skip
    last = facts.latest(state)
    head = ["Option", "First", last, f"First (thin), {last.lower()}", "Seats"]
    table = parts.table(head, rows, label="Tally by option")
    who = parts.tag("div", f"margin:4px 0 0;{parts.MUTED}", escape(facts.participation_line(state)))
    return parts.section("Tally", table, who)


def _stances(state: State) -> str:
    if not state.turns:
        return ""
    colors = seat_colors(state.spec)
    head = ["Seat", "Opening", *(f"Round {number}" for number in range(1, len(state.turns)))]
    rows = [
        [
            parts.name(seat.name, colors[seat.name])
            + (f" {parts.muted('not counted')}" if seat.hidden else ""),
            *map(parts.cell_mark, facts.stance_row(state, seat)),
        ]
        for seat in state.spec.seats
    ]
    return parts.section(
        "Stances by round", parts.table(head, rows, label="Stances by seat and round")
    )


def _failures(state: State) -> str:
    lines = facts.failure_lines(state)
    if not lines:
        return ""
    colors = seat_colors(state.spec)
    items = [
        f"{parts.name(seat, colors.get(seat, NEUTRAL))} in {escape(when)}: {escape(one_line(why))}"
        for seat, when, why in lines
    ]
    return parts.section("Failed turns", parts.bullets(items))


def _warnings(notes: Sequence[str]) -> str:
    if not notes:
        return ""
    return parts.section("Warnings", parts.bullets(escape(one_line(note)) for note in notes))


def _usage(state: State) -> str:
    if not state.seat_usage:
        return ""
    # A sum of what nobody told is no 0.
    told = {
        (call.seat, tokens)
        for call in state.calls.values()
        for tokens in ("prompt_tokens", "completion_tokens")
        if getattr(call.usage, tokens) is not None
    }
    head = ["Seat", "Model", "Calls", "Tokens in", "Tokens out", "Cost"]
    rows = [
        [
            parts.bdi(name), parts.bdi(model), f"{tally.calls:,}",
            f"{tally.prompt_tokens:,}" if (name, "prompt_tokens") in told else "–",
            f"{tally.completion_tokens:,}" if (name, "completion_tokens") in told else "–",
            "–" if tally.cost is None else escape(money(tally.cost)),
        ]
        for name, model, tally in facts.usage_rows(state)
    ]  # fmt: skip
    table = parts.table(head, rows, label="Usage by seat")
    return parts.folded("Usage", table, style="margin:12px 0 0")


def _footer(state: State, variable: str | None) -> str:
    names = facts.access_line(variable, state.spec.kind).split(", ")
    data = ", ".join(parts.command(name) for name in names)
    return parts.tag("div", f"margin:12px 0 0;{parts.MUTED}", f"The data: {data}, …")
