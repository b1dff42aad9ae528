"""The brief: what is to be decided, and the person's field notes, with their limits."""

from __future__ import annotations

import re
from typing import Any, ClassVar, Final

from pydantic import field_validator

from rt_notebook.characters import plain
from rt_notebook.domain.kinds import MIN_OPTIONS as MIN_OPTIONS
from rt_notebook.domain.normal import normal_form
from rt_notebook.domain.values import Value
from rt_notebook.errors import BriefError

MAX_QUESTION: Final = 20_000
MAX_OPTIONS: Final = 12
MAX_LABEL: Final = 200
MAX_ENTRIES: Final = 50
MAX_ENTRY: Final = 2_000
MAX_LINE: Final = 500
MAX_CONTEXT: Final = 200_000
NOTE_LISTS: Final = ("known", "assumed", "constraints")
NOTE_LINES: Final = ("reversibility", "deadline")
_RESERVED_LABELS: Final = frozenset({"none", "no pick", "other"})


class Brief(Value):
    """What every seat is given; a field left out is left out of the prompts too."""

    error: ClassVar[type[BriefError]] = BriefError
    noun: ClassVar[str] = "brief"

    question: str
    """What is to be decided, Markdown, 1-20,000 characters."""
    options: tuple[str, ...] = ()
    """2-12 labels (a review), ids `opt-1` ... in this order; empty for a discussion."""
    known: tuple[str, ...] = ()
    """Facts that the person stated."""
    assumed: tuple[str, ...] = ()
    """The person's guesses."""
    constraints: tuple[str, ...] = ()
    """Limits that any decision must keep."""
    reversibility: str | None = None
    """How easily the decision can be taken back, one line."""
    deadline: str | None = None
    """By when it is needed, one line."""
    context: str | None = None
    """Further material (Markdown), 200,000 characters in all."""

    @property
    def option_ids(self) -> tuple[str, ...]:
        """The ids `opt-1` ... `opt-N` of the options, in order."""
        return tuple(f"opt-{n}" for n in range(1, len(self.options) + 1))

    def label_of(self, key: str | None) -> str | None:
        """Return what a person reads for a stance key: the option's label, or an `other:` label."""
        if key is None:
            return None
        number = key[4:]
        if key.startswith("opt-") and number.isdecimal() and 1 <= int(number) <= len(self.options):
            return self.options[int(number) - 1]
        return key.removeprefix("other:").strip() if key.startswith("other:") else key

    @field_validator("known", "assumed", "constraints", "options", mode="before")
    @classmethod
    def _as_list(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else () if value is None else value

    @field_validator("question")
    @classmethod
    def _question(cls, value: str) -> str:
        if not plain(value).strip():
            raise BriefError("the question is empty; write what is to be decided", field="question")
        return _bounded("question", value, MAX_QUESTION)

    @field_validator("options")
    @classmethod
    def _options(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        labels = tuple(label.strip() for label in value)
        if labels and not MIN_OPTIONS <= len(labels) <= MAX_OPTIONS:
            raise BriefError(
                f"options: {MIN_OPTIONS} to {MAX_OPTIONS} are allowed, got {len(labels)}",
                field="options",
            )
        seen: dict[str, str] = {}
        for label in labels:
            _check_label(label)
            key = normal_form(plain(label))  # what a person can't tell apart is no choice
            if key in seen:
                raise BriefError(
                    f"options: {label!r} is the same as {seen[key]!r}; make them distinct",
                    field="options",
                )
            seen[key] = label
        return labels

    @field_validator("known", "assumed", "constraints")
    @classmethod
    def _entries(cls, value: tuple[str, ...], info: Any) -> tuple[str, ...]:
        entries = tuple(entry.strip() for entry in value if entry.strip())
        if len(entries) > MAX_ENTRIES:
            raise BriefError(
                f"{info.field_name}: {MAX_ENTRIES} entries are allowed, got {len(entries)}",
                field=info.field_name,
            )
        return tuple(
            _bounded(info.field_name, entry, MAX_ENTRY, "an entry of ") for entry in entries
        )

    @field_validator("reversibility", "deadline")
    @classmethod
    def _line(cls, value: str | None, info: Any) -> str | None:
        if value is None or not value.strip():
            return None
        if len(value.strip().splitlines()) > 1:
            raise BriefError(
                f"{info.field_name}: one line is allowed, got several", field=info.field_name
            )
        return _bounded(info.field_name, value.strip(), MAX_LINE)

    @field_validator("context")
    @classmethod
    def _context(cls, value: str | None) -> str | None:
        return _bounded("context", value, MAX_CONTEXT) if value and value.strip() else None


def _bounded(field: str, value: str, limit: int, what: str = "") -> str:
    if len(value) > limit:
        raise BriefError(
            f"{what}{field} has {len(value):,} characters; {limit:,} are allowed",
            field=field,
            limit=limit,
        )
    return value


def _check_label(label: str) -> None:
    key = normal_form(plain(label))
    if not key:
        raise BriefError("options: an option is empty", field="options")
    if len(label) > MAX_LABEL or len(label.splitlines()) > 1:
        raise BriefError(
            f"options: {label[:40]!r}… has {len(label)} characters; one line of {MAX_LABEL} is "
            "allowed",
            field="options",
        )
    if key in _RESERVED_LABELS or re.fullmatch(r"opt-\d+", key):
        raise BriefError(
            f"options: {label!r} is reserved; name the option by what it does", field="options"
        )
