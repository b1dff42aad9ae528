"""Markdown: the result where no HTML is shown, the decision record, the transcript."""

from __future__ import annotations

import pytest

from rt_notebook.rendering import report_markdown
from rt_notebook.rendering.decision_record import decision_record
from rt_notebook.rendering.full_transcript import full_transcript
from rt_notebook.rendering.markup import (
    markdown_escape,
    markdown_points,
    markdown_quote,
    markdown_strong,
)
from tests.hostile.checks import assert_markdown, each
from tests.hostile.corpus import FAMILIES
from tests.hostile.debates import states_of

every_family = pytest.mark.parametrize("family", FAMILIES)


@every_family
def test_pieces_stay_text_in_every_place(family: str) -> None:
    def check(text: str) -> None:
        line = markdown_escape(text)
        places = [f"- {line}", f"| {line} | {line} |", markdown_strong(text), f"# {line}", line]
        places += [f"x {line}", markdown_quote(text), markdown_points(f"- {text[:2_000]}")]
        assert_markdown("\n\n".join(places), ["h1"], twice=family != "giants")

    each(family, check)


@every_family
def test_result_without_html_adds_nothing_of_its_texts(family: str) -> None:
    def check(text: str) -> None:
        talk, failed = states_of(text)[1:]
        own = ["h4 Summary", "h4 The person", "h4 Agent note", "h4 Failed turns", "h4 Warnings"]
        own += ["h4 Sources found on the web", "h4 Sources"]
        own += [f"h4 {markdown_escape(seat.name)} (Round" for seat in talk.spec.seats]
        assert_markdown(report_markdown(talk, notes=[text]), own)
        assert_markdown(report_markdown(failed), ["h4 Verdict", "h4 Stances", "h4 Failed turns"])

    each(family, check)


@every_family
def test_decision_record_adds_nothing_of_its_texts(family: str) -> None:
    def check(text: str) -> None:
        sections = (
            "Status", "Context", "Options", "Decision", "Consequences", "Dissent", "Kill criteria",
            "Open questions", "Stances", "Provenance",
        )  # fmt: skip
        links = [("Transcript", "0001-x/transcript.md")]
        record = decision_record(states_of(text)[0], 1, links)
        assert_markdown(record, ["h1 1. ", *(f"h2 {name}" for name in sections)])
        assert record.count("\n## ") == len(sections)

    each(family, check)


@every_family
def test_transcript_adds_nothing_of_its_texts(family: str) -> None:
    def check(text: str) -> None:
        state = states_of(text)[0]
        own = ["h1 Transcript: ", "h2 Brief", "h2 Opening", "h2 Round 1", "h2 Verdict"]
        own += ["h3 Questions to you"]
        own += [f"h3 {markdown_escape(seat.name)}" for seat in state.spec.seats]
        assert_markdown(full_transcript(state), own)

    each(family, check)
