"""What a cell's line and body say, made into a debate: variables, seats, limits.

Nothing is called here; every mistake is one clear error before anything is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rt_notebook import session
from rt_notebook.config import choose_seats, load_config, resolve_chairman, resolve_seats
from rt_notebook.contract.cell import read_cell
from rt_notebook.contract.fill import fill_cell
from rt_notebook.contract.line import LineOptions
from rt_notebook.domain.brief import Brief
from rt_notebook.domain.spec import DebateSpec, Limits
from rt_notebook.engine.estimate import Estimate
from rt_notebook.errors import LimitError
from rt_notebook.frontends.launch import DebateCell
from rt_notebook.frontends.place import Place, find_place
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
    config = load_config()
    filled = fill_cell(
        read_cell(body), with_names=options.with_names, context=options.context, values=variables
    )
    seats = resolve_seats(choose_seats(options.seats, filled.cell.seats), variables, config)
    defaults = config.review_defaults()
    store = options.store or defaults.pop("store", None)
    durability: Any = options.durability or defaults.pop("durability", "process")
    display = options.display if options.display is not None else defaults.pop("display", None)
    for name in ("store", "durability", "display"):
        defaults.pop(name, None)
    spec = DebateSpec(
        brief=Brief(**filled.cell.brief_fields()),
        seats=tuple(seats),
        chairman=resolve_chairman(options.chairman, variables, config, seats),
        limits=Limits(**{**config.limits, **options.limits}),
        **{**defaults, **options.settings()},
    )
    estimate = session.check_spec(spec, filled.attached)
    background = options.background and not place.headless_kernel
    opening = session.Opening(store, durability, attended=_attended(place, background))
    confirm = _confirmation(
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
            variable=options.variable or "roundtable_result",
            show_result=True,
        )

    return CellDebate(spec, estimate, _notes(spec, filled.warnings, store), cell)


def opening_here(place: Place) -> session.Opening:
    """Return how a debate is run by a blocking call here."""
    return session.Opening(attended=_attended(place, False))


def functions_of(shell: Any, debate: str) -> dict[str, Callable[..., Any]]:
    """Return the notebook's callables for a stored debate's seats that sat on a function."""
    missing = session.missing_functions(debate)
    found = {seat: shell.user_ns.get(name) for seat, name in missing.items()}
    return {seat: value for seat, value in found.items() if callable(value)}


def _attended(place: Place, background: bool) -> bool:
    return not place.headless_kernel if background else place.attended


def _assigner(shell: Any, variable: str | None) -> Callable[[Any], None]:
    def assign(value: Any) -> None:
        shell.user_ns["roundtable_result"] = value
        if variable is not None:
            shell.user_ns[variable] = value

    return assign


def _confirmation(estimate: Estimate, above: float | None, attended: bool) -> str | None:
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


def _notes(spec: DebateSpec, warnings: tuple[str, ...], store: Any) -> tuple[str, ...]:
    notes = list(warnings)
    twins = session.interrupted_twins(spec, store)
    if twins:
        twin = twins[0]
        notes.append(
            f"A debate of the same brief is {twin.status}: `%roundtable resume {twin.id}` goes on "
            "with it. This cell starts a new one."
        )
    return tuple(notes)
