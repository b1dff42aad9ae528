"""Makes a debate out of an input, for the verbs, the detached runner and `run`.

Owns what an input may not say although code may: it comes from a file or from another program, so
it runs no code of its choice.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

from rt_notebook import session
from rt_notebook.config import load_config
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.spec import DebateSpec, Limits
from rt_notebook.engine.estimate import Estimate, Range
from rt_notebook.errors import SeatError, one_line
from rt_notebook.frontends.agent_schema import DebateInput, LimitsInput, SeatInput
from rt_notebook.frontends.review import Review

_CODE_MODELS: Final = ("python", "function")
SCRIPTED: Final = "scripted"
"""The model that asks nobody."""


def spec_of(given: DebateInput, *, fake: bool = False) -> DebateSpec:
    """Return the debate that an input describes; nothing is called.

    Args:
        given: the input.
        fake: every seat and the chairman scripted.

    Raises:
        BriefError: question, options or field notes break a limit.
        SeatError: a seat can't be built or seated.
        OptionError: a value doesn't fit.
    """
    fields = given.given()
    question, options = fields.pop("question"), fields.pop("options", [])
    seats = fields.pop("seats", None)
    if "chairman" in fields:
        fields["chairman"] = _chairman(fields["chairman"])
    if "limits" in fields:
        fields["limits"] = limits_of(given.limits)
    found = None if seats is None else [_seat(seat) for seat in seats]
    spec = Review(question, options=options, seats=found, **fields).spec
    return faked(spec) if fake else spec


def limits_of(given: LimitsInput | None) -> Limits:
    """Return the limits of an input; what it leaves out comes from the files."""
    said = {} if given is None else given.given()
    return Limits(**{**load_config().limits, **said})


def opening_of(given: DebateInput, *, attended: bool, source: str) -> session.Opening:
    """Return where and how the debate of an input is to be run."""
    files = load_config().review_defaults()
    store = given.store or files.get("store")
    durability = given.durability or files.get("durability", "process")
    return session.Opening(store, durability, attended=attended, source=source)


def store_of(said: str | None) -> str | None:
    """Return the store that verbs by id look into: the one said, else the files' one."""
    return said or load_config().review_defaults().get("store")


def faked(spec: DebateSpec) -> DebateSpec:
    """Return a debate with every seat and the chairman scripted."""
    seats = tuple(_fake(seat) for seat in spec.seats)
    return spec.model_copy(update={"seats": seats, "chairman": None})


def estimate_json(found: Estimate) -> dict[str, Any]:
    """Return an estimate as JSON-able data: figures as {min, expected, max}."""
    data = asdict(found)
    return {name: _plain(value) for name, value in data.items()}


def check_model(model: str, seat: str) -> None:
    """Check that a seat's model runs no code of the input's choice.

    Raises:
        SeatError: it would.
    """
    prefix = model.strip().partition(":")[0].strip().casefold()
    if prefix in _CODE_MODELS:
        raise SeatError(
            f"seat {seat!r}: model {one_line(model, 80)!r} runs code, so a file or an input can't say it; "
            "define the seat in your own config.toml and name it here, or use Python",
            seat=seat,
            field="seats",
        )


def check_request(request: str) -> None:
    """Check a seat's name or `name=model` pair, as `check_model` does."""
    name, equals, model = request.partition("=")
    check_model(model if equals else name, name.strip())


def _seat(given: str | SeatInput) -> Seat | str:
    if isinstance(given, str):
        check_request(given)
        return given
    return _made(given)


def _chairman(given: str | SeatInput) -> Seat | str:
    if isinstance(given, str):
        check_model(given, "chairman")
        return given
    return _made(given)


def _made(given: SeatInput) -> Seat:
    check_model(given.model, given.name)
    return Seat(**given.given())


def _fake(seat: Seat) -> Seat:
    copy = seat.with_function(None)
    return copy.model_copy(update={"model": SCRIPTED, "script": None})


def _plain(value: Any) -> Any:
    if isinstance(value, Range):
        return value._asdict()
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return list(value) if isinstance(value, tuple) else value
