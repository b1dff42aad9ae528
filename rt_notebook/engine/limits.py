"""Budgets: what the next round would cost, and whether a limit allows it or one more call.

One call is always kept for the chairman.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from rt_notebook.domain.spec import DebateSpec, Limits
from rt_notebook.domain.state import State
from rt_notebook.domain.usage import CHARS_PER_TOKEN
from rt_notebook.errors import LimitError

REPLY_TOKENS: Final = 400
"""Completion tokens expected of a reply."""

VERDICT_TOKENS: Final = 600
"""Completion tokens expected of a verdict."""


def chairman_vendor(spec: DebateSpec) -> str:
    """Return the vendor that the chairman's call goes to, or the observer's."""
    return spec.closer.vendor if spec.closer else "scripted"


def broken_limit(state: State, asked: Sequence[str]) -> dict[str, Any] | None:
    """Return {limit, used, bound} of the first limit that would be broken, or None.

    Args:
        state: the fold.
        asked: names of the seats of the next round; the verdict is counted on top of them.
    """
    broken = broken_calls(state, asked)
    if broken is not None:
        return broken
    bound, used = state.spec.limits.max_tokens, state.usage.estimated_tokens
    if bound is not None and used + _round_tokens(state, len(asked)) > bound:
        return _limit("max_tokens", used, bound)
    return _broken_cost(state, len(asked), state.spec.limits.max_cost)


def broken_calls(state: State, asked: Sequence[str]) -> dict[str, Any] | None:
    """Return the same for the limits on calls, which are exact in the midst of a round too."""
    limits = state.spec.limits
    seats = [seat for seat in state.spec.seats if seat.name in asked]
    if limits.max_calls is not None and state.usage.calls + len(seats) + 1 > limits.max_calls:
        return _limit("max_calls", state.usage.calls, limits.max_calls)
    for vendor, bound in limits.max_calls_per_vendor.items():
        tally = state.vendor_usage.get(vendor)
        used = tally.calls if tally else 0
        needed = sum(seat.vendor == vendor for seat in seats)
        needed += chairman_vendor(state.spec) == vendor
        if needed and used + needed > bound:
            return _limit(f"max_calls_per_vendor.{vendor}", used, bound)
    return None


def with_room(state: State, limits: Limits | None) -> Limits | None:
    """Return limits that are to hold from now on, if they leave a call for the verdict.

    Raises:
        LimitError: they don't; nothing was called.
    """
    if limits is None:
        return None
    changed = replace(state, spec=state.spec.model_copy(update={"limits": limits}))
    broken = broken_calls(changed, ())
    if broken is not None:
        raise LimitError(
            f"{broken['limit']}={broken['bound']}: {broken['used']} are used, and the "
            f"{state.spec.ending_name} needs one more; nothing was called",
            **broken,
        )
    return limits


class Budget:
    """Counts the calls of one run as they are decided.

    So calls made at once can't overrun a limit together.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._calls = state.usage.calls
        self._by_vendor = {vendor: tally.calls for vendor, tally in state.vendor_usage.items()}

    def take(self, vendor: str) -> None:
        """Count a call that a round or the verdict has a right to."""
        self._calls += 1
        self._by_vendor[vendor] = self._by_vendor.get(vendor, 0) + 1

    def take_extra(self, vendor: str, *, reserve: bool = True) -> bool:
        """Count a repair or retry and return True, or return False where a limit forbids it.

        Args:
            vendor: who is asked.
            reserve: True keeps the chairman's call untouched.
        """
        spec = self._state.spec  # a resume may have changed its limits
        kept = 1 if reserve else 0
        bound = spec.limits.max_calls
        if bound is not None and self._calls + 1 + kept > bound:
            return False
        bound = spec.limits.max_calls_per_vendor.get(vendor)
        kept_here = kept if vendor == chairman_vendor(spec) else 0
        if bound is not None and self._by_vendor.get(vendor, 0) + 1 + kept_here > bound:
            return False
        self.take(vendor)
        return True


def _round_tokens(state: State, seats: int) -> int:
    """Estimate the tokens of one more round and the verdict from the largest prompt so far."""
    chars = max((call.prompt_chars for call in state.calls.values()), default=0)
    prompt = chars // CHARS_PER_TOKEN
    return seats * (prompt + REPLY_TOKENS) + prompt + VERDICT_TOKENS


def _broken_cost(state: State, seats: int, bound: float | None) -> dict[str, Any] | None:
    """A further round is taken to cost as much a call as the calls so far did on average."""
    cost, calls = state.usage.cost, state.usage.calls
    if bound is None or cost is None or not calls:
        return None
    expected = cost + cost / calls * (seats + 1)
    return _limit("max_cost", round(cost, 6), bound) if expected > bound else None


def _limit(name: str, used: float, bound: float) -> dict[str, Any]:
    return {"limit": name, "used": used, "bound": bound}
