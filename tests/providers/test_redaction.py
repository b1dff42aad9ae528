"""Keys in texts: hidden in every form that vendors print, while words and numbers stay."""

from __future__ import annotations

import time

import pytest

from rt_notebook.providers.redaction import HIDDEN, redact

MIXED = "a1B2c3D4e5F6g7H8"


@pytest.mark.parametrize(
    "text",
    [
        "Incorrect API key provided: sk-proj-abcDEF123456_-xyz.",
        "Incorrect API key provided: sk-pro***********************xyz1.",
        "key sk-ant-api03-AAAA1111bbbb2222",
        "key AIzaSyA1234567890abcdefghijklmnopqrstu is not valid",
        "gsk_0123456789abcdefABCDEF",
        "xai-0123456789abcdefABCDEF",
        "hf_0123456789abcdefABCD",
        "token ghp_0123456789abcdefABCDEF0123456789abcd",
        "AKIAIOSFODNN7EXAMPLE",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc_DEF-123",
        f"Authorization: Bearer {MIXED}",
        f"authorization: Basic {MIXED}==",
        f"Illegal header value b'Bearer {MIXED}'",
        f"{{'x-api-key': '{MIXED}'}}",
        f'{{"api_key": "{MIXED}"}}',
        f"x-goog-api-key={MIXED}",
        f"https://host.example/v1/models?alt=sse&key={MIXED}&x=1",
        f"https://user:{MIXED}@host.example/v1",
        f"OPENAI_API_KEY={MIXED}",
        f"password: {MIXED}",
        f"DB_PASSWORD='{MIXED}'",
        f"AWS_SECRET_ACCESS_KEY={MIXED}",
        f"MY_SESSION_TOKEN: {MIXED}",
    ],
)
def test_keys_of_every_form_are_hidden(text: str) -> None:
    clean = redact(text)
    assert HIDDEN in clean
    for secret in (MIXED, "abcDEF123456", "AAAA1111bbbb2222", "0123456789abcdef", "IOSFODNN7"):
        assert secret not in clean


@pytest.mark.parametrize(
    "text",
    [
        "the model 'gpt-4o' does not exist",
        "maximum context length is 128000 tokens, you asked for 130001",
        "max_tokens: 64000 > 8192",
        "Unexpected token: identifier",
        "token: 12345678",
        "set the environment variable ANTHROPIC_API_KEY",
        "request req_011CSHoEeqs5C35K2UUqR7Fy",
        "skill-building, task-force, risk-averse",
        "see https://platform.example.com/account/api-keys.",
        "Bearer authentication failed",
        "the key: a good brief",
        "",
    ],
)
def test_words_and_numbers_stay(text: str) -> None:
    assert redact(text) == text


def test_known_secret_is_hidden_wherever_it_stands() -> None:
    assert redact("xxplain-wordsxx", ["plain-words"]) == f"xx{HIDDEN}xx"


def test_longer_secret_is_hidden_first() -> None:
    assert redact("abcdef-123456", ["abcdef", "abcdef-123456"]) == HIDDEN


def test_short_secret_spoils_no_text() -> None:
    assert redact("a test is a test", ["test", ""]) == "a test is a test"


def test_query_keeps_what_follows_the_key() -> None:
    assert redact(f"?key={MIXED}&alt=sse") == f"?key={HIDDEN}&alt=sse"


@pytest.mark.parametrize(
    "piece",
    ["sk-", "token: ", "http://a", "eyJa.", "key=", "a:", "bearer ", "a_", "a_key ", "a_secret="],
)
def test_hostile_text_takes_linear_time(piece: str) -> None:
    began = time.perf_counter()
    redact(piece * (200_000 // len(piece)))
    assert time.perf_counter() - began < 2
