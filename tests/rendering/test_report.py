from __future__ import annotations

import re

import pytest

from rt_notebook.domain.reply import Reply, VerdictText
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.state import State
from rt_notebook.rendering import report_html, report_markdown, report_text, summary_line
from tests.rendering.events import Story, finished, spec_of, stance
from tests.rendering.hostile import Page

BANNER = "No model was asked: every seat is scripted"


def answer(call: object) -> str:
    return "PASS"


def three_ways(state: State) -> list[str]:
    """The report in all its forms, as a reader sees their words."""
    return [
        Page(report_html(state)).text,
        report_markdown(state).replace("\\", ""),
        " ".join(report_text(state, width=200).split()),
    ]


def test_every_form_tells_the_whole_debate() -> None:
    for shown in three_ways(finished().state()):
        for words in (
            "Ship now?",
            "done: all rounds used",
            "2 seats",
            "1 critique round",
            "5 calls",
            "by chairman (scripted)",
            "The tests are red, and nobody waits.",
            "pm fears the delay.",
            "Green tests by Friday",
            "Who fixes them?",
            "What is the budget?",
            "2 of 2 seats took or kept a stance in the last round",
            "All seats are of one vendor (scripted)",
            "result.replies",
        ):
            assert words in shown
        assert re.search(r"From `?\$20`? to `?\$35", shown)


def test_scripted_debates_carry_a_banner() -> None:
    with_function = spec_of((Seat("pm"), Seat("dev", model=answer)))
    for shown in three_ways(finished().state()):
        assert BANNER in shown
        assert "To ask somebody, name a model" in shown
    for shown in three_ways(finished(with_function).state()):
        assert BANNER not in shown
        assert "one vendor" not in shown


def test_failed_verdict_shows_only_the_failure() -> None:
    story = Story(spec_of()).start_round()
    story.reply("pm", stance("opt-1")).fails("dev")
    state = story.verdict_fails("no answer in 300 s").conclude().state()
    section = Page(report_html(state).split(">Verdict<")[1].split(">Tally<")[0]).text
    assert "The verdict failed: no answer in 300 s. 1 of 2 seats took a stance." in section
    assert "Ship" not in section
    for shown in three_ways(state):
        assert "Dissent" not in shown
        assert f"%roundtable verdict {state.id}" in shown
        assert "without a stance: dev" in shown
        assert "timeout: no answer in 300 s" in shown


def test_interrupted_debates_say_how_to_resume() -> None:
    story = Story(spec_of()).start_round().reply("pm", stance("opt-1")).ask("dev")
    state = story.interrupt().state()
    for shown in three_ways(state):
        assert f"%roundtable resume {state.id}" in shown
        assert "1 finished call kept" in shown
        assert "no answer yet" in shown
        assert "Latest" in shown or "latest" in shown
        assert "Verdict" not in shown


def test_stance_table_marks_changes_and_passes() -> None:
    markup = report_html(finished().state())
    table = markup.split("Stances by round")[1].split("</table>")[0]
    rows = [Page(row).text for row in table.split("<tr")[2:]]
    assert [" ".join(row.split(">", 1)[-1].split()) for row in rows] == [
        "pmShip→ Wait changed",
        "devWaitpass (keeps Wait)",
    ]


def test_tally_counts_first_and_final() -> None:
    lines = report_markdown(finished().state())
    assert "| Ship | 1 | 0 | – |" in lines
    assert "| Wait | 1 | 2 | pm, dev |" in lines


def test_own_stances_join_under_one_label() -> None:
    story = Story(spec_of()).start_round()
    story.reply("pm", stance("other: Sell it")).reply("dev", stance("other:  sell  IT"))
    assert "| other: Sell it | 2 | 2 | pm, dev |" in report_markdown(story.state())


def test_hidden_seats_are_marked_and_not_counted() -> None:
    spec = spec_of((Seat("pm"), Seat("dev"), Seat("ghost", mood="rant")))
    story = Story(spec).start_round().reply("pm", stance("opt-1")).reply("dev", stance("opt-1"))
    state = story.reply("ghost", stance("opt-2", question="Why?")).state()
    assert "| Wait | 0 | 0 | – |" in report_markdown(state)
    for shown in three_ways(state):
        assert "not counted: ghost" in shown
        assert "asked by an unnamed voice" in shown


def test_anonymous_debates_give_the_key() -> None:
    for shown in three_ways(finished(spec_of(anonymous=True)).state()):
        assert re.search(r"Seat A = (\*\*)?pm", shown)
        assert re.search(r"Seat B = (\*\*)?dev", shown)


def test_gates_show_what_stayed_unanswered() -> None:
    story = Story(spec_of()).start_round()
    story.reply("pm", stance("opt-1", question="Which budget?")).passes("dev")
    for shown in three_ways(story.gate(why="timeout").state()):
        assert "Which budget?" in shown
        assert "asked by pm" in shown
        assert "not answered" in shown


def test_free_messages_are_part_of_the_story() -> None:
    story = Story(spec_of()).start_round().reply("pm", stance("opt-1")).passes("dev")
    for shown in three_ways(story.gate(message="Speed matters", mode="checkpoint").state()):
        assert "Free message" in shown
        assert "Speed matters" in shown


