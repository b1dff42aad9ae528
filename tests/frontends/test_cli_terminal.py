"""`rt-notebook` on a real pseudo-terminal: gates, watching, and the signals that end it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import rt_notebook as rt
from tests.frontends.agents import (
    ASKING,
    PROGRAM,
    AgentShell,
    bodies,
    end_runners,
    kinds,
    wait_until,
)
from tests.frontends.terminal_session import TerminalSession

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs pseudo-terminals")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Gives a folder with a debate that asks and one that hangs."""
    (tmp_path / "asking.json").write_text(json.dumps(ASKING), encoding="utf-8")
    (tmp_path / "script.toml").write_text(
        'steps = [{ say = { stance = "Wait" } }, { hang = true }, { hang = true }]\n',
        encoding="utf-8",
    )
    seats = ["pm", f"slow=scripted:{tmp_path / 'script.toml'}"]
    hanging = {**ASKING, "seats": seats, "gates": "off", "loop_threshold": 0}
    (tmp_path / "hanging.json").write_text(json.dumps(hanging), encoding="utf-8")
    yield tmp_path
    end_runners()


def _type(terminal: TerminalSession, *lines: str) -> None:
    """Type a line at each prompt; what is typed before one is there is dropped."""
    for line in lines:
        terminal.wait_for("left >")
        terminal.type(f"{line}\r")


def _terminal(folder: Path, *words: str) -> TerminalSession:
    return TerminalSession([*PROGRAM, *words], dict(os.environ), folder)


def test_gate_is_answered_in_the_terminal(folder: Path) -> None:
    with _terminal(folder, "run", "asking.json") as terminal:
        terminal.wait_for("q1")
        wait_until(lambda: "gate_opened" in kinds("last"))
        _type(terminal, "Eight thousand", "", "")
        terminal.wait_for("VERDICT", 30)
        assert terminal.wait_end() == 0
    (answered, *_) = bodies("last", "gate_answered")
    assert answered["source"] == "person"
    assert "Eight thousand" in answered["answers"].values()


def test_gate_is_answered_by_an_agent(folder: Path) -> None:
    with _terminal(folder, "run", "asking.json", "--rounds", "1") as terminal:
        terminal.wait_for("q1")
        wait_until(lambda: "gate_opened" in kinds("last"))
        given = {"round": 0, "answers": [{"id": "q1", "text": "By an agent"}]}
        AgentShell(folder).agent("answer", "--id", "last", input=given)
        terminal.wait_for("By an agent")
        terminal.wait_for("VERDICT", 30)
        assert terminal.wait_end() == 0
    assert bodies("last", "gate_answered")[0]["source"] == "agent"


def test_watched_debate_is_answered_from_the_terminal(folder: Path) -> None:
    shell = AgentShell(folder)
    name = shell.agent("start", input=ASKING)["id"]
    assert shell.agent("wait", "--id", name)["next_action"]["type"] == "ask_user"
    with _terminal(folder, "watch", name) as terminal:
        terminal.wait_for("Opening")
        terminal.wait_for("q1")
        _type(terminal, "From the terminal", "", "")
        terminal.wait_for("VERDICT", 30)
        assert terminal.wait_end() == 0
    assert bodies(name, "gate_answered")[0]["source"] == "person"
    assert "From the terminal" in bodies(name, "gate_answered")[0]["answers"].values()


def test_looking_away_leaves_the_debate_running(folder: Path) -> None:
    shell = AgentShell(folder)
    name = shell.agent("start", input=ASKING)["id"]
    shell.agent("wait", "--id", name)
    with _terminal(folder, "watch", name) as terminal:
        terminal.wait_for("q1")
        terminal.type("\x03")
        terminal.wait_for("No longer watching")
        assert terminal.wait_end() == 130
    assert rt.state(name).status == "waiting"


@pytest.mark.parametrize("how", ["key", "SIGTERM", "SIGHUP"])
def test_interrupted_run_is_kept_and_exits_130(folder: Path, how: str) -> None:
    with _terminal(folder, "run", "hanging.json") as terminal:
        terminal.wait_for("Round 1")
        wait_until(lambda: kinds("last").count("reply_read") == 3)
        if how == "key":
            terminal.type("\x03")
        else:
            os.kill(terminal.process.pid, getattr(signal, how))
        assert terminal.wait_end() == 130
        assert f"resume {rt.load('last').id}` goes on" in " ".join(terminal.shown.split())
    found = rt.load("last")
    assert (found.status, found.stop_reason) == ("interrupted", "interrupted")
    assert kinds("last").count("reply_read") == 3


def test_terminal_echoes_again_after_a_signal(folder: Path) -> None:
    """At a prompt the terminal is raw; whoever gets it back must see what they type."""
    import termios

    with _terminal(folder, "run", "asking.json") as terminal:
        before = termios.tcgetattr(terminal._slave)[3]
        terminal.wait_for("q1")
        wait_until(lambda: "gate_opened" in kinds("last"))
        os.kill(terminal.process.pid, signal.SIGTERM)
        assert terminal.wait_end() == 130
        assert termios.tcgetattr(terminal._slave)[3] == before
    assert rt.load("last").status == "interrupted"


def test_closed_terminal_interrupts_the_run(folder: Path) -> None:
    """The window is closed: the kernel sends SIGHUP, and nothing can be written any more."""
    terminal = _terminal(folder, "run", "hanging.json")
    terminal.wait_for("Round 1")
    wait_until(lambda: kinds("last").count("reply_read") == 3)
    os.close(terminal._slave)
    os.close(terminal.master)
    assert terminal.process.wait(20) == 130
    assert rt.load("last").status == "interrupted"


@pytest.mark.parametrize("number", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_signal_without_a_terminal_exits_130(folder: Path, number: str) -> None:
    process = subprocess.Popen(
        [*PROGRAM, "run", "hanging.json", "--json"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    wait_until(lambda: bool(rt.debates().size) and kinds("last").count("reply_read") == 3)
    process.send_signal(getattr(signal, number))
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130
    found = json.loads(out)
    assert (found["status"], found["next_action"]["type"]) == ("interrupted", "resume")
    assert "goes on" in err


def test_nohup_outlives_its_terminal(folder: Path) -> None:
    ignoring = (
        "import os, signal, sys; signal.signal(signal.SIGHUP, signal.SIG_IGN);"
        "os.execv(sys.argv[1], sys.argv[1:])"
    )
    process = subprocess.Popen(
        [PROGRAM[0], "-c", ignoring, *PROGRAM, "run", "hanging.json", "--json"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    wait_until(lambda: bool(rt.debates().size) and kinds("last").count("reply_read") == 3)
    process.send_signal(signal.SIGHUP)
    rt.finish("last")
    assert process.wait(20) == 0
    process.communicate()
