"""What the recordings don't show: rarer events, and how long reading takes."""

from __future__ import annotations

import contextlib
import json
import re
import time
from typing import Any

import pytest

from rt_notebook.domain.usage import Usage
from rt_notebook.errors import CallError
from rt_notebook.providers.base import Completion
from rt_notebook.providers.cli.antigravity import AntigravityParser
from rt_notebook.providers.cli.claude import ClaudeParser
from rt_notebook.providers.cli.codex import CodexParser
from rt_notebook.providers.cli.failures import ending, kind_of, unwrapped
from rt_notebook.providers.cli.gemini import GeminiParser
from rt_notebook.providers.cli.opencode import OpenCodeParser
from rt_notebook.providers.cli.process import Ended
from rt_notebook.providers.cli.stream import Lines, StreamParser

ENDED = Ended("exit", 0, "", 1.0)


def _read(parser: StreamParser, *events: Any) -> Completion:
    for event in events:
        parser.feed(json.dumps(event, ensure_ascii=False).encode() + b"\n")
    return parser.completion(ENDED)


def _failed(parser: StreamParser, *events: Any) -> CallError:
    with pytest.raises(CallError, match=r".") as caught:
        _read(parser, *events)
    return caught.value


def _gemini(text: str, second: float) -> dict[str, Any]:
    stamp = f"2026-11-30T14:56:{second:06.3f}Z"
    return {"type": "message", "role": "assistant", "content": text, "timestamp": stamp}


DONE = {"type": "result", "status": "success", "stats": {}}
START = ["The quick brown fox jumps over the lazy dog, ", "which it does again and again, "]
WHOLE = [*START, "until the dog has had enough."]


@pytest.mark.parametrize(
    "attempts",
    [
        [START, WHOLE],
        [START[:1], START, WHOLE],
        [START, START[:1], WHOLE],
        [WHOLE],
    ],
    ids=["one drop", "two drops", "a shorter second", "no drop"],
)
def test_text_doubled_after_a_drop_comes_once(attempts: list[list[str]]) -> None:
    events = [
        _gemini(part, 2.0 * number + place / 100)
        for number, attempt in enumerate(attempts)
        for place, part in enumerate(attempt)
    ]
    assert _read(GeminiParser(), *events, DONE).text == "".join(WHOLE)


def test_model_that_repeats_itself_is_left_alone() -> None:
    verse = "Row, row, row your boat, gently down the stream.\n"
    fast = [_gemini(verse, place / 100) for place in range(4)]
    assert _read(GeminiParser(), *fast, DONE).text == verse * 4
    slow = [_gemini("Ha. ", float(place)) for place in range(20)]
    assert _read(GeminiParser(), *slow, DONE).text == "Ha. " * 20


def test_slow_answer_of_many_waits_is_whole() -> None:
    parts = [f"{place} bottles on the wall, " for place in range(50)]
    events = [_gemini(part, place * 1.1) for place, part in enumerate(parts)]
    assert _read(GeminiParser(), *events, DONE).text == "".join(parts)


@pytest.mark.parametrize(
    ("result", "kind", "words"),
    [
        ({"subtype": "error_max_turns", "is_error": True, "errors": ["Reached max turns"]},
         "provider", "Reached max turns"),
        ({"subtype": "error_during_execution", "is_error": True}, "provider", "error_during"),
        ({"subtype": "success", "result": "text"}, "provider", "text"),
        ({"is_error": False, "result": "I won't.", "stop_reason": "refusal"}, "refused", "refused"),
        ({"is_error": False, "result": "I ca", "stop_reason": "max_tokens"}, "output_limit", "cut"),
        ({"is_error": True, "result": "Claude AI usage limit reached|1796"}, "quota", "limit"),
        ({"is_error": True, "result": "Credit balance is too low"}, "quota", "Credit"),
        ({"is_error": True, "result": "Prompt is too long"}, "context_length", "too long"),
        ({"is_error": False, "result": " \u200b\n"}, "empty", "empty"),
        ({"is_error": False, "result": None}, "empty", "empty"),
    ],
)  # fmt: skip
def test_claudes_success_is_only_what_is_one(result: dict[str, Any], kind: str, words: str) -> None:
    error = _failed(ClaudeParser(), {"type": "result", **result})
    assert error.kind == kind
    assert words in str(error)


