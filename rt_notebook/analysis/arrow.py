"""Tables as Arrow and polars, without pandas. The only module that loads pyarrow or polars.

The types are the same for an empty and a full debate: text is string, int is int64, float is
float64, flag is bool, list is list<string>, time is timestamp[ms, UTC]; whatever is missing is
null, but a list never is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from rt_notebook.analysis.extras import missing_extra
from rt_notebook.analysis.tables import Columns, Row, storable_lists, storable_texts
from rt_notebook.collecting import rarer_collections

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa


def to_arrow(columns: Columns, rows: Iterable[Row]) -> pa.Table:
    """Return rows as a pyarrow table.

    Raises:
        MissingExtraError: pyarrow isn't installed.
    """
    try:
        import pyarrow as pa
    except ImportError:
        raise missing_extra("an Arrow table", "pyarrow", "arrow") from None
    types = {
        "text": pa.string(),
        "int": pa.int64(),
        "float": pa.float64(),
        "flag": pa.bool_(),
        "list": pa.list_(pa.string()),
        "time": pa.timestamp("ms", "UTC"),
    }
    schema = pa.schema([(name, types[kind]) for name, kind in columns.items()])
    values = _columns(columns, rows)
    arrays = [pa.array(column, field.type) for column, field in zip(values, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def to_polars(columns: Columns, rows: Iterable[Row]) -> pl.DataFrame:
    """Return rows as a polars data frame.

    Raises:
        MissingExtraError: polars isn't installed.
    """
    try:
        import polars as pl
    except ImportError:
        raise missing_extra("a polars data frame", "polars", "polars") from None
    types: dict[str, Any] = {
        "text": pl.String,
        "int": pl.Int64,
        "float": pl.Float64,
        "flag": pl.Boolean,
        "list": pl.List(pl.String),
        "time": pl.Datetime("ms", "UTC"),
    }
    values = _columns(columns, rows)
    return pl.DataFrame(
        [
            pl.Series(name, column, dtype=types[kind])
            for (name, kind), column in zip(columns.items(), values, strict=True)
        ]
    )


def arrow_stream(columns: Columns, rows: Iterable[Row], requested_schema: object = None) -> object:
    """Return rows as an Arrow C stream, made by pyarrow or, where only that is there, by polars.

    Raises:
        MissingExtraError: neither is installed.
    """
    kept = list(rows)
    try:
        import pyarrow as pa
    except ImportError:
        pa = None
    if pa is not None:
        return to_arrow(columns, kept).__arrow_c_stream__(requested_schema)
    try:
        import polars as pl
    except ImportError:
        pl = None  # type: ignore[assignment]  # a module or nothing
    if pl is None:
        raise missing_extra("the Arrow interface", "pyarrow", "arrow")
    return to_polars(columns, kept).__arrow_c_stream__(requested_schema)


def _columns(columns: Columns, rows: Iterable[Row]) -> list[Sequence[Any]]:
    with rarer_collections():
        values: list[Sequence[Any]] = list(zip(*rows, strict=True)) or [()] * len(columns)
    return [
        _CLEANED.get(kind, _as_it_is)(column)
        for kind, column in zip(columns.values(), values, strict=True)
    ]


def _as_it_is(column: Sequence[Any]) -> Sequence[Any]:
    return column


_CLEANED: Final[Mapping[str, Callable[[Sequence[Any]], Sequence[Any]]]] = {
    "text": storable_texts,
    "list": storable_lists,
}
