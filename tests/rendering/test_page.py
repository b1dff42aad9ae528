"""The HTML report as a page of its own: complete, quiet, and safe."""

from __future__ import annotations

import re

import pytest

from rt_notebook.rendering.page import POLICY, report_page
from rt_notebook.rendering.report import report_html
from tests.rendering.events import Story, finished, spec_of
from tests.rendering.hostile import CORPUS, Page, assert_harmless_html
from tests.rendering.hostile_debate import everywhere

_BODY = re.compile(r"<main>\n(.*)\n</main>\n</body>\n</html>\n\Z", re.DOTALL)


def body_of(markup: str) -> str:
    found = _BODY.search(markup)
    assert found is not None
    return found[1]


def test_page_holds_the_report() -> None:
    state = finished().state()
    page = report_page(state)
    assert body_of(page) == report_html(state, variable='rt.load("payments-a1b2c3")')
    assert page.startswith("<!DOCTYPE html>\n<html lang")
    assert "<title>Ship now?</title>" in page
    assert f'http-equiv="Content-Security-Policy" content="{POLICY}"' in page
    assert "prefers-color-scheme: dark" in page


def test_page_loads_and_runs_nothing() -> None:
    page = report_page(finished().state())
    assert not re.search(r"<script|<link|<img|<iframe|\bsrc=|url\(|@import|https?://", page)


def test_running_debate_has_a_page() -> None:
    page = report_page(Story(spec_of()).start_round().ask("pm").state())
    assert "running" in Page(body_of(page)).text


@pytest.mark.parametrize("text", CORPUS, ids=range(len(CORPUS)))
def test_hostile_texts_stay_text(text: str) -> None:
    markup = report_page(everywhere(text))
    assert_harmless_html(body_of(markup))
    head = Page(markup[: markup.index("<main>")])
    assert head.tags == [
        "html", "head", "meta", "meta", "meta", "meta", "meta", "title", "style", "body",
    ]  # fmt: skip
    assert {name for _, name, _ in head.attributes} == {
        "lang",
        "charset",
        "http-equiv",
        "content",
        "name",
    }
