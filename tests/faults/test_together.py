"""Two kernels and a command line on one store, all at work at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rt_notebook import session
from rt_notebook.store.sqlite import SqliteStore
from tests.environment import ROOT, scrubbed_environment
from tests.notebook.live_kernel import LiveKernel, live_kernel
from tests.notebook.runner import NEWEST

pytestmark = pytest.mark.notebook

KERNEL = """
%load_ext rt_notebook
import json, os, time
os.environ["RT_NOTEBOOK_STORE"] = {store!r}
import rt_notebook as rt
made = dict(options=["Ship", "Wait"], rounds=1, question_wait_s=0.5, checkpoint_wait_s=0.5,
            loop_threshold=0, display=False)
def many(seconds):
    ends, found = time.monotonic() + seconds, []
    while time.monotonic() < ends:
        handles = [rt.Review(f"{{name}} {{n}}?", seats=[rt.Seat("pm", lens="cost"), "dev"],
                             unattended=n % 2 == 0, **made).start() for n in range(4)]
        found += [[h.id, h.result(60).status] for h in handles]
        seen = rt.debates(limit=5)
    return found
"""


def _started(folder: Path, store: Path, name: str) -> Any:
    home = folder / name
    home.mkdir()
    return live_kernel(NEWEST, home)


def _check(store: Path, found: list[list[str]], said: dict[str, Any]) -> None:
    kept = SqliteStore(store)
    rows = kept.debates(None, None)
    assert {row.id: row.status for row in rows} == dict(found)
    assert {row.status for row in rows} == {"done"}
    answered: dict[str, str] = {}
    for row in rows:
        events = kept.events(row.id)
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        kinds = [event.kind for event in events]
        assert not {"interrupted", "resumed"} & set(kinds)
        finished = [event.body["call"] for event in events if event.kind == "call_finished"]
        assert len(finished) == len(set(finished))
        assert session.load(row.id, store).status == "done"
        for event in events:
            if event.kind == "gate_answered":
                assert event.body["message"] not in answered
                answered[event.body["message"]] = row.id
        assert kept.lease(row.id) is None
    # What was taken is in a log, once; what was refused is in none.
    assert answered == said["taken"]
    assert not set(said["refused"]) & set(answered)
    assert said["faults"] == []
    kept.close()


def _together(tmp_path: Path, seconds: int) -> tuple[int, int]:
    store = tmp_path / "shared.db"
    with _started(tmp_path, store, "one") as one, _started(tmp_path, store, "two") as two:
        kernels: list[LiveKernel] = [one, two]
        for name, live in zip(("one", "two"), kernels, strict=True):
            live.run(KERNEL.format(store=str(store)) + f"name = {name!r}")
        commander = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.commander", str(seconds + 3)],
            cwd=ROOT,
            env=scrubbed_environment(tmp_path)
            | {"PYTHONPATH": str(ROOT), "RT_NOTEBOOK_STORE": str(store)},
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        try:
            cells = [live.queue(f"print(json.dumps(many({seconds})))") for live in kernels]
            found: list[list[str]] = []
            for live, cell in zip(kernels, cells, strict=True):
                assert live.reply(cell, seconds + 60)["status"] == "ok"
                found += json.loads(live.printed(cell))
            out, _ = commander.communicate(timeout=60)
        finally:
            commander.kill()
            commander.communicate()
    said = json.loads(out)
    _check(store, found, said)
    assert not [name for name in os.listdir(tmp_path) if ".damaged" in name]
    return len(found), len(said["taken"])


def test_kernels_and_command_line_share_a_store(tmp_path: Path) -> None:
    debates, answers = _together(tmp_path, 4)
    assert debates >= 8
    assert answers >= 1


@pytest.mark.soak
@pytest.mark.timeout(400)
def test_kernels_and_command_line_share_a_store_for_a_minute(tmp_path: Path) -> None:
    debates, answers = _together(tmp_path, 60)
    assert debates >= 60
    assert answers >= 10
