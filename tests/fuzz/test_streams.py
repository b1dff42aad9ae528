"""The output of the vendors' commands: however it is cut, edited or made up, it is read the same.

A parser gives a completion or a CallError, and the same one for every way of cutting the bytes.
"""

from __future__ import annotations

import json
import time
from itertools import pairwise
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rt_notebook.providers.cli.process import Ended
from tests.fuzz.budget import tried
from tests.fuzz.seeds import recorded_streams
from tests.fuzz.streams import PARSERS, outcome
from tests.fuzz.texts import edited, mutated, values

_TEXT: Final = "STANCE: opt-1 and so on"
_DOCUMENTED: Final[tuple[dict[str, Any], ...]] = (
    {"event": "init", "init": {"model": "m", "conversation_id": "c"}},
    {"event": "step_update", "step_update": {"tool_info": {"name": "bash", "id": "1"}}},
    {"event": "step_update", "step_update": {"text": "hm"}},
    {"event": "result", "result": {"status": "SUCCESS", "response": _TEXT,
                                   "usage": {"input_tokens": 5, "output_tokens": 7,
                                             "total_tokens": 20, "thinking_tokens": 8}}},
)  # fmt: skip
"""Antigravity's events; it could not be recorded."""


def events_of(vendor: str) -> list[Any]:
    """Return every event that a vendor's command was seen to write."""
    found = [] if vendor != "antigravity" else list(_DOCUMENTED)
    for path in recorded_streams().get(vendor, ()):
        for line in path.read_bytes().split(b"\n"):
            try:
                found.append(json.loads(line))
            except ValueError:
                continue
    assert found
    return found


def outputs_of(vendor: str) -> list[bytes]:
    """Return what a vendor's command was seen to write."""
    paths = recorded_streams().get(vendor, ())
    found = [path.read_bytes() for path in paths]
    return found or [b"\n".join(json.dumps(event).encode() for event in _DOCUMENTED) + b"\n"]


ends = st.builds(
    Ended,
    st.sampled_from(("exit", "exit", "complete", "timeout", "stall", "output")),
    st.sampled_from((0, 0, 1, 42, 137, -9, None)),
    st.sampled_from(("", "boom\n", "\x1b[31mError: 429 \ud800" * 50)),
    st.just(1.5),
    st.sampled_from((None, 0.5)),
)


@st.composite
def streams(draw: st.DrawFn, vendor: str) -> bytes:
    """Return an output: a recorded one with edits, or edited events in any order."""
    if draw(st.booleans()):
        return draw(mutated(outputs_of(vendor)))
    known = events_of(vendor)
    lines: list[bytes] = []
    for _ in range(draw(st.integers(0, 12))):
        event = draw(st.sampled_from(known))
        event = draw(edited(event)) if draw(st.booleans()) else event
        lines.append(json.dumps(event).encode("utf-8", "surrogatepass"))
    return draw(st.sampled_from((b"\n", b"\r\n", b"\n\n"))).join(lines)


@st.composite
def cuts(draw: st.DrawFn, data: bytes) -> list[bytes]:
    """Return the bytes in pieces."""
    places = sorted(draw(st.lists(st.integers(0, len(data)), max_size=8)))
    bounds = [0, *places, len(data)]
    return [data[start:stop] for start, stop in pairwise(bounds)]


@pytest.mark.parametrize("vendor", PARSERS)
@tried(60)
@given(st.data())
def test_output_is_read_the_same_however_it_is_cut(vendor: str, data: st.DataObject) -> None:
    whole, ended = data.draw(streams(vendor)), data.draw(ends)
    expected = outcome(vendor, [whole], ended)
    assert outcome(vendor, data.draw(cuts(whole)), ended) == expected
    assert outcome(vendor, [whole[n : n + 1] for n in range(len(whole))], ended) == expected


@pytest.mark.parametrize("vendor", PARSERS)
@tried(8)
@given(st.data())
def test_no_output_takes_long(vendor: str, data: st.DataObject) -> None:
    """One event or a piece of one, again and again, in one line or in many, byte by byte too."""
    event = data.draw(st.one_of(st.sampled_from(events_of(vendor)), values))
    unit = json.dumps(event).encode("utf-8", "surrogatepass")[:400]
    unit += data.draw(st.sampled_from((b"", b"\n", b"\r\n")))
    whole = unit * (200_000 // len(unit))
    size = data.draw(st.sampled_from((1, 37, 4_096)))
    began = time.process_time()
    outcome(vendor, [whole[n : n + size] for n in range(0, len(whole), size)],
            Ended("exit", 0, "", 1.0))  # fmt: skip
    assert time.process_time() - began < 2.0
