"""Small sweeps whose seats are functions that count, wait or fail."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import rt_notebook as rt
from rt_notebook.analysis.sweep import Sweep, sweep

SAID = "STANCE: opt-1\nAGREE_WITH: []\nDISAGREE:\n- none\nNEW:\n- none\nASSUMPTIONS:\n- none"
OPTIONS = ("Ship", "Wait")
QUESTIONS = ["Ship now?", "Ship soon?", "Ship later?"]


class Speaker:
    """A seat's function that counts its calls and may wait or fail."""

    def __init__(self, act: Callable[[rt.Call, int], object] | None = None) -> None:
        self.calls = 0
        self.act = act
        self.__name__ = "speaker"

    async def __call__(self, call: rt.Call) -> str:
        self.calls += 1
        made = self.act(call, self.calls) if self.act else None
        if asyncio.iscoroutine(made):
            await made
        return SAID


def run(briefs: Any = QUESTIONS, store: Path | None = None, **given: Any) -> Sweep:
    """Returns a finished sweep."""
    speaker = given.pop("speaker", None) or Speaker()
    seats = [rt.Seat("pm", model=speaker), rt.Seat("dev", model=speaker)]
    given.setdefault("seats", seats)
    return sweep(briefs, options=OPTIONS, store=store, progress=False, **given)
