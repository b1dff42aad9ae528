"""How a discussion calls itself while it runs and at its end. Reviews keep one title throughout."""

from __future__ import annotations

from rt_notebook.domain.kinds import DISCUSSION
from rt_notebook.domain.state import State

_PHASES = {"verdict": "consolidating", "done": "concluded"}


def shown_title(state: State) -> str:
    """Return the title with the seats and the round while it runs, and a tick at its end."""
    title = state.spec.shown_title
    if state.spec.kind != DISCUSSION:
        return title
    if state.live:
        return f"{title} · {_where(state)}"
    return f"{title} ✓" if state.status == "done" else title


def running_line(state: State) -> str:
    """Return one line for the list of what runs: `#id · pm→dev→rv (R1/2) · debating`."""
    phase = _PHASES.get(state.status, "debating" if state.live else state.status)
    return f"#{state.id} · {_where(state)} · {phase}"


def _where(state: State) -> str:
    seats = "→".join(seat.name for seat in state.spec.seats)
    least = 1 if state.spec.kind == DISCUSSION else 0
    return f"{seats} (R{max(state.round, least)}/{state.rounds})"
