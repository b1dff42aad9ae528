"""What a cell's line and body say, made into a debate: variables, seats, limits.

Nothing is called here; every mistake is one clear error before anything is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rt_notebook import session
from rt_notebook.analysis.result import Result
from rt_notebook.config import (
    Config,
    choose_research,
    choose_seats,
    load_config,
    resolve_chairman,
    resolve_seats,
)
from rt_notebook.contract.cell import read_cell
from rt_notebook.contract.fill import fill_cell
from rt_notebook.contract.line import LineOptions
from rt_notebook.contract.options import check_kind
from rt_notebook.domain.brief import Brief
from rt_notebook.domain.kinds import CHAIRMAN_NAME, DISCUSSION, OBSERVER_NAME, REVIEW, Kind
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.spec import DebateSpec, Limits
from rt_notebook.engine.estimate import Estimate
from rt_notebook.errors import LimitError
from rt_notebook.frontends.launch import DebateCell
from rt_notebook.frontends.place import RESULT_VARIABLE, Place, find_place
from rt_notebook.frontends.views import cell_for


@dataclass(frozen=True)
class CellDebate:
    """A cell that was read and checked."""

    spec: DebateSpec
    """The debate."""
    estimate: Estimate
    """What it would cost."""
    notes: tuple[str, ...]
    """What the person should know before it starts."""
    cell: Callable[[], DebateCell]
    """Makes the run; still nothing is called."""


def debate_of_cell(shell: Any, options: LineOptions, body: str) -> CellDebate:
    """Return the debate that a cell describes.

    Raises:
        UsageError: the line, the body, a variable, a seat or a limit doesn't fit.
    """
    place = find_place()
    variables = shell.user_ns
    read = read_cell(body)
    kind = kind_of(options, bool(read.options))
    config = load_config().for_kind(kind)
    filled = fill_cell(
        read, with_names=options.with_names, context=options.context, values=variables
    )
    seats = resolve_seats(choose_seats(options.seats, filled.cell.seats), variables, config)
    defaults = config.review_defaults()
    store = options.store or defaults.pop("store", None)
    durability: Any = options.durability or defaults.pop("durability", "process")
    display = options.display if options.display is not None else defaults.pop("display", None)
    mode = options.record_mode or defaults.pop("record_mode", None)
    for name in ("store", "durability", "display", "record_mode"):
        defaults.pop(name, None)
    settings = {
        **defaults,
        **options.settings(),
        **_closer(kind, options, variables, config, seats),
        "research": choose_research(options.research, filled.cell.research),
    }
    brief, limits = Brief(**filled.cell.brief_fields()), {**config.limits, **options.limits}
    spec = DebateSpec(
        kind=kind, brief=brief, seats=tuple(seats), limits=Limits(**limits), **settings
    )
    background = options.background and not place.headless_kernel
    opening = session.Opening(
        store,
        durability,
        attended=_attended(place, background),
        record=options.record,
        record_mode=mode,
    )
    estimate = session.check_opening(spec, opening, filled.attached)
    confirm = confirmation(
        estimate, options.confirm_above, opening.attended and spec.unattended is not True
    )

    def cell() -> DebateCell:
        return cell_for(
            session.new_run(spec, opening),
            place,
            display=display,
            background=background,
            assign=_assigner(shell, options.variable),
            confirm=confirm,
            variable=options.variable or RESULT_VARIABLE,
            show_result=True,
        )

    notes = _notes(spec, store, variables) if estimate.calls.max else ()
    return CellDebate(spec, estimate, (*filled.warnings, *notes), cell)


def kind_of(options: LineOptions, has_options: bool) -> Kind:
    """Return the kind of debate that a cell holds: what its line says, else by its options.

    Raises:
        OptionError: an option on the line belongs to the other kind.
    """
    kind: Kind = REVIEW if has_options else DISCUSSION
    if options.kind is not None:
        kind = DISCUSSION if options.kind == DISCUSSION else REVIEW
    check_kind(kind, options.only_of_a_kind())
    return kind


def _closer(
    kind: Kind,
    options: LineOptions,
    variables: dict[str, Any],
    config: Config,
    seats: Sequence[Seat],
) -> dict[str, Seat | None]:
    role, named = CHAIRMAN_NAME, options.chairman
    if kind == DISCUSSION:
        role, named = OBSERVER_NAME, options.observer
    return {role: resolve_chairman(named, variables, config, seats, role)}


def opening_here(place: Place, store: str | None) -> session.Opening:
    """Return how a debate is run by a blocking call here."""
    return session.Opening(store, attended=_attended(place, False))


def functions_of(shell: Any, debate: str, store: str | None) -> dict[str, Callable[..., Any]]:
    """Return the notebook's callables for a stored debate's seats that sat on a function."""
    missing = session.missing_functions(debate, store)
    found = {seat: shell.user_ns.get(name) for seat, name in missing.items()}
    return {seat: value for seat, value in found.items() if callable(value)}


def _attended(place: Place, background: bool) -> bool:
    return not place.headless_kernel if background else place.attended


def _assigner(shell: Any, variable: str | None) -> Callable[[Any], None]:
    def assign(value: Any) -> None:
        shell.user_ns[RESULT_VARIABLE] = value
        if variable is not None:
            shell.user_ns[variable] = value

    return assign


def confirmation(estimate: Estimate, above: float | None, attended: bool) -> str | None:
    """Return the question to confirm, or None when none is needed.

    Raises:
        LimitError: it is needed, and nobody is there to answer it.
    """
    if above is None or (estimate.cost is not None and estimate.cost.expected <= above):
        return None
    cost = "an unknown amount" if estimate.cost is None else f"{estimate.cost.expected:.4f} USD"
    if not attended:
        raise LimitError(
            f"--confirm-above {above:g}: the debate is expected to cost {cost}, and nobody is here "
            "to confirm it; raise the amount or run it where somebody sits",
            bound=above,
        )
    return f"{estimate}\nExpected cost: {cost}, above {above:g} USD. Start?"


def _no_memory(spec: DebateSpec, variables: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the note for a bare question that may be meant to follow the last debate's."""
    last = variables.get(RESULT_VARIABLE)
    given = spec.brief.model_dump(exclude={"question"}, exclude_defaults=True)
    if given or not isinstance(last, Result) or last.fold.live:
        return ()
    return (
        f"A new debate, which knows nothing of {last.id}: `%roundtable extend {last.id} '…'` goes "
        "on with that one.",
    )


def _notes(spec: DebateSpec, store: Any, variables: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what is odd about starting this debate; a replay starts and pays for nothing."""
    notes = [*_no_memory(spec, variables)]
    twins = session.interrupted_twins(spec, store)
    if twins:
        twin = twins[0]
        notes.append(
            f"A debate of the same brief is {twin.status}: `%roundtable resume {twin.id}` goes on "
            "with it. This cell starts a new one."
        )
    return tuple(notes)
