"""The live view's widgets: the transcript that grows by messages, and the box around it.

Owns what of ipywidgets and anywidget every part of the view needs: text that stays text, closing
without leftovers, and a transcript that a page loaded later gets whole. Must not know events,
debates or forms' meaning.
"""

from __future__ import annotations

import html
import threading
import time
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import Any, Final

import anywidget
import ipywidgets
import traitlets

from rt_notebook.frontends.publisher import free_replies

STATIC: Final = Path(__file__).parent / "static"
"""Where the page's part lies: `live.js` and `live.css`, loaded by no network."""

Message = dict[str, Any]

_ONCE: Final = frozenset({"header", "progress"})
_TURN: Final = frozenset({"asked", "reply", "failed", "speech"})


class Transcript(anywidget.AnyWidget):
    """What was said so far, drawn by `static/live.js`.

    Messages travel one by one as they come; the whole is sent only to a page that asks for the
    widget's state, because it was loaded later.

    Args:
        uid: names this view and its forms in the page's classes.
        on_message: called with what the page sends, on any thread.
    """

    _esm = (STATIC / "live.js").read_text(encoding="utf-8")
    _css = (STATIC / "live.css").read_text(encoding="utf-8")
    uid = traitlets.Unicode().tag(sync=True)
    history = traitlets.Dict().tag(sync=True)

    def __init__(self, uid: str, on_message: Callable[[Message], None]) -> None:
        self._told: dict[Hashable, Message] = {}
        self._count = 0
        # Around keeping and sending: a page gets no message twice, and none in a wrong order.
        self._sending = threading.RLock()
        super().__init__(uid=uid)
        self._on_page_message = on_message
        self.on_msg(self._hear)

    def append(self, messages: Iterable[Message]) -> None:
        """Show these now, and to every page that is loaded later."""
        batch = list(messages)
        with self._sending:
            first = self._count
            for message in batch:
                self._keep(message)
            self._send_batch(first, batch)

    def tell(self, message: Message) -> None:
        """Send a message to the pages that are there now; nothing once this is closed."""
        if self.comm is not None:
            self.send(message)

    def get_state(self, *args: Any, **kwargs: Any) -> Message:
        """Return the state as ipywidgets sends it, with the transcript in it."""
        state: Message = super().get_state(*args, **kwargs)
        if "history" in state:
            with self._sending:
                state["history"] = {"n": self._count, "messages": list(self._told.values())}
        return state

    def retire(self) -> None:
        """Tell nobody any more what a page sends; a page that asks still gets what was said."""
        self._on_page_message = _ignore

    def close(self) -> None:
        """Close it for good; what it holds is let go."""
        self.retire()
        super().close()

    def _keep(self, message: Message) -> None:
        """Keep what a later page needs: a seat's turn once, the newest progress, all the rest."""
        self._count += 1
        key: Hashable = self._count
        if message["type"] in _ONCE:
            key = message["type"]
        elif message["type"] in _TURN:
            key = "turn", message["round"], message["seat"]
        if message["type"] == "progress":
            self._told.pop(key, None)  # it goes last: it says how things stand now
        self._told[key] = message

    def _hear(self, _widget: Any, content: Any, _buffers: Any) -> None:
        if not isinstance(content, dict):
            return
        have = content.get("have")
        if content.get("type") in ("ready", "missing") and isinstance(have, int):
            with self._sending:
                if have < self._count:  # sent before the page listened
                    self._send_batch(0, list(self._told.values()), whole=True)
        self._on_page_message(content)

    def _send_batch(self, first: int, messages: list[Message], *, whole: bool = False) -> None:
        batch = {"n": first, "count": self._count - first, "messages": messages}
        now = {"now": time.time_ns() // 1_000_000}
        self.tell({"type": "batch", **batch, **now, **({"whole": True} if whole else {})})


def _ignore(_message: Message) -> None:
    """Take a message for nobody."""


def live_box(transcript: Transcript, slot: Any, on_view: Callable[[], None]) -> Any:
    """Return the box that is displayed; `on_view` is called when some page shows it, on any thread.

    Args:
        transcript: stands on top.
        slot: an empty box for the form, below it.
        on_view: may be called again, with every view that is made.
    """
    box = ipywidgets.VBox([transcript, slot]).add_class("rt-live-box")
    box._view_count = 0  # from None: asks the page to count its views
    box.observe(lambda change: on_view() if change["new"] else None, "_view_count")
    free_replies(transcript, box, slot)
    return box


def empty_slot() -> Any:
    """Return an empty box that forms are put into."""
    return ipywidgets.VBox([]).add_class("rt-slot")


def text_block(text: str, css_class: str) -> Any:
    """Return a text that stays text: `HTML` with everything escaped.

    A `Label` would typeset what stands between dollar signs as a formula.
    """
    return ipywidgets.HTML(text_markup(text, css_class))


def text_markup(text: str, css_class: str) -> str:
    """Return the value of a `text_block`."""
    return f'<div class="rt-text {css_class}">{html.escape(text)}</div>' if text else ""


def view_bundle(box: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the display data of a widget, as IPython would make it."""
    bundle = box._repr_mimebundle_()
    data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
    return dict(data or {}), dict(metadata or {})


def close_tree(widget: Any) -> None:
    """Close a widget, what is in it, and its layouts and styles, which ipywidgets would keep."""
    for child in getattr(widget, "children", ()):
        close_tree(child)
    for name in ("layout", "style"):
        part = getattr(widget, name, None)
        if isinstance(part, ipywidgets.Widget):
            part.close()
    widget.unobserve_all()
    widget.close()
