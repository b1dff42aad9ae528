"""What agents' commands do to whoever runs them, told by whole reviews with small fake commands."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rt_notebook as rt
from rt_notebook.providers.cli.environment import find_command
from tests.cases.catalogue import case, given
from tests.cases.reviews import hear, others, review, row_of
from tests.engine.debates import reply
from tests.providers.cli.fakes import alive, fake

SAYS = reply("opt-2", "The command says so.")
# Reads its whole prompt first, as the real one does, and answers in its form.
ANSWERS = """
import json
prompt = sys.stdin.read()
def event(**fields):
    say(json.dumps(fields, ensure_ascii=False) + "\\n")
def answer(text):
    event(type="result", subtype="success", is_error=False, result=text)
"""

Command = Callable[..., Path]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Returns a function that puts a fake command on a PATH of its own; it returns the folder."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("HOME", str(tmp_path))

    def put(body: str, name: str = "claude") -> Path:
        fake(folder, body, name)
        return folder

    return put


def _with(model: str = "cli:claude", **settings: Any) -> rt.Result:
    """Returns a review of the opening alone, in which the seat `ana` runs a command."""
    fields = {name: settings.pop(name) for name in ("timeout_s", "stall_s") if name in settings}
    ana = rt.Seat("ana", model=model, **{"timeout_s": 30, **fields})
    settings = {"rounds": 0, "chairman": "scripted", **settings}
    return review(ana, *others(), **settings).run_sync()


def _stance(result: rt.Result) -> str | None:
    found: str | None = row_of(result, "ana", 0)["stance_key"]
    return found


def _failure(result: rt.Result) -> tuple[str, str]:
    """Returns kind and message of the one failed call."""
    (body,) = [event.body for event in result.events if event.kind == "call_failed"]
    return body["error"], body["message"]


@case("a4-cli-01")
def test_command_that_reads_to_the_end_of_its_input_answers(command: Command) -> None:
    command(f"{ANSWERS}\nanswer({SAYS!r})")
    began = time.monotonic()
    assert _stance(_with()) == "opt-2"
    assert time.monotonic() - began < 3


_IN_A_CHILD = """
import json, sys, time
import rt_notebook as rt
from rt_notebook.domain.script import say
began = time.monotonic()
seats = [rt.Seat("ana", model="cli:claude", timeout_s=20),
         rt.Seat("bo", model=rt.scripted([say(stance="support")]))]
result = rt.Review("Shall we?", options=["support", "against"], seats=seats, rounds=0,
                   unattended=True, chairman="scripted", record=sys.argv[1]).run_sync()
row = result.replies.iloc[0]
print(json.dumps([row.stance_key, list(row.new), time.monotonic() - began]))
"""


@case("a4-cli-02", "a4-cli-03", "a4-win-28")
def test_command_answers_without_terminal_input_or_locale(command: Command, tmp_path: Path) -> None:
    """An input that never closes, no terminal, TERM=dumb, and a locale that knows no UTF-8."""
    words = "cost ≥ 3 € — 支持"
    text = reply("opt-1").replace("NEW:", f"NEW:\n- {words}")
    command(f"{ANSWERS}\nanswer({text!r})")
    record = tmp_path / "r.jsonl"
    environment = {**os.environ, "TERM": "dumb", "LC_ALL": "C", "PYTHONUTF8": "0",
                   "PYTHONCOERCECLOCALE": "0"}  # fmt: skip
    with subprocess.Popen(
        [sys.executable, "-c", _IN_A_CHILD, str(record)], env=environment, cwd=tmp_path,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        start_new_session=True,
    ) as child:  # fmt: skip
        assert child.stdout is not None
        assert child.stderr is not None
        out, err = child.stdout.read(), child.stderr.read()
    assert child.returncode == 0, err.decode()
    key, new, seconds = json.loads(out.decode().splitlines()[-1])
    assert (key, new) == ("opt-1", [words])
    assert seconds < 10
    assert words in record.read_bytes().decode("utf-8")


@case("a3-bytes-44")
def test_characters_cut_between_two_reads_are_whole(command: Command) -> None:
    text = reply("opt-1").replace("NEW:", "NEW:\n- 支持 🚀")
    by_bytes = f"""{ANSWERS}
