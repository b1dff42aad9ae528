"""Debates into which one text gets wherever a text from outside can get in, told event by event."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from rt_notebook.characters import plain
from rt_notebook.contract.prompts import brief_token
from rt_notebook.contract.reply import read_reply
from rt_notebook.contract.verdict import read_verdict
from rt_notebook.domain.brief import Brief
from rt_notebook.domain.events import Event
from rt_notebook.domain.reply import Reply, VerdictText
from rt_notebook.domain.research import Research
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.domain.state import State, fold
from rt_notebook.errors import SeatError
from tests.hostile.corpus import with_token
from tests.rendering.events import Story
from tests.rendering.talks import Talk

URL: Final = "https://a.example/?x="
"""In front of a text that stands as an address."""
_BLANK: Final = "x"
_NO_NAME: Final = frozenset(",;[](){}<>=、\uff0c")


def line_of(text: str, limit: int) -> str:
    """Returns a text on one line, nothing else changed."""
    return " ".join(text.splitlines()).strip()[:limit].strip() or _BLANK


def name_of(text: str) -> str:
    """Returns as much of a text as a seat's name may be."""
    for length in range(min(40, len(text)), 0, -1):
        try:
            return Seat(text[:length]).name
        except SeatError:
            continue
    kept = "".join(char for char in text if char.isprintable() and char not in _NO_NAME)
    try:
        return Seat(kept[:40]).name
    except SeatError:
        return "pm"


def brief_of(text: str) -> Brief:
    """Returns a brief in which the text stands in every field."""
    label = line_of(text, 180)
    return Brief(
        question=text[:15_000] if plain(text).strip() else f"x\n{text}",
        options=(f"{label}—1", f"{label}—2"),
        known=(text[:1_900], "a fact"),
        assumed=(text[:1_900],),
        constraints=(text[:1_900],),
        reversibility=line_of(text, 400),
        deadline=line_of(text, 400),
        context=text[:30_000],
    )


def seats_of(text: str) -> tuple[Seat, ...]:
    """Returns three seats; the first one's name is made from the text, one is hidden."""
    name = name_of(text)
    return (
        Seat(name, model="openai:m", lens=text[:300], persona=text[:300]),
        Seat("dev" if name.casefold() != "dev" else "dev 2", model="function:f"),
        Seat("rant one", mood="rant", lens=text[:300]),
    )


class _Told(Story):
    """A debate whose calls come back with tools and a model's name."""

    def __init__(self, spec: DebateSpec, text: str) -> None:
        Story.__init__(self, spec)  # not the discussion's, which makes a definition of its own
        self.text = text

    def add(self, kind: str, **body: Any) -> Story:
        if kind == "call_finished":
            body |= {"tool_calls": [{"name": self.text[:300], "preview": self.text}] * 2}
            body |= {"model": self.text[:300], "request_id": self.text[:300]}
        return super().add(kind, **body)


class _ToldTalk(_Told, Talk):
    """The same for a discussion."""

    def __init__(self, text: str) -> None:
        brief = brief_of(text).model_copy(update={"options": ()})
        spec = DebateSpec(
            kind="discussion",
            brief=brief,
            seats=seats_of(text),
            title=line_of(text, 190),
        )
        _Told.__init__(self, spec, text)
        self.round = 0


def _research(story: Story, text: str) -> None:
    story.add("research_started", query=text[:1_000])
    sources = [
        {"title": text[:300], "url": URL + text[:1_900], "excerpt": text[:2_000]},
        {"title": "plain", "url": text[:500], "excerpt": ""},
    ]
    story.add("research_finished", sources=sources, searches=2)


def _stance(key: str, text: str, **fields: Any) -> Reply:
    return Reply(valid=True, stance=key, stance_key=key, raw=text, **fields)


@cache
def review_events(text: str) -> tuple[Event, ...]:
    """Returns a finished review's events."""
    spec = DebateSpec(
        brief=brief_of(text),
        seats=seats_of(text),
        title=line_of(text, 190),
        research=Research(query=text[:1_000] if text.strip() else _BLANK),
    )
    text = with_token(text, brief_token(spec))
    points = [text, "plain"]
    first, second, hidden = (seat.name for seat in spec.seats)
    story = _Told(spec, text)
    _research(story, text)
    story.start_round()
    story.reply(first, _stance("opt-1", text, disagree=points, new=points, question=text))
    story.reply(second, _stance(f"other: {text}", text, agree_with=points, assumptions=points))
    story.reply(hidden, Reply(errors=points, stance=text, raw=text, question=f"{text} hidden"))
    story.gate({"q1": text}, message=text)
    story.start_round()
    said = f"STANCE: opt-2\nAGREE_WITH: {text}\nDISAGREE:\n- {text}\nNEW:\n{text}\nASSUMPTIONS: x"
    story.reply(first, read_reply(said, options=spec.brief.options, round=1))
    story.fails(second, "provider", text)
    story.passes(hidden)
    verdict = read_verdict(
        f"RECOMMENDATION: opt-1\n{text}\nDISSENT:\n- {text}\nKILL_CRITERIA:\n- {text}\n"
        f"OPEN_QUESTIONS:\n- {text}",
        options=spec.brief.options,
    )
    if not verdict.valid:
        whole = f"opt-1\n{text}"
        verdict = VerdictText(True, [], "opt-1", whole, text, points, points, raw=whole)
    return tuple(story.verdict(verdict, model="openai:m").conclude().events)


@cache
def talk_events(text: str) -> tuple[Event, ...]:
    """Returns a finished discussion's events."""
    story = _ToldTalk(text)
    text = with_token(text, brief_token(story.spec))
    first, second, third = (seat.name for seat in story.spec.seats)
    _research(story, text)
    story.start_round()
    story.says(first, text)
    story.word(text)
    story.fails(second, "provider", text)
    story.says(third, f"x\n\n{text}\n\ny")
    story.word(text, "agent")
    return tuple(story.summed_up(text).events)


@cache
def failed_events(text: str) -> tuple[Event, ...]:
    """Returns a review's events whose chairman failed."""
    story = _Told(DebateSpec(brief=brief_of(text), seats=seats_of(text)), text)
    story.start_round()
    story.fails(story.spec.seats[0].name, "provider", text)
    return tuple(story.verdict_fails(text).conclude().events)


@cache
def states_of(text: str) -> tuple[State, State, State]:
    """Returns the folds: a review, a discussion, and a review without a verdict."""
    told: Sequence[Sequence[Event]] = (review_events(text), talk_events(text), failed_events(text))
    review, talk, failed = map(fold, told)
    return review, talk, failed
