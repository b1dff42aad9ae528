"""What becomes of running commands when the process that runs them dies, however it dies."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from rt_notebook.providers.cli.process_tree import processes, watch
from rt_notebook.providers.cli.process_watchdog import WATCHDOG
from tests.environment import ROOT
from tests.providers.cli.fakes import Collected, alive, eventually, eventually_gone, fake, run_fake

PARENT = """
import asyncio, os, sys, time
from pathlib import Path
from tests.providers.cli.fakes import run_fake

async def main():
    async with asyncio.TaskGroup() as group:
        for _ in range(3):
            group.create_task(run_fake(Path(sys.argv[1]), timeout_s=60))
        await asyncio.sleep(60)

if sys.argv[2] == "forks":
    from rt_notebook.providers.cli.process_watchdog import WATCHDOG
    WATCHDOG.begin("of-no-call", Path("/nowhere"))
    WATCHDOG.over("of-no-call")
    pid = os.fork()
    if pid == 0:
        time.sleep(60)
    Path(sys.argv[3]).write_text(str(pid))
loop = asyncio.new_event_loop()
loop.run_until_complete(main())
"""
STUBBORN = """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
grandchild(True)
grandchild(False)
open(os.path.join({folder!r}, f"up-{{os.getpid()}}"), "w").close()
forever()
"""


def _temporary(folder: Path) -> Path:
    path = folder.parent / f"{folder.name}-temporary"
    path.mkdir(exist_ok=True)
    return path


@pytest.fixture
def parent(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[psutil.Popen]:
    program = fake(tmp_path, STUBBORN.format(folder=str(tmp_path)))
    script = tmp_path.parent / f"{tmp_path.name}-parent.py"
    script.write_text(PARENT, encoding="utf-8")
    way = getattr(request, "param", "plain")
    note = tmp_path.parent / f"{tmp_path.name}-forked"
    started = psutil.Popen(
        [sys.executable, str(script), str(program), way, str(note)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(_temporary(tmp_path))},
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    yield started
    if note.exists():
        psutil.Process(int(note.read_text(encoding="utf-8"))).kill()
    if started.poll() is None:
        started.kill()
    started.wait()


async def _emptied(folder: Path) -> None:
    end = time.monotonic() + 5
    while left := os.listdir(folder):
        assert time.monotonic() < end, left
        await asyncio.sleep(0.02)


async def _up(folder: Path, count: int = 3) -> None:
    end = time.monotonic() + 20
    while len(await asyncio.to_thread(lambda: list(folder.glob("up-*")))) < count:
        assert time.monotonic() < end, "the commands never came up"
        await asyncio.sleep(0.02)


@pytest.mark.asyncio
@pytest.mark.parametrize("parent", ["plain", "forks"], indirect=True)
async def test_killed_parent_takes_every_command_along(
    tmp_path: Path, parent: psutil.Popen
) -> None:
    await _up(tmp_path)
    # The parent's own command line names the folder too.
    assert len(alive(tmp_path)) >= 3 * 3
    assert len(os.listdir(_temporary(tmp_path))) == 3
    note = tmp_path.parent / f"{tmp_path.name}-forked"
    forked = int(note.read_text(encoding="utf-8")) if note.exists() else 0
    parent.kill()
    parent.wait()
    await eventually_gone(tmp_path, besides=forked)
    assert not forked or psutil.pid_exists(forked)
    await _emptied(_temporary(tmp_path))


@pytest.mark.asyncio
async def test_terminated_parent_takes_every_command_along(
    tmp_path: Path, parent: psutil.Popen
) -> None:
    await _up(tmp_path)
    parent.send_signal(signal.SIGTERM)
    parent.wait()
    await eventually_gone(tmp_path)


@pytest.mark.asyncio
async def test_one_watchdog_serves_all_calls_and_comes_back(tmp_path: Path) -> None:
    program = fake(tmp_path, 'say("DONE\\n")')
    await run_fake(program)
    first = WATCHDOG.pid
    await run_fake(program)
    assert first is not None
    assert WATCHDOG.pid == first
    psutil.Process(first).kill()
    psutil.Process(first).wait()
    sink = Collected()
    await run_fake(program, sink)
    assert bytes(sink.data) == b"DONE\n"
    assert WATCHDOG.pid not in (None, first)


@pytest.mark.asyncio
async def test_watchdog_keeps_only_running_calls(tmp_path: Path) -> None:
    there = tmp_path / "there"
    body = f"open({str(there)!r}, 'w').close()\nforever()"
    task = asyncio.create_task(run_fake(fake(tmp_path, body)))
    await eventually(there)
    (child,) = alive(tmp_path)
    mark = child.environ()["RT_NOTEBOOK_CALL"]
    lines = [f"+ {mark} 0\n".encode(), f"- {mark}\n".encode(), b"garbage\n", b"\n"]
    await asyncio.to_thread(watch, iter(lines))
    assert alive(tmp_path) == [child]
    # Its mark alone is enough: the parent may die before it can tell the number.
    await asyncio.to_thread(watch, iter(lines[:1]))
    ended = await task
    assert (ended.why, ended.returncode) == ("exit", -signal.SIGTERM)
    assert not alive(tmp_path)


def test_process_table_knows_this_process() -> None:
    row = processes()[os.getpid()]
    assert (row.parent, row.group, row.dead) == (os.getppid(), os.getpgrp(), False)


def test_table_from_ps_says_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """The way for systems without `/proc`."""
    real = os.path.exists
    monkeypatch.setattr(os.path, "exists", lambda path: "/proc" not in path and real(path))
    row = processes().get(os.getpid())
    if row is None:
        pytest.skip("there is no ps here")
    assert (row.parent, row.group, row.dead) == (os.getppid(), os.getpgrp(), False)
