"""Which option a text names."""

from __future__ import annotations

import pytest

from rt_notebook.contract import match_option, match_stance
from rt_notebook.domain.normal import normal_form

OPTIONS = ["Ship", "Ship later", "A (small)", "Straße", "Wait."]


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("opt-1", "opt-1"),
        (" OPT-2. ", "opt-2"),
        ("ship", "opt-1"),
        ("SHIP   later;", "opt-2"),
        ("STRASSE", "opt-4"),
        ("Wait.", "opt-5"),
        ("opt-1=", "opt-1"),
        ("opt-1:", "opt-1"),
        ("opt-1)", "opt-1"),
        ("opt-1 Ship", "opt-1"),
        ("opt-1: Ship", "opt-1"),
        ("opt-1:Ship", "opt-1"),
        ("opt-1 (Ship)", "opt-1"),
        ("opt-2(ship later)", "opt-2"),
        ("opt-1 — Ship", "opt-1"),
        ("opt-1–Ship.", "opt-1"),
        ("opt-3 (A (small))", "opt-3"),
        ("opt-3 (A (small)", "opt-3"),
        ("opt-5 - Wait.", "opt-5"),
        ("**opt-1.**", "opt-1"),
        ("'\"`opt-1`;\".'", "opt-1"),
        ("“opt-1”", "opt-1"),
        ("‘Ship’", "opt-1"),
        ("« Ship later »", "opt-2"),
        ("「Ship」", "opt-1"),
        ("\uff4f\uff50\uff54\uff0d\uff11\uff1aShip", "opt-1"),
        ("opt-1" + " " * 5_000, "opt-1"),
    ],
)
def test_text_names_its_option(text: str, key: str) -> None:
    assert match_option(text, OPTIONS) == key
    assert match_stance(text, OPTIONS) == key


@pytest.mark.parametrize(
    "text",
    [
        "",
        "none",
        "opt-6",
        "opt-01",
        "opt-12",
        "opt 1",
        "1",
        "opt-1Ship",
        "opt-1 Ship later",
        "opt-1: Wait",
        "opt-1 - - Ship",
        "Ship, because it is cheap",
        "Ship!",
        "Ships",
        "*Ship",
        "”Ship“",
        "Wait",
        "either opt-1 or opt-2",
        "opt-1; opt-2",
        "SUPPORT (with caveats)",
        "other:",
        "other: .",
        "other: <label>",
        "**other: <Label>.**",
        "another: x",
        "<option id>",
        "$Ship$",
    ],
)
def test_text_names_nothing_by_guessing(text: str) -> None:
    assert match_option(text, OPTIONS) is None
    assert match_stance(text, OPTIONS) is None


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("other: sell", "other: sell"),
        ("Other : Sell  it.", "other: Sell  it."),
        ("**other: sell**", "other: sell"),
        ("“OTHER：売る”", "other: 売る"),
        ('other: "sell"', 'other: "sell"'),
        ("other: Ship", "other: Ship"),
        ("other: " + "long " * 500 + "label", "other: " + "long " * 500 + "label"),
    ],
)
def test_other_keeps_its_label_as_written(text: str, key: str) -> None:
    assert match_stance(text, OPTIONS) == key
    assert match_option(text, OPTIONS) is None


def test_labels_that_look_like_words_of_the_contract_are_labels() -> None:
    options = ["PASS", "other: thing", "None", "opt-2"]
    assert [match_stance(text, options) for text in ("pass.", "other: thing.", "none")] == [
        "opt-1",
        "opt-2",
        "opt-3",
    ]


def test_id_beats_label() -> None:
    assert match_option("opt-2", ["opt-2", "Wait"]) == "opt-2"
    assert match_option("opt-2 first", ["opt-2 first", "Wait"]) == "opt-1"


def test_emphasis_peels_layer_by_layer() -> None:
    options = ["Ship*", "Ship", '"Ship"']
    found = [
        match_option(text, options) for text in ("*Ship**", "*Ship*", "**Ship*", "*Ship", '"Ship"')
    ]
    assert found == ["opt-1", "opt-2", None, None, "opt-3"]


def test_decomposed_letters_name_the_same_label() -> None:
    assert match_option("Re\u0301e\u0301crire", ["Réécrire", "Wait"]) == "opt-1"
    assert match_option("\u1100\u1161", ["가", "나"]) == "opt-1"


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("Straße  X", "strasse x"),
        ("\uff26\uff55\u3000\uff57", "fu w"),
        (" É ", "é"),
        ("e\u0301", "é"),
        ("ﬁn", "fin"),
        ("Sh\u200bip\u00ad\ufeff", "ship"),
        ("\u2066Ship\u2069 \u202enow", "ship now"),
        ("Ship\u3164 \U000e0041", "ship"),
        ("❤\ufe0f", "❤"),
        ("\u200b", ""),
        ("a" + "\u0301" * 40, "a" + "\u0301" * 40),
    ],
)
def test_normal_form_is_what_two_texts_look_like(text: str, form: str) -> None:
    assert normal_form(text) == form
    assert normal_form(form) == form


def test_unseen_characters_neither_make_nor_hide_an_option() -> None:
    assert match_option("Sh\u200bip", OPTIONS) == "opt-1"
    assert match_option("Ship", ["Ship\u200b", "Wait"]) == "opt-1"
    assert match_option("\u200bopt-2\u2060", OPTIONS) == "opt-2"
