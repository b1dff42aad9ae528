"""A real kernel with a front end's side of the protocol: queue cells, click, type, interrupt."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty
from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

from tests.environment import scrubbed_environment
from tests.kernel_ports import keep_apart

keep_apart()

Message = dict[str, Any]


@dataclass
class LiveKernel:
    """One started kernel; all messages on iopub and the shell replies are kept in order."""

    manager: KernelManager
    """Starts, interrupts and ends the process."""

    client: BlockingKernelClient
    """Its channels."""

    published: list[Message] = field(default_factory=list)
    """Everything that came on iopub."""

    replies: dict[str, Message] = field(default_factory=dict)
    """Message id of a request to its reply on the shell channel."""

    def queue(self, code: str) -> str:
        """Sends a cell without waiting for it; returns the message's id."""
        return str(self.client.execute(code, allow_stdin=True))

    def run(self, code: str, timeout_s: float = 30) -> str:
        """Runs a cell to its end; returns what it printed; an error in it fails the test."""
        request = self.queue(code)
        content = self.reply(request, timeout_s)
        assert content["status"] == "ok", content
        return self.printed(request)

    def value(self, code: str) -> Any:
        """Returns what an expression is worth in the kernel, through JSON."""
        return json.loads(self.run(f"import json; print(json.dumps({code}))"))

    def reply(self, request: str, timeout_s: float = 30) -> Message:
        """Waits for a cell's end, and for its last output; returns the reply's content."""
        self.wait_for(lambda: request in self.replies and self.is_idle(request), timeout_s)
        return dict(self.replies[request]["content"])

    def wait_for(self, condition: Callable[[], Any], timeout_s: float = 30) -> None:
        """Reads messages until the condition holds."""
        deadline = time.monotonic() + timeout_s
        while not condition():
            assert time.monotonic() < deadline, f"{self.published[-5:]}"
            self._read()

    def take(self) -> list[Message]:
        """Reads what there is now; returns all that was published and keeps none of it."""
        self._read()
        taken, self.published = self.published, []
        return taken

    def _read(self) -> None:
        with suppress(Empty):
            self.published.append(self.client.get_iopub_msg(timeout=0.02))
        with suppress(Empty):
            message = self.client.get_shell_msg(timeout=0)
            self.replies[message["parent_header"]["msg_id"]] = message

    def of(self, request: str, kind: str) -> list[Message]:
        """Returns the contents of one kind that a request caused."""
        return [
            message["content"]
            for message in self.published
            if message["parent_header"].get("msg_id") == request and message["msg_type"] == kind
        ]

    def is_idle(self, request: str) -> bool:
        """Says whether the kernel has said that it is done with a request."""
        return {"execution_state": "idle"} in self.of(request, "status")

    def printed(self, request: str) -> str:
        """Returns what a cell has printed to its standard output."""
        streams = self.of(request, "stream")
        return "".join(content["text"] for content in streams if content["name"] == "stdout")

    def wait_for_model(self, name: str, request: str) -> str:
        """Waits until a cell has made a widget of this model; returns its comm's id."""

        def found() -> list[str]:
            return [
                content["comm_id"]
                for content in self.of(request, "comm_open")
                if content["data"].get("state", {}).get("_model_name") == name
            ]

        self.wait_for(found)
        return found()[-1]

    def open_subshell(self) -> str:
        """Opens a subshell, as JupyterLab does for its widgets' messages; returns its id."""
        self.client.control_channel.send(self.client.session.msg("create_subshell_request", {}))
        return str(self.client.get_control_msg(timeout=10)["content"]["subshell_id"])

    def comm(self, comm_id: str, data: Message, subshell: str | None = None) -> str:
        """Sends a comm message as a widget's view does; returns the message's id."""
        message = self.client.session.msg("comm_msg", {"comm_id": comm_id, "data": data})
        if subshell is not None:
            message["header"]["subshell_id"] = subshell
        self.client.shell_channel.send(message)
        return str(message["header"]["msg_id"])

    def click(self, comm_id: str, subshell: str | None = None) -> str:
        """Clicks a button."""
        return self.comm(comm_id, {"method": "custom", "content": {"event": "click"}}, subshell)

    def type(self, comm_id: str, text: str) -> list[str]:
        """Types into a text field, letter by letter, without waiting for the kernel."""
        return [
            self.comm(comm_id, {"method": "update", "state": {"value": text[: n + 1]}})
            for n in range(len(text))
        ]

    def interrupt(self) -> None:
        """Presses the stop button."""
        self.manager.interrupt_kernel()


@contextmanager
def live_kernel(name: str, home: Path) -> Iterator[LiveKernel]:
    """Starts the kernel of a kernelspec, with a home of its own, and ends it for good."""
    manager = KernelManager(kernel_name=name)
    manager.start_kernel(env=scrubbed_environment(home), cwd=str(home))
    client: BlockingKernelClient = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        yield LiveKernel(manager, client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        manager.cleanup_resources()
