"""Calls and turns as the log tells them: tries at a provider, and seats' parts in rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from rt_notebook.domain.events import Event
from rt_notebook.domain.reply import Reply
from rt_notebook.domain.usage import UNKNOWN, Usage

SPEECH: Final = "turn"
TURN_PURPOSES: Final = frozenset({"opening", "critique", SPEECH})
REPAIR: Final = "repair"
VERDICT: Final = "verdict"
SUMMARY: Final = "summary"
CLOSING_PURPOSES: Final = frozenset({VERDICT, SUMMARY})
"""What the chairman of a review and the observer of a discussion are asked for."""
CANCELLED: Final = "cancelled"

_NONE: Final[Mapping[str, float]] = MappingProxyType({})


@dataclass(slots=True)
class Call:
    """One try at a provider."""

    id: str
    """`round/seat-id/purpose/attempt`."""
    round: int
    """The round it belongs to; a verdict's is the last round's."""
    seat: str
    """The seat's name."""
    purpose: str
    """opening, critique, turn, repair, verdict or summary."""
    attempt: int
    """Number of the try within its purpose and round, from 1."""
    model: str
    """The model string asked."""
    started_at: int
    """Milliseconds since 1970 UTC."""
    prompt_chars: int
    """Characters sent."""
    finished_at: int | None = None
    """Milliseconds since 1970 UTC; None while in flight."""
    text: str | None = None
    """The answer; None unless it finished."""
    usage: Usage = UNKNOWN
    """What the provider reported."""
    model_reported: str | None = None
    """The model as the provider names it."""
    request_id: str | None = None
    """The provider's id of the request."""
    timings: Mapping[str, float] = field(default_factory=lambda: _NONE)
    """Seconds: queued, first_output, total, as far as known."""
    process: Mapping[str, float] = field(default_factory=lambda: _NONE)
    """Of a command: exit_code, stdout_bytes, stderr_bytes, idle_s, as far as known."""
    tool_calls: Sequence[Mapping[str, Any]] = ()
    """Tools used: name and preview."""
    error: str | None = None
    """The error kind of a failed try."""
    message: str | None = None
    """The error's text."""
    partial: str | None = None
    """What came before the failure."""
    retry_in_s: float | None = None
    """Seconds to the next try; None: no further try."""
    lost: bool = False
    """True for a try in flight when its process died or was interrupted: resume makes it again."""

    @property
    def outcome(self) -> str:
        """running, finished or failed."""
        return "failed" if self.error else "running" if self.text is None else "finished"

    def finish(self, event: Event) -> None:
        """Take over a `call_finished` event."""
        body = event.body
        self.finished_at = event.at
        self.text = body["text"]
        self.usage = Usage.from_json(body.get("usage"), body.get("cost"))
        self.model_reported = body.get("model")
        self.request_id = body.get("request_id")
        self.timings = body.get("timings") or _NONE
        self.process = body.get("process") or _NONE
        self.tool_calls = tuple(body.get("tool_calls") or ())

    def fail(self, event: Event) -> None:
        """Take over a `call_failed` event."""
        body = event.body
        self.finished_at = event.at
        self.usage = Usage.from_json(body.get("usage"), body.get("cost"))
        self.error = body["error"]
        self.message = body.get("message")
        self.partial = body.get("partial")
        self.process = body.get("process") or _NONE
        self.retry_in_s = body.get("retry_in_s")


@dataclass(slots=True)
class Turn:
    """One seat's part in one round."""

    round: int
    """The round, from 0."""
    seat: str
    """The seat's name."""
    calls: list[Call] = field(default_factory=list)
    """Its tries, in order."""
    reply: Reply | None = None
    """What was read, valid or not; None while asked or when it failed."""
    repaired: bool = False
    """True once a repair's answer was read."""
    final: bool = False
    """True when nothing more will be asked for this turn."""
    error: str | None = None
    """The error kind, when the turn failed."""
    message: str | None = None
    """The error's text."""

    @property
    def usable(self) -> bool:
        """True for a valid reply that isn't a pass."""
        return self.reply is not None and self.reply.valid and not self.reply.passed

    @property
    def failed(self) -> bool:
        """True when the turn ended without any reply."""
        return self.final and self.reply is None

    @property
    def cut_short(self) -> bool:
        """True when it ended without a reply because the person or the clock ended the round."""
        return self.failed and self.error == CANCELLED

    @property
    def unread(self) -> Call | None:
        """The finished call whose text hasn't been read yet (the process died in between)."""
        last = self.calls[-1] if self.calls else None
        if self.final or last is None or last.text is None:
            return None
        read = self.reply is not None and last.purpose != REPAIR
        return None if read else last

    def settle(self, error: str, message: str | None) -> None:
        """End the turn after a failure; a reply whose repair failed stays as far as it was read."""
        self.final = True
        if self.reply is None:
            self.error, self.message = error, message
        elif not self.reply.valid:
            self.reply = self.reply.unresolved()

    def reopen(self) -> None:
        """Forget a failure, so that the seat is asked again in the same round."""
        self.final, self.error, self.message = False, None, None
