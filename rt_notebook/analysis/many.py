"""The tables of many debates at once: those of one, with the debate's column in front.

Loads pandas only when a frame is asked for; knows no store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from rt_notebook.analysis import arrow, measures
from rt_notebook.analysis.catalogue import TABLES, table_named
from rt_notebook.analysis.measures import Stability
from rt_notebook.analysis.result import Result
from rt_notebook.analysis.verdict import READY
from rt_notebook.domain.state import State
from rt_notebook.errors import OptionError, one_line

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


class Frames:
    """Many debates' tables; each is made anew on every access, from one look at each debate.

    Args:
        read: yields the debates' folds, as often as it is called.
    """

    def __init__(self, read: Callable[[], Iterator[State]]) -> None:
        self._read = read

    def __repr__(self) -> str:
        return f"<Frames of {len(self)} debates: {', '.join(self.__class__.names())}>"

    def __len__(self) -> int:
        """Return how many debates there are."""
        return sum(1 for _ in self._read())

    @classmethod
    def names(cls) -> list[str]:
        """Return the names of the tables."""
        return [*TABLES, "reliability"]

    @property
    def replies(self) -> pd.DataFrame:
        """One row per debate, round and seat."""
        return self._table("replies")

    @property
    def stances(self) -> pd.DataFrame:
        """Each counted seat's position after each round: debate, seat, then a column per round."""
        from rt_notebook.analysis import frames

        return frames.stances_of_many(self._read())

    @property
    def tally(self) -> pd.DataFrame:
        """One row per debate and option: debate, option, first, final, change and the seats."""
        return self._table("tally")

    @property
    def agreement(self) -> pd.DataFrame:
        """One row per debate and pair of seats: debate, seat, other, agreement, rounds."""
        return self._table("agreement")

    @property
    def endorsements(self) -> pd.DataFrame:
        """Who named whom: debate, seat, named, round."""
        return self._table("endorsements")

    @property
    def flips(self) -> pd.DataFrame:
        """One row per change of position: debate, seat, round, from_key, to_key, agreed_with."""
        return self._table("flips")

    @property
    def points(self) -> pd.DataFrame:
        """One row per bullet; a `group` of near-duplicates is one within its debate."""
        return self._table("points")

    @property
    def calls(self) -> pd.DataFrame:
        """One row per try at a provider."""
        return self._table("calls")

    @property
    def tool_calls(self) -> pd.DataFrame:
        """One row per tool used: debate, round, seat, name, preview."""
        return self._table("tool_calls")

    @property
    def questions(self) -> pd.DataFrame:
        """One row per question: debate, round, id, text, seats, answer, answered_by."""
        return self._table("questions")

    @property
    def usage(self) -> pd.DataFrame:
        """Calls, tokens and cost (USD) by debate, then by seat, by vendor and in all."""
        return self._table("usage")

    @property
    def measures(self) -> pd.DataFrame:
        """One row per debate and round; columns as in `Result.measures`."""
        return self._table("measures")

    @property
    def persuasion(self) -> pd.DataFrame:
        """One row per debate and pair of seats: debate, seat, towards, moves."""
        return self._table("persuasion")

    @property
    def verdicts(self) -> pd.DataFrame:
        """One row per debate: how it ended, its pick, and what it took.

        Columns: debate, title, status, stop_reason, verdict (its status), pick, label,
        completed_rounds, consensus_round, calls, prompt_tokens, completion_tokens, cost (USD).
        """
        return self._table("verdicts")

    @property
    def reliability(self) -> pd.DataFrame:
        """By round, how far the seats agree over the debates: debates, complete, kappa, alpha."""
        from rt_notebook.analysis import frames

        return frames.reliability(self._read())

    def stability(self, *, level: float = 0.95, seed: int = 0) -> Stability:
        """Return how often the debates come to the same verdict; see `measures.stability`.

        Verdicts are compared by the options' labels, so that repeats with the options in another
        order count as repeats.
        """
        return measures.stability(map(_pick, self._read()), level=level, seed=seed)

    def to_pandas(self, table: str = "replies") -> pd.DataFrame:
        """Return a table as rows.

        Raises:
            OptionError: there is no table of that name.
        """
        table_named(table)
        return self._table(table)

    def to_polars(self, table: str = "replies") -> pl.DataFrame:
        """Return a table as rows.

        Raises:
            OptionError: there is no table of that name.
            MissingExtraError: polars isn't installed.
        """
        made = table_named(table)
        return arrow.to_polars(made.columns_of_many, made.rows_of_many(self._read()))

    def to_arrow(self, table: str = "replies") -> pa.Table:
        """Return a table as rows.

        Raises:
            OptionError: there is no table of that name.
            MissingExtraError: pyarrow isn't installed.
        """
        made = table_named(table)
        return arrow.to_arrow(made.columns_of_many, made.rows_of_many(self._read()))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return `replies` as an Arrow stream, for `polars.DataFrame(frames)` and its like."""
        made = TABLES["replies"]
        rows = made.rows_of_many(self._read())
        return arrow.arrow_stream(made.columns_of_many, rows, requested_schema)

    def _table(self, name: str) -> pd.DataFrame:
        from rt_notebook.analysis import frames

        return frames.table_of_many(TABLES[name], self._read())


def frames(results: Iterable[Result] | Result) -> Frames:
    """Return the tables of many results, with a debate column: `rt.frames([r1, r2]).replies`.

    Raises:
        OptionError: something in it is no result.
    """
    many: Any = results
    one = isinstance(results, Result) or not isinstance(results, Iterable)
    given = [many] if one else list(many)
    for entry in given:
        if not isinstance(entry, Result):
            raise OptionError(
                f"frames: {one_line(repr(entry), 80)} is no result; rt.load(id) gives a debate's"
            )
    return Frames(lambda: (result.fold for result in given))


def _pick(state: State) -> str | None:
    verdict = state.verdict
    if state.verdict_status != READY or verdict is None:
        return None
    return state.spec.brief.label_of(verdict.pick)
