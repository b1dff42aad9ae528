"""The budget of a whole sweep: what is spent, what running debates may still spend, what is free.

Every debate gets a share of its own before it begins, as limits that the engine keeps; so all
together can't go over the budget. Knows no store; counts what it is told.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from rt_notebook.domain.spec import DebateSpec, Limits
from rt_notebook.domain.state import State
from rt_notebook.engine.estimate import estimate

_VENDOR: Final = "vendor:"


class Purse:
    """Hands out shares of a budget; on the sweep's loop only.

    Args:
        budget: of the whole sweep; None: none. Its `max_minutes` counts only where it was given,
            as a sweep takes longer than a debate.
        slots: how many debates run at once.
    """

    def __init__(self, budget: Limits | None, slots: int) -> None:
        self._bounds = _bounds(budget)
        self._slots = slots
        # Of each debate whatever is known, and the sum over those that hold no share.
        self._used: dict[str, dict[str, float]] = {}
        self._spent: Counter[str] = Counter()
        self._held: dict[str, dict[str, float]] = {}
        self._changed = asyncio.Event()
        minutes = _minutes(budget)
        self._until = None if minutes is None else time.monotonic() + minutes * 60

    @property
    def counts(self) -> bool:
        """Whether anything is bounded, so that what is spent matters."""
        return bool(self._bounds)

    async def take(self, debate: str, spec: DebateSpec) -> Limits | None:
        """Return the limits under which a debate may run; None: the budget doesn't allow it.

        What it has used before is part of its share. Waits while debates that run may give
        something back.
        """
        least, most = _needs(spec)
        while True:
            left = None if self._until is None else (self._until - time.monotonic()) / 60
            if left is not None and left <= 0:
                return None
            free = self._free(debate)
            if all(least.get(name, 0.0) <= room for name, room in free.items()):
                own = self._used.get(debate, {})
                share = {
                    name: self._share(name, most, room, own.get(name, 0.0))
                    for name, room in free.items()
                }
                if all(share[name] > 0 or not least.get(name) for name in share):
                    self._spent.subtract(own)
                    self._held[debate] = share
                    return _limits(spec.limits, share, left)
            if not self._held:
                return None
            self._changed.clear()
            await self._changed.wait()

    def settle(self, debate: str, state: State | None) -> None:
        """Count what a debate has used in all, and give back the rest of its share.

        Args:
            debate: its id.
            state: where it stands; None: nothing has come to what was known of it.
        """
        if self._held.pop(debate, None) is None:
            self._spent.subtract(self._used.get(debate, {}))
        if state is not None:
            self._used[debate] = _used_by(state)
        self._spent.update(self._used.get(debate, {}))
        self._changed.set()

    def _free(self, debate: str) -> dict[str, float]:
        own = self._used.get(debate, {})
        return {
            name: bound
            - (self._spent[name] - own.get(name, 0.0))
            - sum(share.get(name, 0.0) for share in self._held.values())
            for name, bound in self._bounds.items()
        }

    def _share(self, name: str, most: Mapping[str, float], room: float, own: float) -> float:
        # What nobody can estimate is shared evenly between those that may run at once.
        wanted = most.get(name, 0.0 if name.startswith(_VENDOR) else room / self._slots)
        return min(own + wanted, room)


def _used_by(state: State) -> dict[str, float]:
    used = state.usage
    found: dict[str, float] = {"max_calls": used.calls, "max_tokens": used.estimated_tokens}
    found["max_cost"] = used.cost or 0.0
    return found | {_VENDOR + name: tally.calls for name, tally in state.vendor_usage.items()}


def _bounds(budget: Limits | None) -> dict[str, float]:
    if budget is None:
        return {}
    found = {name: getattr(budget, name) for name in ("max_calls", "max_tokens", "max_cost")}
    found |= {_VENDOR + name: bound for name, bound in budget.max_calls_per_vendor.items()}
    return {name: bound for name, bound in found.items() if bound is not None}


def _minutes(budget: Limits | None) -> float | None:
    given = budget is not None and "max_minutes" in budget.model_fields_set
    return budget.max_minutes if budget is not None and given else None


def _needs(spec: DebateSpec) -> tuple[dict[str, float], dict[str, float]]:
    """Return the least and the most that a debate is expected to use, as far as that is known."""
    found = estimate(spec)
    ranges = {"max_calls": found.calls}
    if found.cost is not None:
        ranges["max_cost"] = found.cost
    for vendor, figures in found.vendors.items():
        ranges[_VENDOR + vendor] = figures["calls"]
    least = {name: figure.min for name, figure in ranges.items()}
    most = {name: figure.max for name, figure in ranges.items()}
    least["max_tokens"] = found.prompt_tokens.min + found.completion_tokens.min
    most["max_tokens"] = found.prompt_tokens.max + found.completion_tokens.max
    return least, most


def _limits(own: Limits, share: Mapping[str, float], left: float | None) -> Limits:
    """Return a debate's own limits, each lowered to its share."""
    data: dict[str, Any] = own.model_dump()
    for name, room in share.items():
        if name.startswith(_VENDOR):
            vendors = data["max_calls_per_vendor"]
            vendor = name.removeprefix(_VENDOR)
            vendors[vendor] = min(vendors.get(vendor, int(room)), int(room))
        elif room > 0:
            value = max(1, int(room)) if name != "max_cost" else room
            data[name] = value if data[name] is None else min(data[name], value)
    if left is not None:
        minutes = data["max_minutes"]
        data["max_minutes"] = left if minutes is None else min(minutes, left)
    return Limits(**data)
