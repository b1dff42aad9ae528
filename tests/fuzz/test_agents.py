"""What programs say to the verbs, over MCP and on command lines: always one answer, never a crash.

An error that isn't one of this package's own is told as `internal`: none may be.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rt_notebook import session
from rt_notebook.errors import RoundtableError
from rt_notebook.frontends import mcp
from rt_notebook.frontends.agent import json_line
from rt_notebook.frontends.agent_arguments import ARGUMENTS, read_line
from rt_notebook.frontends.agent_errors import error_json
from rt_notebook.frontends.agent_table import VERBS
from rt_notebook.frontends.cli_words import COMMANDS, CommandLineError, find_command, read_words
from rt_notebook.session import Opening
from tests.engine.clocks import play
from tests.engine.debates import split
from tests.fuzz.budget import tried
from tests.fuzz.seeds import seeds
from tests.fuzz.texts import EXTRA, edited, fragments, values

STARTING: Final = frozenset({"start", "resume", "verdict", "extend"})
"""Verbs that start a process: they are only asked about debates that aren't there."""

INPUTS: Final = tuple(json.loads(text) for text in seeds("json_input"))


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """Return a folder with a store that holds a finished and an interrupted debate."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        path = place / "debates.db"
        play(session.new_run(split(rounds=1, title="Ship it"), Opening(store=path)).main())
        run = session.new_run(split(rounds=3), Opening(store=path))
        run.listeners.append(lambda event, state: run.interrupt() if event.seq == 5 else None)
        with suppress(asyncio.CancelledError):
            play(run.main())
        yield place


numbers = st.sampled_from((0, 1, 2, 26, -1, 10**30, 0.5, 1e999, "1", True, None))


@st.composite
def arguments(draw: st.DrawFn, verb: str, folder: Path) -> dict[str, Any]:
    """Return a tool's arguments: right ones, and edited ones."""
    home = str(folder / "debates.db")
    fields: dict[str, Any] = {name: draw(numbers) for name in ARGUMENTS[verb].model_fields}
    fields |= {"store": home, "id": "last", "input": draw(st.sampled_from(INPUTS))}
    fields = {name: fields[name] for name in (*ARGUMENTS[verb].model_fields, "store")}
    if draw(st.booleans()):
        places = ("other.db", ".", "a\0b", "\ud800.db", "debates.db/x")
        fields["store"] = f"{folder}/{draw(st.sampled_from(places))}"
    if draw(st.booleans()):
        fields = {**draw(edited(fields, 2).filter(lambda found: isinstance(found, dict)))}
    return _harmless(draw, verb, folder, fields)


def _harmless(draw: st.DrawFn, verb: str, folder: Path, fields: dict[str, Any]) -> dict[str, Any]:
    """Return arguments that write nowhere else, ask no other program and start no process."""
    found = {name: value for name, value in fields.items() if name != "refresh"}
    if not str(found.get("store")).startswith(str(folder)):
        found["store"] = str(folder / "debates.db")
    if verb == "export":
        found["dir"] = str(folder / draw(st.sampled_from(("out", "a\0", "\ud800", "x" * 300))))
    if verb in STARTING:
        found["id"] = "nobody-knows-it"
    return found


@tried(150)
@given(data=st.data())
def test_any_tool_call_is_answered(folder: Path, data: st.DataObject) -> None:
    verb = data.draw(st.sampled_from([v for v in VERBS if v not in ("start", "delete", "status")]))
    given_ = data.draw(arguments(verb, folder))
    answer = mcp._call(f"roundtable_{verb}", given_)
    line = json_line(answer)
    assert "\n" not in line
    line.encode()
    assert json.loads(line) == json.loads(json.dumps(answer))
    assert isinstance(answer["ok"], bool)
    if not answer["ok"]:
        assert answer["error"]["kind"] != "internal", answer
        assert answer["error"]["message"]


@tried(60)
@given(tool=fragments, said=st.dictionaries(st.text(max_size=5), values, max_size=3))
def test_any_tool_name_is_answered(tool: str, said: dict[str, Any]) -> None:
    answer = mcp._call(tool, said)
    assert answer["ok"] is False
    json_line(answer).encode()


words = st.lists(
    st.one_of(
        st.sampled_from((*VERBS, *COMMANDS)),
        st.sampled_from(("--id", "--input", "--store", "--round", "--seconds=5", "--limit", "last",
                         "--after-round", "--max-calls", "--json", "--json=1", "--rounds=",
                         "--max-cost", "{}", "[", '{"round": 0}', "--older-than", "90d")),
        st.sampled_from(EXTRA),
        st.sampled_from(("1", "-1", "1e400", "nan", "1_000", "٣")),
        fragments.filter(lambda text: text != "-"),  # which would read standard input
    ),
    max_size=7,
)  # fmt: skip


@tried(150)
@given(words)
def test_any_command_line_is_read_or_refused(said: list[str]) -> None:
    try:
        found = read_line(said)
    except RoundtableError as error:
        json_line({"ok": False, "error": error_json(error)}).encode()
    else:
        assert found.verb.name == said[0]
    try:
        command = find_command(said[0] if said else "")
        found_words = read_words(command, said[1:])
    except CommandLineError:
        return
    assert command.least <= len(found_words.given) <= command.most
