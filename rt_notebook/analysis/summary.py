"""A discussion's summary as a value; always there, whatever became of the observer.

Built from the fold alone. Nothing stands in for the observer: without its text, the text is empty.
"""

from __future__ import annotations

from dataclasses import dataclass

from rt_notebook.domain.snapshot import summary_json
from rt_notebook.domain.state import State
from rt_notebook.errors import one_line


@dataclass(frozen=True, slots=True, repr=False)
class Summary:
    """What the observer wrote about a discussion."""

    status: str
    """none, ready, failed (the observer gave nothing) or skipped (stopped, error)."""
    text: str = ""
    """Its words, Markdown; empty unless ready."""
    error: str | None = None
    """Why it failed; None unless failed."""

    def __repr__(self) -> str:
        """Return one line, safe to print."""
        shown = f": {one_line(self.text, 120)}" if self.text else ""
        return f"<Summary {self.status}{shown}>"

    def __str__(self) -> str:
        """Return the words."""
        return self.text


def summary_of(state: State) -> Summary:
    """Return the summary as it stands; a review, which has a verdict instead, has none."""
    if not state.discusses:
        return Summary("none")
    data = summary_json(state)
    return Summary(data["status"], data["text"], data.get("error"))
