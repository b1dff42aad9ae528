"""Which debates a sweep consists of: briefs × variations × repeats, each under an id of its own.

Owns what may be varied and how the ids come about. Runs nothing and opens no store.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations, product
from typing import Any, Final, NamedTuple

from pydantic import BaseModel

from rt_notebook.arguments import check_count
from rt_notebook.config import load_config, resolve_chairman, resolve_seats
from rt_notebook.config_files import Config
from rt_notebook.domain.brief import Brief
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.spec import DebateSpec, Limits
from rt_notebook.errors import OptionError, nearest, one_line
from rt_notebook.store.paths import new_debate_id

BRIEF_FIELDS: Final = tuple(Brief.model_fields)
SETTINGS: Final = (
    "rounds", "chairman", "memory", "anonymous", "limits", "loop_threshold", "language", "seats",
)  # fmt: skip
"""What a debate is given besides its brief, and what a variation may change."""
_FIXED: Final = (
    "research", "tool_preview", "api_billing", "allow_limited_isolation", "acknowledge_terms",
)  # fmt: skip
"""What is the same in all debates of a sweep."""
_NOBODY: Final = "nobody is asked in a sweep; leave it out"
_NOT_HERE: Final = {
    **dict.fromkeys(("gates", "unattended", "question_wait_s", "checkpoint_wait_s"), _NOBODY),
    "title": "a title is one brief's; give the briefs as dicts with a title each",
    "display": "a sweep has no live view; leave it out",
    **dict.fromkeys(("record", "record_mode"), "a sweep is kept in its store; leave it out"),
}
"""Arguments of a single debate that a sweep refuses, and why."""
_SEAT_FIELDS: Final = (
    "model", "persona", "lens", "mood", "effort", "temperature", "max_tokens",
)  # fmt: skip
_ORDERS: Final = ("rotations", "all")
_MOST_ORDERS: Final = 720
MOST_DEBATES: Final = 100_000
"""More are a slip: a sweep knows them all from the start."""
_DIGITS: Final = 12


class Planned(NamedTuple):
    """One debate of a sweep."""

    id: str
    """Its id in the store: the same call gives the same one."""
    brief: int
    """The number of its brief, from 0."""
    variation: int
    """The number of its variation, from 0."""
    repeat: int
    """The number of its repeat, from 1."""


@dataclass
class Plan:
    """All debates of a sweep, small however many there are: definitions are made when needed."""

    briefs: list[Brief]
    """The briefs in the order given."""
    titles: list[str | None]
    """Their own titles."""
    tags: list[dict[str, str]]
    """What else stood beside each brief: columns that are no field of one."""
    variations: list[dict[str, Any]]
    """What is varied, by name; one empty one where nothing is."""
    seats: list[Seat]
    """The seats before any variation."""
    settings: dict[str, Any]
    """The settings before any variation."""
    config: Config
    """What the configuration files said when it was made."""
    debates: list[Planned] = field(default_factory=list)
    """The debates: briefs, then variations, then repeats."""

    def spec(self, planned: Planned) -> DebateSpec:
        """Return a debate's definition."""
        return self._spec(planned.brief, self.variations[planned.variation])

    def label(self, planned: Planned) -> str | None:
        """Return what a variation changes, in a line; None where nothing is varied."""
        return "; ".join(f"{name}={word}" for name, word in self.values(planned).items()) or None

    def values(self, planned: Planned) -> dict[str, str]:
        """Return what is varied in a debate, by name, in words."""
        varied = self.variations[planned.variation]
        return {name: _named(value) for name, value in varied.items()}

    def title(self, planned: Planned) -> str:
        """Return the debate's title."""
        own = self.titles[planned.brief]
        return own or one_line(self.briefs[planned.brief].question, 80)

    def _spec(self, brief: int, varied: Mapping[str, Any]) -> DebateSpec:
        settings = {**self.settings}
        seats = list(self.seats)
        for name, value in varied.items():
            if name == "seats":
                seats = list(value)
            elif name in SETTINGS:
                settings[name] = value
        for name, value in varied.items():
            if name != "order" and name not in SETTINGS:
                seats = _with_field(seats, name, value)
        # Before the order: where nobody is named the first seat counts, and an order that is varied
        # must not change who judges.
        settings["chairman"] = _chairman(settings.get("chairman"), seats, self.config)
        if "order" in varied:
            seats = _ordered(seats, varied["order"])
        return DebateSpec(
            brief=self.briefs[brief],
            seats=tuple(seats),
            title=self.titles[brief],
            unattended=True,
            **settings,
        )


