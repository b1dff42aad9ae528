"""The store as its users see it: an event log a debate, a list of debates, one holder at a time.

Owns the interface and the values that cross it, commands from other processes included. Must not
know SQLite, files or loops: the same interface has to fit a database server. There, `serve` and
`watch` wait for its notifications; in a file they look, many times a second, whether anything has
been written.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol

from rt_notebook.domain.events import Event

Durability = Literal["process", "power"]
"""What an event survives: the death of the process and the kernel, or of the machine too."""

BEAT_S: Final = 5.0
"""Seconds between two signs of life of a lease's holder."""

STALE_S: Final = 15.0
"""Seconds without a sign of life after which a lease counts no more."""

MAX_COMMAND_BYTES: Final = 1024 * 1024
"""UTF-8 bytes of one command's JSON."""

MAX_WAITING: Final = 100
"""Commands that may wait for one debate's holder at a time."""


@dataclass(frozen=True, slots=True)
class Lease:
    """Who runs a debate."""

    claim: int
    """Random number of this taking; a later taker has another one, so a late holder finds out."""
    pid: int
    """The holder's process id on its host."""
    host: str
    """The holder's host name."""
    boot: str
    """Tells boots and process namespaces of equally named hosts apart; empty where unknown."""
    started: int
    """When the process started, in the host's own unit, against reused pids; 0 where unknown."""
    beat: int
    """The last sign of life, milliseconds since 1970 UTC."""
    stale: bool
    """True when it counts no more: silent for too long, or its process is known to be dead."""

    @property
    def holder(self) -> str:
        """The holder as a person reads it."""
        return f"process {self.pid} on {self.host}"


@dataclass(frozen=True, slots=True)
class DebateRow:
    """One line of the list of debates, as of the last change of its status."""

    id: str
    """The debate's id."""
    kind: str
    """review."""
    title: str
    """The title shown to people."""
    status: str
    """As stored, but `interrupted` for a live debate whose holder is gone."""
    stop_reason: str | None
    """Why it ended; None while it runs."""
    pick: str | None
    """The verdict's option id or `none`; None without a verdict."""
    seats: tuple[str, ...]
    """The seats' names in order."""
    created_at: int
    """Milliseconds since 1970 UTC."""
    updated_at: int
    """When the status last changed, milliseconds since 1970 UTC."""
    revision: int
    """Number of the event that changed the status last."""
    brief: str
    """The brief's digest, see `brief_digest`."""


@dataclass(frozen=True, slots=True)
class Command:
    """What another process asks of a running debate."""

    number: int
    """Its number in the store; later ones have higher numbers."""
    debate: str
    """The debate's id."""
    verb: str
    """What is asked, such as answer or stop; the store doesn't know the verbs."""
    body: dict[str, Any]
    """What it says, JSON-able; written by another process, so nothing of it is sure."""
    source: str
    """Who asks: person, agent or process."""
    asked_at: int
    """Milliseconds since 1970 UTC."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of a command."""

    revision: int | None = None
    """The debate's revision once it was carried out; None: it was refused."""
    error: dict[str, Any] | None = None
    """Why it was refused, JSON-able: kind, message, facts."""


Take = Callable[[Command], Awaitable[Answer]]
"""Carries a command out, on the debate's loop."""


class Watch(Protocol):
    """Notices what is written to a store, by whatever process."""

    def wait(self, seconds: float) -> bool:
        """Return True as soon as there may be something new, False after `seconds`; blocks.

        The first call returns True at once: ask it before reading what is there, and nothing
        that is written meanwhile is missed. What the calling thread itself writes may not count.

        Raises:
            StoreError: the store can't be read.
        """


