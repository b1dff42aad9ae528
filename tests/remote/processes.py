"""Processes that run and steer debates on a test's store, and what their debates tell."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import rt_notebook as rt
from tests.environment import ROOT

PROMISE_S = 0.1
"""Within this, a command is taken and an event is seen."""


class Child:
    """A process at work on this test's store."""

    def __init__(self, store: Path, *words: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.remote.children", words[0], str(store), *words[1:]],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8",
        )  # fmt: skip
        self.said: list[dict[str, Any]] = []
        self.id = ""

    def line(self) -> dict[str, Any]:
        """Return what it says next."""
        assert self.process.stdout is not None
        text = self.process.stdout.readline()
        assert text, f"it ended after {self.said[-1:]}"
        found: dict[str, Any] = json.loads(text)
        self.said.append(found)
        return found

    def until(self, kind: str) -> dict[str, Any]:
        """Return the next event of a kind."""
        while (found := self.line()).get("kind") != kind:
            pass
        return found

    def end(self) -> dict[str, Any]:
        """Return how its debate ended."""
        while "ended" not in (found := self.line()):
            pass
        return found

    def say(self, line: object) -> None:
        """Send it a line."""
        assert self.process.stdin is not None
        text = line if isinstance(line, str) else json.dumps(line)
        self.process.stdin.write(f"{text}\n")
        self.process.stdin.flush()

    def kill(self) -> None:
        """Kill it and wait until it is dead."""
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


class Others:
    """Starts children on one store."""

    def __init__(self, store: Path, stack: ExitStack) -> None:
        self.store = store
        self._stack = stack

    def start(self, *words: str) -> Child:
        """Start one."""
        child = Child(self.store, *words)
        self._stack.callback(child.close)
        return child

    def run(self, name: str, work: str = "run_debate") -> Child:
        """Start one that runs a debate; returns once the debate is in the store."""
        child = self.start(work, name)
        child.id = child.line()["id"]
        child.until("created")
        return child

    def steering(self) -> Child:
        """Start one that waits for orders."""
        child = self.start("steer")
        assert child.line() == {"ready": True}
        return child


def events(debate: str, kind: str) -> list[dict[str, Any]]:
    """Return the bodies of a debate's events of one kind."""
    return [event.body for event in rt.load(debate).events if event.kind == kind]


def told(child: Child) -> list[dict[str, Any]]:
    """Return the events that a child has told."""
    return [found for found in child.said if "seq" in found]
