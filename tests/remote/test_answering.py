"""Gates of a debate that another process runs are answered from here."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

import pytest

import rt_notebook as rt
from rt_notebook import session
from rt_notebook.store import open_store
from tests.remote.processes import PROMISE_S, Others, events


def test_gate_is_answered_from_another_process(others: Others) -> None:
    child = others.run("asking")
    found = rt.wait(child.id, 10)
    assert (found.status, found.next_action.type) == ("waiting", "ask_user")
    assert found.gate is not None
    assert [question.text for question in found.gate.questions] == ["What is the budget?"]
    after = rt.answer(child.id, round=0, answers={"q1": "12 000 €"}, message="No overtime.")
    assert after.gate is None
    assert after.revision >= found.revision + 2
    assert child.end() == {"ended": "done", "reason": "rounds"}
    assert events(child.id, "gate_answered") == [
        {"round": 0, "answers": {"q1": "12 000 €"}, "message": "No overtime.", "source": "person"}
    ]
    assert list(rt.load(child.id).questions.answer) == ["12 000 €"]
    # Nothing is left of what was asked.
    with open_store(others.store).database.transaction() as connection:
        assert connection.execute("SELECT count(*) FROM commands").fetchone() == (0,)


def test_agent_is_recorded_as_source(others: Others) -> None:
    child = others.run("asking twice")
    child.until("gate_opened")
    control = session.control_of(child.id)
    control.hold(round=0, source="agent")
    control.answer({"q1": "unknown"}, round=0, source="agent")
    child.until("gate_opened")
    control.finish(source="agent")
    assert child.end()["reason"] == "finished"
    for kind in ("gate_held", "gate_answered", "finish_asked"):
        assert [body["source"] for body in events(child.id, kind)] == ["agent"], kind
    (note,) = [note for note in rt.load(child.id).fold.notes if note.question]
    assert (note.source, note.text) == ("agent", "unknown")


def test_unknown_source_is_refused(others: Others) -> None:
    child = others.run("asking")
    with pytest.raises(rt.OptionError, match=r"source='agnet'.*did you mean 'agent'"):
        session.control_of(child.id).stop(source="agnet")


def test_command_is_quick(others: Others) -> None:
    child = others.run("asking")
    child.until("gate_opened")
    control = session.control_of(child.id)
    took, came_back = [], []
    for _ in range(3):
        began = time.monotonic()
        control.hold()
        came_back.append(time.monotonic() - began)
        took.append(child.until("gate_held")["at"] - began)
    # The best of some: a busy machine is no fault of the store's.
    assert min(took) < PROMISE_S
    assert min(came_back) < 2 * PROMISE_S


def test_two_processes_race_to_answer(others: Others) -> None:
    """Exactly one answer is taken each time; the other asker is told and keeps its text."""
    racers = [others.steering() for _ in range(2)]
    for race in range(6):
        child = others.run("asking")
        child.until("gate_opened")
        for racer in racers if race % 2 else reversed(racers):
            text = f"budget of {racer.process.pid}"
            order = {"round": 0, "answers": {"q1": text}, "message": "m"}
            racer.say({"verb": "answer", "id": child.id, "with": order})
        said = {racer.process.pid: racer.line() for racer in racers}
        winners = [pid for pid, answer in said.items() if "revision" in answer]
        assert len(winners) == 1
        (loser,) = said.keys() - winners
        told_no = said[loser]
        assert told_no["kept"] == {"answers": {"q1": f"budget of {loser}"}, "message": "m"}
        # Its answer was checked after the gate had closed, or waited when the debate ended.
        assert "no gate is open" in told_no["refused"] or "ended mean" in told_no["refused"]
        assert f"not sent: q1: budget of {loser}; message: m" in told_no["refused"]
        assert child.end()["ended"] == "done"
        (answered,) = events(child.id, "gate_answered")
        assert answered["answers"] == {"q1": f"budget of {winners[0]}"}


def test_race_is_settled_by_the_runner_too(others: Others) -> None:
    """Both pass the check of the log; the runner takes the first, and refuses the second."""
    child = others.run("asking")
    child.until("gate_opened")
    store = open_store(others.store)
    os.kill(child.process.pid, signal.SIGSTOP)
    bodies = [{"round": 0, "answers": {"q1": text}, "message": None} for text in ("one", "two")]
    numbers = [store.ask(child.id, "answer", body, "person") for body in bodies]
    os.kill(child.process.pid, signal.SIGCONT)
    child.end()
    first, second = (store.collect(number) for number in numbers)
    assert first is not None
    assert first.error is None
    assert second is not None
    assert second.error is not None
    assert second.error["kind"] == "UsageError"
    assert second.error["facts"]["kept"] == {"answers": {"q1": "two"}, "message": None}


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "closed round": ({"round": 3, "answers": {"q1": "my text"}}, "the gate of round 3 isn't open"),
    "unknown question": ({"round": 0, "answers": {"q7": "my text"}}, "has no question 'q7'"),
    "10 MB answer": ({"round": 0, "answers": {"q1": "x" * 10_000_000}}, "has 10,000,000 char"),
    "10 MB message": ({"round": 0, "message": "x" * 10_000_000}, "has 10,000,000 characters"),
}


def test_bad_answer_is_refused_and_kept(others: Others) -> None:
    child = others.run("asking")
    before = rt.wait(child.id, 10)
    for given, match in REFUSED.values():
        with pytest.raises(rt.UsageError, match=match) as caught:
            rt.answer(child.id, **given)
        kept = caught.value.facts["kept"]
        assert kept["answers"] == given.get("answers", {})
        assert kept["message"] == given.get("message")
        assert len(str(caught.value)) < 1_000
        assert "\n" not in str(caught.value)
    assert rt.state(child.id).revision == before.revision


@pytest.mark.parametrize("name", ["nothing-here", "../../x", "", "a" * 65, "x\0y"])
def test_unknown_id_is_refused(others: Others, name: str) -> None:
    verbs: list[Any] = [
        lambda: rt.answer(name, round=0, answers={"q1": "x"}),
        lambda: rt.hold(name, round=0),
        lambda: rt.finish(name),
        lambda: rt.stop(name),
        lambda: rt.state(name),
        lambda: rt.wait(name, 0),
    ]
    for verb in verbs:
        with pytest.raises(rt.UnknownDebateError, match="id") as caught:
            verb()
        assert "\n" not in str(caught.value)
