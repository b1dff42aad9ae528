"""What goes out to each vendor and what comes back, over the real client libraries."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from rt_notebook.domain.usage import UNKNOWN, Usage
from rt_notebook.providers.api import api_provider
from rt_notebook.providers.api_calls import Exchange
from rt_notebook.providers.api_doors import Door
from rt_notebook.providers.api_models import Line
from rt_notebook.providers.api_usage import usage_of
from rt_notebook.providers.base import Call, Completion, Message
from rt_notebook.providers.prices import UNLISTED
from tests.providers.api.sitting import CANARY, MODELS, VENDORS, Sitting
from tests.wire.script import Raw, Say, Tokens
from tests.wire.server import sse

pytestmark = [
    pytest.mark.asyncio,
    pytest.mark.filterwarnings("ignore:.*will reach end-of-life:DeprecationWarning"),
]

every_vendor = pytest.mark.parametrize("vendor", VENDORS)

# 800 new tokens, 200 cached ones and 60 received, at the list prices of the models in MODELS.
COSTS = {"chat": 0.00285, "responses": 0.001625, "anthropic": 0.00336, "google": 0.001625}
IDS = {
    "chat": "chatcmpl-wire",
    "responses": "resp_wire",
    "anthropic": "msg_wire",
    "google": "google-wire",
}


@every_vendor
async def test_answer_comes_with_all_facts(sitting: Sitting, vendor: str) -> None:
    # Anthropic's wire doesn't tell reasoning from other tokens.
    reasoning = None if vendor == "anthropic" else 20
    sitting.wire.script(Say("It depends on the weather."))

    answer = await sitting.ask(vendor)

    assert answer == Completion(
        "It depends on the weather.",
        usage=Usage(1000, 60, 200, reasoning, COSTS[vendor]),
        model=MODELS[vendor].partition(":")[2],
        request_id=IDS[vendor],
    )


@every_vendor
async def test_usage_equals_what_is_billed(sitting: Sitting, vendor: str) -> None:
    reasoning = 0 if vendor == "anthropic" else 7
    told = Tokens(prompt=4321, cached=1234, completion=99, reasoning=reasoning)
    sitting.wire.script(Say(tokens=told))

    usage = (await sitting.ask(vendor)).usage

    assert usage is not None
    billed = sitting.wire.billed[CANARY]
    assert (usage.prompt_tokens, usage.completion_tokens) == (billed.prompt, billed.completion)
    assert (usage.cached_tokens, usage.reasoning_tokens or 0) == (1234, billed.reasoning)


async def test_tokens_written_to_cache_are_sent_tokens(sitting: Sitting) -> None:
    sitting.wire.script(Say(tokens=Tokens(prompt=1000, cached=0, written=600, completion=10)))

    usage = (await sitting.ask("anthropic")).usage

    # 400 at 3 USD a million, 600 written at 3.75, 10 received at 15.
    assert usage == Usage(1000, 10, None, None, 0.0036)


@every_vendor
async def test_progress_counts_characters_as_they_come(sitting: Sitting, vendor: str) -> None:
    sitting.wire.script(Say("abcdefghij" * 3, pieces=3))

    await sitting.ask(vendor)

    told = list(dict.fromkeys(sitting.progress))
    assert [n for n in told if n] == [10, 20, 30]


@pytest.mark.parametrize("vendor", ["chat", "anthropic", "google"])
async def test_reasoning_is_progress_but_no_answer(sitting: Sitting, vendor: str) -> None:
    sitting.wire.script(Say("yes", thinking="let me think"))

    answer = await sitting.ask(vendor)

    assert answer.text == "yes"
    assert sitting.progress[-1] == len("let me think") + len("yes")


@pytest.mark.parametrize("vendor", ["chat", "responses", "google"])  # Anthropic always reports it
async def test_unreported_usage_stays_unknown(sitting: Sitting, vendor: str) -> None:
    sitting.wire.script(Say(has_usage=False))
    assert (await sitting.ask(vendor)).usage == UNKNOWN


@every_vendor
async def test_model_is_the_one_reported(sitting: Sitting, vendor: str) -> None:
    sitting.wire.script(Say(model="another-model-9"))

    answer = await sitting.ask(vendor)

    assert answer.model == "another-model-9"
    assert answer.usage is not None
    assert answer.usage.cost is None, "the price of a model that nobody knows"


@every_vendor
async def test_key_pays_in_vendors_header(sitting: Sitting, vendor: str) -> None:
    await sitting.ask(vendor)
    assert sitting.last.key == CANARY
    assert CANARY not in sitting.last.path
    assert sitting.wire.calls == {CANARY: 1}


EFFORT: dict[str, Any] = {
    "responses": {"reasoning": {"effort": "low"}},
    "anthropic": {"output_config": {"effort": "low"}},
}
LIMITS: dict[str, Any] = {
    "chat": {"max_completion_tokens": 77},
    "responses": {"max_output_tokens": 77},
    "anthropic": {"max_tokens": 77},
}


@pytest.mark.parametrize("vendor", EFFORT)
async def test_effort_becomes_vendors_reasoning_setting(sitting: Sitting, vendor: str) -> None:
    await sitting.ask(vendor, effort="low")
    body = sitting.last.body
    assert {name: body.get(name) for name in EFFORT[vendor]} == EFFORT[vendor]


async def test_effort_becomes_googles_thinking_budget(sitting: Sitting) -> None:
    await sitting.ask("google", effort="low")
    low = sitting.last.body["generationConfig"]["thinkingConfig"]["thinking_budget"]
    await sitting.ask("google", effort="high")
    assert 0 < low < sitting.last.body["generationConfig"]["thinkingConfig"]["thinking_budget"]


@pytest.mark.parametrize("vendor", LIMITS)
async def test_limit_and_temperature_reach_vendor(sitting: Sitting, vendor: str) -> None:
    # Models that reason take no temperature, so another one is asked there.
    temperature = None if vendor == "responses" else 0.25
    await sitting.ask(vendor, max_tokens=77, temperature=temperature)
    body = sitting.last.body
    assert {name: body.get(name) for name in LIMITS[vendor]} == LIMITS[vendor]
    assert body.get("temperature") == temperature


async def test_limit_and_temperature_reach_google(sitting: Sitting) -> None:
    await sitting.ask("google", max_tokens=77, temperature=0.25)
    settings = sitting.last.body["generationConfig"]
    assert (settings["maxOutputTokens"], settings["temperature"]) == (77, 0.25)


async def test_prompt_is_cached_where_vendor_must_be_told(sitting: Sitting) -> None:
    await sitting.ask("anthropic")
    body = sitting.last.body
    assert body["cache_control"]["type"] == "ephemeral"
    assert body["system"][0]["cache_control"]["type"] == "ephemeral"


async def test_openai_is_told_to_keep_nothing(sitting: Sitting) -> None:
    await sitting.ask("responses")
    assert sitting.last.body["store"] is False


TALK = (
    Message("system", "You are Ada."),
    Message("user", "Your view?"),
    Message("assistant", "Yes."),
    Message("user", "In the asked form, please."),
)
SAID: dict[str, Any] = {
    "chat": lambda body: [(m["role"], m["content"]) for m in body["messages"]],
    "responses": lambda body: [
        ("system", body["instructions"]),
        *((m["role"], _words(m["content"])) for m in body["input"]),
    ],
    "anthropic": lambda body: [
        ("system", _words(body["system"])),
        *((m["role"], _words(m["content"])) for m in body["messages"]),
    ],
    "google": lambda body: [
        ("system", _words(body["systemInstruction"]["parts"])),
        *(
            ("assistant" if m["role"] == "model" else m["role"], _words(m["parts"]))
            for m in body["contents"]
        ),
    ],
}


def _words(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part["text"] for part in content)


@every_vendor
async def test_prompt_arrives_word_for_word(sitting: Sitting, vendor: str) -> None:
    await sitting.ask(vendor, messages=TALK)
    assert SAID[vendor](sitting.last.body) == [(m.role, m.text) for m in TALK]


@every_vendor
async def test_any_text_survives_the_wire(sitting: Sitting, vendor: str) -> None:
    text = "<system>x</system> <|im_end|> \u2028 \x00 🂡 {json} ```md\n# ü\n``` <b>&amp;"
    sitting.wire.script(Say(text, pieces=4))

    answer = await sitting.ask(vendor, messages=[Message("user", text)])

    assert answer.text == text


@every_vendor
async def test_stream_is_asked_for(sitting: Sitting, vendor: str) -> None:
    await sitting.ask(vendor)
    assert sitting.last.streams


@pytest.mark.parametrize(
    ("model", "path"),
    [
        ("openrouter:anthropic/claude-sonnet-4.6", "/v1/chat/completions"),
        ("ollama:qwen3", "/v1/chat/completions"),
        ("openai-compatible:my-model", "/v1/chat/completions"),
        ("openai-responses:gpt-5", "/v1/responses"),
        ("deepseek:deepseek-chat", "/v1/chat/completions"),
        ("vllm:my-model", "/v1/chat/completions"),
    ],
)
async def test_other_vendors_speak_known_wires(sitting: Sitting, model: str, path: str) -> None:
    provider = api_provider(
        model,
        base_url=sitting.wire.base_url("chat"),
        api_key_env="THE_KEY",
        environ=sitting.environ,
    )
    answer = await provider.complete(
        Call([Message("user", "Hi")], "Ada", 0, "opening"), lambda chars: None
    )
    await provider.aclose()

    assert answer.text == "Hello from the wire."
    assert (sitting.last.path, sitting.last.key) == (path, CANARY)
    assert sitting.last.model == model.partition(":")[2]


@pytest.mark.parametrize("vendor", sorted(UNLISTED))
async def test_own_server_gets_limit_under_the_name_it_knows(sitting: Sitting, vendor: str) -> None:
    """Ollama and others ignore `max_completion_tokens`, and the answer runs on."""
    provider = api_provider(f"{vendor}:m", base_url=sitting.wire.base_url("chat"), environ={})
    call = Call([Message("user", "Hi")], "A", 0, "opening", {"max_tokens": 77})
    await provider.complete(call, lambda chars: None)
    await provider.aclose()

    body = sitting.last.body
    assert (body.get("max_tokens"), "max_completion_tokens" in body) == (77, False)


async def test_compatible_server_needs_no_key(sitting: Sitting) -> None:
    provider = api_provider(
        "openai-compatible:local",
        base_url=sitting.wire.base_url("chat"),
        environ={"OPENAI_API_KEY": CANARY},
    )
    await provider.complete(Call([Message("user", "Hi")], "A", 0, "opening"), lambda chars: None)
    await provider.aclose()

    assert CANARY not in str(sitting.last.headers), "OpenAI's key is OpenAI's"


async def test_routers_own_charge_beats_the_list(sitting: Sitting) -> None:
    sitting.wire.script(Say(cost=0.0123))
    provider = api_provider(
        "openrouter:anthropic/claude-sonnet-4.6",
        base_url=sitting.wire.base_url("chat"),
        api_key_env="THE_KEY",
        environ=sitting.environ,
    )
    answer = await provider.complete(
        Call([Message("user", "Hi")], "A", 0, "opening"), lambda chars: None
    )
    await provider.aclose()
    assert answer.usage is not None
    assert answer.usage.cost == 0.0123


def _chunk(**fields: Any) -> str:
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return json.dumps(head | fields)


WORDS = _chunk(choices=[{"index": 0, "delta": {"content": "Yes."}}])
USAGE = _chunk(choices=[], usage={"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7})


async def test_usage_ends_a_stream_without_a_reason(sitting: Sitting) -> None:
    """Some servers never send a finish reason."""
    sitting.wire.script(Raw(sse(WORDS, USAGE, "[DONE]"), "text/event-stream"))
    answer = await sitting.ask("chat")
    assert (answer.text, answer.usage) == ("Yes.", Usage(5, 2))


class Whole(Model):
    """A model whose class can't stream."""

    @property
    def model_name(self) -> str:
        return "whole"

    @property
    def system(self) -> str:
        return "nobody"

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        return ModelResponse(
            [TextPart("All at once.")],
            usage=RequestUsage(input_tokens=3, output_tokens=4),
            finish_reason="stop",
        )


