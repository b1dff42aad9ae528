"""Reads a kernel's websockets: which requests of the page were answered, and which never were.

Tells a request that the kernel never read (nothing came back for it, not even that it is busy)
from one that still runs and one that is done.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

_SHOWN = 12
"""So many of what came back for a request are told."""


@dataclass(frozen=True)
class Frame:
    """One message on a kernel's websocket."""

    at: float
    """Seconds on the monotonic clock."""

    direction: Literal["sent", "received"]
    """As the page sees it."""

    payload: str | bytes
    """The message as it went over the wire."""

    socket: int = 0
    """Which of the page's websockets, in the order they were opened."""


@dataclass
class Request:
    """What a page asked a kernel, and what came back for it."""

    at: float
    """When it was sent, on the monotonic clock."""

    kind: str
    """Its `msg_type`."""

    content: dict[str, Any]
    """What it says."""

    heard: list[tuple[float, str]] = field(default_factory=list)
    """When something came back for it, and its type or the status that it told."""

    @property
    def answered(self) -> bool:
        """Whether the kernel is done with it."""
        kinds = {kind for _, kind in self.heard}
        reply = self.kind.replace("_request", "_reply")
        return "idle" in kinds and (reply == self.kind or reply in kinds)

    def told(self, began: float) -> str:
        """Returns a line of what was asked, and one of what came back, in seconds since then."""
        back = [f"{kind}@{at - began:.2f}" for at, kind in self.heard] or ["NOTHING CAME BACK"]
        if len(back) > _SHOWN:
            back = [*back[: _SHOWN // 2], "...", *back[-_SHOWN // 2 :]]
        asked = f"{self.at - began:7.2f} s {self.kind} {json.dumps(self.content)[:100]}"
        return f"{asked}\n{'':10}-> {' '.join(back)}"


def requests(frames: Iterable[Frame]) -> list[Request]:
    """Returns what the page asked, in its order."""
    found: dict[str, Request] = {}
    for frame in frames:
        header, parent, content = _read(frame.payload)
        if frame.direction == "sent":
            found[header["msg_id"]] = Request(frame.at, header["msg_type"], content)
        elif (request := found.get(parent.get("msg_id", ""))) is not None:
            kind = str(content.get("execution_state", header["msg_type"]))
            request.heard.append((frame.at, kind))
    return list(found.values())


def is_settled(frames: Iterable[Frame]) -> bool:
    """Whether the page knows which widgets its kernel has, the last thing it asks a fresh one."""
    asked = requests(frames)
    known = any(request.kind == "comm_info_request" for request in asked)
    return known and all(request.answered for request in asked)


def told(frames: Iterable[Frame]) -> str:
    """Returns all that was asked and what came back."""
    asked = requests(frames)
    return "\n".join(request.told(asked[0].at) for request in asked)


def _read(body: str | bytes) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Returns a message's header, its parent's and its content, from either protocol."""
    if isinstance(body, str):
        whole = json.loads(body)
        return whole["header"], whole["parent_header"] or {}, whole["content"]
    # v1.kernel.websocket.jupyter.org: how many offsets, the offsets, then channel, header, ...
    (count,) = struct.unpack_from("<Q", body)
    ends = struct.unpack_from(f"<{count}Q", body, 8)
    _, header, parent, _, content = (body[a:b] for a, b in pairwise(ends[:6]))
    return json.loads(header), json.loads(parent) or {}, json.loads(content)
