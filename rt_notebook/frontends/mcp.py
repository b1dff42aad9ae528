"""The agent's verbs as MCP tools over standard input and output.

Owns the tools' names and the official SDK, which is loaded when the server starts, not before.
What the verbs do stands in `agent_verbs`; nothing is started until a tool is called.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import logging
import threading
from collections.abc import Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from rt_notebook.engine.runner import runner
from rt_notebook.errors import MissingExtraError, OptionError, RoundtableError, nearest, one_line
from rt_notebook.frontends.agent import json_line
from rt_notebook.frontends.agent_arguments import ARGUMENTS, read_arguments
from rt_notebook.frontends.agent_errors import error_json
from rt_notebook.frontends.agent_next import ToolCalls, tool_name
from rt_notebook.frontends.agent_table import VERBS, AgentVerb
from rt_notebook.frontends.agent_verbs import Caller, call

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

NAME: Final = "rt-notebook"
"""The server's name."""

INSTRUCTIONS: Final = (
    "Structured debates between models, with a person at the gates. Call roundtable_guide first; "
    "never answer a gate for the person, and call a debate finished only when its status is done "
    "and its verdict ready."
)
"""What a client is told about the server."""

_INSTALL: Final = (
    'MCP needs the official SDK, which isn\'t installed: pip install "rt-notebook[mcp]"'
)

logger = logging.getLogger(__name__)

_STORE: Final = {"type": "string", "description": "path of another store than the default one"}
_VERBS: Final = {tool_name(verb): verb for verb in VERBS}


def main() -> int:
    """Serve until the client hangs up; returns the exit status.

    Raises:
        MissingExtraError: the SDK isn't installed.
    """
    if importlib.util.find_spec("mcp") is None:
        raise MissingExtraError(_INSTALL)
    runner().run_blocking(lambda job: serve())
    return 0


async def serve() -> None:
    """Serve over this process's standard input and output."""
    from mcp.server.stdio import stdio_server

    server = make_server()
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def make_server() -> Server[Any]:
    """Return the server, not serving yet."""
    import mcp.types as types
    from mcp.server.lowlevel import Server

    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool(**_tool(verb)) for verb in VERBS.values()])

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        answer = await _in_thread(params.name, params.arguments or {})
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=json_line(answer))],
            structured_content=answer,
            is_error=not answer["ok"],
        )

    return Server(
        NAME,
        version=version("rt-notebook"),
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def tool_schema(verb: str) -> dict[str, Any]:
    """Return the JSON Schema of a tool's arguments: the verb's own, and which store is meant."""
    schema = ARGUMENTS[verb].model_json_schema()
    schema["properties"] = {**schema.get("properties", {}), "store": _STORE}
    return schema


async def _in_thread(tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Call a tool beside the loop: wait blocks for up to half a minute, and files are read.

    A daemon thread, not the loop's own pool: a client that hangs up waits for nobody.
    """
    loop = asyncio.get_running_loop()
    answered: asyncio.Future[dict[str, Any]] = loop.create_future()

    def settle(answer: dict[str, Any]) -> None:
        if not answered.done():  # the client may have cancelled the call
            answered.set_result(answer)

    def work() -> None:
        answer = _call(tool, arguments)
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, answer)

    threading.Thread(target=work, name=f"roundtable-{tool[:40]}", daemon=True).start()
    return await answered


def _tool(verb: AgentVerb) -> dict[str, Any]:
    return {
        "name": tool_name(verb.name),
        "description": verb.help,
        "input_schema": tool_schema(verb.name),
        "annotations": {
            "read_only_hint": verb.reads_only,
            "destructive_hint": verb.destroys,
        },
    }


def _call(tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    verb = _VERBS.get(tool)
    if verb is None:
        message = f"there is no tool {one_line(tool, 60)!r}{nearest(tool[:60], _VERBS)}"
        return {"ok": False, "error": {"kind": "option", "message": message}}
    try:
        given = dict(arguments)
        store = given.pop("store", None)
        if not isinstance(store, str | None):
            raise OptionError("store: a path is expected", field="store")
        return call(verb, read_arguments(verb, given), Caller(ToolCalls(store), store))
    except RoundtableError as exc:
        return {"ok": False, "error": error_json(exc)}
    except Exception as exc:  # an edge: the client waits for an answer
        logger.exception("a tool call failed")
        message = one_line(f"{type(exc).__name__}: {exc}", 400)
        return {"ok": False, "error": {"kind": "internal", "message": message}}
