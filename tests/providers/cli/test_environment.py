"""What of this process's surroundings reaches a command, and how a command is found."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from rt_notebook.errors import SeatError
from rt_notebook.providers.cli.environment import (
    account_home,
    beside_proxies,
    check_account,
    find_command,
    scrubbed,
    secrets_in,
)

SESSION = [
    "CLAUDECODE", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_EFFORT", "AI_AGENT", "CODEX_THREAD_ID", "CODEX_SANDBOX_NETWORK_DISABLED", "GEMINI_CLI",
    "GEMINI_CLI_TRUST_WORKSPACE", "OPENCODE", "OPENCODE_PID", "AGENT",
]  # fmt: skip
KEYS = [
    "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN",
    "ANTHROPIC_CUSTOM_HEADERS", "OPENAI_API_KEY", "CODEX_API_KEY", "GEMINI_API_KEY",
    "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "OPENCODE_API_KEY", "OPENROUTER_API_KEY",
    "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN",
]  # fmt: skip
ROUTES = [
    "ANTHROPIC_BASE_URL", "CLAUDE_CODE_USE_BEDROCK", "OPENAI_BASE_URL", "GOOGLE_GEMINI_BASE_URL",
    "GOOGLE_GENAI_API_VERSION", "OPENCODE_CONFIG", "OPENCODE_MODELS_URL", "ANTHROPIC_MODEL",
    "GEMINI_SYSTEM_MD", "NODE_OPTIONS", "PYTHONPATH", "LD_PRELOAD",
]  # fmt: skip
CANARY = "canary-93fd1c"


def loaded_parent(folder: Path) -> dict[str, str]:
    """Returns the environment of a person who has everything set that must not pass."""
    found = dict.fromkeys([*SESSION, *KEYS, *ROUTES], CANARY)
    return found | {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8"}


def test_only_listed_variables_pass(tmp_path: Path) -> None:
    parent = loaded_parent(tmp_path) | {"LC_ALL": "C.UTF-8", "TZ": "UTC", "EMPTY": "", "USER": ""}
    found = scrubbed(parent, Path("/place/tmp"))
    assert CANARY not in found.values()
    assert set(found) == {"PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "TEMP", "TMP"}
    assert found["TMPDIR"] == str(Path("/place/tmp"))


def test_key_ring_is_for_logins_alone() -> None:
    parent = {"PATH": "/bin", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/run/bus"}
    assert "DBUS_SESSION_BUS_ADDRESS" in scrubbed(parent, Path("/t"))
    assert "DBUS_SESSION_BUS_ADDRESS" not in scrubbed(parent, Path("/t"), logins=False)


def test_relative_places_of_path_do_not_pass() -> None:
    path = os.pathsep.join(["", ".", "bin", "/usr/bin", "../x"])
    assert scrubbed({"PATH": path}, Path("/t"))["PATH"] == "/usr/bin"
    assert scrubbed({}, Path("/t"))["PATH"] == ""


@pytest.mark.parametrize(
    ("url", "parent", "expected"),
    [
        ("http://127.0.0.1:8080/v1", {}, "127.0.0.1"),
        ("http://localhost:1", {"NO_PROXY": "example.org"}, "example.org,localhost"),
        ("https://api.example.org", {"HTTPS_PROXY": "http://proxy"}, None),
    ],
)
def test_local_endpoint_is_beside_proxies(
    url: str, parent: dict[str, str], expected: str | None
) -> None:
    assert beside_proxies(url, parent).get("NO_PROXY") == expected


def test_proxy_passwords_are_secrets() -> None:
    parent = {"HTTPS_PROXY": "http://me:hunter22@proxy:1", "HTTP_PROXY": "http://proxy:1"}
    assert secrets_in(parent) == ["hunter22"]
    assert secrets_in({"ALL_PROXY": "http://[broken"}) == ["http://[broken"]


def _program(path: Path, text: str = "#!/bin/sh\n") -> str:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o700)
    return str(path)


def test_first_program_on_path_is_taken(tmp_path: Path) -> None:
    (tmp_path / "a" / "claude").mkdir(parents=True)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "claude").write_text("no program", encoding="utf-8")
    (tmp_path / "b" / "claude").chmod(0o600)
    wanted = _program(tmp_path / "c" / "claude")
    _program(tmp_path / "d" / "claude")
    path = os.pathsep.join(str(tmp_path / place) for place in "abcd")
    assert find_command("claude", {"PATH": path}) == (wanted,)
    assert find_command("codex", {"PATH": path}) is None
    assert find_command(wanted, {"PATH": ""}) == (wanted,)
    assert find_command(wanted + "x", {"PATH": path}) is None


def test_program_in_current_folder_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _program(tmp_path / "claude")
    monkeypatch.chdir(tmp_path)
    assert find_command("claude", {"PATH": os.pathsep.join(["", ".", "/usr/bin"])}) is None


def test_npm_shim_of_windows_is_run_by_node(tmp_path: Path) -> None:
    shim = '@ECHO off\r\n"%_prog%"  "%dp0%\\node_modules\\@openai\\codex\\bin\\codex.js" %*\r\n'
    _program(tmp_path / "npm" / "codex.cmd", shim)
    node = _program(tmp_path / "node" / "node.exe")
    path = os.pathsep.join([str(tmp_path / "npm"), str(tmp_path / "node")])
    script = tmp_path / "npm" / "node_modules" / "@openai" / "codex" / "bin" / "codex.js"
    assert find_command("codex", {"PATH": path}, windows=True) == (node, str(script))
    assert find_command("codex", {"PATH": str(tmp_path / "npm")}, windows=True) is None
    # npm's third file, a script for other systems, is nothing that Windows runs.
    _program(tmp_path / "npm" / "codex")
    assert find_command("codex", {"PATH": str(tmp_path / "npm")}, windows=True) is None
    exe = _program(tmp_path / "npm" / "codex.exe")
    assert find_command("codex", {"PATH": path}, windows=True) == (exe,)


@pytest.mark.parametrize("name", ["work", "a", "a.b_c-9", "x" * 40, "-x"])
def test_good_names_of_accounts(name: str) -> None:
    assert check_account(name) == name
    home = account_home(name, "claude")
    assert home.parts[-3:] == ("homes", name, "claude")
    assert "rt_notebook" in home.parts


@pytest.mark.parametrize(
    "name", ["", ".", "..", ".work", "a/b", "a\\b", "x" * 41, "ž", "a b", "a\n"]
)
def test_bad_names_of_accounts(name: str) -> None:
    with pytest.raises(SeatError, match=re.escape("1 to 40 of letters, digits, '.', '_' and '-'")):
        check_account(name)
