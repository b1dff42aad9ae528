"""Whether a vendor's command can be used, asked of the command itself; never a model call.

For the doctor. Owns the two questions, version and login, and what to do next.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rt_notebook.errors import CallError, SeatError, one_line
from rt_notebook.providers.cli.process import Bounds, Command, Ended, run
from rt_notebook.providers.cli.provider import CliProvider
from rt_notebook.providers.cli.workspace import Workspace

_BOUNDS: Final = Bounds(timeout_s=20, output_bytes=64 * 1024, grace_s=1)
_VERSION: Final = re.compile(r"\d+(?:\.\d+)+[\w.-]*")
_ESCAPES: Final = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Readiness:
    """What is known of a vendor's command without asking a model."""

    program: str | None
    """Where it is; None: not found."""
    version: str | None
    """What it says its version is."""
    auth: str
    """login, key or none."""
    ready: bool | None
    """Whether a call can be made; None: only a call can tell."""
    detail: str
    """One line for a person."""
    next_step: str
    """What to do about it; empty if nothing."""


class _Collected:
    """A sink that keeps what it's fed."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self.chars = self.steps = 0
        self.complete = self.stopped = False

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes."""
        self._chunks.append(chunk)

    @property
    def text(self) -> str:
        """All of it, without colours."""
        return _ESCAPES.sub("", b"".join(self._chunks).decode("utf-8", "replace"))


async def readiness(provider: CliProvider) -> Readiness:
    """Return whether a provider's command can be used, by its own free checks."""
    program = provider.program()
    if program is None:
        return Readiness(None, None, provider.auth, False, "not found", provider.vendor.package)
    version = await _version(provider, program)
    ready, detail, step = await _login(provider, program)
    return Readiness(program[-1], version, provider.auth, ready, detail, step)


async def _version(provider: CliProvider, program: Sequence[str]) -> str | None:
    try:
        _, output = await _asked(provider, (*program, "--version"))
    except CallError:
        return None
    found = _VERSION.search(output)
    return found[0] if found else None


async def _login(provider: CliProvider, program: Sequence[str]) -> tuple[bool | None, str, str]:
    try:
        provider.check()
    except SeatError as exc:
        return False, str(exc), ""
    if provider.api_billing:
        return True, f"pays by key ({provider.auth})", ""
    if provider.base_url is not None:
        return None, f"asks {provider.base_url}", ""
    arguments = provider.vendor.status_arguments
    if arguments is None:
        return None, "it has no free check; the first call will tell", provider.login_line()
    try:
        ended, output = await _asked(provider, (*program, *arguments))
    except CallError as exc:
        return False, str(exc), ""
    status = provider.vendor.status(ended, output)
    return status.ready, one_line(status.detail), "" if status.ready else provider.login_line()


async def _asked(provider: CliProvider, argv: Sequence[str]) -> tuple[Ended, str]:
    sink = _Collected()

    def prepare(place: Workspace) -> Command:
        return Command(argv, {**provider.own_environment(place), "NO_COLOR": "1"})

    ended = await run(prepare, sink, _BOUNDS, lambda chars: None)
    return ended, sink.text
