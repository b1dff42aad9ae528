"""What holds for every text: reading never raises, and what was read survives being written."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rt_notebook.contract import (
    Reply,
    VerdictText,
    is_blank,
    read_question,
    read_reply,
    read_verdict,
    render_reply,
    similarity,
)
from tests.contract.replies import VALID

OPTIONS = ["Ship", "Ship later", "Ship*", "出荷する"]
SEATS = ["pm", "dev", "Seat A"]
VALUES = (
    "passed",
    "stance",
    "stance_key",
    "agree_with",
    "disagree",
    "new",
    "assumptions",
    "question",
)
FORM = (
    "STANCE: %\nAGREE_WITH: %, %\nDISAGREE:\n- %\n1. %\nNEW: %\n- %\nASSUMPTIONS:\n%\n"
    "QUESTION_FOR_HUMAN: %"
)
FIELDS = ("stance", "Agree_With", "disagree", "new", "assumptions", "question for human", "other")
# What the contract is made of, and what breaks readers.
PIECES = [
    *(
        "STANCE",
        "AGREE_WITH",
        "AGREE WITH",
        "DISAGREE",
        "NEW",
        "ASSUMPTIONS",
        "QUESTION_FOR_HUMAN",
        "PASS",
    ),
    *(
        "RECOMMENDATION",
        "Dissent",
        "KILL_CRITERIA",
        "OPEN_QUESTIONS",
        "TALLY",
        "opt-1",
        "opt-2 (Ship later)",
    ),
    *(
        ":",
        "：",
        " ",
        "  ",
        "\n",
        "\n",
        "\n",
        "\r\n",
        "\r",
        "\u2028",
        "\xa0",
        "\t",
        "\u3000",
        "\ufeff",
        "\u200b",
    ),
    *(
        "*",
        "**",
        "_",
        "`",
        "#",
        ">",
        "-",
        "- ",
        "• ",
        "1. ",
        "1.5",
        "```",
        "~~~",
        "```json\n",
        "[",
        "]",
        ",",
        "、",
    ),
    *(
        "<think>",
        "</think>",
        "{",
        "}",
        '"',
        '{"stance": "Ship"}',
        "“",
        "”",
        "'",
        "「",
        "other:",
        "<label>",
    ),
    *(
        "none",
        "n/a",
        "No questions",
        "?",
        "pm",
        "Seat A",
        "dev",
        "Ship",
        "Ship*",
        "出荷する",
        "e\u0301\u0323",
        "😀",
    ),
    *(
        "\x1b[1m",
        "\x1b]0;",
        "\x07",
        "\x1b",
        "\ud800",
        "\udc00",
        "\x00",
        ".",
        ";",
        "(",
        ")",
        "=",
        "—",
        "word ",
    ),
]


def _texts(count: int) -> list[str]:
    """Returns generated texts, the same in every run: garbage, grammar, mutated replies, JSON."""
    dice = random.Random(20_250_101)  # noqa: S311 (the same texts in every run)
    vectors = (Path(__file__).parents[1] / "vectors" / "contract.jsonl").read_text(encoding="utf-8")
    known = [json.loads(line)["text"] for line in vectors.strip().split("\n")]
    makers = [
        lambda: "".join(
            chr(dice.choice((dice.randrange(128), dice.randrange(0x3100)))) for _ in range(60)
        ),
        lambda: "".join(dice.choice(PIECES) for _ in range(dice.randrange(1, 60))),
        lambda: _mutated(dice, dice.choice(known)),
        lambda: _mutated(dice, VALID),
        lambda: _mutated(dice, FORM.replace("%", "%s") % tuple(_words(dice) for _ in range(9))),
        lambda: json.dumps({key: _json_value(dice) for key in FIELDS if dice.random() < 0.9}),
    ]
    return [dice.choice(makers)() for _ in range(count)]


def _words(dice: random.Random) -> str:
    return "".join(dice.choice(PIECES) for _ in range(dice.randrange(6))).replace("\n", " ")


def _json_value(dice: random.Random) -> object:
    return dice.choice((_words(dice), [_words(dice), _words(dice)], "opt-1", [], None, 1))


def _mutated(dice: random.Random, text: str) -> str:
    for _ in range(dice.randrange(1, 6)):
        at = dice.randrange(len(text) + 1)
        cut = at + dice.choice((0, 0, 1, 9))
        text = text[:at] + dice.choice(PIECES) + text[cut:]
    return text


@pytest.fixture(scope="module")
def generated() -> list[str]:
    return _texts(10_000)


def _read(text: str, *, trim: bool = True) -> Reply:
    return read_reply(text, options=OPTIONS, round=1, trim=trim, seat="dev", seats=SEATS)


def _values(reply: Reply) -> list[object]:
    return [getattr(reply, name) for name in VALUES]


def test_ten_thousand_texts_are_read_without_exception(generated: list[str]) -> None:
    for text in generated:
        reply, verdict = _read(text), read_verdict(text, options=OPTIONS)
        assert reply.valid is not bool(reply.errors)
        assert verdict.valid is not bool(verdict.errors)
        assert reply.raw is text
        assert Reply.from_json(reply.to_json()) == reply
        assert VerdictText.from_json(verdict.to_json()) == verdict
        assert len(set(reply.notes)) == len(reply.notes), text
        assert not reply.valid or reply.stance_key is not None


def test_generated_replies_reach_every_outcome(generated: list[str]) -> None:
    """Else the test above would prove little."""
    replies = [_read(text) for text in generated]
    assert {reply.valid for reply in replies} == {True, False}
    assert {note for reply in replies for note in reply.notes} == {
        *(
            "bom",
            "escapes",
            "surrogates",
            "think_removed",
            "fenced",
            "unclosed_fence",
            "json_reply",
        ),
        *("trimmed", "unknown_seat", "own_name"),
    }


def test_generated_replies_survive_rendering(generated: list[str]) -> None:
    for text in generated:
        reply = _read(text)
        if any(mark in text for mark in "\u2028\u2029\r"):
            continue
        again = _read(render_reply(reply, OPTIONS))
        assert _values(again) == _values(reply), text


def test_generated_lists_survive_rendering_untrimmed(generated: list[str]) -> None:
    for text in generated[:2_000]:
        reply = _read(text, trim=False)
        if any(mark in text for mark in "\u2028\u2029\r"):
            continue
        assert _values(_read(render_reply(reply), trim=False)) == _values(reply), text


pieces = st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=40).map("".join)


@settings(derandomize=True, database=None, max_examples=400, deadline=None)
@given(pieces)
def test_any_text_is_read_and_rendered(text: str) -> None:
    reply = _read(text)
    read_verdict(text, options=OPTIONS)
    if not any(mark in text for mark in "\u2028\u2029\r"):
        assert _values(_read(render_reply(reply, OPTIONS))) == _values(reply)


@settings(derandomize=True, database=None, max_examples=200, deadline=None)
@given(pieces)
def test_any_question_stays_itself_when_read_again(text: str) -> None:
    question = read_question(text)
    if question is not None:
        assert read_question(f"- {question}") == question


@settings(derandomize=True, database=None, max_examples=200, deadline=None)
@given(pieces, pieces)
def test_similarity_is_a_symmetric_share(first: str, second: str) -> None:
    share = similarity(first, second)
    assert 0.0 <= share <= 1.0
    assert share == similarity(second, first)
    assert similarity(first, first) in (0.0, 1.0)


@settings(derandomize=True, database=None, max_examples=200, deadline=None)
@given(pieces)
def test_blank_texts_hold_no_reply(text: str) -> None:
    if is_blank(text):
        reply = _read(text)
        assert (reply.stance, reply.passed, reply.disagree) == (None, False, [])