def test_claudes_empty_result_leaves_the_answer_in_its_message() -> None:
    content = [{"type": "text", "text": "the answer"}]
    message = {"type": "assistant", "message": {"id": "m", "model": "x", "content": content}}
    result = {"type": "result", "subtype": "success", "is_error": False, "result": ""}
    assert _read(ClaudeParser(), message, result).text == "the answer"


def test_terminal_sequences_around_an_event_are_taken_away() -> None:
    parser = ClaudeParser()
    event = json.dumps({"type": "result", "is_error": False, "result": "ok"})
    parser.feed(f"Loading...\n\x1b]0;agent - repo\x07\x1b[1m{event}\x1b[0m\n".encode())
    assert parser.completion(Ended("exit", 0, "", 1.0)).text == "ok"


@pytest.mark.parametrize(
    ("stderr", "stdout", "words"),
    [
        ("", "Allow this tool? [y/N] ", "its last words: Allow this tool? [y/N]"),
        ("warning: old\nLog in first\n", "", "its last words: Log in first"),
        ("", "", "no answer within 3 s"),
    ],
)
def test_stopped_command_is_quoted(stderr: str, stdout: str, words: str) -> None:
    parser = ClaudeParser()
    parser.feed(stdout.encode())
    with pytest.raises(CallError, match=re.escape(words) + "$") as caught:
        parser.completion(Ended("timeout", -15, stderr, 3.0))
    assert caught.value.kind == "timeout"


def test_command_that_says_nothing_is_told_with_a_way_on() -> None:
    with pytest.raises(CallError, match=r"code 1 .* in 0\.2 s it said nothing; run it by hand"):
        ClaudeParser().completion(Ended("exit", 1, "", 0.2))


def test_claudes_pieces_are_progress_and_partial_text() -> None:
    parser = ClaudeParser()

    def piece(event: dict[str, Any]) -> None:
        parser.feed(json.dumps({"type": "stream_event", "event": event}).encode() + b"\n")

    def delta(**delta: str) -> None:
        piece({"type": "content_block_delta", "delta": delta})

    piece({"type": "message_start", "message": {"id": "m"}})
    delta(type="thinking_delta", thinking="hm")
    assert (parser.steps, parser.chars) == (2, 0)
    delta(type="text_delta", text="Hello ")
    delta(type="text_delta", text="you")
    assert (parser.steps, parser.chars, parser.text) == (4, 9, "Hello you")
    content = [{"type": "text", "text": "Hello you"}]
    whole = {"type": "assistant", "message": {"id": "m", "model": "x", "content": content}}
    parser.feed(json.dumps(whole).encode() + b"\n")
    assert (parser.chars, parser.text) == (9, "Hello you")
    piece({"type": "message_start", "message": {"id": "m"}})
    assert parser.text == ""


def test_claudes_reckoned_cost_is_none_on_a_login() -> None:
    init = {"type": "system", "subtype": "init", "apiKeySource": "none", "model": "m"}
    usage = {"m": {"inputTokens": 3, "outputTokens": 4, "cacheReadInputTokens": 5}}
    result = {"type": "result", "is_error": False, "result": "x", "total_cost_usd": 0.5}
    completion = _read(ClaudeParser(), init, {**result, "modelUsage": usage})
    assert completion.usage == Usage(8, 4, 5, None, None)


