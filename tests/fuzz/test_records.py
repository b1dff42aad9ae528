"""Records that anybody may have edited, cut, reordered: read to the same again, or refused.

What isn't refused can be shown in every way, without another exception.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from rt_notebook.analysis.result import Result
from rt_notebook.contract.record import Record, lines_of, read_record
from rt_notebook.domain.state import fold
from rt_notebook.errors import RoundtableError, StoreError
from rt_notebook.next_steps import snapshot_of
from rt_notebook.store.record import public, record_text
from tests.fuzz.budget import tried
from tests.fuzz.seeds import records
from tests.fuzz.texts import edited, mutated
from tests.recording.scenes import tables


@cache
def originals() -> list[list[dict[str, Any]]]:
    """Return the lines of the repository's records."""
    return [[json.loads(line) for line in text.splitlines()] for text in records()]


def _changed(draw: st.DrawFn, found: list[Any]) -> list[Any]:
    here = draw(st.integers(0, len(found) - 1))
    what = draw(st.sampled_from(("say", "say", "say", "edit", "drop", "twice", "swap", "cut")))
    line = found[here]
    if what == "say" and isinstance(line, dict):
        line = {**line, "body": draw(edited(line.get("body"), 1))}
    elif what == "edit":
        line = draw(edited(line, 2))
    elif what == "swap":
        other = draw(st.integers(0, len(found) - 1))
        line, found[other] = found[other], line
    found[here] = line
    kept = {"drop": found[:here] + found[here + 1 :], "cut": found[: here + 1]}
    kept["twice"] = found[: here + 1] + found[here:]
    return kept.get(what) or found


@st.composite
def edited_records(draw: st.DrawFn) -> str:
    """Return a record after some edits of its lines and of what they say."""
    found: list[Any] = list(draw(st.sampled_from(originals())))
    for _ in range(draw(st.integers(1, 4))):
        found = _changed(draw, found)
    if draw(st.booleans()):  # what an editor that renumbers leaves
        found = [
            {**line, "seq": number} if isinstance(line, dict) else line
            for number, line in enumerate(found, 1)
        ]
    text = "".join(json.dumps(line) + "\n" for line in found)
    return text[: len(text) - draw(st.sampled_from((0, 0, 1, 30)))]


def show(record: Record, everything: bool) -> None:
    """Show a record as `show`, `export` and `diff` do."""
    result = Result(record.state, record.events, outside=snapshot_of)
    json.dumps(result.state.to_json(), allow_nan=False)
    assert str(result)
    if everything:
        tables(result)
        assert result._repr_mimebundle_()


def read_or_refused(text: str) -> Record | None:
    """Return the record that a text holds, or None where it is refused as the contract says."""
    try:
        return read_record(text, "r")
    except StoreError:
        return None


@tried(150)
@given(edited_records(), st.integers(0, 9))
def test_edited_record_is_shown_or_refused(text: str, depth: int) -> None:
    record = read_or_refused(text)
    if record is None:
        return
    assert fold(record.events) == record.state
    # What JSON can't hold is gone after the first writing; then nothing changes any more.
    written = read_record(lines_of(record.events), "again")
    assert lines_of(written.events) == lines_of(record.events)
    show(record, everything=depth == 0)
    try:
        once = record_text(record.events, record.spec)
    except RoundtableError:
        return
    kept = read_record(once, "kept")
    assert kept.events == tuple(public(kept.events)), "hiding twice changes something"


@tried(60)
@given(mutated([text.encode() for text in records()]))
def test_damaged_record_is_read_or_refused(data: bytes) -> None:
    record = read_or_refused(data.decode("utf-8", "surrogateescape"))
    if record is not None:
        show(record, everything=False)


def test_every_beginning_of_a_record_is_read() -> None:
    """Torn at any byte: what stands before the last line end is there, the rest is told."""
    text = min(records(), key=len)
    ends = [place for place, char in enumerate(text) if char == "\n"]
    first = ends[0]
    for size in range(first + 1, len(text), 97):
        record = read_record(text[:size], "r")
        whole = sum(end < size for end in ends)
        assert len(record.events) - whole in (0, 1)
        assert record.torn is (text[size - 1] != "\n" and len(record.events) == whole)