def test_questions_without_a_gate_stay_listed() -> None:
    story = Story(spec_of(rounds=0)).start_round()
    story.reply("pm", stance("opt-1", question="Which budget?")).passes("dev")
    for shown in three_ways(story.conclude().state()):
        assert shown.count("Which budget?") == (2 if "Asks you" in shown else 1)


def test_unreadable_replies_keep_their_text() -> None:
    story = Story(spec_of()).start_round().passes("dev")
    broken = Reply(errors=["no STANCE line"], raw="I would rather not say")
    markup = report_html(story.reply("pm", broken).state())
    shown = Page(markup).text
    assert "not readable" in shown
    assert "no STANCE line" in shown
    assert "I would rather not say" in shown


def test_unreadable_replies_are_listed_with_what_they_lack() -> None:
    story = Story(spec_of()).start_round().passes("dev")
    errors = ["STANCE is missing: write one of opt-1, opt-2", "NEW is missing: write `NEW:`"]
    state = story.reply("pm", Reply(errors=errors, raw="I would rather not say")).state()
    for shown in three_ways(state):
        assert "in the opening: not readable: STANCE is missing; NEW is missing" in shown.replace(
            "pm, the",
            "pm in the",  # Markdown's way
        )


def test_no_pick_is_said_plainly() -> None:
    story = (
        Story(spec_of()).start_round().reply("pm", stance("opt-1")).reply("dev", stance("opt-2"))
    )
    verdict = VerdictText(True, pick="none", recommendation="none\nIt is a draw.")
    for shown in three_ways(story.verdict(verdict).conclude().state()):
        assert "No pick" in shown
        assert "It is a draw." in shown


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("consensus", "everybody agrees"),
        ("nothing_new", "every seat passed: nothing new"),
        ("loop", "the seats repeated themselves"),
        ("limit", "a budget was reached (max_calls: 5)"),
        ("clock", "the time limit was reached"),
        ("finished", "finished early on request"),
    ],
)
def test_every_ending_has_its_words(reason: str, words: str) -> None:
    story = Story(spec_of()).start_round().passes("pm").passes("dev")
    if reason == "limit":
        story.add("limit_reached", limit="max_calls", used=4, bound=5)
    for shown in three_ways(story.conclude(stop_reason=reason).state()):
        assert f"done: {words}" in shown


def test_variable_and_notes_are_named() -> None:
    state = finished().state()
    for report in (report_html, report_markdown, report_text):
        shown = report(state, variable="payments", notes=["Two seats are alike"])
        assert "payments.replies" in shown
        assert "Two seats are alike" in shown


def test_tokens_that_nobody_reported_are_missing() -> None:
    story = Story(spec_of()).start_round()
    story.reply("pm", stance("opt-1"), {"prompt_tokens": 1_200, "completion_tokens": 0})
    shown = report_html(story.reply("dev", stance("opt-2")).state())
    rows = shown[shown.index("Usage by seat") :].split("<tr")
    counts = {name: next(row for row in rows if f"{name}</" in row) for name in ("pm", "dev")}
    assert re.findall(r">(1,200|0|–)<", counts["pm"]) == ["1,200", "0", "–"]
    assert re.findall(r">(1,200|0|–)<", counts["dev"]) == ["–", "–", "–"]


def test_usage_and_cost_appear_when_known() -> None:
    story = Story(spec_of()).start_round()
    story.reply("pm", stance("opt-1"), {"prompt_tokens": 1_200, "completion_tokens": 34})
    shown = Page(report_html(story.state())).text
    assert "1,234 tokens" in shown
    assert "$" not in shown


def test_tables_have_scoped_headers() -> None:
    page = Page(report_html(finished().state()))
    scopes = [value for tag, name, value in page.attributes if (tag, name) == ("th", "scope")]
    assert len(scopes) == page.tags.count("th")
    assert set(scopes) == {"col", "row"}


def test_styles_survive_untrusted_notebooks() -> None:
    """JupyterLab's sanitiser drops these values, and with them what the report relies on."""
    page = Page(report_html(finished().state()))
    styles = [value for _, name, value in page.attributes if name == "style"]
    for style in styles:
        assert not re.search(r"var\(|currentColor|inherit|!important|anywhere|unset", style)
        assert all(re.fullmatch(r"[a-z-]+:[^:]+", part) for part in style.split(";"))


def test_no_text_colour_outside_filled_chips() -> None:
    page = Page(report_html(finished().state()))
    colored = [style for _, name, style in page.attributes if re.search(r"(^|;)color:", style)]
    assert len(colored) == 1
    assert re.search(r"background:#\w{6};color:#(000000|FFFFFF)", colored[0])


def test_largest_debates_stay_readable_in_size() -> None:
    spec = spec_of(tuple(Seat(f"seat {n}") for n in range(26)), rounds=20)
    story = Story(spec)
    for _ in range(21):
        story.start_round()
        for seat in spec.seats:
            story.reply(seat.name, stance("opt-1", "word " * 20_000))
    assert len(report_html(story.state())) < 3_000_000


def test_summary_line_tells_where_it_stands() -> None:
    assert summary_line(finished().state()) == (
        "payments-a1b2c3  done: all rounds used -> Wait  Ship now?"
    )
    started = Story(spec_of(question="A question " * 30)).start_round().state()
    assert summary_line(started, 60).endswith("…")
    assert summary_line(started, 60).startswith("payments-a1b2c3  running  A question")
