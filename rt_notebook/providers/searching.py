"""Who looks up what a debate asks for, before it begins: an API seat's vendor or a command.

Nothing heavy is loaded here before it is needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rt_notebook.domain.research import Research, researcher_name
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.errors import SeatError
from rt_notebook.providers.accounts import CLI_CONCURRENCY, Account, limiter_of
from rt_notebook.providers.api_doors import Door, is_api, load_heavy, open_door
from rt_notebook.providers.base import Progress
from rt_notebook.providers.research import Found

LIGHT_MODELS: Final[Mapping[str, str]] = {
    "anthropic": "anthropic:claude-haiku-5-5",
    "google": "google:gemini-3.5-flash-lite",
    "openai": "openai:gpt-6-luna",
    "openai-responses": "openai-responses:gpt-6-luna",
    "cli:claude": "cli:claude/haiku",
    "cli:codex": "cli:codex",
    "cli:gemini": "cli:gemini/gemini-3.5-flash-lite",
}
"""The model that searches where nobody names one, by the vendor of the seats."""

_EFFORT: Final = "low"


class WebSearcher:
    """Looks up a debate's query with a vendor's own web search.

    Args:
        spec: the debate.
        research: its query and bounds.

    Raises:
        SeatError: no model that can search is named, nor is one seated.
    """

    def __init__(self, spec: DebateSpec, research: Research) -> None:
        self._spec = spec
        self._research = research
        self.seat = _seat_of(spec, research)
        """Who searches, as a seat."""

    def check(self) -> None:
        """Check, before any call, that it can search; consents count as for seats.

        Raises:
            SeatError: it can't.
            MissingExtraError: the client libraries aren't installed.
        """
        if is_api(_prefix(self.seat)):
            door = self._door()
            load_heavy("rt_notebook.providers.api_research").check_search(door)
        else:
            self._command().check_search()

    async def search(self, progress: Progress) -> Found:
        """Look the query up; see `Searcher`."""
        api = is_api(_prefix(self.seat))
        name = self.seat.account or self.seat.api_key_env
        account = Account(self.seat.vendor, name)
        if not api:
            account = Account(self.seat.vendor, name, CLI_CONCURRENCY)
        limiter = limiter_of(account)
        await limiter.enter()
        try:
            return await (self._over_api(progress) if api else self._by_command(progress))
        finally:
            limiter.leave()

    async def _over_api(self, progress: Progress) -> Found:
        research = self._research
        found: Found = await load_heavy("rt_notebook.providers.api_research").search(
            self._door(),
            research.query,
            max_searches=research.max_searches,
            timeout_s=research.timeout_s,
            effort=self.seat.effort or _EFFORT,
            progress=progress,
        )
        return found

    async def _by_command(self, progress: Progress) -> Found:
        research = self._research
        found: Found = await self._command().search(
            research.query, research.max_searches, self.seat, progress
        )
        return found

    def _door(self) -> Door:
        seat = self.seat
        return open_door(
            seat.model, seat=seat.name, base_url=seat.base_url, api_key_env=seat.api_key_env
        )

    def _command(self) -> Any:
        from rt_notebook.providers.cli.searching import CliSearcher
        from rt_notebook.providers.consents import consents_of

        return CliSearcher(self.seat, consents_of(self._spec))


def searcher_of(spec: DebateSpec) -> WebSearcher | None:
    """Return who looks up what a debate asks for; None where it asks for nothing.

    Raises:
        SeatError: no model that can search is named, nor is one seated.
    """
    return WebSearcher(spec, spec.research) if spec.research is not None else None


def _seat_of(spec: DebateSpec, research: Research) -> Seat:
    seats = [*spec.seats, *([spec.closer] if spec.closer else [])]
    model = research.model or next(
        (LIGHT_MODELS[seat.vendor] for seat in seats if seat.vendor in LIGHT_MODELS), None
    )
    if model is None:
        raise SeatError(
            "research: no seat here can search the web; name a model that can: "
            "research={'query': '...', 'model': 'openai:...'}"
        )
    prefix = model.partition(":")[0]
    if not is_api(prefix) and prefix != "cli":
        raise SeatError(
            f"research: {model!r} can't search the web; take a model of openai, anthropic, google "
            "or openrouter, or cli:claude, cli:codex or cli:gemini"
        )
    name = researcher_name(spec.seats)
    made = Seat(name, model=model, effort=research.effort or _EFFORT, account=research.account,
                timeout_s=research.timeout_s)  # fmt: skip
    # A seat of the same vendor says where that vendor is reached, and which variable has the key.
    twin = next((seat for seat in seats if seat.vendor == made.vendor), None)
    if twin is None:
        return made
    return made.model_copy(update={"base_url": twin.base_url, "api_key_env": twin.api_key_env})


def _prefix(seat: Seat) -> str:
    return seat.model.partition(":")[0]
