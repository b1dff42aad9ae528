"""`rt-notebook setup`: one entry of a client's configuration, and nothing else of it."""

from __future__ import annotations

import json
import os
import stat
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from rt_notebook.errors import OptionError
from rt_notebook.frontends import cli, setup_json, setup_toml
from rt_notebook.frontends.setup_clients import CLIENTS, server_command

FILES = {
    "claude": ".claude.json",
    "codex": ".codex/config.toml",
    "gemini": ".gemini/settings.json",
    "opencode": ".config/opencode/opencode.json",
    "antigravity": ".gemini/config/mcp_config.json",
}
COMMENTED = """\
// mine
{
  "theme": "dark", // as I like it
  /* servers */
  "mcpServers": {
    "other": { "command": "other", "args": ["--x",] },
  },
  "token": "secret-1",
}
"""
TABLES = """\
# mine
model = "gpt"   # as I like it

[mcp_servers.other]
command = "other"
args = [
  "--x", # a flag
]

# the last word
[history]
persistence = "none"
"""


@pytest.fixture(autouse=True)
def user_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Gives a home folder without any client."""
    folder = tmp_path / "home"
    folder.mkdir()
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return folder


def _parsed(path: Path) -> dict[str, Any]:
    text = path.read_text(encoding="utf-8")
    return tomllib.loads(text) if path.suffix == ".toml" else setup_json.parse(text)


def _entry(client: str, path: Path) -> Any:
    data = _parsed(path)
    key = {"codex": "mcp_servers", "opencode": "mcp"}.get(client, "mcpServers")
    return data.get(key, {}).get("rt-notebook")


def _files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("client", list(FILES))
def test_connection_is_added_and_removed(
    client: str, user_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = user_home / FILES[client]
    assert cli.main(["setup", "--client", client]) == 0
    entry = _entry(client, path)
    words = entry["command"] if client == "opencode" else [entry["command"], *entry["args"]]
    assert words == [sys.executable, "-P", "-m", "rt_notebook", "mcp"]
    if client == "opencode":
        assert (entry["type"], entry["enabled"]) == ("local", True)
    assert list(_files(user_home)) == [FILES[client]]
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    before = _files(user_home)
    capsys.readouterr()
    assert cli.main(["setup", "--client", client]) == 0
    assert "already set up" in capsys.readouterr().out
    assert _files(user_home) == before
    assert cli.main(["setup", "--client", client, "--remove"]) == 0
    assert _entry(client, path) is None
    assert cli.main(["setup", "--client", client, "--remove"]) == 0
    assert "nothing to remove" in capsys.readouterr().out


@pytest.mark.parametrize("client", ["claude", "gemini", "antigravity", "codex"])
def test_everything_else_stays_byte_for_byte(client: str, user_home: Path) -> None:
    path = user_home / FILES[client]
    path.parent.mkdir(parents=True, exist_ok=True)
    text = TABLES if client == "codex" else COMMENTED
    path.write_text(text, encoding="utf-8")
    path.chmod(0o640)
    cli.main(["setup", "--client", client])
    after = path.read_text(encoding="utf-8")
    left = iter(after)
    assert all(char in left for char in text), "something was taken away"
    assert _entry(client, path) is not None
    (backup,) = path.parent.glob(f"{path.name}.before-rt-notebook-*")
    assert backup.read_text(encoding="utf-8") == text
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(backup.stat().st_mode) == 0o640
    cli.main(["setup", "--client", client, "--remove"])
    assert path.read_text(encoding="utf-8") == text


def test_change_is_shown_without_its_neighbours(
    user_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = user_home / ".claude.json"
    path.write_text('{"token":"secret-1","mcpServers":{}}', encoding="utf-8")
    before = _files(user_home)
    assert cli.main(["setup", "--client", "claude", "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert "+ mcpServers.rt-notebook = " in shown
    assert "--dry-run: nothing was written" in shown
    assert "secret-1" not in shown
    assert _files(user_home) == before


def test_own_options_of_the_entry_stay(user_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = server_command()
    entry = {"command": command[0], "args": command[1:], "env": {"RT_NOTEBOOK_STORE": "/x"}}
    path = user_home / ".gemini" / "settings.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"mcpServers": {"rt-notebook": entry}}), encoding="utf-8")
    before = _files(user_home)
    assert cli.main(["setup", "--client", "gemini"]) == 0
    assert "already set up" in capsys.readouterr().out
    assert _files(user_home) == before


def test_moved_command_is_replaced(user_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = user_home / ".codex" / "config.toml"
    path.parent.mkdir()
    old = '[mcp_servers.rt-notebook]\ncommand = "/gone/python"\nargs = ["mcp"]\n\n[x]\ny = 1\n'
    path.write_text(old, encoding="utf-8")
    cli.main(["setup", "--status"])
    assert "its command is gone: /gone/python" in capsys.readouterr().out
    assert cli.main(["setup", "--client", "codex"]) == 0
    assert _entry("codex", path)["command"] == sys.executable
    assert path.read_text(encoding="utf-8").endswith("\n\n[x]\ny = 1\n")


@pytest.mark.parametrize(
    ("client", "text"),
    [
        ("claude", "{"),
        ("claude", "[1]"),
        ("claude", '{"mcpServers": 3}'),
        ("claude", '{"a": "\\'),
        ("codex", "[x"),
        ("codex", 'mcp_servers = { other = { command = "x" } }\n'),
        ("codex", "\xff"),
    ],
)
def test_file_that_cannot_be_changed_is_left(
    client: str, text: str, user_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = user_home / FILES[client]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode("latin-1"))
    assert cli.main(["setup", "--client", client]) == 1
    error = capsys.readouterr().err.splitlines()[0]
    assert str(path) in error
    assert _files(user_home) == {FILES[client]: text.encode("latin-1")}
    assert cli.main(["setup", "--status"]) == 0


def test_string_over_two_lines_is_no_json() -> None:
    with pytest.raises(OptionError, match="a string in it doesn't end on its line"):
        setup_json.parse('{"a": {"b\n": 1}}')


def test_all_means_the_clients_that_are_here(
    user_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (user_home / ".claude.json").write_text("{}", encoding="utf-8")
    (user_home / ".codex").mkdir()
    assert cli.main(["setup", "--client", "all"]) == 0
    shown = capsys.readouterr().out
    assert "opencode: not installed here, left alone" in shown
    assert {name.partition(".before")[0] for name in _files(user_home)} == {
        ".claude.json",
        ".codex/config.toml",
    }


def test_status_tells_every_client(user_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["setup", "--client", "codex"])
    capsys.readouterr()
    assert cli.main(["setup", "--status"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "codex: set up" in lines
    assert "claude: not set up; the client isn't here" in lines
    assert len(lines) == 2 * len(CLIENTS)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--client", "cluade"], "did you mean 'claude'?"),
        (["--client", "claude", "--dryrun"], "did you mean '--dry-run'?"),
        (["--status", "--remove"], "--status goes alone"),
    ],
)
def test_wrong_setup_line_exits_two(
    words: list[str], message: str, user_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["setup", *words]) == 2
    assert message in capsys.readouterr().err
    assert _files(user_home) == {}


def test_clients_own_variables_count(user_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(user_home / "c"))
    monkeypatch.setenv("CODEX_HOME", str(user_home / "x"))
    cli.main(["setup", "--client", "claude"])
    cli.main(["setup", "--client", "codex"])
    assert set(_files(user_home)) == {"c/.claude.json", "x/config.toml"}


def test_opencode_files_of_both_forms(user_home: Path) -> None:
    folder = user_home / ".config" / "opencode"
    folder.mkdir(parents=True)
    path = folder / "opencode.jsonc"
    path.write_text('{\n  // servers\n  "mcp": { "servers": {} }\n}\n', encoding="utf-8")
    assert cli.main(["setup", "--client", "opencode"]) == 0
    assert "rt-notebook" in _parsed(path)["mcp"]["servers"]
    assert not (folder / "opencode.json").exists()


@pytest.mark.skipif(os.name != "posix", reason="needs links")
def test_link_stays_a_link(user_home: Path, tmp_path: Path) -> None:
    kept = tmp_path / "dotfiles" / "claude.json"
    kept.parent.mkdir()
    kept.write_text("{}\n", encoding="utf-8")
    (user_home / ".claude.json").symlink_to(kept)
    assert cli.main(["setup", "--client", "claude"]) == 0
    assert (user_home / ".claude.json").is_symlink()
    assert "rt-notebook" in kept.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "{}",
        "{ }\n",
        '{"a": 1}',
        '{"mcpServers": {}}',
        '{"mcpServers": {"a": {"command": "x"}}, "b": [1, {"c": "}"}]}',
        '\ufeff{\r\n\t"a": "\\"{",\r\n\t"mcpServers": {\r\n\t\t"z": 1\r\n\t}\r\n}\r\n',
        '{\n  "mcpServers": { // none yet\n  }\n}\n',
        '{\n  "a": 1 // one\n  // two\n}\n',
        COMMENTED,
    ],
)
def test_entry_of_any_json_file_comes_and_goes(text: str) -> None:
    path, value = ("mcpServers", "rt-notebook"), {"command": "p", "args": ["-m", "ü"]}
    after = setup_json.with_entry(text, path, value)
    before = setup_json.parse(text)
    expected = {**before, "mcpServers": {**before.get("mcpServers", {}), "rt-notebook": value}}
    assert setup_json.parse(after) == expected
    changed = setup_json.with_entry(after, path, {"command": "q"})
    assert setup_json.parse(changed)["mcpServers"]["rt-notebook"] == {"command": "q"}
    gone = setup_json.without_entry(after, path)
    if before.get("mcpServers"):
        assert gone == text
    assert setup_json.parse(gone) == {**before, "mcpServers": before.get("mcpServers", {})}
    if "\r\n" in text:
        assert after.count("\n") == after.count("\r\n")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a = 1\n",
        "a = 1",
        TABLES,
        "[mcp_servers]\n",
        "[[list]]\nx = 1\r\n\r\n[[list]]\r\nx = 2\r\n",
        'a = """\n[mcp_servers.rt-notebook]\n"""\n',
    ],
)
def test_table_of_any_toml_file_comes_and_goes(text: str) -> None:
    path, value = ("mcp_servers", "rt-notebook"), {"command": "p\\q", "args": ["-m"]}
    before = setup_toml.parse(text)
    if '"""' in text:
        # A table that only looks like one: the check of what is written refuses such a file.
        assert setup_toml.with_table(text, path, value) != text
        return
    after = setup_toml.with_table(text, path, value)
    servers = {**before.get("mcp_servers", {}), "rt-notebook": value}
    assert setup_toml.parse(after) == {**before, "mcp_servers": servers}
    gone = setup_toml.without_table(after, path)
    assert gone.rstrip("\r\n") == text.rstrip("\r\n")
    below = after + '\n[mcp_servers."rt-notebook".env]\nA = "1"\n'
    assert setup_toml.parse(setup_toml.without_table(below, path)) == setup_toml.parse(gone)
