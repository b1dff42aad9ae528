"""What tokens cost: the one user of genai-prices, which carries a price list and needs no network.

A price that nobody knows is None, never 0.
"""

from __future__ import annotations

import logging
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from rt_notebook.providers.api_doors import is_api

if TYPE_CHECKING:
    from genai_prices.types import AbstractUsage

FREE: Final = frozenset({"scripted", "human", "replay"})
"""Seats that nobody bills. What a function asks, and what a command's login costs, nobody knows."""

UNLISTED: Final = frozenset({"litellm", "ollama", "openai-compatible", "vllm"})
"""Servers of somebody's own: a model's name says nothing about what they charge."""

LIST_NAMES: Final = {
    "openai-chat": "openai",
    "openai-responses": "openai",
    "azure-responses": "azure",
    "bedrock": "aws",
    "google-cloud": "google",
    "xai": "x-ai",
}
"""What the price list calls a vendor, where it isn't the model string's prefix."""

# Small enough that no surcharge for long prompts counts, large enough that nothing is rounded away.
_SAMPLE: Final = 1000

_log = logging.getLogger(__name__)


class Price(NamedTuple):
    """USD for one token."""

    input: float
    """A token sent."""
    output: float
    """A token received."""


@lru_cache(maxsize=256)
def price_of(model: str) -> Price | None:
    """Return what a model's tokens cost at the list price, or None where nobody knows.

    Args:
        model: a seat's model string, e.g. `anthropic:claude-sonnet-4-5`.
    """
    vendor, _, name = model.partition(":")
    if vendor in FREE:
        return Price(0.0, 0.0)
    # The list is loaded for model APIs alone; nobody else has a price in it.
    if not name or vendor in UNLISTED or not is_api(vendor):
        return None
    try:
        from genai_prices import Usage
    except ImportError:  # the extra isn't installed, so no API seat can be estimated either
        return None
    sent = _total(Usage(input_tokens=_SAMPLE, output_tokens=0), name, vendor)
    received = _total(Usage(input_tokens=0, output_tokens=_SAMPLE), name, vendor)
    if sent is None or received is None:
        return None
    return Price(float(sent / _SAMPLE), float(received / _SAMPLE))


def cost_of(
    usage: AbstractUsage, model: str | None, vendor: str, *, url: str | None = None
) -> float | None:
    """Return what a call cost in USD, or None where the model has no known price.

    Args:
        usage: the tokens, cached ones among them.
        model: the model as the vendor names it.
        vendor: the model string's prefix.
        url: the API's address: one model costs different sums at different addresses.
    """
    if not model:
        return None
    total = _total(usage, model, vendor, url=url)
    return None if total is None else float(total)


def _total(usage: Any, model: str, vendor: str, *, url: str | None = None) -> Decimal | None:
    from genai_prices import calc_price

    try:
        if url is not None:
            try:
                return calc_price(usage, model, provider_api_url=url).total_price
            except LookupError:
                pass  # an address that the list doesn't know may still belong to a known vendor
        if vendor in UNLISTED:
            return None
        return calc_price(usage, model, provider_id=LIST_NAMES.get(vendor, vendor)).total_price
    except LookupError:
        return None
    except Exception:
        # The edge to the price list: a paid answer isn't lost over its price.
        _log.debug("no price for %s", model, exc_info=True)
        return None


def listed_models(vendor: str) -> list[str]:
    """Return the models of a vendor that answer with text and have a price, newest names first."""
    if not is_api(vendor) or vendor in UNLISTED:
        return []
    try:
        from genai_prices.data_snapshot import get_snapshot
    except ImportError:
        return []
    name = LIST_NAMES.get(vendor, vendor)
    for provider in get_snapshot().providers:
        if provider.id == name:
            found = [one for one in provider.models if one.context_window and not one.deprecated]
            return sorted((str(model.id) for model in found), reverse=True)
    return []
