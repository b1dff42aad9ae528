"""What the doctor found, as text and as a table; knows nothing of how it was found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from rt_notebook.rendering.markup import escape
from rt_notebook.rendering.plain import one_line, pad, wrap

OK: Final = "ok"
MISSING: Final = "missing"
PROBLEM: Final = "problem"
UNKNOWN: Final = "unknown"

_MARKS: Final = {OK: "+", MISSING: "-", PROBLEM: "!", UNKNOWN: "?"}
_WIDTH: Final = 100
_NAME: Final = 22
_DETAIL: Final = 600


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    area: str
    """The heading it stands under: Python, Front end, Store, Providers, Seats, ..."""
    name: str
    """What was looked at."""
    state: str
    """ok, missing (not installed, not set up), problem, or unknown (only a call can tell)."""
    detail: str
    """What was found, one line."""
    next_step: str = ""
    """What to do about it; empty: nothing."""

    def to_json(self) -> dict[str, str]:
        """Return it as a dict."""
        return dict(vars(self))


@dataclass(frozen=True)
class Report:
    """All that was found, in order; shows itself in a notebook."""

    findings: tuple[Finding, ...]
    """The findings."""

    def __str__(self) -> str:
        lines: list[str] = []
        area = ""
        for found in self.findings:
            if found.area != area:
                area = found.area
                lines += ["", area.upper()]
            head = f"  {_MARKS[found.state]} {pad(one_line(found.name, _NAME), _NAME)} "
            lines += wrap(one_line(found.detail, _DETAIL), _WIDTH, " " * len(head), head)
            if found.next_step:
                arrow = " " * len(head) + "-> "
                step = one_line(found.next_step, _DETAIL)
                lines += wrap(step, _WIDTH, " " * len(arrow), arrow)
        return "\n".join(lines[1:])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f'<pre style="white-space:pre-wrap;line-height:1.35">{escape(str(self))}</pre>'

    @property
    def problems(self) -> list[Finding]:
        """What has to be mended before the package works as it should."""
        return [found for found in self.findings if found.state == PROBLEM]

    def to_json(self) -> list[dict[str, Any]]:
        """Return the findings as dicts."""
        return [found.to_json() for found in self.findings]

    def with_more(self, findings: Iterable[Finding]) -> Report:
        """Return a report with further findings at its end."""
        return Report((*self.findings, *findings))
