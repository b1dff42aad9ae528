"""What must hold of everything that is shown, whatever a text holds; `rendering.hostile` has more.

Each check takes what came out, and fails with the piece that got through.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, Final

import mistune
from markdown_it import MarkdownIt

from tests.hostile.corpus import FAMILIES
from tests.rendering.hostile import Page, assert_harmless_html, assert_harmless_text

# Our own colours: SGR and nothing else.
_STYLING: Final = re.compile(r"\x1b\[[0-9;]*m")
# Two readers of Markdown, as generous as the places that show it: HTML, tables, bare links.
_ONE: Final = MarkdownIt("gfm-like", {"html": True, "linkify": False})
_HARMLESS_TAGS: Final = frozenset(
    [
        *("p", "blockquote", "br", "code", "strong", "em", "ul", "ol", "li", "a"),
        *("table", "thead", "tbody", "tr", "th", "td", "h1", "h2", "h3", "h4"),
    ]
)
_LINK: Final = re.compile(r"\./[a-z0-9%/.-]+")

__all__ = ["Page", "assert_harmless_html", "assert_harmless_text"]


@cache
def _other_reader() -> Any:
    return mistune.create_markdown(
        escape=False, plugins=["table", "strikethrough", "footnotes", "task_lists", "url", "math"]
    )


def each(family: str, check: Callable[[str], None]) -> None:
    """Runs a check over a family's texts, and names every one that got through."""
    through = []
    for text in FAMILIES[family]:
        try:
            check(text)
        except AssertionError as error:
            through.append(f"{text[:80]!r}: {str(error)[:300]}")
    assert not through, "\n".join([f"{len(through)} of {family} got through", *through])


def assert_terminal(written: str) -> None:
    """Checks what is written to a terminal: after our own colours nothing acts."""
    assert_harmless_text(_STYLING.sub("", written))


def assert_markdown(source: str, own: Iterable[str], *, twice: bool = False) -> None:
    """Checks Markdown: none of its texts becomes markup, and none adds a heading.

    Args:
        source: what came out.
        own: the headings' beginnings that are ours.
        twice: read it by a second reader as well, which takes long.
    """
    assert_harmless_text(source)
    environment: dict[str, Any] = {}
    tokens = _ONE.parse(source, environment)
    pages = [str(_ONE.renderer.render(tokens, _ONE.options, environment))]
    for rendered in [*pages, *([str(_other_reader()(source))] if twice else [])]:
        page = Page(rendered)
        assert set(page.tags) <= _HARMLESS_TAGS, set(page.tags) - _HARMLESS_TAGS
        assert page.strays == []
        for tag, name, value in page.attributes:
            if tag == "a":
                assert (name, _LINK.fullmatch(value) is not None) == ("href", True), value
            else:
                assert (tag, name) == ("ol", "start"), (tag, name, value)
    ours = tuple(own)
    found = [
        f"{token.tag} {tokens[place + 1].content}"
        for place, token in enumerate(tokens)
        if token.type == "heading_open"
    ]
    assert [heading for heading in found if not heading.startswith(ours)] == []
