"""SIGKILL at every kind of event, wherever a debate runs: nothing lost, nothing asked twice."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from rt_notebook.domain.events import BODY_KEYS
from tests.environment import ROOT, scrubbed_environment
from tests.faults.scenes import HANGS, PLACES, SCENES

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="forks and SIGKILL")

LABS = ("driver", "command line", "runner", "parent", "no log")
Row = dict[str, Any]


@pytest.fixture(scope="module", params=LABS)
def rows(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    """Gives the whole debates, then those that were killed, one for each kind of event."""
    folder = tmp_path_factory.mktemp("kills")
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.kill_lab", request.param, str(folder)],
        cwd=ROOT,
        env=scrubbed_environment(folder) | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return [{"place": request.param, **json.loads(line)} for line in done.stdout.splitlines()]


def _killed(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row["kind"] is not None]


def test_scenes_show_every_kind_of_event() -> None:
    assert set(PLACES) == set(BODY_KEYS)


def test_process_was_killed_at_every_kind(rows: list[Row]) -> None:
    killed = _killed(rows)
    assert [row["kind"] for row in killed] == list(PLACES)
    for row in killed:
        assert row["codes"]["killed"] == -9, row
        assert row["kind"] in row["kinds"], row


def test_nothing_that_was_shown_is_lost(rows: list[Row]) -> None:
    for row in _killed(rows):
        assert row["shown"] > 0
        assert row["seqs"] == list(range(1, len(row["seqs"]) + 1)), row["kind"]
        assert row["shown"] <= len(row["seqs"]), row["kind"]


def test_no_finished_call_is_made_again(rows: list[Row]) -> None:
    for row in _killed(rows):
        assert not set(row["finished"]) & set(row["asked_again"]), row
        # The log says so; so do the seats themselves.
        assert not set(row["finished"]) & set(row["called_again"]), row


def test_resumed_debate_ends_like_the_whole_one(rows: list[Row]) -> None:
    whole = {row["scene"]: row["outcome"] for row in rows if row["kind"] is None}
    for row in _killed(rows):
        if SCENES[row["scene"]].ends_alike:
            assert row["outcome"] == whole[row["scene"]], row["kind"]
        else:
            assert row["outcome"]["status"] in ("done", "stopped"), row["kind"]


def test_resuming_is_quiet(rows: list[Row]) -> None:
    for row in _killed(rows):
        assert row["codes"]["resumed"] == 0, row
        assert "Traceback" not in row["said"], row["said"]


def test_nothing_of_a_command_is_left(rows: list[Row]) -> None:
    killed = _killed(rows)
    assert {row["left"] for row in killed} == {""}
    hung = {row["kind"] for row in killed if row["hung"]}
    if killed[0]["place"] == "parent":
        # Two of them are killed while the command is being started.
        assert hung >= set(HANGS) - {"call_started", "call_failed"}
    else:
        assert hung == set()
