"""The form of a human seat's turn: a reply's sections as fields, then as the contract's text.

Owns what the fields mean. Must not know how a form comes into the page or what a reply must hold:
the debate reads the text like any seat's and says what is wrong with it.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import ipywidgets

from rt_notebook.contract.render import render_reply
from rt_notebook.domain.reply import OTHER, PASS, Reply
from rt_notebook.domain.snapshot import TurnPart
from rt_notebook.frontends.control import Control
from rt_notebook.frontends.gate_form_base import FULL, Form, countdown, labelled
from rt_notebook.frontends.gate_words import turn_heading
from rt_notebook.frontends.live_parts import Message
from rt_notebook.frontends.widgets import text_block
from rt_notebook.rendering.plain import clip, plain

OTHER_CHOICE: Final = "Something else"
"""The choice whose text field holds a stance of its own."""
NOTHING_NEW: Final = "Pass: nothing new"
"""The choice of a seat that has nothing new."""


class TurnForm(Form):
    """The form of one human seat's open turn.

    Args:
        turn: the open turn.
        options: the brief's labels, in order.
        others: the other seats' names, for AGREE_WITH.
        control: gets the reply.
        uid: the live view's name in the page.
        serial: the form's number in its view.
        tell: sends a message to the page.
    """

    def __init__(
        self,
        turn: TurnPart,
        options: Sequence[str],
        others: Sequence[str],
        control: Control,
        *,
        uid: str,
        serial: int,
        tell: Callable[[Message], None],
    ) -> None:
        super().__init__(uid, serial, tell)
        self.turn = turn
        """The turn it is for."""
        self._options, self._others, self._control = list(options), list(others), control
        heading = text_block(turn_heading(turn), "rt-form-heading")
        top = ipywidgets.HBox([heading, ipywidgets.HTML(countdown(turn.closes_at))])
        prompt = ipywidgets.HTML(_prompt_markup(turn.prompt))
        self._fill([top.add_class("rt-form-top"), prompt, *self._parts(), self._turn_buttons()])

    def _parts(self) -> list[Any]:
        choices = [*map(plain, self._options), OTHER_CHOICE, NOTHING_NEW]
        stance = ipywidgets.RadioButtons(options=choices, value=None, tooltip="Stance")
        stance.layout.width = FULL
        return [
            labelled("Stance", self._field("stance", stance)),
            self._text(
                "other", 1, "the stance in your own words, if it is something else", "Other"
            ),
            *self._agree(),
            labelled(
                "Disagree", self._text("disagree", 2, "one point a line, up to 3", "Disagree")
            ),
            labelled("New points", self._text("new", 2, "one point a line, up to 2", "New")),
            labelled("Assumptions", self._text("assumptions", 2, "one a line", "Assumptions")),
            labelled(
                "Question", self._text("question", 1, "for the person (optional)", "Question")
            ),
        ]

    def _agree(self) -> list[Any]:
        if self.turn.round == 0:  # the opening is blind: there is nobody to agree with yet
            return []
        ticks = [
            self._field(f"agree-{n}", ipywidgets.Checkbox(description=name, indent=False))
            for n, name in enumerate(self._others)
        ]
        for tick in ticks:
            tick.layout.width = "auto"
        return [labelled("Agree with", ipywidgets.HBox(ticks).add_class("rt-ticks"))]

    def _turn_buttons(self) -> Any:
        send = self._button("continue", "Send", "primary", "Send the reply (Ctrl-Enter)")
        keys = text_block("Ctrl-Enter sends", "rt-keys")
        return ipywidgets.HBox([send, keys]).add_class("rt-buttons")

    def _hand_over(self, action: str, read: dict[str, Any]) -> None:
        if action != "continue":
            super()._hand_over(action, read)
        text = render_reply(self.reply(read), self._options)
        self._control.take_turn(round=self.turn.round, seat=self.turn.seat, text=text)

    def reply(self, read: Mapping[str, Any]) -> Reply:
        """Return the reply that the fields' values make."""
        choice = read["stance"]
        if choice == NOTHING_NEW:
            return Reply(valid=True, passed=True, stance_key=PASS)
        key = stance = None
        if choice == OTHER_CHOICE:
            label = " ".join(read["other"].split())
            key = stance = f"{OTHER} {label}" if label else None
        elif choice is not None:
            place = [plain(option) for option in self._options].index(choice)
            key, stance = f"opt-{place + 1}", self._options[place]
        agreed = [name for n, name in enumerate(self._others) if read.get(f"agree-{n}")]
        return Reply(
            valid=True,
            stance=stance,
            stance_key=key,
            agree_with=agreed,
            disagree=_lines(read["disagree"]),
            new=_lines(read["new"]),
            assumptions=_lines(read["assumptions"]),
            question=" ".join(read["question"].split()) or None,
        )


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _prompt_markup(prompt: str) -> str:
    text = html.escape(clip(plain(prompt))[0])
    return (
        '<details class="rt-prompt"><summary>What the seat is asked</summary>'
        f"<pre>{text}</pre></details>"
    )
