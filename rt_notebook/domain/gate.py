"""Gates and what they ask: who asked, what a person answered, and what stayed open."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from rt_notebook.domain.events import Event
from rt_notebook.domain.normal import normal_form
from rt_notebook.domain.turn import Turn

MAX_HOLDS: Final = 3
UNNAMED: Final = "an unnamed voice"


@dataclass(slots=True)
class Question:
    """A question to the person, with everybody who asked it."""

    id: str
    """q1, q2, ... within its round."""
    text: str
    """As the first asker wrote it."""
    askers: list[str]
    """Seats' names; a hidden seat's is `an unnamed voice`."""

    def to_json(self) -> dict[str, Any]:
        """Return id, text and askers."""
        return {"id": self.id, "text": self.text, "askers": list(self.askers)}


@dataclass(slots=True)
class Gate:
    """One pause for a person after a round."""

    round: int
    """The round it follows."""
    mode: str
    """questions, checkpoint or blocking."""
    questions: list[Question]
    """What is asked; may be empty."""
    opened_at: int
    """Milliseconds since 1970 UTC."""
    closes_at: int | None
    """Milliseconds since 1970 UTC; None: it waits."""
    reopen_calls: int | None = None
    """At a consensus: how many calls any text costs (one more round)."""
    holds: int = 0
    """How often the window was extended."""
    answers: dict[str, str] = field(default_factory=dict)
    """Answers by question id."""
    message: str | None = None
    """The person's free message."""
    source: str | None = None
    """person or agent, once answered."""
    why: str | None = None
    """Why it closed (answered, timeout, finished, stopped, clock, interrupted); None while open."""

    @property
    def holds_left(self) -> int:
        """How often `hold` still works."""
        return MAX_HOLDS - self.holds if self.closes_at is not None else 0

    @property
    def has_text(self) -> bool:
        """True when somebody wrote anything."""
        return bool(self.message) or bool(self.answers)

    @classmethod
    def opened(cls, event: Event) -> Gate:
        """Return the gate of a `gate_opened` event."""
        body = event.body
        questions = [Question(q["id"], q["text"], list(q["askers"])) for q in body["questions"]]
        return cls(
            body["round"],
            body["mode"],
            questions,
            event.at,
            body["closes_at"],
            body.get("reopen_calls"),
        )


@dataclass(slots=True)
class Note:
    """Something a person (or an agent) said, for all later prompts."""

    round: int
    """The round after which it was said."""
    source: str
    """person or agent."""
    text: str
    """The words."""
    question: str | None = None
    """The question it answers; None for a free message."""
    mode: str | None = None
    """continue or new for the words that extended a debate; None for any other."""


def question_key(text: str) -> str:
    """Return the form in which questions are compared."""
    return normal_form(text)


def merged_questions(
    turns: Iterable[Turn], hidden: frozenset[str], answered: Mapping[str, Note]
) -> list[Question]:
    """Return a round's questions, one per distinct text, in seat order, no answered one.

    Args:
        turns: the round's turns in seat order.
        hidden: names of seats that stay unnamed.
        answered: notes by `question_key`, from earlier gates.
    """
    found: dict[str, Question] = {}
    for turn in turns:
        text = turn.reply.question if turn.reply is not None else None
        if not text:
            continue
        key = question_key(text)
        if key in answered:
            continue
        asker = UNNAMED if turn.seat in hidden else turn.seat
        question = found.setdefault(key, Question(f"q{len(found) + 1}", text, []))
        if asker not in question.askers:
            question.askers.append(asker)
    return list(found.values())
