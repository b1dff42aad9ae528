"""The Python front end: `Review` and the verbs by id; the same engine and views as a cell's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict, Unpack, overload

from rt_notebook import session
from rt_notebook.analysis.result import Result
from rt_notebook.config import Config, load_config, resolve_chairman, resolve_seats, seat_table
from rt_notebook.domain.brief import Brief
from rt_notebook.domain.script import Script, Step
from rt_notebook.domain.script import wait as wait_step
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.snapshot import Snapshot
from rt_notebook.domain.spec import DebateSpec, Limits
from rt_notebook.engine.estimate import Estimate
from rt_notebook.errors import OptionError, SeatError, nearest, one_line
from rt_notebook.frontends.handle import Handle as Handle
from rt_notebook.frontends.launch import DebateCell, OnEvent, hear
from rt_notebook.frontends.place import Place, find_place
from rt_notebook.frontends.views import cell_for
from rt_notebook.frontends.ways import run_awaited, run_blocking, start_background

if TYPE_CHECKING:
    import pandas as pd

Chairman = str | Seat | Script | Callable[..., Any] | None


class ReviewSettings(TypedDict, total=False):
    """What `Review` takes beside question, options and seats.

    What is left out comes from the configuration files, then from the defaults.
    """

    known: Sequence[str]
    assumed: Sequence[str]
    constraints: Sequence[str]
    reversibility: str | None
    deadline: str | None
    context: str | None
    rounds: int
    chairman: Chairman
    memory: Literal["stateless", "full"]
    gates: Literal["timed", "blocking", "off"]
    unattended: bool | None
    anonymous: bool
    limits: Limits
    title: str | None
    question_wait_s: float
    checkpoint_wait_s: float
    loop_threshold: float
    language: str | None
    store: str | Path | None
    durability: Literal["process", "power"]
    display: bool | None


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


def load(id: str, *, store: str | Path | None = None) -> Result:
    """Return the result of a debate, running or not; see `session.load`."""
    return session.load(id, store)


def debates(
    status: str | None = None, limit: int | None = 50, *, store: str | Path | None = None
) -> pd.DataFrame:
    """Return the newest debates, a row each, as a data frame.

    Args:
        status: only those with this status.
        limit: at most so many; None: all.
        store: a path; None: the default store.
    """
    from rt_notebook.analysis.frames import debates_frame

    return debates_frame(session.rows(status, limit, store))


def seats() -> pd.DataFrame:
    """Return the seats that can be named here, a row each, as a data frame."""
    from rt_notebook.analysis.frames import seats_frame

    return seats_frame(seat_table(load_config(), find_place().variables))


def resume(
    id: str,
    *,
    limits: Limits | Mapping[str, Any] | None = None,
    models: Mapping[str, Callable[..., Any]] | None = None,
    store: str | Path | None = None,
    on_event: OnEvent | None = None,
) -> Handle:
    """Go on with an interrupted, failed or paused debate; no finished call is made again.

    Args:
        id: the debate's id, or `last`.
        limits: new limits.
        models: callables by seat name, for seats that sat on a function.
        store: a path; None: the default store.
        on_event: called with every event.

    Raises:
        UnknownDebateError: there is no such debate.
        NotResumableError: its state doesn't allow it, somebody else runs it, or a callable is
            missing.
    """
    place = find_place()
    opening = session.Opening(store, attended=not place.headless_kernel)
    run = session.resume_run(id, opening, limits=limits, models=models)
    hear(run, on_event)
    return start_background(cell_for(run, place, display=None, background=True), place)


def verdict(
    id: str,
    *,
    models: Mapping[str, Callable[..., Any]] | None = None,
    store: str | Path | None = None,
    on_event: OnEvent | None = None,
) -> Handle:
    """Ask the chairman again, for a debate that is stopped or done without a verdict.

    Raises:
        UnknownDebateError: there is no such debate.
        NotResumableError: its state doesn't allow it.
    """
    place = find_place()
    run = session.verdict_run(
        id, session.Opening(store, attended=not place.headless_kernel), models
    )
    hear(run, on_event)
    return start_background(cell_for(run, place, display=None, background=True), place)


def state(id: str, *, store: str | Path | None = None) -> Snapshot:
    """Return the state of a debate; see `session.state`."""
    return session.state(id, store)


@overload
def wait(what: str, seconds: float = 25.0, *, store: str | Path | None = None) -> Snapshot: ...


@overload
def wait(what: float, seconds: float = 25.0, *, then: str | Step | None = None) -> Step: ...


def wait(
    what: str | float,
    seconds: float = 25.0,
    *,
    then: str | Step | None = None,
    store: str | Path | None = None,
) -> Snapshot | Step:
    """Wait for a debate, or make a script's delayed step.

    `wait(id)` blocks until there is something to do for the debate, it is over, or `seconds` have
    passed, and returns
    its state. `wait(0.2, then=step)` returns a step for `rt.scripted` that takes 0.2 seconds.

    Raises:
        UnknownDebateError: there is no such debate.
    """
    if isinstance(what, str):
        return session.wait(what, seconds, store)
    return wait_step(what, then)


def answer(
    id: str,
    *,
    round: int,
    answers: Mapping[str, str] | None = None,
    message: str | None = None,
    seat: str | None = None,
    text: str | None = None,
) -> Snapshot:
    """Answer an open gate, or give a human seat's reply (`seat` and `text`).

    Raises:
        UnknownDebateError: there is no such debate.
        UsageError: nothing is open there; `kept` has the texts.
    """
    run = session.run_of(id)
    if (seat is None) != (text is None):
        raise OptionError("answer: seat and text belong together: a human seat's reply")
    if seat is not None and text is not None:
        return run.take_turn(round=round, seat=seat, text=text)
    return run.answer(answers, message=message, round=round)


def hold(id: str, *, round: int) -> Snapshot:
    """Extend an open gate by its own window, at most three times.

    Raises:
        UsageError: it isn't open, or can't be extended.
    """
    return session.run_of(id).hold(round=round)


def finish(id: str) -> Snapshot:
    """Go to the verdict with the complete replies.

    Raises:
        UsageError: there is nothing to judge yet.
    """
    return session.run_of(id).finish()


def stop(id: str) -> Snapshot:
    """End a debate now; completed replies are kept.

    Raises:
        UsageError: it has ended.
    """
    return session.run_of(id).stop()


def delete(id: str, *, store: str | Path | None = None) -> None:
    """Delete a debate for good.

    Raises:
        NotResumableError: somebody runs it.
    """
    session.delete(id, store)


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
