"""A debate in a terminal: prints what happens, line by line, and asks where a person is needed.

Owns which thread does what: the debate's hands over plain messages, the terminal's prints and asks.
Must not know how a debate runs; it hears events and speaks to the run's verbs.

    debate's thread: listener, turns_changed, confirm      caller's thread: show, finish
    terminal's thread: everything below "the terminal's thread"
"""

from __future__ import annotations

import _thread
import asyncio
import concurrent.futures
import signal
import threading
from collections.abc import Sequence
from functools import partial
from typing import Final

from rich.text import Text

from rt_notebook.analysis.result import Result
from rt_notebook.domain.events import Event
from rt_notebook.domain.snapshot import TurnPart
from rt_notebook.domain.state import State
from rt_notebook.frontends import live_parts as parts
from rt_notebook.frontends.gate_words import plain_gate, turn_heading
from rt_notebook.frontends.live_model import message_for, progress
from rt_notebook.frontends.live_parts import Message
from rt_notebook.frontends.live_talk import so_far
from rt_notebook.frontends.terminal_dialogues import ConfirmDialogue, Dialogues, GateDialogue
from rt_notebook.frontends.terminal_lines import Transcript, hanging, rule
from rt_notebook.frontends.terminal_screen import Screen
from rt_notebook.frontends.terminal_turn import TurnDialogue
from rt_notebook.rendering import report_text
from rt_notebook.rendering.facts import letters
from rt_notebook.running import DebateRun

_GATE: Final = "gate"
_CONFIRM: Final = "confirm"
_TurnKey = tuple[int, str, int | None]
# Seats are asked within a moment of each other: one line names them all.
_TOGETHER_S: Final = 0.05


