"""What a vendor's command is to a seat: its arguments, variables, files, parser and limits.

Owns the shape that all vendors fill in, and how a prompt of several messages becomes one text.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Final

from rt_notebook.providers.base import Message
from rt_notebook.providers.cli.process import Ended
from rt_notebook.providers.cli.stream import StreamParser
from rt_notebook.providers.cli.workspace import Workspace

NO_KEY: Final = "no-key"
"""Stands where a command insists on a key and the endpoint of the seat's own wants none."""


@dataclass(frozen=True)
class Ask:
    """One call, as a vendor's command needs it."""

    system: str
    """The system prompt; may be empty."""
    prompt: str
    """Everything else, as one text."""
    model: str | None
    """The model; None: the command's default."""
    effort: str | None
    """low, medium or high."""
    temperature: float | None
    """Sampling temperature."""
    max_tokens: int | None
    """Completion tokens at most."""
    deadline_s: float
    """Seconds the call may take."""
    keyed: bool
    """Paid by key, or sent to an endpoint of the seat's own: no login is used."""
    key: str | None = field(repr=False)
    """The key, never shown."""
    base_url: str | None
    """The seat's own endpoint."""
    home: Path | None
    """The named account's folder; None: the user's own state folder."""
    parent: Mapping[str, str] = field(repr=False)
    """The environment of this process."""
    settings_folder: Path
    """Where settings that must not lie in a shared folder may lie."""
    searches: bool = False
    """Whether it may search the web, and do nothing else with tools."""


@dataclass(frozen=True)
class Plan:
    """What a vendor wants run."""

    arguments: Sequence[str]
    """Behind the program."""
    environment: Mapping[str, str]
    """On top of the scrubbed one."""
    prompt: str
    """For the child's input."""
    warnings: Sequence[str] = ()
    """What isn't as isolated as it should be in this call."""


@dataclass(frozen=True)
class Status:
    """Whether a vendor's command can be used, as far as its own free check says."""

    ready: bool | None
    """None: it has no such check."""
    detail: str
    """One line for a person."""


class Vendor(ABC):
    """One vendor's command."""

    name: ClassVar[str]
    """As in `cli:NAME`."""
    command: ClassVar[str]
    """The program's name on PATH."""
    package: ClassVar[str]
    """How it's installed, in a few words."""
    key_variables: ClassVar[Sequence[str]] = ()
    """Where its key may stand in the environment, the first one found counts."""
    state_variables: ClassVar[Sequence[str]] = ()
    """Variables that say where the user's own state lies, passed on with the default account."""
    prompt_limit: ClassVar[int | None] = None
    """Bytes of prompt it takes at most."""
    search_tools: ClassVar[Sequence[str]] = ()
    """What its stream calls its web search; empty: it has none that it can be told to use."""
    ignored: ClassVar[Sequence[str]] = ()
    """Settings of a seat that it can't be told."""
    leaks: ClassVar[Sequence[str]] = ()
    """What still reaches the model or stays on the disk, whatever is set, on a login."""
    limited: ClassVar[bool] = False
    """It can't be told to leave tools and the user's settings alone."""
    terms: ClassVar[str | None] = None
    """What its terms say about being driven by another program, in our words."""
    untested: ClassVar[bool] = False
    """It could not be tried; written by its documentation."""
    status_arguments: ClassVar[Sequence[str] | None] = None
    """Its free check of the login; None: it has none."""

    @abstractmethod
    def plan(self, ask: Ask, place: Workspace) -> Plan:
        """Return what to run for one call, having written the files it needs."""

    @abstractmethod
    def parser(self) -> StreamParser:
        """Return a parser for one call."""

    @abstractmethod
    def login(self, home: Path | None) -> str:
        """Return the line a person types to log in, on the default or a named account."""

    def place_of(self, home: Path) -> Mapping[str, str]:
        """Return the variables that move the command's state below `home`."""
        return {}

    def status(self, ended: Ended, output: str) -> Status:
        """Read the answer of the free check."""
        return Status(None, "")


def one_text(messages: Sequence[Message]) -> tuple[str, str]:
    """Return the system prompt and the rest of a prompt as one text each.

    Args:
        messages: system, user and assistant messages; what the model said before is told as that.
    """
    system = "\n\n".join(message.text for message in messages if message.role == "system")
    rest = [message for message in messages if message.role != "system"]
    if len(rest) == 1:
        return system, rest[0].text
    parts = []
    for message in rest:
        if message.role == "assistant":
            parts.append(f"Your answer to that was:\n\n{message.text}\n\n(End of your answer.)")
        else:
            parts.append(message.text)
    return system, "\n\n".join(parts)


def not_a_command(prompt: str) -> str:
    """Return a prompt whose first character can't make the command take it as one of its own."""
    return f"\n{prompt}" if prompt.startswith("/") else prompt
