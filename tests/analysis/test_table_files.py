"""Tables as files: what a spreadsheet opens computes nothing, and Parquet keeps what there is."""

from __future__ import annotations

import csv
import io
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rt_notebook.analysis.catalogue import TABLES
from rt_notebook.analysis.table_files import csv_text, spreadsheet_text, table_files
from tests.analysis import debates
from tests.rendering.hostile import CORPUS, assert_harmless_text
from tests.rendering.hostile_debate import everywhere


def without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)


def read(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode(), newline="")))


def test_parquet_holds_the_arrow_tables() -> None:
    state = debates.full().state
    files = table_files(state)
    assert list(files) == [f"{name}.parquet" for name in TABLES]
    found = pq.read_table(pa.BufferReader(files["replies.parquet"]))
    assert found.schema.metadata[b"rt_notebook.debate"] == state.id.encode()
    assert found.column_names == list(TABLES["replies"].columns)
    assert debates.NASTY in found.column("text").to_pylist()
    assert found.schema.field("disagree").type == pa.list_(pa.string())
    assert table_files(state) == files


def test_csv_takes_over_without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    without_pyarrow(monkeypatch)
    state = debates.full().state
    files = table_files(state)
    assert list(files) == [f"{name}.csv" for name in TABLES]
    for name, made in TABLES.items():
        head, *rows = read(files[f"{name}.csv"])
        assert head == list(made.columns)
        assert len(rows) == len(list(made.rows(state)))


def test_csv_writes_each_kind_of_value() -> None:
    columns = {
        "a": "text", "b": "int", "c": "float", "d": "flag", "e": "list", "f": "time",
    }  # fmt: skip
    rows = [
        ('x, "y"\nz', -3, -0.5, True, ["=1", "ü"], 1_750_000_000_123),
        (None, None, None, None, [], None),
    ]
    assert csv_text(columns, rows) == (  # type: ignore[arg-type]  # kinds are literals
        '"a","b","c","d","e","f"\n'
        '"x, ""y""\nz",-3,-0.5,"true","[""=1"", ""ü""]","2025-06-15T15:06:40.123+00:00"\n'
        '"","","","","[]",""\n'
    )


@pytest.mark.parametrize(
    "text",
    [
        "=1+1", "+1", "-1", "@SUM(A1)", "|cmd", "%0A", " =1", "\uff1d1", "'=1", "\t=1",
        "\r=1", "\n=1",
        "\u200b=1", "\x00=1", "\x1b[31m=1",
    ],
)  # fmt: skip
def test_texts_that_compute_get_an_apostrophe(text: str) -> None:
    assert spreadsheet_text(text).startswith("'")


def test_taking_one_apostrophe_away_gives_texts_back() -> None:
    texts = ["plain", "=1", "'", "''x", "a'b", "", "- point"]
    written = [spreadsheet_text(text) for text in texts]
    assert [text.removeprefix("'") for text in written] == texts
    assert written[0] == "plain"


@pytest.mark.parametrize("text", CORPUS, ids=range(len(CORPUS)))
def test_hostile_texts_stay_text(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    without_pyarrow(monkeypatch)
    csv.field_size_limit(1_000_000)
    for name, content in table_files(everywhere(text)).items():
        assert_harmless_text(content.decode())
        kinds = list(TABLES[name.removesuffix(".csv")].columns.values())
        for row in read(content)[1:]:
            assert len(row) == len(kinds)
            for kind, value in zip(kinds, row, strict=True):
                if kind in ("text", "list"):
                    assert not value.lstrip().startswith(("=", "+", "-", "@", "\t", "\r"))