line = json.dumps({{"type": "result", "is_error": False, "result": {text!r}}}, ensure_ascii=False)
for byte in (line + "\\n").encode():
    say(bytes([byte]))
"""
    command(by_bytes)
    row = row_of(_with(), "ana", 0)
    assert (row["stance_key"], row["new"]) == ("opt-1", ["支持 🚀"])


@case("a4-stream-06")
def test_empty_result_leaves_the_answer_of_the_message(command: Command) -> None:
    """The report's lines, with the flag that today's command always sends."""
    first, last = (json.loads(line) for line in given("a4-stream-06").split("\n"))
    first["message"]["content"][0]["text"] = SAYS
    lines = [json.dumps(first), json.dumps({**last, "is_error": False})]
    command(f"{ANSWERS}\nfor line in {lines!r}:\n    say(line + '\\n')")
    assert _stance(_with()) == "opt-2"
    lines = [json.dumps({**last, "is_error": False})]
    command(f"{ANSWERS}\nfor line in {lines!r}:\n    say(line + '\\n')")
    assert _failure(_with())[0] == "empty"


@case("a4-stream-21")
def test_last_message_of_a_turn_is_the_answer(command: Command) -> None:
    lines = given("a4-stream-21").split("\n")
    command(f"{ANSWERS}\nfor line in {lines!r}:\n    say(line + '\\n')", "codex")
    row = row_of(_with("cli:codex"), "ana", 0)
    assert (row["stance"], row["new"]) == ("against", ["latency"])
    assert "Let me think" not in row["text"]


@case("a4-cli-10")
def test_silent_failure_is_told_with_a_way_on(command: Command) -> None:
    command("sys.exit(1)")
    kind, message = _failure(_with())
    assert kind == "protocol"
    assert message.startswith("cli:claude: the command exited with code 1 without a final answer")
    assert " s it said nothing; run it by hand to see why, or `rt-notebook doctor`" in message


@case("a4-env-12", "a4-env-14")
@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("claude", {"ANTHROPIC_API_KEY": "x" * 20, "OPENAI_API_KEY": "y" * 20}),
        ("gemini", {"GEMINI_API_KEY": "z" * 20}),
    ],
)
def test_key_in_the_shell_moves_no_seat_off_its_login(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: Any, name: str,
    keys: dict[str, str],
) -> None:  # fmt: skip
    for variable, key in keys.items():
        monkeypatch.setenv(variable, key)
    seen = tmp_path / "seen.json"
    command(f"{ANSWERS}\nopen({str(seen)!r}, 'w').write(json.dumps(dict(os.environ)))", name)
    _with(f"cli:{name}")
    given_to_it = json.loads(seen.read_text(encoding="utf-8"))
    assert not set(keys) & set(given_to_it)
    assert not set(keys.values()) & set(given_to_it.values())
    # The table of seats says how each is paid for.
    shell.put(ana=rt.Seat("ana", model=f"cli:{name}"))
    table = shell.run("rt.seats()").set_index("name")
    assert table.loc["ana", "auth"] == "login"


@case("a4-cli-15")
@pytest.mark.parametrize("ends", ["forever()", "sys.exit(0)"], ids=["stays", "has gone"])
def test_stubborn_grandchild_ends_with_the_call(
    command: Command, tmp_path: Path, ends: str
) -> None:
    """Also where it is deaf to SIGTERM and its launcher has gone already."""
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(300)"
    folder = command(
        f"subprocess.Popen([sys.executable, '-S', '-c', {code!r}, {str(tmp_path)!r}])\n"
        f"time.sleep(0.2)\n{ends}"
    )
    kind, _ = _failure(_with(timeout_s=1))
    assert kind in ("timeout", "protocol")
    ends_at = time.monotonic() + 3
    while left := alive(folder.parent):
        assert time.monotonic() < ends_at, left
        time.sleep(0.02)


@case("a4-cli-17")
def test_line_of_five_megabytes_is_read_and_a_flood_is_stopped(command: Command) -> None:
    """The bound is 8 MiB of output; what comes beyond it isn't waited for, so nobody counts it."""
    command(f"{ANSWERS}\nevent(type='padding', text='x' * 5_000_000)\nanswer({SAYS!r})")
    assert _stance(_with()) == "opt-2"
    command(f"{ANSWERS}\nevent(type='padding', text='x' * 9_000_000)\nanswer({SAYS!r})")
    kind, message = _failure(_with())
    assert (kind, "longer than 8 MiB" in message) == ("output_limit", True)


