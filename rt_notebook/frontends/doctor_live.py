"""The doctor's live check: one tiny call to each model that is ready, once it is said what for."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rt_notebook.config import Config, resolve_seats, seat_table
from rt_notebook.domain.seat import Seat, vendor_of
from rt_notebook.engine.runner import runner
from rt_notebook.errors import CallError, RoundtableError, one_line
from rt_notebook.frontends.doctor_report import OK, PROBLEM, Finding
from rt_notebook.providers.base import Call, Completion, Message
from rt_notebook.providers.closing import close_all
from rt_notebook.providers.consents import Consents
from rt_notebook.providers.policies import complete_bounded
from rt_notebook.providers.prices import price_of
from rt_notebook.providers.registry import asks_model, model_provider

PROMPT: Final = "Answer with the single word OK."
"""All that is asked."""

_DEADLINE_S: Final = 60.0
_SENT: Final = 40
_RECEIVED: Final = 200


@dataclass(frozen=True)
class Plan:
    """What a live check will ask."""

    seats: tuple[Seat, ...]
    """Who is asked, once each."""

    def __str__(self) -> str:
        if not self.seats:
            return "Nothing to try: no seat at a model is ready."
        names = ", ".join(f"{seat.name} ({seat.model})" for seat in self.seats)
        prices = [price_of(seat.model) for seat in self.seats]
        known = [price for price in prices if price is not None]
        sums = sum(price.input * _SENT + price.output * _RECEIVED for price in known)
        cost = f"at most about {sums:.4f} USD"
        if len(known) < len(prices):
            cost += f", and what {len(prices) - len(known)} without a known price take"
        return f"One tiny call each to {names}: {cost}."


def plan(config: Config, variables: Mapping[str, Any], ready: Sequence[str]) -> Plan:
    """Return whom a live check asks: every seat at a model, and every command that is ready.

    Args:
        config: what the files say.
        variables: the notebook's variables.
        ready: names of the commands that can be asked.
    """
    seats: list[Seat] = []
    for row in seat_table(config, variables):
        if row["problem"] is None and asks_model(str(row["model"])):
            seats.append(_named(str(row["name"]), variables, config))
    commands = {vendor_of(seat.model) for seat in seats}
    seats += [Seat(name[4:], model=name) for name in ready if name not in commands]
    return Plan(tuple(seats))


def try_all(asked: Plan, consents: Consents) -> list[Finding]:
    """Ask everybody of a plan once, and return what came."""
    return [_tried(seat, consents) for seat in asked.seats]


def _named(name: str, variables: Mapping[str, Any], config: Config) -> Seat:
    # A debate has two seats or more; the second one is there for that alone.
    found = resolve_seats([name, {"name": "nobody else", "model": "scripted"}], variables, config)
    return found[0]


def _tried(seat: Seat, consents: Consents) -> Finding:
    began = time.monotonic()
    try:
        answer = runner().run_blocking(lambda job: _ask(seat, consents))
    except RoundtableError as exc:
        kind = f"{exc.kind}: " if isinstance(exc, CallError) else ""
        return Finding("Live", seat.name, PROBLEM, one_line(f"{kind}{exc}", 600))
    took = f"{time.monotonic() - began:.1f} s"
    model = answer.model or seat.model
    cost = answer.usage.cost if answer.usage is not None else None
    paid = "cost unknown" if cost is None else f"{cost:.6f} USD"
    return Finding("Live", seat.name, OK, f"{model} answered in {took}, {paid}")


async def _ask(seat: Seat, consents: Consents) -> Completion:
    provider = model_provider(seat, consents)
    call = Call([Message("user", PROMPT)], seat.name, 0, "opening", deadline_s=_DEADLINE_S)
    try:
        return await complete_bounded(provider, call, lambda chars: None)
    finally:
        await close_all([provider])
