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
from typing import Any, Final

import numpy as np
import pandas as pd

from rt_notebook.analysis import debate_measures, listings, tables
from rt_notebook.analysis.catalogue import TABLES, Table
from rt_notebook.analysis.tables import Columns, Row, storable_lists, storable_texts
from rt_notebook.collecting import rarer_collections
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
    return table_of_many(TABLES["replies"], states)


def calls(states: Iterable[State]) -> pd.DataFrame:
    """Return one row per try at a provider, repairs, failures and the chairman's included.

    Columns: debate, call (its id), round, seat, purpose, attempt, model, model_reported, error,
    prompt_tokens, completion_tokens, cached_tokens, cost (USD), latency_s, first_output_s, idle_s
    (seconds), stdout_bytes, stderr_bytes, exit_code (of a subprocess), outcome (running, finished
    or failed).
    """
    return table_of_many(TABLES["calls"], states)


def flips(state: State) -> pd.DataFrame:
    """Return one row per change of a counted seat's position.

    Columns: seat, round, from_key, to_key, agreed_with (whom it named in that reply).
    """
    return table("flips", state)


def questions(state: State) -> pd.DataFrame:
    """Return one row per distinct question of a round, asked at a gate or not.

    Columns: round, id, text, seats (who asked), answer, answered_by (person or agent); the last two
    are NA until somebody answers.
    """
    return table("questions", state)


def tally(state: State) -> pd.DataFrame:
    """Return how many counted seats stand where: all options, then the stances that name none.

    Index: option (the label). Columns: first (after the opening), final, change, first_seats,
    final_seats.
    """
    return table("tally", state).set_index("option")


def usage(state: State) -> pd.DataFrame:
    """Return calls, tokens and cost by seat, by vendor and in all.

    Columns: scope (seat, vendor, all), name, calls, prompt_tokens, completion_tokens,
    cached_tokens, cost (USD); what no call reported is NA.
    """
    return table("usage", state)


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


def endorsements(state: State) -> pd.DataFrame:
    """Return who named whom in AGREE_WITH: seat, named, round."""
    return table("endorsements", state)


def points(state: State) -> pd.DataFrame:
    """Return one row per bullet of a reply.

    Columns: round, seat, kind (disagree, new or assumption), text, group: the number of its group
    of near-duplicates in this debate, from 1 in the order of first appearance; what is nearly the
    same, `analysis.points.group_points` says.
    """
    return table("points", state)


def tool_calls(state: State) -> pd.DataFrame:
    """Return one row per tool used: round, seat, name, preview (the start of what came back)."""
    return table("tool_calls", state)


def agreement(state: State) -> pd.DataFrame:
    """Return counted seats × seats: the share of rounds in which the two stood together.

    Of the rounds after which both have a position; NA where there is none. Stances of their own are
    the same when their labels are. The diagonal is 1 for every seat that ever had a position.
    """
    return _square(state, "agreement", "other")


def persuasion(state: State) -> pd.DataFrame:
    """Return counted seats × seats: how often the row's seat moved to where the column's one stood.

    A move to a stance that several held is shared evenly between them; see `measures.persuasion`.
    """
    return _square(state, "persuasion", "towards")


def measures(state: State) -> pd.DataFrame:
    """Return the measures of each round.

    Index: round. Columns: seats (counted ones), standing (of them, those with a position after the
    round), agreement (share of pairs of seats in the same stance), fleiss_kappa,
    krippendorff_alpha, entropy (bits), volatility, conformity (shares), consensus. What each means,
    `analysis.measures` says; how missing seats are treated, `debate_measures.measure_rows`.
    """
    return table("measures", state).set_index("round")


def reliability(states: Iterable[State]) -> pd.DataFrame:
    """Return how far seats agree over several debates, by round.

    Index: round. Columns: debates, complete (those that kappa takes), fleiss_kappa,
    krippendorff_alpha; `debate_measures.reliability_rows` says how.
    """
    rows = debate_measures.reliability_rows(states)
    return frame_of_rows(debate_measures.RELIABILITY, rows).set_index("round")


def table(name: str, state: State) -> pd.DataFrame:
    """Return one debate's table by its name in `catalogue.TABLES`, as plain rows."""
    return frame_of_rows(TABLES[name].columns, TABLES[name].rows(state))


