"""Research by a vendor's command, with the web search that the command has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from rt_notebook.domain.research import RESEARCH
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.usage import UNKNOWN
from rt_notebook.errors import SeatError
from rt_notebook.providers.base import Call, Message, Progress
from rt_notebook.providers.cli.provider import CliProvider, check_seat
from rt_notebook.providers.consents import Consents
from rt_notebook.providers.policies import complete_bounded
from rt_notebook.providers.research import Found, Sources, research_prompt

_FORM: Final = """

End with the line SOURCES: and below it a line for each page you used, in this form:
- [its title](its address): the words of the page that count"""

_HEADER: Final = re.compile(r"(?m)^[#*_ \t]*SOURCES[*_ \t]*:[*_ \t]*$")
_LINK: Final = re.compile(r"\[([^\]\n]{1,300})\]\((https?://[^\s()]{1,1900}(?:\([^\s()]*\))?)\)")
_BARE: Final = re.compile(r"https?://[^\s<>()\[\]\"']{1,1900}")


class CliSearcher:
    """A vendor's command as a searcher.

    Args:
        seat: who searches.
        consents: what the person agreed to.
    """

    def __init__(self, seat: Seat, consents: Consents) -> None:
        self._seat = seat
        self._consents = consents

    def check_search(self) -> None:
        """Check, before any call, that the command is there and can search.

        Raises:
            SeatError: it isn't, or can't.
        """
        provider = check_seat(self._seat, consents=self._consents)
        _check_tools(provider)

    async def search(self, query: str, max_searches: int, seat: Seat, progress: Progress) -> Found:
        """Return what the command's web search finds; only the query goes out.

        Args:
            query: what to look up.
            max_searches: bound of the searches.
            seat: effort and time.
            progress: told the characters so far.

        Raises:
            CallError: it failed, or went on searching beyond its bound.
            SeatError: the command can't search.
        """
        provider = CliProvider.of_seat(self._seat, consents=self._consents)
        _check_tools(provider)
        prompt = research_prompt(query, max_searches) + _FORM
        settings = {"effort": seat.effort, "max_searches": max_searches}
        call = Call([Message("user", prompt)], seat.name, 0, RESEARCH, settings, (), seat.timeout_s)
        answer = await complete_bounded(provider, call, progress)
        text, sources = read_sources(answer.text)
        usage = answer.usage or UNKNOWN
        searches = len(answer.tool_calls)
        return Found(text, sources.all(), searches, usage, answer.model, answer.request_id)


def read_sources(text: str) -> tuple[str, Sources]:
    """Return an answer without its list of sources, and the sources.

    Where the list is missing, the links in the text are taken.
    """
    header = next(iter([*_HEADER.finditer(text)][-1:]), None)
    report = text if header is None else text[: header.start()]
    listed = text if header is None else text[header.end() :]
    found = Sources()
    for line in listed.splitlines():
        for title, url, words in _in_line(line):
            found.add(url, title, words if header is not None else "")
    return report.strip(), found


def _in_line(line: str) -> Iterator[tuple[str, str, str]]:
    links = list(_LINK.finditer(line))
    for link in links:
        yield link[1], link[2], line[link.end() :].lstrip(" :–—-")
    if not links:
        for url in _BARE.findall(line):
            yield "", url.rstrip(".,;:"), ""


def _check_tools(provider: CliProvider) -> None:
    if not provider.vendor.search_tools:
        raise SeatError(
            f"research: cli:{provider.vendor.name} has no web search that it could be told to use; "
            "take cli:claude, cli:codex, cli:gemini or a model API"
        )
