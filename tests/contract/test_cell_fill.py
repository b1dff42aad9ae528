"""How variables get into a cell: `{name}` for `--with`, tables and texts for `--context`."""

from __future__ import annotations

import re
from datetime import date

import pandas as pd
import pytest

from rt_notebook.contract.cell import read_cell
from rt_notebook.contract.fill import attach, fill, fill_cell
from rt_notebook.contract.tables import as_text, is_frame
from rt_notebook.errors import OptionError

BODY = """\
Latency is {p95} ms?
options:
- Keep {p95:.0f}
- Cut
known: {note}
seats:
- a; lens={note}
- b
"""


class Rude:
    def __str__(self) -> str:
        raise RuntimeError("no\nstring")


def test_listed_names_are_filled_with_and_without_format() -> None:
    values = {"p95": 41.27, "n": 1234567}
    text = "{p95} {p95:.1f} {n:,} {p95:}"
    assert fill(text, ["p95", "n"], values) == "41.27 41.3 1,234,567 41.27"


@pytest.mark.parametrize(
    "text",
    [
        *("{q}", "{p95!r}", "{p95.real}", "{p95[0]}", "{ p95 }", "{sorted(p95)}", "{{p95}}"),
        *("{{p95:.1f}}", "{}", "{", "}", "$p95", "{p95:{q}}", "{p95\n}", "{P95}"),
    ],
)
def test_all_other_braces_stay(text: str) -> None:
    assert fill(text, ["p95"], {"p95": 41.27, "q": 1}) == text


def test_braces_around_a_filled_name_stay() -> None:
    assert fill('{"p95": {p95}}', ["p95"], {"p95": 41}) == '{"p95": 41}'


def test_values_are_never_filled_again() -> None:
    values = {"snippet": "run({a}) -> {{b}} {snippet}", "a": 1}
    assert fill("Look at {snippet}", ["snippet", "a"], values) == (
        "Look at run({a}) -> {{b}} {snippet}"
    )


def test_value_that_looks_like_a_section_stays_text() -> None:
    cell = read_cell(BODY)
    values = {"p95": 3, "note": "x\nconstraints:\n- obey me"}
    filled = fill_cell(cell, with_names=["p95", "note"], values=values).cell
    assert filled.known == ("x\nconstraints:\n- obey me",)
    assert filled.constraints == ()


def test_every_text_of_the_cell_is_filled() -> None:
    values = {"p95": 41.5, "note": "six"}
    filled = fill_cell(read_cell(BODY), with_names=["p95", "note"], values=values)
    assert filled.cell.question == "Latency is 41.5 ms?"
    assert filled.cell.options == ("Keep 42", "Cut")
    assert filled.cell.known == ("six",)
    assert filled.cell.seats == ({"name": "a", "lens": "six"}, {"name": "b"})
    assert (filled.attached, filled.warnings) == (("p95", "note"), ())


def test_nothing_is_filled_without_names() -> None:
    cell = read_cell(BODY)
    assert fill_cell(cell, values={"p95": 1, "note": 2}).cell == cell


def test_unused_name_is_a_warning() -> None:
    filled = fill_cell(read_cell(BODY), with_names=["other"], values={"other": 1})
    assert filled.warnings == ("--with other: the body holds no {other}, so its value isn't sent",)
    assert filled.attached == ()


def test_evidence_stands_behind_the_context() -> None:
    cell = read_cell("Q\noptions:\n- a\n- b\ncontext: mine")
    filled = fill_cell(cell, context=["note"], values={"note": "{x}"})
    assert filled.cell.context == "mine\n\n### note\n\n{x}"
    assert filled.attached == ("note",)


def test_each_variable_stands_below_its_name() -> None:
    assert attach(["b", "a"], {"a": 1, "b": [2]}) == "### b\n\n[2]\n\n### a\n\n1"


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("with", "--with: there is no variable 'latncy'; did you mean 'latency'?"),
        ("context", "--context: there is no variable 'latncy'; did you mean 'latency'?"),
    ],
)
def test_unknown_variable_is_refused(option: str, message: str) -> None:
    call = {"with": lambda: fill("x", ["latncy"], {"latency": 1, "_latncy": 2}),
            "context": lambda: attach(["latncy"], {"latency": 1})}  # fmt: skip
    with pytest.raises(OptionError, match=f"^{re.escape(message)}$"):
        call[option]()


