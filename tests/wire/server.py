"""A loopback server that speaks the vendors' wire formats, streaming and not, and fails by script.

The real client libraries and commands talk to it. It counts requests and tokens by key, as a
vendor's bill would: an answer that went out whole is billed, one that broke off isn't.
"""

from __future__ import annotations

import gzip
import json
import re
import select
import socket
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from tests.wire.formats import Frame, failure, frames, midstream_failure, whole, wire_of
from tests.wire.script import NO_TOKENS, Asked, Fail, Hang, Raw, Say, Script, Step, Tokens

_LOOK_S = 0.02
"""Seconds between two looks at whether a hanging client has left."""


class WireServer:
    """The server; a context manager.

    Attributes:
        asked: the requests for answers, in order.
        others: paths of other requests (model lists, token counts).
        calls: requests by key.
        billed: tokens by key.
        connections: connections made.
        open_connections: those still open.
        reached: set once a request has come.
        left: set once a client has closed the connection of a hanging answer.
    """

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.others: list[str] = []
        self.calls: dict[str, int] = defaultdict(int)
        self.billed: dict[str, Tokens] = defaultdict(lambda: NO_TOKENS)
        self.left = threading.Event()
        self.reached = threading.Event()
        self.closing = threading.Event()
        self.connections = 0
        self.open_connections = 0
        self._scripts: dict[str | None, list[Script]] = {}
        self._lock = threading.Lock()
        handler = type("_BoundHandler", (_Handler,), {"wire": self})
        self._http = _Quiet(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(
            target=self._http.serve_forever, args=(0.02,), name="wire-server", daemon=True
        )

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def base_url(self, wire: str) -> str:
        """Returns the base URL that a vendor's client library takes."""
        return self.url if wire in ("anthropic", "google") else f"{self.url}/v1"

    def script(self, *steps: Script, model: str | None = None) -> None:
        """Sets what comes next, for one model or for all others; the last step repeats."""
        with self._lock:
            self._scripts[model] = list(steps)

    @contextmanager
    def saying(self, *steps: Script) -> Iterator[None]:
        """Replaces all scripts for a while."""
        before = self._scripts
        self._scripts = {None: list(steps)}
        yield
        self._scripts = before

    def take(self, asked: Asked) -> Step:
        """Counts a request and returns what to do with it."""
        with self._lock:
            self.asked.append(asked)
            self.calls[asked.key] += 1
            self.reached.set()
            steps = self._scripts.get(asked.model) or self._scripts.get(None) or [Say()]
            step = steps.pop(0) if len(steps) > 1 else steps[0]
        return step(asked) if callable(step) else step

    def bill(self, key: str, tokens: Tokens) -> None:
        """Counts the tokens of an answer that went out whole."""
        with self._lock:
            self.billed[key] += tokens

    def __enter__(self) -> Self:
        """Starts it."""
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        """Ends it, hanging answers included."""
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(5)


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Says nothing: a client that goes away is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wire: WireServer

    def setup(self) -> None:
        super().setup()
        self.wire.connections += 1
        self.wire.open_connections += 1

    def finish(self) -> None:
        super().finish()
        self.wire.open_connections -= 1

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""

    def do_GET(self) -> None:
        """Answers what isn't a request for an answer: lists of models, pings."""
        self.wire.others.append(self.path)
        self._json(200, {"object": "list", "data": [], "models": []})

    do_HEAD = do_GET

    def do_POST(self) -> None:
        """Answers by script."""
        body = self._body()
        asked = self._asked(body)
        if asked is None:
            self.wire.others.append(self.path)
            self._json(200, {"input_tokens": 1, "totalTokens": 1})
            return
        try:
            self._follow(asked, self.wire.take(asked))
        except (BrokenPipeError, ConnectionResetError):
            self.wire.left.set()
            self.close_connection = True

    def _body(self) -> dict[str, Any]:
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            raw = b"".join(iter(self._chunk_read, b""))
        else:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Content-Encoding") == "gzip":
            raw = gzip.decompress(raw)
        found = json.loads(raw) if raw else {}
        return found if isinstance(found, dict) else {}

    def _chunk_read(self) -> bytes:
        size = int(self.rfile.readline().split(b";")[0] or b"0", 16)
        data = self.rfile.read(size)
        self.rfile.readline()
        return data

    def _asked(self, body: dict[str, Any]) -> Asked | None:
        url = urlsplit(self.path)
        wire = wire_of(url.path)
        if wire is None:
            return None
        headers = {name.lower(): value for name, value in self.headers.items()}
        named = re.search(r"/models/([^/:]+):", url.path)
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        key = headers.get("x-api-key") or headers.get("x-goog-api-key") or bearer
        return Asked(
            wire,
            str(named.group(1) if named else body.get("model")),
            key or parse_qs(url.query).get("key", [""])[0],
            body,
            headers,
            self.path,
            url.path.endswith(":streamGenerateContent") or bool(body.get("stream")),
        )

    def _follow(self, asked: Asked, step: Step) -> None:
        match step:
            case Fail():
                waits = {"Retry-After": step.retry_after} if step.retry_after else {}
                self._json(step.status, failure(asked.wire, step), waits)
            case Hang():
                self._hang()
            case Raw():
                self._send(200, step.body, step.content_type)
            case Say() if asked.streams:
                self._stream(asked, step)
            case Say():
                self._answer(asked, step)

    def _answer(self, asked: Asked, say: Say) -> None:
        body = json.dumps(whole(asked, say)).encode()
        if say.ends == "whole":
            self.wire.bill(asked.key, say.tokens)
            self._send(200, body, "application/json")
            return
        self._head(200, {"Content-Type": "application/json", "Content-Length": str(len(body))})
        self.wfile.write(body[: len(body) // 2])
        self.wfile.flush()
        if say.ends == "hang":
            self._hang()
        self.close_connection = True

    def _stream(self, asked: Asked, say: Say) -> None:
        self._head(200, {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked"})
        half, told = max(1, len(say.parts) // 2), 0
        events = list(frames(asked, say))
        for frame in events:
            if frame is events[-1] and say.ends == "whole":
                # Before the end, so that whoever has read it finds it on the bill.
                self.wire.bill(asked.key, say.tokens)
            if frame.is_text and told and say.pause_s:
                time.sleep(say.pause_s)
            self._chunk(frame.encoded())
            told += frame.is_text
            if say.ends != "whole" and told >= half:
                self._break_off(asked, say)
                return
        self._chunk(b"")

    def _break_off(self, asked: Asked, say: Say) -> None:
        if say.ends == "hang":
            self._hang()
        elif say.ends == "error":
            self._chunk(midstream_failure(asked.wire).encoded())
            self._chunk(b"")
        elif say.ends == "eof":
            self._chunk(b"")
        self.close_connection = True  # `drop`: the stream's last chunk never comes

    def _hang(self) -> None:
        while not self.wire.closing.is_set():
            if select.select([self.connection], [], [], _LOOK_S)[0]:
                if not self.connection.recv(1, socket.MSG_PEEK):
                    self.wire.left.set()
                break
        self.close_connection = True

    def _json(self, status: int, body: object, headers: dict[str, str] | None = None) -> None:
        self._send(status, json.dumps(body).encode(), "application/json", headers)

    def _send(
        self, status: int, body: bytes, kind: str, headers: dict[str, str] | None = None
    ) -> None:
        length = str(len(body))
        self._head(status, {"Content-Type": kind, "Content-Length": length, **(headers or {})})
        self.wfile.write(body)
        self.wfile.flush()

    def _head(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {
            **headers,
            "request-id": "req_wire",
            "x-request-id": "req_wire",
        }.items():
            self.send_header(name, value)
        self.end_headers()

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()


def sse(*frames: str) -> bytes:
    """Returns raw events, for streams that no vendor would send."""
    return b"".join(Frame(None, frame, False).encoded() for frame in frames)
