"""A process that is killed while the small model writes: resuming repeats no finished call."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

import rt_notebook as rt
from tests.environment import ROOT, scrubbed_environment
from tests.local_model.debates import ENDINGS, assert_counted, assert_whole
from tests.local_model.relay import Relay

if sys.platform == "win32":
    pytest.skip("SIGKILL", allow_module_level=True)


def test_review_killed_in_the_middle_is_resumed(model: Relay, tmp_path: Path) -> None:
    store = tmp_path / "debates.db"
    child = subprocess.Popen(
        [sys.executable, str(ROOT / "tests/local_model/killable.py"), model.url, str(store)],
        cwd=tmp_path,
        env=scrubbed_environment(tmp_path) | {"PYTHONPATH": str(ROOT)},
    )
    try:
        model.wait(lambda: any("critique round" in one.prompt for one in model.in_flight), 300)
        child.send_signal(signal.SIGKILL)
    finally:
        child.kill()
        assert child.wait(10) == -signal.SIGKILL
    model.wait(lambda: not model.in_flight, 10)
    before = rt.load("last", store=store)
    assert before.status == "interrupted"
    finished = {call.id for call in before.fold.calls.values() if call.outcome == "finished"}

    result = rt.resume("last", store=store).result(300)

    assert (result.status, result.stop_reason in ENDINGS) == ("done", True), str(result)
    assert_whole(result)
    assert_counted(result, model.passed)
    started = [event.body["call"] for event in result.events if event.kind == "call_started"]
    assert len(started) == len(model.passed)
    assert all(started.count(call) == 1 for call in finished)
    kinds = [event.kind for event in result.events]
    assert kinds.index("interrupted") < kinds.index("resumed")
