"""What research brings home, whoever did it: sources with their words, and a count of searches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol
from urllib.parse import urlsplit

from rt_notebook.domain.research import MAX_SEARCHES, Source
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.usage import UNKNOWN, Usage
from rt_notebook.errors import OptionError, one_line
from rt_notebook.providers.base import Progress

__all__ = ["MAX_SEARCHES", "Found", "Searcher", "Source", "Sources", "research_prompt"]

MAX_SOURCES: Final = 40
"""Sources kept."""

EXCERPT_CHARS: Final = 2_000
"""Characters kept of a source's words."""

TITLE_CHARS: Final = 300
URL_CHARS: Final = 2_000


@dataclass(frozen=True)
class Found:
    """What research found."""

    text: str
    """The searcher's own summary."""
    sources: tuple[Source, ...] = ()
    """The pages, in the order in which they were cited."""
    searches: int = 0
    """Searches that the vendor reported."""
    usage: Usage = UNKNOWN
    """What it was billed."""
    model: str | None = None
    """The model as the vendor names it."""
    request_id: str | None = None
    """The vendor's id of the request."""


class Searcher(Protocol):
    """Somebody who looks things up."""

    seat: Seat
    """Who it is, as a seat: model, effort, account, time."""

    async def search(self, progress: Progress) -> Found:
        """Look up what the debate asks for.

        Raises:
            CallError: with its kind, when nothing came of it.
            UsageError: it can't search.
        """
        ...


def research_prompt(query: str, max_searches: int) -> str:
    """Return what the searcher is asked: the query, and nothing of the debate.

    Raises:
        OptionError: the query is empty, or the number of searches is out of bounds.
    """
    if not query.strip():
        raise OptionError("research: the query is empty; say what to look up")
    if not 1 <= max_searches <= MAX_SEARCHES:
        raise OptionError(
            f"research: max_searches={max_searches}: a number from 1 to {MAX_SEARCHES} is needed"
        )
    searches = "one search" if max_searches == 1 else f"at most {max_searches} searches"
    return (
        f"Search the web with {searches} and report what you find about the question below. "
        "Keep to facts that a source states, cite each source, and say where sources disagree "
        "or say nothing. Give no advice.\n\n"
        f"Question:\n{query.strip()}"
    )


class Sources:
    """Collects sources: each page once, web addresses only, bounded in number and size."""

    def __init__(self) -> None:
        self._found: dict[str, Source] = {}

    def add(self, url: object, title: object = "", excerpt: object = "") -> None:
        """Take a page; what comes later about the same page fills in what is missing."""
        address = _address(url)
        if address is None or (address not in self._found and len(self._found) >= MAX_SOURCES):
            return
        old = self._found.get(address, Source("", address))
        name = one_line(title, TITLE_CHARS) if isinstance(title, str) else ""
        words = excerpt.strip()[:EXCERPT_CHARS] if isinstance(excerpt, str) else ""
        self._found[address] = Source(old.title or name, address, old.excerpt or words)

    def all(self) -> tuple[Source, ...]:
        """Return the pages."""
        return tuple(
            source
            if source.title
            else Source(urlsplit(source.url).netloc, source.url, source.excerpt)
            for source in self._found.values()
        )


def _address(url: object) -> str | None:
    # Sources become links in people's notebooks, so that nothing but the web may stand in one.
    if not isinstance(url, str) or len(url) > URL_CHARS or not url.isprintable():
        return None
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return None
    return url.strip() if parts.scheme in ("http", "https") and parts.netloc else None
