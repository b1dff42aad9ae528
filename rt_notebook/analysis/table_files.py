"""A debate's tables as the bytes of files: Parquet where pyarrow is installed, else CSV.

Parquet keeps types and texts as they are. CSV is what spreadsheets open, so its texts are made
harmless: control and invisible characters go, and a text that a spreadsheet would compute (it
begins with `=`, `+`, `-`, `@` or the like, in any width, white space aside) gets an apostrophe in
front; so does one that begins with an apostrophe, so that taking one away gives every text back.
UTF-8, LF, every text in quotes; lists are JSON arrays, times ISO 8601, flags true or false, and
what is missing is empty.
"""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Final

from rt_notebook.analysis.arrow_files import has_parquet, parquet_bytes
from rt_notebook.analysis.catalogue import TABLES
from rt_notebook.analysis.tables import Columns, Row
from rt_notebook.domain.state import State
from rt_notebook.rendering.plain import plain

# In any width: spreadsheets of East Asian locales compute the wide forms.
_COMPUTED: Final = frozenset("=+-@'|%−")


def table_files(state: State) -> dict[str, bytes]:
    """Return every table of `catalogue.TABLES` by file name, `replies.parquet` or `replies.csv`.

    Args:
        state: the fold, finished or not.
    """
    if has_parquet():
        return {
            f"{name}.parquet": parquet_bytes(made.columns, made.rows(state), state.id)
            for name, made in TABLES.items()
        }
    return {
        f"{name}.csv": csv_text(made.columns, made.rows(state)).encode()
        for name, made in TABLES.items()
    }


def csv_text(columns: Columns, rows: Iterable[Row]) -> str:
    """Return rows as CSV under a line of column names; the module says how values are written."""
    sink = io.StringIO()
    writer = csv.writer(sink, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writerow(columns)
    kinds = list(columns.values())
    for row in rows:
        writer.writerow([_cell(kind, value) for kind, value in zip(kinds, row, strict=True)])
    return sink.getvalue()


def spreadsheet_text(text: str) -> str:
    """Return text as a CSV cell that no spreadsheet computes."""
    shown = plain(text)
    # Some skip white space, whatever its kind, before they look.
    first = unicodedata.normalize("NFKC", shown.lstrip()[:1])
    return f"'{shown}" if first in _COMPUTED else shown


def _cell(kind: str, value: Any) -> Any:
    if value is None:
        return ""
    if kind in ("int", "float"):
        return value
    if kind == "flag":
        return "true" if value else "false"
    if kind == "time":
        return datetime.fromtimestamp(value / 1000, UTC).isoformat(timespec="milliseconds")
    if kind == "list":
        return json.dumps([plain(text) for text in value], ensure_ascii=False)
    return spreadsheet_text(str(value))
