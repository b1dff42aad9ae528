"""What other processes may ask: the form of each verb on its way, and errors on their way back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rt_notebook.errors import (
    CallError,
    NotResumableError,
    OptionError,
    RoundtableError,
    StoreError,
    UsageError,
)
from rt_notebook.orders import answer_body, checked_source, error_of, make_of, refusal, turn_of
from tests.frontends.scenes import Scene


def at_gate() -> Scene:
    """Returns a debate whose first gate asks one question."""
    scene = Scene()
    scene.add("round_started", round=0)
    questions = [{"id": "q1", "text": "How much?", "askers": ["pm"]}]
    scene.add(
        "gate_opened", round=0, mode="questions", questions=questions,
        closes_at=2_000_000_000_000, reopen_calls=None,
    )  # fmt: skip
    return scene


def test_answer_survives_its_way() -> None:
    body = json.loads(json.dumps(answer_body({"q1": "12 000 €"}, "Hurry.", 0)))
    events = make_of("answer", body, "agent")(at_gate().state)
    assert events == [
        (
            "gate_answered",
            {"round": 0, "answers": {"q1": "12 000 €"}, "message": "Hurry.", "source": "agent"},
        ),
        ("gate_closed", {"round": 0, "why": "answered"}),
    ]


def test_half_a_character_of_an_answer_becomes_a_mark() -> None:
    body = answer_body({"q1": "a\ud800"}, "b\udfff \ud83d\ude00", 0)
    (_, told), _ = make_of("answer", body, "person")(at_gate().state)
    assert (told["answers"], told["message"]) == ({"q1": "a\ufffd"}, "b\ufffd \U0001f600")


def test_every_verb_names_its_source() -> None:
    scene = at_gate()
    ((kind, held),) = make_of("hold", {"round": 0}, "agent")(scene.state)
    assert (kind, held["round"], held["source"]) == ("gate_held", 0, "agent")
    stopped = make_of("stop", {}, "process")(scene.state)
    assert stopped[0] == ("stop_asked", {"source": "process"})


WRONG: dict[str, tuple[str, dict[str, Any], str]] = {
    "unknown": ("ansver", {}, "'ansver' is nothing.*did you mean 'answer'"),
    "control characters": ("\x1b[2J", {}, r"'' is nothing"),
    "list": ("answer", {"answers": ["x"]}, "answers are texts by question id"),
    "number": ("answer", {"answers": {"q1": 5}}, "answers are texts by question id"),
    "message": ("answer", {"message": {"a": 1}}, "the message is a text"),
    "round": ("answer", {"round": "0"}, "the round is a whole number"),
    "held round": ("hold", {"round": [0]}, "the round is a whole number"),
    "true round": ("hold", {"round": True}, "the round is a whole number"),
}


@pytest.mark.parametrize(("verb", "body", "match"), WRONG.values(), ids=WRONG)
def test_malformed_command_is_refused(verb: str, body: dict[str, Any], match: str) -> None:
    with pytest.raises(UsageError, match=match):
        make_of(verb, body, "person")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"round": 0, "seat": "me"},
        {"round": 0, "seat": 1, "text": ""},
        {"round": True, "seat": "me", "text": ""},
    ],
)
def test_malformed_turn_is_refused(body: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="a round, a seat and a text are needed"):
        turn_of(body)


def test_order_from_an_unknown_source_is_refused() -> None:
    with pytest.raises(OptionError, match="source='robot'"):
        make_of("finish", {}, "robot")


def test_only_known_sources_may_ask() -> None:
    for source in ("person", "agent", "process"):
        assert checked_source(source) == source
    with pytest.raises(OptionError, match="source='<b>'"):
        checked_source("<b>")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (UsageError("no gate", kept={"answers": {"q1": "x"}}, status="done"), UsageError),
        (NotResumableError("held", pid=7), NotResumableError),
        (StoreError("full", fault="full"), StoreError),
        # Its class can't be made of a message and facts alone.
        (CallError("late", kind="timeout"), UsageError),
    ],
)
def test_error_finds_its_way_back(error: RoundtableError, kind: type[RoundtableError]) -> None:
    carried = json.loads(json.dumps(refusal(error).error))
    found = error_of(carried, {})
    assert type(found) is kind
    assert str(found) == str(error)
    assert found.facts == error.facts


def test_texts_are_kept_where_a_refusal_forgets_them() -> None:
    kept = {"text": "my reply"}
    assert error_of({"kind": "?", "message": "no", "facts": {}}, kept).facts == {"kept": kept}
    own = {"kind": "UsageError", "message": "no", "facts": {"kept": {"text": "cleaned"}}}
    assert error_of(own, kept).facts["kept"] == {"text": "cleaned"}
    assert "without a word" in str(error_of({}, {}))


def test_refusal_of_another_version_is_told_without_what_no_error_takes() -> None:
    names = ("self", "message", "facts", "args", "with_traceback", "__class__", "x y", "round")
    answer = {"kind": "UsageError", "message": "no\x1b[2J\ngate", "facts": dict.fromkeys(names, 1)}
    found = error_of(answer, {})
    assert (type(found), str(found), found.facts) == (UsageError, "no gate", {"round": 1})
    for facts in (None, 5, ["x"], "text"):
        assert error_of({"message": "no", "facts": facts}, {}).facts == {}
    assert "without a word" in str(error_of({"message": "\x1b[2J"}, {}))
