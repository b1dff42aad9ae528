"""What a debate would cost, without a call: calls, tokens and money, least, expected and most."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, Final, NamedTuple

from rt_notebook.contract.discussion_prompts import prompts_for
from rt_notebook.domain.kinds import DISCUSSION, window_of
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.spec import MANY_ROUNDS, DebateSpec
from rt_notebook.domain.usage import CHARS_PER_TOKEN
from rt_notebook.engine.limits import REPLY_TOKENS, VERDICT_TOKENS, chairman_vendor
from rt_notebook.errors import LimitError
from rt_notebook.providers.api_doors import is_api
from rt_notebook.providers.consents import consents_of
from rt_notebook.providers.prices import price_of
from rt_notebook.providers.registry import seat_warnings
from rt_notebook.providers.searching import searcher_of


class Range(NamedTuple):
    """A figure with its bounds."""

    min: float
    """By consensus in the opening, no repair."""
    expected: float
    """All rounds, no repair."""
    max: float
    """All rounds, each call repaired; retries apart."""


ONE: Final = Range(1, 1, 1)
"""Research: one call, never repaired."""


@dataclass(frozen=True)
class Estimate:
    """What `check` says; nothing was called.

    Calls: least S+1, expected S(rounds+1)+1, most twice that; a discussion has no opening, so
    S*rounds+1 are expected. Tokens: characters/4; 400 a reply, 600 a verdict or summary.
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
            f"The brief goes to: {', '.join(self.vendors) or 'nobody'}.",
        ]
        if self.attached:
            lines.append("Attached: " + ", ".join(self.attached) + ".")
        return "\n".join([*lines, *(f"Warning: {warning}" for warning in self.warnings)])


def estimate(spec: DebateSpec, attached: tuple[str, ...] = ()) -> Estimate:
    """Return what a debate would cost."""
    vendors: dict[str, dict[str, Any]] = {}
    for vendor, figures in _asked(spec):
        vendors[vendor] = _added(vendors[vendor], figures) if vendor in vendors else figures
    total = reduce(_added, vendors.values())
    return Estimate(
        **total, vendors=vendors, warnings=tuple(spec_warnings(spec)), attached=attached
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
        what = "a summary" if spec.kind == DISCUSSION else "a verdict"
        found.append(f"rounds={spec.rounds}: more than {MANY_ROUNDS} rarely change {what}")
    if spec.gates == "blocking" and spec.unattended:
        found.append("gates='blocking' has no effect: the debate is unattended, no gate opens")
    asked = {seat.vendor for seat in spec.seats} | {chairman_vendor(spec)}
    searcher = searcher_of(spec)
    if searcher is not None:
        asked.add(searcher.seat.vendor)
    for vendor in spec.limits.max_calls_per_vendor:
        if vendor not in asked:
            found.append(f"max_calls_per_vendor names {vendor!r}, which no seat uses")
    everybody = [*spec.seats, *([spec.closer] if spec.closer else [])]
    return [*found, *_unpriced(everybody), *seat_warnings(everybody, consents_of(spec))]


def _unpriced(seats: Sequence[Seat]) -> list[str]:
    """Say once which models' prices nobody knows, so that their cost stays missing."""
    models = dict.fromkeys(seat.model for seat in seats if is_api(seat.model.partition(":")[0]))
    unknown = [model for model in models if price_of(model) is None]
    if not unknown:
        return []
    return [f"no price is known for {', '.join(unknown)}: what they cost is missing, not 0"]


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


def _asked(spec: DebateSpec) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield vendor and figures of each seat, then of the chairman, then of the searcher."""
    prompts = prompts_for(spec)
    talks = spec.kind == DISCUSSION
    rounds = spec.rounds if talks else spec.rounds + 1
    latest = len(spec.seats) * REPLY_TOKENS
    opening = len(prompts.opening())
    for place, seat in enumerate(spec.seats):
        brief = (len(prompts.system(seat)) + opening) // CHARS_PER_TOKEN
        seen = _heard(spec, place) if talks else _seen(spec, rounds, latest)
        sent = Range(brief, brief * rounds + seen, 2 * (brief * rounds + seen))
        calls = Range(1, rounds, 2 * rounds)
        yield seat.vendor, _figures(seat.model, calls, sent, REPLY_TOKENS)
    asked = opening + len(prompts.chairman_system(spec.closer)) + len(spec.observer_prompt or "")
    verdict = asked // CHARS_PER_TOKEN + latest * (rounds if talks else 1)
    model = spec.closer.model if spec.closer else chairman_vendor(spec)
    sent = Range(verdict, verdict, 2 * verdict)
    yield chairman_vendor(spec), _figures(model, Range(1, 1, 2), sent, VERDICT_TOKENS)
    searcher = searcher_of(spec)
    if searcher is not None and spec.research is not None:
        query = len(spec.research.query) // CHARS_PER_TOKEN
        # What the pages add to the searcher's prompt is the vendor's secret; so is a search's fee.
        once = _figures(searcher.seat.model, ONE, Range(query, query, query), REPLY_TOKENS)
        yield searcher.seat.vendor, {**once, "cost": None}


def _seen(spec: DebateSpec, rounds: int, latest: int) -> int:
    """Return the tokens of others' replies that a seat of a review is shown in all."""
    return (sum(range(1, rounds)) if spec.memory == "full" else rounds - 1) * latest


def _heard(spec: DebateSpec, place: int) -> int:
    """Return the tokens of earlier turns that the seat at a place of a discussion hears in all."""
    window = window_of(spec.memory)
    before = [place + number * len(spec.seats) for number in range(spec.rounds)]
    turns = sum(count if window is None else min(count, window) for count in before)
    return turns * REPLY_TOKENS


def _figures(model: str, calls: Range, sent: Range, reply_tokens: int) -> dict[str, Any]:
    received = Range(*(count * reply_tokens for count in calls))
    price = price_of(model)
    cost = None
    if price is not None:
        pairs = zip(sent, received, strict=True)
        cost = Range(*(tokens * price.input + answer * price.output for tokens, answer in pairs))
    return {"calls": calls, "prompt_tokens": sent, "completion_tokens": received, "cost": cost}


def _added(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Return the sums; a sum of which a part is unknown is unknown."""
    return {
        key: None if None in (one[key], other[key]) else Range(*map(add, one[key], other[key]))
        for key in one
    }


def _too_low(name: str, bound: float, least: float) -> LimitError:
    return LimitError(
        f"{name}={bound:,.10g} is below the least this debate needs ({least:,.10g}); "
        "raise it or take fewer seats",
        limit=name,
        bound=bound,
        needed=least,
    )
