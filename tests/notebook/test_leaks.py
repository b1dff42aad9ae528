"""Many debates in one kernel leave nothing behind: no widget, task, thread, file or memory."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.notebook.answering_page import AnsweringPage
from tests.notebook.live_kernel import LiveKernel, live_kernel
from tests.notebook.runner import ALL_KERNELS, NEWEST
from tests.notebook.watched_kernel import SETUP

SCENES = """
import asyncio, contextlib, gc
import comm, psutil
from ipywidgets.widgets import widget as widgets
from rt_notebook.engine.job import Job
from rt_notebook.engine.runner import runner
from rt_notebook.frontends.live_view import LiveView
from rt_notebook.running import DebateRun

asks = seat("asks", "Ship", "Ship", ask=["What is the budget?"])
calm, hangs = seat("calm", "Wait", "Wait"), rt.Seat("hangs", model=rt.scripted([rt.hang()]))
made |= dict(seats=[asks, calm], rounds=1, checkpoint_wait_s=60)
LINE = "out --seats asks,calm --rounds 1 --question-wait-s 60 --checkpoint-wait-s 60"
BODY = "Ship now?\\n\\noptions:\\n- Ship\\n- Wait\\n"
ip = get_ipython()

async def awaited(): await rt.Review(**made).run()
async def blocking(): rt.Review(**made).run_sync()
async def started(): await rt.Review(**made).start()
async def stopped():
    handle = rt.Review(**made).start()
    handle.stop()
    await handle
async def cancelled():
    task = asyncio.ensure_future(rt.Review(**made | {"seats": [calm, hangs]}).run())
    await asyncio.sleep(0.05)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
async def cell(): ip.run_cell_magic("roundtable", LINE, BODY)
async def background():
    ip.run_cell_magic("roundtable", LINE + " --background", BODY)
    await out
async def captured(): ip.run_cell_magic("capture", "held", f"%%roundtable {LINE}\\n{BODY}")
async def unseen(): await rt.Review(**made, display=False, unattended=True).run()
async def discussed(): await rt.Discussion("How?", seats=["pm", "dev"], rounds=1).run()

ALL = (awaited, blocking, started, stopped, cancelled)
ALL += (cell, background, captured, unseen, discussed)

async def play(count):
    for number in range(count):
        await ALL[number % len(ALL)]()

def left():
    gc.collect()
    process, alive = psutil.Process(), gc.get_objects()
    manager = comm.get_comm_manager()
    # IPython's journal comes and goes.
    histories = [file for file in process.open_files() if "history.sqlite" in file.path]
    kinds = [type(thing) for thing in alive]
    return {
        "widgets": len(widgets._instances),
        "comms": len(manager.comms),
        "comm targets": len(manager.targets),
        "tasks": len(asyncio.all_tasks()),
        "tasks of the engine": len(asyncio.all_tasks(runner().loop)),
        "threads": threading.active_count(),
        "files": process.num_fds() - len(histories),
        "processes": len(process.children()),
    }, max(kinds.count(kind) for kind in (Job, LiveView, DebateRun)), process.memory_full_info().uss
"""
"""Ten ways a debate goes through a kernel; most have a gate that the page answers."""
Counts = dict[str, int]
ANSWERED = 0.6
"""How many of them do."""
WARM_UP = 60


@pytest.fixture
def live(tmp_path: Path, kernel: str) -> Iterator[LiveKernel]:
    """Gives a kernel in which every kind of debate can run."""
    with live_kernel(kernel, tmp_path) as found:
        found.run(SETUP + SCENES)
        yield found


def _grown(before: Counts, after: Counts) -> dict[str, tuple[int, int]]:
    return {name: (before[name], count) for name, count in after.items() if count > before[name]}


def _assert_nothing_grows(live: LiveKernel, count: int, memory: int) -> None:
    page = AnsweringPage(live)
    page.run(f"await play({WARM_UP})", 60)
    before, _, memory_before = live.value("left()")
    page.run(f"await play({count})", 1000)
    found: list[Any] = []

    def settled() -> bool:
        # A task of the kernel's own may just be under way; what leaks stays.
        found[:] = live.value("left()")
        return not _grown(before, found[0])

    with contextlib.suppress(AssertionError):
        live.wait_for(settled, 5)
    after, debates, memory_after = found
    assert _grown(before, after) == {}
    assert page.answered == ANSWERED * (WARM_UP + count)
    assert debates < 5  # the last ones, which variables and IPython still hold
    print(f"{count} debates: {(memory_after - memory_before) / 1e6:+.1f} MB, {after}")
    assert memory_after - memory_before < memory


@pytest.mark.parametrize("kernel", [NEWEST], indirect=True)
def test_a_hundred_debates_leave_nothing(live: LiveKernel) -> None:
    _assert_nothing_grows(live, 100, memory=5_000_000)


@pytest.mark.soak
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("kernel", ALL_KERNELS, indirect=True)
def test_a_thousand_debates_leave_nothing(live: LiveKernel) -> None:
    _assert_nothing_grows(live, 1000, memory=10_000_000)
