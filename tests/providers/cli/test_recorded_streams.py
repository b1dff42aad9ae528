"""Every recorded output through its parser, however it's cut, against what it must mean."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from rt_notebook.domain.usage import Usage
from rt_notebook.errors import CallError
from rt_notebook.providers.base import Completion
from rt_notebook.providers.cli.claude import ClaudeParser
from rt_notebook.providers.cli.codex import CodexParser
from rt_notebook.providers.cli.gemini import GeminiParser
from rt_notebook.providers.cli.opencode import OpenCodeParser
from rt_notebook.providers.cli.stream import StreamParser
from tests.providers.cli.recordings import CHUNKINGS, recorded_cases, recording

PARSERS: dict[str, type[StreamParser]] = {
    "claude": ClaudeParser,
    "codex": CodexParser,
    "gemini": GeminiParser,
    "opencode": OpenCodeParser,
}
REPLY = (
    "Hello from the mock, a longer reply of several pieces, so that a cut falls in the middle of "
    "the text."
)
UNICODE = 'Žluťoučký kůň 🐎 日本語 \u2028 line sep \x1b[31mred\x1b[0m tab\t"quote" \\ back'
# gemini takes whole escape sequences out of a piece; one cut in two gets through.
UNICODE_GEMINI = 'Žluťoučký kůň 🐎 日本語 \u2028 line sep \x1b[31mred tab\t"quote" \\ back'
HALF = "Hello from the mock, a longer reply of severa"
BROKEN_OFF = "Hello from the mock, a longer reply of several p"


@dataclass(frozen=True)
class Answer:
    """What a good run must give."""

    usage: Usage
    text: str = REPLY


@dataclass(frozen=True)
class Failure:
    """What a failed run must give."""

    kind: str
    words: str
    partial: str = ""
    retry_after_s: float | None = None


def _claude_usage(runs: int) -> Usage:
    # 1234 sent, 200 read from the cache and 34 written to it.
    costs = {1: 0.0015765000000000002, 2: 0.0031530000000000004}
    return Usage(1468 * runs, 56 * runs, 200 * runs, None, costs[runs])


CODEX_USAGE = Usage(1234, 56, 200, 7)
GEMINI_USAGE = Usage(1234, 63, 200, 7)
OPENCODE_USAGE = Usage(1234, 56, 200, 7)
BASH = "it used the tool 'Bash', which this seat doesn't allow"
NO_ANSWER = "without a final answer"

EXPECTED: dict[str, dict[str, Answer | Failure]] = {
    "claude": {
        "ok": Answer(_claude_usage(1)),
        "ok_unicode": Answer(_claude_usage(1), UNICODE),
        "empty": Failure("empty", "the answer is empty"),
        "hang": Failure("protocol", "exited with code 143 without a final answer"),
        "hang_stream": Failure("protocol", "exited with code 143 without a final answer"),
        "http_400": Failure("provider", "API Error: 400 mock: bad request"),
        "http_401": Failure("auth", "Failed to authenticate. API Error: 401"),
        "http_429": Failure("rate_limit", "Request rejected (429)"),
        "http_500": Failure("overloaded", "API Error: 500 mock: internal error"),
        "length": Failure("output_limit", "exceeded the 32000 output token maximum", REPLY),
        "malformed": Failure("protocol", "Failed to parse JSON"),
        "midstream_drop": Failure("connection", "Connection to the API was lost (ECONNRESET)"),
        "no_key": Failure("auth", "Not logged in"),
        "tool_call": Failure("tool_policy", BASH, "I will use a tool."),
        "pieces_ok": Answer(_claude_usage(1)),
        "pieces_drop": Failure("connection", "lost (ECONNRESET)", HALF),
    },
    "codex": {
        "ok": Answer(CODEX_USAGE),
        "ok_unicode": Answer(CODEX_USAGE, UNICODE),
        "empty": Failure("empty", "the answer is empty"),
        "hang": Failure("protocol", "was ended by SIGTERM without a final answer"),
        "hang_stream": Failure("protocol", "was ended by SIGTERM without a final answer"),
        "http_400": Failure("provider", "mock: bad request"),
        "http_401": Failure("auth", "unexpected status 401 Unauthorized"),
        "http_429": Failure("rate_limit", "429 Too Many Requests"),
        "http_500": Failure("overloaded", "currently experiencing high demand"),
        "length": Failure("output_limit", "reason: max_output_tokens", REPLY),
        "malformed": Failure("connection", "stream disconnected before completion"),
        "midstream_drop": Failure("connection", "stream disconnected before completion"),
        "no_key": Failure("auth", "Missing environment variable"),
        # It shows tools it doesn't have only in its error output, and goes on.
        "tool_call": Answer(Usage(2468, 112, 400, 14)),
    },
    "gemini": {
        "ok": Answer(GEMINI_USAGE),
        "ok_unicode": Answer(GEMINI_USAGE, UNICODE_GEMINI),
        "empty": Failure("empty", "empty response"),
        "hang": Failure("protocol", NO_ANSWER),
        "hang_stream": Failure("protocol", NO_ANSWER, BROKEN_OFF),
        "http_400": Failure("provider", "mock: bad request"),
        "http_401": Failure("auth", "mock: invalid api key"),
        "http_429": Failure("rate_limit", "mock: rate limited"),
        "http_500": Failure("overloaded", "mock: internal error"),
        # The cut doesn't show in its output.
        "length": Answer(GEMINI_USAGE),
        "malformed": Failure("protocol", "Incomplete JSON segment"),
        # It tried twice; the text of the second try stands alone.
        "midstream_drop": Failure("connection", "terminated", BROKEN_OFF),
        "no_key": Failure("auth", "you must specify the GEMINI_API_KEY"),
        "tool_call": Failure("tool_policy", BASH, "I will use a tool."),
    },
    "opencode": {
        "ok": Answer(OPENCODE_USAGE),
        "ok_unicode": Answer(OPENCODE_USAGE, UNICODE),
        "empty": Failure("empty", "the answer is empty"),
        "hang": Failure("protocol", "was ended by SIGTERM without a final answer"),
        "hang_stream": Failure("protocol", "was ended by SIGTERM without a final answer"),
        "http_400": Failure("provider", "mock: bad request"),
        "http_401": Failure("auth", "mock: invalid api key"),
        "http_429": Failure("rate_limit", "mock: rate limited", retry_after_s=1.0),
        "http_500": Failure("overloaded", "mock: internal error", retry_after_s=1.0),
        "length": Failure("output_limit", "cut off at the model's output limit", REPLY),
        "malformed": Failure("protocol", "asks again and again"),
        "midstream_drop": Failure("connection", "broke off 2 times"),
        "tool_call": Failure("tool_policy", BASH),
        "early_eof": Failure("connection", "asks again and again", HALF),
    },
}


def _read(parser: StreamParser, vendor: str, case: str, chunking: str) -> Completion:
    run = recording(vendor, case)
    for chunk in CHUNKINGS[chunking](run.stdout):
        parser.feed(chunk)
    return parser.completion(run.ended)


def test_every_recording_has_an_expectation() -> None:
    assert set(recorded_cases()) == {
        (vendor, case) for vendor, cases in EXPECTED.items() for case in cases
    }


@pytest.mark.parametrize("chunking", CHUNKINGS)
@pytest.mark.parametrize(("vendor", "case"), recorded_cases())
def test_recording_means_what_it_must(vendor: str, case: str, chunking: str) -> None:
    parser, expected = PARSERS[vendor](), EXPECTED[vendor][case]
    if isinstance(expected, Answer):
        completion = _read(parser, vendor, case, chunking)
        assert completion.text == expected.text
        assert completion.usage == expected.usage
        assert not completion.tool_calls
        assert completion.timings == {"total": 1.5, "first_output": 0.5}
        return
    with pytest.raises(CallError, match=r".") as caught:
        _read(parser, vendor, case, chunking)
    assert caught.value.kind == expected.kind
    assert expected.words in str(caught.value)
    assert caught.value.partial == expected.partial
    assert caught.value.retry_after_s == expected.retry_after_s


@pytest.mark.parametrize(
    ("vendor", "model"),
    [("claude", "claude-haiku-4-5"), ("codex", None), ("gemini", "gemini-2.5-flash")],
)
def test_model_is_the_one_reported(vendor: str, model: str | None) -> None:
    assert _read(PARSERS[vendor](), vendor, "ok", "whole").model == model


@pytest.mark.parametrize(
    ("vendor", "result"),
    [
        ("claude", "<tool_use_error>Error: No such tool available: Bash."),
        ("gemini", 'Tool "Bash" not found.'),
        ("opencode", "Model tried to call unavailable tool 'invalid'."),
    ],
)
def test_allowed_tool_use_is_shown_beside_answer(vendor: str, result: str) -> None:
    completion = _read(PARSERS[vendor](["Bash"]), vendor, "tool_call", "pieces")
    assert completion.text == REPLY
    (call,) = completion.tool_calls
    assert call["name"] == "Bash"
    assert call["preview"].startswith('{"command": "echo TOOL_RAN > tool_was_here.txt; echo done"')
    assert call["result"].startswith(result)
    assert call["ok"] is False


@pytest.mark.parametrize("vendor", PARSERS)
def test_answer_of_a_megabyte_is_read(vendor: str) -> None:
    run = recording(vendor, "ok")
    text = "".join(f"{number:07d} line\\n" for number in range(70_000))
    # gemini's answer comes in pieces; its first one grows.
    old = "Hello from the m" if vendor == "gemini" else REPLY
    parser = PARSERS[vendor]()
    parser.feed(run.stdout.replace(old.encode(), f"{text}{old}".encode()))
    answer = parser.completion(run.ended).text
    assert answer == text.replace("\\n", "\n") + REPLY
    assert parser.chars >= 910_000


@pytest.mark.parametrize("vendor", PARSERS)
def test_carriage_returns_and_strange_lines_change_nothing(vendor: str) -> None:
    run = recording(vendor, "ok")
    strange = (
        b'not json\r\n[1,2]\r\n"text"\r\n{"type":7}\r\n{"type":"news","x":{"y":[1]}}\r\n\r\n'
        + b'{"type":"assistant","message":null}\r\n{"type":"result_of_nothing"}\r\n'
        + b"[" * 100_000
        + b"\r\n"
    )
    parser = PARSERS[vendor]()
    parser.feed(strange + run.stdout.replace(b"\n", b"\r\n"))
    assert parser.completion(run.ended).text == REPLY


@pytest.mark.parametrize("vendor", PARSERS)
def test_half_a_stream_is_no_answer(vendor: str) -> None:
    run = recording(vendor, "ok")
    parser = PARSERS[vendor]()
    parser.feed(run.stdout[: run.stdout.rindex(b'{"type"') + 20])
    with pytest.raises(CallError, match="without a final answer") as caught:
        parser.completion(run.ended)
    assert caught.value.kind == "protocol"
