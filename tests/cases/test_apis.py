"""What vendors' servers do, told by whole debates over the real client libraries."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import rt_notebook as rt
from tests.cases.catalogue import case, given
from tests.cases.reviews import others, review, row_of, speaker
from tests.engine.debates import reply
from tests.frontends.shells import Shell
from tests.seats.table import MODELS, claude_folder, seat
from tests.wire.script import Asked, Fail, Raw, Say, Step, Tokens
from tests.wire.server import WireServer, sse

pytestmark = [
    pytest.mark.usefixtures("keys"),
    pytest.mark.filterwarnings("ignore:.*will reach end-of-life:DeprecationWarning"),
]

NAMES = ("chair", "ben", "ada")
"""Seats at OpenAI's chat completions, its responses, and Anthropic's messages."""


def _with(*seats: rt.Seat, **settings: Any) -> rt.Result:
    """Returns a review of these seats and two functions."""
    settings = {"rounds": 0, "chairman": "scripted", **settings}
    return review(*seats, *others(), **settings).run_sync()


def _failure(result: rt.Result, name: str = "chair") -> dict[str, Any]:
    """Returns what the log says of the one failed call of a seat."""
    bodies = [event.body for event in result.events if event.kind == "call_failed"]
    (body,) = [body for body in bodies if f"/{name}/" in body["call"]]
    return dict(body)


@case("a1-scn-14")
def test_blocking_call_works_where_a_loop_runs(wire: WireServer, shell: Shell) -> None:
    wire.script(Say(reply("opt-1", "a")))
    seats = [seat(wire, "chair"), seat(wire, "ada")]
    options = ["Ship", "Wait"]
    made = rt.Review("Q?", options=options, seats=seats, chairman="scripted", rounds=0)
    before = "nest_asyncio" in sys.modules

    async def cell() -> rt.Result:
        shell.put(one=seats[0], two=seats[1])
        line = "out --seats one,two --chairman scripted --rounds 0"
        shell.ip.run_cell_magic("roundtable", line, "Q?\n\noptions:\n- Ship\n- Wait\n")
        return made.run_sync()

    with asyncio.Runner() as runner:
        result = runner.run(cell())
    assert (result.status, shell.names["out"].status) == ("done", "done")
    assert len(wire.asked) == 4
    assert ("nest_asyncio" in sys.modules) == before
    # It ran on a loop in a thread of its own.
    assert "roundtable-engine" in [thread.name for thread in threading.enumerate()]


def _chunk(**delta: Any) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": "stop"}
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4o"}
    return json.dumps(head | {"choices": [choice]})


def _stream(*frames: str) -> Raw:
    usage = {"prompt_tokens": 1, "completion_tokens": 0, "total_tokens": 1}
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4o"}
    last = json.dumps(head | {"choices": [], "usage": usage})
    return Raw(sse(*frames, last, "[DONE]"), "text/event-stream")


NOTHING: dict[str, tuple[Step, set[str]]] = {
    "null content": (Say(None), {"empty"}),
    "the report's own body": (Raw(given("a3-http-07").encode()), {"connection", "protocol"}),
    "no content": (_stream(_chunk(role="assistant")), {"empty"}),
    "no message": (_stream(_chunk(role="assistant").replace('"delta"', '"gone"')), {"connection"}),
    "no choice": (_stream(), {"connection", "empty"}),
}


@case("a3-http-07")
@pytest.mark.parametrize("shape", NOTHING)
def test_answer_without_text_fails_its_call_alone(wire: WireServer, shape: str) -> None:
    step, kinds = NOTHING[shape]
    wire.script(step)
    result = _with(seat(wire, "chair", retries=0))
    body = _failure(result)
    assert body["error"] in kinds, body
    assert "AttributeError" not in body["message"]
    assert (row_of(result, "chair", 0)["error"], result.status) == (body["error"], "done")
    assert result.verdict.participation["missing"] == ["chair"]


@case("a3-http-07")
def test_content_in_parts_is_read_as_its_text(wire: WireServer) -> None:
    parts = [{"type": "text", "text": reply("opt-1", "a")}]
    wire.script(_stream(_chunk(role="assistant", content=parts)))
    row = row_of(_with(seat(wire, "chair")), "chair", 0)
    assert (row["stance_key"], row["disagree"], row["error"]) == ("opt-1", ["a"], None)


@case("a3-http-09")
def test_roles_alternate_on_every_wire(wire: WireServer) -> None:
    """Seats, repairs and a person's answer, over three rounds; peers stand in one user message."""
    asks = reply("opt-1", "a", question="What is the budget?")
    for name in NAMES:
        wire.script(Say(asks), Say("not in the form"), Say(asks), Say(asks), model=_model(name))
    seats = [seat(wire, name) for name in NAMES]
    windows: dict[str, Any] = {"question_wait_s": 60, "checkpoint_wait_s": 0}
    made = review(*seats, *others(), rounds=3, chairman="scripted", unattended=False, **windows)
    handle = made.start()
    rt.wait(handle.id, 20)
    handle.answer({"q1": "Forty thousand."})
    handle.result(30)
    assert len(wire.asked) >= 3 * len(NAMES)
    for asked in wire.asked:
        roles = [role for role, _ in _turns(asked)]
        assert roles == (["user", "assistant"] * len(roles))[: len(roles)], asked.wire
        assert roles[-1] == "user"
    answered = [asked for asked in wire.asked if "Forty thousand." in json.dumps(asked.body)]
    assert {asked.wire for asked in answered} == {"chat", "responses", "anthropic"}
    for asked in answered:
        (first, *_) = [text for role, text in _turns(asked) if role == "user"]
        assert "reply of bo" in first
        assert "Forty thousand." in first


