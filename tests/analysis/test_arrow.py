"""Tables as Arrow and polars: the same values and types, with either package or with neither."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from rt_notebook.analysis.catalogue import TABLES
from rt_notebook.analysis.many import frames
from rt_notebook.analysis.result import Result
from rt_notebook.errors import MissingExtraError, OptionError
from tests.analysis.debates import Log, empty, full, interrupted


def result_of(log: Log) -> Result:
    return Result(log.state, log.events)


@pytest.mark.parametrize("name", TABLES)
def test_types_never_vary(name: str) -> None:
    schemas = {str(result_of(make()).to_arrow(name).schema) for make in (full, empty, interrupted)}
    assert len(schemas) == 1
    polars = [result_of(make()).to_polars(name).schema for make in (full, empty, interrupted)]
    assert polars[0] == polars[1] == polars[2]


@pytest.mark.parametrize("name", [name for name in TABLES if name not in ("stances",)])
def test_values_equal_the_frames(name: str) -> None:
    result = result_of(full())
    expected = result.to_pandas(name).to_dict("records")
    rows = [
        {key: None if value is pd.NA else value for key, value in row.items()} for row in expected
    ]
    assert result.to_arrow(name).to_pylist() == rows
    assert result.to_polars(name).to_dicts() == rows


def test_replies_are_the_default() -> None:
    result = result_of(full())
    assert result.to_arrow().column_names == list(result.replies)
    assert result.to_polars().columns == list(result.replies)
    assert result.to_pandas().equals(result.replies)
    assert result.to_polars().schema["agree_with"] == pl.List(pl.String)
    schema = result.to_arrow().schema
    assert (schema.field("round").type, schema.field("seat").type) == (pa.int64(), pa.string())
    assert schema.field("agree_with").type == pa.list_(pa.string())


def test_polars_reads_result_by_itself() -> None:
    result = result_of(full())
    frame = pl.DataFrame(result)
    assert frame.shape == result.replies.shape
    assert frame["seat"].to_list() == result.replies["seat"].tolist()


def test_arrow_reads_result_by_itself() -> None:
    result = result_of(full())
    assert pa.table(result).equals(result.to_arrow())
    both = frames([result, result_of(empty())])
    assert pa.table(both).num_rows == len(both.replies)


def test_stances_come_as_rows() -> None:
    rows = result_of(interrupted()).to_polars("stances").rows()
    assert rows[-1] == ("pm", 1, "Wait")
    assert len(rows) == 6


def test_lone_surrogates_never_reach_arrow() -> None:
    log = empty()
    log.start_round(0)
    log.say("rv", "opt-1", raw="half \ud83d of it", new=["\ud83d"])
    assert result_of(log).to_arrow()["text"].to_pylist() == ["half ? of it"]
    assert result_of(log).to_polars()["new"].to_list() == [["?"]]


@pytest.mark.parametrize("method", ["to_arrow", "to_polars", "to_pandas"])
def test_unknown_table_names_the_near_one(method: str) -> None:
    for source in (result_of(full()), frames([])):
        with pytest.raises(OptionError, match=r"no table 'reply'.*did you mean 'replies'"):
            getattr(source, method)("reply")


def hide(monkeypatch: pytest.MonkeyPatch, *packages: str) -> None:
    for package in packages:
        monkeypatch.setitem(sys.modules, package, None)


@pytest.mark.parametrize(
    ("package", "extra", "ask"),
    [
        ("pyarrow", "arrow", lambda result: result.to_arrow()),
        ("polars", "polars", lambda result: result.to_polars()),
    ],
)
def test_missing_package_says_how_to_get_it(
    package: str, extra: str, ask: Callable[[Result], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    hide(monkeypatch, package)
    with pytest.raises(
        MissingExtraError, match=rf"{package}.*pip install 'rt-notebook\[{extra}\]'"
    ):
        ask(result_of(full()))


def test_either_package_gives_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        hide(patched, "pyarrow")
        assert pl.DataFrame(result_of(full())).height == 10
    hide(monkeypatch, "polars")
    assert pa.table(result_of(full())).num_rows == 10
    hide(monkeypatch, "pyarrow")
    with pytest.raises(MissingExtraError, match=r"Arrow interface needs pyarrow"):
        result_of(full()).__arrow_c_stream__()
