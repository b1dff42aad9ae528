"""A process killed by SIGKILL at any event: resuming ends alike and repeats no finished call."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.environment import ROOT, scrubbed_environment
from tests.notebook.live_kernel import LiveKernel, live_kernel
from tests.notebook.runner import NEWEST
from tests.notebook.watched_kernel import Page

if sys.platform == "win32":
    pytest.skip("forks and SIGKILL", allow_module_level=True)

Row = dict[str, Any]


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    """Gives the whole run, then the run killed at each of its events."""
    folder = tmp_path_factory.mktemp("killed")
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "notebook" / "killable.py"), str(folder)],
        cwd=ROOT,
        env=scrubbed_environment(folder) | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=110,
        check=True,
    )
    assert done.stderr == ""
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_debate_holds_every_kind_of_event(rows: list[Row]) -> None:
    kinds = set(rows[0]["kinds"])
    assert kinds >= {
        *("created", "round_started", "call_started", "call_failed", "call_finished"),
        *("reply_read", "repaired", "gate_opened", "gate_answered", "gate_closed"),
        *("verdict_started", "verdict_written", "concluded"),
    }
    assert len(rows) == len(rows[0]["kinds"]) + 1


def test_every_kill_is_noticed_as_an_interruption(rows: list[Row]) -> None:
    whole, *killed = rows
    assert {row["code"] for row in killed} == {-9}
    kinds = whole["kinds"]
    alive = [row["seq"] for row in killed if row["status_before"] == "done"]
    assert alive
    assert min(alive) >= len(kinds) - 4  # what the second process could end before it was killed


def test_resumed_debate_ends_like_the_whole_one(rows: list[Row]) -> None:
    whole, *killed = rows
    assert whole["outcome"]["status"] == "done"
    for row in killed:
        assert row["outcome"] == whole["outcome"], f"killed at {row['seq']}"


def test_no_finished_call_is_made_again(rows: list[Row]) -> None:
    for row in rows[1:]:
        assert not set(row["again"]) & set(row["before"]), f"killed at {row['seq']}"


# ---- the same in a kernel -----------------------------------------------------------------------

KERNEL = """
%load_ext rt_notebook
import json, os, pathlib, signal
import rt_notebook as rt
KILL = {kill!r}
def seat(name):
    def answer(call):
        kind = f"{{call.round}}/{{name}}"
        with open("calls.txt", "a") as file:
            print(kind, file=file)
        if kind == KILL:
            os.kill(os.getpid(), signal.SIGKILL)
        stance = "Ship" if name == "ann" else "Wait"
        return f"STANCE: {{stance}}\\nAGREE_WITH: []\\nDISAGREE: none\\n" \\
            f"NEW:\\n- {{kind}}\\nASSUMPTIONS: none"
    answer.__name__ = name
    return answer
ann, bob = seat("ann"), seat("bob")
def chair(call):
    if KILL == "verdict":
        os.kill(os.getpid(), signal.SIGKILL)
    return "RECOMMENDATION: Wait\\nYes.\\nDISSENT: none\\n" \\
        "KILL_CRITERIA:\\n- a: b\\nOPEN_QUESTIONS: none"
"""
CELL = """%%roundtable out --seats a=ann,b=bob --chairman chair --checkpoint-wait-s 0.1
Ship now?

options:
- Ship
- Wait
"""
FACTS = (
    "r = roundtable_result\n"
    "print(json.dumps([r.status, r.stop_reason, r.verdict.pick, r.state.tally,"
    " [str(s) for s in r.replies.stance]]))"
)


def _watched(live: LiveKernel, cell: str) -> None:
    """Runs a cell in front of a page: no gate waits for one to appear."""
    request = live.queue(cell)
    Page(live, request)
    assert live.reply(request)["status"] == "ok"


def _facts(live: LiveKernel) -> Any:
    return json.loads(live.run(FACTS))


@pytest.mark.parametrize("kill", ["0/ann", "1/bob", "verdict"])
def test_killed_kernel_resumes_in_a_fresh_one(tmp_path: Path, kill: str) -> None:
    calls = tmp_path / "calls.txt"
    with live_kernel(NEWEST, tmp_path) as live:
        live.run(KERNEL.format(kill=kill))
        Page(live, live.queue(CELL))
        live.wait_for(lambda: not live.manager.is_alive(), 30)
    first = calls.read_text().split()
    calls.write_text("")
    with live_kernel(NEWEST, tmp_path) as live:
        live.run(KERNEL.format(kill=None))
        assert "interrupted" in live.run("print(rt.debates().status.iloc[0])")
        _watched(live, "%roundtable resume last")
        resumed = _facts(live)
        again = calls.read_text().split()
        _watched(live, CELL)
        assert resumed == _facts(live)
    assert resumed[:3] == ["done", "rounds", "opt-2"]
    lost = (
        {"0/ann", "0/bob"} if kill == "0/ann" else {"1/ann", "1/bob"} if kill == "1/bob" else set()
    )
    assert set(first) & set(again) <= lost
    assert kill == "verdict" or kill in again
    assert sorted({*first, *again}) == ["0/ann", "0/bob", "1/ann", "1/bob"]
