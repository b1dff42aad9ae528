"""Runs one command for one call, and sees to it that nothing of it is left.

Owns starting, feeding, reading, bounding and ending a child process. Knows neither vendors nor
what their output means: a sink reads that, and tells whether it goes on. Everything that could
block happens in a thread of the call's own, so this works on any event loop in any thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Final, Literal, Protocol, cast

from rt_notebook.errors import CallError
from rt_notebook.providers.base import Progress
from rt_notebook.providers.cli.process_pipes import ERR, Pipes, open_pipes
from rt_notebook.providers.cli.process_tree import MARK_VARIABLE, end_calls
from rt_notebook.providers.cli.process_watchdog import WATCHDOG
from rt_notebook.providers.cli.workspace import Workspace

__all__ = ["Bounds", "Command", "Ended", "Prepare", "Sink", "run"]

_log = logging.getLogger(__name__)

STDERR_KEPT: Final = 8 * 1024
"""Bytes kept of the end of the error output."""

_TICK_S: Final = 0.2
_EXITING_S: Final = 0.005
_TELL_S: Final = 0.05
_COLLECT_S: Final = 2.0

Why = Literal["exit", "complete", "timeout", "stall", "output", "stopped", "cancelled"]


@dataclass(frozen=True)
class Command:
    """What to run."""

    argv: Sequence[str]
    """The program and its arguments; no shell reads them."""
    environment: Mapping[str, str]
    """Every variable the child gets."""
    stdin: bytes = b""
    """What it reads; its input is closed behind that."""


@dataclass(frozen=True)
class Bounds:
    """How far a call may go."""

    timeout_s: float
    """Seconds in all."""
    stall_s: float = 0.0
    """Seconds without progress; 0: no bound."""
    output_bytes: int = 8 * 1024 * 1024
    """Bytes of output."""
    grace_s: float = 5.0
    """Seconds between the complete answer and the child's own end."""


class Sink(Protocol):
    """Reads a child's output; called in the call's thread."""

    @property
    def chars(self) -> int:
        """Characters of the answer so far."""
        ...

    @property
    def steps(self) -> int:
        """How often there was progress so far."""
        ...

    @property
    def complete(self) -> bool:
        """Whether the final answer is there."""
        ...

    @property
    def stopped(self) -> bool:
        """Whether the call must not go on."""
        ...

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes, cut anywhere."""
        ...


@dataclass(frozen=True)
class Ended:
    """How a child ended."""

    why: Why
    """What ended the call; `complete`: it had answered but didn't exit."""
    returncode: int | None
    """Its exit code, negative for a signal; None if it couldn't even be killed."""
    stderr: str
    """The end of its error output."""
    seconds: float
    """How long it took."""
    first_output_s: float | None = None
    """When the answer's first character came."""
    stdout_bytes: int = 0
    """Bytes of its output."""
    stderr_bytes: int = 0
    """Bytes of its error output."""
    idle_s: float = 0.0
    """The longest time without progress."""

    @property
    def facts(self) -> dict[str, float]:
        """What the log keeps of the process, see `PROCESS_FACTS`."""
        found: dict[str, float] = {
            "stdout_bytes": self.stdout_bytes,
            "stderr_bytes": self.stderr_bytes,
            "idle_s": round(self.idle_s, 3),
        }
        return found if self.returncode is None else {"exit_code": self.returncode, **found}


Prepare = Callable[[Workspace], Command]
"""Makes the command once its folder is there."""


