"""How fast a command's output is read, for every vendor and for pieces of different sizes.

    python -m benchmarks.cli_streams

Seconds of this process on its processor for 4 and 8 MB (8 MiB is the most that is read); reading
must take time linear in the length: twice the bytes, at most 2.5 times as long. What takes less
than 0.1 s for 8 MB isn't judged: memory counts more there than the reader.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks._report import Cell, Report
from rt_notebook.providers.cli.process import Ended
from rt_notebook.providers.cli.vendors import VENDORS

Event = dict[str, Any]
STEPS = (64, 4096, 65_536)
MB = (4, 8)
MOST = 2.5
FLOOR_S = 0.1
ROUNDS = 20
PAUSE_S = 0.3
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
    started = time.process_time()
    for place in range(0, len(data), step):
        parser.feed(data[place : place + step])
    parser.completion(Ended("exit", 0, "", 0.0))
    return time.process_time() - started


def fastest(vendor: str, stream: Callable[[int], Iterator[Event]], step: int) -> list[float]:
    """Return the seconds for each size; what looks quadratic is measured again, a moment later."""
    taken = [float("inf")] * len(MB)
    texts = ["\n".join(map(json.dumps, stream(size * 1_000_000))) + "\n" for size in MB]
    for _ in range(ROUNDS):
        for number, text in enumerate(texts):
            data = text.encode()
            taken[number] = min(taken[number], *(seconds(vendor, data, step) for _ in range(3)))
        if taken[1] / taken[0] <= MOST:
            break
        time.sleep(PAUSE_S)
    return taken


def main() -> int:
    """Print the table."""
    report = Report()
    rows: list[list[Cell]] = []
    worst = 0.0
    for vendor, stream in STREAMS.items():
        for step in STEPS:
            taken = fastest(vendor, stream, step)
            ratio = taken[1] / taken[0]
            if taken[1] >= FLOOR_S:
                worst = max(worst, ratio)
            rows.append([vendor, step, *(one * 1000 for one in taken), ratio, MB[1] / taken[1]])
    heads = [f"{size} MB, ms" for size in MB]
    report.table(["command", "bytes at once", *heads, "ratio", "MB/s"], rows)
    report.say(f"What takes less than {FLOOR_S:g} s for {MB[1]} MB isn't judged.")
    report.limit("the steepest: twice the bytes", worst, MOST, "×")
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
