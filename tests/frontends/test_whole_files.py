"""Whole files or none: full disks, faults in the middle, kills, and several exports at once."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from rt_notebook.errors import StoreError, UsageError
from rt_notebook.frontends import whole_files
from rt_notebook.frontends.export import export
from tests.environment import ROOT
from tests.frontends.exports import contents, done, result_of
from tests.rendering.events import Story, finished, spec_of, stance

CHILD = """
import sys
from rt_notebook.frontends.export import export
from tests.frontends.exports import done
for number in range(int(sys.argv[3])):
    print(export(done(f"{sys.argv[2]}-{number}"), sys.argv[1])[0].name, flush=True)
"""
FULL_CHILD = """
import resource, sys
from rt_notebook.errors import StoreError
from rt_notebook.frontends.export import export
from tests.frontends.exports import done
result = done()
limit = int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
try:
    export(result, sys.argv[1])
except StoreError as exc:
    print(exc)
"""
KILLED_CHILD = """
import os, signal, sys
from rt_notebook.frontends import whole_files
from rt_notebook.frontends.export import export
from tests.frontends.exports import done
left, swap = int(sys.argv[2]), whole_files._swap
def swap_or_die(*arguments):
    global left
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    left -= 1
    swap(*arguments)
whole_files._swap = swap_or_die
export(done(), sys.argv[1])
"""


def run(code: str, *arguments: str | int | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )


def export_draft(folder: Path) -> None:
    story = Story(spec_of(title="Ship now?")).start_round().reply("pm", stance("opt-1"))
    export(result_of(story), folder)


def failing_at(count: int, real: Callable[..., Any], code: int) -> Callable[..., Any]:
    """A function that fails at its call of this number, from 0, and once only."""
    calls = iter(range(1_000))

    def fail_or_do(*arguments: Any, **named: Any) -> Any:
        if next(calls) == count:
            raise OSError(code, os.strerror(code))
        return real(*arguments, **named)

    return fail_or_do


@pytest.mark.parametrize("limit", [0, 500, 2_000, 5_000, 20_000])
def test_full_disk_leaves_nothing_new(tmp_path: Path, limit: int) -> None:
    folder = tmp_path / "docs" / "adr"
    (tmp_path / "docs").mkdir()
    told = run(FULL_CHILD, folder, limit)
    assert (told.stderr, told.returncode) == ("", 0)
    assert re.fullmatch(
        rf"export: {folder}/0001-ship-now(\.md|/\S+) can't be written: no room is left "
        r"\(File too large\); nothing was changed: make room, or export to another folder\n",
        told.stdout,
    )
    assert contents(tmp_path) == {}
    assert list((tmp_path / "docs").iterdir()) == []


def test_full_disk_keeps_the_older_export(tmp_path: Path) -> None:
    export_draft(tmp_path)
    before = contents(tmp_path)
    assert "no room is left" in run(FULL_CHILD, tmp_path, 3_000).stdout
    assert contents(tmp_path) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0001-ship-now", "0001-ship-now.md"]


@pytest.mark.parametrize("count", [0, 1, 7, 18])
def test_fault_in_the_middle_leaves_nothing_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    monkeypatch.setattr(os, "link", failing_at(count, os.link, errno.EIO))
    with pytest.raises(StoreError, match=r"can't be written: Input/output error; nothing was"):
        export(done(), tmp_path / "adr")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("count", [0, 1, 7])
def test_fault_in_the_middle_puts_files_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    export_draft(tmp_path)
    before = contents(tmp_path)
    monkeypatch.setattr(os, "replace", failing_at(count, os.replace, errno.ENOSPC))
    with pytest.raises(StoreError, match="no room is left"):
        export(done(), tmp_path)
    assert contents(tmp_path) == before
    export(done(), tmp_path)


def test_interrupt_in_the_middle_puts_files_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export_draft(tmp_path)
    before = contents(tmp_path)
    real, calls = os.replace, iter(range(1_000))

    def interrupted(*arguments: Any) -> None:
        real(*arguments)
        if next(calls) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        export(done(), tmp_path)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("count", [1, 2, 9, 18])
def test_killed_export_is_taken_up_again(tmp_path: Path, count: int) -> None:
    assert run(KILLED_CHILD, tmp_path, count).returncode == -signal.SIGKILL
    for path in (tmp_path / "0001-ship-now").glob("*.md"):
        assert path.read_bytes().endswith(b"\n")  # whole, where it is there
    paths = export(done(), tmp_path)
    assert paths[0].name == "0001-ship-now.md"
    assert sorted(contents(tmp_path)) == sorted(str(path.relative_to(tmp_path)) for path in paths)


@pytest.mark.parametrize("count", [0, 1, 2, 9, 14])
def test_killed_overwriting_is_taken_up_again(tmp_path: Path, count: int) -> None:
    export_draft(tmp_path)
    assert run(KILLED_CHILD, tmp_path, count).returncode == -signal.SIGKILL
    # Another state than the killed export wrote: neither its files nor the older ones are foreign.
    export(result_of(finished(spec_of(title="Ship now?")).interrupt()), tmp_path)
    manifest = (tmp_path / "0001-ship-now" / "export.json").read_text(encoding="utf-8")
    assert '"earlier"' not in manifest
    export(done(), tmp_path)
    assert "Example: " in (tmp_path / "0001-ship-now.md").read_text(encoding="utf-8")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0001-ship-now", "0001-ship-now.md"]


def test_taken_name_is_never_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody makes the file between the look and the writing."""
    made, real = tmp_path / "0001-ship-now.md", whole_files.apply

    def late(*arguments: Any) -> None:
        made.write_text("mine", encoding="utf-8")
        real(*arguments)

    monkeypatch.setattr("rt_notebook.frontends.export_files.apply", late)
    with pytest.raises(StoreError, match="somebody made it in the meantime; nothing was changed"):
        export(done(), tmp_path)
    assert contents(tmp_path) == {"0001-ship-now.md": b"mine"}
    assert [path.name for path in tmp_path.iterdir()] == ["0001-ship-now.md"]


