"""The state as outsiders see it: one object, the same in Python and as JSON."""

from __future__ import annotations

import json

from IPython.lib.pretty import pretty

from rt_notebook.domain.script import fail, say, scripted
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.spec import Limits
from rt_notebook.next_steps import snapshot_of
from tests.engine.clocks import play
from tests.engine.debates import Ride, Voice, reply, spec, split

KEYS = {
    "v", "id", "kind", "title", "status", "stop_reason", "revision", "round", "rounds",
    "completed_rounds", "gate", "turns", "positions", "tally", "verdict", "usage", "limits",
    "errors", "next_action",
}  # fmt: skip


def test_snapshot_of_finished_review() -> None:
    definition = spec(
        Seat("a", model=Voice(reply("opt-1"))),
        Seat("b", model=scripted([say(stance="Wait"), fail("refused", message="not me")])),
        rounds=1,
        limits=Limits(max_calls=20, max_calls_per_vendor={"function": 9}),
    )
    state = play(Ride(definition).run())
    shown = json.loads(json.dumps(snapshot_of(state).to_json()))
    assert set(shown) == KEYS
    assert (shown["id"], shown["kind"], shown["status"]) == ("d", "review", "done")
    assert (shown["round"], shown["rounds"], shown["completed_rounds"]) == (1, 1, 1)
    assert shown["positions"] == [
        {"seat": "a", "round": 1, "stance_key": "opt-1", "stance": "opt-1", "carried": False},
        {"seat": "b", "round": 0, "stance_key": "opt-2", "stance": "Wait", "carried": True},
    ]
    assert shown["tally"] == {"opt-1": ["a"], "opt-2": ["b"]}
    assert shown["errors"] == [{"round": 1, "seat": "b", "kind": "refused", "message": "not me"}]
    assert shown["limits"] == {
        "max_calls": {"bound": 20, "used": 5},
        "max_minutes": {"bound": 30.0, "used": None},
        "max_calls_per_vendor.function": {"bound": 9, "used": 2},
    }
    assert shown["usage"]["seats"]["a"]["calls"] == 2
    assert shown["usage"]["vendors"]["scripted"]["calls"] == 3
    assert shown["verdict"]["status"] == "ready"
    assert shown["next_action"]["type"] == "none"


def test_snapshot_of_open_gate() -> None:
    async def main() -> None:
        import asyncio

        definition = spec(
            Seat("a", model=Voice(reply("opt-1", question="How much?"))),
            Seat("b", model=Voice(reply("opt-2"))),
        )
        ride = Ride(definition, attended=True)
        task = asyncio.create_task(ride.run())
        await ride.gate()
        shown = snapshot_of(ride.state).to_json()
        gate = ride.state.gate
        assert gate is not None
        assert shown["status"] == "waiting"
        assert shown["gate"] == {
            "round": 0,
            "mode": "questions",
            "questions": [{"id": "q1", "text": "How much?", "askers": ["a"]}],
            "closes_at": gate.closes_at,
            "holds_left": 3,
            "reopen_calls": None,
        }
        assert shown["next_action"] == {
            "type": "ask_user",
            "instruction": "Show the questions and the deadline to the person, and send what they "
            "answer.",
            "command": "%roundtable answer d --round 0 q1='…'",
            "wait_command": "%roundtable wait d",
            "hold_command": "%roundtable hold d --round 0",
        }
        assert repr(snapshot_of(ride.state)) == (
            "<Snapshot d: waiting; 0 of 1 round, 2 calls; verdict none; '(Roundtable) - Ship now?'>"
        )
        lines: str = pretty(snapshot_of(ride.state))  # type: ignore[no-untyped-call]  # IPython's
        assert lines.split("\n") == [
            "d: waiting; 0 of 1 round, 2 calls; verdict none; '(Roundtable) - Ship now?'",
            "q1 (a): How much?",
            shown["next_action"]["instruction"],
            "%roundtable answer d --round 0 q1='…'",
        ]
        await ride.stop()
        await task
        stopped = snapshot_of(ride.state)
        assert stopped.verdict is not None
        assert (stopped.verdict["status"], stopped.next_action.type) == ("skipped", "verdict")

    play(main())


def test_readers_overlay_interrupted() -> None:
    ride = Ride(split(rounds=0))
    play(ride.run())
    cut = Ride(split(rounds=0), log=type(ride.sink)(ride.sink.rows[:5])).state
    shown = snapshot_of(cut, status="interrupted")
    assert (cut.status, shown.status, shown.stop_reason) == (
        "running", "interrupted", "interrupted",
    )  # fmt: skip
    assert shown.next_action.command == "%roundtable resume d"
