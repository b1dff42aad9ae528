"""`rt-notebook` without a terminal: help, files, options, exit statuses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

import rt_notebook as rt
from rt_notebook import session
from rt_notebook.contract.options import LINE_OPTIONS
from rt_notebook.frontends import cli
from rt_notebook.frontends.cli_help import CELL_ONLY
from rt_notebook.frontends.cli_words import COMMANDS
from tests.environment import ROOT
from tests.frontends.agents import ASKING, PROGRAM

CELL = """%%roundtable shipping --rounds 0
Ship now?

options:
- Ship
- Wait
"""


@pytest.fixture
def cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Gives a cell's file in a folder of its own, which is the working directory."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "cell.md"
    path.write_text(CELL, encoding="utf-8")
    return path


def _error(capsys: pytest.CaptureFixture[str]) -> str:
    out, err = capsys.readouterr()
    assert out == ""
    last = err.rstrip("\n").split("\n")[-1]
    assert last.startswith("rt-notebook: ")
    return last.removeprefix("rt-notebook: ")


# ---- help --------------------------------------------------------------------------------------


def test_help_is_there_in_no_time() -> None:
    # The quickest of some: a busy machine is no fault of the program's.
    took = []
    for _ in range(5):
        began = time.perf_counter()
        done = subprocess.run([*PROGRAM, "--help"], capture_output=True, encoding="utf-8")
        took.append(time.perf_counter() - began)
        assert (done.returncode, done.stderr) == (0, "")
        assert all(f"  {name}" in done.stdout for name in COMMANDS)
    assert min(took) < 0.2


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; from rt_notebook.frontends.cli import main; main(['run', '--help']);"
        "print(sorted({m.partition('.')[0] for m in sys.modules} & "
        "{'pydantic', 'pandas', 'IPython', 'rich', 'mcp', 'sqlite3', 'asyncio'}), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8")
    assert done.stderr.strip() == "[]"


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["run", "cell.md", "--help"],
        ["run", "--help", "--nonsense"],
        ["agent", "start", "--input", "cell.md", "--help"],
        ["resume", "last", "-h"],
        ["help", "mcp"],
        ["setup", "--client", "claude", "--help"],
    ],
)
def test_help_anywhere_starts_nothing(
    cell: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(words) == 0
    assert "rt-notebook" in capsys.readouterr().out
    assert session.rows() == []


def test_run_help_shows_the_one_table(capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["run", "--help"])
    shown = capsys.readouterr().out
    for name, option in LINE_OPTIONS.items():
        head = f"--[no-]{name}" if option.negatable else f"--{name}"
        assert (f"  {head}" in shown) == (name not in CELL_ONLY), name


def test_no_words_are_a_wrong_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 2
    assert "rt-notebook COMMAND" in capsys.readouterr().out


def test_console_script_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["scripts"] == {"rt-notebook": "rt_notebook.frontends.cli:main"}


def test_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == rt.__version__


# ---- wrong lines -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["rum"], "did you mean 'run'?"),
        (["run"], "needs a file"),
        (["run", "cell.md", "other.md"], "takes one file"),
        (["run", "cell.md", "--round", "2"], "did you mean '--rounds'?"),
        (["run", "cell.md", "--rounds"], "needs a value"),
        (["run", "cell.md", "--rounds", "many"], "takes a whole number"),
        (["run", "cell.md", "--background"], "agent start"),
        (["run", "cell.md", "--with", "x"], "--with belongs to a notebook's cell"),
        (["show"], "show needs more"),
        (["show", "a", "b"], "one word too many"),
        (["list", "--limit", "0"], "--limit"),
        (["list", "--limit", "x"], "whole number"),
        (["list", "--limit", "9" * 400], "whole number"),
        (["resume", "x", "--max-cost", "1e400"], "takes a number"),
        (["list", "--state", "done"], "did you mean '--status'?"),
        (["setup"], "setup needs --client"),
        (["delete"], "a debate's id or --older-than"),
        (["delete", "x", "--older-than", "9d"], "a debate's id or --older-than"),
        (["delete", "--older-than", "9"], "days such as 90d"),
        (["doctor", "--life"], "did you mean '--live'?"),
    ],
)
def test_wrong_line_exits_two(
    cell: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(words) == 2
    assert message in _error(capsys)
    assert session.rows() == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "can't be read: No such file"),
        ("", "the cell is empty"),
        ("%%roundtable --rouns 1\nQ?\n\noptions:\n- A\n- B\n", "did you mean '--rounds'?"),
        ("Q?\n\noptoins:\n- A\n- B\n", "looks like the section `options:`"),
        ("%%roundtable --with p95\nQ {p95}?\n\noptions:\n- A\n- B\n", "p95"),
        ("%%roundtable --seats a=python:os:abort,dev\nQ?\n\noptions:\n- A\n- B\n", "runs code"),
        ("Q?\n\noptions:\n- A\n- B\nseats:\n- a=python:os:abort\n- dev\n", "runs code"),
        ("%%roundtable --chairman python:os:abort\nQ?\n\noptions:\n- A\n- B\n", "runs code"),
        ('{"question": "Q?", "optoins": []}', "did you mean 'options'?"),
        ('{"question": ', "the input is no JSON"),
    ],
)
def test_file_that_does_not_fit_exits_one(
    cell: Path, text: str | None, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if text is None:
        cell.unlink()
    else:
        cell.write_text(text, encoding="utf-8")
    assert cli.main(["run", "cell.md"]) == 1
    assert message in _error(capsys)
    assert session.rows() == []


def test_unknown_debate_exits_one(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["show", "../../x"], ["watch", "nobody"], ["resume", "x"], ["verdict", "x"]):
        assert cli.main(words) == 1
        assert "no debate" in _error(capsys)


# ---- runs --------------------------------------------------------------------------------------


def test_cell_is_run_and_reported(cell: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", "cell.md"]) == 0
    out, err = capsys.readouterr()
    assert "VERDICT" in out
    assert "── Opening" in err
    assert "asking" not in err.partition("── Verdict")[0]
    result = rt.load("last")
    assert (result.status, result.spec.rounds) == ("done", 0)
    # Nobody sits here: no gate was opened.
    assert not any(event.kind == "gate_opened" for event in result.events)


def test_line_goes_before_the_file(cell: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", "--seats", "pm,dev", "--rounds", "2", "--max-calls", "30", "cell.md", "--json"]
    assert cli.main(words) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["ok"], found["status"], found["verdict"]["status"]) == (True, "done", "ready")
    assert found["text"] == str(rt.load(found["id"]))
    spec = rt.load(found["id"]).spec
    assert [seat.name for seat in spec.seats] == ["pm", "dev"]
    assert (spec.rounds, spec.limits.max_calls) == (2, 30)


def test_json_is_run_from_stdin(cell: Path) -> None:
    done = subprocess.run(
        [*PROGRAM, "run", "-", "--json"],
        input=json.dumps(ASKING),
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert found["verdict"]["status"] == "ready"
    assert [seat.lens for seat in rt.load(found["id"]).spec.seats] == ["cost", "risk"]


def test_check_starts_nothing(cell: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", "cell.md", "--check"]) == 0
    assert "Nothing was called." in capsys.readouterr().out
    assert session.rows() == []


def test_fake_asks_nobody(cell: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cell.write_text(
        "%%roundtable --chairman human\nShip?\n\noptions:\n- A\n- B\n\n"
        "seats:\n- pm=human; lens=cost\n- dev=cli:codex; mood=grill\n",
        encoding="utf-8",
    )
    assert cli.main(["run", "cell.md", "--fake"]) == 0
    out, err = capsys.readouterr()
    assert "every seat and the chairman are scripted" in err
    assert "No model was asked" in out
    spec = rt.load("last").spec
    assert [(s.name, s.model, s.lens, s.mood) for s in spec.seats] == [
        ("pm", "scripted", "cost", None),
        ("dev", "scripted", None, "grill"),
    ]
    assert spec.chairman is not None
    assert spec.chairman.model == "scripted"


def test_end_without_verdict_exits_three(cell: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = cell.with_name("script.toml")
    script.write_text('steps = [{ fail = "auth" }]\n', encoding="utf-8")
    assert cli.main(["run", "cell.md", "--chairman", f"scripted:{script}"]) == 3
    assert rt.load("last").verdict.status == "failed"
    # The same chairman has used its script up by now.
    capsys.readouterr()
    assert cli.main(["verdict", "last", "--json"]) in (0, 3)
    assert json.loads(capsys.readouterr().out)["id"] == rt.load("last").id


def test_failed_seats_exit_one(cell: Path) -> None:
    script = cell.with_name("script.toml")
    script.write_text('steps = [{ fail = "auth" }]\n', encoding="utf-8")
    seats = f"a=scripted:{script},b=scripted:{script}"
    assert cli.main(["run", "cell.md", "--seats", seats]) == 1
    assert rt.load("last").status == "error"


def test_paused_debate_is_resumed_with_more(cell: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--rounds", "3", "--loop-threshold", "0", "--max-calls", "4", "--on-limit", "pause"]
    for name, stance in (("a", "Ship"), ("b", "Wait")):
        steps = ", ".join(
            f'{{ say = {{ stance = "{stance}", new = ["point {n}"] }} }}' for n in range(9)
        )
        cell.with_name(f"{name}.toml").write_text(f"steps = [{steps}]\n", encoding="utf-8")
    seats = "a=scripted:a.toml,b=scripted:b.toml"
    assert cli.main(["run", "cell.md", "--seats", seats, *words]) == 3
    assert "goes on" in capsys.readouterr().err
    assert cli.main(["resume", "last", "--max-calls", "40"]) == 0
    assert rt.load("last").status == "done"
    assert cli.main(["extend", "last", "Go deeper.", "--rounds", "1"]) == 0
    assert any(event.kind == "extended" for event in rt.load("last").events)


def test_confirmation_needs_somebody(cell: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (cell.with_name("roundtable.toml")).write_text("", encoding="utf-8")
    assert cli.main(["run", "cell.md", "--confirm-above", "5"]) == 0
    capsys.readouterr()


# ---- looking -----------------------------------------------------------------------------------


def test_list_and_show_tell_what_is_kept(cell: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["run", "cell.md", "--title", "Shipping"])
    capsys.readouterr()
    assert cli.main(["list"]) == 0
    head, row = capsys.readouterr().out.splitlines()
    assert head.split() == ["ID", "STATUS", "STARTED", "SEATS", "TITLE"]
    assert row.startswith("shipping-")
    assert row.endswith("Shipping")
    assert cli.main(["show", "last"]) == 0
    assert capsys.readouterr().out == f"{rt.load('last')}\n"
    assert cli.main(["list", "--json", "--status", "done"]) == 0
    assert len(json.loads(capsys.readouterr().out)["debates"]) == 1
    assert cli.main(["export", "last", "adr"]) == 0
    paths = capsys.readouterr().out.splitlines()
    assert all(Path(path).is_file() for path in paths)


def test_watch_shows_what_has_ended(cell: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["run", "cell.md"])
    capsys.readouterr()
    assert cli.main(["watch", "last"]) == 0
    out, err = capsys.readouterr()
    assert "── Opening" in err
    assert "VERDICT" in out


def test_old_debates_are_deleted(
    cell: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cli.main(["run", "cell.md"])
    old = rt.load("last").id
    now = time.time_ns()
    monkeypatch.setattr(
        "rt_notebook.frontends.cli_look.time.time_ns", lambda: now + 91 * 86400 * 10**9
    )
    capsys.readouterr()
    assert cli.main(["delete", "--older-than", "90d", "--dry-run"]) == 0
    assert capsys.readouterr() == (f"{old}\n", "1 would be deleted\n")
    assert cli.main(["delete", "--older-than", "92d"]) == 0
    assert capsys.readouterr() == ("", "0 deleted\n")
    assert cli.main(["delete", "--older-than", "90d"]) == 0
    assert session.rows() == []
    monkeypatch.undo()
    assert cli.main(["delete", "nobody"]) == 1


def test_discussion_ends_with_its_summary(cell: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cell.write_text("%%roundtable --seats pm,dev\nHow do we name things?\n", encoding="utf-8")
    assert cli.main(["run", "cell.md", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["kind"], found["summary"]["status"]) == ("discussion", "ready")
    assert "━━━ Roundtable Concluded ━━━" in found["text"]


def test_record_is_replayed_without_a_call(cell: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", "cell.md", "--record", "shipping.jsonl"]
    assert cli.main(words) == 0
    first, kept = capsys.readouterr().out, Path("shipping.jsonl").read_bytes()
    assert cli.main(words) == 0
    assert capsys.readouterr().out == first
    assert Path("shipping.jsonl").read_bytes() == kept
    assert cli.main([*words, "--title", "Other", "--rounds", "1", "--record-mode", "none"]) == 1
    assert "shipping.jsonl" in _error(capsys)
    assert cli.main(["show", "shipping.jsonl"]) == 0
    assert "VERDICT" in capsys.readouterr().out
    assert cli.main(["show", "shipping.jsonl", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"]["status"] == "ready"


def test_doctor_is_called(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["doctor"]) in (0, 1)
    assert "Python" in capsys.readouterr().out


def test_lab_says_what_is_missing(
    cell: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from rt_notebook.frontends import cli_look

    ran: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda path, words: ran.append(words))
    assert cli.main(["lab"]) in (0, None)
    (words,) = ran
    assert words[1:3] == ["-m", "jupyterlab"]
    assert Path(words[3]).read_bytes() == (ROOT / "notebooks" / cli_look.QUICK_START).read_bytes()
    monkeypatch.setattr(cli_look, "quick_start", lambda: None)
    capsys.readouterr()
    assert cli.main(["lab"]) == 1
    assert "isn't in this installation" in _error(capsys)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert cli.main(["lab"]) == 1
    assert 'pip install "rt-notebook[demo]"' in _error(capsys)


def test_closed_pipe_is_no_traceback(cell: Path) -> None:
    cli.main(["run", "cell.md"])
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*PROGRAM, "show", "last"], stdout=writing, stderr=subprocess.PIPE, encoding="utf-8"
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")
