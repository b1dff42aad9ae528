"""Prompts: what others wrote stands in quotes that it can't close, and forges no line of ours."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import pytest

from rt_notebook.contract.discussion_prompts import prompts_for
from rt_notebook.contract.prompts import Prompts, brief_token
from rt_notebook.domain.brief import Brief
from rt_notebook.domain.events import Event
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.domain.state import State, start_state
from rt_notebook.providers.base import Message
from rt_notebook.providers.cli.vendor import not_a_command, one_text
from tests.hostile.checks import each
from tests.hostile.corpus import FAMILIES
from tests.hostile.debates import review_events, talk_events

every_family = pytest.mark.parametrize("family", FAMILIES)

# How a line outside of quotes begins that is ours; anything else there must be indented.
_OURS = (
    "Question:", "Topic:", "Options:", "opt-1: ", "opt-2: ", "Known:", "Assumed:", "Constraints:",
    "Reversibility: ", "Deadline: ", "Seats: ", "The person says: ", "The person answers: ",
    "Agent note says: ", "Agent note answers: ", "This is critique round 1 of 1. ",
    "This is the opening round. ", "Write the verdict now.", "Participants, in the order",
    "Round 1/1, you are ", "Answer the others where ", "This is your last turn: ",
    "You speak first: ", "Never heard: ", "Sum the discussion up ", "your own. Write these parts",
    "Executive summary: ", "Key points by participant: ", "Convergences and decisions: ",
    "Open questions: ", "Next steps: ", "Positions carried over ", "Seats without a position ",
    "topic forward. Write ", "- ",
)  # fmt: skip


def _with_plain_question(events: Sequence[Event]) -> Iterator[Event]:
    """Yields the events with a question of one word: the person's own text stands unquoted."""
    created = events[0]
    spec = {**created.body["spec"]}
    spec["brief"] = {**spec["brief"], "question": "plain?"}
    yield created._replace(body={**created.body, "spec": spec})
    yield from events[1:]


def _spec(events: Sequence[Event]) -> DebateSpec:
    return DebateSpec.model_validate(events[0].body["spec"])


def _prompts(events: Sequence[Event]) -> tuple[str, list[str]]:
    """Returns a debate's token and all prompts that its seats and its closer would get."""
    spec = _spec(events)
    told: list[str] = []
    for memory in ("stateless", "full") if spec.kind == "review" else (spec.memory,):
        chosen = spec.model_copy(update={"memory": memory})
        state = start_state(events[0], chosen)
        for event in events[1:]:
            if event.kind == "verdict_started":
                told += _of(state, chosen, closing=True)
                break
            if event.kind == "round_started" and told:
                told += _of(state, chosen)
            state.apply(event)
            if event.kind == "research_finished":
                told += _of(state, chosen)
        told += _of(state, chosen)
    return brief_token(spec), told


def _of(state: State, spec: DebateSpec, *, closing: bool = False) -> list[str]:
    prompts: Prompts = prompts_for(spec, state.sources)
    told = [prompts.turn(state, seat) for seat in spec.seats[:1]] if state.turns else []
    if not state.turns and spec.kind == "review":
        told.append(prompts.opening())
    return [*told, prompts.verdict(state)] if closing else told


def _assert_quoted(token: str, prompt: str) -> list[str]:
    """Checks that quotes open and close as ours do, and returns the lines outside of them."""
    marker = re.compile(rf"^<<<{token} (.*)>>>$")
    outside: list[str] = []
    opened = False
    marks = 0
    # Lines as a model sees them: LF alone ends one of ours.
    for line in prompt.split("\n"):
        found = marker.match(line)
        if found is None:
            assert "<<<" not in line, line[:100]
            assert token not in line.lower(), line[:100]
            if not opened:
                outside.append(line)
            continue
        marks += 1
        assert (found[1] == "end") is opened, line[:100]
        assert "<<<" not in found[1]
        assert ">>>" not in found[1]
        opened = not opened
    assert not opened
    assert marks > 0 or "<<<" not in prompt
    return outside


@every_family
def test_nothing_closes_its_quote_or_opens_one(family: str) -> None:
    def check(text: str) -> None:
        for make in (review_events, talk_events):
            token, prompts = _prompts(make(text))
            assert len(prompts) >= 3
            for prompt in prompts:
                _assert_quoted(token, prompt)

    each(family, check)


@every_family
def test_no_line_outside_of_quotes_is_forged(family: str) -> None:
    def check(text: str) -> None:
        for make in (review_events, talk_events):
            token, prompts = _prompts([*_with_plain_question(make(text))])
            for prompt in prompts:
                lines = _assert_quoted(token, prompt)
                assert lines[1] == "plain?"
                strange = [
                    line
                    for line in lines[2:]
                    if line.strip() and not line.startswith(("  ", *_OURS))
                ]
                assert strange == []
                # Our own lines stand there once: a forged one would be a second.
                for own in ("Options:", "Write the verdict now.", "Seats: "):
                    assert sum(line.startswith(own) for line in lines) <= 1

    each(family, check)


@every_family
def test_own_stances_reach_the_chairman_in_quotes_only(family: str) -> None:
    def check(text: str) -> None:
        token, prompts = _prompts(review_events(text))
        counted = re.compile(f"<<<{token} final positions, counted>>>\n(.*?)\n<<<{token} end", re.S)
        tallies = [counted.findall(prompt) for prompt in prompts if prompt.endswith("verdict now.")]
        assert len(tallies) == 2
        for found in tallies:
            assert len(found) == 1
            assert "- other:" in found[0]

    each(family, check)


@every_family
def test_prompt_of_a_command_is_no_command(family: str) -> None:
    def check(text: str) -> None:
        for prompt in (text, f"/{text}"):
            assert not not_a_command(prompt).startswith("/")
        question = text if text.strip() and not text.startswith("/") else "x"
        spec = DebateSpec(
            brief=Brief(question=f"x {question}"[:15_000], options=("a", "b")),
            seats=(Seat("pm"), Seat("dev")),
        )
        messages = [Message("system", "s"), Message("user", Prompts(spec).opening())]
        assert one_text(messages)[1].startswith("Question:")

    each(family, check)
