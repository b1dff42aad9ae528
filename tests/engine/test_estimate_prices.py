"""What a debate of priced models would cost."""

from __future__ import annotations

import pytest

from rt_notebook.domain.seat import Seat
from rt_notebook.engine.estimate import estimate
from rt_notebook.engine.limits import REPLY_TOKENS, VERDICT_TOKENS
from rt_notebook.providers.prices import price_of
from tests.engine.debates import spec

CLAUDE = "anthropic:claude-sonnet-4-6"
GPT = "openai-chat:gpt-4o"


def test_cost_is_tokens_times_prices() -> None:
    definition = spec(
        Seat("a", model=CLAUDE), Seat("b", model=GPT), rounds=2, chairman=Seat("c", model=GPT)
    )

    found = estimate(definition)

    claude, gpt = price_of(CLAUDE), price_of(GPT)
    assert claude is not None
    assert gpt is not None
    one, other = found.vendors["anthropic"], found.vendors["openai-chat"]
    assert one["cost"].expected == pytest.approx(
        one["prompt_tokens"].expected * claude.input + 3 * REPLY_TOKENS * claude.output
    )
    assert other["cost"].min == pytest.approx(
        other["prompt_tokens"].min * gpt.input + (REPLY_TOKENS + VERDICT_TOKENS) * gpt.output
    )
    assert found.cost is not None
    assert found.cost.max == pytest.approx(2 * found.cost.expected)
    assert found.cost.expected == pytest.approx(one["cost"].expected + other["cost"].expected)


def test_models_of_one_vendor_have_their_own_prices() -> None:
    cheap = "anthropic:claude-haiku-4-5"
    same = estimate(spec(Seat("a", model=CLAUDE), Seat("b", model=CLAUDE))).cost
    mixed = estimate(spec(Seat("a", model=CLAUDE), Seat("b", model=cheap))).cost
    assert same is not None
    assert mixed is not None
    assert mixed.expected < same.expected


@pytest.mark.parametrize("model", ["openai-compatible:x", "ollama:qwen3", "anthropic:claude-99"])
def test_one_unknown_price_makes_cost_unknown(model: str) -> None:
    found = estimate(spec(Seat("a", model=CLAUDE), Seat("b", model=model), chairman=Seat("c")))
    assert found.cost is None
    assert found.vendors["scripted"]["cost"] == (0, 0, 0)
    assert "Cost: unknown." in str(found)
