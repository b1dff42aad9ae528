"""The four wire formats: how an answer, its stream and an error look at each vendor."""

from __future__ import annotations

import json
from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple

from tests.wire import anthropic, chat, google, responses
from tests.wire.script import Asked, Fail, Say

FORMATS: dict[str, ModuleType] = {
    "chat": chat,
    "responses": responses,
    "anthropic": anthropic,
    "google": google,
}


class Frame(NamedTuple):
    """One event of a stream."""

    event: str | None
    data: Any
    is_text: bool

    def encoded(self) -> bytes:
        """Returns the event as it goes over the wire."""
        head = f"event: {self.event}\n" if self.event else ""
        data = self.data if isinstance(self.data, str) else json.dumps(self.data)
        return f"{head}data: {data}\n\n".encode()


def wire_of(path: str) -> str | None:
    """Returns the format that a path belongs to."""
    if path.endswith("/chat/completions"):
        return "chat"
    if path.endswith("/responses"):
        return "responses"
    if path.endswith("/messages"):
        return "anthropic"
    if path.endswith((":generateContent", ":streamGenerateContent")):
        return "google"
    return None


def whole(asked: Asked, say: Say) -> dict[str, Any]:
    """Returns an answer that isn't streamed."""
    found: dict[str, Any] = FORMATS[asked.wire].whole(asked, say)
    return found


def frames(asked: Asked, say: Say) -> Iterator[Frame]:
    """Yields the events of a streamed answer."""
    for event, data, is_text in FORMATS[asked.wire].frames(asked, say):
        yield Frame(event, data, is_text)


def failure(wire: str, fail: Fail) -> dict[str, Any]:
    """Returns the body of an error answer."""
    found: dict[str, Any] = FORMATS[wire].failure(fail)
    return found


def midstream_failure(wire: str) -> Frame:
    """Returns the event by which a vendor breaks off a stream."""
    event, data = FORMATS[wire].midstream_failure()
    return Frame(event, data, False)