class TerminalView:
    """The view of one debate; a `launch.View`.

    Args:
        run: the debate.
        background: the terminal belongs to somebody else: print, but ask nothing.
    """

    def __init__(self, run: DebateRun, *, background: bool = False) -> None:
        self.settled = True
        """Always: a terminal is seen."""
        self._run = run
        self._background = background
        self._screen = Screen(follow=background)
        self._transcript = Transcript(chips=self._screen.chips)
        self._dialogues = Dialogues(self._screen.forget_typing, self._interrupt)
        self._gate: GateDialogue | None = None
        self._turn_keys: set[_TurnKey] = set()
        self._asked: list[str] = []
        self._introduced = self._gate_open = self._gated = False
        self._on_main = False

    # ---- the caller's thread -------------------------------------------------------------------

    def show(self, fresh: bool = False) -> None:
        """Begin to print."""
        self._on_main = threading.current_thread() is threading.main_thread()
        self._screen.start()

    def finish(self, result: object) -> None:
        """Print the report, once, and let go of the terminal."""
        self._screen.do(partial(self._end, result))
        self._screen.close()

    # ---- the debate's thread -------------------------------------------------------------------

    def listener(self, event: Event, state: State) -> None:
        """Take an event."""
        messages = message_for(event, state)
        if not self._introduced:
            self._introduced = True
            if event.kind != "created":
                messages = [*_so_far(state, event.at), *messages]
        was_open, self._gate_open = self._gate_open, state.gate is not None
        self._screen.do(partial(self._tell, messages, was_open and not self._gate_open))

    def turns_changed(self, turns: list[TurnPart]) -> None:
        """Take the open turns of human seats."""
        self._screen.do(partial(self._turns, list(turns)))

    async def ready(self) -> bool:
        """Return True: a terminal is seen."""
        return True

    async def confirm(self, text: str) -> bool:
        """Ask whether to start; in the background nobody can be asked, so it is no."""
        answer: concurrent.futures.Future[bool] = concurrent.futures.Future()
        self._screen.do(partial(self._confirm, text, answer))
        try:
            return await asyncio.wrap_future(answer)
        finally:
            self._screen.do(partial(self._dialogues.end, _CONFIRM))

    # ---- the terminal's thread -----------------------------------------------------------------

    async def _tell(self, messages: Sequence[Message], gate_over: bool) -> None:
        if gate_over:
            self._gate = None
            await self._dialogues.end(_GATE)
        if _names_seat(messages):
            if not self._asked:
                self._screen.later(_TOGETHER_S, self._tell_asked)
            self._asked += [message["seat"] for message in messages]
            return
        await self._tell_asked()
        await self._screen.say(self._transcript.lines(messages, self._screen.width))
        for message in messages:
            if message["type"] == "gate":
                await self._gate_changed(message)

    async def _tell_asked(self) -> None:
        seats, self._asked = self._asked, []
        if seats:
            await self._screen.say(self._transcript.asked(seats, self._screen.width))

    async def _gate_changed(self, message: Message) -> None:
        if message["state"] == "held" and self._gate is not None:
            self._gate.gate |= {key: message[key] for key in ("closes_at", "holds_left")}
        elif message["state"] == "open" and self._background:
            how = plain_gate(message, self._run.id).splitlines()[-1]
            how += " In Python: `handle.answer({'q1': '...'}, message='...')`."
            await self._screen.say(hanging([], how, self._screen.width))
        elif message["state"] == "open":
            self._gate = GateDialogue(message, self._screen, self._run, intro=not self._gated)
            self._gated = True
            self._dialogues.open(_GATE, self._gate)

    async def _turns(self, turns: Sequence[TurnPart]) -> None:
        keys = {_turn_key(turn): turn for turn in turns}
        for key in self._turn_keys - keys.keys():
            await self._dialogues.end(key)
        new, self._turn_keys = keys.keys() - self._turn_keys, set(keys)
        for key, turn in keys.items():
            if key in new:
                await self._open_turn(key, turn)

    async def _open_turn(self, key: _TurnKey, turn: TurnPart) -> None:
        await self._tell_asked()
        if self._background:
            width = self._screen.width
            await self._screen.say([Text(""), rule(turn_heading(turn), width)])
            how = (
                f"Answer with `rt.answer({self._run.id!r}, round={turn.round}, "
                f"seat={turn.seat!r}, text='...')`."
            )
            await self._screen.say(hanging([], how, width))
            return
        spec = self._run.fold.spec
        shown = letters(spec)
        others = [shown.get(seat.name, seat.name) for seat in spec.seats if seat.name != turn.seat]
        chairs = turn.seat not in [seat.name for seat in spec.seats]
        dialogue = TurnDialogue(
            turn,
            spec.brief.options,
            others,
            self._screen,
            self._run,
            chairs=chairs,
            speaks=self._run.fold.discusses,
        )
        self._dialogues.open(key, dialogue)

    async def _confirm(self, text: str, answer: concurrent.futures.Future[bool]) -> None:
        if self._background:
            text += "\nNobody can be asked in the background: not started."
            await self._screen.say(hanging([], text, self._screen.width))
            answer.set_result(False)
            return
        dialogue = ConfirmDialogue(text, answer, self._screen, self._run)
        self._dialogues.open(_CONFIRM, dialogue)

    async def _end(self, result: object) -> None:
        await self._dialogues.end_all()
        await self._tell_asked()
        text = repr(result)
        if isinstance(result, Result):
            text = report_text(
                result.fold,
                variable=result.variable,
                notes=result.warnings,
                width=self._screen.width,
                typed=result.typed,
            )
        await self._screen.write(text + "\n")
        if self._dialogues.cut:  # or the rest of a sentence is typed into a shell
            self._screen.forget_typing()

    def _interrupt(self) -> None:
        """Do what Ctrl-C does where no prompt is open: the terminal's driver sends a signal."""
        if not self._on_main:
            self._run.interrupt()
        elif hasattr(signal, "pthread_kill"):
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        else:
            _thread.interrupt_main()


def _names_seat(messages: Sequence[Message]) -> bool:
    """Tell the first asking of a seat, which is told together with the others'."""
    return bool(messages) and all(
        message["type"] == "asked" and not message.get("repair") and "attempt" not in message
        for message in messages
    )


def _turn_key(turn: TurnPart) -> _TurnKey:
    return turn.round, turn.seat, turn.closes_at


def _so_far(state: State, at: int) -> list[Message]:
    """Return what a debate that goes on begins with."""
    positions = [
        (name, f"{parts.label_of(position.key, state)} ({_when(position.round)})")
        for name, position in state.positions.items()
    ]
    standing: Message = {"type": "standing", "positions": positions}
    if state.discusses:
        return [parts.header(state, at), progress(state), *so_far(state)]
    return [parts.header(state, at), progress(state), *([standing] if positions else [])]


def _when(round: int) -> str:
    return "opening" if round == 0 else f"round {round}"
