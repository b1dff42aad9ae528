"""How fast a command's output is read, for every vendor and for pieces of different sizes.

Prints a table of seconds for 1 and 8 MB and MB a second; reading must take time linear in the
length. Run: `python benchmarks/cli_streams.py`.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from rt_notebook.providers.cli.process import Ended
from rt_notebook.providers.cli.vendors import VENDORS

Event = dict[str, Any]
_PIECE = "some words of an answer\n" * 4


def _claude(size: int) -> Iterator[Event]:
    for _ in range(size // (4 * len(_PIECE))):
        delta = {"type": "content_block_delta", "delta": {"type": "text_delta", "text": _PIECE}}
        yield {"type": "stream_event", "event": delta}
    yield {"type": "result", "is_error": False, "result": _PIECE * (size // (2 * len(_PIECE)))}


def _codex(size: int) -> Iterator[Event]:
    item = {"type": "agent_message", "text": _PIECE * (size // len(_PIECE))}
    yield {"type": "item.completed", "item": item}
    yield {"type": "turn.completed"}


def _gemini(size: int) -> Iterator[Event]:
    for _ in range(size // (2 * len(_PIECE))):
        yield {
            "type": "message",
            "role": "assistant",
            "content": _PIECE,
            "timestamp": "2026-11-30T14:56:12.521Z",
        }
    yield {"type": "result", "status": "success"}


def _opencode(size: int) -> Iterator[Event]:
    yield {"type": "step_start"}
    yield {"type": "text", "part": {"text": _PIECE * (size // len(_PIECE))}}
    yield {"type": "step_finish", "part": {"reason": "stop"}}


STREAMS: dict[str, Callable[[int], Iterator[Event]]] = {
    "claude": _claude,
    "codex": _codex,
    "gemini": _gemini,
    "opencode": _opencode,
}


def seconds(vendor: str, data: bytes, step: int) -> float:
    """Return how long one vendor's parser takes for `data` in pieces of `step` bytes."""
    parser = VENDORS[vendor].parser()
    started = time.perf_counter()
    for place in range(0, len(data), step):
        parser.feed(data[place : place + step])
    parser.completion(Ended("exit", 0, "", 0.0))
    return time.perf_counter() - started


def main() -> None:
    """Print the table."""
    print(f"{'vendor':10}{'piece':>8}{'1 MB':>10}{'8 MB':>10}{'MB/s':>8}")
    for vendor, stream in STREAMS.items():
        for step in (64, 4096, 65_536):
            taken = []
            for size in (1_000_000, 8_000_000):
                lines = (json.dumps(event) for event in stream(size))
                data = ("\n".join(lines) + "\n").encode()
                taken.append(min(seconds(vendor, data, step) for _ in range(3)))
            row = f"{vendor:10}{step:>8}{taken[0]:>9.3f}s{taken[1]:>9.3f}s{8 / taken[1]:>8.0f}"
            print(row)


if __name__ == "__main__":
    main()
