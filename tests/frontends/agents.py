"""An agent at a shell: command lines as processes, JSON back, and the runners they leave behind."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rt_notebook import session
from rt_notebook.domain.state import LIVE
from rt_notebook.frontends import agent
from rt_notebook.store import open_store, store_path

PROGRAM = [sys.executable, "-P", "-m", "rt_notebook"]
ASKING = {
    "question": "Release today?",
    "options": ["Ship", "Wait"],
    "seats": [{"name": "pm", "lens": "cost"}, {"name": "dev", "lens": "risk"}],
    "question_wait_s": 60,
    "checkpoint_wait_s": 60,
}
"""A review whose two seats ask in the opening and never agree."""


@dataclass
class Said:
    """What came of a command line."""

    status: int
    """The exit status."""
    stdout: str
    """Standard output."""
    stderr: str
    """Standard error."""

    @property
    def answer(self) -> dict[str, Any]:
        """The one line of JSON; there is nothing else on stdout."""
        lines = self.stdout.split("\n")
        assert len(lines) == 2, self.stdout + self.stderr
        assert lines[1] == ""
        found: dict[str, Any] = json.loads(lines[0])
        return found


@dataclass
class AgentShell:
    """Runs command lines in a folder."""

    folder: Path
    """Where they run."""
    extra: dict[str, str] = field(default_factory=dict)
    """Further variables."""

    def line(self, line: str, stdin: str = "") -> Said:
        """Run one line as a shell would split it."""
        words = shlex.split(line)
        return self._run([*PROGRAM, *words[1:]] if words[0] == "rt-notebook" else words, stdin)

    def program(self, *words: str, stdin: str = "") -> Said:
        """Run `rt-notebook` with words."""
        return self._run([*PROGRAM, *words], stdin)

    def agent(self, verb: str, *words: str, input: object = None) -> dict[str, Any]:
        """Run an agent verb that succeeds and return its answer."""
        said = self.try_agent(verb, *words, input=input)
        assert (said.status, said.answer["ok"]) == (0, True), said.stdout + said.stderr
        return said.answer

    def try_agent(self, verb: str, *words: str, input: object = None) -> Said:
        """Run an agent verb."""
        given = [] if input is None else ["--input", "-"]
        return self.program("agent", verb, *words, *given, stdin=json.dumps(input or {}))

    def _run(self, words: list[str], stdin: str) -> Said:
        done = subprocess.run(
            words,
            input=stdin,
            capture_output=True,
            cwd=self.folder,
            env={**os.environ, **self.extra},
            encoding="utf-8",
            timeout=60,
        )
        return Said(done.returncode, done.stdout, done.stderr)


class Line:
    """One command line of `rt-notebook agent` in this process, and what it wrote."""

    def __init__(self, *words: str) -> None:
        written: list[str] = []
        self.status = agent.main(words, written.append)
        (text,) = written
        assert "\n" not in text
        self.answer: dict[str, Any] = json.loads(text)

    @property
    def error(self) -> dict[str, Any]:
        """The error that it was answered with."""
        assert self.answer["ok"] is False
        found: dict[str, Any] = self.answer["error"]
        return found


def asking(**changes: Any) -> str:
    """Return the review as JSON, with changes."""
    return json.dumps({**ASKING, **changes})


def wait_until(holds: Callable[[], bool], seconds: float = 20.0) -> None:
    """Wait until something holds."""
    ends = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < ends, "it never came to that"
        time.sleep(0.02)


def pid_of(debate: str) -> int:
    """Return the process that runs a debate."""
    lease = open_store(store_path()).lease(debate)
    assert lease is not None
    return lease.pid


def end_runners() -> None:
    """Kill what still runs debates of this test's store."""
    for row in session.rows(None, None):
        if row.status in LIVE and (pid := pid_of(row.id)) != os.getpid():
            os.kill(pid, signal.SIGKILL)


def kinds(debate: str) -> list[str]:
    """Return a debate's event kinds in order."""
    return [event.kind for event in session.load(debate).events]


def bodies(debate: str, kind: str) -> list[Mapping[str, Any]]:
    """Return the bodies of a debate's events of one kind."""
    return [event.body for event in session.load(debate).events if event.kind == kind]
