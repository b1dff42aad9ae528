"""Two debates side by side: what differs in brief and seats, whose stance, whether the verdict.

Reads two folds; how it looks is in `rendering.diff`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rt_notebook.analysis.result import Result
from rt_notebook.analysis.tables import Columns, Row
from rt_notebook.analysis.verdict import READY, Verdict, verdict_of
from rt_notebook.domain.normal import normal_form
from rt_notebook.domain.positions import Position, canonical_key
from rt_notebook.domain.reply import NO_PICK, OTHER
from rt_notebook.domain.seat import Seat, tool_name
from rt_notebook.domain.state import State
from rt_notebook.errors import OptionError, one_line
from rt_notebook.rendering.diff import Section, diff_html, diff_text

if TYPE_CHECKING:
    import pandas as pd

BRIEF: Final[Columns] = {"field": "text", "a": "text", "b": "text"}
"""One row per difference; an entry of a list that only one has stands alone in its column."""
SEATS: Final[Columns] = {"seat": "text", "field": "text", "a": "text", "b": "text"}
"""One row per difference; a seat that only one debate has has the field `seat`."""
STANCES: Final[Columns] = {
    "seat": "text",
    "first_a": "text",
    "first_b": "text",
    "final_a": "text",
    "final_b": "text",
    "differs": "flag",
}
"""One row per counted seat of either debate."""
TALLY: Final[Columns] = {"option": "text", "a": "int", "b": "int", "change": "int"}
"""One row per stance that a seat holds at the end, or that is an option."""
VERDICT: Final[Columns] = {"field": "text", "a": "text", "b": "text", "differs": "flag"}
"""One row per part of the outcome."""

_LONG: Final = 60
_SETTINGS: Final = (
    "rounds", "memory", "anonymous", "language", "loop_threshold", "tool_preview",
    "observer_prompt",
)  # fmt: skip
_SEAT_FIELDS: Final = (
    "model", "persona", "lens", "mood", "effort", "temperature", "max_tokens",
)  # fmt: skip


class Diff:
    """What differs between two debates; shows itself in a notebook.

    Options are matched by their labels, seats by their names, so that another order is no
    difference of its own.
    """

    def __init__(self, a: State, b: State) -> None:
        self._a, self._b = a, b

    @property
    def verdict_changed(self) -> bool:
        """Whether the two recommend different options, or only one has a verdict."""
        return _folded(_pick(self._a)) != _folded(_pick(self._b))

    @property
    def same(self) -> bool:
        """Whether nothing differs: brief, seats, stances and verdict."""
        rows = (self._brief, self._seats, [row for row in self._stances if row[-1]])
        return not self.verdict_changed and not any(rows)

    @property
    def brief(self) -> pd.DataFrame:
        """What differs in the brief and the settings: field, a, b."""
        return _frame(BRIEF, self._brief)

    @property
    def seats(self) -> pd.DataFrame:
        """What differs in the seats: seat, field, a, b."""
        return _frame(SEATS, self._seats)

    @property
    def stances(self) -> pd.DataFrame:
        """Every counted seat's first and final stance in both; whether the final one differs."""
        return _frame(STANCES, self._stances)

    @property
    def tally(self) -> pd.DataFrame:
        """How many counted seats stood where at the end: option, a, b, change."""
        return _frame(TALLY, _tally_rows(self._a, self._b))

    @property
    def verdict(self) -> pd.DataFrame:
        """The outcome of both: status, stop reason, verdict, pick, rounds, calls, cost."""
        return _frame(VERDICT, self._verdict)

    def __str__(self) -> str:
        """Return the comparison as plain text."""
        return diff_text(self._names, self._headline, self._sections)

    def __repr__(self) -> str:
        return f"<Diff of {self._names[0]} and {self._names[1]}: {one_line(self._headline, 200)}>"

    def _repr_mimebundle_(
        self, include: Container[str] | None = None, exclude: Container[str] | None = None
    ) -> dict[str, str]:
        """Return the comparison as static HTML and text, whichever is asked for."""
        html = diff_html(self._names, self._headline, self.verdict_changed, self._sections)
        data = {"text/html": html, "text/plain": str(self)}
        return {
            kind: text
            for kind, text in data.items()
            if (not include or kind in include) and (not exclude or kind not in exclude)
        }

    @property
    def _names(self) -> tuple[str, str]:
        return self._a.id, self._b.id

    @property
    def _headline(self) -> str:
        a, b = (_pick_words(verdict_of(state)) for state in (self._a, self._b))
        moved = sum(bool(row[-1]) for row in self._stances)
        seats = "no seat ends elsewhere" if not moved else f"{moved} of {len(self._stances)} seats"
        if moved:
            seats += " end elsewhere" if moved > 1 else " ends elsewhere"
        if self.verdict_changed:
            return f"The verdict changed: {a} → {b}; {seats}."
        return f"The same verdict: {a}; {seats}."

    @cached_property
    def _brief(self) -> list[Row]:
        return [*_brief_rows(self._a, self._b)]

    @cached_property
    def _seats(self) -> list[Row]:
        return [*_seat_rows(self._a, self._b)]

    @cached_property
    def _stances(self) -> list[Row]:
        return [*_stance_rows(self._a, self._b)]

    @property
    def _verdict(self) -> list[Row]:
        a, b = _outcome(self._a), _outcome(self._b)
        return [(name, a[name], b[name], a[name] != b[name]) for name in a]

    @property
    def _sections(self) -> list[Section]:
        stances = [[*row[:5]] for row in self._stances if row[-1]]
        brief = [(name, *_near(one, two)) for name, one, two in self._brief]
        outcome = [[*row[:3]] for row in self._verdict if row[-1]]
        return [
            Section("Outcome", ["", "a", "b"], _shown(outcome), "The same."),
            Section("Brief and settings", ["Field", "a", "b"], _shown(brief), "The same."),
            Section("Seats", ["Seat", "Field", "a", "b"], _shown(self._seats), "The same."),
            Section(
                "Stances that differ at the end",
                ["Seat", "First in a", "First in b", "Final in a", "Final in b"],
                _shown(stances),
                "None: every seat ends where it does in the other.",
            ),
        ]


