"""Research before a debate: what is to be looked up, and what was found; knows no searcher."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal

from pydantic import field_validator

from rt_notebook.domain.normal import normal_form
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.values import Value
from rt_notebook.errors import OptionError

_LONGEST_S: Final = 1e15
MAX_SEARCHES: Final = 10
"""Searches that research may make at most."""

MAX_QUERY: Final = 2_000
"""Characters of a query."""

RESEARCH: Final = "research"
"""The purpose of the searcher's call."""

RESEARCHER: Final = "researcher"
"""The name under which the searcher's call stands."""


class Research(Value):
    """What is to be looked up, by whom and within which bounds.

    Raises:
        OptionError: a field breaks its rule.
    """

    noun: ClassVar[str] = "research"

    query: str
    """What to look up; the only thing of the debate that the searcher is told."""
    max_searches: int = 4
    """Searches at most, 1 to 10."""
    timeout_s: float = 120.0
    """Seconds it may take."""
    model: str | None = None
    """Who searches; None: the lightest model of the first seat's vendor that can."""
    effort: Literal["low", "medium", "high"] | None = None
    """Reasoning effort; None: low."""
    account: str | None = None
    """A named account of a vendor's command; None: the default login."""

    @field_validator("query")
    @classmethod
    def _query(cls, value: str) -> str:
        query = value.strip()
        if not 1 <= len(query) <= MAX_QUERY:
            raise OptionError(
                f"research: the query has {len(query):,} characters; 1 to {MAX_QUERY:,} are "
                "allowed",
                option=RESEARCH,
            )
        return query

    @field_validator("max_searches")
    @classmethod
    def _searches(cls, value: int) -> int:
        if not 1 <= value <= MAX_SEARCHES:
            raise OptionError(
                f"research: max_searches={value}: 1 to {MAX_SEARCHES} are allowed", option=RESEARCH
            )
        return value

    @field_validator("timeout_s")
    @classmethod
    def _time(cls, value: float) -> float:
        if not 0 < value <= _LONGEST_S:
            raise OptionError(
                f"research: timeout_s={value!r}: a number above 0 is needed", option=RESEARCH
            )
        return value


@dataclass(frozen=True)
class Source:
    """A page that research found."""

    title: str
    """What it is called; its host where nobody says."""
    url: str
    """Where it is; always http or https."""
    excerpt: str = ""
    """The words that count."""

    def to_json(self) -> dict[str, str]:
        """Return it as a dict."""
        return {"title": self.title, "url": self.url, "excerpt": self.excerpt}


def sources_of(found: Iterable[Mapping[str, Any]]) -> tuple[Source, ...]:
    """Return the sources that `to_json` wrote."""
    return tuple(
        Source(str(item["title"]), str(item["url"]), str(item.get("excerpt", ""))) for item in found
    )


def as_research(given: object) -> object:
    """Return what `research=` was given as the fields of `Research`: a text is the query."""
    return {"query": given} if isinstance(given, str) else given


def researcher_name(seats: Iterable[Seat]) -> str:
    """Return the name of the searcher; no seat has it."""
    taken = {normal_form(seat.name) for seat in seats}
    return f"{RESEARCHER} ({RESEARCH})" if RESEARCHER in taken else RESEARCHER
