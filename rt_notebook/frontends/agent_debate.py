"""Makes a debate out of an input, for the verbs, the detached runner and `run`.

Owns what an input may not say although code may: it comes from a file or from another program, so
it runs no code of its choice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from rt_notebook import session
from rt_notebook.config import load_config, seat_table
from rt_notebook.domain.kinds import DISCUSSION, REVIEW, Kind
from rt_notebook.domain.normal import normal_form
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.spec import DebateSpec, Limits
from rt_notebook.engine.estimate import Estimate, Range
from rt_notebook.errors import BriefError, SeatError, one_line
from rt_notebook.frontends.agent_schema import DebateInput, LimitsInput, ResearchInput, SeatInput
from rt_notebook.frontends.discussion import Discussion
from rt_notebook.frontends.review import Review

_CODE_MODELS: Final = ("python", "function")
SCRIPTED: Final = "scripted"
"""The model that asks nobody."""


def spec_of(
    given: DebateInput, *, fake: bool = False, api_billing: bool | None = None
) -> DebateSpec:
    """Return the debate that an input describes; nothing is called.

    Args:
        given: the input.
        fake: every seat and the chairman scripted.
        api_billing: whether commands are paid for by key, which an input can't say.

    Raises:
        BriefError: question, options or field notes break a limit.
        SeatError: a seat can't be built or seated.
        OptionError: a value doesn't fit.
    """
    fields = (faked(given) if fake else given).given()
    question, seats = fields.pop("question"), fields.pop("seats", None)
    options, kind = fields.pop("options", []), fields.pop("kind", None)
    for role in ("chairman", "observer"):
        if role in fields:
            fields[role] = _closer(fields[role], role)
    if "limits" in fields:
        fields["limits"] = limits_of(given.limits, kind_of(given))
    if isinstance(given.research, ResearchInput):
        fields["research"] = given.research.given()
    if api_billing is not None:
        fields["api_billing"] = api_billing
    found = None if seats is None else [_seat(seat) for seat in seats]
    if (kind or kind_of(given)) == DISCUSSION:
        if options:
            raise BriefError("a discussion has no options; leave them out", field="options")
        return Discussion(question, seats=found, **fields).spec
    return Review(question, options=options, seats=found, **fields).spec


def kind_of(given: DebateInput) -> Kind:
    """Return which kind of debate an input describes."""
    return given.kind or (REVIEW if given.options else DISCUSSION)


def limits_of(given: LimitsInput | None, kind: Kind) -> Limits:
    """Return the limits of an input; what it leaves out comes from the files."""
    said = {} if given is None else given.given()
    return Limits(**{**load_config().for_kind(kind).limits, **said})


def opening_of(given: DebateInput, *, attended: bool, source: str) -> session.Opening:
    """Return where and how the debate of an input is to be run."""
    files = load_config().for_kind(kind_of(given)).review_defaults()
    store = given.store or files.get("store")
    durability = given.durability or files.get("durability", "process")
    return session.Opening(
        store,
        durability,
        attended=attended,
        source=source,
        record=given.record,
        record_mode=given.record_mode or files.get("record_mode"),
    )


def faked(given: DebateInput) -> DebateInput:
    """Return an input with every seat and the chairman scripted; lenses and moods stay."""
    config = load_config().for_kind(kind_of(given))
    known = {normal_form(str(row["name"])): row for row in seat_table(config, {})}
    asked: Sequence[str | SeatInput] = given.seats or config.default_seats
    seats = [_fake(seat, known) for seat in asked] or None
    closer = "chairman" if kind_of(given) == REVIEW else "observer"
    return given.model_copy(update={"seats": seats, "research": None, closer: SCRIPTED}, deep=False)


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
            f"seat {seat!r}: model {one_line(model, 80)!r} runs code, which no input can say; "
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


def _closer(given: str | SeatInput, role: str) -> Seat | str:
    if isinstance(given, str):
        check_model(given, role)
        return given
    return _made(given)


def _made(given: SeatInput) -> Seat:
    check_model(given.model, given.name)
    return Seat(**given.given())


def _fake(given: str | SeatInput, known: Mapping[str, Mapping[str, Any]]) -> str | SeatInput:
    if isinstance(given, SeatInput):
        return given.model_copy(update={"model": SCRIPTED})
    name, equals, _ = (part.strip() for part in given.partition("="))
    row = known.get(normal_form(name), {})
    if not (row or equals):
        return given  # unknown: whoever looks it up says so
    roles = {key: row[key] for key in ("persona", "lens", "mood") if row.get(key)}
    return SeatInput(name=name, model=SCRIPTED, **roles)


def _plain(value: Any) -> Any:
    if isinstance(value, Range):
        return value._asdict()
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return list(value) if isinstance(value, tuple) else value
