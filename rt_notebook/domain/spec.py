"""The whole definition of a debate, as one frozen value that the log keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final, Literal

from pydantic import Field, field_validator, model_validator

from rt_notebook.domain.brief import Brief
from rt_notebook.domain.kinds import (
    CHAIRMAN_NAME,
    DISCUSSION,
    LEAST_ROUNDS,
    MAX_OBSERVER_PROMPT,
    MAX_TOOL_PREVIEW,
    OBSERVER_NAME,
    Kind,
    check_kind,
    with_defaults,
)
from rt_notebook.domain.normal import normal_form
from rt_notebook.domain.research import Research, as_research
from rt_notebook.domain.seat import Seat, check_seats
from rt_notebook.domain.values import Value
from rt_notebook.errors import OptionError, SeatError, nearest, one_line

SPEC_VERSION: Final = 1
MAX_ROUNDS: Final = 50
MANY_ROUNDS: Final = 8
MOST: Final = 1e15
"""The largest limit; beyond it a whole number fits no float."""
MAX_TITLE: Final = 200


class Limits(Value):
    """What a debate may use; each is optional.

    Raises:
        OptionError: a limit isn't positive.
    """

    noun: ClassVar[str] = "Limits"

    max_calls: int | None = None
    """Calls in all, retries, repairs and the verdict included."""
    max_calls_per_vendor: dict[str, int] = Field(default_factory=dict)
    """Calls by vendor (the model string's prefix)."""
    max_tokens: int | None = None
    """Tokens in and out; characters/4 where a provider reports none."""
    max_cost: float | None = None
    """USD, where prices are known."""
    max_minutes: float | None = 30.0
    """Minutes that one process may run the debate; resume starts it anew."""
    on_limit: Literal["verdict", "pause"] = "verdict"
    """What follows when the next round would break a limit."""

    @property
    def bounds_use(self) -> bool:
        """True where calls, tokens or money are bounded."""
        bounds = (self.max_calls, self.max_tokens, self.max_cost)
        return bool(self.max_calls_per_vendor) or any(bound is not None for bound in bounds)

    @field_validator("max_calls", "max_tokens", "max_cost", "max_minutes")
    @classmethod
    def _above_zero(cls, value: float | None, info: Any) -> float | None:
        if value is not None and not 0 < value <= MOST:
            raise OptionError(
                f"{info.field_name}={value!r}: a limit is a number above 0", option=info.field_name
            )
        return value

    @field_validator("max_calls_per_vendor")
    @classmethod
    def _vendors(cls, value: dict[str, int]) -> dict[str, int]:
        for vendor, bound in value.items():
            if not 0 <= bound <= MOST:
                raise OptionError(
                    f"max_calls_per_vendor: {vendor}={bound}: a bound is 0 or more, 1e15 at most"
                )
        return value


def title_of(title: str | None, question: str) -> str:
    """Return the own title, or `(Roundtable) - ` and the question up to 60 characters."""
    if title:
        return title
    words = " ".join(question.split())
    if len(words) > 60:
        words = words[:61].rsplit(" ", 1)[0] if " " in words[:61] else words[:60]
    return f"(Roundtable) - {words}"


def changed_limits(old: Limits, given: object) -> Limits | None:
    """Return the limits that are to hold from now on; None: the old ones.

    Args:
        old: those that hold.
        given: whole limits, or a dict: what it doesn't name stays, so that raising one budget
            lifts no other.

    Raises:
        OptionError: it is neither, or a value doesn't fit.
    """
    if given is None or isinstance(given, Limits):
        return given
    if not isinstance(given, Mapping):
        shown = one_line(repr(given), 80)
        raise OptionError(
            f"limits={shown}: Limits or a dict such as {{'max_calls': 20}} is expected",
            option="limits",
        )
    return Limits(**{**old.model_dump(), **given})


class DebateSpec(Value):
    """Everything that defines a debate; equal specs give equal debates from equal replies."""

    noun: ClassVar[str] = "Review"

    v: int = SPEC_VERSION
    """Version of this form."""
    kind: Kind = "review"
    """The kind of debate."""
    brief: Brief
    """What is to be decided, or discussed."""
    seats: tuple[Seat, ...]
    """Who debates, in order."""
    rounds: int = 1
    """A review's critique rounds after the opening; all rounds of a discussion."""
    chairman: Seat | None = None
    """Who writes a review's verdict; None: the built-in scripted chairman."""
    observer: Seat | None = None
    """Who sums a discussion up; None: the built-in one."""
    observer_prompt: str | None = None
    """Replaces what the observer is asked to write; None: the built-in neutral prompt."""
    memory: str = "stateless"
    """What a seat sees of what was said: `stateless` or `full`; in a discussion `full`, `turn`
    (nothing) or `window:N` (the last N turns)."""
    tool_preview: int = 500
    """Characters of a tool's output that the others see."""
    gates: Literal["timed", "blocking", "off"] = "timed"
    """Whether a person is asked between rounds, and for how long."""
    unattended: bool | None = None
    """True: nobody is asked; False: gates are forced; None: found out at the start."""
    anonymous: bool = False
    """True: the others see Seat A, B, C in place of names."""
    limits: Limits = Limits()
    """Budgets."""
    title: str | None = None
    """Own title; None: made from the question."""
    question_wait_s: float = 120.0
    """Seconds a gate with questions stays open."""
    checkpoint_wait_s: float = 15.0
    """Seconds a gate without questions stays open."""
    loop_threshold: float = 0.85
    """Similarity above which a round in which nobody moved ends the debate; 0: off."""
    language: str | None = None
    """Language of the replies; None: the question's."""
    research: Research | None = None
    """What is looked up on the web before round 0; None: nothing."""
    api_billing: bool = False
    """Whether commands are paid for by a key of the environment in place of their login."""
    allow_limited_isolation: bool = False
    """Consent to commands that can't be told to leave tools and settings alone."""
    acknowledge_terms: tuple[str, ...] = ()
    """Vendors whose notice about their terms the person has read."""

    @model_validator(mode="before")
    @classmethod
    def _by_kind(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("research") is not None:
            data = {**data, "research": as_research(data["research"])}
        return with_defaults(data) if isinstance(data, dict) else data

    @field_validator("rounds")
    @classmethod
    def _rounds(cls, value: int, info: Any) -> int:
        kind = info.data.get("kind", "review")
        least = LEAST_ROUNDS[kind]
        if not least <= value <= MAX_ROUNDS:
            what = "rounds" if kind == DISCUSSION else "critique rounds"
            raise OptionError(
                f"rounds={value}: {least} to {MAX_ROUNDS} {what} are allowed", option="rounds"
            )
        return value

    @field_validator("observer_prompt")
    @classmethod
    def _observer_prompt(cls, value: str | None) -> str | None:
        if value is not None and len(value) > MAX_OBSERVER_PROMPT:
            raise OptionError(
                f"observer_prompt has {len(value):,} characters; {MAX_OBSERVER_PROMPT:,} are "
                "allowed",
                option="observer_prompt",
            )
        return value.strip() or None if value else None

    @field_validator("tool_preview")
    @classmethod
    def _tool_preview(cls, value: int) -> int:
        if not 0 <= value <= MAX_TOOL_PREVIEW:
            raise OptionError(
                f"tool_preview={value}: 0 to {MAX_TOOL_PREVIEW} characters are allowed",
                option="tool_preview",
            )
        return value

    @field_validator("seats")
    @classmethod
    def _seats(cls, value: tuple[Seat, ...]) -> tuple[Seat, ...]:
        seats = check_seats(value)
        if all(seat.hidden for seat in seats):
            raise SeatError(
                "every seat has the mood 'rant', which isn't counted; give one another mood"
            )
        return seats

    @field_validator("title", "language")
    @classmethod
    def _line(cls, value: str | None, info: Any) -> str | None:
        if value is not None and (len(value) > MAX_TITLE or len(value.splitlines()) > 1):
            raise OptionError(
                f"{info.field_name}: one line of {MAX_TITLE} characters is allowed",
                option=info.field_name,
            )
        return value.strip() or None if value else None

    @field_validator("question_wait_s", "checkpoint_wait_s", "loop_threshold")
    @classmethod
    def _not_negative(cls, value: float, info: Any) -> float:
        top = 1.0 if info.field_name == "loop_threshold" else 86_400.0
        if not 0 <= value <= top:
            raise OptionError(
                f"{info.field_name}={value!r}: 0 to {top:,.0f} is allowed", option=info.field_name
            )
        return value

    @model_validator(mode="after")
    def _whole(self) -> DebateSpec:
        observer = self.observer or self.observer_prompt
        check_kind(
            self.kind, len(self.brief.options), self.memory, self.gates, self.chairman, observer
        )
        return self

    @property
    def counted(self) -> tuple[Seat, ...]:
        """The seats whose stances count: all but hidden ones."""
        return tuple([seat for seat in self.seats if not seat.hidden])

    @property
    def closer(self) -> Seat | None:
        """Who was named to have the last word: a review's chairman or a discussion's observer."""
        return self.observer if self.kind == DISCUSSION else self.chairman

    @property
    def closing_name(self) -> str:
        """What whoever has the last word is called where nobody was named."""
        return OBSERVER_NAME if self.kind == DISCUSSION else CHAIRMAN_NAME

    @property
    def ending_name(self) -> str:
        """What this kind of debate ends with, in a word: verdict or summary."""
        return "summary" if self.kind == DISCUSSION else "verdict"

    @property
    def shown_title(self) -> str:
        """The title that people see; see `title_of`."""
        return title_of(self.title, self.brief.question)

    def seat(self, name: str) -> Seat:
        """Return the seat of this name, without regard to case.

        Raises:
            SeatError: there is none.
        """
        for seat in self.seats:
            if seat.name == name:  # the common case: a name out of the log
                return seat
        key = normal_form(name)
        for seat in self.seats:
            if normal_form(seat.name) == key:
                return seat
        names = [seat.name for seat in self.seats]
        raise SeatError(
            f"no seat is named {name!r} (seats: {', '.join(names)}){nearest(name, names)}",
            seat=name,
        )