def make_plan(
    briefs: Any,
    seats: Sequence[Seat | str] | None,
    repeats: int,
    vary: Mapping[str, Iterable[Any]] | None,
    settings: Mapping[str, Any],
) -> Plan:
    """Return the debates of a sweep; see `sweep` for the arguments.

    Raises:
        BriefError: a brief breaks its limits.
        SeatError: the seats don't fit.
        OptionError: a setting or something to vary is unknown, or there would be too many debates.
    """
    check_count("repeats", repeats)
    config = load_config()
    _check_settings(settings)
    shared = {name: settings[name] for name in BRIEF_FIELDS if name in settings}
    # The files say more than a sweep takes.
    given = {**config.review_defaults(), **settings}
    given = {name: given[name] for name in (*SETTINGS, *_FIXED) if name in given}
    sitting = resolve_seats(list(seats) if seats is not None else None, {}, config)
    if given.get("limits") is None:
        given["limits"] = Limits(**config.limits)
    plan = Plan([], [], [], _variations(vary or {}, sitting, config), sitting, given, config)
    for row in _rows(briefs):
        brief, title, tags = _brief(row, shared)
        plan.briefs.append(brief)
        plan.titles.append(title)
        plan.tags.append(tags)
    if not plan.briefs:
        raise OptionError("sweep: no brief was given", option="briefs")
    _check_size(len(plan.briefs), len(plan.variations), repeats)
    plan.debates = list(_planned(plan, repeats))
    return plan


def _check_settings(settings: Mapping[str, Any]) -> None:
    for name in settings:
        if name in _NOT_HERE and (name, settings[name]) != ("unattended", True):
            raise OptionError(f"sweep takes no {name}: {_NOT_HERE[name]}", option=name)
        known = (*SETTINGS, *_FIXED, *BRIEF_FIELDS)
        if name not in known and name not in _NOT_HERE:
            raise OptionError(f"sweep has no argument {name!r}{nearest(name, known)}", option=name)


def _check_size(briefs: int, variations: int, repeats: int) -> None:
    if briefs * variations * repeats > MOST_DEBATES:
        # What is typed may have more digits than Python writes.
        often = f"{repeats:,}" if repeats < 10**9 else "10⁹ or more"
        raise OptionError(
            f"sweep: {briefs:,} briefs × {variations:,} variations × {often} repeats are more than "
            f"{MOST_DEBATES:,} debates: make several sweeps of it",
            limit=MOST_DEBATES,
        )


def _planned(plan: Plan, repeats: int) -> Iterator[Planned]:
    """Yield the debates; equal definitions, wherever they come from, are each other's repeats."""
    seen: Counter[str] = Counter()
    for brief in range(len(plan.briefs)):
        for variation, varied in enumerate(plan.variations):
            spec = plan._spec(brief, varied)
            digest = _digest(spec)
            # A new id is a slug and random letters; here the letters follow from the definition.
            slug = new_debate_id(spec.shown_title).rpartition("-")[0]
            for _ in range(repeats):
                seen[digest] += 1
                whole = hashlib.sha256(f"{digest}/{seen[digest]}".encode()).hexdigest()
                yield Planned(f"{slug}-{whole[:_DIGITS]}", brief, variation, seen[digest])


def _digest(spec: DebateSpec) -> str:
    """Return what a debate's id rests on: its definition without budgets, consents and colours."""
    data = spec.model_dump(mode="json", exclude={"limits", "v"})
    # As if none were given: what had to wait for a consent isn't in the store yet.
    data |= {"allow_limited_isolation": False, "acknowledge_terms": []}
    for seat in data["seats"]:
        seat.pop("color", None)
    if data["chairman"] is not None:
        data["chairman"]["color"] = None
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _rows(briefs: Any) -> list[Any]:
    """Return the briefs one by one: of a list, or the rows of a pandas or polars data frame."""
    if isinstance(briefs, (str, Mapping, Brief)) or hasattr(briefs, "spec"):
        return [briefs]
    if hasattr(briefs, "to_dicts"):
        return list(briefs.to_dicts())
    if hasattr(briefs, "to_dict"):
        return list(briefs.to_dict("records"))
    return list(briefs) if isinstance(briefs, Iterable) else [briefs]


def _brief(row: Any, shared: Mapping[str, Any]) -> tuple[Brief, str | None, dict[str, str]]:
    """Return a brief, its title and its tags."""
    if isinstance(row, Brief):
        return row, None, {}
    if isinstance(getattr(row, "spec", None), DebateSpec):
        return row.spec.brief, row.spec.title, {}
    if isinstance(row, str):
        return Brief(**{**shared, "question": row}), None, {}
    if not isinstance(row, Mapping):
        raise OptionError(
            f"sweep: {one_line(repr(row), 80)} is no brief: give a question, a dict with the "
            "brief's fields, a Brief or a Review",
            option="briefs",
        )
    given = {str(name): value for name, value in row.items() if not _is_missing(value)}
    title = given.pop("title", None)
    fields = {name: _field(name, given.pop(name)) for name in BRIEF_FIELDS if name in given}
    for name in given:
        hint = nearest(name, [*BRIEF_FIELDS, "title"])
        if hint:
            raise OptionError(f"sweep: a brief has no field {name!r}{hint}", option="briefs")
    if "question" not in fields and "question" not in shared:
        raise OptionError("sweep: a brief has no question", option="briefs")
    tags = {name: str(value) for name, value in given.items()}
    return Brief(**{**shared, **fields}), title, tags


