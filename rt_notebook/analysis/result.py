"""The result of a debate, what a cell leaves in its variable: joins fold, frames and rendering.

Works on a running or partial debate too. Loads pandas only when a frame is asked for, and the
rendering only when the result is shown; knows no store and no running process.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rt_notebook.analysis.log_notes import log_notes
from rt_notebook.analysis.summary import Summary, summary_of
from rt_notebook.analysis.verdict import Verdict, verdict_of
from rt_notebook.domain.events import Event
from rt_notebook.domain.snapshot import NextAction, Snapshot, snapshot
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.domain.state import State, fold
from rt_notebook.domain.titles import shown_title
from rt_notebook.errors import one_line

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from rt_notebook.analysis.plots import Plots


class Result:
    """A debate's replies, stances, calls, questions, usage and verdict, as frames and values.

    Frames are made anew on every access, so changing one changes nothing else. An empty debate's
    have the same columns and dtypes; `analysis.frames` lists them.

    Args:
        state: the fold of the debate's events; nothing applies events to it any more.
        events: the events themselves, or a function that reads them.
        warnings: lines for the person, such as two seats with the same model, lens and mood.
        variable: the notebook variable that holds this result, for the hints below a shown one.
        outside: makes the state that outsiders see; None: the fold's own, without a next action.
        status: overrides the fold's: a process that died leaves `running` behind.
    """

    def __init__(
        self,
        state: State,
        events: Sequence[Event] | Callable[[], Iterable[Event]],
        warnings: Sequence[str] = (),
        variable: str | None = None,
        *,
        outside: Callable[[State], Snapshot] | None = None,
        status: str | None = None,
    ) -> None:
        self._fold = state
        self._events = events
        self._warnings = tuple(warnings)
        self._outside = outside
        self._status = status
        self.variable = variable
        """The notebook variable that holds this result."""
        self.shown_above: Callable[[], bool] | None = None
        """Says whether the running cell shows the report already; it isn't shown twice then."""
        self.typed: Callable[[str, str], str] | None = None
        """Writes a verb and an id as they are typed where `str` is shown; None: the line magic."""

    def __reduce__(self) -> tuple[object, ...]:
        # What reads the store or the running process can't go along; what it says now does.
        return _again, (self.events, self._warnings, self.variable, self.state)

    @property
    def id(self) -> str:
        """The debate's id."""
        return self._fold.id

    @property
    def title(self) -> str:
        """The own title, or one made from the question; a discussion's ends with a tick."""
        return shown_title(self._current())

    @property
    def status(self) -> str:
        """Where the debate stands: running, waiting, verdict, done, stopped, paused, ..."""
        return self._status or self._fold.status

    @property
    def stop_reason(self) -> str | None:
        """Why it ended: rounds, consensus, nothing_new, loop, limit, clock, finished, stopped, ...

        None while it runs.
        """
        return "interrupted" if self._status == "interrupted" else self._fold.stop_reason

    @property
    def spec(self) -> DebateSpec:
        """The debate's whole definition, a Pydantic model."""
        return self._fold.spec

    @property
    def warnings(self) -> list[str]:
        """Lines for the person: what was odd about the brief, the seats or the run."""
        failed = self._fold.research_failure
        return [*self._warnings, *([failed] if failed else []), *log_notes(self._fold)]

    @property
    def state(self) -> Snapshot:
        """The debate's state as everybody outside sees it, the same as in JSON."""
        if self._outside is not None:
            return self._outside(self._fold)
        return snapshot(self._fold, [], NextAction(type="none", instruction=""))

    @property
    def fold(self) -> State:
        """The debate's state as folded from its events: what the frames are made of."""
        return self._fold

    @property
    def events(self) -> list[Event]:
        """Everything that happened, in order."""
        return list(self._events() if callable(self._events) else self._events)

    @property
    def verdict(self) -> Verdict:
        """The chairman's verdict and the counted tally; never None, see its `status`.

        A discussion has none, but a `summary`.
        """
        return verdict_of(self._fold)

    @property
    def summary(self) -> Summary:
        """A discussion's summary: status and text; never None."""
        return summary_of(self._fold)

    @property
    def replies(self) -> pd.DataFrame:
        """One row per seat and round; columns in `analysis.frames.replies`."""
        from rt_notebook.analysis import frames

        return frames.replies([self._fold])

    @property
    def stances(self) -> pd.DataFrame:
        """Seats × rounds: each counted seat's position after each round; NA without one."""
        from rt_notebook.analysis import frames

        return frames.stances(self._fold)

    @property
    def tally(self) -> pd.DataFrame:
        """Options × first, final, change, first_seats, final_seats."""
        from rt_notebook.analysis import frames

        return frames.tally(self._fold)

    @property
    def agreement(self) -> pd.DataFrame:
        """Counted seats × seats: the share of rounds in which the two stood together."""
        from rt_notebook.analysis import frames

        return frames.agreement(self._fold)

    @property
    def endorsements(self) -> pd.DataFrame:
        """Who named whom in AGREE_WITH: seat, named, round."""
        from rt_notebook.analysis import frames

        return frames.endorsements(self._fold)

    @property
    def flips(self) -> pd.DataFrame:
        """One row per change of position: seat, round, from_key, to_key, agreed_with."""
        from rt_notebook.analysis import frames

        return frames.flips(self._fold)

    @property
    def points(self) -> pd.DataFrame:
        """One row per bullet: round, seat, kind, text, group (of near-duplicates)."""
        from rt_notebook.analysis import frames

        return frames.points(self._fold)

    @property
    def questions(self) -> pd.DataFrame:
        """One row per question: round, id, text, seats, answer, answered_by; NA where unknown."""
        from rt_notebook.analysis import frames

        return frames.questions(self._fold)

    @property
    def calls(self) -> pd.DataFrame:
        """One row per try at a provider; columns in `analysis.frames.calls`."""
        from rt_notebook.analysis import frames

        return frames.calls([self._fold])

    @property
    def tool_calls(self) -> pd.DataFrame:
        """One row per tool used: round, seat, name, preview."""
        from rt_notebook.analysis import frames

        return frames.tool_calls(self._fold)

    @property
    def usage(self) -> pd.DataFrame:
        """Calls, tokens and cost (USD) by seat, by vendor and in all."""
        from rt_notebook.analysis import frames

        return frames.usage(self._fold)

    @property
    def measures(self) -> pd.DataFrame:
        """By round: agreement, fleiss_kappa, krippendorff_alpha, entropy, volatility, ..."""
        from rt_notebook.analysis import frames

        return frames.measures(self._fold)

    @property
    def persuasion(self) -> pd.DataFrame:
        """Counted seats × seats: how often the row's seat moved to where the column's one stood."""
        from rt_notebook.analysis import frames

        return frames.persuasion(self._fold)

    @property
    def consensus_round(self) -> int | None:
        """The first round from which on all counted seats stand together; None if never."""
        from rt_notebook.analysis.debate_measures import consensus_round

        return consensus_round(self._fold)

    @property
    def plot(self) -> Plots:
        """The pictures: `result.plot.stances()`, agreement, tally, usage, timeline."""
        from rt_notebook.analysis.plots import Plots

        return Plots(self._fold)

    def to_pandas(self, table: str = "replies") -> pd.DataFrame:
        """Return a table as rows, by the name of its attribute.

        Raises:
            OptionError: there is no table of that name.
        """
        from rt_notebook.analysis import catalogue, frames

        catalogue.table_named(table)
        return frames.table(table, self._fold)

    def to_polars(self, table: str = "replies") -> pl.DataFrame:
        """Return a table as rows, by the name of its attribute.

        Raises:
            OptionError: there is no table of that name.
            MissingExtraError: polars isn't installed.
        """
        from rt_notebook.analysis import arrow, catalogue

        made = catalogue.table_named(table)
        return arrow.to_polars(made.columns, made.rows(self._fold))

    def to_arrow(self, table: str = "replies") -> pa.Table:
        """Return a table as rows, by the name of its attribute.

        Raises:
            OptionError: there is no table of that name.
            MissingExtraError: pyarrow isn't installed.
        """
        from rt_notebook.analysis import arrow, catalogue

        made = catalogue.table_named(table)
        return arrow.to_arrow(made.columns, made.rows(self._fold))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return `replies` as an Arrow stream, for `polars.DataFrame(result)` and its like."""
        from rt_notebook.analysis import arrow, catalogue

        made = catalogue.TABLES["replies"]
        return arrow.arrow_stream(made.columns, made.rows(self._fold), requested_schema)

    def __repr__(self) -> str:
        """Return one line; no frame and no report is made for it."""
        now = self._current()
        status = f"{now.status}, {now.stop_reason}" if now.stop_reason else now.status
        title = one_line(self.title, 80)
        ending = f"{now.spec.ending_name} {now.verdict_status}"
        return f"<Result {now.id}: {status}; {ending}; {title!r}>"

    def __str__(self) -> str:
        """Return the report as plain text."""
        from rt_notebook.rendering import report_text

        return report_text(
            self._current(), variable=self.variable, notes=self.warnings, typed=self.typed
        )

    def _repr_mimebundle_(
        self,
        include: Container[str] | None = None,
        exclude: Container[str] | None = None,
    ) -> dict[str, str]:
        """Return the report as static HTML, Markdown and plain text, whichever is asked for."""
        if self.shown_above is not None and self.shown_above():
            return {"text/plain": f"{self!r} (the report stands above)"}
        from rt_notebook.rendering import report_html, report_markdown, report_text

        makers = {
            "text/html": report_html,
            "text/markdown": report_markdown,
            "text/plain": report_text,
        }
        shown = self._current()
        return {
            kind: make(shown, variable=self.variable, notes=self.warnings)
            for kind, make in makers.items()
            if (not include or kind in include) and (not exclude or kind not in exclude)
        }

    def _current(self) -> State:
        """Return the fold under the status that outsiders see."""
        if self._status is None:
            return self._fold
        return replace(self._fold, status=self._status, stop_reason=self.stop_reason)


def _again(
    events: Sequence[Event], warnings: Sequence[str], variable: str | None, shown: Snapshot
) -> Result:
    """Return a pickled or copied result; functions in seats are only named in it."""
    return Result(
        fold(events), events, warnings, variable, outside=lambda _: shown, status=shown.status
    )
