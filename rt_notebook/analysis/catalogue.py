"""All row tables by name: what `Result`, `rt.frames`, sweeps and Arrow make their tables from.

Owns the names, and the debate's column in front of the tables of many debates.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, repeat
from typing import Final, NamedTuple

from rt_notebook.analysis import debate_measures, points, relations, tables
from rt_notebook.analysis.tables import Columns, Row
from rt_notebook.analysis.verdict import READY, verdict_of
from rt_notebook.domain.state import State
from rt_notebook.errors import OptionError, nearest

STANCES: Final[Columns] = {"seat": "text", "round": "int", "stance": "text"}
"""One row per counted seat and round with a position; frames have it as seats × rounds."""

VERDICTS: Final[Columns] = {
    "title": "text",
    "status": "text",
    "stop_reason": "text",
    "verdict": "text",
    "pick": "text",
    "label": "text",
    "completed_rounds": "int",
    "consensus_round": "int",
    "calls": "int",
    "prompt_tokens": "int",
    "completion_tokens": "int",
    "cost": "float",
}
"""One row per debate."""


class Table(NamedTuple):
    """A table of one debate."""

    columns: Columns
    """Its columns and their kinds, in order."""
    rows: Callable[[State], Iterable[Row]]
    """Yields its rows."""

    @property
    def columns_of_many(self) -> Columns:
        """The same of many debates: the debate's column comes first."""
        return {"debate": "text", **self.columns}

    def rows_of_many(self, states: Iterable[State]) -> Iterator[Row]:
        """Return the rows of some debates, one debate after the other."""
        if "debate" in self.columns:
            return chain.from_iterable(map(self.rows, states))
        return chain.from_iterable(
            map(operator.add, repeat((state.id,)), self.rows(state)) for state in states
        )


def stance_rows(state: State) -> Iterator[Row]:
    """Yield the rows of `STANCES`, by round, then in the seats' order."""
    names = [seat.name for seat in state.spec.counted]
    for number, column in tables.stance_columns(state).items():
        for name, label in zip(names, column, strict=True):
            if label is not None:
                yield name, number, label


def verdict_rows(state: State) -> Iterator[Row]:
    """Yield the one row of `VERDICTS`."""
    verdict, usage = verdict_of(state), state.usage
    known = [call.usage for call in state.calls.values()]
    told = any(used.prompt_tokens is not None for used in known)
    yield (
        state.spec.shown_title,
        state.status,
        state.stop_reason,
        verdict.status,
        verdict.pick if verdict.status == READY else None,
        verdict.label,
        state.completed_rounds,
        debate_measures.consensus_round(state),
        usage.calls,
        usage.prompt_tokens if told else None,
        usage.completion_tokens if told else None,
        usage.cost,
    )


TABLES: Final[dict[str, Table]] = {
    "replies": Table(tables.REPLIES, tables.reply_rows),
    "stances": Table(STANCES, stance_rows),
    "tally": Table(tables.TALLY, tables.tally_rows),
    "agreement": Table(relations.AGREEMENT, relations.agreement_rows),
    "endorsements": Table(relations.ENDORSEMENTS, relations.endorsement_rows),
    "flips": Table(tables.FLIPS, tables.flip_rows),
    "points": Table(points.POINTS, points.point_rows),
    "calls": Table(tables.CALLS, tables.call_rows),
    "tool_calls": Table(relations.TOOL_CALLS, relations.tool_rows),
    "questions": Table(tables.QUESTIONS, tables.question_rows),
    "usage": Table(tables.USAGE, tables.usage_rows),
    "measures": Table(debate_measures.MEASURES, debate_measures.measure_rows),
    "persuasion": Table(debate_measures.PERSUASION, debate_measures.persuasion_rows),
    "verdicts": Table(VERDICTS, verdict_rows),
}
"""Every table that is rows, by the name of its attribute."""


def table_named(name: str) -> Table:
    """Return a table.

    Raises:
        OptionError: there is none of that name.
    """
    if name not in TABLES:
        hint = nearest(str(name), TABLES)
        raise OptionError(f"there is no table {name!r} (tables: {', '.join(TABLES)}){hint}")
    return TABLES[name]