def _field(name: str, value: Any) -> Any:
    """Return a field as a brief takes it: a cell of a table may hold a list as lines."""
    if name in ("options", "known", "assumed", "constraints"):
        if isinstance(value, str):
            return tuple(line.strip().removeprefix("- ") for line in value.splitlines() if line)
        return tuple(value)
    return value


def _is_missing(value: Any) -> bool:
    # NaN is the one value that differs from itself; an array has no single answer.
    return value is None or type(value).__name__ in ("NAType", "NaTType") or (
        isinstance(value, float) and value != value
    )  # fmt: skip


def _variations(
    vary: Mapping[str, Iterable[Any]], seats: Sequence[Seat], config: Config
) -> list[dict[str, Any]]:
    """Return every combination of what is varied, the last name changing fastest."""
    choices: list[list[Any]] = []
    for name, values in vary.items():
        _check_name(name, seats, "seats" in vary)
        found = _orders(values, seats) if name == "order" else _choices(name, values, config)
        choices.append(found)
        if not found:
            raise OptionError(f"vary: {name!r} has nothing to choose from", option="vary")
    _check_size(1, math.prod(map(len, choices)), 1)
    return [dict(zip(vary, chosen, strict=True)) for chosen in product(*choices)]


def _check_name(name: str, seats: Sequence[Seat], panels: bool) -> None:
    seat, dot, what = name.rpartition(".")
    if name in SETTINGS or name == "order" or (not dot and name in _SEAT_FIELDS):
        return
    known = [seat.name for seat in seats]
    if dot and what in _SEAT_FIELDS and (panels or seat in known):
        return
    names = [*SETTINGS, "order", *_SEAT_FIELDS, *(f"{n}.{f}" for n in known for f in _SEAT_FIELDS)]
    raise OptionError(
        f"vary: {name!r} can't be varied{nearest(name, names)} (a setting: {', '.join(SETTINGS)}; "
        f"every seat's: {', '.join(_SEAT_FIELDS)}; one seat's: {known[0]}.model; or order)",
        option="vary",
    )


def _choices(name: str, values: Iterable[Any], config: Config) -> list[Any]:
    # One value is a choice too; a seat or limits would be taken apart.
    lone = isinstance(values, (str, BaseModel)) or not isinstance(values, Iterable)
    choices = [values] if lone else list(values)
    if name != "seats":
        return choices
    if any(isinstance(panel, (str, Seat)) for panel in choices):
        raise OptionError(
            "vary: 'seats' takes a list of panels, each a list of seats, such as "
            "[['pm', 'dev'], ['pm', 'rv']]",
            option="vary",
        )
    return [resolve_seats(list(panel), {}, config) for panel in choices]


def _orders(values: Any, seats: Sequence[Seat]) -> list[Any]:
    """Return orders of the seats, as names."""
    names = [seat.name for seat in seats]
    if values == "rotations":
        return [tuple(names[at:] + names[:at]) for at in range(len(names))]
    if values == "all":
        count = math.factorial(len(names))
        if count > _MOST_ORDERS:
            # The first of them would all begin with the same seats.
            raise OptionError(
                f"vary: order='all': {len(names)} seats have {count:,} orders, at most "
                f"{_MOST_ORDERS} are run: write 'rotations' or a list of orders",
                option="vary",
                limit=_MOST_ORDERS,
            )
        return list(permutations(names))
    if isinstance(values, str):
        raise OptionError(f"vary: order={values!r}: {' or '.join(_ORDERS)}, or a list of names")
    return [tuple(order) for order in values]


def _ordered(seats: Sequence[Seat], order: Sequence[str]) -> list[Seat]:
    by_name = {seat.name: seat for seat in seats}
    if sorted(by_name) != sorted(order):
        raise OptionError(
            f"vary: the order {', '.join(map(str, order))} doesn't name each seat once "
            f"({', '.join(by_name)})",
            option="vary",
        )
    return [by_name[name] for name in order]


def _with_field(seats: Sequence[Seat], name: str, value: Any) -> list[Seat]:
    """Return the seats with one field changed, of one of them (`pm.lens`) or of all (`lens`)."""
    who, _, what = name.rpartition(".")
    return [_changed(seat, what, value) if who in ("", seat.name) else seat for seat in seats]


def _changed(seat: Seat, name: str, value: Any) -> Seat:
    fields = {key: getattr(seat, key) for key in type(seat).model_fields if key != "name"}
    if name == "model":
        return Seat(seat.name, **{**fields, "script": None, "model": value})
    return Seat(seat.name, **{**fields, name: value}).with_function(seat.function)


def _chairman(chairman: Any, seats: Sequence[Seat], config: Config) -> Seat | None:
    """Return who has the last word; a name is one of the debate's own seats before any other."""
    if isinstance(chairman, Seat):
        return chairman
    if chairman is None or isinstance(chairman, str):
        return resolve_chairman(chairman, {}, config, seats)
    return Seat("chairman", model=chairman)


def _named(value: Any) -> str:
    if isinstance(value, Seat):
        return value.model
    if isinstance(value, (list, tuple)):
        return "/".join(v.name if isinstance(v, Seat) else str(v) for v in value)
    return one_line(getattr(value, "__name__", None) or str(value), 60)