def _model(name: str) -> str:
    return MODELS[name][1].partition(":")[2]


def _turns(asked: Asked) -> Iterator[tuple[str, str]]:
    """Yields the roles and texts of a request, whatever the wire; the system's stand apart."""
    entries: Any = asked.body.get("messages") or asked.body.get("input")
    for entry in entries:
        if entry["role"] not in ("system", "developer"):
            yield entry["role"], json.dumps(entry["content"])


@case("a3-http-22", "a3-scn-23")
def test_prompt_too_long_is_made_again_without_the_oldest_turns(wire: WireServer) -> None:
    """In a discussion, whose history grows; a review's prompt doesn't grow, and fails alone."""
    error = json.loads(given("a3-http-22"))["error"]
    refuses = Fail(400, error["message"], error["code"])
    words = [Say(f"Point {n}, " + "said at some length. " * 20) for n in range(3)]
    wire.script(words[0], words[1], refuses, words[2])
    talk = rt.Discussion("Ship?", seats=[speaker("bo", *(f"bo says {n}" for n in range(9))),
                                         seat(wire, "chair")], rounds=3, observer="scripted",
                         loop_threshold=0)  # fmt: skip
    result = talk.run_sync()
    assert (result.status, len(wire.asked)) == ("done", 4)
    long, short = (json.dumps(asked.body) for asked in wire.asked[2:])
    assert len(short) < len(long)
    assert ("bo says 0" in long, "bo says 0" in short) == (True, False)
    # The notice stands where the turns stood, as a fact; the topic is never cut.
    assert "[turns left out here: the 3 oldest]" in short
    assert "Topic:\\nShip?" in short
    failed = result.calls[result.calls["error"].notna()]
    assert failed["error"].tolist() == ["context_length"]

    wire.asked.clear()
    wire.script(refuses)
    body = _failure(_with(seat(wire, "chair")))
    assert (body["error"], len(wire.asked)) == ("context_length", 1)
    assert "limit 8000, got 9120; the prompt is longer than the model takes" in body["message"]


@case("a3-usage-25", "a3-usage-26")
def test_cached_tokens_are_counted_once_on_every_wire(wire: WireServer) -> None:
    """What Anthropic counts beside its input and OpenAI within it: the same row."""
    beside, within = (json.loads(given(f"a3-usage-{n}"))["usage"] for n in (25, 26))
    read, written = beside["cache_read_input_tokens"], beside["cache_creation_input_tokens"]
    sent = beside["input_tokens"] + read + written
    tokens = Tokens(sent, read, written, beside["output_tokens"], 0)
    assert (within["prompt_tokens"], within["completion_tokens"]) == (9504, 120)
    wire.script(Say(reply("opt-1", "a"), tokens=tokens))
    result = _with(*(seat(wire, name) for name in NAMES))
    columns = ["prompt_tokens", "cached_tokens", "completion_tokens"]
    rows = result.calls[result.calls["seat"].isin(NAMES)][columns]
    assert rows.to_numpy().tolist() == [[9504, 9000, 120]] * 3


@case("a3-usage-27")
def test_reasoning_is_part_of_the_output(wire: WireServer) -> None:
    usage = json.loads(given("a3-usage-27"))["usage"]
    reasoning = usage["completion_tokens_details"]["reasoning_tokens"]
    tokens = Tokens(usage["prompt_tokens"], 0, 0, usage["completion_tokens"], reasoning)
    wire.script(Say(reply("opt-1", "a"), tokens=tokens))
    result = _with(seat(wire, "chair"))
    assert row_of(result, "chair", 0)["completion_tokens"] == 700
    (body,) = [e.body for e in result.events if e.kind == "call_finished" and e.body["usage"]
               and e.body["usage"].get("reasoning_tokens")]  # fmt: skip
    assert body["usage"]["reasoning_tokens"] == 600


@case("a3-http-33")
def test_wait_longer_than_a_turn_is_not_waited_for(wire: WireServer) -> None:
    """The seat fails with the time the vendor named, keeps nobody, and is asked again later."""
    wire.script(Fail(429, "slow down", retry_after="3600"), Say(reply("opt-1", "a")))
    began = time.monotonic()
    result = _with(seat(wire, "chair"), rounds=1)
    assert time.monotonic() - began < 15
    assert len(wire.asked) == 2
    assert row_of(result, "chair", 0)["error"] == "rate_limit"
    assert row_of(result, "chair", 1)["stance_key"] == "opt-1"
    body = _failure(result)
    assert "slow down; it asks to wait 3,600 s" in body["message"]
    assert body["retry_in_s"] is None


