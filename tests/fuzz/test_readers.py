"""Every reader of outside text: no text makes it fail otherwise than it says, or take long."""

from __future__ import annotations

import time
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.contract.test_properties import PIECES
from tests.fuzz.budget import tried
from tests.fuzz.seeds import seeds
from tests.fuzz.targets import TARGETS
from tests.fuzz.texts import EXTRA, fragments, mutated

LONG: Final = 40_000
"""Characters of a text whose reading is timed."""

MOST_S: Final = 2.0
"""Seconds of processor time that it may take; what is linear takes a hundredth of a second."""


def text_of(data: bytes) -> str:
    """Return bytes as text; those that aren't UTF-8 become lone surrogates."""
    return data.decode("utf-8", "surrogateescape")


@pytest.mark.parametrize("name", TARGETS)
@tried(60)
@given(st.data())
def test_any_text_is_read_or_refused(name: str, data: st.DataObject) -> None:
    """From grammar and noise, and from edited real ones."""
    whole = st.one_of(fragments, mutated(seeds(name)).map(text_of))
    TARGETS[name](data.draw(whole))


@pytest.mark.parametrize("name", TARGETS)
@tried(12)
@given(st.data())
def test_no_text_takes_long(name: str, data: st.DataObject) -> None:
    """A few pieces, again and again, within something real: what makes readers look back."""
    unit = "".join(data.draw(st.lists(st.sampled_from((*PIECES, *EXTRA)), min_size=1, max_size=4)))
    head, tail = (
        data.draw(st.one_of(st.just(""), mutated(seeds(name), 2).map(text_of)))[:2_000]
        for _ in range(2)
    )
    text = head + unit * (LONG // max(len(unit), 1)) + tail
    began = time.process_time()
    TARGETS[name](text)
    assert time.process_time() - began < MOST_S
