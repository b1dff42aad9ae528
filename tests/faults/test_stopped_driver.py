"""A process that runs a debate stands still (SIGSTOP, a laptop's lid), and comes back."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import rt_notebook as rt
from rt_notebook import session
from rt_notebook.engine.runner import runner
from rt_notebook.store import sqlite_leases
from rt_notebook.store.log import STALE_S
from tests.remote.processes import Child, Others, events

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGSTOP")


@pytest.fixture
def others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Others]:
    """Other processes on a store that is this process's default one too."""
    store = tmp_path / "shared.db"
    monkeypatch.setenv("RT_NOTEBOOK_STORE", str(store))
    with ExitStack() as stack:
        yield Others(store, stack)


def _stop(child: Child) -> None:
    os.kill(child.process.pid, signal.SIGSTOP)
    os.waitid(os.P_PID, child.process.pid, os.WSTOPPED | os.WNOWAIT)


def _taken_over(child: Child, wait_s: float) -> None:
    """One process stands still, another one takes its debate over and ends it."""
    child.until("round_started")
    child.until("round_started")
    child.until("reply_read")
    _stop(child)
    # As long as it may come back in time, nobody takes it.
    assert rt.state(child.id).status == "running"
    with pytest.raises(rt.NotResumableError, match=f"process {child.process.pid} on .* runs it"):
        session.resume_run(child.id, session.Opening())
    assert rt.wait(child.id, wait_s).status == "interrupted"
    run = session.resume_run(child.id, session.Opening(source="agent"))
    result = runner().run_blocking(lambda job: run.main())
    assert (result.status, result.stop_reason) == ("done", "rounds")
    before = rt.load(child.id).events
    os.kill(child.process.pid, signal.SIGCONT)
    # It finds out, asks nobody any more, and adds nothing to the log.
    assert child.process.wait(30) == 1
    assert rt.load(child.id).events == before
    finished = [body["call"].rpartition("/")[0] for body in events(child.id, "call_finished")]
    assert len(set(finished)) == len(finished)
    kinds = [event.kind for event in before]
    assert (kinds.count("interrupted"), kinds.count("resumed")) == (1, 1)


def test_stopped_driver_loses_its_debate_to_one(
    others: Others, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_leases, "STALE_S", 3.0)
    _taken_over(others.run("slow"), 20)


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_stopped_driver_loses_its_debate_in_its_time(others: Others) -> None:
    _taken_over(others.run("slow"), STALE_S + 10)


def test_driver_that_comes_back_in_time_goes_on(others: Others) -> None:
    child = others.run("slow")
    child.until("round_started")
    child.until("reply_read")
    _stop(child)
    assert rt.wait(child.id, 1).status == "running"
    os.kill(child.process.pid, signal.SIGCONT)
    assert child.end() == {"ended": "done", "reason": "rounds"}
    kinds = [event.kind for event in rt.load(child.id).events]
    assert "interrupted" not in kinds


def test_stopped_command_line_delays_nobody(others: Others) -> None:
    """Somebody answers, and stands still before hearing what became of it."""
    child = others.run("asking twice")
    child.until("gate_opened")
    code = (
        "import os, signal, sys\n"
        "from rt_notebook.store import sqlite\n"
        "asks = sqlite.SqliteStore.ask\n"
        "def ask(*given):\n"
        "    number = asks(*given)\n"
        "    os.kill(os.getpid(), signal.SIGSTOP)\n"
        "    return number\n"
        "sqlite.SqliteStore.ask = ask\n"
        "import rt_notebook as rt\n"
        "print(rt.answer(sys.argv[1], round=0, answers={'q1': 'none'}).status)\n"
    )
    line = subprocess.Popen(
        [sys.executable, "-c", code, child.id], stdout=subprocess.PIPE, encoding="ascii"
    )
    try:
        child.until("gate_closed")
        assert [body["answers"] for body in events(child.id, "gate_answered")] == [{"q1": "none"}]
        rt.stop(child.id)
        assert child.end()["ended"] == "stopped"
        os.kill(line.pid, signal.SIGCONT)
        # It hears in the end that its words have arrived, or why they haven't.
        out, _ = line.communicate(timeout=30)
        assert out.strip() in ("running", "waiting", "stopped")
    finally:
        line.kill()
        line.communicate()
