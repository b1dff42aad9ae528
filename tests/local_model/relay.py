"""A loopback relay in front of the model server: it changes nothing and writes down what passes.

So a test knows what the server was asked, which answers went out whole, what tokens the server
itself counted, and when a client went away.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import select
import socket
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

_LOOK_S = 0.02
"""Seconds between two looks at whether a client has left."""


@dataclass
class Passed:
    """One request and what came back."""

    body: dict[str, Any]
    """What was asked."""
    status: int = 0
    """The server's answer; 0 until it came."""
    text: str = ""
    """The words so far."""
    ends: str | None = None
    """The finish reason that the server gave."""
    usage: dict[str, Any] | None = None
    """The tokens that the server counted; None where it told none."""
    left: bool = False
    """The client closed the connection before the end."""
    over: threading.Event = field(default_factory=threading.Event)
    """Set once nothing more passes."""

    @property
    def prompt(self) -> str:
        """All that the model was told."""
        return "\n".join(str(message["content"]) for message in self.body["messages"])


class Relay:
    """The relay; a context manager.

    Attributes:
        passed: the requests for answers, in order.
    """

    def __init__(self, upstream: tuple[str, int]) -> None:
        self.upstream = upstream
        self.passed: list[Passed] = []
        self.changed = threading.Condition()
        handler = type("_BoundHandler", (_Handler,), {"relay": self})
        self._http = _Quiet(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(
            target=self._http.serve_forever, args=(0.02,), name="relay", daemon=True
        )

    @property
    def url(self) -> str:
        """The base URL that a client takes."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    @property
    def in_flight(self) -> list[Passed]:
        """The requests that aren't over."""
        return [one for one in self.passed if not one.over.is_set()]

    def wait(self, enough: Any, seconds: float = 60.0) -> None:
        """Waits until `enough()` holds; fails when that takes too long."""
        with self.changed:
            assert self.changed.wait_for(enough, seconds), [one.text for one in self.passed]

    def __enter__(self) -> Self:
        """Starts it."""
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        """Ends it; afterwards nothing listens there."""
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(5)


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Says nothing: a client that goes away is no news."""


class _Handler(BaseHTTPRequestHandler):
    relay: Relay

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""

    def do_POST(self) -> None:
        """Passes one request on, and its answer back as it comes."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        passed = Passed(json.loads(body))
        with self.relay.changed:
            self.relay.passed.append(passed)
            self.relay.changed.notify_all()
        upstream = http.client.HTTPConnection(*self.relay.upstream)
        try:
            self._pass(passed, upstream, body)
        except (OSError, http.client.HTTPException):
            passed.left = True
        finally:
            upstream.close()
            self.close_connection = True
            with self.relay.changed:
                passed.over.set()
                self.relay.changed.notify_all()

    def _pass(self, passed: Passed, upstream: http.client.HTTPConnection, body: bytes) -> None:
        upstream.connect()
        watch = threading.Thread(target=self._watch, args=(passed, upstream.sock), daemon=True)
        watch.start()
        upstream.request("POST", self.path, body, {"Content-Type": "application/json"})
        answer = upstream.getresponse()
        passed.status = answer.status
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.headers["Content-Type"])
        self.send_header("Connection", "close")
        self.end_headers()
        kept = b""
        while piece := answer.read1():
            self.wfile.write(piece)
            *lines, kept = (kept + piece).split(b"\n")
            self._note(passed, lines)

    def _watch(self, passed: Passed, upstream: socket.socket) -> None:
        """Lets the server know when the client leaves in the middle of an answer."""
        with contextlib.suppress(OSError, ValueError):  # either socket is closed by now
            while not passed.over.is_set():
                if select.select([self.connection], [], [], _LOOK_S)[0]:  # readable: it was closed
                    passed.left = not passed.over.is_set()
                    upstream.shutdown(socket.SHUT_RDWR)
                    return

    def _note(self, passed: Passed, lines: list[bytes]) -> None:
        with self.relay.changed:
            for line in lines:
                data = line.removeprefix(b"data:").strip()
                if data.startswith(b"{"):
                    _read(passed, json.loads(data))
            self.relay.changed.notify_all()


def _read(passed: Passed, data: dict[str, Any]) -> None:
    passed.usage = data.get("usage") or passed.usage
    for choice in data.get("choices", ()):
        passed.text += choice.get("delta", {}).get("content") or ""
        passed.ends = choice.get("finish_reason") or passed.ends
