"""A person at a terminal: a program on a real pseudo-terminal, typed to and read from."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

# Opening the terminal as the leader of a new session makes it the session's own: Ctrl-C works.
_BOOT = """\
import os, sys
fd = os.open(sys.argv[1], os.O_RDWR)
for number in (0, 1, 2):
    os.dup2(fd, number)
os.execv(sys.argv[2], sys.argv[2:])
"""
_SEQUENCE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[()][0-9A-B]|\x1b[=>]|\x1b\][^\x07]*\x07")
_SGR = re.compile(r"\x1b\[[0-9;]*m")


class TerminalSession:
    """One program on a pseudo-terminal of 80 columns.

    Args:
        command: the program and its arguments, the program as a path.
        environment: its whole environment.
        folder: where it runs.
        term: the terminal's kind.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        folder: Path,
        *,
        term: str = "xterm",
    ) -> None:
        self.master, slave = pty.openpty()
        size = struct.pack("HHHH", 40, 80, 0, 0)
        _set_size(slave, size)
        path = os.ttyname(slave)
        self.process = subprocess.Popen(
            [sys.executable, "-c", _BOOT, path, *command],
            stdin=subprocess.DEVNULL,
            cwd=folder,
            env={**environment, "TERM": term},
            start_new_session=True,
        )
        self._slave = slave  # kept open: else reading fails before the program opens its end
        self.raw = ""
        """Everything the program sent so far."""
        self._seen = 0

    def __enter__(self) -> TerminalSession:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self._slave)
        os.close(self.master)

    def type(self, text: str) -> None:
        """Type; `\\r` is Enter, `\\x03` Ctrl-C, `\\x04` Ctrl-D."""
        os.write(self.master, text.encode())

    def wait_for(self, text: str, timeout: float = 20.0) -> str:
        """Return what was shown since the last wait, up to and with `text`."""
        deadline = time.monotonic() + timeout
        while True:
            shown = visible(self.raw)
            place = shown.find(text, self._seen)
            if place >= 0:
                before, self._seen = self._seen, place + len(text)
                return shown[before : self._seen]
            if time.monotonic() > deadline:
                raise AssertionError(f"{text!r} never came; the terminal shows:\n{shown}")
            self._read(0.2)

    def wait_end(self, timeout: float = 20.0) -> int:
        """Return the program's exit status once it has ended, with all its output read."""
        deadline = time.monotonic() + timeout
        while self.process.poll() is None:
            if time.monotonic() > deadline:
                raise AssertionError(f"it never ended; the terminal shows:\n{visible(self.raw)}")
            self._read(0.1)
        while self._read(0.1):
            pass
        return self.process.returncode

    @property
    def shown(self) -> str:
        """Everything shown so far, without colours and cursor movements."""
        return visible(self.raw)

    def _read(self, timeout: float) -> bool:
        ready, _, _ = select.select([self.master], [], [], timeout)
        if not ready:
            return False
        data = os.read(self.master, 65_536)
        self.raw += data.decode("utf-8", "replace")
        return bool(data)


def visible(raw: str) -> str:
    """Return text without terminal sequences and carriage returns."""
    return _SEQUENCE.sub("", raw).replace("\r", "")


def other_sequences(raw: str) -> list[str]:
    """Return what follows each escape character that begins no colour."""
    return [part[:20] for part in _SGR.sub("", raw).split("\x1b")[1:]]


def script(folder: Path, source: str) -> list[str]:
    """Write a program and return the command that runs it."""
    path = folder / "program.py"
    path.write_text(source, encoding="utf-8")
    return [sys.executable, str(path)]


def _set_size(fd: int, size: bytes) -> None:
    import fcntl
    import termios

    fcntl.ioctl(fd, termios.TIOCSWINSZ, size)
