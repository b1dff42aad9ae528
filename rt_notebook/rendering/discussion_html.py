"""The middle of a discussion's HTML report: its summary, then what was said, folded by round."""

from __future__ import annotations

from rt_notebook.domain.state import State
from rt_notebook.rendering import facts, parts
from rt_notebook.rendering.discussion import Spoken, note_heading, spoken
from rt_notebook.rendering.markup import block, escape, verbatim
from rt_notebook.rendering.palette import ALERT, NEUTRAL, seat_colors, tint
from rt_notebook.rendering.plain import SHOWN_LIMIT, one_line
from rt_notebook.rendering.transcript import TEXTS_LIMIT
from rt_notebook.rendering.wording import plural

_LEAST = 500


def discussion_html(state: State) -> str:
    """Return summary and turns as HTML, safe whatever its texts hold."""
    return _summary(state) + _turns(state)


def _summary(state: State) -> str:
    if state.verdict_status == "failed":
        content = parts.tag("div", "", escape(facts.verdict_failure(state)))
        return parts.section("Summary", parts.callout(ALERT, content))
    if state.verdict_status == "skipped":
        return parts.tag("div", "margin:10px 0 0", parts.muted("No summary was asked for."))
    if state.verdict_status != "ready" or state.verdict is None:
        return ""
    by = parts.muted(f"by {escape(facts.chairman_of(state))}")
    words = parts.tag("div", "", block(state.verdict.recommendation), extra='dir="auto"')
    note = facts.vendor_note(state.spec)
    noted = parts.tag("div", f"margin:6px 0 0;{parts.MUTED}", escape(note)) if note else ""
    return parts.section("Summary", parts.callout(NEUTRAL, by, words, noted))


def _turns(state: State) -> str:
    entries = list(spoken(state))
    if not entries:
        return ""
    limit = max(_LEAST, min(SHOWN_LIMIT, TEXTS_LIMIT // len(entries)))
    colors = seat_colors(state.spec)
    rounds: dict[int, list[Spoken]] = {}
    for entry in entries:
        rounds.setdefault(_round_of(entry), []).append(entry)
    folded = []
    for number, said in rounds.items():
        title = f"Round {max(number, 1)} {parts.muted(escape(_counted(said)))}"
        cards = [_card(entry, state, colors, limit) for entry in said]
        folded.append(parts.folded(title, *cards, opened=True))
    return parts.section("What was said", *folded)


def _round_of(entry: Spoken) -> int:
    if entry.turn is not None:
        return entry.turn.round
    return max(entry.note.round, 1) if entry.note is not None else 1


def _counted(said: list[Spoken]) -> str:
    spoke = sum(entry.turn is not None and entry.skipped is None for entry in said)
    words = sum(entry.note is not None for entry in said)
    failed = sum(entry.skipped is not None for entry in said)
    found = [plural(spoke, "turn")]
    found += [plural(words, "word") + " of a person"] if words else []
    found += [f"{failed} failed"] if failed else []
    return " · ".join(found)


def _card(entry: Spoken, state: State, colors: dict[str, str], limit: int) -> str:
    color = colors[entry.turn.seat] if entry.turn is not None else NEUTRAL
    style = (
        f"border-left:3px solid {color};background:{tint(NEUTRAL, 0.06)};border-radius:0 6px 6px 0;"
        "padding:6px 12px;margin:6px 0 0"
    )
    return parts.tag("div", style, _head(entry, state, color), *_body(entry, limit))


def _head(entry: Spoken, state: State, color: str) -> str:
    if entry.turn is None:
        title = note_heading(entry.note) if entry.note is not None else ""
        return parts.tag("b", "font-weight:600", escape(title))
    counted = "" if entry.turn.seat not in state.hidden else parts.muted(" not counted")
    return parts.name(entry.turn.seat, color) + counted


def _body(entry: Spoken, limit: int) -> list[str]:
    if entry.skipped is not None:
        return [parts.tag("div", parts.MUTED, escape(one_line(entry.skipped)))]
    body = [parts.tag("div", "", block(entry.text, limit), extra='dir="auto"')]
    if entry.tools:
        used = (
            f"<b>{escape(one_line(name, 80))}</b> "
            + parts.tag("span", "white-space:pre-wrap", verbatim(preview, limit))
            for name, preview in entry.tools
        )
        title = parts.muted(f"Used {plural(len(entry.tools), 'tool')}")
        body.append(parts.folded(title, parts.bullets(used), style="margin:4px 0 0"))
    return body
