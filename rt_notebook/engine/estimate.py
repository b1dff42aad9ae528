"""What a debate would cost, without a call: calls, tokens and money, least, expected and most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from rt_notebook.contract.prompts import Prompts
from rt_notebook.domain.spec import MANY_ROUNDS, DebateSpec
from rt_notebook.domain.usage import CHARS_PER_TOKEN
from rt_notebook.engine.limits import REPLY_TOKENS, VERDICT_TOKENS, chairman_vendor
from rt_notebook.errors import LimitError


class Range(NamedTuple):
    """A figure with its bounds."""

    min: float
    """By consensus in the opening, no repair."""
    expected: float
    """All rounds, no repair."""
    max: float
    """All rounds, each call repaired; retries apart."""


@dataclass(frozen=True)
class Estimate:
    """What `check` says; nothing was called.

    Calls: least S+1, expected S(rounds+1)+1, most twice that. Tokens: characters/4; 400 a reply,
    600 a verdict.
    """

    calls: Range
    """Calls in all."""
    prompt_tokens: Range
    """Tokens sent."""
    completion_tokens: Range
    """Tokens received."""
    cost: Range | None
    """USD; None where a price is unknown."""
    vendors: dict[str, dict[str, Any]]
    """{calls, prompt_tokens, completion_tokens, cost} by vendor: all who receive the brief."""
    warnings: tuple[str, ...]
    """What a person should know before starting."""
    attached: tuple[str, ...]
    """Names of the variables attached as evidence."""

    def __str__(self) -> str:
        calls, sent, received = self.calls, self.prompt_tokens, self.completion_tokens
        cost = "unknown" if self.cost is None else f"{self.cost.expected:.4f} USD expected"
        lines = [
            f"Nothing was called. Calls: {calls.expected:,.0f} expected "
            f"({calls.min:,.0f} to {calls.max:,.0f}).",
            f"Tokens: about {sent.expected:,.0f} in, {received.expected:,.0f} out.",
            f"Cost: {cost}.",
            f"The brief goes to: {', '.join(self.vendors)}.",
        ]
        if self.attached:
            lines.append("Attached: " + ", ".join(self.attached) + ".")
        return "\n".join([*lines, *(f"Warning: {warning}" for warning in self.warnings)])


_PRICE: Final = {"scripted": 0.0, "human": 0.0}


def estimate(spec: DebateSpec, attached: tuple[str, ...] = ()) -> Estimate:
    """Return what a debate would cost."""
    prompts = Prompts(spec)
    rounds = spec.rounds + 1
    brief = {
        seat.name: (len(prompts.system(seat)) + len(prompts.opening())) // CHARS_PER_TOKEN
        for seat in spec.seats
    }
    chairman = chairman_vendor(spec)
    vendors: dict[str, dict[str, Any]] = {}
    for vendor in dict.fromkeys([*(seat.vendor for seat in spec.seats), chairman]):
        mine = [seat for seat in spec.seats if seat.vendor == vendor]
        vendors[vendor] = _vendor(
            spec, vendor, [brief[seat.name] for seat in mine], rounds, vendor == chairman
        )
    known = all(vendors[vendor]["cost"] is not None for vendor in vendors)
    return Estimate(
        calls=_sum(vendors, "calls"),
        prompt_tokens=_sum(vendors, "prompt_tokens"),
        completion_tokens=_sum(vendors, "completion_tokens"),
        cost=_sum(vendors, "cost") if known else None,
        vendors=vendors,
        warnings=tuple(spec_warnings(spec)),
        attached=attached,
    )


def check_limits(spec: DebateSpec, found: Estimate) -> None:
    """Check that the least a debate needs fits its limits.

    Raises:
        LimitError: it doesn't.
    """
    limits = spec.limits
    tokens = found.prompt_tokens.min + found.completion_tokens.min
    for name, bound, least in (
        ("max_calls", limits.max_calls, found.calls.min),
        ("max_tokens", limits.max_tokens, tokens),
        ("max_cost", limits.max_cost, found.cost.min if found.cost else 0.0),
    ):
        if bound is not None and least > bound:
            raise _too_low(name, bound, least)
    for vendor, bound in limits.max_calls_per_vendor.items():
        if vendor in found.vendors and found.vendors[vendor]["calls"].min > bound:
            raise _too_low(
                f"max_calls_per_vendor {vendor}", bound, found.vendors[vendor]["calls"].min
            )


def spec_warnings(spec: DebateSpec) -> list[str]:
    """Return what a person should know before starting.

    Twins, many rounds, gates that never open, and a vendor's limit that bounds nobody.
    """
    found = _twins(spec)
    if spec.rounds > MANY_ROUNDS:
        found.append(f"rounds={spec.rounds}: more than {MANY_ROUNDS} rarely change a verdict")
    if spec.gates == "blocking" and spec.unattended:
        found.append("gates='blocking' has no effect: the debate is unattended, no gate opens")
    asked = {seat.vendor for seat in spec.seats} | {chairman_vendor(spec)}
    for vendor in spec.limits.max_calls_per_vendor:
        if vendor not in asked:
            found.append(f"max_calls_per_vendor names {vendor!r}, which no seat uses")
    return found


def _twins(spec: DebateSpec) -> list[str]:
    found: list[str] = []
    seen: dict[tuple[object, ...], str] = {}
    for seat in spec.seats:
        if seat.vendor == "human" or seat.script is not None:
            continue
        voice = seat.function or seat.model  # two functions may have one name
        first = seen.setdefault((voice, seat.lens, seat.mood), seat.name)
        if first != seat.name:
            found.append(
                f"{first} and {seat.name} have the same model, lens and mood: they mostly agree, "
                "which wastes a call"
            )
    return found


def _vendor(
    spec: DebateSpec, vendor: str, prompts: list[int], rounds: int, chairs: bool
) -> dict[str, Any]:
    seats = len(prompts)
    calls = Range(seats + chairs, seats * rounds + chairs, 2 * (seats * rounds + chairs))
    latest = len(spec.seats) * REPLY_TOKENS
    opening = sum(prompts)
    verdict = (len(spec.brief.question) // CHARS_PER_TOKEN + latest) if chairs else 0
    depth = sum(range(1, rounds)) if spec.memory == "full" else rounds - 1
    expected = opening * rounds + depth * seats * latest + verdict
    sent = Range(opening + verdict, expected, 2 * expected)
    received = Range(
        seats * REPLY_TOKENS + chairs * VERDICT_TOKENS,
        seats * rounds * REPLY_TOKENS + chairs * VERDICT_TOKENS,
        2 * (seats * rounds * REPLY_TOKENS + chairs * VERDICT_TOKENS),
    )
    price = _PRICE.get(vendor)
    cost = None if price is None else Range(price, price, price)
    return {"calls": calls, "prompt_tokens": sent, "completion_tokens": received, "cost": cost}


def _sum(vendors: dict[str, dict[str, Any]], key: str) -> Range:
    ranges = [figures[key] for figures in vendors.values()]
    return Range(*(sum(column) for column in zip(*ranges, strict=True)))


def _too_low(name: str, bound: float, least: float) -> LimitError:
    return LimitError(
        f"{name}={bound:,.10g} is below the least this debate needs ({least:,.10g}); "
        "raise it or take fewer seats",
        limit=name,
        bound=bound,
        needed=least,
    )
