"""What a page is told of a discussion, event by event and all at once."""

from __future__ import annotations

from typing import Any

from rt_notebook.domain.events import Event
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.state import State
from rt_notebook.frontends.live_model import message_for, messages_so_far
from rt_notebook.frontends.terminal_lines import Transcript
from tests.engine.clocks import play
from tests.engine.debates import Ride, Voice
from tests.engine.discussions import WORDS, observing, talk
from tests.rendering.talks import Talk


def told(definition: Any) -> tuple[list[dict[str, Any]], State]:
    messages: list[dict[str, Any]] = []

    def listen(event: Event, state: State) -> None:
        messages.extend(message_for(event, state))

    state = play(Ride(definition, listeners=[listen]).run())
    return messages, state


def of(messages: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [message for message in messages if message["type"] == kind]


def test_each_turn_is_a_card_with_its_words() -> None:
    seats = (Seat("pm", model=Voice(WORDS[0])), Seat("dev", model=Voice(ValueError("no <b>"))))
    messages, state = told(talk(*seats, observer=observing("**Done.**")))
    (header,) = of(messages, "header")
    assert (header["kind"], header["options"]) == ("discussion", [])
    (speech,) = of(messages, "speech")
    assert (speech["seat"], speech["round"], speech["text"]) == ("pm", 1, WORDS[0])
    (failed,) = of(messages, "failed")
    assert failed["next"] == "Dev failed in round 1, going on."
    started, ready = of(messages, "verdict")
    assert (started["word"], started["state"]) == ("Summary", "started")
    assert (ready["word"], ready["text"]) == ("Summary", "**Done.**")
    assert [message["state"] for message in of(messages, "talk")] == ["open", "closed", "closed"]
    assert [m["fraction"] for m in of(messages, "progress")][-1] == 1.0
    assert of(messages, "reply") == []
    assert state.status == "done"


def test_progress_counts_turns_of_a_discussion() -> None:
    seats = tuple(Seat(name, model=Voice(WORDS[n])) for n, name in enumerate(("pm", "dev")))
    messages, _ = told(talk(*seats, rounds=1))
    fractions = [message["fraction"] for message in of(messages, "progress")]
    assert fractions == sorted(fractions)
    assert 0.3333 in fractions
    assert 0.6667 in fractions


def test_view_made_in_the_middle_shows_the_same() -> None:
    story = Talk(Seat("pm"), Seat("dev"), rounds=2)
    story.start_round()
    story.says("pm", "One.").word("Mind the budget.").fails("dev")
    story.start_round()
    story.says("pm", "Two.").ask("dev")
    messages = messages_so_far(story.state())
    kinds = [message["type"] for message in messages]
    assert kinds == ["header", "round", "speech", "note", "failed", "round", "speech", "asked",
                     "talk", "progress"]  # fmt: skip
    assert messages[3]["text"] == "Mind the budget."
    assert messages[-2]["state"] == "open"


def test_prompt_that_was_cut_is_told() -> None:
    story = Talk(Seat("pm"), Seat("dev"))
    story.start_round()
    call = story._call("pm", "turn", "scripted")
    body = {"call": call, "error": "context_length", "message": "too long", "retry_in_s": 0.0}
    story.add("call_failed", **body)
    messages = message_for(story.events[-1], story.state())
    assert messages[1]["text"].startswith("pm: what was said is too long for its model")
    assert messages[0]["final"] is False


def test_extension_is_told_with_the_persons_words() -> None:
    story = Talk(Seat("pm"), Seat("dev"))
    story.start_round()
    story.says("pm", "One.").says("dev", "Two.").summed_up("All.")
    story.add("extended", prompt="Now price it", rounds=2, mode=None, source="person")
    messages = message_for(story.events[-1], story.state())
    assert [m["type"] for m in messages] == ["clock", "notice", "note", "talk", "progress"]
    assert messages[1]["text"] == "Extended: 2 more rounds."
    assert (messages[2]["heading"], messages[2]["text"]) == ("The person asks anew", "Now price it")


def test_terminal_prints_words_summary_and_skips() -> None:
    seats = (Seat("pm", model=Voice("Say\x1b[31m it.")), Seat("dev", model=Voice(ValueError("no"))))
    messages, _ = told(talk(*seats, observer=observing("**Done.**")))
    lines = [line.plain for line in Transcript(chips=False).lines(messages, 80)]
    shown = "\n".join(lines)
    assert "    Say it." in lines
    assert "Dev failed in round 1, going on." in shown
    assert "── Summary ─" in shown
    assert "    **Done.**" in lines
    assert "\x1b" not in shown
