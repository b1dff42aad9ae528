"""Functions of the notebook that a model may call: checked, described, run in threads, recorded.

Loads the client libraries. What a model sends is hostile: it is read by the function's types alone.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from pydantic import PydanticUserError, ValidationError
from pydantic_ai import Tool
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelRequest, ToolCallPart, ToolReturnPart
from pydantic_ai.tools import ToolDefinition

from rt_notebook.errors import SeatError, one_line
from rt_notebook.providers.policies import MAX_PREVIEW

TOOL_TIMEOUT_S: Final = 60.0
"""Seconds that a function may take."""

TOOL_OUTPUT: Final = 20_000
"""Characters of a function's result that the model sees."""


class Toolbox:
    """The functions of one seat.

    Args:
        functions: typed functions with a docstring, sync or async.
        seat: the seat's name, for messages.
        timeout_s: seconds that a function may take; None: `TOOL_TIMEOUT_S`.

    Attributes:
        record: the calls made, with name, arguments and the start of the result.

    Raises:
        SeatError: a function can't be offered to a model.
    """

    def __init__(
        self,
        functions: Sequence[Callable[..., Any]],
        seat: str = "",
        timeout_s: float | None = None,
    ) -> None:
        self._tools: dict[str, Tool[Any]] = {}
        self._timeout_s = TOOL_TIMEOUT_S if timeout_s is None else timeout_s
        self.record: list[dict[str, str]] = []
        for function in functions:
            tool = _as_tool(function, seat)
            if tool.name in self._tools:
                raise SeatError(f"seat {seat!r}: two tools are named {tool.name!r}; rename one")
            self._tools[tool.name] = tool

    @property
    def definitions(self) -> list[ToolDefinition]:
        """What the model is told of the functions."""
        return [tool.tool_def for tool in self._tools.values()]

    async def answer(self, calls: Sequence[ToolCallPart]) -> ModelRequest:
        """Run what the model called, one by one, and return the message with the results."""
        parts = []
        for call in calls:
            text = await self._run(call)
            self.record.append(
                {
                    "name": one_line(call.tool_name, MAX_PREVIEW),
                    "arguments": one_line(call.args_as_json_str(), MAX_PREVIEW),
                    "preview": one_line(text, MAX_PREVIEW),
                }
            )
            parts.append(ToolReturnPart(call.tool_name, text, tool_call_id=call.tool_call_id))
        return ModelRequest(parts)

    async def _run(self, call: ToolCallPart) -> str:
        tool = self._tools.get(call.tool_name)
        if tool is None:
            return f"error: no tool is named {call.tool_name!r}; there are {', '.join(self._tools)}"
        try:
            arguments = tool.function_schema.validator.validate_json(call.args_as_json_str())
        except ValidationError as exc:
            return "error: " + one_line(str(exc), MAX_PREVIEW)
        limit = asyncio.timeout(self._timeout_s)
        try:
            async with limit:
                return _as_text(await _call(tool.function, arguments, tool.name))
        except TimeoutError:
            if limit.expired():
                return f"error: no result within {self._timeout_s:g} s; it may still run"
            return "error: TimeoutError"
        except Exception as exc:
            # The edge to the user's code: the model is told, and can do without.
            return "error: " + one_line(f"{type(exc).__name__}: {exc}", MAX_PREVIEW)


def _as_tool(function: Callable[..., Any], seat: str) -> Tool[Any]:
    name = getattr(function, "__name__", type(function).__name__)
    whose = f"seat {seat!r}: tool {name!r}"
    if not callable(function):
        raise SeatError(f"{whose} is no function")
    if not (inspect.getdoc(function) or "").strip() or not hasattr(function, "__name__"):
        raise SeatError(f"{whose} has no docstring; say in one what it does")
    for parameter in inspect.signature(function).parameters.values():
        if parameter.annotation is parameter.empty:
            raise SeatError(f"{whose}: {parameter.name!r} has no type; write {parameter.name}: str")
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise SeatError(f"{whose}: {parameter.name!r} can't be given by name")
    try:
        return Tool(function, takes_ctx=False, name=name)
    except (UserError, PydanticUserError, TypeError, ValueError, NameError) as exc:
        raise SeatError(
            f"{whose} can't be described to a model: {one_line(str(exc), 300)}"
        ) from exc


async def _call(function: Callable[..., Any], arguments: Mapping[str, Any], name: str) -> Any:
    if inspect.iscoroutinefunction(function):
        return await function(**arguments)
    return await _in_thread(function, arguments, name)


async def _in_thread(function: Callable[..., Any], arguments: Mapping[str, Any], name: str) -> Any:
    """Run a function in a daemon thread, which can't keep the interpreter from exiting."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def settle(value: Any, error: Exception | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(value)

    def work() -> None:
        value: Any = None
        error: Exception | None = None
        try:
            value = function(**arguments)
        except Exception as exc:  # told to the model
            error = RuntimeError(str(exc)) if isinstance(exc, StopIteration) else exc
        except BaseException as exc:  # SystemExit must not pass for silence
            error = RuntimeError(f"{type(exc).__name__}: {exc}")
        try:
            loop.call_soon_threadsafe(settle, value, error)
        except RuntimeError:  # the loop is closed: nobody waits for this result
            return

    threading.Thread(target=work, name=f"roundtable-tool-{name}", daemon=True).start()
    return await future


def _as_text(value: object) -> str:
    if isinstance(value, str):
        text = value
    elif isinstance(value, dict | list | tuple | int | float | bool | None):
        text = json.dumps(value, ensure_ascii=False, default=str)
    else:
        text = str(value)
    if len(text) <= TOOL_OUTPUT:
        return text
    return f"{text[:TOOL_OUTPUT]}\n[cut: {len(text):,} characters, {TOOL_OUTPUT:,} are shown]"