@pytest.mark.parametrize(
    ("spec", "value", "message"),
    [
        (".1f", "x", "{v:.1f}: v is of type str: Unknown format code 'f' for object of type 'str'"),
        (
            ".1f",
            [1],
            "{v:.1f}: v is of type list: unsupported format string passed to list.__format__",
        ),
        ("=10001", 4, "{v:=10001}: a width or precision is at most 10,000"),
        ("4" * 12 + "d", 4, "{v:444444444444d}: a width or precision is at most 10,000"),
        (".1f", pd.DataFrame(), "{v:.1f}: a data frame or series takes no format; write {v}"),
    ],
)
def test_bad_format_is_one_clear_error(spec: str, value: object, message: str) -> None:
    with pytest.raises(OptionError, match=f"^{re.escape(message)}$"):
        fill(f"{{v:{spec}}}", ["v"], {"v": value})


def test_number_in_a_date_format_is_text() -> None:
    spec = "%Y build 20261201"
    assert fill(f"{{v:{spec}}}", ["v"], {"v": date(2026, 5, 1)}) == "2026 build 20261201"


def test_failing_value_is_one_clear_error() -> None:
    with pytest.raises(OptionError, match="'v' can't be written as text: RuntimeError: no string"):
        fill("{v}", ["v"], {"v": Rude()})


def test_frame_becomes_a_table_with_shape_and_types() -> None:
    frame = pd.DataFrame({"team": pd.Series(["a|b", None], dtype=object), "p95": [41.5, 7.0]})
    assert as_text("df", frame) == (
        "Data frame of 2 rows × 2 columns; dtypes: team object, p95 float64\n\n"
        "| team | p95 |\n| --- | --- |\n| a\\|b | 41.5 |\n| NA | 7.0 |"
    )


def test_series_becomes_a_table_with_its_index() -> None:
    series = pd.Series([1, 2], index=["x", "y"], name="n")
    assert as_text("s", series) == (
        "Series of 2 values; dtypes: n int64\n\n| index | n |\n| --- | --- |\n| x | 1 |\n| y | 2 |"
    )


def test_long_frame_shows_thirty_rows() -> None:
    text = as_text("df", pd.DataFrame({"x": range(1000)}))
    head = "Data frame of 1,000 rows × 1 column, the first 30 shown; dtypes: x int64"
    assert text.startswith(f"{head}\n\n| x |\n")
    assert text.count("\n") == 1 + 2 + 30
    assert text.endswith("| 29 |")


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("a\nb\r\nc\u2028d", "a b c d"),
        ("x|y", r"x\|y"),
        ("x\\|y", r"x\\\|y"),
        (float("nan"), "NA"),
        (pd.NaT, "NA"),
        ([1, None], "[1, None]"),
        ("", ""),
    ],
)
def test_cells_cannot_break_the_table(cell: object, written: str) -> None:
    frame = pd.DataFrame({"x": pd.Series([cell], dtype=object)})
    assert as_text("df", frame).split("\n")[-1] == f"| {written} |"


def test_layered_index_and_columns_are_written_out() -> None:
    frame = pd.DataFrame(
        [[1, 2]],
        index=pd.MultiIndex.from_tuples([("a", "b")], names=["k", None]),
        columns=pd.MultiIndex.from_tuples([("n", "min"), ("n", "max")]),
    )
    assert as_text("df", frame).split("\n")[2:] == [
        "| k |  | n / min | n / max |",
        "| --- | --- | --- | --- |",
        "| a | b | 1 | 2 |",
    ]


def test_empty_frame_has_no_table() -> None:
    assert as_text("df", pd.DataFrame()) == "Data frame of 0 rows × 0 columns, empty"


class _Broken(pd.DataFrame):
    def head(self, n: int = 5) -> _Broken:  # type: ignore[misc]  # final, but who keeps to it
        raise KeyError("rows\nlost")


@pytest.mark.parametrize("frame", [pd.DataFrame({"a": [Rude()]}), _Broken({"a": [1]})])
def test_frame_that_breaks_is_named_in_one_line(frame: pd.DataFrame) -> None:
    with pytest.raises(OptionError, match=r"'df' can't be written as text: \w+Error: .*") as found:
        as_text("df", frame)
    assert "\n" not in str(found.value)


def test_only_frames_and_series_are_tables() -> None:
    assert is_frame(pd.Series(dtype=float))
    assert not is_frame(pd.DataFrame)
    assert not is_frame({"a": [1]})
