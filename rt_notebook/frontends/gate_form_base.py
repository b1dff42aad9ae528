"""What the forms share: fields, buttons, an error line, and one try at a time.

Owns how a form's values arrive and how a try to send them ends. Must not know threads, kernels or
what the values mean. A handler may run on any thread: it only hands the values on.

The page's script sends a form as one message with the values of all its controls, so that typed
text arrives whole however far the controls' own updates are behind. Where the script doesn't run,
a button's own click does the same with the values that have arrived.
"""

from __future__ import annotations

import datetime
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import ipywidgets

from rt_notebook.errors import RoundtableError, one_line
from rt_notebook.frontends.live_parts import Message
from rt_notebook.frontends.publisher import free_replies
from rt_notebook.frontends.widgets import close_tree, text_block, text_markup
from rt_notebook.rendering.plain import plain

logger = logging.getLogger(__name__)

FULL: Final = "100%"
"""The width of a field that takes the whole line."""


@dataclass(slots=True)
class Field:
    """One value of a form."""

    key: str
    """Its name in what the page sends."""
    control: Any
    """The ipywidgets control."""

    def value(self, sent: Any) -> Any:
        """Return what the page sent for it, or else what the control holds.

        A choice is sent by its place (-1: none), a tick as a truth value, a text as itself.
        """
        control = self.control
        if isinstance(control, ipywidgets.RadioButtons):
            if isinstance(sent, int) and -1 <= sent < len(control.options):
                return control.options[sent] if sent >= 0 else None
            return control.value
        if isinstance(control, ipywidgets.Checkbox):
            return sent if isinstance(sent, bool) else control.value
        return sent if isinstance(sent, str) else control.value


class Form:
    """What both forms share: fields, buttons, an error line, and one try at a time.

    Args:
        uid: the live view's name in the page.
        serial: the form's number in its view; a late click on an older form is told by it.
        tell: sends a message to the page.
    """

    def __init__(self, uid: str, serial: int, tell: Callable[[Message], None]) -> None:
        self.last_error: str | None = None
        """Why the last try failed; None after a success."""
        self.serial = serial
        """The form's number in its view."""
        self.fields: dict[str, Field] = {}
        """The values by their names in the page's messages."""
        self.buttons: dict[str, Any] = {}
        """The buttons by what they do."""
        self.sent = False
        """True once the form's values were accepted."""
        self._tell = tell
        self._busy = threading.Lock()
        self._error = text_block("", "rt-error")
        self.box: Any = ipywidgets.VBox([]).add_class("rt-form")
        """The form itself."""
        self.box.add_class(f"rt-form--{uid}--{serial}")

    def submit(self, action: str, values: Mapping[str, Any] | None = None) -> None:
        """Do what a button says, once however often it is clicked; errors are shown in the form.

        Args:
            action: the button's name.
            values: what the page read from the controls; None: take what has arrived in them.
        """
        if self.sent or not self._busy.acquire(blocking=False):
            return
        try:
            read = {key: field.value((values or {}).get(key)) for key, field in self.fields.items()}
            self._hand_over(action, read)
        except RoundtableError as error:
            self._refuse(str(error))
        except Exception as error:
            # The edge to the page: JupyterLab shows nothing of what a button's handler raises.
            logger.exception("a form could not be handed over")
            self._refuse(f"{type(error).__name__}: {one_line(str(error), 300)}; your text is kept")
        else:
            self._accept(action)
        finally:
            self._busy.release()

    def drafts(self) -> list[str]:
        """Return the texts that have arrived from the page and were not sent."""
        controls = (field.control for field in self.fields.values())
        texts = [c.value for c in controls if isinstance(c, ipywidgets.Textarea | ipywidgets.Text)]
        return [] if self.sent else [text.strip() for text in texts if text.strip()]

    def close(self) -> None:
        """Let go of the controls; late clicks do nothing."""
        self.sent = True
        close_tree(self.box)

    def _hand_over(self, action: str, read: dict[str, Any]) -> None:
        raise TypeError(f"a form does nothing for {action!r}")

    def _closes_with(self, action: str) -> bool:
        return True

    def _accept(self, action: str) -> None:
        self.last_error = None
        self._error.value = ""
        self.sent = self._closes_with(action)
        for part in [*self.buttons.values(), *(f.control for f in self.fields.values())]:
            if self.sent:
                part.disabled = True
        self._tell({"type": "form", "serial": self.serial, "ok": True, "sent": self.sent})

    def _refuse(self, why: str) -> None:
        self.last_error = why
        self._error.value = text_markup(plain(why), "rt-error")
        self._tell({"type": "form", "serial": self.serial, "ok": False, "error": plain(why)})

    def _field(self, key: str, control: Any) -> Any:
        control.add_class("rt-field").add_class(f"rt-field--{key}")
        self.fields[key] = Field(key, control)
        return control

    def _button(self, action: str, label: str, style: str, tooltip: str) -> Any:
        button = ipywidgets.Button(description=label, button_style=style, tooltip=tooltip)
        button.layout.width = "auto"
        button.add_class("rt-button").add_class(f"rt-button--{action}")
        button.on_click(lambda _: self.submit(action))
        self.buttons[action] = button
        return button

    def _fill(self, parts: Sequence[Any]) -> None:
        self.box.children = [*parts, self._error]
        free_replies(self.box, *self.buttons.values(), *(f.control for f in self.fields.values()))

    def _text(self, key: str, rows: int, hint: str, name: str) -> Any:
        area = ipywidgets.Textarea(
            placeholder=hint, rows=rows, continuous_update=False, tooltip=name[:200]
        )
        area.layout.width = FULL
        return self._field(key, area)


def countdown(closes_at: int | None) -> str:
    """Return the markup of a countdown: the page's script counts, without any traffic."""
    if closes_at is None:
        return '<span class="rt-countdown">waits for you</span>'
    until = datetime.datetime.fromtimestamp(closes_at / 1000, datetime.UTC)
    return (
        f'<span class="rt-countdown" data-rt-closes="{closes_at}">'
        f"open until {until:%H:%M:%S} UTC</span>"
    )


def labelled(label: str, control: Any) -> Any:
    """Return a control with a line above it that names it."""
    return ipywidgets.VBox([text_block(label, "rt-label"), control]).add_class("rt-labelled")
