"""Research before a debate: one call, its sources in every prompt, and no second try."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import rt_notebook as rt
from rt_notebook.running import running
from tests.engine.debates import reply
from tests.seats.table import claude_folder, seat
from tests.wire.script import Asked, Fail, Found, Hang, Say
from tests.wire.server import WireServer

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*will reach end-of-life:DeprecationWarning"),
    pytest.mark.usefixtures("keys"),
]

SEARCHER = "claude-haiku-5-5"
QUERY = "What did the last migration cost?"
FOUND = Say(
    "It cost two weeks.",
    queries=("migration cost",),
    found=(Found("https://a.example/costs", "Costs", "two weeks"),),
)


def _review(wire: WireServer, **settings: Any) -> rt.Review:
    given = {"research": {"query": QUERY}, "unattended": True, "rounds": 1, **settings}
    return rt.Review(
        "Move now?",
        options=["Move", "Wait"],
        seats=[seat(wire, "ada"), rt.Seat("bo", lens="cost")],
        chairman="scripted",
        **given,
    )


def _script(wire: WireServer, research: Any = FOUND) -> None:
    wire.script(research, model=SEARCHER)
    wire.script(Say(reply("opt-1")), model="claude-sonnet-4-6")


def _searches(wire: WireServer) -> list[Asked]:
    return [asked for asked in wire.asked if asked.model == SEARCHER]


def test_sources_reach_every_prompt(wire: WireServer) -> None:
    _script(wire)
    result = _review(wire).run_sync()

    assert result.status == "done"
    (search,) = _searches(wire)
    asked = json.dumps(search.body)
    assert QUERY in asked
    assert "Move now?" not in asked
    others = [json.dumps(asked.body) for asked in wire.asked if asked.model != SEARCHER]
    assert len(others) >= 1
    assert all("https://a.example/costs" in body and "two weeks" in body for body in others)
    kinds = [event.kind for event in result.events]
    assert kinds.index("research_finished") < kinds.index("round_started")
    (found,) = (event.body for event in result.events if event.kind == "research_finished")
    assert found == {
        "sources": [{"title": "Costs", "url": "https://a.example/costs", "excerpt": "two weeks"}],
        "searches": 1,
    }
    assert result.state.usage["seats"]["researcher"]["calls"] == 1
    for shown in result._repr_mimebundle_().values():
        assert "a.example/costs" in shown


def test_failed_research_is_told_and_left_at_that(wire: WireServer) -> None:
    _script(wire, Fail(429))
    result = _review(wire).run_sync()

    assert (result.status, result.verdict.status) == ("done", "ready")
    assert len(_searches(wire)) == 1
    (warning,) = (line for line in result.warnings if line.startswith("research failed"))
    assert "so there are no sources" in warning
    assert "research failed, so there are no sources" in " ".join(str(result).split())
    assert result.state.errors[0]["seat"] == "researcher"
    assert result.state.errors[0]["kind"] == "rate_limit"


def test_interrupted_research_is_not_made_again(wire: WireServer) -> None:
    _script(wire, Hang())
    handle = _review(wire).start()
    assert wire.reached.wait(20)
    assert rt.state(handle.id).status == "researching"
    run = running(handle.id)
    assert run is not None
    run.interrupt()
    assert rt.wait(handle.id, 10).status == "interrupted"

    result = rt.resume(handle.id).result(30)

    assert (result.status, len(_searches(wire))) == ("done", 1)
    assert "it was cut short" in "".join(result.warnings)


def test_stop_ends_research_at_once(wire: WireServer) -> None:
    _script(wire, Hang())
    handle = _review(wire).start()
    assert wire.reached.wait(20)
    handle.stop()
    result = handle.result(10)
    assert (result.status, result.state.round) == ("stopped", -1)


def test_research_is_in_the_estimate(wire: WireServer) -> None:
    with_it, without = _review(wire).check(), _review(wire, research=None).check()
    assert with_it.calls.expected == without.calls.expected + 1
    assert with_it.calls.max == without.calls.max + 1
    assert with_it.cost is None
    assert wire.asked == []


def test_command_searches_with_its_own_tool(
    wire: WireServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = (
        "Two weeks it took.\n\nSOURCES:\n- [Costs](https://a.example/costs): two weeks\n"
        "- https://b.example/more\n- [Bad](javascript:alert)"
    )
    before = f"""
open({str(tmp_path / "arguments.json")!r}, "w").write(json.dumps(sys.argv))
used = {{"type": "tool_use", "id": "t1", "name": "WebSearch", "input": {{"query": "cost"}}}}
say(json.dumps({{"type": "assistant", "message": {{"id": "m0", "content": [used]}}}}) + "\\n")
"""
    monkeypatch.setenv("PATH", str(claude_folder(tmp_path, answer, before=before)))
    _script(wire)
    research = {"query": QUERY, "model": "cli:claude", "max_searches": 1}
    result = _review(wire, research=research).run_sync()

    (found,) = (event.body for event in result.events if event.kind == "research_finished")
    assert found["searches"] == 1
    assert [(one["title"], one["url"], one["excerpt"]) for one in found["sources"]] == [
        ("Costs", "https://a.example/costs", "two weeks"),
        ("b.example", "https://b.example/more", ""),
    ]
    arguments = json.loads((tmp_path / "arguments.json").read_text(encoding="utf-8"))
    assert arguments[arguments.index("--tools") + 1] == "WebSearch"
    assert "Move now?" not in (tmp_path / "prompt.txt").read_text(encoding="utf-8")


def test_command_that_searches_on_is_stopped(
    wire: WireServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = """
for number in range(3):
    say(json.dumps({"type": "assistant", "message": {"id": "m0", "content": [
        {"type": "tool_use", "id": f"t{number}", "name": "WebSearch", "input": {}}]}}) + "\\n")
"""
    monkeypatch.setenv("PATH", str(claude_folder(tmp_path, "x", before=before)))
    _script(wire)
    research = {"query": QUERY, "model": "cli:claude", "max_searches": 2}
    result = _review(wire, research=research).run_sync()
    assert result.state.errors[0]["kind"] == "tool_policy"
    assert "it searched more than 2 times" in result.state.errors[0]["message"]


@pytest.mark.parametrize(
    ("research", "message"),
    [
        ({"query": "x", "model": "scripted"}, "'scripted' can't search the web"),
        ({"query": "x", "model": "openai-chat:gpt-4o"}, "can't search the web"),
        ({"query": "x", "model": "cli:opencode"}, "no web search that it could be told to use"),
        ({"query": "x", "model": "cli:antigravity"}, r"acknowledge_terms=\['antigravity'\]"),
    ],
)
def test_who_cannot_search_is_refused_before(
    wire: WireServer, research: dict[str, str], message: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    for name in ("opencode", "agy"):
        path = tmp_path / name
        path.write_text("#!/bin/sh\n", encoding="utf-8")
        path.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(rt.SeatError, match=message):
        _review(wire, research=research).check()
    assert wire.asked == []


def test_cells_name_a_query_too(wire: WireServer) -> None:
    from rt_notebook.contract.cell import read_cell

    tail = "\n\noptions:\n- a\n- b\n"
    assert read_cell(f"Q{tail}research: what it costs").research == {"query": "what it costs"}
    found = read_cell(f"Q{tail}research:\n- what it costs\n- model: cli:claude\n- max-searches: 2")
    assert found.research == {"query": "what it costs", "model": "cli:claude", "max_searches": 2}
    with pytest.raises(rt.OptionError, match="max_searches takes a whole number"):
        read_cell(f"Q{tail}research:\n- query: x\n- max_searches: many")
