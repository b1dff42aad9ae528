"""What public bug reports say models do to structured replies, and what we make of each."""

from __future__ import annotations

import pytest

from rt_notebook.contract import match_option, without_empty
from tests.contract.replies import read


def test_bold_headers_give_all_six_fields() -> None:
    reply = read(
        "**STANCE:** Wait\n**AGREE_WITH:** bo\n**DISAGREE:** cy - the date\n**NEW:** none\n"
        "**ASSUMPTIONS:** two engineers\n**QUESTION_FOR_HUMAN:** none"
    )
    assert (reply.valid, reply.stance, reply.agree_with) == (True, "Wait", ["bo"])
    assert (reply.disagree, reply.assumptions) == (["cy - the date"], ["two engineers"])
    assert (without_empty(reply.new), reply.question) == ([], None)


def test_later_words_never_overwrite_the_stance() -> None:
    reply = read("STANCE: Ship. Others may say Wait, but Wait is weaker.\nNEW: none")
    assert (reply.stance_key, reply.stance) == (
        None,
        "Ship. Others may say Wait, but Wait is weaker.",
    )


def test_draft_and_final_block_count_the_last() -> None:
    reply = read("STANCE: Wait\nNEW: a\n\nOn reflection, my final answer:\n\nSTANCE: Ship\nNEW: b")
    assert (reply.stance, reply.new, reply.duplicates) == ("Ship", ["b"], ["STANCE", "NEW"])


@pytest.mark.parametrize("text", ["either opt-1 or opt-2", "forty-two", "opt 2", "2)"])
def test_answer_is_never_mapped_to_the_nearest_option(text: str) -> None:
    assert match_option(text, ["Ship", "Ship in March"]) is None


@pytest.mark.parametrize("text", ["**OPT-2: Ship in March**", "ship in march", "**opt-2**"])
def test_answer_with_label_or_decoration_names_its_option(text: str) -> None:
    assert match_option(text, ["Ship", "Ship in March"]) == "opt-2"


def test_curly_quotes_around_names_and_values_are_peeled() -> None:
    text = 'STANCE: “Ship”\nAGREE_WITH: ‘bo’, “cy”\nNEW: he said „later" twice'
    reply = read(text, seats=["bo", "cy"])
    assert (reply.stance_key, reply.agree_with) == ("opt-1", ["bo", "cy"])
    assert reply.new == ['he said „later" twice']


def test_full_width_punctuation_is_read() -> None:
    reply = read("STANCE：反对\nAGREE_WITH：bo、cy\nNEW：无", options=["赞成", "反对"])
    assert (reply.stance, reply.stance_key) == ("反对", "opt-2")
    assert (reply.agree_with, without_empty(reply.new)) == (["bo", "cy"], [])


def test_colon_dropped_is_an_error_that_names_the_section() -> None:
    reply = read("STANCE Wait\nAGREE_WITH bo\nNEW none")
    assert [error.split()[0] for error in reply.errors] == [
        "STANCE",
        "DISAGREE",
        "NEW",
        "ASSUMPTIONS",
        "AGREE_WITH",
    ]


def test_think_tag_never_closed_keeps_the_answer() -> None:
    reply = read("<think>\nLet me see.\nSTANCE: Ship\nAGREE_WITH: bo\nNEW: none")
    assert (reply.stance, reply.agree_with, reply.notes) == ("Ship", ["bo"], ["think_removed"])


def test_untagged_musing_before_the_first_header_is_dropped() -> None:
    reply = read("Okay, so I have to decide. Bo says yes. Hmm.\n\nSTANCE: Ship\nNEW: none")
    assert (reply.stance, reply.new, reply.reasoning) == ("Ship", ["none"], None)


@pytest.mark.parametrize("line", ["SHIP (with caveats)", "maybe later", "$Ship$", "none"])
def test_unknown_stance_keeps_its_text_and_no_key(line: str) -> None:
    reply = read(f"Stance: {line}\nNEW: none")
    assert (reply.stance, reply.stance_key) == (line, None)


def test_prose_without_stance_line_is_never_interpreted() -> None:
    reply = read("I fully support Ship and agree with bo on everything.")
    assert (reply.valid, reply.stance, reply.stance_key, reply.agree_with) == (
        False,
        None,
        None,
        [],
    )


def test_refusal_words_inside_a_valid_reply_are_content() -> None:
    words = "bo - users will read \"I'm sorry, I can't help\" too often"
    reply = read(f"STANCE: Wait\nAGREE_WITH: []\nDISAGREE: {words}\nNEW: none\nASSUMPTIONS: none")
    assert (reply.valid, reply.disagree) == (True, [words])


def test_table_is_no_reply() -> None:
    reply = read(
        "| Field | Value |\n|---|---|\n| STANCE | Ship |\n| AGREE_WITH | bo |\n| NEW | none |"
    )
    assert (reply.valid, reply.stance) == (False, None)


def test_many_ways_to_say_nothing_all_say_nothing() -> None:
    reply = read(
        "AGREE_WITH: n/a\nDISAGREE: -\nNEW: None.\nASSUMPTIONS: (none)\n"
        "QUESTION_FOR_HUMAN: No questions at this time.\nSTANCE: Ship"
    )
    assert (reply.valid, reply.agree_with, reply.question) == (True, [], None)
    assert without_empty([*reply.disagree, *reply.new, *reply.assumptions]) == []


def test_reply_cut_off_keeps_what_came() -> None:
    reply = read("STANCE: Wait\nDISAGREE: the price is")
    assert (reply.stance_key, reply.disagree, reply.valid) == ("opt-2", ["the price is"], False)
