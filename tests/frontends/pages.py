"""A page and a shell that record: what widgets send, what is shown, what a page sends back."""

from __future__ import annotations

import json
from typing import Any

from comm.base_comm import BaseComm
from IPython.core.formatters import DisplayFormatter

from rt_notebook.frontends.live_view import LiveView

WIDGET = "application/vnd.jupyter.widget-view+json"


class RecordingComm(BaseComm):
    """Keeps what a widget sends; `sent` is shared by all."""

    sent: list[tuple[str, str, dict[str, Any]]]

    def publish_msg(
        self,
        msg_type: str,
        data: Any = None,
        metadata: Any = None,
        buffers: Any = None,
        **keys: Any,
    ) -> None:
        """Keeps a message."""
        json.dumps(data)
        self.sent.append((self.comm_id, msg_type, data or {}))


class Publisher:
    """Keeps what is displayed."""

    def __init__(self) -> None:
        self.shown: list[tuple[str, bool, dict[str, Any]]] = []

    def publish(
        self, data: dict[str, Any], metadata: Any, transient: dict[str, str], update: bool
    ) -> None:
        """Keeps a display."""
        self.shown.append((transient["display_id"], update, data))


class Shell:
    """The parts of an IPython shell that a view needs."""

    def __init__(self) -> None:
        self.display_formatter = DisplayFormatter()
        self.display_pub: Any = Publisher()


class Page:
    """A page that shows a view: hears its messages and sends back."""

    def __init__(self, view: LiveView, sent: list[tuple[str, str, dict[str, Any]]]) -> None:
        self.view, self._sent = view, sent
        self._id = view._transcript.comm.comm_id

    def messages(self) -> list[dict[str, Any]]:
        """Returns the custom messages to the transcript."""
        return [
            data["content"]
            for comm_id, kind, data in self._sent
            if comm_id == self._id and kind == "comm_msg" and data.get("method") == "custom"
        ]

    def drawn(self) -> list[dict[str, Any]]:
        """Returns the messages of all batches."""
        batches = [m for m in self.messages() if m["type"] == "batch"]
        return [message for batch in batches for message in batch["messages"]]

    def send(self, **content: Any) -> None:
        """Sends what live.js would."""
        self.view._transcript._handle_custom_msg({"page": "first", **content}, [])
