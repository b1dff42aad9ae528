"""Functions of the notebook in a seat: what the model sees, what is run, what is recorded."""

from __future__ import annotations

import asyncio
import threading
from typing import Any, Literal

import pytest

from rt_notebook.domain.usage import Usage
from rt_notebook.errors import SeatError
from rt_notebook.providers import api_tools
from rt_notebook.providers.api import check_api
from rt_notebook.providers.api_calls import MAX_TOOL_ROUNDS
from rt_notebook.providers.api_tools import TOOL_OUTPUT, Toolbox
from tests.providers.api.sitting import VENDORS, Sitting
from tests.wire.script import Asked, Fail, Say, Step, ToolUse

pytestmark = pytest.mark.filterwarnings("ignore:.*will reach end-of-life:DeprecationWarning")

every_vendor = pytest.mark.parametrize("vendor", VENDORS)


def sales(region: str, year: int = 2024) -> dict[str, Any]:
    """Return the sales of a region."""
    return {"region": region, "year": year, "sales": 12.5}


def sales_use(**arguments: Any) -> Say:
    return Say("Let me look.", tools=(ToolUse("sales", arguments),))


def _results(asked: Asked) -> str:
    """Returns what a request says that the tools gave."""
    body = asked.body
    match asked.wire:
        case "chat":
            return "".join(m["content"] for m in body["messages"] if m["role"] == "tool")
        case "responses":
            return "".join(
                i["output"] for i in body["input"] if i.get("type") == "function_call_output"
            )
        case "anthropic":
            return "".join(
                part["text"]
                for block in body["messages"][-1]["content"]
                if block["type"] == "tool_result"
                for part in block["content"]
            )
    return "".join(
        part["functionResponse"]["response"]["return_value"]
        for part in body["contents"][-1]["parts"]
    )


@every_vendor
@pytest.mark.asyncio
async def test_tool_runs_and_its_result_returns(sitting: Sitting, vendor: str) -> None:
    sitting.wire.script(sales_use(region="north", year=2023), Say("12.5 in the north."))

    answer = await sitting.ask(vendor, tools=[sales])

    result = '{"region": "north", "year": 2023, "sales": 12.5}'
    assert answer.text == "12.5 in the north."
    assert list(answer.tool_calls) == [
        {
            "name": "sales",
            "arguments": '{"region":"north","year":2023}',
            "preview": result,
        }
    ]
    assert _results(sitting.last) == result
    assert isinstance(answer.usage, Usage)
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (2000, 120)


@pytest.mark.asyncio
async def test_model_reads_description_and_types(sitting: Sitting) -> None:
    await sitting.ask("chat", tools=[sales])
    told = sitting.last.body["tools"][0]["function"]
    assert (told["name"], told["description"]) == ("sales", "Return the sales of a region.")
    assert told["parameters"]["properties"]["region"]["type"] == "string"
    assert told["parameters"]["properties"]["year"]["type"] == "integer"


@pytest.mark.asyncio
async def test_seat_without_tools_sends_none(sitting: Sitting) -> None:
    await sitting.ask("chat")
    assert "tools" not in sitting.last.body


@every_vendor
@pytest.mark.asyncio
async def test_uninvited_tool_call_is_refused(sitting: Sitting, vendor: str) -> None:
    sitting.wire.script(Say("", tools=(ToolUse("shell", {"cmd": "ls"}),)))

    error = await sitting.fail(vendor)

    assert error.kind == "tool_policy"
    assert str(error).endswith("called shell, though the seat has no tools")
    assert len(sitting.wire.asked) == 1
    assert error.usage.prompt_tokens == 1000


@every_vendor
@pytest.mark.asyncio
async def test_endless_tool_use_is_ended(sitting: Sitting, vendor: str) -> None:
    sitting.wire.script(sales_use(region="north"))

    error = await sitting.fail(vendor, tools=[sales])

    assert error.kind == "tool_policy"
    assert f"called tools in {MAX_TOOL_ROUNDS} rounds" in str(error)
    assert len(sitting.wire.asked) == MAX_TOOL_ROUNDS + 1
    assert error.usage.prompt_tokens == 1000 * (MAX_TOOL_ROUNDS + 1)


@pytest.mark.asyncio
async def test_last_round_asks_for_an_answer(sitting: Sitting) -> None:
    def obey(asked: Asked) -> Step:
        if asked.body.get("tool_choice") == "none":
            return Say("Enough.")
        return sales_use(region="north")

    sitting.wire.script(obey)
    answer = await sitting.ask("chat", tools=[sales])

    assert answer.text == "Enough."
    assert len(answer.tool_calls) == MAX_TOOL_ROUNDS


