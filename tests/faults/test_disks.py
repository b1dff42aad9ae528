"""A disk that gets full or can't be written: the debate stops, one line says why, it goes on later.

Where this system lets a test mount a disk, it is a real one (see `disks`).
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.environment import ROOT, scrubbed_environment
from tests.faults.disks import full_disks, read_only_disks, run_on

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits and mounts of Linux")

FAULT = {"tmpfs": "can't grow, the disk or a quota is full", "limit": "can't be read or written"}
Row = dict[str, Any]


def _play(disk: str, tmp_path: Path, *words: str) -> list[Row]:
    folder, home = tmp_path / "disk", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    return run_on(disk, folder, home, "tests.faults.full_disk", disk, str(folder), *words)


def _check(disk: str, row: Row) -> None:
    assert row["fault"] is not None, row
    assert FAULT[disk] in row["fault"]
    assert len(row["fault"].splitlines()) == 1
    # The run that saw the fault, and whoever looks into the store.
    assert (row["told"], row["status"]) == ("interrupted", "interrupted")
    # Nobody was asked whom the log doesn't name, and nobody again whose answer it holds.
    assert set(row["asked"]) <= set(row["started"])
    assert not set(row["finished"]) & set(row["asked_again"])
    assert (row["second_fault"], row["end"], row["replies"]) == (None, "done", 12)
    assert row["seqs"] == list(range(1, len(row["seqs"]) + 1))


@pytest.mark.parametrize("disk", full_disks())
def test_full_disk_interrupts_and_nothing_is_lost(disk: str, tmp_path: Path) -> None:
    rows = _play(disk, tmp_path, "0", "40", "100", "180")
    for row in rows:
        _check(disk, row)
    # It was met before the first call, and in the middle.
    assert rows[0]["asked"] == []
    assert len(rows[-1]["finished"]) >= 2


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.parametrize("disk", full_disks())
def test_disk_may_get_full_at_any_place(disk: str, tmp_path: Path) -> None:
    for row in _play(disk, tmp_path, *map(str, range(0, 240, 4))):
        _check(disk, row)


# ---- read-only ---------------------------------------------------------------------------------

LEFT = """
import os, signal, sys
import rt_notebook as rt
made = dict(options=["Ship", "Wait"], seats=["pm", "dev"], unattended=True)
rt.Review("Ship it?", **made).run_sync()
def kill(event):
    if event.kind == "reply_read":
        os.kill(os.getpid(), signal.SIGKILL)
if sys.argv[1] == "killed":
    rt.Review("Ship that?", **made).run_sync(on_event=kill)
"""


@pytest.fixture(params=["ended", "killed"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder with a store; what wrote to it ended well, or was killed and left its log."""
    folder = tmp_path / "disk"
    folder.mkdir()
    environment = scrubbed_environment(tmp_path) | {"PYTHONPATH": str(ROOT)}
    environment["RT_NOTEBOOK_STORE"] = str(folder / "debates.db")
    code = subprocess.run(
        [sys.executable, "-c", LEFT, request.param], env=environment, timeout=60, check=False
    ).returncode
    assert code == (-signal.SIGKILL if request.param == "killed" else 0)
    return folder


def _contents(folder: Path) -> dict[str, bytes]:
    # The log's index is no data, and reading makes it anew.
    return {path.name: path.read_bytes() for path in folder.iterdir()
            if path.is_file() and not path.name.endswith("-shm")}  # fmt: skip


@pytest.mark.parametrize("disk", read_only_disks())
def test_read_only_store_is_read_and_no_more(disk: str, folder: Path, tmp_path: Path) -> None:
    before = _contents(folder)
    store = str(folder / "debates.db")
    how = ["read-only"] if disk == "flag" else []
    rows = run_on(disk, folder, tmp_path, "tests.faults.looks", store, *how)
    said = {row["verb"]: row for row in rows}
    count = 2 if os.path.exists(f"{store}-wal") else 1
    status = "interrupted" if count == 2 else "done"
    assert said["list"]["came"] == count
    assert said["load"]["came"][0] == said["state"]["came"] == status
    assert said["doctor"]["came"] == ["writable"]
    assert said["rt-notebook list"]["came"] == [0, 1 + count, ""]
    assert said["rt-notebook show"]["came"][::2] == [0, ""]
    for verb in ("run", "delete", "resume"):
        assert "is read-only: make the file and its folder writable" in said[verb]["error"], verb
        assert len(said[verb]["error"].splitlines()) == 1
    exit_status, _, line = said["rt-notebook resume"]["came"]
    assert exit_status == 1
    assert line.startswith("rt-notebook: the store")
    assert line.count("\n") == 1
    assert [row["asked"] for row in rows] == [[]] * len(rows)
    assert _contents(folder) == before
