"""The whole definition of a debate, as one frozen value that the log keeps."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Final, Literal

from pydantic import Field, field_validator, model_validator

from rt_notebook.domain.brief import MIN_OPTIONS, Brief
from rt_notebook.domain.seat import Seat, check_seats
from rt_notebook.domain.values import Value, normal_form
from rt_notebook.errors import BriefError, OptionError, SeatError, nearest

SPEC_VERSION: Final = 1
MAX_ROUNDS: Final = 50
MANY_ROUNDS: Final = 8
MAX_TITLE: Final = 200
CHAIRMAN_NAME: Final = "chairman"


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

    @field_validator("max_calls", "max_tokens", "max_cost", "max_minutes")
    @classmethod
    def _above_zero(cls, value: float | None, info: Any) -> float | None:
        if value is not None and (not math.isfinite(value) or value <= 0):
            raise OptionError(
                f"{info.field_name}={value!r}: a limit is a number above 0", option=info.field_name
            )
        return value

    @field_validator("max_calls_per_vendor")
    @classmethod
    def _vendors(cls, value: dict[str, int]) -> dict[str, int]:
        for vendor, bound in value.items():
            if bound < 0:
                raise OptionError(f"max_calls_per_vendor: {vendor}={bound}: a bound is 0 or more")
        return value


class DebateSpec(Value):
    """Everything that defines a debate; equal specs give equal debates from equal replies."""

    noun: ClassVar[str] = "Review"

    v: int = SPEC_VERSION
    """Version of this form."""
    kind: Literal["review"] = "review"
    """The kind of debate."""
    brief: Brief
    """What is to be decided."""
    seats: tuple[Seat, ...]
    """Who debates, in order."""
    rounds: int = 1
    """Critique rounds after the opening."""
    chairman: Seat | None = None
    """Who writes the verdict; None: the built-in scripted chairman."""
    memory: Literal["stateless", "full"] = "stateless"
    """What a seat sees of earlier rounds."""
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

    @field_validator("rounds")
    @classmethod
    def _rounds(cls, value: int) -> int:
        if not 0 <= value <= MAX_ROUNDS:
            raise OptionError(
                f"rounds={value}: 0 to {MAX_ROUNDS} critique rounds are allowed", option="rounds"
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
        if len(self.brief.options) < MIN_OPTIONS:
            raise BriefError(
                f"a review needs at least {MIN_OPTIONS} options, got {len(self.brief.options)}; "
                "add a section `options:` with a bullet each",
                field="options",
            )
        return self

    @property
    def counted(self) -> tuple[Seat, ...]:
        """The seats whose stances count: all but hidden ones."""
        return tuple(seat for seat in self.seats if not seat.hidden)

    @property
    def shown_title(self) -> str:
        """The own title, or `(Roundtable) - ` and the question up to 60 characters."""
        if self.title:
            return self.title
        words = " ".join(self.brief.question.split())
        if len(words) > 60:
            words = words[:61].rsplit(" ", 1)[0] if " " in words[:61] else words[:60]
        return f"(Roundtable) - {words}"

    def seat(self, name: str) -> Seat:
        """Return the seat of this name, without regard to case.

        Raises:
            SeatError: there is none.
        """
        key = normal_form(name)
        for seat in self.seats:
            if normal_form(seat.name) == key:
                return seat
        names = [seat.name for seat in self.seats]
        raise SeatError(
            f"no seat is named {name!r} (seats: {', '.join(names)}){nearest(name, names)}",
            seat=name,
        )
