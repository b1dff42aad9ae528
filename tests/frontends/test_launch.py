"""A debate on its way through a cell: view, variable and result, whatever way it is run."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

import rt_notebook as rt
from rt_notebook import session
from rt_notebook.engine.runner import runner
from rt_notebook.frontends.handle import Handle
from rt_notebook.frontends.launch import DebateCell, NotStarted
from rt_notebook.frontends.place import Place, find_place
from rt_notebook.frontends.ways import run_awaited, run_blocking, start_background


class RecordingView:
    """A view that writes down what it is told, and by which thread."""

    def __init__(self, agrees: bool = True) -> None:
        self.settled = False
        self.told: list[tuple[str, Any]] = []
        self.agrees = agrees

    def show(self, fresh: bool = False) -> None:
        self.told.append(("show", threading.current_thread().name))

    def listener(self, event: Any, state: Any) -> None:
        self.told.append((event.kind, threading.current_thread().name))

    def turns_changed(self, turns: list[Any]) -> None:
        self.told.append(("turns", [turn.seat for turn in turns]))

    async def ready(self) -> bool:
        self.settled = True
        return True

    async def confirm(self, text: str) -> bool:
        self.told.append(("confirm", text))
        return self.agrees

    def finish(self, result: object) -> None:
        self.told.append(("finish", type(result).__name__))

    def kinds(self) -> list[str]:
        return [kind for kind, _ in self.told]


def _run(seats: list[rt.Seat] | None = None, **settings: Any) -> Any:
    made = rt.Review("Ship now?", options=["Ship", "Wait"], seats=seats, rounds=0, **settings)
    return session.new_run(made.spec, session.Opening(attended=True))


def _cell(view: RecordingView | None = None, **more: Any) -> DebateCell:
    make: Callable[..., Any] | None = None if view is None else lambda post: view
    return DebateCell(_run(), Place(), make_view=make, **more)


def test_view_sees_everything_between_show_and_finish() -> None:
    view = RecordingView()
    values: list[Any] = []
    result = run_blocking(_cell(view, assign=values.append), Place())
    kinds = view.kinds()
    assert kinds[:2] == ["show", "created"]
    assert kinds[-2:] == ["concluded", "finish"]
    assert kinds.count("finish") == 1
    assert values == [result]
    assert view.told[-1] == ("finish", "Result")


def test_result_is_shown_where_there_is_no_view() -> None:
    shown: list[Any] = []
    result = run_blocking(_cell(shown=shown.append), Place())
    assert shown == [result]


@pytest.mark.parametrize("way", ["awaited", "blocking"])
def test_declined_start_calls_and_stores_nothing(way: str) -> None:
    view = RecordingView(agrees=False)
    values: list[Any] = []
    cell = _cell(view, assign=values.append, confirm="Costs 5 USD. Start?")
    if way == "blocking":
        run_blocking(cell, Place())
    else:
        asyncio.run(run_awaited(cell, Place()))  # noqa: TID251 # a program's own loop
    assert view.kinds() == ["show", "confirm", "finish"]
    assert view.told[-1] == ("finish", "NotStarted")
    assert values == []
    assert rt.debates().empty
    assert "nothing was called" in repr(NotStarted())


def test_confirmed_start_runs_the_debate() -> None:
    view = RecordingView()
    result = run_blocking(_cell(view, confirm="Start?"), Place())
    assert result.status == "done"
    assert view.kinds()[:3] == ["show", "confirm", "created"]


def test_background_leaves_handle_then_keeps_it() -> None:
    view = RecordingView()
    values: list[Any] = []
    cell = _cell(view, assign=values.append, background=True)
    handle = start_background(cell, Place())
    result = handle.result(10)
    assert [type(value) for value in values] == [Handle]
    assert values[0].id == handle.id == result.id
    assert repr(values[0]) == f"<Handle {result.id}: done>"


def test_interruption_names_the_resume_command() -> None:
    cell = _cell()
    assert cell.interruption() == "interrupted before anything was called"
    result = run_blocking(cell, Place())
    assert f"`%roundtable resume {result.id}`" in cell.interruption()


def test_human_turns_reach_the_view() -> None:
    view = RecordingView()
    run = _run([rt.Seat("me", model="human"), rt.Seat("dev")])
    handle = start_background(DebateCell(run, Place(), make_view=lambda post: view), Place())
    rt.wait(handle.id, 10)
    rt.answer(handle.id, round=0, seat="me", text="PASS")
    handle.result(10)
    turns = [seats for kind, seats in view.told if kind == "turns"]
    assert turns[0] == ["me"]
    assert turns[-1] == []


def test_started_debate_is_found_by_its_id_at_once() -> None:
    for _ in range(5):
        handle = start_background(_cell(), Place())
        assert rt.state(handle.id).id == handle.id
        handle.result(10)


def test_ended_debates_leave_the_runner() -> None:
    before = set(runner()._jobs)
    run_blocking(_cell(RecordingView()), Place())
    start_background(_cell(RecordingView()), Place()).result(10)
    assert set(runner()._jobs) <= before


def test_place_of_a_script_is_nobody() -> None:
    place = find_place()
    assert (place.kernel, place.attended, place.headless_kernel) == (None, False, False)
    assert Place(kernel=object(), stdin=True).attended
    assert Place(kernel=object()).headless_kernel
    assert Place(terminal=True).attended


def test_captured_cell_gets_the_result_itself() -> None:
    shown: list[Any] = []
    result = run_blocking(
        _cell(RecordingView(), shown=shown.append, captured=lambda: True), Place()
    )
    assert shown == [result]
    run_blocking(_cell(RecordingView(), shown=shown.append), Place())
    assert shown == [result]


def test_background_result_enters_no_other_capture() -> None:
    shown: list[Any] = []
    cell = _cell(RecordingView(), shown=shown.append, captured=lambda: True, background=True)
    start_background(cell, Place()).result(10)
    assert shown == []
