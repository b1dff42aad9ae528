"""What was read from a seat's reply and the chairman's verdict, as plain values for the log.

Knows nothing of how they are read (`contract.reply`, `contract.verdict`) nor of who asked. Both go
to JSON and back once per reply on the hot path, so the conversions are written out by hand, and
they share their lists with it: nobody changes one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, Self

PASS: Final = "PASS"  # noqa: S105 (a word of the contract, no password)
"""The stance key of a seat that has nothing new."""
OTHER: Final = "other:"
"""How the stance key of a stance of its own begins; the label follows as written."""
NO_PICK: Final = "none"
"""The pick of a verdict that recommends no option."""

# Most lists of most replies are empty; thousands of them would only keep the collector busy.
_NONE: Final[list[str]] = []


class Reply(NamedTuple):
    """A seat's reply, field by field; an invalid one keeps whatever could be read.

    Nobody changes its lists: they are shared with the log's JSON, and empty ones with each other.
    """

    valid: bool = False
    """True when the reply keeps the contract; only then does its stance count."""
    errors: list[str] = _NONE
    """What breaks the contract, one line each, in words that a repair call can show."""
    passed: bool = False
    """True for the lone word PASS."""
    stance: str | None = None
    """The text on the STANCE line as written; None when there is none."""
    stance_key: str | None = None
    """`opt-N`, `PASS`, or `other: <label>` as written; None when the stance names nothing."""
    agree_with: list[str] = _NONE
    """Seats it agrees with: known ones in their own spelling, unknown ones as written."""
    disagree: list[str] = _NONE
    """Its objections; 3 at most unless read without trimming."""
    new: list[str] = _NONE
    """Its new points; 2 at most unless read without trimming. A bullet `none` stays as text."""
    assumptions: list[str] = _NONE
    """What it takes for granted."""
    question: str | None = None
    """Its question to the person as written; None when there is none or a placeholder."""
    duplicates: list[str] = _NONE
    """A section's name for each time it was repeated."""
    trimmed: list[str] = _NONE
    """Names of the sections that had too many bullets."""
    notes: list[str] = _NONE
    """What was put right while reading, each word once (`fenced`, `think_removed`, ...)."""
    reasoning: str | None = None
    """What stood between think tags; kept apart, never shown to other seats."""
    raw: str = ""
    """The whole text as it came."""

    @property
    def holds_sections(self) -> bool:
        """True when something of its form could be read."""
        points = self.disagree or self.new or self.assumptions
        return bool(self.stance or points or self.agree_with or self.question)

    def unresolved(self) -> Reply:
        """Return it as it counts once its repair failed too: invalid, and without a stance key."""
        return self._replace(valid=False, stance_key=None)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values under the fields' names."""
        # Whoever hears of the event may change it: the empty list that all share stays here.
        return {
            "valid": self.valid,
            "errors": self.errors or [],
            "passed": self.passed,
            "stance": self.stance,
            "stance_key": self.stance_key,
            "agree_with": self.agree_with or [],
            "disagree": self.disagree or [],
            "new": self.new or [],
            "assumptions": self.assumptions or [],
            "question": self.question,
            "duplicates": self.duplicates or [],
            "trimmed": self.trimmed or [],
            "notes": self.notes or [],
            "reasoning": self.reasoning,
            "raw": self.raw,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], raw: str = "") -> Self:
        """Return the reply that `to_json` wrote; missing keys take defaults, others go.

        Args:
            data: its values.
            raw: the text as it came, where it is kept elsewhere.
        """
        get = data.get
        return cls(
            bool(get("valid")),
            get("errors") or _NONE,
            bool(get("passed")),
            get("stance"),
            get("stance_key"),
            get("agree_with") or _NONE,
            get("disagree") or _NONE,
            get("new") or _NONE,
            get("assumptions") or _NONE,
            get("question"),
            get("duplicates") or _NONE,
            get("trimmed") or _NONE,
            get("notes") or _NONE,
            get("reasoning"),
            get("raw") or raw,
        )


class VerdictText(NamedTuple):
    """The chairman's verdict, section by section; an invalid one keeps whatever could be read."""

    valid: bool = False
    """True when the four sections are there, once each, and the pick is an option or none."""
    errors: list[str] = _NONE
    """What breaks the contract, one line each, in words that a repair call can show."""
    pick: str | None = None
    """`opt-N`, `none` for no pick, or None when the first line names nothing."""
    recommendation: str = ""
    """The whole RECOMMENDATION section, the pick's line included."""
    dissent: str = ""
    """The DISSENT section; empty for `none`."""
    kill_criteria: list[str] = _NONE
    """What would end the choice; empty for `none`."""
    open_questions: list[str] = _NONE
    """What stays unknown; empty for `none`."""
    duplicates: list[str] = _NONE
    """A section's name for each time it was repeated."""
    notes: list[str] = _NONE
    """What was put right while reading, each word once (`fenced`, `think_removed`, ...)."""
    reasoning: str | None = None
    """What stood between think tags; kept apart."""
    raw: str = ""
    """The whole text as it came."""

    @property
    def rationale(self) -> str:
        """The reasons: RECOMMENDATION after its first line."""
        return self.recommendation.partition("\n")[2].strip()

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values under the fields' names."""
        return {
            "valid": self.valid,
            "errors": self.errors or [],
            "pick": self.pick,
            "recommendation": self.recommendation,
            "dissent": self.dissent,
            "kill_criteria": self.kill_criteria or [],
            "open_questions": self.open_questions or [],
            "duplicates": self.duplicates or [],
            "notes": self.notes or [],
            "reasoning": self.reasoning,
            "raw": self.raw,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Return the verdict that `to_json` wrote; missing keys take defaults, others go."""
        get = data.get
        return cls(
            bool(get("valid")),
            get("errors") or _NONE,
            get("pick"),
            get("recommendation") or "",
            get("dissent") or "",
            get("kill_criteria") or _NONE,
            get("open_questions") or _NONE,
            get("duplicates") or _NONE,
            get("notes") or _NONE,
            get("reasoning"),
            get("raw") or "",
        )