async def run(prepare: Prepare, sink: Sink, bounds: Bounds, progress: Progress) -> Ended:
    """Run one command to its end.

    Whatever ends it, its processes are gone when this returns or raises, at most 2 s later.

    Args:
        prepare: makes the command, given the call's folder.
        sink: reads the output.
        bounds: what ends it.
        progress: told the characters so far, on this loop.

    Raises:
        CallError: `not_found` or `spawn`, when it can't be started.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Ended] = loop.create_future()

    def tell(chars: int) -> None:
        loop.call_soon_threadsafe(progress, chars)

    def work() -> None:
        try:
            ended = child.run()
        except BaseException as exc:  # whatever it is belongs to the waiting task
            _post(loop, done, exc)
        else:
            _post(loop, done, ended)

    child = _Child(prepare, sink, bounds, tell)
    threading.Thread(target=work, name="roundtable-cli", daemon=True).start()
    try:
        return await asyncio.shield(done)
    except asyncio.CancelledError:
        child.cancel()
        await _settle(done)
        raise


def _post(
    loop: asyncio.AbstractEventLoop, done: asyncio.Future[Ended], result: Ended | BaseException
) -> None:
    def settle() -> None:
        if isinstance(result, BaseException):
            done.set_exception(result)
        else:
            done.set_result(result)

    with contextlib.suppress(RuntimeError):  # the loop has been closed: nobody waits
        loop.call_soon_threadsafe(settle)


async def _settle(done: asyncio.Future[Ended]) -> None:
    """Wait for a cancelled child to be gone, also when the cancelling is repeated."""
    while not done.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait([done])
    done.exception()  # seen


class _Child:
    """One child process, from its folder to its last descendant."""

    def __init__(
        self, prepare: Prepare, sink: Sink, bounds: Bounds, tell: Callable[[int], None]
    ) -> None:
        self._prepare = prepare
        self._sink = sink
        self._bounds = bounds
        self._tell = tell
        self._cancelled = threading.Event()
        self._pipes: Pipes | None = None
        self._err = b""
        self._err_bytes = 0
        self._bytes = 0
        self._idle = 0.0
        self._started = self._moved = self._told = time.monotonic()
        self._first: float | None = None
        self._over_at: float | None = None

    def cancel(self) -> None:
        """End it; for any thread."""
        self._cancelled.set()
        if (pipes := self._pipes) is not None:
            pipes.wake()

    def run(self) -> Ended:
        """Run it to its end."""
        place, mark = Workspace(), secrets.token_hex(12)
        # Before anything of it is there: this process may be killed at any moment.
        WATCHDOG.begin(mark, place.root)
        try:
            with place:
                command = self._prepare(place)
                if self._cancelled.is_set():
                    return self._ended("cancelled", None)
                return self._run(command, place, mark)
        finally:
            WATCHDOG.over(mark)

    def _run(self, command: Command, place: Workspace, mark: str) -> Ended:
        self._started = self._moved = time.monotonic()
        child = _start(command, place, mark)
        why: Why = "exit"
        try:
            WATCHDOG.begin(mark, place.root, child.pid)
            self._pipes = open_pipes(*_streams(child), command.stdin)
            why = self._until_end(child, self._pipes)
        finally:
            if not end_calls({mark: child.pid}):
                _log.warning("process %d of a command can't be ended", child.pid)
            if self._pipes is not None:
                with contextlib.closing(self._pipes):
                    self._rest(self._pipes)
            returncode = _collect(child)
        return self._ended(why, returncode)

    def _until_end(self, child: subprocess.Popen[bytes], pipes: Pipes) -> Why:
        pause = _EXITING_S
        while True:
            why, left = self._verdict(time.monotonic(), pipes.ended)
            if why is not None:
                return why
            if _has_exited(child):
                return "exit"
            if pipes.ended:  # on its way out; if it isn't, look less and less often
                time.sleep(min(left, pause))
                pause = min(pause * 2, _TICK_S)
                continue
            for name, chunk in pipes.read(min(left, _TICK_S)):
                self._take(name, chunk)

    def _verdict(self, now: float, silent: bool) -> tuple[Why | None, float]:
        """Return what ends the call now, or None and the seconds until something may."""
        if self._cancelled.is_set():
            return "cancelled", 0
        if self._sink.stopped:
            return "stopped", 0
        if self._bytes > self._bounds.output_bytes:
            return "output", 0
        ends: list[tuple[float, Why]] = [(self._started + self._bounds.timeout_s, "timeout")]
        if self._sink.complete or silent:
            self._over_at = self._over_at or now
            ends.append((self._over_at + self._bounds.grace_s, "complete"))
        elif self._bounds.stall_s > 0:
            ends.append((self._moved + self._bounds.stall_s, "stall"))
        end, why = min(ends)
        return (why, 0) if now >= end else (None, end - now)

    def _take(self, name: str, chunk: bytes) -> None:
        if name == ERR:
            self._err = (self._err + chunk)[-STDERR_KEPT:]
            self._err_bytes += len(chunk)
            return
        room = self._bounds.output_bytes - self._bytes
        self._bytes += len(chunk)
        steps = self._sink.steps
        self._sink.feed(chunk[: max(0, room)])
        if self._sink.steps == steps:
            return
        now = time.monotonic()
        self._idle = max(self._idle, now - self._moved)
        self._moved = now
        if self._first is None and self._sink.chars:
            self._first = self._moved - self._started
        if self._moved - self._told >= _TELL_S or self._sink.complete:
            self._told = self._moved
            self._say(self._sink.chars)

    def _say(self, chars: int) -> None:
        if self._cancelled.is_set():
            return
        try:
            self._tell(chars)
        except RuntimeError:  # the loop has been closed: nobody waits for an answer
            self._cancelled.set()

    def _rest(self, pipes: Pipes) -> None:
        """Read what lies in the pipes; whoever still holds them open is not waited for."""
        while not pipes.ended and self._bytes <= self._bounds.output_bytes:
            chunks = pipes.read(0)
            if not chunks:
                return
            for name, chunk in chunks:
                self._take(name, chunk)

    def _ended(self, why: Why, returncode: int | None) -> Ended:
        now = time.monotonic()
        return Ended(
            why,
            returncode,
            self._err.decode("utf-8", "replace"),
            now - self._started,
            self._first,
            self._bytes,
            self._err_bytes,
            max(self._idle, now - self._moved),
        )


def _start(command: Command, place: Workspace, mark: str) -> subprocess.Popen[bytes]:
    program = command.argv[0]
    flags = 0
    if sys.platform == "win32":
        flags = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW
    try:
        return subprocess.Popen(  # noqa: S603  (a list, never through a shell)
            list(command.argv),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=place.work,
            env={**command.environment, MARK_VARIABLE: mark},
            bufsize=0,
            start_new_session=True,
            creationflags=flags,
        )
    except FileNotFoundError as exc:
        raise CallError(f"there is no command {program!r}", kind="not_found") from exc
    except (OSError, ValueError) as exc:
        raise CallError(f"{program!r} can't be started: {exc}", kind="spawn") from exc


def _streams(child: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
    return cast("tuple[IO[bytes], IO[bytes], IO[bytes]]", (child.stdin, child.stdout, child.stderr))


def _has_exited(child: subprocess.Popen[bytes]) -> bool:
    """Look without collecting it where that can be done: so its number stays its own."""
    if not hasattr(os, "waitid"):
        return child.poll() is not None
    try:
        found = os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:  # somebody else has collected it
        return True
    return found is not None


def _collect(child: subprocess.Popen[bytes]) -> int | None:
    try:
        return child.wait(_COLLECT_S)
    except subprocess.TimeoutExpired:
        return None
