"""The form of an open gate: a control for each question, a free message, buttons, a countdown.

And the small form that asks before a debate starts. Owns what the fields and buttons mean. Must not
know threads, kernels or how a form comes into the page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import ipywidgets

from rt_notebook.frontends.control import Control
from rt_notebook.frontends.gate_form_base import FULL, Form, countdown, labelled
from rt_notebook.frontends.gate_words import gate_heading, gate_hint
from rt_notebook.frontends.live_parts import Message
from rt_notebook.frontends.widgets import text_block
from rt_notebook.rendering.plain import plain

NO_ANSWER: Final = "No answer"
"""The choice that leaves a question open."""


class GateForm(Form):
    """The form of one open gate.

    Args:
        gate: the message that opened it (see `live_parts.gate_open`).
        control: gets the answers.
        uid: the live view's name in the page.
        serial: the form's number in its view.
        tell: sends a message to the page.
    """

    def __init__(
        self,
        gate: Message,
        control: Control,
        *,
        uid: str,
        serial: int,
        tell: Callable[[Message], None],
    ) -> None:
        super().__init__(uid, serial, tell)
        self.round: int = gate["round"]
        """The round the gate follows."""
        self._control = control
        self._questions = gate["questions"]
        self._countdown = ipywidgets.HTML(countdown(gate["closes_at"]))
        heading = ipywidgets.HBox(
            [text_block(gate_heading(gate), "rt-form-heading"), self._countdown]
        ).add_class("rt-form-top")
        asked = [self._question(question) for question in self._questions]
        message = self._text("message", 2, "Anything else they should know (optional)", "Message")
        message = labelled("A message to all seats", message)
        parts = [heading, text_block(gate_hint(gate), "rt-form-hint"), *asked, message]
        self._fill([*parts, self._buttons(gate)])

    def drafts(self) -> list[str]:
        """Return what was typed and not sent, each as it would be answered: with its choice."""
        read = {key: field.control.value for key, field in self.fields.items()}
        typed = [_answer(q, read) for q in self._questions if read[q["id"]].strip()]
        message = read["message"].strip()
        return [] if self.sent else [*typed, *([message] if message else [])]

    def held(self, gate: Message) -> None:
        """Show the longer window of a `held` message."""
        self._countdown.value = countdown(gate["closes_at"])
        self.buttons["hold"].disabled = gate["holds_left"] < 1

    def _question(self, question: Message) -> Any:
        name = question["text"]
        who = text_block(", ".join(question["askers"]) + " asks", "rt-asker")
        parts = [who, text_block(name, "rt-question")]
        if question["choices"]:
            choices = [*question["choices"], NO_ANSWER]
            radio = ipywidgets.RadioButtons(options=choices, value=NO_ANSWER, tooltip=name[:200])
            radio.layout.width = FULL
            parts.append(self._field(f"{question['id']}-choice", radio))
            parts.append(self._text(question["id"], 1, "or in your own words", name))
        else:
            parts.append(self._text(question["id"], 2, "Your answer (optional)", name))
        return ipywidgets.VBox(parts).add_class("rt-question-box")

    def _buttons(self, gate: Message) -> Any:
        onward = "Continue to the verdict" if gate.get("reopen_calls") else "Continue"
        buttons = [
            self._button("continue", onward, "primary", "Send the answers and go on (Ctrl-Enter)"),
            self._button("hold", "More time", "", "Keep this open for longer"),
            self._button("finish", "Finish now", "", "No further round: on to the verdict"),
            self._button("stop", "Stop", "danger", "End here, without a verdict"),
        ]
        self.buttons["hold"].disabled = gate["holds_left"] < 1
        if gate["closes_at"] is None:
            self.buttons["hold"].layout.display = "none"
        keys = text_block("Ctrl-Enter sends", "rt-keys")
        return ipywidgets.HBox([*buttons, keys]).add_class("rt-buttons")

    def _hand_over(self, action: str, read: dict[str, Any]) -> None:
        if action == "continue":
            answers = {q["id"]: text for q in self._questions if (text := _answer(q, read))}
            message = read["message"].strip() or None
            self._control.answer(answers, message=message, round=self.round, source="person")
        elif action == "hold":
            self._control.hold(round=self.round)
        elif action == "finish":
            self._control.finish()
        elif action == "stop":
            self._control.stop()
        else:
            super()._hand_over(action, read)

    def _closes_with(self, action: str) -> bool:
        return action != "hold"


class ConfirmForm(Form):
    """Asks whether to start: nothing was called yet.

    Args:
        text: what the person should know.
        decide: called once, with True for Start.
        uid: the live view's name in the page.
        serial: the form's number in its view.
        tell: sends a message to the page.
    """

    def __init__(
        self,
        text: str,
        decide: Callable[[bool], None],
        *,
        uid: str,
        serial: int,
        tell: Callable[[Message], None],
    ) -> None:
        super().__init__(uid, serial, tell)
        self._decide = decide
        start = self._button("continue", "Start", "primary", "Start the debate (Ctrl-Enter)")
        cancel = self._button("cancel", "Cancel", "", "Call nothing")
        heading = text_block("Start this debate?", "rt-form-heading")
        buttons = ipywidgets.HBox([start, cancel]).add_class("rt-buttons")
        self._fill([heading, text_block(plain(text), "rt-confirm"), buttons])

    def _hand_over(self, action: str, read: dict[str, Any]) -> None:
        self._decide(action == "continue")


def _answer(question: Message, read: Mapping[str, Any]) -> str:
    choice = read.get(f"{question['id']}-choice")
    words = str(read[question["id"]]).strip()
    chosen = "" if choice in (None, NO_ANSWER) else str(choice)
    return f"{chosen}: {words}" if chosen and words else chosen or words
