"""What `Review` and `Discussion` share: the settings of both, and the ways to run a debate.

Knows neither options nor observers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final, Literal, TypedDict

from rt_notebook import session
from rt_notebook.analysis.result import Result
from rt_notebook.config import Config, load_config, resolve_chairman, resolve_seats
from rt_notebook.domain.brief import Brief
from rt_notebook.domain.kinds import Kind
from rt_notebook.domain.script import Script
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.spec import DebateSpec, Limits
from rt_notebook.engine.estimate import Estimate
from rt_notebook.errors import BriefError, OptionError, SeatError, nearest, one_line
from rt_notebook.frontends.handle import Handle
from rt_notebook.frontends.launch import DebateCell, OnEvent, check_callback, hear
from rt_notebook.frontends.place import Place, find_place
from rt_notebook.frontends.views import cell_for
from rt_notebook.frontends.ways import run_awaited, run_blocking, start_background

Closer = str | Seat | Script | Callable[..., Any] | None
"""Who has the last word: a seat's name, a model, a `Seat`, a script or a callable."""


class CommonSettings(TypedDict, total=False):
    """What both kinds of debate take beside question and seats."""

    known: Sequence[str]
    """Facts that you state."""
    assumed: Sequence[str]
    """Your guesses."""
    constraints: Sequence[str]
    """Limits that any decision must keep."""
    reversibility: str | None
    """How easily the decision can be taken back, one line."""
    deadline: str | None
    """By when it is needed, one line."""
    context: str | None
    """Further material, Markdown."""
    unattended: bool | None
    """True: nobody is asked; False: somebody is there; None: found out."""
    anonymous: bool
    """True: the seats see letters in place of names."""
    limits: Limits
    """Budgets."""
    title: str | None
    """Own title, 200 characters."""
    loop_threshold: float
    """Similarity above which the debate ends, since nothing moves (0.85); 0: off."""
    tool_preview: int
    """Characters of a tool's output that the others see (500)."""
    language: str | None
    """Language of the replies; None: the question's."""
    research: str | Mapping[str, Any] | None
    """What to look up on the web first: the query, or a dict with query, max_searches, timeout_s,
    model, effort and account."""
    api_billing: bool
    """True: commands are paid for by a key of the environment, not by their login."""
    allow_limited_isolation: bool
    """Consent to commands that can't be told to leave tools and settings alone."""
    acknowledge_terms: Sequence[str]
    """Vendors whose notice about their terms you have read, such as `antigravity`."""
    store: str | Path | None
    """Path of the store; None: the default store."""
    durability: Literal["process", "power"]
    """What an event survives: the death of the `process`, or of the `power`."""
    record: str | Path | None
    """The file that keeps the debate, so that it can be run again without a call."""
    record_mode: Literal["once", "new", "none", "all"]
    """`once`: replay a record that fits, record where there is none; `new`: make only the calls
    that are missing; `none`: call nobody; `all`: record anew."""
    display: bool | None
    """Whether a live view is shown; None: where somebody can see it."""


_BRIEF: Final = ("known", "assumed", "constraints", "reversibility", "deadline", "context")


