"""The recorded outputs of real commands, and three ways to feed them to a parser."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from rt_notebook.providers.cli.process import Ended
from tests.environment import ROOT

FOLDER = ROOT / "tests" / "fixtures" / "cli"


@dataclass(frozen=True)
class Recording:
    """What one run of one command left."""

    stdout: bytes
    """Its output."""
    stderr: str
    """Its error output."""
    returncode: int
    """Its exit code."""

    @property
    def ended(self) -> Ended:
        """The end as the runner tells it."""
        return Ended("exit", self.returncode, self.stderr, 1.5, 0.5)


@cache
def recording(vendor: str, case: str) -> Recording:
    """Returns one recording."""
    exits = json.loads((FOLDER / "exits.json").read_text(encoding="utf-8"))
    stderr = FOLDER / vendor / f"{case}.stderr"
    return Recording(
        (FOLDER / vendor / f"{case}.stdout").read_bytes(),
        stderr.read_text(encoding="utf-8") if stderr.exists() else "",
        exits[vendor][case],
    )


def recorded_cases() -> list[tuple[str, str]]:
    """Returns every recording's vendor and case."""
    exits = json.loads((FOLDER / "exits.json").read_text(encoding="utf-8"))
    return [(vendor, case) for vendor, cases in exits.items() for case in cases]


def _whole(data: bytes) -> Iterator[bytes]:
    yield data


def _bytes(data: bytes) -> Iterator[bytes]:
    for place in range(len(data)):
        yield data[place : place + 1]


def _pieces(data: bytes) -> Iterator[bytes]:
    dice, place = random.Random(7), 0  # noqa: S311  (repeatable, no secret)
    while place < len(data):
        size = dice.randint(1, 300)
        yield data[place : place + size]
        place += size


CHUNKINGS: dict[str, Callable[[bytes], Iterator[bytes]]] = {
    "whole": _whole,
    "bytes": _bytes,
    "pieces": _pieces,
}
