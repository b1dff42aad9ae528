"""Processes that die, hang or race for a debate: one goes on, and nobody waits for ever."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import rt_notebook as rt
from rt_notebook import session
from rt_notebook.domain.events import Event
from rt_notebook.domain.snapshot import Snapshot
from rt_notebook.remote import RemoteControl
from rt_notebook.running import DebateRun
from rt_notebook.store import open_store
from tests.remote.children import SPECS
from tests.remote.processes import Others, events

RACES = 50


def test_killed_runner_is_interrupted_and_resumed(others: Others) -> None:
    child = others.run("hanging")
    child.until("round_started")
    child.until("round_started")
    child.until("reply_read")
    assert rt.state(child.id).status == "running"
    child.kill()
    began = time.monotonic()
    found = rt.wait(child.id, 15)
    assert time.monotonic() - began < 15
    assert (found.status, found.stop_reason) == ("interrupted", "interrupted")
    assert (found.next_action.type, found.gate, found.turns) == ("resume", None, [])
    assert list(rt.debates("interrupted").id) == [child.id]
    finished = [body["call"] for body in events(child.id, "call_finished")]
    handle = rt.resume(child.id, limits={"max_minutes": 5})
    rt.finish(child.id)
    result = handle.result(10)
    assert (result.status, result.stop_reason) == ("done", "finished")
    calls = [body["call"] for body in events(child.id, "call_finished")]
    assert calls[: len(finished)] == finished
    assert len(set(calls)) == len(calls)
    kinds = [event.kind for event in result.events]
    assert kinds.index("resumed") == kinds.index("interrupted") + 1


def test_death_in_silence_ends_a_wait(others: Others) -> None:
    child = others.run("hanging")
    child.until("reply_read")
    found: list[Snapshot] = []
    thread = threading.Thread(target=lambda: found.append(rt.wait(child.id, 25)))
    thread.start()
    # It says nothing more by itself, and is killed while somebody waits for it.
    os.kill(child.process.pid, signal.SIGSTOP)
    thread.join(0.3)
    assert thread.is_alive()
    child.kill()
    thread.join(10)
    assert [snapshot.status for snapshot in found] == ["interrupted"]


def test_dead_runner_gets_no_command(others: Others) -> None:
    child = others.run("asking")
    rt.wait(child.id, 10)
    child.kill()
    with pytest.raises(rt.UsageError, match=r"no gate is open \(status interrupted") as caught:
        rt.answer(child.id, round=0, answers={"q1": "kept"})
    assert caught.value.facts["kept"]["answers"] == {"q1": "kept"}
    for verb in (rt.finish, rt.stop):
        with pytest.raises(rt.UsageError, match="the debate is interrupted"):
            verb(child.id)


def test_runner_that_dies_meanwhile_is_told(others: Others) -> None:
    """It is killed with the command before its eyes: nobody hangs, the text is kept."""
    child = others.run("asking")
    rt.wait(child.id, 10)
    os.kill(child.process.pid, signal.SIGSTOP)
    caught: list[rt.RoundtableError] = []

    def answer() -> None:
        try:
            rt.answer(child.id, round=0, answers={"q1": "kept"})
        except rt.RoundtableError as error:
            caught.append(error)

    thread = threading.Thread(target=answer)
    thread.start()
    store = open_store(others.store)
    deadline = time.monotonic() + 10
    while not store.database.connection().execute("SELECT 1 FROM commands").fetchone():
        assert time.monotonic() < deadline
        time.sleep(0.005)
    child.kill()
    thread.join(10)
    assert not thread.is_alive()
    (error,) = caught
    assert "ended meanwhile (status interrupted); not sent: q1: kept" in str(error)
    assert error.facts["kept"]["answers"] == {"q1": "kept"}
    # It is not carried out later either.
    handle = rt.resume(child.id)
    rt.wait(child.id, 10)
    assert rt.state(child.id).status == "waiting"
    rt.stop(child.id)
    handle.result(10)
    assert events(child.id, "gate_answered") == []


def test_blocked_runner_is_given_up(others: Others) -> None:
    child = others.run("asking", "run_blocked")
    child.until("gate_opened")
    control = RemoteControl(open_store(others.store), child.id, timeout_s=0.4)
    began = time.monotonic()
    with pytest.raises(rt.UsageError, match=r"took no notice within 0\.4 s") as caught:
        control.answer({"q1": "kept"}, round=0)
    assert 0.3 < time.monotonic() - began < 5
    assert f"process {child.process.pid}" in str(caught.value)
    assert caught.value.facts["kept"]["answers"] == {"q1": "kept"}
    connection = open_store(others.store).database.connection()
    assert connection.execute("SELECT count(*) FROM commands").fetchone() == (0,)


def test_debate_deleted_meanwhile_is_told(others: Others, tmp_path: Path) -> None:
    child = others.run("asking")
    child.until("gate_opened")
    store = open_store(others.store)

    class Deleting:
        """A store whose debate goes between asking and answering."""

        def __getattr__(self, name: str) -> Any:
            return getattr(store, name)

        def ask(self, *given: Any) -> int:
            number = store.ask(*given)
            child.kill()
            store.delete(child.id)
            return number

    control = RemoteControl(Deleting(), child.id)
    with pytest.raises(rt.UsageError, match=r"was deleted or taken over.*not sent: q1: kept"):
        control.answer({"q1": "kept"}, round=0)


def test_one_of_two_processes_resumes(others: Others) -> None:
    """Two race for each interrupted debate: exactly one runs it, and it ends well."""
    racers = [others.start("resume_each") for _ in range(2)]
    assert [racer.line() for racer in racers] == [{"ready": True}] * 2
    winners = set()
    for race in range(RACES):
        run = session.new_run(SPECS["asking"](), session.Opening(attended=False))
        log = open_store(others.store).log(run.id)
        _write_interrupted(run, log)
        for racer in racers if race % 2 else reversed(racers):
            racer.say(run.id)
        outcomes = []
        for racer in racers:
            found = racer.line()
            if "lost" in found:
                outcomes.append("lost")
                assert found["lost"] == "NotResumableError"
                continue
            winners.add(racer.process.pid)
            outcomes.append(racer.end()["ended"])
        assert sorted(outcomes) == ["done", "lost"]
        kinds = [event.kind for event in rt.load(run.id).events]
        assert kinds.count("resumed") == 1
        assert kinds.count("concluded") == 1
        assert [body["source"] for body in events(run.id, "resumed")] == ["agent"]
    assert winners


def _write_interrupted(run: DebateRun, log: Any) -> None:
    """Put a debate into the store that stopped before its first call."""
    from tests.store.samples import run as play

    bodies = [*run._first, ("interrupted", {"why": "a test"})]
    written = [
        Event(1, run.id, seq, 1_700_000_000_000, kind, body)
        for seq, (kind, body) in enumerate(bodies, 1)
    ]

    async def main() -> None:
        await log.append(written, lambda: None)

    play(main())
