"""A seat: who speaks, with which model, and how. Owns the names' rules; knows no provider."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Final, Literal

from pydantic import PrivateAttr, field_serializer, field_validator

from rt_notebook.characters import plain
from rt_notebook.domain.normal import normal_form
from rt_notebook.domain.script import Script, Step, as_step
from rt_notebook.domain.values import Value
from rt_notebook.errors import SeatError, one_line

MOODS: Final = ("grill", "builder", "steelman", "contrarian", "rant")
HIDDEN_MOOD: Final = "rant"
CHAIRMAN_ID: Final = "chairman"
MIN_SEATS: Final = 2
MAX_SEATS: Final = 26
_NAME_LIMIT: Final = 40
# The last two: the full-width comma, and what half a character becomes.
_FORBIDDEN: Final = frozenset(",;[](){}<>=、\uff0c\ufffd")
_RESERVED: Final = frozenset({"none", "empty", "pass"})
_MOST: Final = 1e15
_NOT_0: Final = frozenset({"timeout_s"})
_COMMANDS: Final = "cli"


class Seat(Value):
    """One participant of a debate.

    Args:
        name: 1-40 printable characters, unique in the debate without regard to case.
        model: a model string (`scripted`, `openai:MODEL`, `cli:claude/MODEL`, `human`, ...), a
            callable `(Call) -> str | Completion`, or a script made by `rt.scripted`.
        **fields: the attributes below.

    Raises:
        SeatError: a field breaks its rule.
    """

    error: ClassVar[type[SeatError]] = SeatError
    noun: ClassVar[str] = "Seat"

    name: str
    """The name shown to people and, unless the debate is anonymous, to the other seats."""
    model: str = "scripted"
    """Provider and model; a callable is stored as `function:NAME`."""
    persona: str | None = None
    """The seat's own system prompt; reaches only this seat."""
    lens: str | None = None
    """What it looks at: risk, cost, evidence, reversibility, long-term effects, user impact, ..."""
    mood: Literal["grill", "builder", "steelman", "contrarian", "rant"] | None = None
    """How it argues; `rant` is hidden: unnamed to the others and not counted."""
    effort: Literal["low", "medium", "high"] | None = None
    """Reasoning effort, mapped to what the provider has."""
    temperature: float | None = None
    """Sampling temperature, handed to the provider."""
    max_tokens: int | None = None
    """Completion tokens asked for at most."""
    tools: tuple[Callable[..., Any] | str, ...] = ()
    """Python functions that the model may call; stored as their names."""
    account: str | None = None
    """A named account of a vendor's command; None: the login the person has."""
    base_url: str | None = None
    """Another server than the vendor's."""
    api_key_env: str | None = None
    """The environment variable that holds the key; None: the vendor's usual one."""
    color: str | None = None
    """A CSS colour (`#rrggbb`) for the live view; None: chosen by the seat's place."""
    timeout_s: float = 300.0
    """Seconds for a turn, retries and repair included."""
    stall_s: float = 0.0
    """Seconds without progress after which a call is stopped; 0: none."""
    retries: int = 2
    """Further tries after rate_limit, overloaded or connection."""
    script: tuple[Step, ...] | None = None
    """The steps of a scripted seat, set by `model=rt.scripted(...)`."""

    _function: Callable[..., Any] | None = PrivateAttr(default=None)

    def __init__(self, name: str, *, model: Any = "scripted", **fields: Any) -> None:
        function: Callable[..., Any] | None = None
        if isinstance(model, Script):
            fields["script"], model = tuple(model), "scripted"
        elif callable(model):
            function = model
            model = f"function:{getattr(model, '__name__', type(model).__name__)}"
        super().__init__(name=name, model=model, **fields)
        self._function = function

    @property
    def function(self) -> Callable[..., Any] | None:
        """The callable given as `model`, or None; it isn't part of the stored spec."""
        # As `self._function` says it, but for the time (3 us) that pydantic's own way there takes.
        return (self.__pydantic_private__ or {}).get("_function")

    @property
    def hidden(self) -> bool:
        """True for a seat that isn't counted and whose name the others don't see."""
        return self.mood == HIDDEN_MOOD

    @property
    def vendor(self) -> str:
        """Who receives the brief: the model string's prefix, for a command with its name."""
        return vendor_of(self.model)

    @property
    def missing_tools(self) -> list[str]:
        """Names of the tools whose functions aren't there, because they come from the store."""
        return [tool for tool in self.tools if isinstance(tool, str)]

    def with_function(self, function: Callable[..., Any] | None) -> Seat:
        """Return a copy that answers by `function`."""
        copy = self.model_copy()
        copy._function = function
        return copy

    @field_validator("name")
    @classmethod
    def _name(cls, value: str) -> str:
        name = value.strip()
        if not 1 <= len(name) <= _NAME_LIMIT:
            raise SeatError(
                f"seat name {name[:60]!r} has {len(name)} characters; 1 to {_NAME_LIMIT} are "
                "allowed"
            )
        is_word = name.isascii() and name.isalnum()  # most are, and need no closer look
        bad = None if is_word else next(filter(_is_forbidden, name), None)
        if bad is not None:
            shown = repr(bad) if plain(bad) else ascii(bad)
            raise SeatError(
                f"seat name {name!r} holds {shown}; use letters, digits, spaces, '-', '_' or '.'"
            )
        form = normal_form(name)
        if not form:
            raise SeatError(f"seat name {name!a} can't be seen; choose one that can")
        if form in _RESERVED:
            raise SeatError(
                f"seat name {name!r} is reserved: it means 'nobody' in a reply; choose another"
            )
        return name

    @field_validator("model")
    @classmethod
    def _model(cls, value: str) -> str:
        if not value.strip() or not value.isprintable():
            raise SeatError(f"seat model {value!r} is empty or unprintable; write e.g. 'scripted'")
        return value.strip()

    @field_validator("color")
    @classmethod
    def _color(cls, value: str | None) -> str | None:
        if value is not None and not re.fullmatch(r"#[0-9A-Fa-f]{6}", value):
            raise SeatError(f"seat color {value!r} is not of the form '#rrggbb'")
        return value

    @field_validator("timeout_s", "stall_s", "retries", "max_tokens", "temperature")
    @classmethod
    def _number(cls, value: float | None, info: Any) -> float | None:
        least = 1 if info.field_name == "max_tokens" else 0
        if value is None:
            return value
        if not least <= value <= _MOST or (value == 0 and info.field_name in _NOT_0):
            what = "above 0" if info.field_name in _NOT_0 else f"{least} or more"
            raise SeatError(f"seat {info.field_name}={value!r}: a number {what} is needed")
        return value

    @field_validator("tools", mode="before")
    @classmethod
    def _tools(cls, value: Any) -> Any:
        if callable(value) or isinstance(value, str) or not isinstance(value, Sequence):
            raise SeatError("seat tools: a list of functions is expected, such as tools=[look_up]")
        wrong = next((tool for tool in value if not callable(tool) and not is_name(tool)), None)
        if wrong is not None:
            raise SeatError(f"seat tools: {one_line(repr(wrong), 80)} is no function")
        return tuple(value)

    @field_serializer("tools")
    def _tool_names(self, value: tuple[Callable[..., Any] | str, ...]) -> list[str]:
        return [tool_name(tool) for tool in value]

    @field_validator("account", "base_url", "api_key_env")
    @classmethod
    def _word(cls, value: str | None, info: Any) -> str | None:
        if value is not None and (not value.strip() or not value.isprintable() or " " in value):
            raise SeatError(f"seat {info.field_name}={one_line(value, 80)!r}: one word is needed")
        return value

    @field_validator("script", mode="before")
    @classmethod
    def _script(cls, value: Any) -> Any:
        return None if value is None else tuple(as_step(step) for step in value)