def diff(
    a: Result | str | Path, b: Result | str | Path, *, store: str | Path | None = None
) -> Diff:
    """Compare two debates: `rt.diff(a, b)`.

    Args:
        a: a result, a debate's id, or a record's path.
        b: the other one.
        store: where ids are looked up; None: the default store.

    Raises:
        OptionError: one is neither a result nor an id.
        UnknownDebateError: the store has no debate of that id.
    """
    return Diff(_state(a, store), _state(b, store))


def _state(what: Result | str | Path, store: str | Path | None) -> State:
    if isinstance(what, Result):
        return what.fold
    if not isinstance(what, str | Path):
        raise OptionError(f"diff: {one_line(repr(what), 80)} is neither a result nor a debate's id")
    # The session makes results, so it can't be loaded before them.
    from rt_notebook import session

    return session.load(what, store).fold


def _frame(columns: Columns, rows: list[Row] | Iterator[Row]) -> pd.DataFrame:
    from rt_notebook.analysis import frames

    return frames.frame_of_rows(columns, rows)


def _brief_rows(a: State, b: State) -> Iterator[Row]:
    one, two = a.spec.brief, b.spec.brief
    for name in type(one).model_fields:
        before, after = getattr(one, name), getattr(two, name)
        if isinstance(before, tuple):
            gone, new = Counter(before) - Counter(after), Counter(after) - Counter(before)
            yield from ((name, entry, None) for entry in gone.elements())
            yield from ((name, None, entry) for entry in new.elements())
            if sorted(before) == sorted(after) and before != after:
                yield f"{name} (order)", ", ".join(before), ", ".join(after)
        elif before != after:
            yield name, before, after
    for name in _SETTINGS:
        before, after = getattr(a.spec, name), getattr(b.spec, name)
        if before != after:
            yield name, _word(before), _word(after)
    searched = [_word(spec.research and spec.research.query) for spec in (a.spec, b.spec)]
    if searched[0] != searched[1]:
        yield "research", *searched


def _seat_rows(a: State, b: State) -> Iterator[Row]:
    one = {normal_form(seat.name): seat for seat in a.spec.seats}
    two = {normal_form(seat.name): seat for seat in b.spec.seats}
    for key in {**one, **two}:
        before, after = one.get(key), two.get(key)
        if before is None or after is None:
            name = (before or after).name  # type: ignore[union-attr]  # one of them is there
            yield name, "seat", before and before.model, after and after.model
            continue
        yield from _field_rows(before.name, before, after)
    yield from _closer_rows(a, b)


