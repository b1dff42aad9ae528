"""A human seat's turn in a terminal: the sections as prompts, then as the contract's text.

Owns what the prompts mean. Must not know what a reply must hold: the debate reads the text like any
seat's and says what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from rich.text import Text

from rt_notebook.contract.render import render_reply
from rt_notebook.domain.normal import normal_form
from rt_notebook.domain.reply import OTHER, PASS, Reply
from rt_notebook.domain.snapshot import TurnPart
from rt_notebook.frontends.control import Control
from rt_notebook.frontends.gate_words import turn_heading
from rt_notebook.frontends.terminal_dialogues import BACK, Dialogue
from rt_notebook.frontends.terminal_lines import DIM, WARN, hanging, numbered, rule
from rt_notebook.frontends.terminal_screen import Enough, Terminal
from rt_notebook.rendering.plain import clip, plain, wrap

SHOW: Final = "/show"
WRITE: Final = "/write"
_END: Final = "."
_SHOWN_ROWS: Final = 6
# A section's name, what it is called at the prompt, and how many points it holds.
_LISTS: Final = (
    ("disagree", "disagree", 3),
    ("new", "new point", 2),
    ("assumptions", "assumption", 5),
)
_KEYS: Final = (
    "/show: all that the seat is asked · /write: the whole reply by hand · /back · Ctrl-D: send"
)


class TurnDialogue(Dialogue):
    """One human seat's open turn; asks again as long as the debate refuses the reply.

    Args:
        turn: the open turn.
        options: the brief's labels, in order.
        others: the other seats' names as this seat sees them.
        chairs: True when a verdict is asked for, not a reply.
        speaks: True in a discussion, where any words will do.
        terminal: where it is asked.
        control: gets the reply.
    """

    def __init__(
        self,
        turn: TurnPart,
        options: Sequence[str],
        others: Sequence[str],
        terminal: Terminal,
        control: Control,
        *,
        chairs: bool = False,
        speaks: bool = False,
    ) -> None:
        super().__init__(terminal, control)
        self.turn = turn
        """The turn it is for."""
        self.texts: dict[str, str] = {}
        """What was typed so far, by prompt."""
        self._options, self._others = list(options), list(others)
        self._ask = self._lines if speaks else self._verdict if chairs else self._reply
        self._whole = ""

    def closes_at(self) -> int | None:
        """Return when the seat's time is up."""
        return self.turn.closes_at

    def kept(self) -> list[tuple[str, str]]:
        """Return what was typed so far."""
        parts = [("reply", self._whole)] if self._whole else list(self.texts.items())
        return [(label, text) for label, text in parts if text]

    async def talk(self) -> None:
        """Ask for the reply until it is taken."""
        await self.terminal.say([Text(""), rule(turn_heading(self.turn), self.terminal.width)])
        await self._show_prompt()
        while True:
            text = await self._ask()
            give = partial(
                self.control.take_turn, round=self.turn.round, seat=self.turn.seat, text=text
            )
            error = await self.send(give)
            if error is None:
                return
            await self.tell(str(error), WARN)
            self._whole = ""

    async def _show_prompt(self, rows: int = _SHOWN_ROWS) -> None:
        lines = wrap(clip(plain(self.turn.prompt))[0], self.terminal.width, "  ")
        shown = [Text(line, style=DIM) for line in lines[:rows]]
        if len(lines) > rows:
            shown.append(Text(f"  … {len(lines) - rows} more lines: {SHOW}", style=DIM))
        await self.terminal.say(shown)
        await self.tell(_KEYS)

    async def _reply(self) -> str:
        choices = f"{numbered(self._options)} · or in your own words · pass: nothing new"
        await self.terminal.say(hanging([("stance  ", DIM)], choices, self.terminal.width))
        steps = ["stance", *(["agree with"] if self.turn.round and self._others else [])]
        for _, label, most in _LISTS:
            steps += [f"{label} {number}" for number in range(1, most + 1)]
        steps.append("question")
        await self._fill(steps)
        return self._whole or render_reply(self._read(), self._options)

    async def _fill(self, steps: Sequence[str]) -> None:
        """Ask step by step; an empty point skips the rest of its section."""
        place = 0
        while place < len(steps):
            step = steps[place]
            try:
                typed = await self.ask(step, self.texts.get(step, ""))
            except Enough:
                return
            word = typed.strip()
            if word == SHOW:
                await self._show_prompt(rows=10_000)
            elif word == BACK:
                place = max(0, place - 1)
            elif word == WRITE or _is_whole(typed):
                self._whole = typed if word != WRITE else await self._lines()
                return
            else:
                self.texts[step] = word
                if step == "stance" and word.casefold() == "pass":
                    return
                place = self._next(steps, place, word)

    @staticmethod
    def _next(steps: Sequence[str], place: int, word: str) -> int:
        section = steps[place].rstrip("0123456789")
        place += 1
        while not word and section != steps[place - 1] and place < len(steps):
            if not steps[place].startswith(section):
                break
            place += 1
        return place

    async def _lines(self) -> str:
        await self.tell(f"The reply's lines; a line with only {_END} ends it.")
        lines: list[str] = []
        while True:
            try:
                typed = await self.ask("reply")
            except Enough:
                break
            if typed.strip() == _END:
                break
            lines.append(typed)
            self._whole = "\n".join(lines)
        return "\n".join(lines)

    def _read(self) -> Reply:
        typed = self.texts.get("stance", "")
        if typed.casefold() == "pass":
            return Reply(valid=True, passed=True, stance_key=PASS)
        key, stance = self._stance(typed)
        return Reply(
            valid=True,
            stance=stance,
            stance_key=key,
            agree_with=self._names(self.texts.get("agree with", "")),
            disagree=self._points("disagree"),
            new=self._points("new point"),
            assumptions=self._points("assumption"),
            question=" ".join(self.texts.get("question", "").split()) or None,
        )

    def _stance(self, typed: str) -> tuple[str | None, str | None]:
        label = " ".join(typed.split())
        if label.isascii() and label.isdecimal() and 1 <= int(label[:4]) <= len(self._options):
            return f"opt-{int(label)}", self._options[int(label) - 1]
        for number, option in enumerate(self._options, 1):
            if normal_form(label) in (normal_form(option), f"opt-{number}"):
                return f"opt-{number}", option
        return (f"{OTHER} {label}", f"{OTHER} {label}") if label else (None, None)

    def _names(self, typed: str) -> list[str]:
        known = {normal_form(name): name for name in self._others}
        given = [name.strip() for name in typed.split(",") if name.strip()]
        return [known.get(normal_form(name), name) for name in given]

    def _points(self, label: str) -> list[str]:
        return [
            " ".join(text.split())
            for step, text in self.texts.items()
            if step.rstrip("0123456789 ") == label and text
        ]

    async def _verdict(self) -> str:
        """Ask for a verdict's four sections."""
        choices = f"{numbered(self._options)} · none"
        await self.terminal.say(hanging([("pick  ", DIM)], choices, self.terminal.width))
        criteria = [f"kill criterion {number}" for number in range(1, 6)]
        questions = [f"open question {number}" for number in range(1, 6)]
        await self._fill(["pick", "reasons", "dissent", *criteria, *questions])
        if self._whole:
            return self._whole
        key, stance = self._stance(self.texts.get("pick", ""))
        pick = key if key is not None and not key.startswith(OTHER) else stance or ""
        sections = [
            "RECOMMENDATION:", pick.removeprefix(OTHER).strip(), self.texts.get("reasons", ""),
            "DISSENT:", self.texts.get("dissent") or "none",
            "KILL_CRITERIA:", *_bullets(self._points("kill criterion")),
            "OPEN_QUESTIONS:", *_bullets(self._points("open question")),
        ]  # fmt: skip
        return "\n".join(section for section in sections if section)


def _bullets(points: Sequence[str]) -> list[str]:
    return [f"- {point}" for point in points] or ["none"]


def _is_whole(typed: str) -> bool:
    """Tell a pasted reply in the contract's form from a line of an answer."""
    return "\n" in typed.strip() and "STANCE" in typed.upper()
