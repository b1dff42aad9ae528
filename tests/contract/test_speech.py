"""What is read from a turn of a discussion and from an observer's summary."""

from __future__ import annotations

import time

import pytest

from rt_notebook.contract.speech import NOTHING_SAID, read_speech, read_summary, spoken_text
from rt_notebook.domain.reply import Reply


@pytest.mark.parametrize(
    ("text", "spoken", "reasoning"),
    [
        ("Ship it.", "Ship it.", None),
        ("  \nShip **it**.\r\nNow.\n", "Ship **it**.\nNow.", None),
        ("<think>secret</think>\nShip it.", "Ship it.", "secret"),
        ("<THINK>\na\n</THINK>Ship it.", "Ship it.", "a"),
        ("secret\n</think>\nShip it.", "Ship it.", "secret"),
        ("secret.</think> Ship it.\n</think>", "Ship it.\n</think>", "secret."),
        ("One.\n<think>a</think>\nTwo.\n<think>b</think>", "One.\n\nTwo.", "a\nb"),
        ("<think>a</think><think>b</think>\nShip it.", "Ship it.", "a\nb"),
        ("a</think> <think>b</think> \t<think>c</think>Ship it.", "Ship it.", "a\nb\nc"),
        ("One.\n<think>a</think> Two, <think>b</think>.", "One.\n Two, <think>b</think>.", "a"),
        ("Ship it.\n<think>never closed", "Ship it.", "never closed"),
        ("The tag `<think>` is odd.", "The tag `<think>` is odd.", None),
        ("Close it with `</think>`.", "Close it with `</think>`.", None),
        ("\x1b[31mred\x1b[0m\ufeff", "red", None),
    ],
)
def test_reasoning_is_taken_off_and_nothing_else(
    text: str, spoken: str, reasoning: str | None
) -> None:
    reply = read_speech(text)
    assert spoken_text(reply) == spoken
    assert (reply.valid, reply.reasoning, reply.raw) == (True, reasoning, text)
    assert (reply.stance, reply.stance_key, reply.question, reply.errors) == (None, None, None, [])
    assert spoken_text(Reply.from_json(reply.to_json())) == spoken
    summary = read_summary(text)
    assert (summary.valid, summary.recommendation, summary.reasoning) == (True, spoken, reasoning)
    assert summary.raw in ("", text)


@pytest.mark.parametrize("text", ["<think>all of it</think>", "<think>", "x</think>\u200b"])
def test_reasoning_alone_says_nothing(text: str) -> None:
    reply = read_speech(text)
    assert (reply.valid, reply.errors, reply.passed) == (False, [NOTHING_SAID], False)
    assert not read_summary(text).valid


def test_lone_pass_is_a_pass() -> None:
    assert read_speech(" PASS \n").passed
    assert not read_speech("I pass.").passed


@pytest.mark.parametrize(
    "text",
    [
        "<think>" * 40_000,
        "</think>\n" * 40_000,
        "<think>\n</think>\n" * 20_000,
        "<think></think>" * 20_000,
        "</think>" + " " * 200_000,
        ("</think>" + " " * 200 + "<think>") * 1_000,
    ],
)
def test_tags_without_end_are_read_in_linear_time(text: str) -> None:
    begun = time.perf_counter()
    read_speech(text)
    assert time.perf_counter() - begun < 2