@lru_cache(maxsize=256)  # asked several times for each call
def vendor_of(model: str) -> str:
    """Return who receives what a model string's seat is asked: `openai`, `cli:claude`, ..."""
    prefix, _, rest = model.partition(":")
    return f"{prefix}:{rest.partition('/')[0]}" if prefix == _COMMANDS and rest else prefix


def _is_forbidden(character: str) -> bool:
    return character in _FORBIDDEN or not character.isprintable() or not plain(character)


def is_name(tool: object) -> bool:
    """Return whether a tool is given by the name under which the store keeps it."""
    return isinstance(tool, str) and tool.isidentifier()


def tool_name(tool: Callable[..., Any] | str) -> str:
    """Return the name under which a tool is stored, and under which a model calls it."""
    return tool if isinstance(tool, str) else getattr(tool, "__name__", type(tool).__name__)


def check_seats(seats: Sequence[Seat]) -> tuple[Seat, ...]:
    """Return the seats of a debate, checked together.

    Raises:
        SeatError: fewer than 2, more than 26, or two with one name.
    """
    if not MIN_SEATS <= len(seats) <= MAX_SEATS:
        raise SeatError(f"a debate has {MIN_SEATS} to {MAX_SEATS} seats; got {len(seats)}")
    seen: dict[str, str] = {}
    for seat in seats:
        key = normal_form(seat.name)
        if key in seen:
            raise SeatError(
                f"two seats are named {seat.name!r}; names are unique without regard to case"
            )
        seen[key] = seat.name
    return tuple(seats)


def wire_ids(seats: Sequence[Seat]) -> dict[str, str]:
    """Return an ASCII id for each seat's name, unique in the debate: its slug, or `seat-N`.

    No seat gets the chairman's, so that no two calls have one id.
    """
    ids: dict[str, str] = {}
    taken = {CHAIRMAN_ID}
    for number, seat in enumerate(seats, 1):
        slug = re.sub(r"[^a-z0-9]+", "-", seat.name.casefold()).strip("-")
        name = slug if slug and slug not in taken else f"seat-{number}"
        while name in taken:
            name += "x"
        taken.add(name)
        ids[seat.name] = name
    return ids
