"""What is odd about a log: other models than those asked, events of a newer version."""

from __future__ import annotations

import pytest

import rt_notebook as rt
from tests.engine.debates import Voice, reply

SAME = [
    ("openai:gpt-4o", "gpt-4o-2024-08-06"),
    ("anthropic:claude-sonnet-latest", "claude-sonnet-4-6"),
    ("google:gemini-flash-latest", "models/gemini-2.5-flash"),
    ("openrouter:anthropic/claude-sonnet-4.5", "anthropic/claude-sonnet-4.5-20250929"),
    ("cli:claude/opus", "claude-opus-4-6"),
    ("openrouter:anthropic/claude-opus-4.6", "claude-opus-4-6"),
    ("cli:codex", "gpt-5-codex"),
    ("function:fn", None),
    ("scripted", "scripted"),
]
OTHER = [
    ("openai:big-model-5", "other-model-small"),
    ("openai:gpt-5", "gpt-4o"),
    ("cli:claude/opus", "claude-haiku-4-5"),
]


def _told(asked: str, reported: str | None) -> list[str]:
    """Returns the warnings of a debate whose log says who was asked and who answered."""
    voice = Voice(lambda call: rt.Completion(reply("opt-1"), model=reported))
    seats = [rt.Seat("pm", model=voice), rt.Seat("dev", model=Voice(reply("opt-2")))]
    made = rt.Review("Q?", options=["A", "B"], seats=seats, unattended=True).run_sync()
    for call in made.fold.calls.values():
        call.model = asked if call.seat == "pm" else call.model
    return made.warnings


@pytest.mark.parametrize(("asked", "reported"), SAME)
def test_longer_name_is_the_same_model(asked: str, reported: str | None) -> None:
    assert not any("answered" in line for line in _told(asked, reported))


@pytest.mark.parametrize(("asked", "reported"), OTHER)
def test_other_model_is_told_once(asked: str, reported: str) -> None:
    told = [line for line in _told(asked, reported) if "answered" in line]
    assert told == [f"pm: {asked} was asked, and {reported} answered"]


def test_unknown_kinds_of_event_are_told() -> None:
    seats = [
        rt.Seat("pm", model=Voice(reply("opt-1"))),
        rt.Seat("dev", model=Voice(reply("opt-2"))),
    ]
    made = rt.Review("Q?", options=["A", "B"], seats=seats, unattended=True).run_sync()
    assert made.warnings == []
    last = made.events[-1]
    for number in (1, 2):
        made.fold.apply(last._replace(seq=last.seq + number, kind="hologram", body={"x": 1}))
    assert made.warnings == [
        "events of a kind that this version doesn't know were left aside: hologram (2)"
    ]
    assert made.status == "done"
