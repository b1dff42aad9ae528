"""Agents: one harmless line of JSON on the command line, and the same data over MCP."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from rt_notebook.analysis.tables import storable
from rt_notebook.characters import escaped_json, whole
from rt_notebook.contract.record import lines_of
from rt_notebook.domain.seat import Seat
from rt_notebook.frontends import agent
from rt_notebook.frontends.agent import json_line
from rt_notebook.store.record import public
from tests.frontends.agents import PROGRAM
from tests.hostile.checks import assert_harmless_text, each
from tests.hostile.corpus import FAMILIES
from tests.hostile.debates import failed_events, line_of, name_of
from tests.rendering.talks import Talk

every_family = pytest.mark.parametrize("family", FAMILIES)


def _said(*words: str) -> tuple[int, dict[str, Any]]:
    lines: list[str] = []
    status = agent.main(words, lines.append)
    (line,) = lines
    assert "\n" not in line
    assert_harmless_text(line)
    answer: dict[str, Any] = json.loads(line)
    return status, answer


def _asking(text: str) -> dict[str, Any]:
    label = line_of(text, 180)
    return {
        "question": f"x {text[:10_000]}",
        "options": [f"{label}—1", f"{label}—2"],
        "known": [text[:1_900] or "x"],
        "title": line_of(text, 190),
        "seats": [{"name": name_of(text), "lens": text[:200]}, {"name": "other seat"}],
    }


@every_family
def test_answer_is_one_harmless_line(family: str) -> None:
    def check(text: str) -> None:
        status, answer = _said("check", "--input", json.dumps(_asking(whole(text))))
        assert status == 0, answer
        assert answer["seats"][0]["name"] == Seat(name_of(whole(text))).name
        raw = json.dumps(_asking(text))
        for words in (["status", "--id", text], [text], ["check", "--input", text + raw]):
            status, answer = _said(*words)
            assert answer["ok"] is (status == 0)

    each(family, check)


@every_family
def test_shown_debate_is_one_harmless_line(family: str, tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    for text in FAMILIES[family]:
        path.write_text(lines_of(failed_events(text)), encoding="utf-8")
        status, answer = _said("show", "--id", str(path))
        assert status == 0
        assert answer["id"] == "payments-a1b2c3"
        assert_harmless_text(answer["text"])
        for command in (answer["next"], answer["watch"]):
            assert "payments-a1b2c3" in shlex.split(command)


@every_family
def test_escaped_json_holds_the_same_data(family: str) -> None:
    def check(text: str) -> None:
        data = {text: [text, {"x": text}]}
        assert json.loads(json_line(data)) == json.loads(json.dumps(data))
        assert escaped_json(json_line(data)) == json_line(data)

    each(family, check)


def _talk_of(texts: Sequence[str]) -> str:
    """Returns the record of a discussion in which each text is a turn, and a tool's output."""
    talk = Talk(Seat("pm"), Seat("dev"), rounds=len(texts)).start_round()
    for text in texts:
        talk.says("pm", text, [{"name": text[:100], "preview": text}])  # type: ignore[attr-defined]
        talk.start_round()
    return lines_of(public(talk.events))


def test_mcp_carries_every_text(tmp_path: Path) -> None:
    async def main() -> None:
        server = StdioServerParameters(
            command=PROGRAM[0], args=[*PROGRAM[1:], "mcp"], env=dict(os.environ), cwd=tmp_path
        )
        async with (
            stdio_client(server) as (incoming, outgoing),
            ClientSession(incoming, outgoing) as session,
        ):
            await session.initialize()
            for family, texts in FAMILIES.items():
                path = tmp_path / f"{family}.jsonl"
                path.write_text(_talk_of(texts), encoding="utf-8")
                found = await session.call_tool("roundtable_show", {"id": str(path)})
                line = found.content[0].text  # type: ignore[union-attr]
                assert_harmless_text(line)
                answer = json.loads(line)
                assert found.structured_content == answer
                said = [reply["text"] for reply in answer["replies"]]
                assert said == [storable(text) for text in texts]
                found = await session.call_tool("roundtable_status", {"id": whole(texts[0])})
                assert found.is_error
                assert_harmless_text(found.content[0].text)  # type: ignore[union-attr]

    # The client is a program of its own, with its own loop.
    asyncio.run(asyncio.wait_for(main(), 100))  # noqa: TID251
