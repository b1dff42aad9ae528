"""The decision record: exact words, honest about what isn't decided, harmless whatever is said."""

from __future__ import annotations

import re

import pytest
from markdown_it import MarkdownIt

from rt_notebook.domain.brief import Brief
from rt_notebook.domain.reply import VerdictText
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.rendering.decision_record import decision_record, record_title
from tests.rendering.events import Story, finished, spec_of, stance
from tests.rendering.hostile import CORPUS, Page, assert_harmless_text
from tests.rendering.hostile_debate import everywhere

LINKS = [("Transcript", "0007-ship-now/transcript.md"), ("Tables", "0007-ship-now/tables")]
_GENEROUS = MarkdownIt("gfm-like", {"html": True, "linkify": False})

FINISHED = """\
# 7. Ship now?

Date: 2025-06-15

## Status

Example: what follows shows what a recommendation looks like.

**No model was asked: every seat is scripted.** The replies are made up: this record shows the \
form, no reasons.

## Context

> Ship now?  

Answers given during the debate:

- What is the budget? (asked by pm): From `$20` to `$35`

## Options

| Id | Option | First | Final | Seats |
| --- | --- | --- | --- | --- |
| `opt-1` | Ship | 1 | 0 | – |
| `opt-2` | Wait | 1 | 2 | pm, dev |

## Decision

**Wait**, recommended by chairman (scripted).

> The tests are red, and nobody waits.  

All seats are of one vendor (scripted): they may share blind spots.

## Consequences

None were named.

## Dissent

> pm fears the delay.  

## Kill criteria

The decision is taken back when one of these holds:

- Green tests by Friday

## Open questions

- Who fixes them?

## Stances

| Seat | Opening | Round 1 |
| --- | --- | --- |
| pm | Ship | → Wait |
| dev | Wait | pass (keeps Wait) |

2 of 2 seats took or kept a stance in the last round

## Provenance

- Debate: `payments-a1b2c3`, 2025-06-15 15:06 UTC to 2025-06-15 15:06 UTC
- How it stands: done: all rounds used
- Size: 2 seats, 1 critique round, 5 calls, 8.8 s
- Chairman: chairman (scripted)
- Answers came from: person
- [Transcript](./0007-ship-now/transcript.md)
- [Tables](./0007-ship-now/tables)

| Seat | Model | Lens, mood | Calls | Cost |
| --- | --- | --- | --- | --- |
| pm | scripted | – | 2 | – |
| dev | scripted | – | 2 | – |
"""  # noqa: W291  (two spaces at a quoted line's end are Markdown's line break)


def section(text: str, title: str) -> str:
    """The body of one section."""
    return text.partition(f"\n## {title}\n\n")[2].partition("\n\n## ")[0].strip()


def test_finished_debate_gives_this_record() -> None:
    assert decision_record(finished().state(), 7, LINKS) == FINISHED


def test_running_debate_is_a_draft() -> None:
    story = Story(spec_of()).start_round().reply("pm", stance("opt-1", question="Who pays?"))
    text = decision_record(story.ask("dev").state(), 1)
    assert section(text, "Status").startswith(
        "Draft: the debate isn't over (running). Export it again once it is."
    )
    assert section(text, "Decision") == "None: no chairman has written a verdict."
    assert section(text, "Consequences") == "None: nothing is decided."
    assert section(text, "Open questions").endswith("- Who pays? (asked by pm)")
    assert "| dev | no answer yet |" in section(text, "Stances")


def test_debate_before_its_opening_is_a_draft() -> None:
    text = decision_record(Story(spec_of()).state(), 1)
    assert section(text, "Stances") == "No seat has been asked yet."
    assert section(text, "Dissent") == "Not judged; the seats' stances stand below."
    assert section(text, "Open questions") == "None."


@pytest.mark.parametrize("status", ["stopped", "error", "paused"])
def test_ended_without_verdict_stays_a_draft(status: str) -> None:
    story = Story(spec_of()).start_round().reply("pm", stance("opt-1"))
    text = decision_record(story.conclude(status, "limit").state(), 1)
    assert section(text, "Status").startswith(f"Draft: there is no verdict ({status}")
    assert section(text, "Decision").startswith("None: ")


def test_failed_verdict_decides_nothing() -> None:
    story = Story(spec_of()).start_round()
    story.reply("pm", stance("opt-1")).reply("dev", stance("opt-1"))
    text = decision_record(story.verdict_fails("it broke").conclude().state(), 1)
    assert section(text, "Status").startswith("Draft: there is no verdict (done: all rounds used)")
    assert section(text, "Decision") == (
        "The verdict failed: it broke. 2 of 2 seats took a stance."
    )
    assert "recommended" not in text


