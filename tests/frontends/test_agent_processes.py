"""Agents, runners and notebooks as real processes on one store."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import rt_notebook as rt
from tests.frontends.agents import (
    ASKING,
    AgentShell,
    bodies,
    end_runners,
    kinds,
    pid_of,
    wait_until,
)


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[AgentShell]:
    """Gives a shell in a folder of its own; no runner outlives the test."""
    yield AgentShell(tmp_path)
    end_runners()


def _hanging(folder: Path) -> dict[str, Any]:
    """A review in which one seat hangs in its second round, whenever it is asked."""
    path = folder / "script.toml"
    path.write_text(
        'steps = [{ say = { stance = "Wait" } }, { hang = true }, { hang = true }]\n',
        encoding="utf-8",
    )
    seats = [{"name": "pm"}, {"name": "slow", "model": f"scripted:{path}"}]
    return {**ASKING, "seats": seats, "gates": "off", "loop_threshold": 0}


def test_agent_that_knows_only_the_guide_plays_a_review(shell: AgentShell) -> None:
    guide = shell.agent("guide")["guide"]
    debate = re.search(r"^1\. .*?: (\{.*\})$", guide, re.M)
    assert debate is not None
    (shell.folder / "debate.json").write_text(debate[1], encoding="utf-8")
    check, start, wait, answer = re.findall(r"^\d\. `([^`]+)`", guide, re.M)
    said = re.search(r"returns `id`, say ([a-z0-9-]+)", guide)
    assert said is not None

    estimate = shell.line(check).answer["estimate"]
    assert estimate["calls"] == {"min": 3, "expected": 5, "max": 10}
    found = shell.line(start).answer
    name = found["id"]
    assert found["status"] in ("running", "waiting")
    found = shell.line(wait.replace(said[1], name)).answer

    seen = []
    while (kind := found["next_action"]["type"]) != "none":
        seen.append(kind)
        assert len(seen) < 10, seen
        assert found["watch"].endswith(f"watch {name}")
        line = found["next_action"]["wait_command"]
        if kind == "ask_user":
            line = found["next_action"]["command"].replace("...", "Eight thousand euros")
        found = shell.line(line).answer

    assert "ask_user" in seen
    assert (found["status"], found["verdict"]["status"]) == ("done", "ready")
    assert found["verdict"]["pick"] in ("opt-1", "opt-2", "opt-3", "none")
    given = bodies(name, "gate_answered")[0]
    assert given["source"] == "agent"
    assert given["answers"]["q1"] == "Eight thousand euros"
    # The guide's own form of an answer is one, too.
    words = shlex.split(answer)
    assert json.loads(words[words.index("--input") + 1])["answers"][0]["id"] == "q1"
    shown = shell.agent("show", "--id", name)
    assert "Eight thousand euros" in " ".join(shown["text"].split())
    assert shown["brief"]["options"] == json.loads(debate[1])["options"]


def test_start_returns_while_the_debate_goes_on(shell: AgentShell) -> None:
    began = time.monotonic()
    found = shell.agent("start", input=ASKING)
    assert time.monotonic() - began < 10
    pid = pid_of(found["id"])
    # Nobody's child any more, in a session of its own: it survives whoever started it.
    assert os.getsid(pid) == pid != os.getsid(0)
    assert shell.agent("wait", "--id", "last")["next_action"]["type"] == "ask_user"
    log = Path(os.environ["RT_NOTEBOOK_STORE"]).parent / "logs" / f"{found['id']}.log"
    assert f"debate {found['id']} runs in process {pid}" in log.read_text(encoding="utf-8")
    if os.name == "posix":
        assert (log.stat().st_mode & 0o777, log.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    running = shell.agent("status")["running"]
    assert [row["id"] for row in running] == [found["id"]]
    shell.agent("stop", "--id", found["id"])
    assert bodies(found["id"], "stop_asked") == [{"source": "agent"}]


def test_runner_reads_no_module_of_the_folder(shell: AgentShell) -> None:
    (shell.folder / "json.py").write_text("raise SystemExit('a stranger ran')", encoding="utf-8")
    (shell.folder / "rt_notebook.py").write_text("raise SystemExit('here too')", encoding="utf-8")
    found = shell.agent("start", input={**ASKING, "gates": "off"})
    assert shell.agent("wait", "--id", found["id"])["status"] == "done"


def test_python_answers_what_an_agent_started(shell: AgentShell) -> None:
    name = shell.agent("start", input=ASKING)["id"]
    waited = rt.wait(name, 20)
    assert waited.gate is not None
    rt.answer(name, round=0, answers={"q1": "From Python"})
    found = shell.agent("wait", "--id", name)
    assert found["gate"] is None or found["gate"]["round"] == 1
    assert bodies(name, "gate_answered")[0]["source"] == "person"


def test_shown_gate_is_not_reported_again(shell: AgentShell) -> None:
    name = shell.agent("start", input=ASKING)["id"]
    assert shell.agent("wait", "--id", name)["next_action"]["type"] == "ask_user"
    began = time.monotonic()
    found = shell.agent("wait", "--id", name, "--after-round", "0", "--seconds", "1")
    assert time.monotonic() - began >= 1
    assert found["next_action"]["type"] == "await_user"
    assert "Never answer for them" in found["next_action"]["instruction"]
    held = shell.line(found["next_action"]["hold_command"]).answer
    assert held["gate"]["holds_left"] == 2
    assert bodies(name, "gate_held")[0]["source"] == "agent"


def test_killed_runner_is_resumed_without_repeats(shell: AgentShell) -> None:
    name = shell.agent("start", input=_hanging(shell.folder))["id"]
    wait_until(lambda: kinds(name).count("reply_read") == 3)
    os.kill(pid_of(name), signal.SIGKILL)
    found = shell.agent("wait", "--id", name, "--seconds", "15")
    assert (found["status"], found["next_action"]["type"]) == ("interrupted", "resume")
    finished = [body["call"] for body in bodies(name, "call_finished")]
    again = shell.line(found["next_action"]["command"])
    assert again.status == 0
    ended = shell.agent("finish", "--id", name)
    while ended["next_action"]["type"] == "wait":
        ended = shell.agent("wait", "--id", name)
    assert (ended["status"], ended["stop_reason"]) == ("done", "finished")
    calls = [body["call"] for body in bodies(name, "call_finished")]
    assert calls[: len(finished)] == finished
    assert len(set(calls)) == len(calls)
    assert bodies(name, "resumed")[0]["source"] == "agent"


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize("name_of", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_signalled_runner_interrupts_its_debate(shell: AgentShell, name_of: str) -> None:
    name = shell.agent("start", input=_hanging(shell.folder))["id"]
    wait_until(lambda: kinds(name).count("reply_read") == 3)
    os.kill(pid_of(name), getattr(signal, name_of))
    wait_until(lambda: kinds(name)[-1] == "interrupted")
    assert shell.agent("status", "--id", name)["status"] == "interrupted"


def test_stopped_debate_gets_its_verdict_apart(shell: AgentShell) -> None:
    name = shell.agent("start", input=ASKING)["id"]
    shell.agent("wait", "--id", name)
    stopped = shell.agent("stop", "--id", name)
    while stopped["next_action"]["type"] == "wait":
        stopped = shell.agent("wait", "--id", name)
    assert (stopped["status"], stopped["next_action"]["type"]) == ("stopped", "verdict")
    found = shell.line(stopped["next_action"]["command"]).answer
    while found["next_action"]["type"] == "wait":
        found = shell.agent("wait", "--id", name)
    assert (found["status"], found["verdict"]["status"]) == ("done", "ready")
    extended = shell.agent("extend", "--id", name, input={"prompt": "Go deeper.", "rounds": 1})
    assert extended["id"] == name
    assert "extended" in kinds(name)


def test_human_seat_is_answered_by_its_text(shell: AgentShell) -> None:
    seats = [{"name": "pm"}, {"name": "me", "model": "human"}]
    debate = {**ASKING, "seats": seats, "rounds": 0, "gates": "off"}
    name = shell.agent("start", input=debate)["id"]
    found = shell.agent("wait", "--id", name)
    assert found["next_action"]["type"] == "ask_user"
    assert [turn["seat"] for turn in found["turns"]] == ["me"]
    bad = shell.try_agent("answer", "--id", name, input={"round": 0, "seat": "me", "text": "hm"})
    assert bad.status == 1
    assert bad.answer["error"]["kept"] == {"text": "hm"}
    text = "STANCE: Wait\\nAGREE_WITH: []\\nDISAGREE: none\\nNEW: none\\nASSUMPTIONS: none"
    ended = shell.line(found["next_action"]["command"].replace("...", text)).answer
    while ended["next_action"]["type"] == "wait":
        ended = shell.agent("wait", "--id", name)
    assert ended["status"] == "done"
    assert ended["tally"]["opt-2"]


def test_word_is_said_in_a_running_discussion(shell: AgentShell) -> None:
    seats = [{"name": "pm"}, {"name": "me", "model": "human"}]
    name = shell.agent("start", input={"question": "How do we name things?", "seats": seats})["id"]
    found = shell.agent("wait", "--id", name)
    assert (found["kind"], found["next_action"]["type"]) == ("discussion", "ask_user")
    shell.agent("answer", "--id", name, input={"message": "Keep it short."})
    assert bodies(name, "interjection") == [{"text": "Keep it short.", "source": "agent"}]
    ended = shell.line(found["next_action"]["command"].replace("...", "By what they do.")).answer
    while ended["next_action"]["type"] == "wait":
        ended = shell.agent("wait", "--id", name)
    assert (ended["status"], ended["summary"]["status"]) == ("done", "ready")


def test_replay_runs_apart_and_calls_nobody(shell: AgentShell) -> None:
    debate = {**ASKING, "gates": "off", "record": str(shell.folder / "kept.jsonl")}
    names = []
    for _ in range(2):
        found = shell.agent("start", input=debate)
        while found["next_action"]["type"] == "wait":
            found = shell.agent("wait", "--id", found["id"])
        assert found["verdict"]["status"] == "ready"
        names.append(found["id"])
    assert names[0] == names[1]
    assert shell.agent("check", input=debate)["estimate"]["calls"]["max"] == 0
