"""The MCP server, spoken to by the official SDK's own client over standard input and output."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

import rt_notebook as rt
from rt_notebook.frontends import cli
from rt_notebook.frontends.agent_arguments import ARGUMENTS
from rt_notebook.frontends.agent_table import VERBS
from tests.frontends.agents import ASKING, PROGRAM, bodies, end_runners

Call = Callable[..., Awaitable[dict[str, Any]]]


def _talk(folder: Path, work: Callable[[ClientSession, Call], Awaitable[None]]) -> None:
    """Connect to a server of its own and let `work` use it."""

    async def main() -> None:
        server = StdioServerParameters(
            command=PROGRAM[0], args=[*PROGRAM[1:], "mcp"], env=dict(os.environ), cwd=folder
        )
        async with (
            stdio_client(server) as (incoming, outgoing),
            ClientSession(incoming, outgoing) as session,
        ):
            await session.initialize()

            async def call(verb: str, **arguments: Any) -> dict[str, Any]:
                found = await session.call_tool(f"roundtable_{verb}", arguments)
                answer: dict[str, Any] = json.loads(found.content[0].text)  # type: ignore[union-attr]
                assert found.structured_content == answer
                assert found.is_error is not answer["ok"]
                return answer

            await work(session, call)

    # The client is a program of its own, with its own loop.
    asyncio.run(asyncio.wait_for(main(), 60))  # noqa: TID251


def test_tools_are_the_verbs_with_their_schema(tmp_path: Path) -> None:
    async def work(session: ClientSession, call: Call) -> None:
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        assert list(tools) == [f"roundtable_{verb}" for verb in VERBS]
        for verb, model in ARGUMENTS.items():
            tool = tools[f"roundtable_{verb}"]
            fields = tool.input_schema["properties"]
            assert set(fields) == {*model.model_fields, "store"}
            assert tool.input_schema["additionalProperties"] is False
            assert tool.description == VERBS[verb].help
        assert tools["roundtable_delete"].annotations is not None
        assert tools["roundtable_delete"].annotations.destructive_hint is True
        guide = (await call("guide"))["guide"]
        assert "roundtable_answer" in guide
        assert "rt-notebook agent" not in guide

    _talk(tmp_path, work)
    assert rt.debates().empty


def test_review_is_played_over_tools(tmp_path: Path) -> None:
    async def work(session: ClientSession, call: Call) -> None:
        assert (await call("check", input=ASKING))["estimate"]["calls"]["expected"] == 5
        found = await call("start", input=ASKING)
        name, seen = found["id"], []
        while found["next_action"]["type"] != "none":
            kind = found["next_action"]["type"]
            seen.append(kind)
            assert len(seen) < 10
            line = found["next_action"]["command" if kind == "ask_user" else "wait_command"]
            tool, _, arguments = line.replace("...", "By a client").partition(" ")
            found = await call(tool.removeprefix("roundtable_"), **json.loads(arguments))
        assert "ask_user" in seen
        assert (found["status"], found["verdict"]["status"]) == ("done", "ready")
        assert found["watch"].endswith(f"watch {name}")
        assert (await call("show", id=name))["replies"]

    _talk(tmp_path, work)
    (answered, *_) = bodies("last", "gate_answered")
    assert (answered["source"], answered["answers"]["q1"]) == ("agent", "By a client")


def test_errors_are_answers(tmp_path: Path) -> None:
    async def work(session: ClientSession, call: Call) -> None:
        unknown = await call("wait", id="../../x")
        assert unknown["error"]["kind"] == "unknown_debate"
        wrong = await call("start", input={**ASKING, "optoins": []})
        assert wrong["error"]["hint"] == "did you mean 'options'?"
        assert (await call("wait", id="last", secs=3))["error"]["hint"] == "did you mean 'seconds'?"
        assert (await call("strat"))["error"]["message"].endswith("'roundtable_start'?")

    _talk(tmp_path, work)
    assert rt.debates().empty


def test_other_store_stays_named(tmp_path: Path) -> None:
    store = str(tmp_path / "other.db")

    async def work(session: ClientSession, call: Call) -> None:
        found = await call("start", input={**ASKING, "gates": "off", "store": store})
        while found["next_action"]["type"] == "wait":
            tool, _, arguments = found["next"].partition(" ")
            assert json.loads(arguments)["store"] == store
            found = await call(tool.removeprefix("roundtable_"), **json.loads(arguments))
        assert found["verdict"]["status"] == "ready"
        assert found["watch"].endswith(f"--store {store}")
        assert (await call("list", store=3))["error"]["message"] == "store: a path is expected"
        assert (await call("list"))["debates"] == []

    _talk(tmp_path, work)


def test_debate_outlives_its_client(tmp_path: Path) -> None:
    names = []

    async def work(session: ClientSession, call: Call) -> None:
        names.append((await call("start", input=ASKING))["id"])

    _talk(tmp_path, work)
    assert rt.wait(names[0], 20).next_action.type == "ask_user"
    end_runners()


def test_nothing_starts_at_import() -> None:
    code = (
        "import sys, threading; import rt_notebook.frontends.mcp;"
        "print([m for m in sys.modules if m == 'mcp' or m.startswith('mcp.')],"
        " threading.active_count())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8")
    assert done.stdout.strip() == "[] 1"


def test_missing_sdk_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert cli.main(["mcp"]) == 1
    assert 'pip install "rt-notebook[mcp]"' in capsys.readouterr().err


def test_help_says_how_to_add_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["mcp", "--help"]) == 0
    shown = capsys.readouterr().out
    assert "rt-notebook setup --client" in shown
    assert "claude mcp add" in shown
