"""The verdict as a value a person works with; always there, whatever became of the chairman.

Built from the fold alone. Nothing stands in for the chairman: without its text, the text is empty.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rt_notebook.contract.text import without_empty
from rt_notebook.domain.reply import NO_PICK
from rt_notebook.domain.snapshot import final_tally, participation
from rt_notebook.domain.state import State
from rt_notebook.errors import one_line

READY = "ready"


@dataclass(frozen=True, slots=True, repr=False)
class Verdict:
    """What the chairman decided, and the count that code made of the seats' positions."""

    status: str
    """none, ready, failed (the chairman gave nothing readable) or skipped (stopped, error)."""
    pick: str | None = None
    """The option's id, or `none` for no pick; None unless ready."""
    label: str | None = None
    """The picked option's label; None without one."""
    rationale: str = ""
    """The reasons, Markdown; empty unless ready."""
    dissent: str = ""
    """Who disagrees and why, Markdown; empty where nobody does."""
    kill_criteria: list[str] = field(default_factory=list)
    """What would end the choice."""
    open_questions: list[str] = field(default_factory=list)
    """What stays unknown, in the chairman's words."""
    tally: dict[str, list[str]] = field(default_factory=dict)
    """Counted seats' names by stance key, from their latest positions, whatever the status."""
    participation: dict[str, list[str]] = field(default_factory=dict)
    """Counted seats' names: `counted` in the last round, `carried` over into it, `missing`."""
    error: str | None = None
    """Why it failed; None unless failed."""

    def __repr__(self) -> str:
        """Return one line, safe to print: status, pick and how many seats have a position."""
        standing = sum(map(len, self.tally.values()))
        seats = standing + len(self.participation.get("missing", ()))
        chosen = self.label if self.label is not None else self.pick
        outcome = self.status if chosen is None else f"{self.status}: {one_line(chosen, 200)}"
        if self.label is not None:
            outcome += f" ({self.pick})"
        return f"<Verdict {outcome}; {standing} of {seats} seats have a position>"


def verdict_of(state: State) -> Verdict:
    """Return the verdict as it stands: of a running debate, `none` with the tally so far."""
    tally, present = final_tally(state), participation(state)
    if state.discusses:  # the observer's words are a summary
        return Verdict("none", tally=tally, participation=present)
    text = state.verdict
    if state.verdict_status != READY or text is None:
        failed = state.verdict_status == "failed"
        return Verdict(
            state.verdict_status,
            tally=tally,
            participation=present,
            error=state.verdict_error if failed else None,
        )
    return Verdict(
        READY,
        pick=text.pick,
        label=None if text.pick == NO_PICK else state.spec.brief.label_of(text.pick),
        rationale=text.rationale,
        dissent=text.dissent,
        kill_criteria=without_empty(text.kill_criteria),
        open_questions=without_empty(text.open_questions),
        tally=tally,
        participation=present,
    )