@case("a3-http-35")
def test_answer_cut_by_its_length_is_no_broken_form(wire: WireServer) -> None:
    choice = json.loads(given("a3-http-35"))["choices"][0]
    assert choice["finish_reason"] == "length"
    wire.script(Say(choice["message"]["content"], stop="length"))
    body = _failure(_with(seat(wire, "chair")))
    assert (body["error"], body["partial"]) == ("output_limit", choice["message"]["content"])
    assert "cut off at its token limit; raise max_tokens" in body["message"]
    # A repair would be cut at the same place: none is paid for.
    assert len(wire.asked) == 1


@case("a3-scn-58")
def test_other_model_than_the_one_asked_is_told(wire: WireServer) -> None:
    other = json.loads(given("a3-scn-58").partition("   ")[0])["model"]
    wire.script(Say(reply("opt-1", "a"), model=other))
    result = _with(seat(wire, "chair"))
    (call,) = result.calls[result.calls["seat"] == "chair"].to_dict("records")
    assert (call["model"], call["model_reported"]) == (MODELS["chair"][1], other)
    told = f"chair: {MODELS['chair'][1]} was asked, and {other} answered"
    assert told in result.warnings
    assert told in " ".join(str(result).split())


@case("a5-http-35")
@pytest.mark.parametrize(
    ("name", "say", "words"),
    [
        ("chair", Say("I cannot assist.", stop="refusal"), "I cannot assist."),
        ("chair", Say("I cannot", stop="filter"), "content_filter"),
        ("ben", Say("I cannot assist.", stop="refusal"), "I cannot assist."),
        ("ada", Say("I cannot assist.", stop="refusal"), "refusal"),
    ],
)
def test_refusal_in_another_field_is_told_as_one(
    wire: WireServer, name: str, say: Say, words: str
) -> None:
    """Chat's and responses' own field, `content_filter`, and the stop reason `refusal`."""
    wire.script(say)
    result = _with(seat(wire, name))
    body = _failure(result, name)
    assert (body["error"], words in body["message"]) == ("refused", True)
    assert result.verdict.participation["missing"] == [name]
    assert len(wire.asked) == 1


KEY = "sk-test-AAAA1111BBBB2222"
"""The reported key; no four characters of its last part may be seen."""


@case("a6-scn-09", "a6-scn-10", "a6-scn-12")
@pytest.mark.parametrize(
    "words",
    [
        json.loads(given("a6-scn-10").partition("\n\n")[2])["error"]["message"],
        f"Incorrect API key provided: {KEY}",
        f"The key {KEY[:10]}...{KEY[-4:]} is not valid",
    ],
)
def test_no_part_of_a_key_is_shown_or_kept(
    wire: WireServer, words: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("THE_KEY", KEY)
    wire.script(Fail(401, words), model=_model("chair"))
    wire.script(Say(reply("opt-1", "a")), model=_model("ada"))
    sitting = [seat(wire, name, api_key_env="THE_KEY") for name in ("chair", "ada")]
    store, record = tmp_path / "s.db", tmp_path / "r.jsonl"
    result = _with(*sitting, store=store, record=record)
    assert {asked.key for asked in wire.asked} == {KEY}
    message = _failure(result)["message"]
    assert message.startswith("openai-chat: HTTP 401: ")
    assert "check the key in THE_KEY" in message
    shown = [
        message, repr(sitting), str(sitting[0]), repr(result), str(result), repr(result.spec),
        repr(result.events), result.calls.to_csv(), json.dumps(result._repr_mimebundle_()),
        *(path.read_bytes().decode("utf-8", "replace") for path in tmp_path.rglob("*")
          if path.is_file()),
    ]  # fmt: skip
    secret = KEY.rpartition("-")[2]
    runs = {secret[n : n + 4] for n in range(len(secret) - 3)} - {"1111"}
    assert [run for run in runs if any(run in text for text in shown)] == []
    # Requests are never kept: no header has a place in the store or the record.
    assert not any("x-api-key" in text or "Bearer" in text for text in shown)


@case("a6-scn-07")
def test_replay_needs_neither_key_nor_command_nor_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys: dict[str, str]
) -> None:
    monkeypatch.setenv("PATH", str(claude_folder(tmp_path)))
    record = tmp_path / "review.jsonl"

    def run(wire: WireServer) -> rt.Result:
        sitting = [seat(wire, name) for name in ("chair", "ada")]
        command = rt.Seat("dan", model="cli:claude/opus")
        made = review(*sitting, command, chairman="scripted", record=record)
        return made.run_sync()

    with WireServer() as wire:
        wire.script(Say(reply("opt-1", "a")))
        first = run(wire)
        asked = len(wire.asked)
    assert (first.status, asked) == ("done", 4)
    kept = record.read_bytes()
    for name in keys:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("RT_NOTEBOOK_RECORD", "none")
    again = run(wire)
    assert (again.status, len(wire.asked)) == ("done", asked)
    assert again.replies.equals(first.replies)
    assert record.read_bytes() == kept
