"""What the seats and the observer of a discussion are told. Pure, as the review's prompts are.

The history only grows: brief, participants and what was said stand first and never change, and
what differs from turn to turn stands last, so providers' prompt caches hit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rt_notebook.contract.prompts import Prompts
from rt_notebook.contract.shown_material import tool_lines
from rt_notebook.contract.speech import spoken_text
from rt_notebook.domain.gate import Note
from rt_notebook.domain.kinds import DISCUSSION, window_of
from rt_notebook.domain.research import Source
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.domain.state import State
from rt_notebook.domain.turn import Turn

OBSERVER_PROMPT: Final = """\
Sum the discussion up for somebody who wasn't there. Be neutral: take no side and add no view of
your own. Write these parts, each under its heading:
Executive summary: 2 to 3 sentences
Key points by participant: what each one argued, and whether they changed their mind
Convergences and decisions: what they agree on; none, if there is nothing
Open questions: what stays unsettled or unknown
Next steps: what follows from it, as far as it was said"""
"""What the built-in observer is asked to write; `observer_prompt` takes its place."""

_HINT: Final = (
    "This is your last turn: finalise your view, say what you would decide, and what is left open."
)


def prompts_for(spec: DebateSpec, sources: Sequence[Source] = ()) -> Prompts:
    """Return the prompts of a debate of either kind, with what research found."""
    made = DiscussionPrompts(spec) if spec.kind == DISCUSSION else Prompts(spec)
    made.know(sources)
    return made


class DiscussionPrompts(Prompts):
    """The prompts of one discussion.

    Args:
        spec: its definition.
    """

    subject = "Topic"

    def turn(self, state: State, seat: Seat) -> str:
        """Return the user prompt of a seat's turn: what is fixed, what was said, whose turn it is.

        What was said is cut to the seat's memory; people's words are always there.
        """
        said = self._said_so_far(state, seat.name, window_of(self._spec.memory))
        return "\n\n".join([*self._start(), *said, self._task(state, seat)])

    def shows_turns(self, state: State, name: str) -> bool:
        """Return whether a prompt for `name` holds any turn that could be left out."""
        window = None if name == state.chairman_name else window_of(self._spec.memory)
        return any(isinstance(entry, Turn) for entry in self._seen(state, name, window)[1])

    def chairman_system(self, chairman: Seat | None) -> str:
        """Return the observer's system prompt; a named one keeps its persona."""
        parts = [chairman.persona] if chairman and chairman.persona else []
        parts.append("You observe a roundtable discussion. You did not take part in it.")
        if chairman and chairman.lens:
            parts.append(f"Look at it above all for this: {chairman.lens}.")
        return "\n\n".join([*parts, self._quoting(), self._language()])

    def verdict(self, state: State) -> str:
        """Return the observer's user prompt: the whole discussion, and what to write about it."""
        said = self._said_so_far(state, state.chairman_name, None)
        asked = state.spec.observer_prompt or OBSERVER_PROMPT
        missing = [seat.name for seat in self._spec.seats if seat.name not in _speakers(state)]
        silent = [f"Never heard: {self._names(missing)}"] if missing else []
        return "\n\n".join([*self._start(), *said, *silent, asked])

    def _start(self) -> tuple[str, str]:
        order = ", ".join(self._shown.values())
        rounds = self._spec.rounds
        planned = f"{rounds} round{'s' if rounds > 1 else ''} planned"
        return self._brief, f"Participants, in the order in which they speak: {order}; {planned}."

    def _task(self, state: State, seat: Seat) -> str:
        lines = [f"Round {state.round}/{state.rounds}, you are {self.own_name(seat)}."]
        if not any(isinstance(entry, Turn) for entry in state.said):
            lines.append("You speak first: nobody has said anything yet.")
        lines.append(
            "Answer the others where you have something to say to them, by name, and bring the "
            "topic forward. Write plain text or Markdown, as long as it needs and no longer."
        )
        if state.round >= state.rounds:
            lines.append(_HINT)
        return "\n".join(lines)

    def _seen(self, state: State, name: str, window: int | None) -> tuple[int, list[Turn | Note]]:
        """Return how many of the oldest turns are left out, and what is left in order."""
        turns = sum(isinstance(entry, Turn) for entry in state.said)
        unseen = max(state.shortened.get(name, 0), 0 if window is None else turns - window)
        left: list[Turn | Note] = []
        number = 0
        for entry in state.said:
            if isinstance(entry, Turn):
                number += 1
            if number > unseen or isinstance(entry, Note):
                left.append(entry)
        return unseen, left

    def _said_so_far(self, state: State, name: str, window: int | None) -> Iterator[str]:
        unseen, entries = self._seen(state, name, window)
        if unseen and window != 0:
            yield f"[turns left out here: the {unseen} oldest]"
        for entry in entries:
            if isinstance(entry, Note):
                yield self._note(entry)
            elif entry.usable:
                yield self._quoted_turn(entry)

    def _quoted_turn(self, turn: Turn) -> str:
        key = (turn.round, turn.seat, True)
        if key not in self._quotes:
            what = f"{self._shown[turn.seat]}, round {turn.round}"
            text = spoken_text(turn.reply) if turn.reply is not None else ""
            said = [text, *tool_lines(turn, self._spec.tool_preview)]
            self._quotes[key] = self._quote(what, "\n".join(said).strip())
        return self._quotes[key]

    def _system_text(self, seat: Seat) -> str:
        parts = [seat.persona] if seat.persona else []
        parts.append(
            f"You take part in a roundtable discussion as {self.own_name(seat)}. The participants "
            "speak one after the other; a person reads along and may say a word."
        )
        parts += self._manner(seat)
        return "\n\n".join([*parts, self._quoting(), self._language()])

    def _language(self) -> str:
        if self._spec.language:
            return f"Write in {self._spec.language}."
        return "Write in the language of the topic."


def _speakers(state: State) -> set[str]:
    return {entry.seat for entry in state.said if isinstance(entry, Turn) and entry.usable}
