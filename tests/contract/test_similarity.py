"""How alike two texts are."""

from __future__ import annotations

import pytest

from rt_notebook.contract import Reply, bullets_text, similarity

LONG = "The migration cost is understated by at least six weeks."


def test_folded_texts_are_the_same() -> None:
    assert similarity(LONG, f"- **{LONG.upper()}**\n") == 1.0
    assert similarity(LONG, LONG.replace(" ", "\n\n  ")) == 1.0


def test_share_of_character_pairs_is_measured() -> None:
    one, two = "ab" * 30, "ab" * 30 + "cd"
    # ab, ba against ab, ba, bc, cd.
    assert similarity(one, two) == pytest.approx(2 / 4)
    assert similarity("ab" * 30, "cd" * 30) == 0.0


def test_short_texts_never_count() -> None:
    assert similarity("x" * 39, "x" * 39) == 0.0
    assert similarity("x" * 40, "x" * 40) == 1.0
    assert similarity("* " * 100, "* " * 100) == 0.0


def test_only_bullets_that_say_something_are_compared() -> None:
    reply = Reply(stance="opt-1", disagree=["a"], new=["none"], assumptions=["b", "c"])
    assert bullets_text(reply) == "a\nb\nc"