@case("a4-cli-19")
def test_full_error_output_blocks_no_answer(command: Command) -> None:
    body = f"say('noise ' * 400_000, sys.stderr)\n{ANSWERS}\nanswer({SAYS!r})"
    command(body)
    result = _with()
    assert _stance(result) == "opt-2"
    assert not any("noise" in json.dumps(dict(event.body)) for event in result.events)
    command("say('noise ' * 400_000, sys.stderr)\nsys.exit(1)")
    _, message = _failure(_with())
    assert len(message) < 3_000


@case("a4-cli-24")
def test_words_before_the_answer_are_no_part_of_it(command: Command) -> None:
    """Lines for people, and a window's title stuck to the answer."""
    text = given("a4-cli-24")
    title = "\x1b]0;agent - repo\x07"
    assert title in text
    row = row_of(hear(f"{text}\nAGREE_WITH: none\nDISAGREE: none\nASSUMPTIONS: none"))
    assert (row["valid"], row["stance"], row["new"]) == (True, "support", [])
    before = text.partition(title)[0]
    command(f"{ANSWERS}\nsay({before!r})\nsay({title!r})\nanswer({SAYS!r})")
    assert _stance(_with()) == "opt-2"


@case("a4-cli-25")
@pytest.mark.parametrize("waits", ["sys.stdin.read()\nforever()", "open('/dev/tty').read()"])
def test_question_nobody_can_answer_is_quoted(command: Command, waits: str) -> None:
    command(f"say('Allow this tool? [y/N] ')\n{waits}")
    began = time.monotonic()
    kind, message = _failure(_with(timeout_s=3))
    assert time.monotonic() - began < 10
    assert kind in ("timeout", "protocol")
    assert "Allow this tool? [y/N]" in message or "/dev/tty" in message


