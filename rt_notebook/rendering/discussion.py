"""A discussion as plain text: what `str(result)` is, and what a terminal shows at its end.

Nothing in it is anything a terminal would obey; texts stand as they were written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from rt_notebook.contract.speech import spoken_text
from rt_notebook.domain.gate import Note
from rt_notebook.domain.state import State
from rt_notebook.domain.turn import Turn
from rt_notebook.rendering import facts
from rt_notebook.rendering.plain import clip, one_line, plain
from rt_notebook.rendering.wording import Typed

CONCLUDED: Final = "━━━ Roundtable Concluded ━━━"
"""The first line of a discussion that is over."""
_TEXT_LIMIT: Final = 100_000
_OWN_LINES: Final = re.compile(r"^(?=[^\S\n]*+(?:──|━━|\[Roundtable))", re.MULTILINE)


class Spoken:
    """What one entry of a discussion says, for every form of a report; raw, as the log has it.

    Args:
        entry: a turn, or words of a person.
        state: the fold.
    """

    def __init__(self, entry: Turn | Note, state: State) -> None:
        self.turn = entry if isinstance(entry, Turn) else None
        """The turn; None for a person's words."""
        self.note = entry if isinstance(entry, Note) else None
        """The person's words; None for a turn."""
        self.text = ""
        """What was said, without any reasoning."""
        self.skipped: str | None = None
        """Why the turn was skipped; None where it wasn't."""
        self.tools: list[tuple[str, str]] = []
        """The tools used: name and the start of what came back."""
        if isinstance(entry, Note):
            self.text = entry.text
        elif entry.reply is not None:
            self.text = spoken_text(entry.reply) or "; ".join(entry.reply.errors)
            self.tools = [
                (str(tool.get("name")), str(tool.get("preview") or "")[: state.spec.tool_preview])
                for call in entry.calls
                for tool in call.tool_calls
            ]
        else:
            why = f"{entry.error}: {entry.message}" if entry.message else str(entry.error)
            notice = "cut short" if entry.cut_short else facts.skip_notice(entry, state)
            self.skipped = f"{notice} ({why})"


def spoken(state: State) -> Iterator[Spoken]:
    """Yield everything said in order; failed turns stand where they would have spoken."""
    failed = [turn for number in state.numbers for turn in state.turns_of(number) if turn.failed]
    place = {seat.name: number for number, seat in enumerate(state.spec.seats)}

    def comes_before(turn: Turn, entry: Turn) -> bool:
        return (turn.round, place[turn.seat]) < (entry.round, place[entry.seat])

    for entry in state.said:
        while isinstance(entry, Turn) and failed and comes_before(failed[0], entry):
            yield Spoken(failed.pop(0), state)
        yield Spoken(entry, state)
    yield from (Spoken(turn, state) for turn in failed)


def note_heading(note: Note) -> str:
    """Return who said something, and for what."""
    who = "The person" if note.source == "person" else "Agent note"
    if note.mode is not None:
        return f"{who} extends the discussion" if note.mode == "continue" else f"{who} asks anew"
    return f"{who} (Round {note.round})" if note.round else who


def discussion_text(
    state: State,
    *,
    variable: str | None = None,
    notes: Sequence[str] = (),
    typed: Typed | None = None,
) -> str:
    """Return a discussion as plain text, safe to print.

    Args:
        state: the fold, finished or not.
        variable: the notebook variable that holds the result.
        notes: warnings to list.
        typed: writes a verb as it is typed where this is shown; None: as the line magic.
    """
    parts = [_head(state), *_facts(state)]
    parts += [_entry(entry) for entry in spoken(state)]
    parts += [*_summary(state), *_tail(state, variable, notes, typed)]
    return "\n\n".join(parts)


def _head(state: State) -> str:
    if state.status == "done":
        return CONCLUDED
    return f"[Roundtable {state.status}]"


def _facts(state: State) -> list[str]:
    names = ", ".join(one_line(seat.name, 60) for seat in state.spec.seats)
    found = [f"Topic: {_shown(state.spec.brief.question)}\nParticipants: {names}"]
    found[0] += f"\n{one_line(facts.status_line(state))} · {' · '.join(facts.facts_of(state))}"
    if facts.all_scripted(state.spec):
        found.append(f"{facts.SCRIPTED_TITLE}. {facts.SCRIPTED_HELP}")
    return found


def _entry(entry: Spoken) -> str:
    if entry.turn is None:
        title = note_heading(entry.note) if entry.note is not None else ""
    else:
        title = f"{one_line(entry.turn.seat, 60).upper()} (Round {entry.turn.round})"
    if entry.skipped is not None:
        return f"── {title} ──\n[{one_line(entry.skipped, 2_000)}]"
    tools = [f"- {_tool(name, preview)}" for name, preview in entry.tools]
    return "\n".join([f"── {title} ──", _shown(entry.text), *tools])


def _tool(name: str, preview: str) -> str:
    shown = one_line(preview, 500)
    return one_line(name, 80) + (f": {shown}" if shown else "")


def _summary(state: State) -> list[str]:
    if state.verdict_status == "failed":
        return [f"── Summary ──\n{one_line(facts.verdict_failure(state), 2_000)}"]
    if state.verdict_status != "ready" or state.verdict is None:
        return []
    by = one_line(facts.chairman_of(state), 80)
    return [f"── Summary, by {by} ──\n{_shown(state.verdict.recommendation)}"]


def _tail(
    state: State, variable: str | None, notes: Sequence[str], typed: Typed | None
) -> list[str]:
    step = facts.next_step(state, typed)
    found = [f"{step[0]}  {step[1]}"] if step is not None else []
    if notes:
        found.append("Warnings:\n" + "\n".join(f"- {one_line(note, 2_000)}" for note in notes))
    return [*found, f"The data: {facts.access_line(variable, state.spec.kind)}, ..."]


def _shown(text: str) -> str:
    """Return a text as it was written, but for lines that would pass for the report's own."""
    shown, left_out = clip(plain(text).strip(), _TEXT_LIMIT)
    shown = _OWN_LINES.sub("│ ", shown)
    return f"{shown}\n[{left_out:,} more characters]" if left_out else shown
