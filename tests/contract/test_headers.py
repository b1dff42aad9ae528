"""What is a header line of a reply, and what it holds."""

from __future__ import annotations

from itertools import product

import pytest

from rt_notebook.contract import headers
from tests.contract.replies import read, read_section, read_stance


@pytest.mark.parametrize(
    ("line", "stance"),
    [
        ("STANCE: opt-1", "opt-1"),
        ("stance : opt-1", "opt-1"),
        ("\t# STANCE:opt-1", "opt-1"),
        ("STANCE： opt-1", "opt-1"),
        ("### **STANCE:** opt-1", "opt-1"),
        ("> > - **STANCE**: opt-1", "opt-1"),
        ("* **_STANCE:_** opt-1", "opt-1"),
        ("`STANCE`: opt-1", "opt-1"),
        ("**STANCE: opt-1**", "opt-1"),
        ("**### STANCE: opt-1**", "opt-1"),
        ("**STANCE:** **opt-1**", "**opt-1**"),
        ("**STANCE**:** opt-1", "opt-1"),
        ("STANCE:\u2028opt-1", "opt-1"),
        ("STANCE: opt-1\r", "opt-1"),
    ],
)
def test_decorated_header_holds_bare_value(line: str, stance: str) -> None:
    reply = read_stance(line)
    assert (reply.stance, reply.stance_key) == (stance, "opt-1")


@pytest.mark.parametrize(
    "line",
    [
        "MY STANCE: opt-1",
        "STANCES: opt-1",
        "STANCE - opt-1",
        "STANCE opt-1",
        "1. STANCE: opt-1",
        "| STANCE | opt-1 |",
        "\u017fTANCE: opt-1",  # folds to an s, but is another letter
        "STANCE: opt-1\u2028really",
        "STANCE: opt-1\rDISAGREE: x",
    ],
)
def test_other_line_is_no_header(line: str) -> None:
    assert read_stance(line).stance is None


def test_emphasis_of_value_stays() -> None:
    options = ["Ship*", "Ship"]
    for line in ("STANCE: Ship*", "**STANCE: Ship***", "**STANCE: Ship*", "* STANCE: Ship*"):
        reply = read(f"{line}\nDISAGREE:\nNEW:\nASSUMPTIONS:", options=options, round=0)
        assert (reply.stance, reply.stance_key) == ("Ship*", "opt-1"), line


@pytest.mark.parametrize(
    "line", ["## NEW", "# `NEW`", "**NEW**", "__new__", "- **NEW**", "*NEW*  "]
)
def test_lone_decorated_name_needs_no_colon(line: str) -> None:
    reply = read_section("DISAGREE", f"\n- cost\n{line}\n- speed")
    assert (reply.disagree, reply.new) == (["cost"], ["speed"])


@pytest.mark.parametrize(
    ("line", "shown"),
    [("* NEW", "NEW"), ("- NEW", "NEW"), ("NEW", "NEW"), ("> NEW", "> NEW"), ("**NEW", "*NEW")],
)
def test_lone_name_without_emphasis_is_bullet(line: str, shown: str) -> None:
    reply = read_section("DISAGREE", f"\n{line}\n- speed")
    assert reply.disagree == [shown, "speed"]


def test_name_parts_join_by_space_underscore_hyphen() -> None:
    text = "STANCE: opt-1\nagree-with: pm\nDISAGREE:\nNEW:\nASSUMPTIONS:\nQuestion for-human: Why?"
    reply = read(text)
    assert (reply.agree_with, reply.question) == (["pm"], "Why?")


def test_name_must_end_where_it_ends() -> None:
    assert read_section("NEW", "\nNEWS: old\nDISAGREEMENT: x").new == [
        "NEWS: old",
        "DISAGREEMENT: x",
    ]


def test_repeated_header_counts_its_last_content() -> None:
    reply = read("STANCE: opt-1\nAGREE_WITH:\nDISAGREE:\nNEW: a\nNEW: b\nNEW: c\nASSUMPTIONS:")
    assert reply.new == ["c"]
    assert reply.duplicates == ["NEW", "NEW"]
    assert reply.errors == ["duplicate NEW section"] * 2
    assert (reply.valid, reply.stance_key) == (False, "opt-1")


def test_headers_as_asked_are_what_the_pattern_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Header lines written as asked skip the pattern, which must say the same of them."""
    names = ("STANCE", "Stance", "AGREE_WITH", "AGREE WITH", "NEW", "TALLY", "**NEW**", " NEW")
    colons = (":", " :", "\uff1a", "::", ":**", "")
    rests = ("", " ", "\t", " opt-1 ", "a: b", "**x**", " *", "\rx", "x\u2028y", "\u2029", "x\r")
    lines = ["".join(parts) for parts in product(names, colons, rests)]
    found = [headers.reply_headers([line]) for line in lines]
    monkeypatch.setattr(headers, "_AS_ASKED", frozenset())
    assert found == [headers.reply_headers([line]) for line in lines]
    assert [bool(header) for header in found] == [headers.is_reply_header(line) for line in lines]