class DebateLog(Protocol):
    """One debate's log in the hands of the one who runs it, or is about to."""

    durability: Durability
    """What an event survives once it is stored."""

    @property
    def debate(self) -> str:
        """The debate's id."""

    def append(self, events: Sequence[Event], committed: Callable[[], None]) -> Awaitable[None]:
        """Store events; called on the debate's loop.

        The first append of a new debate begins with its `created` event and takes the lease. One
        whose last word is `concluded` or `interrupted` gives it back with the same write; so a
        resume that records an interruption puts `interrupted` and `resumed` into one append.

        Args:
            events: in order; all of them are stored, or none.
            committed: called once on the loop's thread as soon as they are durable, before the
                awaitable is done, and also when nobody waits for it any more.

        Raises:
            StoreError: from the awaitable; nothing of these events is stored, nor of any later
                ones until the debate is taken over again, so that the log has no hole. `fault`
                says what happened: `taken` (another process took the debate over), `exists` (a
                new debate's id is in use), `unheld`, `full`, `readonly`, `damaged`, `busy`, ...
        """

    def take_over(self) -> int:
        """Take the lease of a debate that nobody runs; any thread, exactly one taker wins.

        Take over first and read afterwards: only then no other process can write any more.

        Returns:
            The debate's revision.

        Raises:
            NotResumableError: somebody runs it; names the process and the host.
            UnknownDebateError: there is no such debate.
            StoreError: the store can't be written.
        """

    def serve(self, take: Take) -> None:
        """Hand over what other processes ask of this debate; called on the debate's loop.

        From now on, while the lease is held, every command comes within 100 ms, in the order in
        which they were asked, each once. What `take` returns is told to who asked.
        """

    def end_service(self) -> Awaitable[None]:
        """Hand over nothing more; done once what was handed over is answered."""

    def release(self) -> None:
        """Give the lease back, if it is held, however the store feels.

        On the debate's loop, what was appended before is stored first. Another thread calls this
        once no append is under way.
        """


class Store(Protocol):
    """Debates and their events. Every method may be called on any thread."""

    @property
    def notes(self) -> Sequence[str]:
        """What a person should be told about this store, a line each."""

    @property
    def place(self) -> str:
        """Where it is, for messages."""

    def log(self, debate: str, durability: Durability = "process") -> DebateLog:
        """Return the log of a debate, new or not; nothing is read or written yet."""

    def events(self, debate: str, after: int = 0) -> list[Event]:
        """Return a debate's events with numbers above `after`, in order.

        Raises:
            UnknownDebateError: there is no such debate.
            StoreError: the store can't be read, or holds events of a newer version.
        """

    def debates(self, status: str | None = None, limit: int | None = 50) -> list[DebateRow]:
        """Return the newest debates first.

        Args:
            status: only those with this status; None: all.
            limit: at most so many; None: all.
        """

    def row(self, debate: str) -> DebateRow:
        """Return one debate's row.

        Raises:
            UnknownDebateError: there is no such debate.
        """

    def last_id(self) -> str | None:
        """Return the id of the newest debate, or None."""

    def lease(self, debate: str) -> Lease | None:
        """Return who runs or ran a debate, or None where nobody does."""

    def find_interrupted(self, digest: str) -> list[DebateRow]:
        """Return the debates of this brief that could be resumed, newest first.

        Args:
            digest: of the brief, see `brief_digest`.
        """

    def delete(self, debate: str) -> None:
        """Delete a debate and its events for good.

        Raises:
            NotResumableError: somebody runs it.
            UnknownDebateError: there is no such debate.
        """

    def watch(self) -> Watch:
        """Return what notices new events, answers and leases, at next to no cost."""

    def ask(self, debate: str, verb: str, body: Mapping[str, Any], source: str) -> int:
        """Leave a command for the process that runs a debate.

        Args:
            debate: its id.
            verb: what is asked.
            body: what it says, JSON-able.
            source: who asks.

        Returns:
            The command's number.

        Raises:
            UnknownDebateError: there is no such debate.
            UsageError: it is too large, or too many wait already.
            StoreError: the store can't be written.
        """

    def collect(self, number: int) -> Answer | None:
        """Return what became of a command, and forget it; None: nobody has answered yet.

        Raises:
            StoreError: the store can't be read, or the command is gone (`fault` is `lost`): the
                debate was deleted, or another process took it over.
        """

    def withdraw(self, number: int) -> bool:
        """Take a command back; False: too late, somebody has taken it."""

    def close(self) -> None:
        """Close what is open, once no debate runs on this store any more."""


def brief_digest(brief: Mapping[str, Any]) -> str:
    """Return 32 hex digits of the SHA-256 of a brief in canonical JSON.

    Args:
        brief: as the `created` event holds it; fields that are empty don't count, so that a brief
            stays the same brief when a later version knows more fields.
    """
    given = {name: value for name, value in brief.items() if value not in (None, [], (), "")}
    text = json.dumps(given, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:32]
