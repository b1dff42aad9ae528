"""What goes wrong with tables: mixed types, missing values, empty ones, trips through a file."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import rt_notebook as rt
from rt_notebook.domain.usage import Usage
from tests.cases.catalogue import case, given
from tests.cases.reviews import hear, others, review, row_of, speaker
from tests.engine.debates import reply


def _counted(name: str, key: str, tokens: Any) -> rt.Seat:
    """Returns a seat whose answers say that they took so many tokens."""

    def answer(call: rt.Call) -> rt.Completion:
        return rt.Completion(reply(key, name), usage=Usage(tokens, 7, None, None, None))

    return speaker(name, answer)


@case("a7-rec-01", "a7-rec-11")
@pytest.mark.parametrize("id", ["a7-rec-01", "a7-rec-11"])
def test_column_of_figures_holds_figures_and_gaps(id: str) -> None:
    """Whatever a seat's provider says of its tokens: a number, a fraction, a word, nothing."""
    field = "tokens" if id.endswith("11") else "confidence"
    said = [row[field] for row in json.loads(given(id))]
    seats = [_counted(f"s{n}", f"opt-{n % 2 + 1}", value) for n, value in enumerate(said)]
    result = review(*seats, rounds=0, chairman="scripted").run_sync()
    column = result.replies["prompt_tokens"]
    assert str(column.dtype) == "Int64"
    whole = [value if isinstance(value, int) else None for value in said]
    assert [None if pd.isna(value) else value for value in column] == whole
    assert result.to_polars()["prompt_tokens"].to_list() == whole
    assert result.to_polars()["prompt_tokens"].dtype == pl.Int64


@case("a7-rec-02")
def test_list_column_holds_lists_in_a_fixed_order_of_columns() -> None:
    said = json.loads(given("a7-rec-02"))
    texts = {
        "ana": reply("opt-1", "a").replace("AGREE_WITH: []\n", ""),
        "bo": reply("opt-2", "b", agree=said[1]["agree_with"]),
        "cy": reply("opt-1", "c").replace("AGREE_WITH: []", f"AGREE_WITH: {said[2]['agree_with']}"),
    }
    result = review(*(speaker(name, text) for name, text in texts.items()), rounds=0).run_sync()
    assert result.replies["agree_with"].tolist() == [[], ["ana"], ["ana"]]
    columns = list(result.replies.columns)
    assert columns == result.to_polars().columns
    assert columns == list(hear("PASS").replies.columns)


@case("a7-rec-05")
def test_missing_text_is_na_on_every_pandas() -> None:
    """The same tests run once more on the oldest pandas: `make test` does that."""
    result = hear("No form at all.")
    stances = result.replies.set_index("seat")["stance"]
    assert stances["ana"].isna().all()
    assert stances["bo"].notna().all()
    assert stances.dropna().tolist() == ["against", "support"] * 2
    assert result.to_polars().filter(pl.col("seat") == "ana")["stance"].to_list() == [None, None]


@case("a7-rec-08")
def test_text_that_looks_like_csv_or_numbers_comes_back_whole() -> None:
    first, second = (str(row["new"]) for row in json.loads(given("a7-rec-08")))
    ana = reply("opt-1").replace("NEW:", f"NEW:\n- {first.replace(chr(10), ' ')}")
    bo = reply("opt-2").replace("NEW:", f"NEW:\n- {second}")
    frame = review(speaker("ana", ana), speaker("bo", bo), rounds=0).run_sync().replies
    assert frame["new"].tolist() == [['a, "b" c'], ["42"]]
    raw = hear(first).replies
    for table in (frame, raw):
        text = table.drop(columns=["agree_with", "disagree", "new", "assumptions"])
        again = pd.read_csv(io.StringIO(text.to_csv(index=False)), dtype=text.dtypes.to_dict())
        pd.testing.assert_frame_equal(again, text)
    assert row_of(hear(first))["text"] == first


@case("a7-rec-10")
def test_empty_table_has_every_column_and_joins_a_full_one(tmp_path: Path) -> None:
    assert json.loads(given("a7-rec-10")) == []
    record, begun = tmp_path / "full.jsonl", tmp_path / "begun.jsonl"
    full = review(*others(), record=record).run_sync()
    # A debate that has only begun.
    begun.write_text(record.read_text(encoding="utf-8").split("\n")[0] + "\n", encoding="utf-8")
    empty = rt.load(begun)
    for name in ("replies", "calls", "questions", "tool_calls", "flips", "points"):
        none, table = getattr(empty, name), getattr(full, name)
        assert len(none) == 0
        assert none.dtypes.to_dict() == table.dtypes.to_dict()
        joined = pd.concat([none, table], ignore_index=True)
        assert joined.dtypes.to_dict() == table.dtypes.to_dict()
        assert len(joined) == len(table)
        assert empty.to_polars(name).schema == full.to_polars(name).schema
