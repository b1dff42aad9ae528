"""What an answer is billed, read off the vendor's report; loads the client libraries."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from pydantic_ai.messages import ModelResponse

from rt_notebook.domain.usage import UNKNOWN, Usage
from rt_notebook.providers.api_doors import Door
from rt_notebook.providers.prices import cost_of


def usage_of(response: ModelResponse, door: Door) -> Usage:
    """Return an answer's tokens and cost; None where the vendor reports nothing.

    Pydantic AI has made the vendors' counts alike: the cached tokens are among the prompt's, the
    reasoning among the completion's.
    """
    found = response.usage
    if found.unmeasured_requests or not (found.input_tokens or found.output_tokens):
        return UNKNOWN
    return Usage(
        found.input_tokens,
        found.output_tokens,
        found.cache_read_tokens or None,
        found.output_reasoning_tokens or found.details.get("reasoning_tokens") or None,
        _cost(response, door),
    )


def total(usages: Iterable[Usage]) -> Usage:
    """Return the sum; a figure that one of them lacks is unknown, parts of a figure count as 0."""
    known = list(usages)
    if not known:
        return UNKNOWN
    return Usage(
        _sum([usage.prompt_tokens for usage in known]),
        _sum([usage.completion_tokens for usage in known]),
        sum(usage.cached_tokens or 0 for usage in known) or None,
        sum(usage.reasoning_tokens or 0 for usage in known) or None,
        _costs([usage.cost for usage in known]),
    )


def _sum(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def _costs(costs: list[float | None]) -> float | None:
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None


def _cost(response: ModelResponse, door: Door) -> float | None:
    # Routers and gateways say what they charged, which beats every list.
    told: Any = response.usage.cost or (response.provider_details or {}).get("cost")
    if isinstance(told, Decimal):
        told = float(told) if told.is_finite() else None
    if (charged := Usage(cost=told).believed().cost) is not None:
        return charged
    return cost_of(response.usage, response.model_name, door.vendor, url=response.provider_url)
