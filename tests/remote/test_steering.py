"""Hold, finish, stop and people's turns, on debates that another process runs."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import rt_notebook as rt
from rt_notebook import session
from rt_notebook.domain.events import Event
from rt_notebook.domain.state import State
from rt_notebook.frontends.control import Control
from rt_notebook.remote import RemoteControl
from rt_notebook.running import DebateRun
from rt_notebook.store import Answer, Command, open_store
from tests.remote.children import PLAIN, SPECS
from tests.remote.processes import Others
from tests.store.samples import run as play


def test_hold_extends_the_gate_from_outside(others: Others) -> None:
    child = others.run("asking")
    before = rt.wait(child.id, 10).gate
    assert before is not None
    assert before.closes_at is not None
    for left in (2, 1, 0):
        held = rt.hold(child.id, round=0).gate
        assert held is not None
        assert (held.holds_left, held.closes_at) == (left, before.closes_at + 60_000 * (3 - left))
    with pytest.raises(rt.UsageError, match="was extended 3 times"):
        rt.hold(child.id, round=0)


def test_finish_from_outside_leads_to_the_verdict(others: Others) -> None:
    child = others.run("hanging")
    child.until("round_started")
    child.until("round_started")
    assert rt.finish(child.id).status in ("running", "verdict", "done")
    assert child.end() == {"ended": "done", "reason": "finished"}
    assert rt.load(child.id).verdict.status == "ready"


def test_word_for_a_running_discussion_arrives(others: Others) -> None:
    child = others.run("talk")
    child.until("call_started")
    session.control_of(child.id).answer(message="Think of the cost.", source="agent")
    interjected = child.until("interjection")
    assert interjected["body"] == {"text": "Think of the cost.", "source": "agent"}
    rt.stop(child.id)
    assert child.end()["ended"] == "stopped"


def test_finish_that_comes_too_early_is_refused(others: Others) -> None:
    child = others.run("hanging at once")
    with pytest.raises(rt.UsageError, match="no complete round has a usable reply yet"):
        rt.finish(child.id)
    assert rt.stop(child.id).status in ("running", "stopped")
    assert child.end()["ended"] == "stopped"


def test_stop_from_outside_ends_it(others: Others) -> None:
    child = others.run("hanging")
    child.until("reply_read")
    rt.stop(child.id)
    assert child.end() == {"ended": "stopped", "reason": "stopped"}
    assert rt.wait(child.id, 10).next_action.type == "verdict"
    with pytest.raises(rt.UsageError, match="stop: the debate is stopped"):
        rt.stop(child.id)
    result = rt.verdict(child.id).result(10)
    assert (result.status, result.verdict.status) == ("done", "ready")
    rt.delete(child.id)
    with pytest.raises(rt.UnknownDebateError, match=child.id):
        rt.state(child.id)


def test_running_debate_is_not_deleted_from_outside(others: Others) -> None:
    child = others.run("hanging")
    with pytest.raises(rt.NotResumableError, match=f"process {child.process.pid}.* runs it"):
        rt.delete(child.id)
    with pytest.raises(rt.NotResumableError, match=f"process {child.process.pid}.* runs it"):
        session.resume_run(child.id, session.Opening(attended=True))


def test_persons_turn_is_taken_from_outside(others: Others) -> None:
    child = others.run("human")
    for round in (0, 1):
        found = rt.wait(child.id, 10)
        (turn,) = found.turns
        assert (turn.round, turn.seat, found.next_action.type) == (round, "me", "ask_user")
        assert "Ship now?" in turn.prompt
        assert ("critique round" in turn.prompt) is bool(round)
        assert turn.closes_at is not None
        left = turn.closes_at / 1000 - time.time()
        assert 60 < left <= 90
        with pytest.raises(rt.UsageError, match=r"breaks the contract.*STANCE") as caught:
            rt.answer(child.id, round=round, seat="me", text="I would rather not say.")
        assert caught.value.facts["kept"] == {"text": "I would rather not say."}
        assert caught.value.facts["errors"]
        with pytest.raises(rt.UsageError, match=r"no turn of 'you' is open.*me \(round"):
            rt.answer(child.id, round=round, seat="you", text=PLAIN)
        after = rt.answer(child.id, round=round, seat="me", text=PLAIN)
        assert not after.turns
        if round == 0:
            rt.wait(child.id, 0)
            child.until("gate_opened")
            rt.answer(child.id, round=0)
    assert child.end()["ended"] == "done"
    assert list(rt.load(child.id).replies.query("seat == 'me'").stance) == ["Wait", "Wait"]
    with pytest.raises(rt.UsageError, match=r"open turns: none \(status done\).*not sent: text"):
        rt.answer(child.id, round=1, seat="me", text=PLAIN)


def test_huge_turn_is_refused(others: Others) -> None:
    child = others.run("human")
    rt.wait(child.id, 10)
    text = "x" * 10_000_000
    with pytest.raises(rt.UsageError, match="1,048,576 are allowed") as caught:
        rt.answer(child.id, round=0, seat="me", text=text)
    assert caught.value.facts["kept"] == {"text": text}


def test_person_in_the_chair_is_seen_outside(others: Others) -> None:
    child = others.run("human chairman")
    (turn,) = rt.wait(child.id, 10).turns
    assert turn.seat == "boss"
    assert turn.prompt.endswith("Write the verdict now.")
    text = (
        "RECOMMENDATION:\nopt-2\nNot yet.\nDISSENT: none\nKILL_CRITERIA: none\nOPEN_QUESTIONS: none"
    )
    rt.answer(child.id, round=turn.round, seat="boss", text=text)
    child.end()
    assert rt.load(child.id).verdict.pick == "opt-2"


def test_turn_is_taken_the_moment_it_opens() -> None:
    """The log tells of it a little before it lies on the desk of the running process."""
    answers: list[Answer] = []

    async def main() -> None:
        def listen(event: Event, state: State) -> None:
            if event.kind == "call_started" and event.body["seat"] == "me":
                body = {"round": event.body["round"], "seat": "me", "text": PLAIN}
                command = Command(1, run.id, "turn", body, "person", 0)
                tasks.append(asyncio.create_task(take(command)))

        async def take(command: Command) -> None:
            answers.append(await run._obey(command))

        tasks: list[asyncio.Task[None]] = []
        spec = SPECS["human"]().model_copy(update={"gates": "off"})
        run = session.new_run(spec, session.Opening(attended=True))
        run.listeners.append(listen)
        assert (await run.main()).status == "done"

    play(main())
    assert [answer.error for answer in answers] == [None, None]


@pytest.mark.parametrize("name", ["human", "human chairman", "human talk"])
def test_turn_outside_is_the_one_inside(name: str) -> None:
    """What the log tells of an open turn is what lies on the desk of the running process."""
    run = session.new_run(SPECS[name](), session.Opening(attended=True))
    inside: list[Any] = []
    laid = threading.Event()

    def changed() -> None:
        inside.extend(run.open_turns())
        laid.set()

    run.desk.changed.append(changed)
    from rt_notebook.engine.runner import runner

    job = runner().submit(lambda job: run.main())
    assert laid.wait(10)
    (seen,) = rt.wait(run.id, 10).turns
    (own,) = inside
    assert (seen.round, seen.seat, seen.prompt) == (own.round, own.seat, own.prompt)
    assert abs(seen.closes_at - own.closes_at) < 1_000
    run.stop()
    job.result(10)


def test_both_ways_are_one_control(others: Others) -> None:
    """What front ends steer with is the same, wherever the debate runs."""
    child = others.run("asking")
    remote: Control = RemoteControl(open_store(others.store), child.id)
    run: Control = session.new_run(SPECS["asking"](), session.Opening(attended=True))
    for name in ("answer", "take_turn", "hold", "finish", "stop", "state"):
        assert callable(getattr(remote, name))
        assert callable(getattr(run, name))
    assert isinstance(session.control_of(child.id), RemoteControl)


def test_debate_of_this_process_is_found_whatever_its_store(tmp_path: Path) -> None:
    """Its id is enough, as long as it runs here."""
    seats = SPECS["asking"]().seats
    review = rt.Review("Ship?", options=["Ship", "Wait"], seats=seats, store=tmp_path / "own.db")
    handle = review.start()
    assert rt.wait(handle.id, 10).status == "waiting"
    assert isinstance(session.control_of(handle.id), DebateRun)
    assert rt.answer(handle.id, round=0, answers={"q1": "x"}).gate is None
    assert handle.result(10).status == "done"
    with pytest.raises(rt.UnknownDebateError, match=handle.id):
        rt.state(handle.id)
    assert rt.state(handle.id, store=tmp_path / "own.db").status == "done"
