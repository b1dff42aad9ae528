"""A provider that takes the first option and says so in the voice it was seated with."""

from __future__ import annotations

import rt_notebook as rt
from rt_notebook.providers.base import Progress


class Echo:
    """Answers every call in the contract's form.

    Args:
        voice: what stands behind `echo:`.
    """

    def __init__(self, voice: str) -> None:
        self._voice = voice

    async def complete(self, call: rt.Call, progress: Progress) -> rt.Completion:
        """Answer one call."""
        progress(len(self._voice))
        if call.purpose == "verdict":
            text = "RECOMMENDATION:\nopt-1\nDISSENT:\nnone\nKILL_CRITERIA:\nnone\n"
            return rt.Completion(f"{text}OPEN_QUESTIONS:\nnone", model="echo-1")
        text = f"STANCE: opt-1\nAGREE_WITH: []\nDISAGREE: none\nNEW:\n- {self._voice}\n"
        return rt.Completion(f"{text}ASSUMPTIONS: none\nQUESTION_FOR_HUMAN: none", model="echo-1")


def make(model: str, seat: rt.Seat) -> Echo:
    """Return the provider of a seat; the factory that the entry point names."""
    if not model:
        raise rt.SeatError(f"seat {seat.name!r}: write 'echo:VOICE'")
    return Echo(model)


def hollow(model: str, seat: rt.Seat) -> object:
    """Return something that is no provider."""
    return object()
