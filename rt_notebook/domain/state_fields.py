"""What is known of a debate at one revision: plain fields, and simple questions about them.

How events change the fields stands in `folding`; `state` joins the two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from rt_notebook.domain.extension import Extension
from rt_notebook.domain.gate import Gate, Note, Question, merged_questions, question_key
from rt_notebook.domain.kinds import CHAIRMAN_NAME, DISCUSSION
from rt_notebook.domain.positions import Position
from rt_notebook.domain.reply import VerdictText
from rt_notebook.domain.research import Source
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.domain.turn import Call, Turn
from rt_notebook.domain.usage import Tally

LIVE: Final = frozenset({"researching", "running", "waiting", "verdict"})
"""Statuses of a debate that some process runs, or ran when it died."""

NOT_STARTED: Final = -1
"""The round of a debate whose opening hasn't begun."""


@dataclass(slots=True)
class StateFields:
    """What is known of a debate after its first `revision` events."""

    id: str
    """The debate's id."""
    spec: DebateSpec
    """Its definition, limits changed by a resume included."""
    created_at: int
    """Milliseconds since 1970 UTC."""
    unattended: bool = False
    """True when nobody is asked."""
    source: str = "person"
    """Who started it: person, agent or process."""
    status: str = "running"
    """One of the running states of a review."""
    stop_reason: str | None = None
    """Why it ended; None while it runs."""
    revision: int = 0
    """Number of the last event."""
    updated_at: int = 0
    """Time of the last event, milliseconds since 1970 UTC."""
    round: int = NOT_STARTED
    """The current round; 0 is a review's opening, a discussion begins with 1."""
    rounds: int = 0
    """Rounds planned, those that a person added included; a review's opening isn't counted."""
    turns: list[dict[str, Turn]] = field(default_factory=list)
    """By round, then by seat."""
    calls: dict[str, Call] = field(default_factory=dict)
    """All tries by id, in order of their start."""
    gates: list[Gate] = field(default_factory=list)
    """All gates in order."""
    notes: list[Note] = field(default_factory=list)
    """What people said, in order."""
    said: list[Turn | Note] = field(default_factory=list)
    """A discussion's turns that were read and people's words, in order; a review's stays empty."""
    shortened: dict[str, int] = field(default_factory=dict)
    """How many of the oldest turns are left out for whom, since they were too many for its model.
    """
    extensions: list[Extension] = field(default_factory=list)
    """What was added after an end, in order."""
    asking: list[int] = field(default_factory=list)
    """The rounds in which somebody asked a question, so that the others needn't be searched."""
    answered: dict[str, Note] = field(default_factory=dict)
    """Answers by the question's normal form."""
    positions: dict[str, Position] = field(default_factory=dict)
    """Each seat's latest valid stance that isn't a pass."""
    history: dict[str, list[Position]] = field(default_factory=dict)
    """Each seat's positions as they were taken, in round order."""
    down: dict[str, str] = field(default_factory=dict)
    """Seats that aren't asked again until resume, with the error kind."""
    consensus_round: int | None = None
    """The last round after which everybody agreed."""
    ending: str | None = None
    """The reason that leads to the verdict, once an event settled it."""
    limit: dict[str, Any] | None = None
    """The limit that was reached: limit, used, bound."""
    finish_asked: bool = False
    """True once a person asked for the verdict."""
    stop_asked: bool = False
    """True once a person asked to stop."""
    verdict_status: str = "none"
    """none, ready, failed or skipped."""
    verdict: VerdictText | None = None
    """The chairman's words as read, once ready."""
    verdict_calls: list[Call] = field(default_factory=list)
    """The chairman's tries since the verdict was last asked for."""
    verdict_error: str | None = None
    """Why the verdict failed."""
    research_status: str = "none"
    """none, running, ready or failed; research that failed isn't made again by itself."""
    research_error: str | None = None
    """Why it failed."""
    sources: tuple[Source, ...] = ()
    """What research found."""
    usage: Tally = field(default_factory=Tally)
    """Totals of the debate."""
    seat_usage: dict[str, Tally] = field(default_factory=dict)
    """Totals by seat; the chairman under its own name."""
    vendor_usage: dict[str, Tally] = field(default_factory=dict)
    """Totals by vendor."""
    unknown_kinds: dict[str, int] = field(default_factory=dict)
    """Kinds of events that this version doesn't know, with their counts; kept, without effect."""
    verdict_asked: bool = False
    """True from the chairman's first call to the conclusion, an interruption included."""
    wire_ids: dict[str, str] = field(default_factory=dict)
    """ASCII id by seat name."""
    chairman_name: str = CHAIRMAN_NAME
    """The name under which the calls of a review's chairman or of a discussion's observer stand; no
    seat's name."""

    @property
    def research_failure(self) -> str | None:
        """Why there are no sources although they were asked for, in words; None: they are there."""
        if self.research_status != "failed":
            return None
        return f"research failed, so there are no sources: {self.research_error or 'no reason'}"

    @property
    def research_due(self) -> bool:
        """True before the first round of a debate whose research hasn't been tried."""
        return self.spec.research is not None and self.research_status == "none" and not self.turns

    @property
    def discusses(self) -> bool:
        """True for a discussion."""
        return self.spec.kind == DISCUSSION

    @property
    def closing_seat(self) -> Seat:
        """The chairman or observer as a seat; the built-in one is scripted."""
        return self.spec.closer or Seat(self.spec.closing_name)

    @property
    def numbers(self) -> range:
        """The numbers of the rounds that have begun."""
        return range(1 if self.discusses else 0, len(self.turns))

    @property
    def extended_here(self) -> bool:
        """True when the current round was the last one before an extension: the next one is due."""
        return bool(self.extensions) and self.extensions[-1].round == self.round

    @property
    def live(self) -> bool:
        """True while the debate is (or was, at its process's death) at work."""
        return self.status in LIVE

    @property
    def gate(self) -> Gate | None:
        """The open gate, or None."""
        return self.gates[-1] if self.gates and self.gates[-1].why is None else None

    @property
    def hidden(self) -> frozenset[str]:
        """Names of the seats that aren't counted."""
        return frozenset(seat.name for seat in self.spec.seats if seat.hidden)

    @property
    def completed_rounds(self) -> int:
        """Critique rounds in which every seat replied, passed or failed; one cut short isn't."""
        return sum(
            self.round_complete(number) and not any(turn.cut_short for turn in turns.values())
            for number, turns in enumerate(self.turns)
            if number > 0
        )

    def round_complete(self, number: int) -> bool:
        """True when every seat's turn in this round is settled."""
        if not 0 <= number < len(self.turns):
            return False
        turns = self.turns[number]
        return len(turns) == len(self.spec.seats) and all(turn.final for turn in turns.values())

    def turns_of(self, number: int) -> list[Turn]:
        """Return the turns of a round in seat order; seats not asked yet are left out."""
        return self._turns_by(self.spec.seats, number)

    def counted_turns(self, number: int) -> list[Turn]:
        """Return the turns of a round whose seats count, in seat order."""
        return self._turns_by(self.spec.counted, number)

    def _turns_by(self, seats: Iterable[Seat], number: int) -> list[Turn]:
        turns = self.turns[number] if 0 <= number < len(self.turns) else {}
        return [turns[seat.name] for seat in seats if seat.name in turns]

    def questions_of(self, number: int) -> list[Question]:
        """Return what a round's seats ask and nobody answered in an earlier gate."""
        earlier = {key: note for key, note in self.answered.items() if note.round < number}
        return merged_questions(self.turns_of(number), self.hidden, earlier)

    def open_questions(self, before: int | None = None) -> list[Question]:
        """Return the questions that nobody answered, oldest first, each once.

        Args:
            before: only those of the rounds before this one; None: all.
        """
        found: dict[str, Question] = {}
        for number in self.asking:
            if before is None or number < before:
                for question in merged_questions(self.turns_of(number), self.hidden, self.answered):
                    found.setdefault(question_key(question.text), question)
        return list(found.values())

    def latest_replies(self, before: int | None = None) -> dict[str, Turn]:
        """Return each seat's last turn whose reply isn't a pass, in seat order.

        Args:
            before: only turns of the rounds before this one; None: all.
        """
        rounds = self.turns if before is None else self.turns[:before]
        return self._latest(rounds, lambda turn: turn.reply is not None and not turn.reply.passed)

    def final_replies(self) -> dict[str, Turn]:
        """Return the turn that each seat's position stands on, in seat order.

        A seat without a position is there with what it said last, readable or not.
        """
        stated = self._latest(self.turns, lambda turn: turn.usable)
        said = self.latest_replies()
        names = (seat.name for seat in self.spec.seats)
        return {name: stated.get(name) or said[name] for name in names if name in said}

    def _latest(
        self, rounds: Sequence[dict[str, Turn]], fits: Callable[[Turn], bool]
    ) -> dict[str, Turn]:
        found: dict[str, Turn] = {}
        for seat in self.spec.seats:
            for turns in reversed(rounds):
                turn = turns.get(seat.name)
                if turn is not None and fits(turn):
                    found[seat.name] = turn
                    break
        return found
