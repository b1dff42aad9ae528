"""Small commands that behave like the real ones, or worse, and ways to see what is left."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import Any

import psutil

from rt_notebook.providers.base import Call, Message
from rt_notebook.providers.cli.process import Bounds, Command, Ended, run
from rt_notebook.providers.cli.process_watchdog import WATCHDOG
from rt_notebook.providers.cli.provider import CliProvider
from tests.providers.cli.recordings import FOLDER

GONE_S = 2.0
"""Seconds after which nothing of a call may be left."""

_HEAD = """#!{python} -S
import os, signal, subprocess, sys, time
def say(data, out=sys.stdout):
    out.buffer.write(data if isinstance(data, bytes) else data.encode()); out.flush()
def replay(case, delay=0.0):
    for line in open({folder!r} + "/" + case + ".stdout", "rb"):
        say(line)
        time.sleep(delay)
def forever():
    while True:
        time.sleep(60)
def grandchild(own_session):
    code = "import time; time.sleep(300)"
    argv = [sys.executable, "-S", "-c", code, {folder_of_test!r}]
    return subprocess.Popen(argv, start_new_session=own_session)
"""


def fake(folder: Path, body: str, name: str = "fake") -> Path:
    """Returns an executable that runs `body` with a few helpers at hand."""
    path = folder / name
    head = _HEAD.format(python=sys.executable, folder=str(FOLDER), folder_of_test=str(folder))
    path.write_text(head + body, encoding="utf-8")
    path.chmod(0o700)
    return path


class Collected:
    """A sink that keeps lines; `DONE` is the complete answer, every line is progress."""

    def __init__(self, *, progress: bool = True) -> None:
        self.data = bytearray()
        self.steps = 0
        self.stopped = False
        self._progress = progress

    @property
    def chars(self) -> int:
        """Bytes so far."""
        return len(self.data)

    @property
    def complete(self) -> bool:
        """Whether `DONE` has come."""
        return b"DONE\n" in self.data

    def feed(self, chunk: bytes) -> None:
        """Keeps a chunk."""
        self.data += chunk
        self.steps += self._progress


async def run_fake(
    program: Path,
    sink: Collected | None = None,
    *,
    stdin: bytes = b"a question",
    environment: dict[str, str] | None = None,
    **bounds: Any,
) -> Ended:
    """Runs a fake through the runner."""
    bounds = {"timeout_s": 30.0, **bounds}
    return await run(
        lambda place: Command([str(program)], environment or {}, stdin),
        sink or Collected(),
        Bounds(**bounds),
        lambda chars: None,
    )


def provider_of(program: Path, vendor: str = "claude", **options: Any) -> CliProvider:
    """Returns a provider that runs a fake in the place of the vendor's command."""
    return CliProvider(vendor, command=str(program), **{"parent": {}, **options})


def call_of(text: str = "Say hello.", **fields: Any) -> Call:
    """Returns a call with a system prompt and a question."""
    messages = [Message("system", "You are a careful reviewer."), Message("user", text)]
    return Call(messages=messages, seat="Critic", round=0, purpose="opening", **fields)


def alive(folder: Path) -> list[psutil.Process]:
    """Returns the processes that live and were started from a test's folder."""
    found = []
    for process in psutil.process_iter():
        try:
            if any(str(folder) in word for word in process.cmdline()) and (
                process.status() != psutil.STATUS_ZOMBIE
            ):
                found.append(process)
        except psutil.Error:
            continue
    return found


BYSTANDERS: set[int] = set()
"""Processes that a fixture keeps for many tests, by their ids."""


def children() -> list[psutil.Process]:
    """Returns this process's children, zombies included, without watchdog and bystanders."""
    others = {WATCHDOG.pid, *BYSTANDERS}
    return [child for child in psutil.Process().children() if child.pid not in others]


async def eventually_gone(folder: Path, *, besides: int = 0) -> None:
    """Waits until nothing of a test's folder lives but one; fails when that takes too long."""
    end = time.monotonic() + GONE_S
    while left := [process for process in alive(folder) if process.pid != besides]:
        assert time.monotonic() < end, left
        await asyncio.sleep(0.02)


async def eventually(path: Path, within_s: float = 15.0) -> None:
    """Waits for a file that a fake makes when it has come to a certain place."""
    end = time.monotonic() + within_s
    while not await asyncio.to_thread(path.exists):
        assert time.monotonic() < end, f"{path.name} was never made"
        await asyncio.sleep(0.01)
