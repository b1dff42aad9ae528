"""The forms of a discussion: a word to the seats at any time, and a human seat's turn.

Own what their fields mean. Must not know threads, kernels or how a form comes into the page.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets

from rt_notebook.errors import UsageError
from rt_notebook.frontends.control import Control
from rt_notebook.frontends.gate_form_base import FULL, Form
from rt_notebook.frontends.gate_form_turn import TurnForm
from rt_notebook.frontends.live_parts import Message
from rt_notebook.frontends.widgets import text_block


class TalkForm(Form):
    """Lets the person say a word while a discussion runs; it stays open.

    Args:
        control: gets the words.
        uid: the live view's name in the page.
        serial: the form's number in its view.
        tell: sends a message to the page.
    """

    def __init__(
        self, control: Control, *, uid: str, serial: int, tell: Callable[[Message], None]
    ) -> None:
        super().__init__(uid, serial, tell)
        self._control = control
        self.box.add_class("rt-form-talk")
        words = ipywidgets.Text(
            placeholder="Say a word: it goes into the next turn's prompt",
            continuous_update=False,
            tooltip="A word to the seats",
        )
        words.layout.width = FULL
        send = self._button("continue", "Send", "primary", "Send it (Enter)")
        keys = text_block("Enter sends", "rt-keys")
        row = ipywidgets.HBox([send, keys]).add_class("rt-buttons")
        self._fill([self._field("message", words), row])

    def _hand_over(self, action: str, read: dict[str, Any]) -> None:
        if action != "continue":
            super()._hand_over(action, read)
        text = read["message"].strip()
        if not text:
            raise UsageError("write something first")
        self._control.answer(message=text, source="person")

    def _closes_with(self, action: str) -> bool:
        return False

    def _accept(self, action: str) -> None:
        super()._accept(action)
        self.fields["message"].control.value = ""
        # What was typed may not have arrived in the control, so that emptying it changes nothing.
        self._tell({"type": "form", "serial": self.serial, "ok": True, "clear": True})


class SpeechForm(TurnForm):
    """The form of a human seat's turn in a discussion, or of a human observer: plain words."""

    def _parts(self) -> list[Any]:
        return [self._text("words", 6, "What you say, as plain text or Markdown", "Your words")]

    def _hand_over(self, action: str, read: dict[str, Any]) -> None:
        self._control.take_turn(
            round=self.turn.round, seat=self.turn.seat, text=read["words"].strip()
        )
