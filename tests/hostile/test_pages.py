"""HTML: notebook's result, the report as a file, a comparison, a list of sources, forms."""

from __future__ import annotations

import pytest

from rt_notebook.analysis.diff import diff
from rt_notebook.analysis.result import Result
from rt_notebook.domain.state import State
from rt_notebook.frontends.doctor_report import Finding, Report
from rt_notebook.frontends.live_notes import Note
from rt_notebook.rendering import report_html
from rt_notebook.rendering.markup import (
    BLOCK_TAGS,
    INLINE_TAGS,
    attribute,
    block,
    escape,
    inline,
    verbatim,
)
from rt_notebook.rendering.page import POLICY, report_page
from tests.hostile.checks import Page, assert_harmless_html, each
from tests.hostile.corpus import FAMILIES
from tests.hostile.debates import review_events, states_of

every_family = pytest.mark.parametrize("family", FAMILIES)


@every_family
def test_result_in_a_notebook_is_no_markup_but_ours(family: str) -> None:
    def check(text: str) -> None:
        assert_harmless_html(report_html(states_of(text)[1], notes=[text]))

    each(family, check)


@every_family
def test_report_as_a_file_is_one_page_that_runs_and_loads_nothing(family: str) -> None:
    def check(text: str) -> None:
        head, _, rest = report_page(states_of(text)[0]).partition("<main>")
        body, _, tail = rest.partition("</main>")
        assert POLICY in head
        assert Page(head).tags == ["html", "head", *["meta"] * 5, "title", "style", "body"]
        assert_harmless_html(body)
        assert tail.split() == ["</body>", "</html>"]

    each(family, check)


@every_family
def test_pieces_of_a_page_stay_pieces(family: str) -> None:
    def check(text: str) -> None:
        assert_harmless_html(inline(text), INLINE_TAGS)
        assert_harmless_html(block(text), BLOCK_TAGS)
        assert set(assert_harmless_html(escape(text)).tags) <= {"span"}
        assert set(assert_harmless_html(verbatim(text)).tags) <= {"span", "em"}
        page = Page(f'<p aria-label="{attribute(text)}">x</p>')
        assert [name for _, name, _ in page.attributes] == ["aria-label"]
        assert (page.tags, page.text) == (["p"], "x")

    each(family, check)


@every_family
def test_comparison_of_two_debates_is_no_markup_but_ours(family: str) -> None:
    def check(text: str) -> None:
        one, two = (_result(state, text) for state in (states_of(text)[0], states_of(text)[2]))
        assert_harmless_html(str(diff(one, two)._repr_mimebundle_()["text/html"]))

    each(family, check)


@every_family
def test_words_beside_the_live_view_are_no_markup_but_ours(family: str) -> None:
    def check(text: str) -> None:
        assert_harmless_html(Note(text)._repr_mimebundle_()["text/html"])
        report = Report((Finding("Providers", text, "ok", text, text),))
        assert_harmless_html(report._repr_html_(), frozenset({"pre", "span"}))

    each(family, check)


def _result(state: State, text: str) -> Result:
    return Result(state, review_events(text))