@case("a4-win-27")
def test_command_of_windows_is_npms_cmd_file(tmp_path: Path) -> None:
    """The script behind the `.cmd` file is run by node; npm's file for other systems never is."""
    for name, text in {
        "claude": "#!/bin/sh\n",
        "claude.cmd": '"%dp0%\\node_modules\\claude\\cli.js" %*\r\n',
        "node.exe": "",
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        (tmp_path / name).chmod(0o700)
    script = str(tmp_path / "node_modules" / "claude" / "cli.js")
    path = {"PATH": str(tmp_path)}
    assert find_command("claude", path, windows=True) == (str(tmp_path / "node.exe"), script)
    (tmp_path / "claude.cmd").unlink()
    assert find_command("claude", path, windows=True) is None


@case("a4-win-29")
def test_long_prompt_goes_by_the_input(command: Command, tmp_path: Path) -> None:
    seen = tmp_path / "seen.json"
    command(
        f"{ANSWERS}\nsizes = [max(map(len, sys.argv)), len(prompt)]\n"
        f"open({str(seen)!r}, 'w').write(json.dumps(sizes))\nanswer({SAYS!r})"
    )
    assert _stance(_with(context="word " * 40_000)) == "opt-2"
    longest, prompt = json.loads(seen.read_text(encoding="utf-8"))
    assert longest < 1_000
    assert prompt > 200_000


@case("a4-cli-30", "a4-cli-32")
def test_each_round_is_one_fresh_call_without_settings(command: Command, tmp_path: Path) -> None:
    """No session is resumed, and no hooks, rules or servers of the user's are loaded."""
    seen = tmp_path / "seen.jsonl"
    command(
        f"{ANSWERS}\nopen({str(seen)!r}, 'a').write(json.dumps([sys.argv[1:], prompt]) + '\\n')\n"
        f"answer({SAYS!r})"
    )
    result = _with(rounds=1)
    assert result.status == "done"
    (first, opening), (second, critique) = (
        json.loads(line) for line in seen.read_text(encoding="utf-8").splitlines()
    )
    kept = [word for word in first if not word.startswith("/")]
    assert kept == [word for word in second if not word.startswith("/")]
    assert not {"--resume", "-r", "--continue", "-c", "--session-id"} & set(first)
    assert first[first.index("--setting-sources") + 1] == ""
    assert {"--strict-mcp-config", "--disable-slash-commands", "--no-session-persistence"} <= {
        *first
    }
    # What was said stands in the prompt, not in the command's memory.
    assert "The command says so." not in opening
    assert "The command says so." in critique


@case("a4-cli-32")
def test_what_still_leaks_in_is_told(command: Command) -> None:
    lines = given("a4-stream-21").split("\n")
    command(f"{ANSWERS}\nfor line in {lines!r}:\n    say(line + '\\n')", "codex")
    warnings = _with("cli:codex").warnings
    assert "cli:codex: AGENTS.md in its state folder reaches the model" in "\n".join(warnings)


@case("a4-cli-33")
def test_flag_that_is_gone_is_told_in_the_commands_words(command: Command, tmp_path: Path) -> None:
    """Asked once, and the doctor shows the version before any debate."""
    asked = tmp_path / "asked"
    command(
        f"if '--version' in sys.argv:\n    say('2.1.197 (Claude Code)')\n    sys.exit(0)\n"
        f"open({str(asked)!r}, 'a').write('x')\n"
        "say('error: unknown option -m\\n', sys.stderr)\nsys.exit(2)"
    )
    kind, message = _failure(_with())
    assert kind == "protocol"
    assert "exited with code 2 without a final answer; it said: error: unknown option" in message
    assert asked.read_text(encoding="utf-8") == "x"
    report = str(rt.doctor())
    assert "cli:claude" in report
    assert "2.1.197" in report


@case("a4-cli-34")
def test_command_beside_path_is_pointed_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A seat takes no path of its own: the message names the folder, and how to add it."""
    monkeypatch.setenv("PATH", "/nowhere-1:/nowhere-2")
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(rt.SeatError, match=r"'opencode' isn't on PATH \(/nowhere-1, /nowhere-2\)"):
        _with("cli:opencode")
    folder = tmp_path / ".local" / "bin"
    folder.mkdir(parents=True)
    fake(folder, f"{ANSWERS}\nanswer({SAYS!r})", "claude")
    with pytest.raises(rt.SeatError, match=rf"it is in {folder}: start Jupyter from a terminal"):
        _with()
    monkeypatch.setenv("PATH", f"/nowhere-1:{folder}")
    assert _stance(_with()) == "opt-2"


@case("a6-scn-11")
def test_what_a_command_prints_of_its_secrets_is_hidden(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-ant-Q7w8E9r0T1y2U3i4"
    monkeypatch.setenv("ANTHROPIC_API_KEY", key)
    command(
        "say('DB_PASSWORD=hunter22\\n' + os.environ['ANTHROPIC_API_KEY'], sys.stderr)\nsys.exit(1)"
    )
    result = _with(api_billing=True)
    _, message = _failure(result)
    assert "DB_PASSWORD=[hidden]" in message
    shown = [message, str(result), repr(result.events), result.calls.to_csv()]
    assert not any(word in text for text in shown for word in ("hunter22", key, key[-8:]))
