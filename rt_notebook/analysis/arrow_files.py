"""Tables as Parquet files, in memory. Beside `arrow`, the only module that loads pyarrow."""

from __future__ import annotations

from collections.abc import Iterable

from rt_notebook.analysis.arrow import to_arrow
from rt_notebook.analysis.tables import Columns, Row


def has_parquet() -> bool:
    """Return whether Parquet can be written here: pyarrow is installed, and was built with it."""
    try:
        import pyarrow.parquet  # noqa: F401  (asked for, not used)
    except ImportError:
        return False
    return True


def parquet_bytes(columns: Columns, rows: Iterable[Row], debate: str) -> bytes:
    """Return rows as a Parquet file: equal rows give equal bytes under one version of pyarrow.

    Args:
        columns: the table's columns and kinds.
        rows: its rows.
        debate: the debate's id, kept as `rt_notebook.debate` in the file's metadata.

    Raises:
        MissingExtraError: pyarrow isn't installed; ask `has_parquet` first.
    """
    made = to_arrow(columns, rows)
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(made.replace_schema_metadata({"rt_notebook.debate": debate}), sink)
    return bytes(sink.getvalue())
