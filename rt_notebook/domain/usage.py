"""What calls cost: tokens and money, summed without inventing what nobody reported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Final

CHARS_PER_TOKEN: Final = 4
"""Characters a token, where a provider reports none (the usual rule of thumb for English text)."""

MOST_TOKENS: Final = 10**12
"""Tokens of one call; more was never counted by anybody, and sums of it fit no table."""

MOST_USD: Final = 1e9
"""US dollars of one call; a report of more is none."""


@dataclass(frozen=True, slots=True)
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
    def from_json(cls, data: Mapping[str, Any] | None, cost: float | None = None) -> Usage:
        """Return the usage stored by `to_json`; unknown keys and impossible values are ignored.

        Args:
            data: the stored tokens.
            cost: USD, where it is stored beside them.
        """
        if not data and cost is None:
            return UNKNOWN
        get = (data or {}).get
        return cls(
            get("prompt_tokens"),
            get("completion_tokens"),
            get("cached_tokens"),
            get("reasoning_tokens"),
            get("cost") if cost is None else cost,
        ).believed()

    def believed(self) -> Usage:
        """Return it without what can't be: a provider, or an edited record, may say anything."""
        return Usage(
            _count(self.prompt_tokens),
            _count(self.completion_tokens),
            _count(self.cached_tokens),
            _count(self.reasoning_tokens),
            _usd(self.cost),
        )


def _count(value: Any) -> int | None:
    fits = isinstance(value, Integral) and not isinstance(value, bool)
    return int(value) if fits and 0 <= value <= MOST_TOKENS else None


def _usd(value: Any) -> float | None:
    number = not isinstance(value, bool) and isinstance(value, Real)
    told: Any = value if number else -1
    return float(told) if 0 <= told <= MOST_USD else None  # NaN is outside of any bounds


_FIELDS: Final = ("prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens", "cost")

UNKNOWN: Final = Usage()
"""What a call that reported nothing has; shared, because it can't change."""


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
    known_cost: float | None = None
    """USD of the calls whose cost is known; None if none is."""
    unpriced: int = 0
    """Finished calls whose cost nobody knows."""
    estimated_tokens: int = 0
    """Tokens in and out, what `max_tokens` counts; characters/4 where a call reported none."""

    @property
    def cost(self) -> float | None:
        """USD of the calls whose cost is known.

        None if none is, and also where those that are known were free: a sum of 0 would say that
        the others cost nothing.
        """
        return self.known_cost or (None if self.unpriced else self.known_cost)

    def add(self, usage: Usage, chars: int) -> None:
        """Add one finished call that moved `chars` characters in and out."""
        if usage is UNKNOWN:  # functions, people and scripts report nothing
            self.unpriced += 1
            self.estimated_tokens += chars // CHARS_PER_TOKEN
            return
        self.prompt_tokens += usage.prompt_tokens or 0
        self.completion_tokens += usage.completion_tokens or 0
        self.cached_tokens += usage.cached_tokens or 0
        if usage.cost is not None:
            self.known_cost = (self.known_cost or 0.0) + usage.cost
        else:
            self.unpriced += 1
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
