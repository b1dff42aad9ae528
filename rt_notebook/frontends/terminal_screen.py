"""The terminal as one place to write to and to ask at: a thread of its own, so that nobody waits.

Owns the streams, the thread with its loop, and prompt_toolkit. Must not know debates: work comes in
as functions, in order; lines come in as rich text.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Final, Protocol, TextIO

from prompt_toolkit.application import create_app_session, in_terminal
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.input import create_input
from prompt_toolkit.input.typeahead import clear_typeahead
from prompt_toolkit.output import create_output
from prompt_toolkit.shortcuts import PromptSession
from prompt_toolkit.utils import is_dumb_terminal
from rich.console import Console
from rich.text import Text

from rt_notebook.frontends.terminal_raw import RawLine, drop_typing

logger = logging.getLogger(__name__)

CLOSE_S: Final = 2.0
"""Seconds that the end waits for a terminal that takes no more text."""

_REFRESH_S: Final = 1.0


class Enough(Exception):
    """The person pressed Ctrl-D: go on with what there is."""


class Interrupt(Exception):
    """The person pressed Ctrl-C at a prompt."""


class Terminal(Protocol):
    """What a dialogue needs of a terminal."""

    draft: str
    """What was typed at the last prompt that ended without Enter."""

    @property
    def width(self) -> int:
        """Columns."""
        ...

    async def say(self, lines: Iterable[Text]) -> None:
        """Print lines, above an open prompt."""
        ...

    async def line(self, label: str, closes_at: Callable[[], int | None], default: str = "") -> str:
        """Ask for a line.

        Args:
            label: what is asked for.
            closes_at: tells when the window closes, milliseconds since 1970; None: it stays open.
            default: text to begin with.

        Raises:
            Enough: Ctrl-D.
            Interrupt: Ctrl-C.
            asyncio.CancelledError: the window closed; `draft` has what was typed.
        """
        ...


class Screen:
    """The terminal of this process; a `Terminal` to functions that run on its thread.

    Args:
        follow: write to whatever `sys.stdout` is at the time, as beside a shell's own prompt.
    """

    def __init__(self, *, follow: bool = False) -> None:
        self.draft = ""
        self._follow = follow
        self._stdin, self._stdout = sys.stdin, sys.stdout
        self._console = Console(file=self._stdout, highlight=False, markup=False, emoji=False)
        self._dumb = is_dumb_terminal()
        self._loop = asyncio.new_event_loop()
        self._work: asyncio.Queue[Callable[[], Awaitable[None]] | None] = asyncio.Queue()
        self._thread = threading.Thread(target=self._serve, name="roundtable-terminal", daemon=True)

    # ---- any thread ----------------------------------------------------------------------------

    def start(self) -> None:
        """Begin to work."""
        self._thread.start()

    def do(self, work: Callable[[], Awaitable[None]]) -> None:
        """Run `work` on the terminal's thread after what was handed over before."""
        self._put(work)

    def close(self, timeout: float = CLOSE_S) -> None:
        """Finish what was handed over, for at most `timeout` seconds, and end."""
        self._put(None)
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(timeout)

    def _put(self, work: Callable[[], Awaitable[None]] | None) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody sees it any more
            self._loop.call_soon_threadsafe(self._work.put_nowait, work)

    # ---- the terminal's thread -----------------------------------------------------------------

    @property
    def width(self) -> int:
        """Columns, 40 to 100."""
        return min(100, max(40, self._console.width))

    @property
    def chips(self) -> bool:
        """True where colours show."""
        return self._console.color_system is not None

    def later(self, seconds: float, work: Callable[[], Awaitable[None]]) -> None:
        """Run `work` in a while."""
        self._loop.call_later(seconds, self._put, work)

    async def say(self, lines: Iterable[Text]) -> None:
        """Print lines, above an open prompt."""
        with self._console.capture() as captured:
            for line in lines:
                self._console.print(line, soft_wrap=True)
        await self.write(captured.get())

    async def write(self, text: str) -> None:
        """Print text that holds nothing but harmless characters and rich's colours."""
        async with in_terminal():
            self._write(text)

    async def line(self, label: str, closes_at: Callable[[], int | None], default: str = "") -> str:
        """Ask for a line; see `Terminal`."""
        self.draft = ""
        if self._dumb:
            return await self._plain_line(label, closes_at())
        session: PromptSession[str] = PromptSession(
            interrupt_exception=Interrupt, eof_exception=Enough, reserve_space_for_menu=0
        )
        try:
            return await session.prompt_async(
                lambda: _head(label, closes_at()),
                default=default,
                refresh_interval=_REFRESH_S,
                handle_sigint=False,
            )
        except asyncio.CancelledError:
            self.draft = session.default_buffer.text
            raise

    def forget_typing(self) -> None:
        """Drop what was typed before anything was asked: it can't be an answer."""
        drop_typing(self._stdin)
        clear_typeahead(self._input)

    async def _plain_line(self, label: str, closes_at: int | None) -> str:
        self._write("".join(part[1] for part in _head(label, closes_at)))
        reader = RawLine(self._stdin)
        try:
            typed = await reader.read()
        except asyncio.CancelledError:
            self.draft = reader.rest()
            self._write("\n")
            raise
        if not typed:
            self._write("\n")
            raise Enough
        return typed.rstrip("\r\n")

    def _serve(self) -> None:
        try:
            self._loop.run_until_complete(self._main())
        finally:
            self._loop.close()

    async def _main(self) -> None:
        output: Any = create_output(self._stdout)
        # No questions to the terminal about the cursor: a late reply would be typed into a shell.
        output.enable_cpr = False
        self._input = create_input(self._stdin)
        with create_app_session(self._input, output):
            while (work := await self._work.get()) is not None:
                try:
                    await work()
                except Exception:  # an edge: a broken terminal must not end the debate it shows
                    logger.exception("the terminal can't show a debate")

    def _write(self, text: str) -> None:
        stream: TextIO = sys.stdout if self._follow else self._stdout
        encoding = getattr(stream, "encoding", None) or "utf-8"
        stream.write(text.encode(encoding, "replace").decode(encoding, "replace"))
        stream.flush()


def clock(closes_at: int | None, now: int) -> str:
    """Return how long a window stays open, `1:58 left`.

    Args:
        closes_at: milliseconds since 1970; None: it waits.
        now: the same.
    """
    if closes_at is None:
        return "waits for you"
    seconds = max(0, -(-(closes_at - now) // 1000))
    hours, seconds = divmod(seconds, 3600)
    long = f"{hours}:{seconds // 60:02d}" if hours else f"{seconds // 60}"
    return f"{long}:{seconds % 60:02d} left"


def _head(label: str, closes_at: int | None) -> FormattedText:
    left = clock(closes_at, time.time_ns() // 1_000_000)
    return FormattedText([("bold", label), ("", " · "), ("ansiyellow", left), ("bold", " > ")])
