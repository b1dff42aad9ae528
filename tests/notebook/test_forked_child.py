"""A child that a cell forks, as a pool of multiprocessing does, runs debates of its own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.notebook.live_kernel import live_kernel
from tests.notebook.runner import NEWEST

pytestmark = [
    pytest.mark.notebook,
    pytest.mark.skipif(sys.platform == "win32", reason="no fork there"),
]

CELL = """\
import multiprocessing as mp
import rt_notebook as rt

def debate(waiting):
    review = rt.Review("Ship?", options=["Ship", "Wait"], rounds=0)
    waiting.put(review.run_sync().status)

fork = mp.get_context("fork")
answers = fork.SimpleQueue()
child = fork.Process(target=debate, args=(answers,))
child.start()
child.join(20)
child.kill()
print(child.exitcode, None if answers.empty() else answers.get())
"""


def test_forked_child_leaves_its_parents_kernel_alone(tmp_path: Path) -> None:
    with live_kernel(NEWEST, tmp_path) as live:
        live.run("%load_ext rt_notebook")
        assert live.run(CELL, 40) == "0 done\n"
        own = "rt.Review('Ship?', options=['Ship', 'Wait'], rounds=0, unattended=True)"
        assert live.run(f"print({own}.run_sync().status)") == "done\n"
