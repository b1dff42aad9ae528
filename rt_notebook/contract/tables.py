"""Writes a variable's value as text for a brief: a data frame or series as a table, else its `str`.

pandas is never imported here: a value can only be a frame where pandas is loaded already.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any, Final

from rt_notebook.errors import OptionError, one_line

MAX_ROWS: Final = 30
"""Rows of a data frame that are written out."""
# A backslash in front of a pipe would undo the pipe's own escape.
_PIPE: Final = re.compile(r"(\\*+)\|")
_BREAKS: Final = re.compile(r"[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+")


def is_frame(value: object) -> bool:
    """Return whether `value` is a pandas data frame or series."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, (pandas.DataFrame, pandas.Series))


def as_text(name: str, value: object) -> str:
    """Return `value` as the seats see it.

    Args:
        name: the variable's name, for the message.
        value: anything.

    Raises:
        OptionError: its own `str` fails, or that of something in it.
    """
    try:
        return _frame(value) if is_frame(value) else str(value)
    except Exception as exc:  # the value's own code runs here, and may raise anything
        reason = one_line(f"{type(exc).__name__}: {exc}", 200)
        raise OptionError(f"the variable {name!r} can't be written as text: {reason}") from exc


def _frame(value: Any) -> str:
    rows = len(value)
    if value.ndim == 1:
        label = "value" if value.name is None else value.name
        columns, dtypes = [label], [value.dtype]
        shape = f"Series of {_counted(rows, 'value')}"
        body = [(cell,) for cell in value.head(MAX_ROWS).tolist()]
    else:
        columns, dtypes = list(value.columns), list(value.dtypes)
        shape = f"Data frame of {_counted(rows, 'row')} × {_counted(len(columns), 'column')}"
        body = list(value.head(MAX_ROWS).itertuples(index=False, name=None))
    shown = f", the first {MAX_ROWS} shown" if rows > MAX_ROWS else ""
    types = ", ".join(f"{_label(c)} {d}" for c, d in zip(columns, dtypes, strict=True))
    names, index = _index(value)
    head = [*names, *columns]
    table = _table(head, ([*key, *cells] for key, cells in zip(index, body, strict=True)))
    return f"{shape}{shown}; dtypes: {types or 'none'}\n\n{table}" if head else f"{shape}, empty"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _index(value: Any) -> tuple[list[object], list[tuple[object, ...]]]:
    """Return the index's names and the shown rows' keys; a plain numbering is left out."""
    index = value.head(MAX_ROWS).index
    pandas = sys.modules["pandas"]
    if isinstance(index, pandas.RangeIndex) and index.name is None:
        return [], [()] * len(index)
    names = ["index" if name is None and index.nlevels == 1 else name for name in index.names]
    keys = index.tolist()
    return names, keys if index.nlevels > 1 else [(key,) for key in keys]


def _table(head: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    lines = [_row(map(_label, head)), _row(["---"] * len(head))]
    lines += [_row(map(_cell, row)) for row in rows]
    return "\n".join(lines)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _label(name: object) -> str:
    parts = name if isinstance(name, tuple) else (name,)
    return _escaped(" / ".join("" if part is None else str(part) for part in parts))


def _cell(value: object) -> str:
    missing = sys.modules["pandas"].isna(value)
    # `isna` of a list or array is an array: a value as any other.
    return "NA" if isinstance(missing, bool) and missing else _escaped(str(value))


def _escaped(text: str) -> str:
    flat = _BREAKS.sub(" ", text)
    return _PIPE.sub(lambda found: found[1] * 2 + r"\|", flat)
