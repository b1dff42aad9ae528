"""A command in a seat of a real kernel: whatever ends the cell leaves no process behind."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.notebook.live_kernel import LiveKernel, live_kernel
from tests.notebook.runner import NEWEST
from tests.providers.cli.fakes import GONE_S, alive
from tests.seats.table import claude_folder

pytestmark = pytest.mark.notebook

CELL = """%%roundtable out --seats dan,bo --rounds 1 --unattended
Ship it?

options:
- Ship
- Wait
"""
# A child that leaves the group, and a command that would never answer.
HANGS = "grandchild(True)\nopen({flag!r}, 'w').write('x')\nforever()"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the command lies; everything that it starts has this path in its line."""
    return tmp_path / "command"


@pytest.fixture
def live(tmp_path: Path, folder: Path) -> Iterator[LiveKernel]:
    """Gives a kernel with a command `claude` on PATH that begins and then hangs."""
    folder.mkdir()
    hangs = HANGS.format(flag=str(folder / "begun"))
    path = claude_folder(folder, before=hangs)
    home = tmp_path / "home"
    home.mkdir()
    with live_kernel(NEWEST, home) as found:
        found.run(
            "%load_ext rt_notebook\nimport os, rt_notebook as rt\n"
            f"os.environ['PATH'] = {str(path)!r}\n"
            "dan = rt.Seat('dan', model='cli:claude')\nbo = rt.Seat('bo')"
        )
        yield found


def _begun(live: LiveKernel, folder: Path) -> str:
    cell = live.queue(CELL)
    live.wait_for((folder / "begun").exists)
    assert len(alive(folder)) >= 2
    return cell


def _gone(folder: Path) -> None:
    end = time.monotonic() + GONE_S
    while left := alive(folder):
        assert time.monotonic() < end, left
        time.sleep(0.02)


def test_interrupted_cell_leaves_no_process(live: LiveKernel, folder: Path) -> None:
    cell = _begun(live, folder)
    live.interrupt()
    _gone(folder)
    assert "Interrupt" in live.reply(cell)["ename"]
    assert live.run("print(out.status, rt.state('last').status)") == "interrupted interrupted\n"


def test_restarted_kernel_leaves_no_process(live: LiveKernel, folder: Path) -> None:
    _begun(live, folder)
    live.manager.restart_kernel(now=True)
    _gone(folder)


def test_killed_kernel_leaves_no_process(live: LiveKernel, folder: Path) -> None:
    _begun(live, folder)
    live.manager.signal_kernel(9)
    _gone(folder)