def _field_rows(name: str, before: Seat, after: Seat) -> Iterator[Row]:
    for field in _SEAT_FIELDS:
        old, new = getattr(before, field), getattr(after, field)
        if old != new:
            yield name, field, _word(old), _word(new)
    tools = [", ".join(map(tool_name, seat.tools)) or None for seat in (before, after)]
    if tools[0] != tools[1]:
        yield name, "tools", *tools
    if before.script != after.script:
        yield name, "script", _steps(before.script), _steps(after.script)


def _closer_rows(a: State, b: State) -> Iterator[Row]:
    """Yield what differs in who has the last word; the built-in one has no fields of its own."""
    name = a.spec.closing_name if a.spec.closing_name == b.spec.closing_name else "last word"
    before, after = a.spec.closer, b.spec.closer
    if before is not None and after is not None:
        yield from _field_rows(name, before, after)
    elif before is not after:
        yield name, "model", before and before.model, after and after.model


def _stance_rows(a: State, b: State) -> Iterator[Row]:
    first, second = _stances(a), _stances(b)
    for key in {**first, **second}:
        name = (first.get(key) or second[key])[0]
        one, two = first.get(key, (name, None, None)), second.get(key, (name, None, None))
        differs = _folded(one[2]) != _folded(two[2])
        yield name, one[1], two[1], one[2], two[2], differs


def _stances(state: State) -> dict[str, tuple[str, str | None, str | None]]:
    """Return by seat its name, its first and its final stance, as labels."""
    found: dict[str, tuple[str, str | None, str | None]] = {}
    for seat in state.spec.counted:
        taken = state.history.get(seat.name, [])
        ends = (_label(state, taken[0]), _label(state, taken[-1])) if taken else (None, None)
        found[normal_form(seat.name)] = (seat.name, *ends)
    return found


def _label(state: State, position: Position) -> str:
    label = state.spec.brief.label_of(position.key) or position.key
    return f"{OTHER} {label}" if position.key.startswith(OTHER) else label


def _tally_rows(a: State, b: State) -> Iterator[Row]:
    counts: tuple[dict[str, int], dict[str, int]] = ({}, {})
    labels: dict[str, str] = {}
    for state, count in zip((a, b), counts, strict=True):
        for label in state.spec.brief.options:
            labels.setdefault(normal_form(label), label)
        for seat in state.spec.counted:
            position = state.positions.get(seat.name)
            if position is not None:
                label = _label(state, position)
                key = canonical_key(label) if label.startswith(OTHER) else normal_form(label)
                labels.setdefault(key, label)
                count[key] = count.get(key, 0) + 1
    for key, label in labels.items():
        one, two = counts[0].get(key, 0), counts[1].get(key, 0)
        yield label, one, two, two - one


def _outcome(state: State) -> Mapping[str, str | None]:
    verdict = verdict_of(state)
    cost = state.usage.cost
    return {
        "status": state.status,
        "stop reason": state.stop_reason,
        "verdict": verdict.status,
        "pick": _pick(state),
        "critique rounds": str(state.completed_rounds),
        "calls": str(state.usage.calls),
        "cost, USD": None if cost is None else f"{cost:.4f}",
    }


def _pick(state: State) -> str | None:
    """Return the picked label, `none`, or None without a verdict."""
    verdict = verdict_of(state)
    return (verdict.label or NO_PICK) if verdict.status == READY else None


def _pick_words(verdict: Verdict) -> str:
    if verdict.status != READY:
        return f"no verdict ({verdict.status})"
    return verdict.label or "no option recommended"


def _near(one: str | None, two: str | None) -> tuple[str | None, str | None]:
    """Return two texts without what both begin with, so that a long one shows what differs."""
    if one is None or two is None or max(len(one), len(two)) <= _LONG:
        return one, two
    unlike = (place for place, (x, y) in enumerate(zip(one, two, strict=False)) if x != y)
    shared = next(unlike, min(len(one), len(two)))
    start = max(one.rfind(" ", 0, max(0, shared - 12)) + 1, 0)
    mark = "…" if start else ""
    return mark + one[start : start + _LONG], mark + two[start : start + _LONG]


def _folded(text: str | None) -> str | None:
    return None if text is None else normal_form(text)


def _steps(script: tuple[Any, ...] | None) -> str | None:
    return None if script is None else f"{len(script)} steps"


def _word(value: object) -> str | None:
    return None if value is None else str(value)


def _shown(rows: list[Row] | list[list[Any]]) -> list[list[str]]:
    return [["–" if cell is None else str(cell) for cell in row] for row in rows]