@pytest.mark.parametrize("taken", [False, True])
def test_file_system_without_links_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, taken: bool
) -> None:
    def no_links(*_: Any) -> None:
        if taken:
            (tmp_path / "0001-ship-now.md").write_text("mine", encoding="utf-8")
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", no_links)
    if not taken:
        assert export(done(), tmp_path)[0].is_file()
        return
    with pytest.raises(StoreError, match="somebody made it in the meantime"):
        export(done(), tmp_path)
    assert contents(tmp_path) == {"0001-ship-now.md": b"mine"}


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_forbidden_folder_is_one_clear_line(tmp_path: Path) -> None:
    folder = tmp_path / "adr"
    folder.mkdir(mode=0o555)
    for target in (folder, folder / "deeper"):
        with pytest.raises(StoreError, match=r"adr.* can't be written: writing there isn't allow"):
            export(done(), target)


def test_forbidden_file_is_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "link", failing_at(3, os.link, errno.EROFS))
    with pytest.raises(StoreError, match=r"isn't allowed \(Read-only file system\)") as caught:
        export(done(), tmp_path)
    assert "\n" not in str(caught.value)
    assert caught.value.facts["path"].startswith(str(tmp_path / "0001-ship-now"))


def test_too_long_path_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"can't be written: File name too long; nothing was"):
        export(done(), tmp_path / "adr" / ("x" * 300))
    assert list(tmp_path.iterdir()) == []


def test_processes_at_once_get_numbers_of_their_own(tmp_path: Path) -> None:
    with ThreadPoolExecutor(3) as pool:
        told = list(pool.map(lambda name: run(CHILD, tmp_path / "adr", name, 5), "abc"))
    assert [child.stderr for child in told] == [""] * 3
    names = sorted(name for child in told for name in child.stdout.split())
    assert names == [f"{number:04d}-ship-now.md" for number in range(1, 16)]
    assert len(contents(tmp_path)) == 15 * 19


def test_threads_at_once_with_one_debate_agree(tmp_path: Path) -> None:
    start = threading.Barrier(4)

    def write(_: int) -> list[Path]:
        start.wait()
        return export(done(), tmp_path)

    with ThreadPoolExecutor(4) as pool:
        paths = list(pool.map(write, range(4)))
    assert paths == [paths[0]] * 4
    assert len(contents(tmp_path)) == 19


def test_long_wait_for_the_lock_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_files, "WAIT_S", 0.05)
    holder = os.open(tmp_path, os.O_RDONLY)
    try:
        fcntl.flock(holder, fcntl.LOCK_EX)
        with pytest.raises(StoreError, match="another export has been writing into"):
            export(done(), tmp_path)
    finally:
        os.close(holder)
    assert list(tmp_path.iterdir()) == []


def test_file_system_without_locks_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(*_: Any) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", no_locks)
    other = tmp_path / ".rt-export-abc"  # maybe of an export that is at work
    other.mkdir()
    export(done(), tmp_path)
    assert other.is_dir()


def test_unreadable_neighbours_do_no_harm(tmp_path: Path) -> None:
    secret = tmp_path / "0001-secret.md"
    secret.write_text("mine", encoding="utf-8")
    secret.chmod(0)
    os.mkfifo(tmp_path / "0002-pipe.md")
    (tmp_path / "0003-gone.md").symlink_to(tmp_path / "nowhere")
    (tmp_path / "0004-folder.md").mkdir()
    assert export(done(), tmp_path)[0].name == "0005-ship-now.md"


def test_folder_in_place_of_a_file_is_refused(tmp_path: Path) -> None:
    export(done(), tmp_path)
    report = tmp_path / "0001-ship-now" / "report.html"
    report.unlink()
    report.mkdir()
    with pytest.raises(UsageError, match=r"report\.html is there and wasn't written by an export"):
        export(done(), tmp_path)
