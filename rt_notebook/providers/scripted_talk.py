"""What scripted seats and the built-in observer say in a discussion, from the brief and the log.

Deterministic: the same brief, seat and discussion so far give the same words. Knows no form: turns
of a discussion are plain text.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Final

from rt_notebook.contract.prompts import shown_names
from rt_notebook.contract.speech import spoken_text
from rt_notebook.domain.brief import Brief
from rt_notebook.domain.gate import Note
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.state import State
from rt_notebook.domain.turn import Turn
from rt_notebook.errors import one_line

_CONCERNS: Final = {
    "risk": "what it costs if it goes wrong, and who notices first",
    "cost": "what it costs every week after the first one",
    "evidence": "which of this was measured, and which of it is hope",
    "reversibility": "whether we could take it back within a month",
    "user impact": "what somebody sees of it who uses this every day",
}
_OPENINGS: Final = (
    "Before anything else I would settle {concern}.",
    "I start from {concern}: that is where this has gone wrong before.",
    "The part that matters most to me is {concern}.",
)
_REPLIES: Final = (
    "{other} is right that this needs an answer, but the point I miss is {concern}.",
    "I follow {other} on the direction; I differ on the order of the steps, because of {concern}.",
    "What {other} says holds as long as nobody has looked into {concern}.",
)
_STEPS: Final = (
    "Let us try it on the smallest case that can fail, and look at the numbers after a week.",
    "Somebody should write down what we would have to see to stop, and by when.",
    "I would do the part that is easy to take back first, and leave the rest for later.",
    "Two people who have to live with it should say what they would change.",
)
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+")


def speech(seat: Seat, state: State, round: int, variant: str = "") -> str:
    """Return what a scripted seat says in its turn.

    Args:
        seat: who speaks; lens and mood colour the words.
        state: the discussion so far.
        round: the round.
        variant: another voice for the same seat.
    """
    dice = _Dice(seat.name, variant, state.spec.brief.question)
    concern = _concern(seat)
    heard = [e for e in state.said if isinstance(e, Turn) and e.seat != seat.name and e.usable]
    other = shown_names(state.spec)[heard[-1].seat] if heard else None
    choices = _REPLIES if other else _OPENINGS
    first = choices[(dice.roll("first") + round) % len(choices)]
    parts = [first.replace("{concern}", concern).replace("{other}", other or "")]
    parts += _answer(state, seat)
    if round == 1:
        parts += _fact(state.spec.brief, dice)
    parts.append(_STEPS[(dice.roll("step") + round) % len(_STEPS)])
    if round >= state.rounds:
        parts.append("My last word: decide it, and write down what is still open.")
    return " ".join(parts)


def scripted_summary(state: State) -> str:
    """Return the built-in observer's summary, put together from the turns alone."""
    turns = [entry for entry in state.said if isinstance(entry, Turn) and entry.usable]
    shown = shown_names(state.spec)
    names = list(dict.fromkeys(shown[turn.seat] for turn in turns))
    topic = one_line(state.spec.brief.question, 160)
    lines = [
        "**Executive summary**",
        f"{', '.join(names) or 'Nobody'} spoke in {len(turns)} turns about: {topic} "
        "This summary was scripted from the turns; no model weighed them.",
        "",
        "**Key points by participant**",
        *(f"- {shown[seat.name]}: {_last_point(turns, seat)}" for seat in state.spec.seats),
        "",
        "**Convergences and decisions**",
        "- none was looked for: a script can't tell agreement from politeness",
        "",
        "**Open questions**",
        *(_words(state) or ["- none was put to the seats"]),
        "",
        "**Next steps**",
        "- read the turns, or seat real models and ask for the summary again",
    ]
    return "\n".join(lines)


class _Dice:
    """Numbers that look random and are the same for the same words."""

    def __init__(self, *words: str) -> None:
        self._words = words

    def roll(self, what: str) -> int:
        text = "\0".join((*self._words, what))
        digest = hashlib.sha256(text.encode("utf-8", "replace")).digest()
        return int.from_bytes(digest[:4], "big")

    def pick(self, what: str, choices: Sequence[str]) -> str:
        return choices[self.roll(what) % len(choices)]


def _concern(seat: Seat) -> str:
    if seat.lens in _CONCERNS:
        return _CONCERNS[seat.lens]
    if seat.lens:
        return one_line(seat.lens, 80)
    by_mood = {"grill": "the weakest claim on the table", "builder": "who does what on Monday"}
    return by_mood.get(seat.mood or "", "what we would do if we had to choose today")


def _answer(state: State, seat: Seat) -> list[str]:
    """Return a word on what the person said since this seat's last turn."""
    since: list[Note] = []
    for entry in state.said:
        if isinstance(entry, Note):
            since.append(entry)
        elif entry.seat == seat.name:
            since.clear()
    if not since:
        return []
    return [f"To the person's word (“{one_line(since[-1].text, 120)}”): yes, that changes it."]


def _fact(brief: Brief, dice: _Dice) -> list[str]:
    facts = [*brief.known, *brief.constraints]
    if not facts:
        return []
    return [
        f"The brief says “{one_line(dice.pick('fact', facts), 160)}”, and I take that as given."
    ]


def _last_point(turns: Sequence[Turn], seat: Seat) -> str:
    own = [turn for turn in turns if turn.seat == seat.name and turn.reply is not None]
    if not own or own[-1].reply is None:
        return "said nothing"
    return one_line(_SENTENCE.split(spoken_text(own[-1].reply), maxsplit=1)[0], 200)


def _words(state: State) -> list[str]:
    return [
        f"- the person said: {one_line(entry.text, 200)}"
        for entry in state.said
        if isinstance(entry, Note)
    ]
