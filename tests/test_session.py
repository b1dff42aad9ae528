"""Runs of debates in the real store: started, controlled from other threads, resumed, judged."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from rt_notebook import session
from rt_notebook.analysis.result import Result
from rt_notebook.domain.script import hang, say, scripted
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.spec import DebateSpec, Limits
from rt_notebook.domain.state import State, fold
from rt_notebook.engine.runner import runner
from rt_notebook.errors import (
    LimitError,
    NotResumableError,
    OptionError,
    SeatError,
    UnknownDebateError,
    UsageError,
)
from rt_notebook.providers.base import Call
from rt_notebook.running import DebateRun, all_running, running
from rt_notebook.session import Opening
from tests.engine.clocks import play_live
from tests.engine.debates import VERDICT, Voice, reply, spec, split, voices
from tests.live_runs import WAIT_S, interrupted, petras_turn, under_way, when


def finished(definition: DebateSpec, **opening: Any) -> Result:
    return play_live(session.new_run(definition, Opening(**opening)).main())


def test_review_is_stored_as_it_lived() -> None:
    result = finished(split(rounds=1, title="Ship it"))
    assert (result.status, result.stop_reason, result.title) == ("done", "rounds", "Ship it")
    again = session.load(result.id)
    assert again.fold == fold(result.events)
    assert again.state == result.state
    assert session.load("last").id == result.id
    assert [row.id for row in session.rows()] == [result.id]
    assert session.state(result.id) == result.state


def test_commands_come_from_other_threads() -> None:
    definition = spec(
        Seat("a", model=Voice(reply("opt-1", question="How much?"), reply("opt-1"))),
        Seat("b", model=Voice(reply("opt-2"))),
        rounds=2,
    )
    run = session.new_run(definition, Opening(attended=True))
    opened = when(run, "gate_opened", round=0)
    opened_again = when(run, "gate_opened", round=1)
    with under_way(run):
        assert opened.wait(WAIT_S)
        assert running(run.id) is run
        assert all_running() == [run]
        assert run.state().status == "waiting"
        held = run.hold()
        assert held.gate is not None
        assert held.gate.holds_left == 2
        after = run.answer({"q1": "40,000"}, message="Be brief.", round=0)
        assert after.gate is None or after.gate.round == 1
        assert opened_again.wait(WAIT_S)
        with pytest.raises(UsageError, match="the gate of round 0 isn't open"):
            run.answer({"q1": "late"}, round=0)
        assert run.finish().status in ("running", "verdict", "done")
    assert run.fold.stop_reason == "finished"
    assert [note.text for note in run.fold.notes] == ["40,000", "Be brief."]
    assert running(run.id) is None
    with pytest.raises(UsageError, match="the debate is done"):
        run.stop()


def test_stop_right_after_start_is_obeyed() -> None:
    run = session.new_run(split(rounds=5), Opening(attended=True))
    with under_way(run):
        run.stop()
    assert run.fold.status == "stopped"


def test_command_from_debates_own_loop_is_carried_out() -> None:
    run = session.new_run(split(rounds=5), Opening(attended=True))

    def listen(event: Any, state: State) -> None:
        if event.kind == "gate_opened":
            assert run.finish().id == run.id

    run.listeners.append(listen)
    result = play_live(run.main())
    assert result.stop_reason == "finished"


def test_late_command_from_own_loop_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """Both answers fit when they are given; only the first one finds the gate still open."""
    run = session.new_run(split(rounds=1), Opening(attended=True))

    def listen(event: Any, state: State) -> None:
        if event.kind == "gate_opened":
            run.answer(message="first")
            run.answer(message="second")

    run.listeners.append(listen)
    result = play_live(run.main())
    assert [note.text for note in result.fold.notes] == ["first"]
    assert "a command came too late: answer: no gate is open" in caplog.text


def test_persons_turn_is_checked_and_taken() -> None:
    with petras_turn() as run:
        (turn,) = run.state().turns
        assert (turn.round, turn.seat) == (0, "Petra")
        with pytest.raises(UsageError, match="breaks the contract: STANCE is missing") as caught:
            run.take_turn(round=0, seat="Petra", text="words")
        assert caught.value.facts["kept"] == {"text": "words"}
        with pytest.raises(UsageError, match="is empty; write PASS to pass"):
            run.take_turn(round=0, seat="Petra", text=" ")
        with pytest.raises(UsageError, match="no turn of 'b' is open in round 0"):
            run.take_turn(round=0, seat="b", text="PASS")
        after = run.take_turn(round=0, seat="Petra", text=reply("opt-1"))
        assert [
            position.stance_key for position in after.positions if position.seat == "Petra"
        ] == ["opt-1"]
    assert run.fold.status == "done"


def test_persons_verdict_is_checked_too() -> None:
    run = session.new_run(
        split(rounds=0, chairman=Seat("boss", model="human")), Opening(attended=True)
    )
    asked = when(run, "call_started", seat="boss")
    with under_way(run):
        assert asked.wait(WAIT_S)
        with pytest.raises(UsageError, match="breaks the contract: "):
            run.take_turn(round=0, seat="boss", text="I say no.")
        run.take_turn(round=0, seat="boss", text=VERDICT)
    assert run.fold.verdict_status == "ready"


def test_people_need_somebody_there() -> None:
    definition = spec(Seat("Petra", model="human"), Seat("b"))
    with pytest.raises(SeatError, match="seat 'Petra' is a person, and nobody can answer here"):
        session.new_run(definition, Opening(attended=False))
    session.new_run(definition, Opening(attended=True))


def test_spec_decides_over_attendance() -> None:
    forced = session.new_run(split(unattended=False), Opening(attended=False))
    assert not forced.fold.unattended
    alone = session.new_run(split(unattended=True, gates="blocking"), Opening(attended=True))
    assert alone.fold.unattended
    assert any("no gate opens" in warning for warning in alone.warnings)


def test_limits_are_checked_before_anything_is_stored() -> None:
    with pytest.raises(LimitError, match="max_calls=2 is below the least"):
        session.new_run(split(limits=Limits(max_calls=2)), Opening())
    assert session.rows() == []


def test_function_by_name_alone_is_refused() -> None:
    definition = spec(Seat("a", model="function:mine"), Seat("b"))
    with pytest.raises(SeatError, match="the function 'mine' isn't here; give the callable"):
        session.check_spec(definition)


def hanging() -> DebateSpec:
    return spec(
        Seat("a", model=Voice(reply("opt-1"))),
        Seat("b", model=scripted([hang(), say(stance="Wait")])),
        rounds=0,
    )


def test_resume_goes_on_with_functions_given_again() -> None:
    name = interrupted(hanging(), "b")
    assert session.state(name).next_action.type == "resume"
    assert session.missing_functions(name) == {"a": "Voice"}
    with pytest.raises(NotResumableError, match="seat 'a' sat on the function 'Voice'"):
        session.resume_run(name, Opening())
    with pytest.raises(SeatError, match="no seat is named 'z'"):
        session.resume_run(name, Opening(), models={"z": Voice()})
    voice = Voice(reply("opt-2"))
    run = session.resume_run(name, Opening(), models={"a": voice})
    assert run.fold.spec.seats[1].script is not None
    stuck = play_live(_resumed(run))
    # b's first entry was in flight when it was cut off: it takes that entry again, and hangs
    assert stuck == "interrupted"
    assert voice.calls == []


async def _resumed(run: DebateRun) -> str:
    asked = asyncio.Event()

    def listen(event: Any, state: State) -> None:
        if event.kind == "call_started" and event.body["call"] == "0/b/opening/2":
            asked.set()

    run.listeners.append(listen)
    task = asyncio.create_task(run.main())
    await asyncio.wait_for(asked.wait(), WAIT_S)
    run.interrupt()
    await asyncio.wait([task])
    assert task.cancelled()
    return run.fold.status


def test_interrupt_after_end_leaves_task_alone() -> None:
    async def main() -> str:
        run = session.new_run(split(rounds=0), Opening())
        result = await run.main()
        run.interrupt()
        await asyncio.sleep(0.01)
        return result.status

    assert play_live(main()) == "done"


def test_only_unfinished_debates_are_resumed() -> None:
    result = finished(split(rounds=0))
    with pytest.raises(NotResumableError, match=r"is done; resume takes one that is interrupted"):
        session.resume_run(result.id, Opening())
    with pytest.raises(NotResumableError, match="its verdict ready; verdict takes one that is"):
        session.verdict_run(result.id, Opening())
    for call in (session.load, session.state, session.delete, session.control_of):
        with pytest.raises(UnknownDebateError, match="nobody"):
            call("nobody-x")
    # a refused resume gives the debate back
    session.delete(result.id)
    assert session.rows() == []


def test_limits_can_be_raised_on_resume() -> None:
    definition = split(rounds=1, limits=Limits(max_calls=4, on_limit="pause"))
    paused = finished(definition)
    assert paused.status == "paused"
    run = session.resume_run(paused.id, Opening(), limits={"max_calls": 9})
    result = play_live(run.main())
    assert (result.status, result.stop_reason) == ("done", "rounds")
    assert session.load(paused.id).spec.limits.max_calls == 9


def test_dict_of_limits_leaves_the_others() -> None:
    limits = Limits(max_calls=4, max_cost=2.5, on_limit="pause")
    paused = finished(split(rounds=2, limits=limits))
    play_live(session.resume_run(paused.id, Opening(), limits={"max_calls": 6}).main())
    again = session.load(paused.id)
    assert again.spec.limits == Limits(max_calls=6, max_cost=2.5, on_limit="pause")
    assert (again.status, again.stop_reason) == ("paused", "limit")
    wrong: Any
    for wrong in (5, "20", [20]):
        with pytest.raises(OptionError, match=r"limits=.*: Limits or a dict such as"):
            session.resume_run(paused.id, Opening(), limits=wrong)
    for wrong, match in ((5, "a dict of callables"), ({"a": "scripted"}, r"models\['a'\]: a call")):
        with pytest.raises(SeatError, match=match):
            session.resume_run(paused.id, Opening(), models=wrong)
    # every refusal gave the debate back
    session.delete(paused.id)


@pytest.mark.parametrize(
    ("limits", "name"),
    [({"max_calls": 2}, "max_calls"),
     ({"max_calls": None, "max_calls_per_vendor": {"scripted": 2}},
      "max_calls_per_vendor.scripted")],
)  # fmt: skip
def test_resume_without_a_call_for_the_verdict_is_refused(limits: Any, name: str) -> None:
    paused = finished(split(rounds=1, limits=Limits(max_calls=4, on_limit="pause")))
    assert (paused.status, paused.state.usage["calls"]) == ("paused", 2)
    with pytest.raises(LimitError, match=f"^{name}=2: 2 are used, and the verdict needs one more"):
        session.resume_run(paused.id, Opening(), limits=limits)
    assert session.load(paused.id).events == paused.events
    again = play_live(session.resume_run(paused.id, Opening(), limits={"max_calls": 5}).main())
    assert (again.status, again.state.usage["calls"]) == ("done", 5)


def test_verdict_is_asked_for_again() -> None:
    boss = Seat("boss", model=Voice(ValueError("down"), VERDICT))
    result = finished(split(rounds=0, chairman=boss))
    assert result.verdict.status == "failed"
    with pytest.raises(NotResumableError, match="seat 'boss' sat on the function 'Voice'"):
        session.verdict_run(result.id, Opening())
    models = {"boss": Voice(VERDICT)}
    again = play_live(session.verdict_run(result.id, Opening(), models).main())
    assert (again.status, again.verdict.status, again.verdict.pick) == ("done", "ready", "opt-1")
    assert session.load(result.id).verdict.pick == "opt-1"


def test_resume_with_people_needs_somebody_there() -> None:
    definition = spec(
        Seat("Petra", model="human"), Seat("b", model=scripted([say(stance="Wait")])), rounds=0
    )
    run = session.new_run(definition, Opening(attended=True))
    asked = when(run, "call_started", seat="Petra")
    job = runner().submit(lambda job: run.main())
    assert asked.wait(WAIT_S)
    job.cancel()
    assert job.finished.wait(WAIT_S)
    with pytest.raises(SeatError, match="'Petra' is a person, and nobody can answer here"):
        session.resume_run(run.id, Opening(attended=False))
    session.resume_run(run.id, Opening(attended=True))


def test_sync_functions_and_many_debates_share_one_loop() -> None:
    def speak(call: Call) -> str:
        return reply("opt-1" if call.seat == "a" else "opt-2")

    definition = spec(Seat("a", model=speak), Seat("b", model=speak, lens="risk"), rounds=1)

    async def main() -> list[str]:
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(session.new_run(definition, Opening()).main()) for _ in range(8)
            ]
        return [task.result().status for task in tasks]

    assert play_live(main()) == ["done"] * 8
    assert len(session.rows()) == 8


def test_twins_of_brief_are_found() -> None:
    name = interrupted(hanging(), "b")
    assert [row.id for row in session.interrupted_twins(voices("opt-1", "opt-2"))] == [name]
    assert session.interrupted_twins(split(title="other")) != []


def test_resume_without_anybody_is_told_to_readers() -> None:
    definition = split(rounds=1, gates="blocking")
    run = session.new_run(definition, Opening(attended=True))
    opened = when(run, "gate_opened")
    job = runner().submit(lambda job: run.main())
    assert opened.wait(WAIT_S)
    job.cancel()
    assert job.finished.wait(WAIT_S)
    result = play_live(session.resume_run(run.id, Opening(attended=False)).main())
    assert (result.status, result.stop_reason) == ("done", "rounds")
    assert session.load(run.id).fold.unattended
