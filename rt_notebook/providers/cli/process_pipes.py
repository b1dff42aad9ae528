"""The three pipes of a child, fed and drained at once, in two ways with one face.

`SelectorPipes` needs no further threads and can leave a pipe that somebody else keeps open;
`ThreadPipes` is for Windows, where pipes can't be selected. Knows nothing of what runs through.
"""

from __future__ import annotations

import contextlib
import os
import queue
import selectors
import threading
from typing import IO, Any, Final, Protocol

OUT: Final = "out"
ERR: Final = "err"
_CHUNK: Final = 64 * 1024


class Pipes(Protocol):
    """A child's pipes."""

    @property
    def ended(self) -> bool:
        """Whether both outputs have been read to their end."""
        ...

    def read(self, timeout: float) -> list[tuple[str, bytes]]:
        """Return what came within `timeout` seconds, as pairs of `out` or `err` and bytes."""
        ...

    def wake(self) -> None:
        """Let `read` return at once; for any thread."""
        ...

    def close(self) -> None:
        """Let go of every pipe."""
        ...


def open_pipes(stdin: IO[bytes], out: IO[bytes], err: IO[bytes], text: bytes) -> Pipes:
    """Return pipes that write `text`, close the child's input, and read both outputs."""
    kind: Any = ThreadPipes if os.name == "nt" else SelectorPipes
    pipes: Pipes = kind(stdin, out, err, text)
    return pipes


class SelectorPipes:
    """Pipes on one selector, for systems where that works."""

    def __init__(self, stdin: IO[bytes], out: IO[bytes], err: IO[bytes], text: bytes) -> None:
        self._stdin, self._left = stdin, memoryview(text)
        self._open: dict[str, IO[bytes]] = {OUT: out, ERR: err}
        self._selector = selectors.DefaultSelector()
        self._woken, self._waker = os.pipe()
        self._lock = threading.Lock()
        self._closed = False
        for pipe in (stdin, out, err):
            os.set_blocking(pipe.fileno(), False)
        for name, pipe in self._open.items():
            self._selector.register(pipe, selectors.EVENT_READ, name)
        self._selector.register(self._woken, selectors.EVENT_READ, "wake")
        if text:
            self._selector.register(stdin, selectors.EVENT_WRITE, "in")
        else:
            self._close_input()

    @property
    def ended(self) -> bool:
        """Whether both outputs have been read to their end."""
        return not self._open

    def read(self, timeout: float) -> list[tuple[str, bytes]]:
        """Return what came within `timeout` seconds, as pairs of `out` or `err` and bytes."""
        found = []
        for key, _ in self._selector.select(max(0.0, timeout)):
            if key.data == "in":
                self._feed()
            elif key.data == "wake":
                os.read(self._woken, _CHUNK)
            else:
                found.append((key.data, self._drain(key.data)))
        return [(name, chunk) for name, chunk in found if chunk]

    def wake(self) -> None:
        """Let `read` return at once; for any thread."""
        with self._lock:
            if not self._closed:
                os.write(self._waker, b"!")

    def close(self) -> None:
        """Let go of every pipe."""
        with self._lock:
            self._closed = True
        self._close_input()
        for pipe in self._open.values():
            pipe.close()
        self._selector.close()
        os.close(self._woken)
        os.close(self._waker)

    def _feed(self) -> None:
        try:
            self._left = self._left[os.write(self._stdin.fileno(), self._left[:_CHUNK]) :]
        except BlockingIOError:
            return
        except OSError:  # it ended, or closed its input, before it read everything
            self._left = self._left[:0]
        if not self._left:
            self._selector.unregister(self._stdin)
            self._close_input()

    def _close_input(self) -> None:
        with contextlib.suppress(OSError):
            self._stdin.close()

    def _drain(self, name: str) -> bytes:
        pipe = self._open[name]
        try:
            chunk = os.read(pipe.fileno(), _CHUNK)
        except BlockingIOError:
            return b""
        except OSError:
            chunk = b""
        if not chunk:
            self._selector.unregister(pipe)
            del self._open[name]
            pipe.close()
        return chunk


class ThreadPipes:
    """Pipes with a thread each, for systems without a selector for them."""

    def __init__(self, stdin: IO[bytes], out: IO[bytes], err: IO[bytes], text: bytes) -> None:
        # Bounded, so that a child can't fill the memory faster than its output is looked at.
        self._queue: queue.Queue[tuple[str, bytes]] = queue.Queue(64)
        self._open = {OUT, ERR}
        self._stopped = False
        for target, args in (
            (self._write, (stdin, text)),
            (self._pump, (OUT, out)),
            (self._pump, (ERR, err)),
        ):
            threading.Thread(
                target=target, args=args, name="roundtable-cli-pipe", daemon=True
            ).start()

    @property
    def ended(self) -> bool:
        """Whether both outputs have been read to their end."""
        return not self._open

    def read(self, timeout: float) -> list[tuple[str, bytes]]:
        """Return what came within `timeout` seconds, as pairs of `out` or `err` and bytes."""
        found: list[tuple[str, bytes]] = []
        try:
            item = self._queue.get(timeout=max(0.0, timeout))
            while True:
                name, chunk = item
                if chunk:
                    found.append((name, chunk))
                elif name:
                    self._open.discard(name)
                if len(found) >= 16:
                    break
                item = self._queue.get_nowait()
        except queue.Empty:
            pass
        return found

    def wake(self) -> None:
        """Let `read` return at once; for any thread."""
        with contextlib.suppress(queue.Full):  # then `read` doesn't wait anyway
            self._queue.put_nowait(("", b""))

    def close(self) -> None:
        """Let go of every pipe; a thread that is still reading lets go when the other end does."""
        self._stopped = True

    @staticmethod
    def _write(pipe: IO[bytes], text: bytes) -> None:
        left = memoryview(text)
        with contextlib.suppress(OSError), pipe:
            while left:
                left = left[os.write(pipe.fileno(), left[:_CHUNK]) :]

    def _pump(self, name: str, pipe: IO[bytes]) -> None:
        with contextlib.suppress(OSError), pipe:
            while not self._stopped and (chunk := os.read(pipe.fileno(), _CHUNK)):
                self._put(name, chunk)
        self._put(name, b"")

    def _put(self, name: str, chunk: bytes) -> None:
        while not self._stopped:
            with contextlib.suppress(queue.Full):
                self._queue.put((name, chunk), timeout=0.2)
                return
