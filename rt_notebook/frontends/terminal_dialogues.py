"""What a person is asked in a terminal, one dialogue after another: a gate, a start.

Owns the order of prompts, their shortcuts, and what becomes of words that can't be sent. Must not
know prompt_toolkit or threads: it speaks to a `Terminal` and to a `Control`.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import threading
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, Final, Protocol

from rich.text import Text

from rt_notebook.errors import RoundtableError
from rt_notebook.frontends.control import Control
from rt_notebook.frontends.live_parts import Message
from rt_notebook.frontends.terminal_lines import BOLD, DIM, WARN, hanging
from rt_notebook.frontends.terminal_screen import Enough, Interrupt, Terminal
from rt_notebook.rendering.plain import wrap

logger = logging.getLogger(__name__)

MESSAGE: Final = "message"
"""The step of a gate that takes a free message."""

MORE: Final = "/more"
FINISH: Final = "/finish"
STOP: Final = "/stop"
BACK: Final = "/back"

GATE_KEYS: Final = (
    "Enter leaves a line open. /more time · /finish: verdict now · /stop: end here · /back · "
    "Ctrl-D: go on · Ctrl-C: interrupt"
)
"""The shortcuts, as they are shown once."""

_END_S: Final = 1.0
_POLL_S: Final = 0.1
# The terminal is one: of the debates in this process, one asks at a time.
_asking = threading.Lock()


class Dialogue:
    """Questions to the person that belong together.

    Args:
        terminal: where they are asked.
        control: gets what the person says.
    """

    def __init__(self, terminal: Terminal, control: Control) -> None:
        self.terminal, self.control = terminal, control
        self.sending = False
        """True while the words are on their way: the end of the window can't stop them now."""
        self.label = ""
        """What is being asked for."""

    async def run(self) -> None:
        """Ask until it is done, or the window closes; then what wasn't sent is shown.

        Raises:
            Interrupt: Ctrl-C.
        """
        try:
            await self.talk()
        except asyncio.CancelledError:
            await self._show_unsent(self.terminal.draft)
            raise
        except Interrupt:
            await self._show_unsent("")
            raise

    async def talk(self) -> None:
        """Ask."""
        raise TypeError("a dialogue says what it asks")

    def closes_at(self) -> int | None:
        """Return when the window closes, milliseconds since 1970; None: it stays open."""
        return None

    def kept(self) -> list[tuple[str, str]]:
        """Return the words that were typed and not sent, each with what they answer."""
        return []

    async def ask(self, label: str, default: str = "") -> str:
        """Ask for a line."""
        self.label = label
        return await self.terminal.line(label, self.closes_at, default)

    async def send(self, call: Callable[[], object]) -> RoundtableError | None:
        """Carry out a command, and return why it was refused.

        A thread of its own waits for the debate: this one goes on showing things.
        """
        self.sending = True
        try:
            await asyncio.to_thread(call)
        except RoundtableError as error:
            return error
        except (TimeoutError, RuntimeError, concurrent.futures.CancelledError):
            return RoundtableError("the debate no longer answers; this was not sent")
        finally:
            self.sending = False
        return None

    async def tell(self, text: str, style: Any = DIM) -> None:
        """Print a text of our own, or an error's."""
        rows = wrap(text, self.terminal.width)
        await self.terminal.say([Text(row, style=style) for row in rows])

    async def _show_unsent(self, draft: str) -> None:
        unsent = [(label, text) for label, text in self.kept() if label != self.label or not draft]
        if draft.strip():
            unsent.append((self.label, draft))
        lines: list[Text] = []
        for label, text in unsent:
            lines += hanging(
                [("not sent: ", WARN), (f"{label}: ", BOLD)], text, self.terminal.width
            )
        if lines:
            await self.terminal.say(lines)


