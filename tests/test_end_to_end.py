"""Whole programs on the package, each in a process of its own, as a user would write them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.environment import scrubbed_environment

SEATS = """
import json, sys
import rt_notebook as rt
ann = rt.Seat("ann", model=rt.scripted([
    rt.say(stance="Ship", question="What is the budget?"),
    rt.say(stance="Wait", agree_with=["bob"])]))
bob = rt.Seat("bob", model=lambda call: (
    "STANCE: Wait\\nAGREE_WITH: []\\nDISAGREE: none\\n"
    f"NEW:\\n- round {call.round}\\nASSUMPTIONS: none"))
made = dict(question="Ship now?", options=["Ship", "Wait"], seats=[ann, bob])
def facts(r):
    print(json.dumps([r.status, r.stop_reason, r.verdict.pick, [str(s) for s in r.replies.stance]]))
"""
WHOLE = ["done", "consensus", "opt-2", ["Ship", "Wait", "Wait", "Wait"]]


def program(folder: Path, code: str, *, timeout_s: float = 60) -> subprocess.CompletedProcess[str]:
    """Runs a program without a terminal to its end."""
    return subprocess.run(
        [sys.executable, "-c", SEATS + code],
        cwd=folder,
        env=scrubbed_environment(folder),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )


PROGRAMS = {
    "script": "facts(rt.Review(**made).run_sync())",
    "asyncio": "import asyncio\nfacts(asyncio.run(rt.Review(**made).run()))",
    "sync in async": "import asyncio\nasync def main():\n    return rt.Review(**made).run_sync()\n"
    "facts(asyncio.run(main()))",
    "handle": "handle = rt.Review(**made, unattended=True).start()\nfacts(handle.result(30))",
    "await handle": "import asyncio\nasync def main():\n"
    "    return await rt.Review(**made, unattended=True).start()\nfacts(asyncio.run(main()))",
    "thread": "import threading\nfound = []\n"
    "t = threading.Thread(target=lambda: found.append(rt.Review(**made).run_sync()))\n"
    "t.start(); t.join(); facts(found[0])",
    "answers": "handle = rt.Review(**made).start()\nrt.wait(handle.id, 10)\n"
    "rt.answer(handle.id, round=0, answers={'q1': 'none'})\nrt.wait(handle.id, 10)\n"
    "handle.answer()\nfacts(handle.result(30))",
}


@pytest.mark.parametrize("code", PROGRAMS.values(), ids=PROGRAMS)
def test_program_gets_whole_result_and_ends(tmp_path: Path, code: str) -> None:
    done = program(tmp_path, code)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == WHOLE


def test_script_prints_nothing_but_its_own(tmp_path: Path) -> None:
    done = program(tmp_path, "rt.Review(**made).run_sync()\nprint('own')")
    assert (done.stdout, done.stderr) == ("own\n", "")


def test_script_needs_no_notebook_packages(tmp_path: Path) -> None:
    code = (
        "rt.Review(**made).run_sync()\n"
        "print([m for m in ('IPython', 'ipywidgets', 'pandas', 'rich') if m in sys.modules])"
    )
    assert program(tmp_path, code).stdout == "[]\n"


def test_mistake_in_script_is_readable_and_stores_nothing(tmp_path: Path) -> None:
    done = program(tmp_path, "rt.Review(**{**made, 'options': ['Ship']})")
    assert done.returncode == 1
    assert "rt_notebook.errors.BriefError: options: 2 to 12 are allowed" in done.stderr
    assert not (tmp_path / "store").exists()


def test_forgotten_background_debate_ends_with_program(tmp_path: Path) -> None:
    code = (
        "seat = rt.Seat('slow', model=rt.scripted([rt.hang()]))\n"
        "handle = rt.Review(**{**made, 'seats': [ann, seat]}).start()\nprint(handle.id)"
    )
    done = program(tmp_path, code, timeout_s=20)
    assert (done.returncode, done.stderr) == (0, "")
    name = done.stdout.strip()
    status = program(tmp_path, f"print(rt.state({name!r}).status)")
    assert status.stdout.strip() == "interrupted"


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to a child there")
@pytest.mark.parametrize("way", ["run_sync", "asyncio"])
def test_interrupted_script_can_be_resumed(tmp_path: Path, way: str) -> None:
    run = {
        "run_sync": "review.run_sync(on_event=told)",
        "asyncio": "import asyncio\nasyncio.run(review.run(on_event=told))",
    }[way]
    code = (
        "cid = rt.Seat('cid', model=rt.scripted([rt.wait(60, then='PASS')]))\n"
        "review = rt.Review(**{**made, 'seats': [ann, bob, cid]}, unattended=True)\n"
        "def told(event):\n    if event.kind == 'reply_read' and event.body['seat'] == 'bob':\n"
        "        print(event.debate, flush=True)\n" + run
    )
    child = subprocess.Popen(
        [sys.executable, "-c", SEATS + code],
        cwd=tmp_path,
        env=scrubbed_environment(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    name = child.stdout.readline().strip()
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=10)
    assert child.returncode != 0
    assert "KeyboardInterrupt" in said
    found: list[Any] = json.loads(
        program(
            tmp_path,
            f"r = rt.load({name!r})\n"
            "print(json.dumps([r.status, r.calls.outcome.tolist(), r.state.next_action.type]))",
        ).stdout
    )
    assert found == ["interrupted", ["finished", "finished", "failed"], "resume"]
