"""A clock that jumps, back or ahead: order, windows and leases hold."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import rt_notebook as rt
from rt_notebook import session
from tests.engine.debates import reply
from tests.environment import ROOT

JUMPS = pytest.mark.parametrize("jump_s", [-3_600, 3_600], ids=["back", "ahead"])


class Clock:
    """The time of day, as this process sees it."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._real = time.time_ns
        self._jumped = 0
        patch.setattr(time, "time_ns", self._now)
        patch.setattr(time, "time", lambda: self._now() / 1e9)

    def jump(self, seconds: float) -> None:
        """Sets it back or ahead."""
        self._jumped += int(seconds * 1e9)

    def _now(self) -> int:
        return self._real() + self._jumped


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock that a test may set."""
    return Clock(monkeypatch)


@JUMPS
@pytest.mark.parametrize("kind", ["created", "call_started", "call_finished", "gate_opened"])
def test_debate_goes_on_in_order(clock: Clock, kind: str, jump_s: int) -> None:
    jumped: list[bool] = []

    def tell(event: rt.Event) -> None:
        if event.kind == kind and not jumped:
            jumped.append(True)
            clock.jump(jump_s)

    seats = [
        rt.Seat("a", model=lambda call: reply("Ship", f"round {call.round}")),
        rt.Seat("b", model=lambda call: reply("Wait", f"round {call.round}")),
    ]
    began = time.monotonic()
    review = rt.Review(
        "Now?", options=["Ship", "Wait"], seats=seats, chairman="scripted", rounds=2,
        unattended=False, checkpoint_wait_s=0.2, question_wait_s=0.2, loop_threshold=0,
    )  # fmt: skip
    result = review.run_sync(on_event=tell)
    # The windows run on a clock of their own: none closes at once, none stays open for an hour.
    assert (result.status, result.stop_reason) == ("done", "rounds")
    assert 0.3 < time.monotonic() - began < 60
    stored = rt.load(result.id)
    times = [event.at for event in stored.events]
    assert times == sorted(times)
    assert [event.seq for event in stored.events] == list(range(1, len(times) + 1))
    gates = [event.body["why"] for event in stored.events if event.kind == "gate_closed"]
    assert gates == ["timeout", "timeout"]
    # No duration is negative, and no call took an hour.
    finished = [event.body["timings"] for event in stored.events if event.kind == "call_finished"]
    assert all(0 <= timings["total"] < 60 for timings in finished)


@JUMPS
def test_interrupted_debate_is_resumed_on_a_set_clock(clock: Clock, jump_s: int) -> None:
    asked: list[int] = []

    async def stuck(call: rt.Call) -> str:
        asked.append(call.round)
        await asyncio.sleep(0 if len(asked) > 1 else 60)
        return reply("Ship", "at last")

    review = rt.Review(
        "Now?", options=["Ship", "Wait"], seats=[rt.Seat("stuck", model=stuck), "dev"],
        chairman="scripted", unattended=True, rounds=0,
    )  # fmt: skip
    handle = review.start()
    while "reply_read" not in [event.kind for event in rt.load(handle.id).events]:
        time.sleep(0.01)
    handle._job.cancel()
    assert handle.result(20).status == "interrupted"
    clock.jump(jump_s)
    result = rt.resume(handle.id, models={"stuck": stuck}).result(30)
    assert result.status == "done"
    calls = [event.body["call"] for event in result.events if event.kind == "call_finished"]
    assert len(set(calls)) == len(calls) == 3
    times = [event.at for event in result.events]
    assert times == sorted(times)


class Skewed:
    """A process that runs a debate while its clock jumps."""

    def __init__(self, store: Path, name: str, jump_s: int) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.skewed", name, str(store), str(jump_s)],
            cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8",
        )  # fmt: skip
        self.id = str(self.line()["id"])

    def line(self) -> dict[str, Any]:
        """Returns what it says next."""
        assert self.process.stdout is not None
        found: dict[str, Any] = json.loads(self.process.stdout.readline())
        return found

    def until(self, key: str, value: object = None) -> dict[str, Any]:
        """Returns the next line that says something."""
        while key not in (found := self.line()) or value not in (None, found[key]):
            pass
        return found


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store that other processes use too."""
    path = tmp_path / "shared.db"
    monkeypatch.setenv("RT_NOTEBOOK_STORE", str(path))
    return path


@JUMPS
def test_live_debate_on_a_set_clock_is_nobody_elses(store: Path, jump_s: int) -> None:
    """On the same host nobody believes that it is gone, and takes it over."""
    child = Skewed(store, "slow", jump_s)
    try:
        child.until("kind", "call_finished")
        with pytest.raises(rt.NotResumableError, match="runs it"):
            session.resume_run(child.id, session.Opening(store))
        assert rt.state(child.id).status == "running"
        # Some heartbeats later it is the same.
        child.until("kind", "round_started")
        assert rt.wait(child.id, 0.5).next_action.type == "wait"
        assert child.until("ended")["ended"] == "done"
    finally:
        child.process.kill()
        child.process.communicate()
    result = rt.load(child.id)
    kinds = [event.kind for event in result.events]
    assert kinds.count("interrupted") == kinds.count("resumed") == 0
    times = [event.at for event in result.events]
    assert times == sorted(times)
