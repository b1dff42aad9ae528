"""What calls cost: tokens and money, summed without inventing what nobody reported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

CHARS_PER_TOKEN: Final = 4
"""Characters a token, where a provider reports none (the usual rule of thumb for English text)."""


@dataclass(slots=True)
class Usage:
    """Tokens and cost of calls; None where nobody reported them."""

    prompt_tokens: int | None = None
    """Tokens sent, cached ones included."""
    completion_tokens: int | None = None
    """Tokens received, reasoning included."""
    cached_tokens: int | None = None
    """The part of `prompt_tokens` that the provider had cached."""
    reasoning_tokens: int | None = None
    """The part of `completion_tokens` spent on reasoning."""
    cost: float | None = None
    """USD."""

    def to_json(self) -> dict[str, Any]:
        """Return the fields that are known, as a dict."""
        return {name: value for name in _FIELDS if (value := getattr(self, name)) is not None}

    @classmethod
    def from_json(cls, data: dict[str, Any] | None) -> Usage:
        """Return the usage stored by `to_json`; unknown keys are ignored."""
        return cls(**{name: data[name] for name in _FIELDS if name in data}) if data else cls()


_FIELDS: Final = ("prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens", "cost")


@dataclass(slots=True)
class Tally:
    """Running totals of calls, for one seat, one vendor or a whole debate."""

    calls: int = 0
    """Tries made, repairs and failures included."""
    prompt_tokens: int = 0
    """Reported tokens sent."""
    completion_tokens: int = 0
    """Reported tokens received."""
    cached_tokens: int = 0
    """Reported cached tokens."""
    cost: float | None = None
    """USD of the calls whose cost is known; None if none is."""
    estimated_tokens: int = 0
    """Tokens in and out, by `CHARS_PER_TOKEN` where a call reported none: what `max_tokens` counts."""

    def add(self, usage: Usage, chars: int) -> None:
        """Add one finished call that moved `chars` characters in and out."""
        self.prompt_tokens += usage.prompt_tokens or 0
        self.completion_tokens += usage.completion_tokens or 0
        self.cached_tokens += usage.cached_tokens or 0
        if usage.cost is not None:
            self.cost = (self.cost or 0.0) + usage.cost
        if usage.prompt_tokens is None and usage.completion_tokens is None:
            self.estimated_tokens += chars // CHARS_PER_TOKEN
        else:
            self.estimated_tokens += (usage.prompt_tokens or 0) + (usage.completion_tokens or 0)

    def to_json(self) -> dict[str, Any]:
        """Return calls, tokens and cost as a dict."""
        return {
            "calls": self.calls,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "cached_tokens": self.cached_tokens,
            "cost": self.cost,
        }
