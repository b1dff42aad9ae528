"""Tables: every frame keeps its texts, and no CSV cell is one that a spreadsheet computes."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rt_notebook.analysis import arrow, frames
from rt_notebook.analysis.arrow_files import parquet_bytes
from rt_notebook.analysis.catalogue import TABLES, Table
from rt_notebook.analysis.table_files import csv_text, spreadsheet_text
from rt_notebook.analysis.tables import storable
from rt_notebook.domain.state import State
from tests.hostile.checks import assert_harmless_text, each
from tests.hostile.corpus import FAMILIES
from tests.hostile.debates import states_of

every_family = pytest.mark.parametrize("family", FAMILIES)
# What begins a formula, in every width.
_BEGINS = frozenset("=+-@|%")


def _computes(cell: str) -> bool:
    """Tells whether some spreadsheet may compute a cell."""
    return unicodedata.normalize("NFKC", cell.strip()[:1]) in _BEGINS


def _cells(made: Table, written: str) -> Iterator[tuple[str, Any, str]]:
    kinds = list(made.columns.values())
    head, *rows = csv.reader(io.StringIO(written, newline=""))
    assert head == list(made.columns)
    for row in rows:
        assert len(row) == len(kinds)
        yield from zip(kinds, made.columns, row, strict=True)


@every_family
def test_no_cell_of_a_csv_file_is_computed(family: str) -> None:
    csv.field_size_limit(1_000_000)

    def check(text: str) -> None:
        for state in states_of(text)[:2]:
            for name, made in TABLES.items():
                written = csv_text(made.columns, made.rows(state))
                assert_harmless_text(written)
                for kind, column, cell in _cells(made, written):
                    if kind in ("text", "list"):
                        assert not _computes(cell), (name, column, cell[:60])

    each(family, check)


@every_family
def test_taking_the_apostrophe_away_gives_the_text_back(family: str) -> None:
    def check(text: str) -> None:
        cell = spreadsheet_text(text)
        assert not _computes(cell)
        assert spreadsheet_text(cell.removeprefix("'")) == cell

    each(family, check)


def _texts(made: Table, states: Sequence[State]) -> list[Any]:
    """Returns what stands in the text columns, as the log has it."""
    kinds = list(made.columns_of_many.values())
    return [
        [storable(text) for text in value] if kind == "list" else value and storable(value)
        for row in made.rows_of_many(states)
        for kind, value in zip(kinds, row, strict=True)
        if kind in ("text", "list")
    ]


def _held(made: Table, rows: Sequence[Sequence[Any]]) -> list[Any]:
    """Returns the same from a frame's rows."""
    kinds = list(made.columns_of_many.values())
    return [
        list(value) if kind == "list" else value
        for row in rows
        for kind, value in zip(kinds, row, strict=True)
        if kind in ("text", "list")
    ]


@pytest.mark.parametrize("name", TABLES)
def test_frames_and_parquet_keep_every_text_as_it_is(name: str) -> None:
    made = TABLES[name]
    texts = [text for family in FAMILIES.values() for text in family]
    states = [state for text in texts for state in states_of(text)[:2]]
    expected = _texts(made, states)
    columns = made.columns_of_many
    frame = frames.table_of_many(made, states)
    rows = frame.astype(object).where(frame.notna(), None).to_numpy().tolist()
    assert _held(made, rows) == expected
    table = arrow.to_arrow(columns, made.rows_of_many(states))
    assert _held(made, [list(row.values()) for row in table.to_pylist()]) == expected
    content = parquet_bytes(columns, made.rows_of_many(states), "x")
    assert pq.read_table(pa.BufferReader(content)).equals(table)
    polars = arrow.to_polars(columns, made.rows_of_many(states))
    assert _held(made, polars.rows()) == expected
