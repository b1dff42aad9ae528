"""What reading costs: hostile shapes stay linear, and the contract stays light to import."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from benchmarks.contract import OPTIONS, SEATS, SHAPES, VALID, VERDICTS
from rt_notebook.contract import read_reply, read_verdict
from tests.environment import ROOT

SIZE = 100_000
# A linear reading takes some 30 ms; a quadratic one takes longer than anybody waits.
MOST_S = 1.5


@pytest.mark.parametrize("shape", [*SHAPES, *VERDICTS])
def test_hostile_shape_is_read_fast(shape: str) -> None:
    unit, around = (SHAPES | VERDICTS)[shape]
    text = around.replace("{}", unit * (SIZE // len(unit)), 1)
    start = time.process_time()
    read_reply(text, options=OPTIONS, round=1, seat="qa", seats=SEATS)
    read_verdict(text, options=OPTIONS)
    assert time.process_time() - start < MOST_S


def test_the_valid_part_of_hostile_text_is_still_read() -> None:
    reply = read_reply("<think>" * 999 + VALID + "```\n" * 999, options=OPTIONS, round=1)
    assert (reply.stance_key, reply.disagree, reply.new) == ("opt-1", ["cost"], ["none"])


def test_contract_loads_no_heavy_package() -> None:
    heavy = ["pydantic", "pandas", "IPython", "ipywidgets", "asyncio", "sqlite3"]
    code = (
        "import sys; import rt_notebook.contract; "
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
