"""Research before the first round: one call, its events, and no second try.

Whatever goes wrong is told, and the debate goes on without sources.
"""

from __future__ import annotations

import asyncio
from typing import Any

from rt_notebook.contract.prompts import PROMPTS_VERSION, messages_hash
from rt_notebook.domain.research import RESEARCH, researcher_name
from rt_notebook.engine.commands import Body
from rt_notebook.engine.tries import Desk, failed_body
from rt_notebook.errors import CallError, RoundtableError
from rt_notebook.providers.research import Found, Searcher


class ResearchTaker:
    """Has the query looked up.

    Args:
        desk: the debate; its spec has a query.
        searcher: who looks it up.
    """

    def __init__(self, desk: Desk, searcher: Searcher) -> None:
        self._desk = desk
        self._searcher = searcher
        self._name = researcher_name(desk.state.spec.seats)
        self._call = f"0/{RESEARCH}/{RESEARCH}/1"
        desk.budget.take(searcher.seat.vendor)

    async def take(self) -> None:
        """Search once; what comes of it is in the log when this returns."""
        desk, query = self._desk, self._query
        desk.in_flight[self._name] = self._call
        await desk.post(("research_started", {"query": query}), self._started())
        began = asyncio.get_running_loop().time()
        try:
            found = await self._searcher.search(lambda chars: desk.on_progress(self._name, chars))
        except RoundtableError as exc:
            error = exc if isinstance(exc, CallError) else CallError(str(exc), kind="provider")
            desk.in_flight.pop(self._name, None)
            told = {"error": error.kind, "message": str(error)}
            body = failed_body(self._call, error, None)
            await desk.post(("call_failed", body), ("research_failed", told))
            return
        desk.in_flight.pop(self._name, None)
        seconds = asyncio.get_running_loop().time() - began
        sources = [source.to_json() for source in found.sources]
        result: dict[str, Any] = {"sources": sources, "searches": found.searches}
        await desk.post(self._finished(found, seconds), ("research_finished", result))
        desk.prompts.know(desk.state.sources)

    @property
    def _query(self) -> str:
        research = self._desk.state.spec.research
        return research.query if research is not None else ""

    def _started(self) -> Body:
        return "call_started", {
            "call": self._call,
            "round": 0,
            "seat": self._name,
            "purpose": RESEARCH,
            "attempt": 1,
            "model": self._searcher.seat.model,
            "messages_hash": messages_hash([self._query]),
            "prompts_version": PROMPTS_VERSION,
            "chars": len(self._query),
        }

    def _finished(self, found: Found, seconds: float) -> Body:
        return "call_finished", {
            "call": self._call,
            "text": found.text,
            "tool_calls": [],
            "usage": found.usage.to_json(),
            "cost": found.usage.cost,
            "model": found.model,
            "request_id": found.request_id,
            "timings": {"total": round(seconds, 3)},
        }
