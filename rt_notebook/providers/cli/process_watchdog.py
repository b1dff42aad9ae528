"""The watchdog: one small process for each engine process, which ends its calls when it dies.

However the engine's process ends, SIGKILL included, the pipe to the watchdog closes. Owns that
pipe; what the watchdog then does stands in `process_tree`, the file it runs.
"""

from __future__ import annotations

import atexit
import logging
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Final

from rt_notebook.providers.cli import process_tree

_log = logging.getLogger(__name__)

_CLOSE_S: Final = 2.5
# What Windows needs to start any process at all; nothing else reaches the watchdog.
_NEEDED: Final = ("SYSTEMROOT", "PATH")


class Watchdog:
    """Tells the watchdog process which calls run; starts it at the first one.

    Where no such process can be started, a call runs without, and that's logged once.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._running: dict[str, str] = {}
        self._able = True

    @property
    def pid(self) -> int | None:
        """The watchdog's process number, or None where there is none."""
        return self._process.pid if self._process is not None else None

    def begin(self, mark: str, folder: Path, pid: int = 0) -> None:
        """Say that a call's child is about to start, or which process it is.

        Args:
            mark: the call's mark; it's enough to find the child.
            folder: the call's folder, to be removed.
            pid: the child, once it's known.
        """
        with self._lock:
            self._running[mark] = f"+ {mark} {pid} {os.fsencode(folder).hex()}\n"
            self._say(self._running[mark])

    def over(self, mark: str) -> None:
        """Say that nothing of a call is left."""
        with self._lock:
            self._running.pop(mark, None)
            self._say(f"- {mark}\n")

    def close(self) -> None:
        """Close the pipe: the watchdog ends what still runs, and itself."""
        with self._lock:
            process, self._process = self._process, None
            if process is None or process.stdin is None:
                return
            process.stdin.close()
            try:
                process.wait(_CLOSE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def forget(self) -> None:
        """Drop the pipe without a word: in a forked child, it's the parent's."""
        process, self._process = self._process, None
        self._lock, self._running = threading.Lock(), {}
        if process is not None and process.stdin is not None:
            process.stdin.close()
            process.returncode = 0  # not this process's to wait for

    def _say(self, line: str) -> None:
        if self._process is not None and self._write(line):
            return
        if not self._running or not self._able:
            return
        self._start()
        self._write("".join(self._running.values()))

    def _write(self, text: str) -> bool:
        if self._process is None or self._process.stdin is None:
            return False
        try:
            self._process.stdin.write(text.encode("ascii"))
        except OSError:  # somebody ended it
            self._process.stdin.close()
            self._process.wait()
            self._process = None
            return False
        return True

    def _start(self) -> None:
        program = Path(process_tree.__file__)
        try:
            if not sys.executable or not program.is_file():
                raise FileNotFoundError("no Python program to run it with")
            self._process = subprocess.Popen(  # noqa: S603  (this Python and our own file)
                (sys.executable, "-I", "-S", str(program)),
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={name: os.environ[name] for name in _NEEDED if name in os.environ},
                cwd=Path(sys.executable).anchor or None,
                start_new_session=True,
                bufsize=0,
            )
        except OSError as exc:
            self._able = False
            _log.warning("no watchdog for commands: %s; a killed kernel may leave some", exc)


WATCHDOG: Final = Watchdog()
"""The one of this process."""

atexit.register(WATCHDOG.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=WATCHDOG.forget)