class PythonDebate:
    """A debate defined in Python; `Review` and `Discussion` say of which kind.

    Args:
        question: what it is about.
        options: a review's labels.
        seats: who debates; None: the files' default seats, else three scripted ones.
        given: what else was said, by `settings`' names.
        settings: the names that may be said.
    """

    kind: ClassVar[Kind]
    """The kind of debate."""

    def __init__(
        self,
        question: str,
        options: Sequence[str],
        seats: Sequence[Seat | str] | None,
        given: Mapping[str, Any],
        settings: Sequence[str],
    ) -> None:
        given = dict(given)
        self._check_names(given, settings)
        config = load_config().for_kind(self.kind)
        defaults = config.review_defaults()
        place = find_place()
        debating = _seats(seats, place, config)
        fields = {name: given.pop(name) for name in _BRIEF if name in given}
        self._store = given.pop("store", defaults.pop("store", None))
        self._durability = given.pop("durability", defaults.pop("durability", "process"))
        _check_choice("durability", self._durability, ("process", "power"))
        self._display = given.pop("display", defaults.pop("display", None))
        _check_choice("display", self._display, (True, False, None))
        self._record = given.pop("record", None)
        self._record_mode = given.pop("record_mode", defaults.pop("record_mode", None))
        closer = self.closing_name
        named = _closer(given.pop(closer, None), closer, place, config, debating)
        limits = given.pop("limits", None) or Limits(**config.limits)
        if "acknowledge_terms" in given:
            given["acknowledge_terms"] = _vendors(given["acknowledge_terms"])
        self.spec = DebateSpec(
            kind=self.kind,
            brief=Brief(question=question, options=_labels(options), **fields),
            seats=tuple(debating),
            limits=limits,
            **{**defaults, **given, closer: named},
        )
        """The debate's whole definition."""

    closing_name: ClassVar[str]
    """What whoever has the last word is called: chairman or observer."""

    def _check_names(self, given: Mapping[str, Any], settings: Sequence[str]) -> None:
        unknown = [name for name in given if name not in settings]
        if unknown:
            known = [*settings, "seats"]
            name = type(self).__name__
            raise OptionError(
                f"{name} has no argument {unknown[0]!r}{nearest(unknown[0], known)}",
                option=unknown[0],
            )

    def __repr__(self) -> str:
        spec, name = self.spec, type(self).__name__
        return f"<{name} {spec.shown_title!r}: {len(spec.seats)} seats, {spec.rounds} rounds>"

    def check(self) -> Estimate:
        """Return what the debate would cost; nothing is called.

        Raises:
            SeatError: a seat can't be seated.
            LimitError: the least it needs breaks a limit.
            RecordMismatchError: the record doesn't fit, and its mode doesn't allow to go on.
        """
        return session.check_opening(self.spec, self._opening(attended=True))

    async def run(self, *, on_event: OnEvent | None = None) -> Result:
        """Run the debate and return its result; being cancelled interrupts it, resumable.

        Args:
            on_event: called with every event, on the debate's loop.

        Raises:
            UsageError: it can't be run here.
            StoreError: the event log can't be written.
        """
        place = find_place()
        cell = self._cell(place, on_event, place.attended)
        return await run_awaited(cell, place)

    def run_sync(self, *, on_event: OnEvent | None = None) -> Result:
        """Run the debate and return its result, blocking; also inside a running loop.

        Raises:
            UsageError: it can't be run here.
            StoreError: the event log can't be written.
            KeyboardInterrupt: it was interrupted; the debate is resumable.
        """
        place = find_place()
        cell = self._cell(place, on_event, place.attended)
        return run_blocking(cell, place)

    def start(self, *, on_event: OnEvent | None = None) -> Handle:
        """Start the debate in the background and return its handle at once.

        Raises:
            UsageError: it can't be run here.
        """
        place = find_place()
        cell = self._cell(place, on_event, not place.headless_kernel, background=True)
        return start_background(cell, place)

    def _opening(self, attended: bool) -> session.Opening:
        return session.Opening(
            self._store,
            self._durability,
            attended=attended,
            record=self._record,
            record_mode=self._record_mode,
        )

    def _cell(
        self, place: Place, on_event: OnEvent | None, attended: bool, *, background: bool = False
    ) -> DebateCell:
        check_callback(on_event)
        run = session.new_run(self.spec, self._opening(attended))
        hear(run, on_event)
        return cell_for(run, place, display=self._display, background=background)


def _vendors(given: object) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise OptionError(
            "acknowledge_terms: a list is expected, such as acknowledge_terms=['antigravity']",
            option="acknowledge_terms",
        )
    return tuple(given)


def _check_choice(name: str, given: object, choices: tuple[object, ...]) -> None:
    if not any(given is choice or given == choice for choice in choices):
        listed = ", ".join(map(repr, choices))
        shown = one_line(repr(given), 80)
        raise OptionError(f"{name}={shown}: one of {listed} is expected", option=name)


def _labels(options: object) -> tuple[Any, ...]:
    # A text is a sequence too: its letters would pass for options.
    if isinstance(options, str) or not isinstance(options, Iterable):
        raise BriefError(
            "options: a list is expected, such as options=['Ship', 'Wait']", field="options"
        )
    return tuple(options)


def _seats(seats: Sequence[Seat | str] | None, place: Place, config: Config) -> list[Seat]:
    if seats is None:
        return resolve_seats(None, place.variables, config)
    if isinstance(seats, (str, Seat)) or not isinstance(seats, Iterable):
        raise SeatError("seats: a list is expected, such as seats=[rt.Seat('pm'), rt.Seat('dev')]")
    given: tuple[Any, ...] = tuple(seats)
    if not given:
        raise SeatError("seats: the list is empty; leave it out for the default seats")
    wrong = [seat for seat in given if not isinstance(seat, (Seat, str))]
    if wrong:
        raise SeatError(f"seats: {one_line(repr(wrong[0]), 80)} is neither a Seat nor a name")
    return resolve_seats(given, place.variables, config)


def _closer(
    named: Closer, role: str, place: Place, config: Config, seats: Sequence[Seat]
) -> Seat | None:
    if isinstance(named, Seat):
        return named
    if named is None or isinstance(named, str):
        return resolve_chairman(named, place.variables, config, seats, role)
    return Seat(role, model=named)
