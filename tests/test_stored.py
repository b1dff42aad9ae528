"""Debates in the store that is meant: found, listed, taken over."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import rt_notebook as rt
from rt_notebook import session
from rt_notebook.domain.script import hang, scripted
from rt_notebook.domain.seat import Seat
from rt_notebook.engine.runner import runner
from rt_notebook.session import Opening
from rt_notebook.store import open_store
from rt_notebook.stored import take_over
from tests.engine.clocks import play_live
from tests.engine.debates import spec
from tests.live_runs import WAIT_S, interrupted, when


@pytest.mark.parametrize("durability", ["process", "power"])
def test_what_events_survive_stays_with_the_debate(durability: Any) -> None:
    definition = spec(Seat("a"), Seat("b", model=scripted([hang(), hang()])), rounds=0)
    name = interrupted(definition, "b", durability=durability)
    log, state = take_over(open_store(), name, "process")
    log.release()
    assert log.durability == durability
    assert state.status == "interrupted"


def test_store_of_the_settings_is_where_verbs_look(settings_store: Path, tmp_path: Path) -> None:
    result = rt.Review("Ship it?", options=["yes", "no"]).run_sync()
    assert settings_store.is_file()
    assert rt.load(result.id).verdict == result.verdict
    assert rt.state("last").id == result.id
    assert list(rt.debates()["id"]) == [result.id]
    assert rt.debates(store=tmp_path / "other.db").empty
    assert rt.extend(result.id).result(WAIT_S).id == result.id
    rt.delete(result.id)
    assert rt.debates().empty


def test_debate_at_work_is_found_behind_hundreds_of_later_ones() -> None:
    definition = spec(Seat("a"), Seat("b", model=scripted([hang()])), rounds=0)
    run = session.new_run(definition, Opening())
    asked = when(run, "call_started", seat="b")
    job = runner().submit(lambda job: run.main())
    assert asked.wait(WAIT_S)
    quick = spec(Seat("a"), Seat("b"), rounds=0)

    async def crowd() -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(201):
                group.create_task(session.new_run(quick, Opening()).main())

    play_live(crowd())
    assert [row.id for row in session.running_rows()] == [run.id]
    (line,) = session.running_lines()
    assert line.startswith(f"#{run.id} ")
    job.cancel()
    assert job.finished.wait(WAIT_S)
    assert session.running_rows() == []
