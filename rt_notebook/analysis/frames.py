"""Tables as pandas frames: gives each column its dtype. The only module that loads pandas.

The dtypes are the same for an empty and a full debate, on pandas 2.2 and 3, with pyarrow or not:

| kind  | dtype                  | missing    |
|-------|------------------------|------------|
| text  | `StringDtype("python")`| `<NA>`     |
| int   | `Int64`                | `<NA>`     |
| float | `Float64`              | `<NA>`     |
| flag  | `boolean`              | `<NA>`     |
| list  | `object`, of lists     | empty list |
| time  | `datetime64[ms, UTC]`  | `NaT`      |

What a row is, and in which order rows stand, is settled in `tables` and `listings`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Final

import numpy as np
import pandas as pd

from rt_notebook.analysis import listings, tables
from rt_notebook.analysis.tables import Columns, Row
from rt_notebook.domain.state import State
from rt_notebook.store.log import DebateRow

# Spelt out: "string" alone means pyarrow's strings wherever pyarrow happens to be installed.
TEXT: Final = pd.StringDtype("python")
"""The dtype of every text column and index."""


def replies(states: Iterable[State]) -> pd.DataFrame:
    """Return one row per seat and round of some debates: what it said, and what that took.

    Columns: debate, round, seat, model, lens, mood, stance_key (`opt-N`, `PASS` or
    `other: <label>`; NA where the reply is invalid), stance (the option's label, or as the seat
    wrote it where it names none), agree_with (seats' real names), disagree, new, assumptions
    (lists), question, passed, valid, repaired, changed (took another position than its last one),
    error (the kind of the failure; then text is NA), text, prompt_tokens, completion_tokens,
    cached_tokens, cost (USD), latency_s (seconds). The last five are sums over the turn's tries,
    NA where no try reported any. The four flags are never NA; a failed turn is neither valid nor
    passed. Hidden seats have rows, but no position that could change.
    """
    return _frame(tables.REPLIES, _rows(tables.reply_rows, states))


def calls(states: Iterable[State]) -> pd.DataFrame:
    """Return one row per try at a provider, repairs, failures and the chairman's included.

    Columns: debate, call (its id), round, seat, purpose, attempt, model, model_reported, error,
    prompt_tokens, completion_tokens, cached_tokens, cost (USD), latency_s, first_output_s, idle_s
    (seconds), stdout_bytes, stderr_bytes, exit_code (of a subprocess), outcome (running, finished
    or failed).
    """
    return _frame(tables.CALLS, _rows(tables.call_rows, states))


def flips(state: State) -> pd.DataFrame:
    """Return one row per change of a counted seat's position.

    Columns: seat, round, from_key, to_key, agreed_with (whom it named in that reply).
    """
    return _frame(tables.FLIPS, tables.flip_rows(state))


def questions(state: State) -> pd.DataFrame:
    """Return one row per distinct question of a round, asked at a gate or not.

    Columns: round, id, text, seats (who asked), answer, answered_by (person or agent); the last two
    are NA until somebody answers.
    """
    return _frame(tables.QUESTIONS, tables.question_rows(state))


def tally(state: State) -> pd.DataFrame:
    """Return how many counted seats stand where: all options, then the stances that name none.

    Index: option (the label). Columns: first (after the opening), final, change, first_seats,
    final_seats.
    """
    return _frame(tables.TALLY, tables.tally_rows(state)).set_index("option")


def usage(state: State) -> pd.DataFrame:
    """Return calls, tokens and cost by seat, by vendor and in all.

    Columns: scope (seat, vendor, all), name, calls, prompt_tokens, completion_tokens,
    cached_tokens, cost (USD); what no call reported is NA.
    """
    return _frame(tables.USAGE, tables.usage_rows(state))


def stances(state: State) -> pd.DataFrame:
    """Return each counted seat's position after each round, seats down, rounds across.

    Every column is categorical; the categories are the options' labels in order, then `other`.
    A position holds until the seat takes another one; NA before its first.
    """
    labels = [*state.spec.brief.options, tables.OTHER_CATEGORY]
    dtype = pd.CategoricalDtype(pd.Index(labels, dtype=TEXT))
    codes: dict[str | None, int] = {label: code for code, label in enumerate(labels)} | {None: -1}
    found = {
        number: pd.Categorical.from_codes([codes[label] for label in column], dtype=dtype)
        for number, column in tables.stance_columns(state).items()
    }
    seats = pd.Index([seat.name for seat in state.spec.counted], dtype=TEXT, name="seat")
    frame = pd.DataFrame(found, index=seats)
    frame.columns = pd.Index(list(found), dtype="int64", name="round")
    return frame


def debates_frame(rows: Iterable[DebateRow]) -> pd.DataFrame:
    """Return one row per debate of a store, in the order given.

    Columns: id, title, kind, status, stop_reason, created, updated (UTC), pick (option id or
    `none`; NA without a verdict), seats (names).
    """
    return _frame(listings.DEBATES, listings.debate_rows(rows))


def seats_frame(seats: Iterable[Mapping[str, object]]) -> pd.DataFrame:
    """Return one row per seat that can be named, in the order given.

    Columns: name, model, lens, mood, effort, persona, source, problem (why it can't sit in this
    version; NA where it can).

    Args:
        seats: a dict each, with the columns' names as keys.
    """
    return _frame(listings.SEATS, listings.seat_rows(seats))


def _rows(table: Callable[[State], Iterable[Row]], states: Iterable[State]) -> Iterable[Row]:
    return chain.from_iterable(map(table, states))


def _frame(columns: Columns, rows: Iterable[Row]) -> pd.DataFrame:
    values: Sequence[Sequence[Any]] = list(zip(*rows, strict=True)) or [()] * len(columns)
    return pd.DataFrame(
        {
            name: _MAKERS[kind](column)
            for (name, kind), column in zip(columns.items(), values, strict=True)
        }
    )


def _texts(values: Sequence[str | None]) -> Any:
    return pd.array([value and _storable(value) for value in values], dtype=TEXT)


def _storable(text: str) -> str:
    """Return `text` as the store gives it back and a file can take it: no lone surrogates."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _times(values: Sequence[int | None]) -> Any:
    moments = pd.Series(np.array(list(values), dtype="datetime64[ms]"))
    return moments.dt.tz_localize("UTC")


_MAKERS: Final[dict[str, Callable[[Sequence[Any]], Any]]] = {
    "text": _texts,
    "int": lambda values: pd.array(list(values), dtype="Int64"),
    "float": lambda values: pd.array(list(values), dtype="Float64"),
    "flag": lambda values: pd.array(list(values), dtype="boolean"),
    "list": lambda values: pd.Series(list(values), dtype=object),
    "time": _times,
}