@every_vendor
@pytest.mark.asyncio
async def test_failure_after_tools_is_not_retried(sitting: Sitting, vendor: str) -> None:
    sitting.wire.script(sales_use(region="north"), Fail(429, retry_after="1"))

    error = await sitting.fail(vendor, tools=[sales])

    assert (error.kind, error.retryable) == ("rate_limit", False)
    assert error.usage.prompt_tokens == 1000


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("use", "told"),
    [
        (ToolUse("sales", {"region": 7}), "error: 1 validation error"),
        (ToolUse("sales", {}), "error: 1 validation error"),
        (ToolUse("sells", {"region": "x"}), "error: no tool is named 'sells'; there are sales"),
    ],
)
async def test_bad_tool_call_is_told_to_model(sitting: Sitting, use: ToolUse, told: str) -> None:
    sitting.wire.script(Say("", tools=(use,)), Say("Sorry."))
    answer = await sitting.ask("chat", tools=[sales])
    assert answer.text == "Sorry."
    assert _results(sitting.last).startswith(told)


async def _result_of(sitting: Sitting, function: Any) -> str:
    sitting.wire.script(Say("", tools=(ToolUse(function.__name__, {}),)), Say("Done."))
    answer = await sitting.ask("chat", tools=[function])
    assert answer.text == "Done."
    return _results(sitting.last)


@pytest.mark.asyncio
async def test_failing_tool_is_told_to_model(sitting: Sitting) -> None:
    def broken() -> str:
        """Break."""
        raise ValueError("no such table")

    assert await _result_of(sitting, broken) == "error: ValueError: no such table"


@pytest.mark.asyncio
async def test_exiting_tool_ends_nothing(sitting: Sitting) -> None:
    def leave() -> str:
        """Leave."""
        raise SystemExit(3)

    assert await _result_of(sitting, leave) == "error: RuntimeError: SystemExit: 3"


@pytest.mark.asyncio
async def test_tool_runs_in_thread_of_its_own(sitting: Sitting) -> None:
    def where() -> str:
        """Say where."""
        return f"{threading.current_thread().name} {threading.current_thread().daemon}"

    assert await _result_of(sitting, where) == "roundtable-tool-where True"


@pytest.mark.asyncio
async def test_async_tool_is_awaited(sitting: Sitting) -> None:
    async def later() -> list[int]:
        """Wait a moment."""
        await asyncio.sleep(0)
        return [1, 2]

    assert await _result_of(sitting, later) == "[1, 2]"


@pytest.mark.asyncio
async def test_long_result_is_cut(sitting: Sitting) -> None:
    def long() -> str:
        """Say much."""
        return "x" * 50_000

    said = await _result_of(sitting, long)
    assert said == "x" * TOOL_OUTPUT + "\n[cut: 50,000 characters, 20,000 are shown]"


@pytest.mark.asyncio
async def test_slow_tool_is_given_up(sitting: Sitting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api_tools, "TOOL_TIMEOUT_S", 0.1)
    over = threading.Event()

    def slow() -> str:
        """Take long."""
        over.wait(30)
        return "late"

    try:
        said = await _result_of(sitting, slow)
    finally:
        over.set()
    assert said == "error: no result within 0.1 s; it may still run"


def _untyped(region):  # type: ignore[no-untyped-def]  # that's the point
    """Return sales."""


def _undocumented(region: str) -> str:
    return region


def _unnamed(region: str, /) -> str:
    """Return sales."""
    return region


def _unknown(region: Literal["a"] | threading.Thread) -> str:
    """Return sales."""
    return "x"


@pytest.mark.parametrize(
    ("functions", "reason"),
    [
        ([_untyped], "tool '_untyped': 'region' has no type; write region: str"),
        ([_undocumented], "tool '_undocumented' has no docstring"),
        ([_unnamed], "tool '_unnamed': 'region' can't be given by name"),
        ([_unknown], "tool '_unknown' can't be described to a model"),
        ([lambda: 1], "tool '<lambda>' has no docstring"),
        (["sales"], "tool 'str' is no function"),
        ([sales, sales], "two tools are named 'sales'"),
    ],
)
def test_unfit_tools_are_refused_before_calls(functions: list[Any], reason: str) -> None:
    with pytest.raises(SeatError, match="seat 'Ada': ") as caught:
        check_api(
            "openai-chat:gpt-4o", seat="Ada", api_key_env="K", tools=functions, environ={"K": "k"}
        )
    assert reason in str(caught.value)


def test_toolbox_without_functions_is_empty() -> None:
    assert Toolbox([]).definitions == []
