"""What a person adds to a debate that had ended. Owns what goes on and what is new."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from rt_notebook.domain.events import Event

MAX_PROMPT: Final = 20_000
CONTINUE: Final = "continue"
NEW: Final = "new"
PHRASES: Final = (
    "debate more",
    "continue",
    "dive deeper",
    "go deeper",
    "expand on",
    "elaborate",
    "further discuss",
    "keep debating",
)
"""A prompt that begins with one of these, in any case, extends the topic."""

_CONTINUES: Final = re.compile(rf"\W*(?:{'|'.join(PHRASES)})\b")


@dataclass(slots=True)
class Extension:
    """One extension of a debate that had ended."""

    round: int
    """The last round before it."""
    rounds: int
    """The rounds it added."""
    prompt: str
    """The person's words; empty where none were given."""
    mode: str
    """continue: the topic goes on; new: a new challenge, with the history as its background."""

    @classmethod
    def of(cls, event: Event, round: int) -> Extension:
        """Return the extension of an `extended` event."""
        body: dict[str, Any] = event.body
        prompt = body.get("prompt") or ""
        return cls(round, body["rounds"], prompt, body.get("mode") or mode_of(prompt))


def mode_of(prompt: str) -> str:
    """Return what a prompt asks for by its first words: to go on, or something new."""
    words = " ".join(prompt.split()).casefold()
    return CONTINUE if not words or _CONTINUES.match(words) else NEW
