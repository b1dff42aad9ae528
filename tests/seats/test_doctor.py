"""The doctor: what it finds, what it says to do, and that it asks no model unless it's told to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import rt_notebook as rt
from rt_notebook.frontends.doctor import main
from rt_notebook.frontends.doctor_report import Finding, Report
from rt_notebook.frontends.verbs import read_verb
from rt_notebook.providers.cli.vendors import VENDORS
from tests.providers.cli.fakes import fake
from tests.seats.table import KEYS
from tests.wire.script import Fail, Say
from tests.wire.server import WireServer

pytestmark = pytest.mark.filterwarnings("ignore:.*will reach end-of-life:DeprecationWarning")

_CLAUDE = """
import json
if "--version" in sys.argv:
    say("1.2.3 (Claude Code)")
elif "status" in sys.argv:
    say('{"loggedIn": %s, "authMethod": "claude.ai"}')
else:
    open(%r, "a").write("asked")
    result = {"type": "result", "is_error": False, "result": "OK", "modelUsage": {}}
    say(json.dumps(result) + "\\n")
"""


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Puts a logged-in `claude` on PATH, and nothing else; returns the file that calls leave."""
    asked = tmp_path / "asked"
    fake(tmp_path, _CLAUDE % ("true", str(asked)), "claude")
    monkeypatch.setenv("PATH", str(tmp_path))
    return asked


def _one(report: Report, area: str, name: str) -> Finding:
    return next(found for found in report.findings if (found.area, found.name) == (area, name))


def test_doctor_finds_what_can_be_used(commands: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEYS["OPENAI_API_KEY"])
    report = rt.doctor()
    claude = _one(report, "Providers", "cli:claude")
    assert (claude.state, claude.next_step) == ("ok", "")
    assert claude.detail.startswith("1.2.3, logged in (claude.ai)")
    missing = {
        name: (found.state, found.next_step)
        for name in VENDORS
        if (found := _one(report, "Providers", f"cli:{name}")).name != claude.name
    }
    assert missing == {
        "codex": ("missing", "npm install -g @openai/codex"),
        "gemini": ("missing", "npm install -g @google/gemini-cli"),
        "opencode": ("missing", "npm install -g opencode-ai"),
        "antigravity": ("missing", "see antigravity.google/docs/cli"),
    }
    assert _one(report, "Providers", "openai").detail.startswith("key in OPENAI_API_KEY; ")
    assert _one(report, "Providers", "anthropic").next_step.startswith("set ANTHROPIC_API_KEY")
    assert _one(report, "Front end", "program").state == "ok"
    assert _one(report, "Store", "size").detail == "not made yet"
    assert {found.name for found in report.findings if found.area == "Seats"} == {"pm", "dev", "rv"}
    assert report.problems == []
    assert not commands.exists()
    text = str(report)
    assert KEYS["OPENAI_API_KEY"] not in text + json.dumps(report.to_json())
    assert "PROVIDERS" in text
    assert "-> npm install -g @openai/codex" in text


def test_missing_login_names_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake(tmp_path, _CLAUDE % ("false", str(tmp_path / "asked")), "claude")
    monkeypatch.setenv("PATH", str(tmp_path))
    found = _one(rt.doctor(), "Providers", "cli:claude")
    assert (found.state, found.next_step) == ("missing", "claude auth login")


def test_live_says_what_it_spends_before_it_asks(
    commands: Path, wire: WireServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEYS["OPENAI_API_KEY"])
    monkeypatch.setenv("MY_KEY", KEYS["ANTHROPIC_API_KEY"])
    user = tmp_path / "own.toml"
    user.write_text(
        f"[seats.gpt]\nmodel = 'openai:gpt-5'\nbase_url = '{wire.base_url('responses')}'\n"
        f"[seats.ada]\nmodel = 'anthropic:claude-sonnet-4-6'\napi_key_env = 'MY_KEY'\n"
        f"base_url = '{wire.base_url('anthropic')}'\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("RT_NOTEBOOK_CONFIG", str(user))
    wire.script(Say("OK"), model="gpt-5")
    wire.script(Fail(401, message="bad key"), model="claude-sonnet-4-6")
    said: list[tuple[str, int]] = []

    report = rt.doctor(live=True, say=lambda text: said.append((text, len(wire.asked))))

    ((text, asked_before),) = said
    assert asked_before == 0
    assert "gpt (openai:gpt-5), ada (anthropic:claude-sonnet-4-6), claude (cli:claude)" in text
    assert "at most about 0.00" in text
    assert "1 without a known price" in text
    assert _one(report, "Live", "gpt").state == "ok"
    assert "USD" in _one(report, "Live", "gpt").detail
    assert _one(report, "Live", "ada").state == "problem"
    assert _one(report, "Live", "ada").detail.startswith("auth: ")
    assert _one(report, "Live", "claude").state == "ok"
    assert commands.read_text(encoding="utf-8") == "asked"
    assert len(wire.asked) == 2


@pytest.mark.usefixtures("commands")
def test_seat_that_cannot_sit_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    user = tmp_path / "own.toml"
    user.write_text("[seats.x]\nmodel = 'openai:gpt-5'", encoding="utf-8")
    monkeypatch.setenv("RT_NOTEBOOK_CONFIG", str(user))
    assert main([]) == 1
    assert "no key: set the environment variable OPENAI_API_KEY" in " ".join(
        capsys.readouterr().out.split()
    )
    with pytest.raises(rt.OptionError, match="doctor takes nothing but --live"):
        main(["--lively"])


@pytest.mark.usefixtures("commands")
def test_broken_file_and_store_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    user = tmp_path / "own.toml"
    user.write_text("[sets]", encoding="utf-8")
    monkeypatch.setenv("RT_NOTEBOOK_CONFIG", str(user))
    store = tmp_path / "debates.db"
    store.write_bytes(b"no database at all, but long enough to be looked at" * 40)
    monkeypatch.setenv("RT_NOTEBOOK_STORE", str(store))
    report = rt.doctor()
    assert "did you mean 'seats'" in _one(report, "Files", "configuration").detail
    assert "is no database" in _one(report, "Store", "size").detail
    assert len(report.problems) == 2


def test_report_shows_text_safely() -> None:
    report = Report((Finding("A", "b", "ok", "<script>\x1b[31m", "c"),))
    assert "<script>" not in report._repr_html_()
    assert "\x1b" not in str(report)


def test_verb_takes_the_flag_without_a_value() -> None:
    command = read_verb("doctor --live")
    assert command is not None
    assert command.options == {"live": ""}
    with pytest.raises(rt.OptionError, match="--live takes no value"):
        read_verb("doctor --live=yes")
