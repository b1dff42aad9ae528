"""What the loopback server is told to do, independent of any vendor's wire format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Stop = Literal["end", "length", "filter", "refusal"]
End = Literal["whole", "drop", "hang", "eof", "error"]


@dataclass(frozen=True)
class Tokens:
    """What an answer is billed; cached, written and reasoning tokens are parts of the others."""

    prompt: int = 1000
    """Tokens sent."""
    cached: int = 200
    """Of these, read from the vendor's cache."""
    written: int = 0
    """Of these, written to the vendor's cache (Anthropic only)."""
    completion: int = 60
    """Tokens received."""
    reasoning: int = 20
    """Of these, spent on reasoning."""

    def __add__(self, other: Tokens) -> Tokens:
        """Return the sum."""
        return Tokens(
            self.prompt + other.prompt,
            self.cached + other.cached,
            self.written + other.written,
            self.completion + other.completion,
            self.reasoning + other.reasoning,
        )


NO_TOKENS = Tokens(0, 0, 0, 0, 0)


@dataclass(frozen=True)
class ToolUse:
    """A function that the model calls."""

    name: str
    """The function."""
    arguments: Mapping[str, Any]
    """What it is given."""
    id: str = "call_1"
    """The call's id on the wire."""


@dataclass(frozen=True)
class Found:
    """A page that the vendor's web search found and the answer cites."""

    url: str
    """Where it is."""
    title: str
    """What it is called."""
    excerpt: str
    """The words that the answer rests on."""


@dataclass(frozen=True)
class Say:
    """An answer, told whole or cut by a fault."""

    text: str | None = "Hello from the wire."
    """The words; None: the content is null."""
    tokens: Tokens = field(default_factory=Tokens)
    """What it is billed."""
    pieces: int = 3
    """Deltas of a stream."""
    pause_s: float = 0.0
    """Seconds between two deltas."""
    stop: Stop = "end"
    """Why the model stopped."""
    thinking: str = ""
    """Reasoning shown before the words."""
    tools: tuple[ToolUse, ...] = ()
    """Functions called behind the words."""
    queries: tuple[str, ...] = ()
    """Web searches made by the vendor."""
    found: tuple[Found, ...] = ()
    """Pages that the searches found."""
    cites: bool = True
    """False where the words cite none of them."""
    cost: float | None = None
    """USD that a router says it charged (chat only)."""
    ends: End = "whole"
    """What happens once half of the deltas are out."""
    model: str | None = None
    """The model that the answer names; None: the one asked."""
    has_usage: bool = True
    """False where the vendor reports no tokens."""

    @property
    def parts(self) -> list[str]:
        """The deltas."""
        text = self.text or ""
        size = max(1, -(-len(text) // max(1, self.pieces)))
        return [text[at : at + size] for at in range(0, len(text), size)]


@dataclass(frozen=True)
class Fail:
    """An error answer."""

    status: int
    """The HTTP status."""
    message: str = "the wire says no"
    """The vendor's words."""
    code: str | None = None
    """The vendor's code; None: the usual one of that status."""
    retry_after: str | None = None
    """The Retry-After header."""


@dataclass(frozen=True)
class Hang:
    """Nothing at all, until the client leaves."""


@dataclass(frozen=True)
class Raw:
    """A success with this body, whatever was asked for."""

    body: bytes
    """The bytes."""
    content_type: str = "application/json"
    """Their type."""


@dataclass(frozen=True)
class Asked:
    """One request, as it came over the wire."""

    wire: str
    """chat, responses, anthropic or google."""
    model: str
    """The model asked."""
    key: str
    """The key that paid."""
    body: Mapping[str, Any]
    """The request's JSON."""
    headers: Mapping[str, str]
    """Its headers, names in lower case."""
    path: str
    """Its path with the query."""
    streams: bool
    """True where a stream was asked for."""


Step = Say | Fail | Hang | Raw
Script = Step | Callable[[Asked], Step]
