"""From sections to values: bullets, names, validity, notes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast

import pytest

from rt_notebook.contract import (
    is_blank,
    is_empty_bullet,
    read_question,
    read_reply,
    read_verdict,
    similarity,
    without_empty,
)
from rt_notebook.errors import UsageError
from tests.contract.replies import OPTIONS, REST, VALID, read, read_section, read_stance


@pytest.mark.parametrize(
    ("line", "bullet"),
    [
        ("- cost", "cost"),
        ("-cost", "cost"),
        ("*cost", "cost"),
        ("•\u3000cost", "cost"),
        ("10) cost", "cost"),
        ("2. cost", "cost"),
        ("1.5 M users", "1.5 M users"),
        ("3)cost", "3)cost"),
        ("-5 % margin", "-5 % margin"),
        ("- -5 % margin", "-5 % margin"),
        ("- - cost", "- cost"),
        ("– cost", "– cost"),
        ("> - cost", "cost"),
        ("> > 1. cost", "cost"),
        ("> 5 % churn", "> 5 % churn"),
        ("none", "none"),
        ("two\u2028lines", "two\u2028lines"),
    ],
)
def test_bullet_loses_its_mark_only(line: str, bullet: str) -> None:
    assert read_section("ASSUMPTIONS", f"\n{line}").assumptions == [bullet]


def test_empty_lines_and_marks_are_no_bullets() -> None:
    assert read_section("NEW", " \n\n- \n*\n3.\n>\n   \n- one").new == ["one"]


@pytest.mark.parametrize(
    ("value", "names"),
    [
        (" pm, dev", ["pm", "dev"]),
        (" [pm; dev]", ["pm", "dev"]),
        (" [pm, , dev", ["pm", "dev"]),
        (" pm、dev\uff0cqa", ["pm", "dev", "qa"]),
        (" none", []),
        (" empty", []),
        (" -", []),
        (" []", []),
        (" n/a, (none), None.", []),
        (" pm, PM, pm", ["pm"]),
        ("\n- pm\n- Seat B", ["pm", "Seat B"]),
        ("\n> 1. pm\n> 2. dev", ["pm", "dev"]),
        (" pm\n- dev", ["pm - dev"]),
        ("\n**pm**", ["**pm**"]),
    ],
)
def test_agree_with_is_split_into_names(value: str, names: list[str]) -> None:
    assert read_section("AGREE_WITH", value).agree_with == names


def test_agree_with_takes_seats_own_spelling() -> None:
    text = VALID.replace("[]", "PM, “Dev”, ghost, QA, Straße")
    reply = read(text, seat="qa", seats=["pm", "dev", "qa", "STRASSE"])
    assert reply.agree_with == ["pm", "dev", "ghost", "STRASSE"]
    assert reply.notes == ["unknown_seat", "own_name"]
    assert reply.valid


def test_agree_with_takes_letters_of_anonymous_seats() -> None:
    reply = read(
        VALID.replace("[]", "b, Seat C, A"), seat="Seat A", seats=["Seat A", "Seat B", "Seat C"]
    )
    assert (reply.agree_with, reply.notes) == (["Seat B", "Seat C"], ["own_name"])


def test_single_line_sections_join_their_lines() -> None:
    reply = read(f"STANCE: other:\n a third\n\nway \n{REST}\nQUESTION_FOR_HUMAN: Who\npays?")
    assert reply.stance == "other:  a third  way"
    assert reply.stance_key == "other: a third  way"
    assert reply.question == "Who pays?"


def test_too_many_bullets_are_trimmed_without_error() -> None:
    text = (
        "STANCE: opt-1\nAGREE_WITH:\nDISAGREE:\n-a\n-b\n-c\n-d\nNEW:\n-a\n-b\n-c\nASSUMPTIONS:\n"
        + "-a\n" * 9
    )
    reply = read(text)
    assert (reply.disagree, reply.new, len(reply.assumptions)) == (["a", "b", "c"], ["a", "b"], 9)
    assert (reply.trimmed, reply.notes, reply.errors) == (["DISAGREE", "NEW"], ["trimmed"], [])
    assert reply.raw == text
    hidden = read(text, trim=False)
    assert (len(hidden.disagree), len(hidden.new), hidden.trimmed, hidden.notes) == (4, 3, [], [])


@pytest.mark.parametrize(
    "text", ["PASS", " pass.\n", "**Pass**", "**PASS.**", "*PASS*.", "```\nPASS\n```"]
)
def test_lone_pass_is_a_valid_reply(text: str) -> None:
    reply = read(text)
    assert (reply.valid, reply.passed, reply.stance_key, reply.stance) == (True, True, "PASS", None)


@pytest.mark.parametrize("text", ["PASS!", "PASS, for now", "PASS\nPASS", "I PASS", "PASS.."])
def test_pass_among_words_is_none(text: str) -> None:
    reply = read(text)
    assert (reply.valid, reply.passed, reply.stance_key) == (False, False, None)


def test_pass_as_stance_names_nothing() -> None:
    assert read_stance("STANCE: PASS").stance_key is None


def test_missing_parts_are_one_error_each() -> None:
    assert [error.partition(":")[0] for error in read("").errors] == [
        "STANCE is missing",
        "DISAGREE is missing",
        "NEW is missing",
        "ASSUMPTIONS is missing",
        "AGREE_WITH is missing",
    ]


def test_stance_that_names_nothing_lists_the_ids() -> None:
    reply = read_stance("STANCE: <option id>")
    assert reply.errors == [
        "STANCE names no option: write one of opt-1, opt-2, or other: and a label of your own"
    ]
    assert (reply.valid, reply.stance, reply.stance_key) == (False, "<option id>", None)


def test_agree_with_is_required_from_round_one() -> None:
    text = VALID.replace("AGREE_WITH: []\n", "")
    assert read(text, round=0).valid
    assert read(text, require_agree=False).valid
    assert not read(text, round=1).valid


def test_errors_never_hold_model_text() -> None:
    hostile = "<script>alert(1)</script>"
    assert hostile not in " ".join(read_stance(f"STANCE: {hostile}").errors)


@pytest.mark.parametrize(
    ("before", "note"),
    [
        ("\ufeff", "bom"),
        ("\x1b[1;31m", "escapes"),
        ("\x1b]0;title\x07", "escapes"),
        ("\x1b]8;;http://x\x1b\\", "escapes"),
        ("\x1b", "escapes"),
        ("x\ud800\n", "surrogates"),
    ],
)
def test_unseen_characters_are_removed_with_note(before: str, note: str) -> None:
    reply = read(before + VALID)
    assert (reply.valid, reply.stance, reply.notes) == (True, "opt-1", [note])
    assert reply.raw == before + VALID


def test_values_hold_no_control_leftovers() -> None:
    reply = read_stance("STANCE:\x1b[0m\tother:\xa0a\ud83d\ude00\ud83d b\x1b]0;never ended")
    assert reply.stance == "other: a😀\ufffd b]0;never ended"


def test_line_ends_and_wide_spaces_leave_nothing() -> None:
    reply = read(
        "\ufeffSTANCE: opt-1\r\nAGREE_WITH:\tbo\r\nDISAGREE:\xa0x\r\n"
        "NEW: none\r\nASSUMPTIONS: y\r\n"
    )
    assert (reply.stance, reply.agree_with, reply.disagree) == ("opt-1", ["bo"], ["x"])
    assert (reply.new, reply.assumptions, reply.valid) == (["none"], ["y"], True)


@pytest.mark.parametrize(
    "text", ["", " \n\t", "\u200b\ufeff\u2060", "\x1b[0m\n", "\u3000\u2028\xa0"]
)
def test_unseen_text_is_blank(text: str) -> None:
    assert is_blank(text)


@pytest.mark.parametrize("text", ["PASS", "-", "\u200bx", "\x1b[0m.", "\ufffd"])
def test_seen_text_is_not_blank(text: str) -> None:
    assert not is_blank(text)


@pytest.mark.parametrize(
    "text", ["none", "N/A", "nothing", "-", "(none)", "None.", "**none**", "—", "无", ""]
)
def test_bullet_that_says_nothing_is_empty(text: str) -> None:
    assert is_empty_bullet(text)
    assert without_empty(["a", text, "b"]) == ["a", "b"]


@pytest.mark.parametrize("text", ["none of them", "nothing new", "n/a rates rise", "0", "no"])
def test_bullet_with_words_is_not_empty(text: str) -> None:
    assert not is_empty_bullet(text)


@pytest.mark.parametrize("given", [None, 5, b"STANCE: opt-1", ["STANCE: opt-1"]])
@pytest.mark.parametrize("read_it", [read_reply, read_verdict, read_question])
def test_what_is_no_text_is_named(read_it: Callable[[Any], object], given: object) -> None:
    name = getattr(read_it, "__name__", "")
    told = re.escape(f"{name}: a text is expected, got {given!r}")
    with pytest.raises(UsageError, match=f"^{told}$"):
        read_it(given)
    with pytest.raises(UsageError, match=r"^similarity: a text is expected"):
        similarity("a", cast(str, given))


def test_new_keeps_the_word_none() -> None:
    assert read(VALID).new == ["none"]


def test_options_are_needed_only_to_name_one() -> None:
    assert read_reply(VALID).stance_key is None
    assert read_reply(VALID, options=tuple(OPTIONS)).stance_key == "opt-1"


@pytest.mark.parametrize("text", ["PASS", "nothing of it", VALID])
def test_changed_lists_of_one_reply_are_no_other_ones(text: str) -> None:
    mine = read_reply(text, options=OPTIONS)
    for value in mine:
        if isinstance(value, list):
            value.append("mine")
    theirs = read_reply(text, options=OPTIONS)
    assert "mine" not in str(theirs)
