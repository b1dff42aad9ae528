"""An async seat that blocks the debates' loop, so that an interrupt can't be carried out."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

import rt_notebook as rt
from rt_notebook import session
from rt_notebook.analysis.result import Result
from rt_notebook.engine.runner import runner
from rt_notebook.frontends.launch import DebateCell
from rt_notebook.frontends.place import find_place
from tests.engine.debates import reply


class Blocking:
    """A seat's coroutine that blocks the loop it runs on."""

    __name__ = "blocking"

    def __init__(self) -> None:
        self.blocks = threading.Event()
        self.lets_go = threading.Event()

    async def __call__(self, call: rt.Call) -> str:
        self.blocks.set()
        self.lets_go.wait(30)
        return reply("Wait", f"round {call.round}")


@pytest.fixture
def seat() -> Iterator[Blocking]:
    """A seat that blocks until it is let go; the loop is free again after the test."""
    found = Blocking()
    yield found
    found.lets_go.set()


def test_interrupted_cell_leaves_a_true_report(seat: Blocking) -> None:
    kept: list[Any] = []
    shown: list[Result] = []
    review = rt.Review(
        "Now?", options=["Ship", "Wait"], seats=[rt.Seat("stuck", model=seat), "dev"],
        unattended=True,
    )  # fmt: skip
    run = session.new_run(review.spec, session.Opening())
    cell = DebateCell(run, find_place(), make_view=None, assign=kept.append, shown=shown.append)
    job = runner().new_job(cell.main)
    cell.start_view(job)
    job.start()
    assert seat.blocks.wait(20)
    # What an interrupt does: it gives the clean-up its time, and goes on without it.
    job.cancel()
    assert not job.finished.wait(0.2)
    cell.finish(job)
    assert kept == shown
    (result,) = kept
    assert (result.status, result.stop_reason) == ("interrupted", "interrupted")
    assert result.state.next_action.type == "resume"
    for text in result._repr_mimebundle_().values():
        assert "interrupted" in text
        assert "running" not in text
    # Let go, the debate says so itself, and can be resumed.
    seat.lets_go.set()
    assert job.finished.wait(20)
    assert rt.load(run.id).status == result.status == "interrupted"
    models = {"stuck": lambda call: reply("Ship", f"round {call.round}")}
    assert rt.resume(run.id, models=models).result(30).status == "done"


def test_interrupted_before_anything_was_called_says_so(seat: Blocking) -> None:
    """Another debate's seat blocks the loop: this one could not even begin."""
    stuck = rt.Seat("stuck", model=seat)
    first = rt.Review("First?", options=["A", "B"], seats=[stuck, "dev"], unattended=True)
    thread = threading.Thread(target=first.run_sync, daemon=True)
    thread.start()
    assert seat.blocks.wait(20)
    review = rt.Review("Second?", options=["A", "B"], seats=["pm", "dev"], unattended=True)
    run = session.new_run(review.spec, session.Opening())
    cell = DebateCell(run, find_place(), make_view=None)
    job = runner().new_job(cell.main).start()
    job.cancel()
    assert not job.finished.wait(0.1)
    cell.finish(job)
    assert cell.interruption() == "interrupted before anything was called"
    seat.lets_go.set()
    assert job.finished.wait(20)
    thread.join(20)
    with pytest.raises(rt.UnknownDebateError, match="no debate"):
        rt.load(run.id)
