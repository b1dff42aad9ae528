"""Lines from a terminal that can't move its cursor, and what a terminal keeps unread.

Owns the terminal driver's settings (termios). Must not know prompts or debates.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from types import ModuleType
from typing import Any, TextIO

termios: ModuleType | None
try:
    import termios
except ImportError:  # Windows
    termios = None

_AT_ONCE = 65_536


def drop_typing(stream: TextIO) -> None:
    """Forget what was typed and not read yet."""
    if termios is not None:
        with contextlib.suppress(termios.error, OSError, ValueError):
            termios.tcflush(stream.fileno(), termios.TCIFLUSH)


def _settle(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)


class RawLine:
    """One line, edited and echoed by the terminal's driver; Ctrl-C is the driver's as well.

    Args:
        stream: the terminal.
    """

    def __init__(self, stream: TextIO) -> None:
        self._fd = stream.fileno()
        self._encoding = stream.encoding or "utf-8"

    async def read(self) -> str:
        """Return a line with its end; an empty text for Ctrl-D."""
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()
        loop.add_reader(self._fd, _settle, ready)
        try:
            await ready
        finally:
            loop.remove_reader(self._fd)
        return os.read(self._fd, _AT_ONCE).decode(self._encoding, "replace")

    def rest(self) -> str:
        """Return what was typed without Enter, and take it out of the driver's hands."""
        if termios is None:
            return ""
        try:
            before = termios.tcgetattr(self._fd)
        except (termios.error, OSError):
            return ""
        raw: list[Any] = [*before[:6], list(before[6])]
        raw[3] &= ~termios.ICANON
        raw[6][termios.VMIN], raw[6][termios.VTIME] = 0, 0
        try:
            termios.tcsetattr(self._fd, termios.TCSANOW, raw)
            return os.read(self._fd, _AT_ONCE).decode(self._encoding, "replace")
        finally:
            termios.tcsetattr(self._fd, termios.TCSANOW, before)
