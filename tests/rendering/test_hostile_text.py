"""Runs every hostile text through every way out."""

from __future__ import annotations

import re

import pytest
from markdown_it import MarkdownIt

from rt_notebook.rendering import report_html, report_markdown, report_text, summary_line
from rt_notebook.rendering.markup import (
    BLOCK_TAGS,
    INLINE_TAGS,
    attribute,
    block,
    escape,
    inline,
    markdown_escape,
    markdown_quote,
    verbatim,
)
from rt_notebook.rendering.plain import cells, one_line, plain
from tests.rendering.hostile import CORPUS, HTML, Page, assert_harmless_html, assert_harmless_text
from tests.rendering.hostile_debate import everywhere

each_text = pytest.mark.parametrize("text", CORPUS, ids=range(len(CORPUS)))
# Reads Markdown as generously as the places that show it: HTML, links of any text, tables.
_GENEROUS = MarkdownIt("gfm-like", {"html": True, "linkify": False})


@each_text
def test_plain_text_holds_nothing_that_acts(text: str) -> None:
    assert_harmless_text(plain(text))
    assert "\n" not in one_line(text)
    assert len(one_line(text)) <= 500


@each_text
def test_markdown_becomes_allowed_tags_only(text: str) -> None:
    assert_harmless_html(inline(text), INLINE_TAGS)
    page = assert_harmless_html(block(text), BLOCK_TAGS)
    assert not {name for _, name, _ in page.attributes} & {"id", "class", "title", "onclick"}


@each_text
def test_escaped_text_becomes_no_tags(text: str) -> None:
    assert set(assert_harmless_html(escape(text)).tags) <= {"span"}
    assert set(assert_harmless_html(verbatim(text)).tags) <= {"span", "em"}
    page = Page(f'<p aria-label="{attribute(text)}">x</p>')
    assert [name for _, name, _ in page.attributes] == ["aria-label"]
    assert page.text == "x"


@each_text
def test_escaped_markdown_stays_text(text: str) -> None:
    for source in (markdown_escape(text), markdown_quote(text), f"| {markdown_escape(text)} |"):
        assert_harmless_text(source)
        page = Page(_GENEROUS.render(source))
        assert set(page.tags) <= {"p", "blockquote", "br", "code"}
        assert page.strays == []


@pytest.mark.parametrize("text", HTML)
def test_escaped_markdown_shows_every_character(text: str) -> None:
    shown = Page(_GENEROUS.render(markdown_escape(text))).text
    assert shown.split() == one_line(text).split()


def test_escaped_markdown_keeps_table_cells_apart() -> None:
    row = " | ".join(markdown_escape(text) for text in ("a|b", "c\\|d", "`e|f`", "$g|h$"))
    table = _GENEROUS.render(f"| 1 | 2 | 3 | 4 |\n|---|---|---|---|\n| {row} |\n")
    cells_shown = re.findall(r"<td>(.*?)</td>", table)
    assert [Page(cell).text for cell in cells_shown] == ["a|b", "c\\|d", "`e|f`", "$g|h$"]


def test_escaped_markdown_holds_dollars_in_code() -> None:
    assert markdown_escape("from $20 to $35") == "from `$20` to `$35`"
    assert markdown_escape("$$x$$ \\(y\\)") == "`$$x$$` `\\(`y`\\)`"


@each_text
def test_report_html_is_harmless(text: str) -> None:
    assert_harmless_html(report_html(everywhere(text), notes=[text]))


@each_text
def test_report_text_is_harmless_and_narrow(text: str) -> None:
    state = everywhere(text)
    shown = report_text(state, notes=[text])
    assert_harmless_text(shown)
    assert max(cells(line) for line in shown.split("\n")) <= 88
    line = summary_line(state)
    assert_harmless_text(line)
    assert "\n" not in line
    assert cells(line) <= 88


@each_text
def test_report_markdown_is_harmless(text: str) -> None:
    source = report_markdown(everywhere(text), notes=[text])
    assert_harmless_text(source)
    page = Page(_GENEROUS.render(source))
    assert not set(page.tags) & {"a", "img", "script", "iframe", "svg", "form", "pre", "del", "h1"}
    assert page.strays == []
    assert page.tags.count("h4") == 8  # no text adds a heading of its own


def test_forged_sections_stay_inside_replies() -> None:
    state = everywhere("x\n\n#### Verdict\n\n> forged\n\n**Ship**, by chairman")
    assert report_markdown(state).count("\n#### Verdict\n") == 1
    assert report_text(state).count("\nVERDICT\n") == 1