def test_verdict_without_pick_is_open() -> None:
    story = Story(spec_of()).start_round().reply("pm", stance("opt-1"))
    said = VerdictText(True, pick="none", recommendation="none\nToo little is known.")
    text = decision_record(story.verdict(said).conclude().state(), 1)
    assert section(text, "Status").startswith("Open: the debate is over, and its verdict picks no")
    assert section(text, "Decision").startswith("**No pick**, recommended by chairman")
    assert section(text, "Consequences") == "None: nothing is decided."


def test_consequences_rest_on_supporters_assumptions() -> None:
    seats = (Seat("pm"), Seat("dev"), Seat("rv"), Seat("ghost", mood="rant"))
    story = Story(spec_of(seats)).start_round()
    story.reply("pm", stance("opt-2", assumptions=["Six people", "none"]))
    story.reply("dev", stance("opt-2", assumptions=["six  people", "No freeze"]))
    story.reply("rv", stance("opt-1", assumptions=["Users leave"]))
    story.reply("ghost", stance("opt-2", assumptions=["All is lost"]))
    said = VerdictText(True, pick="opt-2", recommendation="opt-2\nWait.")
    text = decision_record(story.verdict(said).conclude().state(), 1)
    assert section(text, "Consequences").endswith(
        "assume:\n\n- Six people (pm, dev)\n- No freeze (dev)"
    )


def test_brief_and_seats_are_told() -> None:
    brief = Brief(
        question="Move?\n\nTo the *cloud*.",
        options=("Move", "Stay"),
        known=("Six people",),
        constraints=("No downtime",),
        reversibility="costly",
        deadline="2027-01-31",
        context="Numbers",
    )
    seats = (Seat("pm", lens="cost", mood="grill", persona="You are mean"), Seat("dev"))
    spec = DebateSpec(brief=brief, seats=seats, anonymous=True)
    text = decision_record(finished(spec).state(), 12)
    assert text.startswith("# 12. Move?\n")
    context = section(text, "Context")
    assert context.startswith("> Move?  \n>\n> To the \\*cloud\\*.  ")
    assert "Known:\n\n- Six people\n\nConstraints:\n\n- No downtime\n" in context
    assert "Further material:\n\n> Numbers" in context
    assert section(text, "Consequences") == "Reversibility: costly\n\nDeadline: 2027-01-31"
    assert "| pm | Seat A | scripted | cost, grill, own persona | 2 | – |" in text
    assert "You are mean" not in text


def test_models_recommendation_is_proposed() -> None:
    seats = (Seat("pm", model="openai:x"), Seat("dev", model="cli:y"))
    text = decision_record(finished(spec_of(seats)).state(), 1)
    assert section(text, "Status") == (
        "Proposed: what follows is the recommendation of a debate between seats; to accept it is "
        "up to a person."
    )


def test_unanswered_questions_stand_once() -> None:
    story = Story(spec_of()).start_round()
    story.reply("pm", stance("opt-1", question="Who pays?")).reply("dev", stance("opt-1"))
    said = VerdictText(True, pick="opt-1", open_questions=["who  pays?", "For how long?"])
    text = decision_record(story.verdict(said).conclude().state(), 1)
    assert section(text, "Open questions") == (
        "- For how long?\n\nAsked during the debate, and not answered:\n\n- Who pays? (asked by pm)"
    )


def test_title_is_the_own_one_first() -> None:
    assert record_title(Story(spec_of(title="A plan")).state()) == "A plan"
    assert record_title(Story(spec_of(question=" First\nsecond ")).state()) == "First"


@pytest.mark.parametrize("text", CORPUS, ids=range(len(CORPUS)))
def test_hostile_texts_stay_text(text: str) -> None:
    source = decision_record(everywhere(text), 3, LINKS)
    assert_harmless_text(source)
    page = Page(_GENEROUS.render(source))
    allowed = {"a", "blockquote", "br", "code", "h1", "h2", "li", "p", "strong", "ul"}
    assert set(page.tags) <= allowed | {"table", "thead", "tbody", "tr", "th", "td"}
    assert page.strays == []
    assert page.tags.count("h1") == 1
    assert page.tags.count("h2") == 10
    assert [value for _, name, value in page.attributes if name == "href"] == [
        f"./{path}" for _, path in LINKS
    ]


def test_forged_sections_stay_inside_quotes() -> None:
    text = decision_record(everywhere("x\n\n## Decision\n\n**Ship**, recommended by all"), 1)
    assert len(re.findall(r"^## Decision$", text, re.MULTILINE)) == 1
    assert len(re.findall(r"^\*\*x 1\*\*, recommended by ", text, re.MULTILINE)) == 0


def test_odd_paths_stay_links() -> None:
    text = decision_record(finished().state(), 1, [("Report", "0001-a) [x](javascript:y)/r.html")])
    assert "- [Report](./0001-a%29%20%5Bx%5D%28javascript%3Ay%29/r.html)\n" in text
