"""The steps a debate can take next: what the pure deciders return and the driver carries out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from rt_notebook.domain.gate import Question


@dataclass(frozen=True, slots=True)
class Record:
    """Put a finding into the log: round_started, consensus, limit_reached, verdict_started ..."""

    kind: str
    """The event's kind."""
    body: dict[str, Any]
    """The event's body."""


@dataclass(frozen=True, slots=True)
class AskSearcher:
    """Have looked up on the web what the debate asks for."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask these seats, all at the same time."""

    round: int
    """The round."""
    seats: tuple[str, ...]
    """Names of the seats whose turns are open."""


@dataclass(frozen=True, slots=True)
class OpenGate:
    """Ask the person."""

    round: int
    """The round it follows."""
    mode: str
    """questions, checkpoint or blocking."""
    questions: list[Question] = field(default_factory=list)
    """What the seats ask."""
    window_s: float | None = None
    """Seconds until it closes by itself; None: it waits."""
    reopen_calls: int | None = None
    """At a consensus: what any text costs, in calls."""


@dataclass(frozen=True, slots=True)
class AskVerdict:
    """Ask the chairman."""


@dataclass(frozen=True, slots=True)
class Conclude:
    """End the debate."""

    status: str
    """done, stopped, paused or error."""
    stop_reason: str
    """Why."""


Step = Record | AskSearcher | Ask | OpenGate | AskVerdict | Conclude
