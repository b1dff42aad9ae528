"""What doesn't fit a record is named: field by field, with the seat, the round and the words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rt_notebook as rt
from rt_notebook.domain.brief import Brief
from rt_notebook.domain.research import Research
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.errors import RecordMismatchError
from tests.recording.scenes import VERDICT, Voices, lines, recorded, stances, write


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("records") / "r.jsonl"
    recorded(base(Voices()), found, store=found.with_name("s.db"))
    return found


def base(voices: Voices, **fields: Any) -> DebateSpec:
    return voices.review(**{"rounds": 2, "known": ("Six people",), **fields})


def pair(voices: Voices, **dev: Any) -> tuple[rt.Seat, rt.Seat]:
    return voices.seat("pm", *stances("opt-1")), voices.seat("dev", *stances("opt-2"), **dev)


def refused(path: Path, make: Callable[[Voices], DebateSpec]) -> RecordMismatchError:
    before = path.read_bytes()
    found: list[RecordMismatchError] = []
    for mode in ("once", "none"):
        voices = Voices()
        with pytest.raises(RecordMismatchError, match="doesn't fit this debate") as caught:
            recorded(make(voices), path, mode)
        assert voices.calls == []
        found.append(caught.value)
    assert path.read_bytes() == before
    assert str(found[0]) == str(found[1])
    return found[0]


def named(error: RecordMismatchError) -> list[str]:
    return [each["field"] for each in error.facts["differences"]]


def test_changed_word_of_the_question_is_shown(path: Path) -> None:
    error = refused(path, lambda voices: base(voices, question="Should the service ship now?"))
    assert "first at seat 'pm' in round 0 (opening)" in str(error)
    assert "question: word 3: 'module' in the record, 'service' here" in str(error)
    assert (error.facts["seat"], error.facts["round"], named(error)) == ("pm", 0, ["question"])
    assert error.facts["differences"][0]["recorded"] == "Should the module ship now?"


CHANGES: dict[str, tuple[Callable[[Voices], DebateSpec], str]] = {
    "fact": (
        lambda voices: base(voices, known=("Seven people",)),
        "known: entry 1, word 1: 'Six' in the record, 'Seven' here",
    ),
    "one fact more": (
        lambda voices: base(voices, known=("Six people", "One office")),
        "known: only here: 'One office'",
    ),
    "no facts": (lambda voices: base(voices, known=()), "known: only in the record: 'Six people'"),
    "order of the options": (
        lambda voices: base(voices, options=("Wait", "Ship")),
        "options: 'Ship, Wait' in the record, 'Wait, Ship' here (order)",
    ),
    "persona": (
        lambda voices: base(voices, seats=pair(voices, persona="You pay.")),
        "first at seat 'dev' in round 0 (opening): seat dev: persona: nothing in the record, "
        "'You pay.' here",
    ),
    "mood": (
        lambda voices: base(voices, seats=pair(voices, mood="grill")),
        "seat dev: mood: nothing in the record, 'grill' here",
    ),
    "temperature": (
        lambda voices: base(voices, seats=pair(voices, temperature=0.5)),
        "seat dev: temperature: nothing in the record, 0.5 here",
    ),
    "model": (
        lambda voices: base(voices, seats=(voices.seat("pm", "PASS"), rt.Seat("dev"))),
        "seat dev: model: 'function:say_dev' in the record, 'scripted' here",
    ),
    "swapped seats": (
        lambda voices: base(voices, seats=pair(voices)[::-1]),
        "first at seat 'pm' in round 1 (critique): the order of the seats: 'pm, dev' in the "
        "record, 'dev, pm' here (order)",
    ),
    "another name": (
        lambda voices: base(
            voices, seats=(voices.seat("pm", "PASS"), voices.seat("ops", *stances("opt-2")))
        ),
        "seats: entry 2, 'dev' in the record, 'ops' here",
    ),
    "one seat more": (
        lambda voices: base(voices, seats=(*pair(voices), voices.seat("rv", "PASS"))),
        "first at seat 'rv' in round 0 (a call of rv in round 0): seats: only here: 'rv'",
    ),
    "anonymous": (
        lambda voices: base(voices, anonymous=True),
        "anonymous: False in the record, True here",
    ),
    "memory": (
        lambda voices: base(voices, memory="full"),
        "in round 2 (critique): the replies it may see: 2 entries in the record, 4 entries here, "
        "not the same; memory: 'stateless' in the record, 'full' here",
    ),
    "language": (
        lambda voices: base(voices, language="German"),
        "language: nothing in the record, 'German' here",
    ),
    "chairman": (
        lambda voices: base(voices, chairman=voices.seat("chair", VERDICT, lens="cost")),
        "first at seat 'chair' in round 2 (verdict): seat chairman: lens: nothing in the record, "
        "'cost' here",
    ),
    "more rounds": (
        lambda voices: base(voices, rounds=3),
        "what follows: the verdict in the record, round 3 here; rounds: 2 in the record, 3 here",
    ),
    "fewer rounds": (
        lambda voices: base(voices, rounds=1),
        "what follows: round 2 in the record, the verdict here; rounds: 2 in the record, 1 here",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_difference_is_named(path: Path, change: str) -> None:
    make, words = CHANGES[change]
    assert words in str(refused(path, make))


def test_several_differences_are_named_together(path: Path) -> None:
    error = refused(
        path,
        lambda voices: base(
            voices, question="Should the module wait?", seats=pair(voices, persona="You pay.")
        ),
    )
    assert named(error) == ["question", "seat dev: persona"]


COSTS_NOTHING: dict[str, Callable[[Voices], DebateSpec]] = {
    "colour": lambda voices: base(voices, seats=pair(voices, color="#112233")),
    "server": lambda voices: base(voices, seats=pair(voices, base_url="http://other:1/v1")),
    "key's name": lambda voices: base(voices, seats=pair(voices, api_key_env="OTHER")),
    "timeout": lambda voices: base(voices, seats=pair(voices, timeout_s=1, retries=0)),
    "title": lambda voices: base(voices, title="Another title"),
    "budgets": lambda voices: base(voices, limits=rt.Limits(max_calls=7, max_minutes=1)),
    "gates": lambda voices: base(voices, gates="off"),
    "threshold that ends nothing": lambda voices: base(voices, loop_threshold=0.99),
}


@pytest.mark.parametrize("change", COSTS_NOTHING)
def test_what_no_call_is_about_costs_nothing(path: Path, change: str) -> None:
    voices = Voices()
    result = recorded(COSTS_NOTHING[change](voices), path)
    assert (voices.calls, result.status) == ([], "done")


def researched(path: Path, voices: Voices, query: str = "parsers") -> DebateSpec:
    """Return a review with research, and put a finding into its record."""
    research = Research(query=query, model="openai:x")
    found = lines(path)
    if all(line["kind"] != "research_started" for line in found):
        found[0]["body"]["spec"]["research"] = research.model_dump()
        call = {"call": "0/research/research/1"}
        asked = {**call, "round": 0, "seat": "researcher", "purpose": "research", "attempt": 1,
                 "model": "openai:x", "messages_hash": "0", "chars": 1}  # fmt: skip
        source = {"title": "A page", "url": "https://a.example/", "excerpt": "Words."}
        bodies = {
            "research_started": {"query": query},
            "call_started": asked,
            "call_finished": {**call, "text": "A page.", "tool_calls": [], "usage": None,
                              "cost": None, "model": None, "request_id": None, "timings": {}},
            "research_finished": {"sources": [source], "searches": 1},
        }  # fmt: skip
        found[1:1] = [{**found[0], "kind": kind, "body": body} for kind, body in bodies.items()]
        write(path, [{**line, "seq": number} for number, line in enumerate(found, 1)])
    return base(voices, research=research)


def test_research_is_part_of_what_fits(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    recorded(base(Voices()), path)
    result = recorded(researched(path, Voices()), path, "none")
    assert [source.title for source in result.fold.sources] == ["A page"]
    error = refused(path, lambda voices: researched(path, voices, "importers"))
    assert "research: query: 'parsers' in the record, 'importers' here" in str(error)
    error = refused(path, base)
    assert "research: query: 'parsers' in the record, nothing here" in str(error)


def test_record_of_other_prompts_replays_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    recorded(base(Voices()), path)
    found = lines(path)
    for line in found:
        if line["kind"] == "call_started":
            line["body"] |= {"prompts_version": 0, "messages_hash": "f" * 16, "chars": 1}
    write(path, found)
    voices = Voices()
    result = recorded(base(voices), path, "none")
    assert voices.calls == []
    assert result.warnings == [
        "recorded with version 0 of the prompts; this version words them anew (2)"
    ]


def test_colour_and_title_are_those_of_today(path: Path) -> None:
    voices = Voices()
    spec = base(voices, title="Today's", seats=pair(voices, color="#112233"))
    result = recorded(spec, path)
    assert result.title == "Today's"
    assert result.spec.seat("dev").color == "#112233"


def test_memory_that_shows_nothing_else_fits(tmp_path: Path) -> None:
    # With one critique round, both memories show the opening's replies.
    recorded(Voices().review(rounds=1), tmp_path / "r.jsonl")
    voices = Voices()
    assert recorded(voices.review(rounds=1, memory="full"), tmp_path / "r.jsonl", "none").id
    assert voices.calls == []


def test_other_kind_is_refused(path: Path) -> None:
    voices = Voices()
    talk = DebateSpec(
        kind="discussion", brief=Brief(question="Should the module ship now?"), seats=pair(voices)
    )
    with pytest.raises(RecordMismatchError, match="kind: 'review' in the record, 'discussion' her"):
        recorded(talk, path)
