"""`Review`, the Python front end of a debate: the same engine and views as a cell's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict, Unpack

from rt_notebook import session
from rt_notebook.analysis.result import Result
from rt_notebook.config import Config, load_config, resolve_chairman, resolve_seats
from rt_notebook.domain.brief import Brief
from rt_notebook.domain.script import Script
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.spec import DebateSpec, Limits
from rt_notebook.engine.estimate import Estimate
from rt_notebook.errors import OptionError, SeatError, nearest, one_line
from rt_notebook.frontends.handle import Handle as Handle
from rt_notebook.frontends.launch import DebateCell, OnEvent, hear
from rt_notebook.frontends.place import Place, find_place
from rt_notebook.frontends.views import cell_for
from rt_notebook.frontends.ways import run_awaited, run_blocking, start_background

if TYPE_CHECKING:
    pass

Chairman = str | Seat | Script | Callable[..., Any] | None


class ReviewSettings(TypedDict, total=False):
    """What `Review` takes beside question, options and seats.

    What is left out comes from the configuration files, then from the defaults.
    """

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
    rounds: int
    """Critique rounds, 0-50 (1)."""
    chairman: Chairman
    """Who writes the verdict: a seat's name, a model, a `Seat`, a callable or a script."""
    memory: Literal["stateless", "full"]
    """What a seat sees: `stateless` (the latest replies) or `full` (the transcript)."""
    gates: Literal["timed", "blocking", "off"]
    """`timed`, `blocking` or `off`."""
    unattended: bool | None
    """True: nobody is asked; False: gates are forced; None: found out."""
    anonymous: bool
    """True: the seats see letters in place of names."""
    limits: Limits
    """Budgets."""
    title: str | None
    """Own title, 200 characters."""
    question_wait_s: float
    """Seconds a gate with questions stays open (120)."""
    checkpoint_wait_s: float
    """Seconds a gate without questions stays open (15)."""
    loop_threshold: float
    """Similarity above which a round without a move ends the debate (0.85); 0: off."""
    language: str | None
    """Language of the replies; None: the question's."""
    store: str | Path | None
    """Path of the store; None: the default store."""
    durability: Literal["process", "power"]
    """What an event survives: the death of the `process`, or of the `power`."""
    display: bool | None
    """Whether a live view is shown; None: where somebody can see it."""


_BRIEF: Final = ("known", "assumed", "constraints", "reversibility", "deadline", "context")
_OPENING: Final = ("store", "durability", "display")


class Review:
    """A debate over options: seats take stances, a person answers at gates, a chairman decides.

    Args:
        question: what is to be decided, Markdown.
        options: 2-12 labels.
        seats: who debates: `Seat`s, or names and `name=model` as `--seats` takes them; None: the
            files' default
            seats, else three scripted ones.
        **settings: `ReviewSettings`; what is left out comes from `roundtable.toml`, the user's
            file, the defaults.

    Raises:
        BriefError: question, options or field notes break a limit.
        SeatError: the seats don't fit.
        OptionError: an unknown argument or a bad value.
    """

    def __init__(
        self,
        question: str,
        *,
        options: Sequence[str] = (),
        seats: Sequence[Seat | str] | None = None,
        **settings: Unpack[ReviewSettings],
    ) -> None:
        given: dict[str, Any] = dict(settings)
        unknown = [name for name in given if name not in ReviewSettings.__annotations__]
        if unknown:
            known = [*ReviewSettings.__annotations__, "options", "seats"]
            raise OptionError(
                f"Review has no argument {unknown[0]!r}{nearest(unknown[0], known)}",
                option=unknown[0],
            )
        config = load_config()
        defaults = config.review_defaults()
        place = find_place()
        debating = _seats(seats, place, config)
        fields = {name: given.pop(name) for name in _BRIEF if name in given}
        opening = {name: given.pop(name) for name in _OPENING if name in given}
        chairman = given.pop("chairman", None)
        limits = given.pop("limits", None) or Limits(**config.limits)
        self._store = opening.get("store", defaults.pop("store", None))
        self._durability = opening.get("durability", defaults.pop("durability", "process"))
        self._display = opening.get("display", defaults.pop("display", None))
        self.spec = DebateSpec(
            brief=Brief(question=question, options=tuple(options), **fields),
            seats=tuple(debating),
            chairman=_chairman(chairman, place, config, debating),
            limits=limits,
            **{**defaults, **given},
        )
        """The debate's whole definition."""

    def __repr__(self) -> str:
        spec = self.spec
        return f"<Review {spec.shown_title!r}: {len(spec.seats)} seats, {spec.rounds} rounds>"

    def check(self) -> Estimate:
        """Return what the review would cost; nothing is called.

        Raises:
            SeatError: a seat can't be seated.
            LimitError: the least it needs breaks a limit.
        """
        return session.check_spec(self.spec)

    async def run(self, *, on_event: OnEvent | None = None) -> Result:
        """Run the review and return its result; being cancelled interrupts it, resumable.

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
        """Run the review and return its result, blocking; also inside a running loop.

        Raises:
            UsageError: it can't be run here.
            StoreError: the event log can't be written.
            KeyboardInterrupt: it was interrupted; the debate is resumable.
        """
        place = find_place()
        cell = self._cell(place, on_event, place.attended)
        return run_blocking(cell, place)

    def start(self, *, on_event: OnEvent | None = None) -> Handle:
        """Start the review in the background and return its handle at once.

        Raises:
            UsageError: it can't be run here.
        """
        place = find_place()
        cell = self._cell(place, on_event, not place.headless_kernel, background=True)
        return start_background(cell, place)

    def _cell(
        self, place: Place, on_event: OnEvent | None, attended: bool, *, background: bool = False
    ) -> DebateCell:
        opening = session.Opening(self._store, self._durability, attended=attended)
        run = session.new_run(self.spec, opening)
        hear(run, on_event)
        return cell_for(run, place, display=self._display, background=background)


def _seats(seats: Sequence[Seat | str] | None, place: Place, config: Config) -> list[Seat]:
    if isinstance(seats, (str, Seat)):
        raise SeatError("seats: a list is expected, such as seats=[rt.Seat('pm'), rt.Seat('dev')]")
    given: Sequence[object] = seats or ()
    wrong = [seat for seat in given if not isinstance(seat, (Seat, str))]
    if wrong:
        raise SeatError(f"seats: {one_line(repr(wrong[0]), 80)} is neither a Seat nor a name")
    return resolve_seats(seats, place.variables, config)


def _chairman(
    chairman: Chairman, place: Place, config: Config, seats: Sequence[Seat]
) -> Seat | None:
    if isinstance(chairman, Seat):
        return chairman
    if chairman is None or isinstance(chairman, str):
        return resolve_chairman(chairman, place.variables, config, seats)
    return Seat("chairman", model=chairman)