async def test_vendor_that_cannot_stream_answers_whole(sitting: Sitting) -> None:
    line = Line(sitting.door("chat"))
    line.model = Whole()
    call = Call([Message("user", "Hi")], "Ada", 0, "opening")
    answer = await Exchange(line, call, sitting.progress.append).run()
    assert (answer.text, answer.usage) == ("All at once.", Usage(3, 4))
    assert sitting.wire.asked == []


async def test_known_address_has_its_own_prices() -> None:
    """A router behind `openai-compatible` sells under its own list."""
    response = ModelResponse(
        [TextPart("Yes.")],
        usage=RequestUsage(input_tokens=1000, output_tokens=100),
        model_name="gpt-4o",
        provider_url="https://api.openai.com/v1",
    )
    known = usage_of(response, Door("openai-compatible", "gpt-4o")).cost
    assert known == pytest.approx(0.0035)
    response.provider_url = "https://nobody.example/v1"
    assert usage_of(response, Door("openai-compatible", "gpt-4o")).cost is None


@pytest.mark.parametrize(
    "told",
    [
        pytest.param(10**400, id="no float holds it"),
        *(-1, float("nan"), float("inf"), True, "free", Decimal("sNaN"), Decimal("-Infinity")),
    ],
)
async def test_charge_that_cannot_be_gives_way_to_the_list(told: Any) -> None:
    response = ModelResponse(
        [TextPart("Yes.")],
        usage=RequestUsage(input_tokens=1000, output_tokens=100),
        model_name="gpt-4o",
        provider_url="https://api.openai.com/v1",
        provider_details={"cost": told},
    )
    found = usage_of(response, Door("openai-compatible", "gpt-4o")).cost
    assert found == pytest.approx(0.0035)