class GateDialogue(Dialogue):
    """An open gate: an answer for each question, then a free message.

    Args:
        gate: the message that opened it.
        terminal: where it is asked.
        control: gets the answers.
        intro: tell the shortcuts first.
    """

    def __init__(
        self, gate: Message, terminal: Terminal, control: Control, *, intro: bool = True
    ) -> None:
        super().__init__(terminal, control)
        self._intro = intro
        self.gate = dict(gate)
        """The gate as it stands, its window included."""
        self.texts: dict[str, str] = {}
        """What was typed so far, by step."""
        self._choices = {q["id"]: q["choices"] for q in gate["questions"]}
        self._steps = [*self._choices, MESSAGE]
        self._place = 0

    def closes_at(self) -> int | None:
        """Return when the gate closes."""
        closes_at: int | None = self.gate["closes_at"]
        return closes_at

    def kept(self) -> list[tuple[str, str]]:
        """Return the answers typed so far."""
        return [(step, self.texts[step]) for step in self._steps if self.texts.get(step)]

    async def talk(self) -> None:
        """Ask each step, then send; a command may end it before."""
        if self._intro:
            await self.tell(GATE_KEYS)
        while self._place < len(self._steps):
            step = self._steps[self._place]
            try:
                typed = await self.ask(step, self.texts.get(step, ""))
            except Enough:
                break
            command = self._commands().get(typed.strip())
            if command is None:
                self.texts[step] = self._answer(step, typed)
                self._place += 1
            elif await command():
                return
        await self._send()

    def _commands(self) -> dict[str, Callable[[], Any]]:
        return {MORE: self._more, FINISH: self._finish, STOP: self._stop, BACK: self._back}

    def _answer(self, step: str, typed: str) -> str:
        text = typed.strip()
        choices = self._choices.get(step, [])
        if text.isascii() and text.isdecimal() and 1 <= int(text[:4]) <= len(choices):
            return str(choices[int(text[:4]) - 1])
        return text

    async def _send(self) -> None:
        texts = dict(self.kept())
        message = texts.pop(MESSAGE, None)
        give = partial(self.control.answer, texts, message=message, round=self.gate["round"])
        error = await self.send(give)
        if error is not None:
            await self.tell(str(error), WARN)
            await self._show_unsent("")

    async def _more(self) -> bool:
        await self._try(partial(self.control.hold, round=self.gate["round"]))
        return False

    async def _finish(self) -> bool:
        return await self._leave(self.control.finish)

    async def _stop(self) -> bool:
        return await self._leave(self.control.stop)

    async def _back(self) -> bool:
        self._place = max(0, self._place - 1)
        return False

    async def _leave(self, call: Callable[[], object]) -> bool:
        done = await self._try(call)
        if done:
            await self._show_unsent("")
        return done

    async def _try(self, call: Callable[[], object]) -> bool:
        error = await self.send(call)
        if error is not None:
            await self.tell(str(error), WARN)
        return error is None


class ConfirmDialogue(Dialogue):
    """Whether to start.

    Args:
        text: what starting means.
        answer: gets the decision.
        terminal: where it is asked.
        control: the debate.
    """

    def __init__(
        self,
        text: str,
        answer: concurrent.futures.Future[bool],
        terminal: Terminal,
        control: Control,
    ) -> None:
        super().__init__(terminal, control)
        self._text, self._answer = text, answer

    async def talk(self) -> None:
        """Ask until it is yes or no; Ctrl-D is no."""
        await self.terminal.say(hanging([], self._text, self.terminal.width))
        decision: bool | None = None
        while decision is None:
            try:
                typed = (await self.ask("start? yes or no")).strip().casefold()
            except Enough:
                typed = "no"
            decision = _YES_NO.get(typed)
        if not self._answer.done():
            self._answer.set_result(decision)


_YES_NO: Final = {"y": True, "yes": True, "start": True, "n": False, "no": False, "cancel": False}


class Runnable(Protocol):
    """A dialogue, to those who only run it."""

    sending: bool
    """True while its words are on their way."""

    async def run(self) -> None:
        """Ask."""
        ...


class Dialogues:
    """Runs dialogues one after another, and ends those whose window has closed.

    Args:
        begin: called before each, such as to drop what was typed for nobody.
        interrupted: called after Ctrl-C.
    """

    def __init__(self, begin: Callable[[], object], interrupted: Callable[[], object]) -> None:
        self.cut = False
        """True once a window closed under the person's hands: what they type next is for nobody."""
        self._begin, self._interrupted = begin, interrupted
        self._open: dict[Hashable, Runnable] = {}
        self._current: tuple[Hashable, asyncio.Task[None]] | None = None
        self._worker: asyncio.Task[None] | None = None

    def open(self, key: Hashable, dialogue: Runnable) -> None:
        """Run `dialogue` when those before it are done."""
        self._open[key] = dialogue
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._serve())

    async def end(self, key: Hashable) -> None:
        """End a dialogue; words on their way are let through."""
        dialogue = self._open.pop(key, None)
        if dialogue is None or self._current is None or self._current[0] != key:
            return
        task = self._current[1]
        if not dialogue.sending:
            self.cut = True
            task.cancel()
        await asyncio.wait([task], timeout=_END_S)

    async def end_all(self) -> None:
        """End every dialogue."""
        for key in list(self._open)[::-1]:
            await self.end(key)
        if self._worker is not None:
            self._worker.cancel()
            # It gives the terminal back to other debates.
            await asyncio.wait([self._worker], timeout=_END_S)

    async def _serve(self) -> None:
        while self._open:
            while not _asking.acquire(blocking=False):  # noqa: ASYNC110
                await asyncio.sleep(_POLL_S)  # another debate asks; its lock belongs to no loop
            try:
                await self._next()
            finally:
                _asking.release()

    async def _next(self) -> None:
        key = next(iter(self._open), None)
        if key is None:  # it was ended while another debate asked
            return
        self._begin()
        task = asyncio.create_task(self._open[key].run())
        self._current = key, task
        await asyncio.wait([task])
        self._current = None
        self._open.pop(key, None)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, Interrupt):
            self._interrupted()
        elif error is not None:
            logger.error("a person can't be asked in this terminal", exc_info=error)
