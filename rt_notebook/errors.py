"""The errors a caller can meet, as one tree; owns their one-line rendering, knows little else.

RoundtableError
├── UsageError                the caller's mistake: nothing was called, nothing was lost
│   ├── BriefError            the question, options or field notes break a limit
│   ├── SeatError             a seat can't be built or found
│   ├── OptionError           an option or argument is unknown or has a bad value
│   ├── UnknownDebateError    no debate has that id
│   ├── NotResumableError     the debate's state doesn't allow the verb
│   ├── RecordMismatchError   a record doesn't fit the debate
│   ├── LimitError            a budget is broken before the first call
│   └── MissingExtraError     an optional package isn't installed
└── RunError                  what went wrong while a debate ran
    ├── CallError             one call to a provider failed (`kind` says how)
    └── StoreError            the event log can't be written or read
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any, Final

from rt_notebook.characters import plain


def one_line(text: str, limit: int = 2_000) -> str:
    """Return `plain(text)` on one line, cut at `limit` characters."""
    flat = " ".join(filter(None, plain(text[: 8 * limit]).split("\n"))).strip()
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def nearest(word: str, known: Iterable[str]) -> str:
    """Return `; did you mean 'x'?` for the known word nearest to `word`, or an empty string."""
    found = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"; did you mean {found[0]!r}?" if found else ""


def _rebuild(cls: type[RoundtableError], message: str, facts: dict[str, Any]) -> RoundtableError:
    return cls(message, **facts)


class RoundtableError(Exception):
    """Base of every error of this package.

    Args:
        message: one line for a person: what happened, the value, what to do. Made harmless here:
            whoever shows it, be it Python's own traceback in a terminal, obeys nothing in it.
        **facts: the same as data; each becomes an attribute and survives pickling.
    """

    def __init__(self, message: str, **facts: Any) -> None:
        super().__init__(plain(message))
        self.facts = facts
        for name, value in facts.items():
            setattr(self, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by message and facts."""
        return _rebuild, (type(self), str(self), self.facts)

    def _render_traceback_(self) -> list[str]:
        """Tell IPython to show one clean line in place of a traceback."""
        return [f"{type(self).__name__}: {one_line(str(self))}"]


def told_facts(facts: object) -> dict[str, Any]:
    """Return an error's facts as another process tells them, without what no error can take."""
    if not isinstance(facts, dict):
        return {}
    taken = ("self", "message", "facts")
    return {
        name: value
        for name, value in facts.items()
        if name.isidentifier() and name not in taken and not hasattr(RoundtableError, name)
    }


class UsageError(RoundtableError):
    """The caller's mistake; nothing was called and nothing was lost."""


class BriefError(UsageError):
    """The question, options or field notes break a limit."""


class SeatError(UsageError):
    """A seat can't be built, or no seat has that name."""


class OptionError(UsageError):
    """An option or argument is unknown, or its value is of the wrong form."""


class UnknownDebateError(UsageError):
    """No debate has that id."""


class NotResumableError(UsageError):
    """The debate's state, or something missing, doesn't allow the verb."""


class RecordMismatchError(UsageError):
    """A record doesn't fit the debate."""


class LimitError(UsageError):
    """The debate's minimum already breaks a limit, so it isn't started."""


class MissingExtraError(UsageError):
    """A feature needs an optional package that isn't installed."""


class RunError(RoundtableError):
    """What went wrong while a debate ran."""


class StoreError(RunError):
    """The event log can't be written or read."""


class CallError(RunError):
    """One call to a provider failed.

    Args:
        kind: one of `CALL_ERROR_KINDS`.
        message: what a person can act on.
        seat: the seat's name, once known.
        provider: the provider's prefix, once known.
        model: the model string, once known.
        partial: text that came before the failure, at most 64 KiB of it.
        retry_after_s: seconds the provider asked to wait.
        usage: what the failed call was billed all the same (a `Usage`), where that is known.
    """

    kind: str
    partial: str
    retry_after_s: float | None
    usage: Any
    process: Mapping[str, float] | None = None
    """Of a process that should have answered: its exit code and the like, once it has ended."""

    def __init__(
        self,
        message: str,
        *,
        kind: str = "provider",
        seat: str | None = None,
        provider: str | None = None,
        model: str | None = None,
        partial: str = "",
        retry_after_s: float | None = None,
        usage: Any = None,
    ) -> None:
        super().__init__(
            message,
            kind=kind if kind in CALL_ERROR_KINDS else "provider",
            seat=seat,
            provider=provider,
            model=model,
            partial=partial[:PARTIAL_LIMIT],
            retry_after_s=_seconds(retry_after_s),
            usage=usage,
        )

    @property
    def retryable(self) -> bool:
        """True where another try can help (rate_limit, overloaded, connection)."""
        return self.kind in RETRYABLE_KINDS


_LONGEST_S: Final = 366 * 86_400


def _seconds(given: Any) -> float | None:
    """Return seconds to wait; what foreign code gives in another form is none."""
    fits = isinstance(given, int | float) and 0 <= given <= _LONGEST_S
    return given if fits else None


CALL_ERROR_KINDS: Final = frozenset(
    [
        "auth",
        "rate_limit",
        "quota",
        "connection",
        "overloaded",
        "timeout",
        "stall",
        "context_length",
        "refused",
        "empty",
        "output_limit",
        "tool_policy",
        "protocol",
        "not_found",
        "spawn",
        "cancelled",
        "provider",
    ]
)
"""The kinds of a failed call; `provider` is anything else."""

RETRYABLE_KINDS: Final = frozenset({"rate_limit", "overloaded", "connection"})
"""The kinds that are tried again inside the seat's own deadline."""

SEAT_DOWN_KINDS: Final = frozenset({"auth", "quota", "not_found", "spawn"})
"""The kinds after which a seat isn't asked again until the debate is resumed."""

PARTIAL_LIMIT: Final = 64 * 1024
"""Characters kept of what came before a failure."""