@pytest.mark.parametrize(
    ("item", "name"),
    [
        ({"type": "command_execution", "command": "ls"}, "command_execution"),
        ({"type": "mcp_tool_call", "tool": "search", "arguments": {"q": 1}}, "search"),
        ({"type": "web_search", "query": "x"}, "web_search"),
        ({"type": "file_change", "changes": []}, "file_change"),
    ],
)
def test_codex_tools_end_the_call_when_they_start(item: dict[str, Any], name: str) -> None:
    parser = CodexParser()
    parser.feed(json.dumps({"type": "item.started", "item": {"id": "i", **item}}).encode() + b"\n")
    assert parser.stopped
    error = _failed(parser)
    assert error.kind == "tool_policy"
    assert repr(name) in str(error)


def test_codex_tool_that_is_allowed_is_shown() -> None:
    item = {"id": "i", "type": "command_execution", "command": "x" * 900}
    done = {**item, "aggregated_output": "y" * 900, "status": "completed"}
    completion = _read(
        CodexParser(["command_execution"]),
        {"type": "item.started", "item": item},
        {"type": "item.completed", "item": {"id": "r", "type": "reasoning", "text": "hm"}},
        {"type": "item.completed", "item": done},
        {"type": "item.completed", "item": {"id": "m", "type": "agent_message", "text": "Done."}},
        {"type": "turn.completed"},
    )
    shown = {"name": "command_execution", "preview": "x" * 500, "result": "y" * 500, "ok": True}
    assert completion.tool_calls == (shown,)
    assert (completion.text, completion.usage) == ("Done.", None)


def test_opencode_that_stops_at_a_refused_tool_has_no_answer() -> None:
    parser = OpenCodeParser(["bash"])
    tool = {"tool": "bash", "callID": "c", "state": {"status": "error", "error": "denied"}}
    error = _failed(
        parser,
        {"type": "step_start"},
        {"type": "text", "part": {"text": "I look."}},
        {"type": "tool_use", "part": tool},
        {"type": "step_finish", "part": {"reason": "tool-calls"}},
    )
    assert (error.kind, error.partial) == ("protocol", "I look.")


def test_opencode_sums_its_steps() -> None:
    tokens = {"input": 10, "output": 5, "reasoning": 2, "cache": {"read": 3, "write": 1}}
    finish = {"tokens": tokens, "cost": 0.25}
    completion = _read(
        OpenCodeParser(),
        {"type": "step_start"},
        {"type": "step_finish", "part": {"reason": "tool-calls", **finish}},
        {"type": "step_start"},
        {"type": "text", "part": {"text": "Yes."}},
        {"type": "step_finish", "part": {"reason": "stop", **finish}},
    )
    assert (completion.text, completion.usage) == ("Yes.", Usage(28, 14, 6, 4, 0.5))


def test_antigravity_errors_and_tools_are_told() -> None:
    result = {"status": "ERROR", "error": "RESOURCE_EXHAUSTED: slow down", "response": ""}
    error = _failed(AntigravityParser(), {"event": "result", "result": result})
    assert error.kind == "rate_limit"
    step = {"step_type": "tool", "tool_info": {"name": "run_command", "arguments": {"x": 1}}}
    error = _failed(AntigravityParser(), {"event": "step_update", "step_update": step})
    assert error.kind == "tool_policy"


@pytest.mark.parametrize("value", [None, 7, "x", [], {}, [[]], {"a": 1}, -1.5, True])
def test_no_shape_of_an_event_breaks_a_parser(value: Any) -> None:
    kinds = [
        "stream_event", "assistant", "user", "result", "system", "item.started", "item.completed",
        "turn.completed", "turn.failed", "error", "message", "tool_use", "tool_result", "init",
        "step_start", "step_finish", "text", "step_update", "thread.started",
    ]  # fmt: skip
    fields = [
        "event", "message", "item", "part", "usage", "error", "stats", "role", "result", "init",
        "modelUsage", "content", "tool_id", "timestamp", "step_update", "is_error", "errors",
    ]  # fmt: skip
    types = (ClaudeParser, CodexParser, GeminiParser, OpenCodeParser, AntigravityParser)
    for kind in kinds:
        for nested in (value, {"message": value, "content": value, "state": value, "id": value}):
            event = {"type": kind, "event": kind, **dict.fromkeys(fields, nested)}
            for parser_type in types:
                parser = parser_type(["x"])
                parser.feed(json.dumps({**event, parser.kind_key: kind}).encode() + b"\n")
                with contextlib.suppress(CallError):
                    assert parser.completion(ENDED).text


