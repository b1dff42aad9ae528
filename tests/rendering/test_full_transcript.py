"""The transcript: everything that was said, in order, word for word, and nothing that acts."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from rt_notebook.domain.reply import Reply
from rt_notebook.rendering.full_transcript import full_transcript
from tests.rendering.events import Story, finished, spec_of, stance
from tests.rendering.hostile import CORPUS, HTML, Page, assert_harmless_text
from tests.rendering.hostile_debate import everywhere

_GENEROUS = MarkdownIt("gfm-like", {"html": True, "linkify": False})


def test_finished_debate_is_told_in_order() -> None:
    text = full_transcript(finished().state())
    lines = [line for line in text.split("\n") if line.startswith("#")]
    assert lines == [
        "# Transcript: Ship now?",
        "## Brief",
        "## Opening",
        "### pm: Ship",
        "### dev: Wait",
        "### Questions to you: answered by a person",
        "## Round 1",
        "### pm: Wait",
        "### dev: pass",
        "## Verdict",
    ]
    assert "- What is the budget? (asked by pm)\n\n> From `$20` to `$35`  \n" in text
    assert "> Wait  \n> The tests are red, and nobody waits.  \n" in text


def test_failures_and_unreadable_replies_are_told() -> None:
    story = Story(spec_of()).start_round()
    story.reply("pm", Reply(errors=["no STANCE line"], raw="Ship it")).fails("dev")
    text = full_transcript(story.interrupt().state())
    assert "### pm: not readable\n\n> Ship it  \n\nNot readable: no STANCE line\n" in text
    assert "### dev: failed, timeout\n\nno answer in 300 s\n" in text
    assert "## Verdict" not in text


def test_running_debate_says_so() -> None:
    text = full_transcript(Story(spec_of()).start_round().ask("pm").state())
    assert "The debate isn't over: this is what was said so far." in text
    assert "### pm: no answer yet" in text


@pytest.mark.parametrize("text", HTML)
def test_replies_show_every_character(text: str) -> None:
    state = Story(spec_of()).start_round().reply("pm", stance("opt-1", text)).state()
    page = Page(_GENEROUS.render(full_transcript(state)))
    assert " ".join(text.split()) in " ".join(page.text.split())


def test_long_replies_are_whole() -> None:
    said = "word " * 40_000
    state = Story(spec_of()).start_round().reply("pm", stance("opt-1", said)).state()
    assert full_transcript(state).count("word") == 40_000


@pytest.mark.parametrize("text", CORPUS, ids=range(len(CORPUS)))
def test_hostile_texts_stay_text(text: str) -> None:
    source = full_transcript(everywhere(text))
    assert_harmless_text(source)
    page = Page(_GENEROUS.render(source))
    assert set(page.tags) <= {
        "blockquote", "br", "code", "em", "h1", "h2", "h3", "li", "p", "strong", "ul",
    }  # fmt: skip
    assert page.strays == []
    assert page.tags.count("h2") == 4
    assert page.tags.count("h3") == 5