def table_of_many(made: Table, states: Iterable[State]) -> pd.DataFrame:
    """Return the same table of many debates, with the debate's column in front."""
    return frame_of_rows(made.columns_of_many, made.rows_of_many(states))


def stances_of_many(states: Iterable[State]) -> pd.DataFrame:
    """Return many debates' stances: debate, seat, then a column per round.

    The rounds are categorical; the categories are all debates' options as they come, then `other`.
    """
    labels: dict[str, int] = {}
    seats: list[tuple[str, str]] = []
    columns: dict[int, list[int]] = {}
    for state in states:
        for label in state.spec.brief.options:
            labels.setdefault(label, len(labels))
        names = [seat.name for seat in state.spec.counted]
        for number, column in tables.stance_columns(state).items():
            codes = columns.setdefault(number, [])
            codes += [-1] * (len(seats) - len(codes))
            # `other` has no code before all labels are known.
            codes += [-1 if stance is None else labels.get(stance, -2) for stance in column]
        seats += [(state.id, name) for name in names]
    dtype = pd.CategoricalDtype(pd.Index([*labels, tables.OTHER_CATEGORY], dtype=TEXT))
    frame = frame_of_rows({"debate": "text", "seat": "text"}, seats)
    for number, codes in columns.items():
        padded = np.array(codes + [-1] * (len(seats) - len(codes)), dtype="int64")
        padded[padded == -2] = len(labels)
        frame[number] = pd.Categorical.from_codes(padded.tolist(), dtype=dtype)
    return frame


def frame_of_rows(columns: Columns, rows: Iterable[Row]) -> pd.DataFrame:
    """Return plain rows as a frame with the documented dtypes."""
    with rarer_collections():
        values: Sequence[Sequence[Any]] = list(zip(*rows, strict=True)) or [()] * len(columns)
        return pd.DataFrame(
            {
                name: _MAKERS[kind](column)
                for (name, kind), column in zip(columns.items(), values, strict=True)
            }
        )


def debates_frame(rows: Iterable[DebateRow]) -> pd.DataFrame:
    """Return one row per debate of a store, in the order given.

    Columns: id, title, kind, status, stop_reason, created, updated (UTC), pick (option id or
    `none`; NA without a verdict), seats (names).
    """
    return frame_of_rows(listings.DEBATES, listings.debate_rows(rows))


def seats_frame(seats: Iterable[Mapping[str, object]]) -> pd.DataFrame:
    """Return one row per seat that can be named, in the order given.

    Columns: name, model, lens, mood, effort, persona, auth (login, key or none), source, problem
    (why it can't sit here; NA where it can).

    Args:
        seats: a dict each, with the columns' names as keys.
    """
    return frame_of_rows(listings.SEATS, listings.seat_rows(seats))


def _square(state: State, name: str, across: str) -> pd.DataFrame:
    names = [seat.name for seat in state.spec.counted]
    values = [row[2] for row in TABLES[name].rows(state)]
    made = pd.DataFrame(
        {
            place: pd.array(values[place :: len(names)], dtype="Float64")
            for place in range(len(names))
        },
        index=pd.Index(names, dtype=TEXT, name="seat"),
    )
    made.columns = pd.Index(names, dtype=TEXT, name=across)
    return made


def _nullable(values: Sequence[Any], dtype: Any) -> Any:
    if values and values.count(None) == len(values):  # as most seats' lens, mood and tokens
        return pd.array([None], dtype=dtype).repeat(len(values))
    return pd.array(list(values), dtype=dtype)


def _texts(values: Sequence[str | None]) -> Any:
    return _nullable(storable_texts(values), TEXT)


def _lists(values: Sequence[Sequence[str]]) -> Any:
    return pd.Series([list(value) for value in storable_lists(values)], dtype=object)


def _times(values: Sequence[int | None]) -> Any:
    moments = pd.Series(np.array(list(values), dtype="datetime64[ms]"))
    return moments.dt.tz_localize("UTC")


_MAKERS: Final[dict[str, Callable[[Sequence[Any]], Any]]] = {
    "text": _texts,
    "int": lambda values: _nullable(values, "Int64"),
    "float": lambda values: _nullable(values, "Float64"),
    "flag": lambda values: pd.array(list(values), dtype="boolean"),
    "list": _lists,
    "time": _times,
}