def test_lone_surrogates_become_the_replacement_character() -> None:
    line = b'{"type":"result","is_error":false,"result":"a\\ud83d \\ud83d\\udc0e"}\n'
    parser = ClaudeParser()
    parser.feed(line)
    assert parser.completion(ENDED).text == "a\ufffd 🐎"


@pytest.mark.parametrize(
    "line", [b"[" * 100_000, b'{"type":' + b"9" * 5_000 + b"}"], ids=["depth", "digits"]
)
def test_line_that_json_gives_up_on_is_for_people(line: bytes) -> None:
    parser = ClaudeParser()
    parser.feed(line + b'\n{"type":"result","is_error":false,"result":"Ship it."}\n')
    assert parser.completion(ENDED).text == "Ship it."


def test_lines_are_cut_at_line_feeds_alone() -> None:
    lines = Lines()
    data = "a\u2028b\u0085c\x0b\x0c\rd\r\ne\n\nf".encode()
    found = [line for place in range(len(data)) for line in lines.feed(data[place : place + 1])]
    assert found == ["a\u2028b\u0085c\x0b\x0c\rd", "e", ""]
    assert lines.rest() == "f"
    assert list(Lines().feed(b"\xff\n")) == ["\ufffd"]


def test_reading_takes_time_linear_in_length() -> None:
    def seconds(size: int) -> float:
        parser, text = ClaudeParser(), "x" * size
        line = json.dumps({"type": "result", "is_error": False, "result": text}).encode()
        started = time.perf_counter()
        for place in range(0, len(line), 512):
            parser.feed(line[place : place + 512])
        assert len(parser.completion(ENDED).text) == size
        return time.perf_counter() - started

    seconds(1000)
    small = min(seconds(1_000_000) for _ in range(3))
    assert min(seconds(8_000_000) for _ in range(2)) < 8 * small * 4


@pytest.mark.parametrize(
    ("text", "status", "kind"),
    [
        ("x", 401, "auth"),
        ("x", 403, "auth"),
        ("x", 402, "quota"),
        ("x", 413, "context_length"),
        ("x", 429, "rate_limit"),
        ("You exceeded your current quota", 429, "quota"),
        ("x", 529, "overloaded"),
        ("x", 400, "provider"),
        ("prompt is too long: 300000 tokens", 400, "context_length"),
        ("unexpected status 503 Service Unavailable", None, "overloaded"),
        ("The model `x` does not exist or you do not have access to it", None, "not_found"),
        ("Unable to connect to API (ConnectionRefused)", None, "connection"),
        ("getaddrinfo ENOTFOUND api.example.org", None, "connection"),
        ("The operation timed out.", None, "timeout"),
        ("blocked by our content policy", None, "refused"),
        ("what a day", None, "provider"),
        ("", None, "provider"),
    ],
)
def test_words_and_numbers_have_their_kinds(text: str, status: int | None, kind: str) -> None:
    assert kind_of(text, status) == kind


def test_errors_within_errors_are_unwrapped() -> None:
    inner = '{"error": {"code": 503, "message": "later", "status": "UNAVAILABLE"}}'
    assert unwrapped(f"[API Error: {inner}]") == ("later", 503)
    assert unwrapped('{"error": {"message": "no"}}') == ("no", None)
    for text in ("", "{", "{}", "}{", '{"error": 1}', '{"error": {"message": 2}}', "[" * 9999):
        assert unwrapped(text) == (text, None)


def test_ends_are_told_in_words() -> None:
    assert ending(3) == "exited with code 3"
    assert ending(-9) == "was ended by SIGKILL"
    assert ending(-99) == "was ended by signal 99"
    assert ending(None) == "didn't end"
