"""Files that somebody else wrote: `roundtable.toml`, scripts, the settings of other programs.

Whatever they hold: they are read, or refused with an error that says which file and why.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rt_notebook.config import load_config, resolve_chairman, resolve_seats, seat_table
from rt_notebook.domain.brief import Brief
from rt_notebook.domain.kinds import DISCUSSION, REVIEW, Kind
from rt_notebook.domain.script import Script, scripted
from rt_notebook.domain.spec import DebateSpec, Limits
from rt_notebook.errors import OptionError, SeatError, UsageError
from rt_notebook.frontends import setup_json
from rt_notebook.frontends.setup_clients import CLIENTS, plan, state_of
from rt_notebook.providers.scripted import load_script
from tests.fuzz.budget import tried
from tests.fuzz.texts import edited, mutated, values

PROJECT: Final = b"""\
# seats of this project
[seats.pm]
model = "scripted"
lens = "user impact"
[seats."\xc5\xbeofie c"]
model = "scripted:words.toml"
timeout_s = 20.5
retries = 1
[defaults]
rounds = 2
seats = ["pm", "dev"]
memory = "full"
store = "debates/"
[review]
gates = "blocking"
question_wait_s = 9
chairman = "pm"
[discussion]
observer = "pm"
[limits]
max_calls = 20
max_cost = 0.5
max_calls_per_vendor = { openai = 3 }
on_limit = "pause"
"""
SCRIPT: Final = b"""\
[[steps]]
say = { stance = "Wait", disagree = ["slow", "dear"], question = "Who pays?" }
[[steps]]
fail = "rate_limit"
retry_after_s = 1
wait_s = 0.2
[[steps]]
reply = "PASS"
[[steps]]
hang = true
"""
CODEX: Final = b"""\
model = "x"
[mcp_servers.other]
command = "y" # why not
args = ["a", "b"]
[mcp_servers."rt-notebook".env]
A = "b"
[tools]
web = true
"""
SETTINGS: Final = b"""\
{
  // servers of others
  "mcpServers": {
    "other": {"command": "y", "args": ["a", "b",],},
  },
  "theme": "dark"
}
"""
MOVES: Final = ("\n[seats]\n", "\n[limits]\n", "\n[[steps]]\n", "x = ", "'''", "[[", "1979-05-27",
                "0x10", "1e9999", "inf", "nan",
                "9" * 5_000, "9" * 400, "true", "{}", "[]", '"\\ud800"',
                "base_url = 'http://x'\n", "python:os:getcwd",
                "[seats.a]\nmodel='human:x'\n")  # fmt: skip


@st.composite
def toml(draw: st.DrawFn, whole: bytes) -> bytes:
    """Return a TOML file after some edits of its bytes and of its values."""
    if draw(st.booleans()):
        return draw(mutated([whole]))
    lines = whole.split(b"\n")
    for _ in range(draw(st.integers(1, 3))):
        here = draw(st.integers(0, len(lines) - 1))
        key, equals, _ = lines[here].partition(b"=")
        said = draw(st.sampled_from(MOVES) | values.map(_as_toml))
        put = said.encode("utf-8", "surrogatepass")
        lines[here] = key + b"= " + put if equals else put
    return b"\n".join(lines)


def _as_toml(value: Any) -> str:
    text = json.dumps(value)
    return text.replace("null", "''").replace('": ', '" = ')


kinds: st.SearchStrategy[Kind] = st.sampled_from((REVIEW, DISCUSSION))


@tried(200)
@given(toml(PROJECT), kinds)
def test_any_project_file_is_read_or_refused(data: bytes, kind: Kind) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "roundtable.toml").write_bytes(data)
        try:
            config = load_config(folder).for_kind(kind)
        except OptionError as error:
            assert_names(error, folder)
            return
        assert len(seat_table(config, {})) >= 3
        try:
            _debate(config, kind)
        except UsageError:
            return


def assert_names(error: OptionError, place: Path) -> None:
    """Check that an error says which file it is about."""
    assert str(place) in str(error), str(error)


def _debate(config: Any, kind: Kind) -> DebateSpec:
    seats = resolve_seats(None, {}, config)
    defaults = config.review_defaults()
    for elsewhere in ("store", "durability", "display", "record_mode"):
        defaults.pop(elsewhere, None)
    closer = resolve_chairman(None, {}, config, seats)
    options = ("Ship", "Wait") if kind == REVIEW else ()
    name = "chairman" if kind == REVIEW else "observer"
    return DebateSpec(
        kind=kind, brief=Brief(question="Ship?", options=options), seats=tuple(seats),
        limits=Limits(**config.limits), **{**defaults, name: closer},
    )  # fmt: skip


@tried(150)
@given(toml(SCRIPT))
def test_any_script_is_read_or_refused(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "words.toml"
        path.write_bytes(data)
        try:
            found = load_script(str(path))
        except SeatError:
            return
        assert isinstance(found, Script)
        json.dumps(found, allow_nan=False)


@st.composite
def settings_files(draw: st.DrawFn) -> tuple[str, bytes]:
    """Return an MCP client and what its configuration holds, after some edits."""
    client = draw(st.sampled_from(sorted(CLIENTS)))
    if client == "codex":
        return client, draw(toml(CODEX))
    whole = setup_json.parse(SETTINGS.decode()) | {"mcp": {"other": {"type": "local"}}}
    if draw(st.booleans()):
        return client, json.dumps(draw(edited(whole))).encode()
    return client, draw(mutated([SETTINGS, b"{}", b""]))


@tried(200)
@given(settings_files())
def test_any_settings_are_changed_safely_or_left_alone(given_: tuple[str, bytes]) -> None:
    """Our entry is put in and taken away; what else the file says stays as it is."""
    name, data = given_
    client = CLIENTS[name]
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        home = Path(folder)
        for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "XDG_CONFIG_HOME"):
            patch.delenv(variable, raising=False)
        file = client.file(home)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        state_of(client, home)
        try:
            change = plan(client, home, remove=False)
            file.write_bytes(change.after.encode())
            assert not plan(client, home, remove=False).needed
            removed = plan(client, home, remove=True)
        except OptionError as error:
            assert_names(error, file)
            return
        file.write_bytes(removed.after.encode())
        assert not plan(client, home, remove=True).needed


@tried(60)
@given(st.sampled_from(({"reply": "x"}, {"say": {"stance": "a", "new": ["b"]}}, {"fail": "auth"}))
       .flatmap(edited))  # fmt: skip
def test_any_step_is_taken_or_refused(step: Any) -> None:
    try:
        found = scripted([step])
    except SeatError:
        return
    assert len(found) == 1
