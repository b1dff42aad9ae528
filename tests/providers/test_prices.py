"""Prices: those of the list, and none where the list has none."""

from __future__ import annotations

import pytest
from genai_prices import Usage

from rt_notebook.providers.prices import Price, cost_of, price_of

MILLION = 1_000_000


@pytest.mark.parametrize(
    ("model", "sent", "received"),
    [
        ("anthropic:claude-sonnet-4-6", 3, 15),
        ("openai-chat:gpt-4o", 2.5, 10),
        ("openai:gpt-4o", 2.5, 10),
        ("openai-responses:gpt-4o", 2.5, 10),
        ("google:gemini-2.5-pro", 1.25, 10),
    ],
)
def test_price_is_the_list_price(model: str, sent: float, received: float) -> None:
    found = price_of(model)
    assert found is not None
    assert (found.input * MILLION, found.output * MILLION) == pytest.approx((sent, received))


@pytest.mark.parametrize("model", ["scripted", "scripted:ada", "human", "replay:a.json"])
def test_unbilled_seats_are_free(model: str) -> None:
    assert price_of(model) == Price(0.0, 0.0)


@pytest.mark.parametrize(
    "model",
    [
        "anthropic:claude-of-tomorrow",
        "openai-compatible:gpt-4o",
        "ollama:qwen3",
        "vllm:gpt-4o",
        "litellm:gpt-4o",
        "cli:claude",
        "function:f",
        "python:m:f",
        "nobody:knows",
        "openai",
        "openai:",
    ],
)
def test_unknown_price_is_none(model: str) -> None:
    assert price_of(model) is None


def test_cached_tokens_cost_less() -> None:
    usage = Usage(input_tokens=1000, cache_read_tokens=400, output_tokens=100)
    found = cost_of(usage, "claude-sonnet-4-6", "anthropic")
    assert found == pytest.approx((600 * 3 + 400 * 0.3 + 100 * 15) / MILLION)


def test_unknown_address_leaves_the_vendor() -> None:
    usage = Usage(input_tokens=1000, output_tokens=0)
    found = cost_of(usage, "gpt-4o", "openai", url="http://127.0.0.1:9/v1")
    assert found == pytest.approx(0.0025)


@pytest.mark.parametrize("model", [None, "", "nothing-like-it"])
def test_cost_of_unknown_model_is_none(model: str | None) -> None:
    assert cost_of(Usage(input_tokens=1, output_tokens=1), model, "openai") is None


def test_usage_that_cannot_be_priced_costs_nothing_known() -> None:
    broken = Usage(input_tokens=10, cache_read_tokens=400, output_tokens=1)
    assert cost_of(broken, "claude-sonnet-4-6", "anthropic") is None


def test_address_decides_before_the_vendor() -> None:
    usage = Usage(input_tokens=1000, output_tokens=0)
    assert cost_of(usage, "gpt-4o", "nobody", url="https://api.openai.com/v1") == 0.0025
