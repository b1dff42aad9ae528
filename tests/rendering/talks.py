"""Discussions for rendering, told event by event, as the engine would have written them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rt_notebook.contract.speech import read_speech, read_summary
from rt_notebook.domain.brief import Brief
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.spec import DebateSpec
from tests.rendering.events import Story


class Talk(Story):
    """A discussion that a test tells."""

    def __init__(self, *seats: Seat, question: str = "How to ship?", **fields: Any) -> None:
        spec = DebateSpec(kind="discussion", brief=Brief(question=question), seats=seats, **fields)
        super().__init__(spec, "ship-a1b2c3")
        self.round = 0

    def says(self, seat: str, text: str, tools: Sequence[Mapping[str, str]] = ()) -> Talk:
        """Tells a turn."""
        call = self._call(seat, "turn", self.spec.seat(seat).model)
        used = [dict(tool) for tool in tools]
        self.add("call_finished", call=call, text=text, tool_calls=used, usage=None, cost=None)
        body = {"call": call, "round": self.round, "seat": seat}
        self.add("reply_read", **body, reply=read_speech(text).to_json(), repair=False)
        return self

    def word(self, text: str, source: str = "person") -> Talk:
        """Tells a word of a person."""
        self.add("interjection", text=text, source=source)
        return self

    def summed_up(self, text: str) -> Talk:
        """Tells the summary and the end."""
        self.add("verdict_started")
        call = self._call("observer", "summary", "scripted")
        self.add("call_finished", call=call, text=text, usage=None, cost=None)
        self.add("verdict_written", verdict=read_summary(text).to_json())
        self.conclude()
        return self
