"""A sweep's own tables as plain rows: its debates, and the stability of their verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from rt_notebook.analysis.catalogue import VERDICTS, verdict_rows
from rt_notebook.analysis.measures import Stability
from rt_notebook.analysis.sweep_plan import Plan, Planned
from rt_notebook.analysis.tables import Columns, Kind, Row
from rt_notebook.domain.state import State

Found = Iterable[tuple[Planned, State | None, str]]
"""Planned debates with their folds, None before they begin, and their statuses."""

DEBATES: Final[Columns] = {
    "debate": "text",
    "brief": "int",
    "title": "text",
    "repeat": "int",
    "status": "text",
    "stop_reason": "text",
    "verdict": "text",
    "pick": "text",
    "label": "text",
    "error": "text",
    "completed_rounds": "int",
    "consensus_round": "int",
    "calls": "int",
    "prompt_tokens": "int",
    "completion_tokens": "int",
    "cost": "float",
}
"""One row per planned debate; what is varied and the briefs' further columns come after."""

STABILITIES: Final[Columns] = {
    "brief": "int",
    "variation": "text",
    "pick": "text",
    "share": "float",
    "low": "float",
    "high": "float",
    "runs": "int",
    "missing": "int",
}
"""One row per brief and variation."""


def debates_columns(plan: Plan) -> Columns:
    """Return the columns of `DEBATES` with the plan's own after them."""
    own: dict[str, Kind] = {name: "text" for name in _own_columns(plan).values()}
    return {**DEBATES, **own}


def debate_rows(plan: Plan, found: Found, failures: Mapping[str, str]) -> Iterator[Row]:
    """Yield the rows of the plan's debates, in its order."""
    own = _own_columns(plan)
    outcome = [name for name in VERDICTS if name not in ("title", "status")]
    for planned, state, status in found:
        values: dict[str, object] = dict.fromkeys(outcome)
        if state is not None:
            values = dict(zip(VERDICTS, next(iter(verdict_rows(state))), strict=True))
        varied = plan.values(planned)
        extra = {**plan.tags[planned.brief], **varied}
        values |= {
            "debate": planned.id,
            "brief": planned.brief,
            "title": plan.title(planned),
            "repeat": planned.repeat,
            "status": status,
            "error": failures.get(planned.id),
        }
        yield (*(values[name] for name in DEBATES), *(extra.get(name) for name in own))


def stability_rows(
    plan: Plan, found: Found, measure: Callable[[Iterable[str | None]], Stability]
) -> Iterator[Row]:
    """Yield the rows of `STABILITIES`, briefs before variations.

    Debates that haven't ended yet are missing.
    """
    picks: dict[tuple[int, int], list[str | None]] = {}
    for planned, state, _ in found:
        row = dict(zip(VERDICTS, next(iter(verdict_rows(state))), strict=True)) if state else {}
        pick = row.get("label") or row.get("pick")
        picks.setdefault((planned.brief, planned.variation), []).append(pick)
    for (brief, variation), taken in picks.items():
        made = measure(taken)
        label = plan.label(Planned("", brief, variation, 1))
        known = made.runs > 0
        yield (
            brief,
            label,
            made.pick,
            made.share if known else None,
            made.interval.low if known else None,
            made.interval.high if known else None,
            made.runs,
            made.missing,
        )


def _own_columns(plan: Plan) -> dict[str, str]:
    """Return the names of what is varied and of the briefs' tags, with their columns' names."""
    names = dict.fromkeys(name for tags in plan.tags for name in tags)
    names.update(dict.fromkeys(plan.variations[0]))
    return {name: f"own {name}" if name in DEBATES else name for name in names}
