from __future__ import annotations

import time

import pytest

from rt_notebook.rendering.plain import cells, one_line, pad, plain, wrap


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07body", "body"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]0;never closed", "]0;never closed"),
        ("\x9b31mred", "red"),
        ("a\r\nb\rc\u2028d\x85e", "a\nb\nc\nd\ne"),
        ("a\tb", "a    b"),
        ("a\x00\x08\x7fb", "ab"),
        ("\u202eabc\u2066", "[U+202E]abc[U+2066]"),
        ("zero\u200bwidth\u2060\ufeff", "zerowidth"),
        ("a\u200db", "ab"),
        ("👩\u200d🔬 \u06cc\u200c\u062e", "👩\u200d🔬 \u06cc\u200c\u062e"),
        ("half \ud83d pair \ud83d\ude00", "half \ufffd pair 😀"),
        ("e\u0301\u0302\u0303\u0304\u0305\u0306", "e\u0301\u0302\u0303\u0304"),
        ("日本語 عربي", "日本語 عربي"),
    ],
)
def test_only_what_acts_or_hides_goes(text: str, shown: str) -> None:
    assert plain(text) == shown
    assert plain(shown) == shown


@pytest.mark.parametrize(
    "shape",
    [
        "\x1b",
        "\x1b[",
        "\x1b[0",
        "\x1b]",
        "\x9d",
        "\x1bP",
        "\u202e",
        "\u200d",
        "\u0301",
        "\ud800",
        "\r",
    ],
)
def test_cleaning_a_megabyte_is_quick(shape: str) -> None:
    text = shape * (1_000_000 // len(shape))
    began = time.perf_counter()
    plain(text)
    assert time.perf_counter() - began < 2


def test_lines_are_folded_and_cut() -> None:
    assert one_line(" a\n\n b ") == "a b"
    assert one_line("abcdef", 4) == "abc…"


def test_wide_characters_take_two_columns() -> None:
    assert cells("ab") == 2
    assert cells("日本") == 4
    assert cells("e\u0301") == 1
    assert pad("日本", 6) == "日本  "
    assert cells(pad("日本語日本語", 6)) == 6


def test_wrapping_keeps_lines_and_breaks_long_words() -> None:
    assert wrap("one two three\nfour", 11, "  ") == ["  one two", "  three", "  four"]
    assert wrap("x" * 20, 10) == ["x" * 10, "x" * 10]
    assert wrap("日" * 6, 8) == ["日" * 4, "日" * 2]
    assert wrap("a b", 10, "  ", "- ") == ["- a b"]
