"""The provider protocol: a `Call` goes in, a `Completion` comes out, progress is told on the way.

Everything above this line is provider-blind; everything below knows nothing of debates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Protocol, runtime_checkable

from rt_notebook.domain.brief import Brief
from rt_notebook.domain.usage import Usage

Progress = Callable[[int], None]
"""Told the number of characters that have come so far."""

NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
"""The settings and timings of a call that has none; shared, because it can't change."""
PROCESS_FACTS: Final = ("exit_code", "stdout_bytes", "stderr_bytes", "idle_s")
"""What is known of a process that answered: `idle_s` is its longest time without progress."""


SETTINGS: Final = ("effort", "temperature", "max_tokens")
"""What a call's settings hold, as far as its seat sets them."""


class Message(NamedTuple):
    """One message of a prompt."""

    role: str
    """system, user or assistant; after the system message user and assistant alternate."""
    text: str
    """The words."""


@dataclass(slots=True)
class Call:
    """One request to a provider."""

    messages: Sequence[Message]
    """The prompt."""
    seat: str
    """The seat's name."""
    round: int
    """The round; 0 is the opening."""
    purpose: str
    """opening, critique, turn, repair, verdict, summary or research."""
    settings: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    """effort, temperature, max_tokens, as far as the seat sets them."""
    tools: Sequence[Callable[..., Any]] = ()
    """Functions the model may call."""
    deadline_s: float = 300.0
    """Seconds until the call is given up."""
    brief: Brief | None = None
    """The brief as a value, for functions that compute their stance."""
    begin: Callable[[], None] = field(default=lambda: None, repr=False, compare=False)
    """Told by a provider that queues when the call leaves the queue: a stall counts from there."""
    came: Callable[[], str] = field(default=lambda: "", repr=False, compare=False)
    """May be set by a provider: returns the text so far, which a call that is given up keeps."""

    @property
    def prompt(self) -> str:
        """The whole prompt as one text."""
        return "\n\n".join(message.text for message in self.messages)

    @property
    def chars(self) -> int:
        """Characters sent."""
        return sum(len(message.text) for message in self.messages)


@dataclass(slots=True)
class Completion:
    """What a provider answers."""

    text: str
    """The answer."""
    tool_calls: Sequence[Mapping[str, Any]] = ()
    """Tools used: name and preview."""
    usage: Usage | None = None
    """Tokens and cost, where reported."""
    model: str | None = None
    """The model as the provider names it."""
    request_id: str | None = None
    """The provider's id of the request."""
    timings: Mapping[str, float] = field(default_factory=lambda: NOTHING)
    """Seconds: queued, first_output."""
    process: Mapping[str, float] | None = None
    """Of a process that answered: `PROCESS_FACTS`."""

    @property
    def is_plain(self) -> bool:
        """True for a text with nothing beside it."""
        return (
            self.tool_calls == ()
            and self.timings is NOTHING
            and self.process is None
            and self.usage is None
            and self.model is None
            and self.request_id is None
        )


@runtime_checkable
class Provider(Protocol):
    """Something that answers calls."""

    async def complete(self, call: Call, progress: Progress) -> Completion:
        """Answer one call.

        Raises:
            CallError: with its kind, when there is no answer.
        """
        ...
