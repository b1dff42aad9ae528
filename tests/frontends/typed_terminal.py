"""A terminal without a terminal: what a person types stands in a list, what is shown in another."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rich.text import Text


@dataclass(frozen=True)
class Half:
    """Words typed without Enter when the window closes."""

    text: str
    """The words."""


Typed = str | Half | type[Exception]
"""A line with Enter, a key that raises (`Enough`, `Interrupt`), or words without Enter."""


class TypedTerminal:
    """Answers prompts from a list; when that is used up, the person just sits there.

    Args:
        typed: what the person does at one prompt after the other.
    """

    def __init__(self, typed: Sequence[Typed]) -> None:
        self.draft = ""
        self.prompts: list[tuple[str, str]] = []
        """The prompts with the text they began with."""
        self.shown: list[str] = []
        """The lines."""
        self.idle = asyncio.Event()
        """Set once the person sits there."""
        self._typed = list(typed)

    @property
    def width(self) -> int:
        """80 columns."""
        return 80

    async def say(self, lines: Iterable[Text]) -> None:
        """Print lines."""
        self.shown += [line.plain for line in lines]

    async def line(self, label: str, closes_at: Callable[[], int | None], default: str = "") -> str:
        """Ask for a line."""
        self.prompts.append((label, default))
        self.draft = ""
        typed = self._typed.pop(0) if self._typed else Half("")
        if isinstance(typed, str):
            return typed
        if not isinstance(typed, Half):
            raise typed
        self.idle.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.draft = typed.text
        raise AssertionError("nobody ends this wait but a cancellation")

    @property
    def labels(self) -> list[str]:
        """What was asked for, in order."""
        return [label for label, _ in self.prompts]
