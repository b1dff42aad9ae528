"""A review over three vendors' wires, a fourth in the chair, with a fault in every phase."""

from __future__ import annotations

import time

import pytest

from rt_notebook.domain.events import EVENT_VERSION, Event
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.state import State, start_state
from rt_notebook.engine.debate import Debate
from rt_notebook.providers.accounts import Account, OnAccount
from rt_notebook.providers.base import Provider
from tests.engine.debates import VERDICT, MemoryLog, reply, spec
from tests.providers.api.sitting import CANARY, MODELS, Sitting
from tests.wire.script import Fail, Hang, Say

pytestmark = [
    pytest.mark.asyncio,
    pytest.mark.filterwarnings("ignore:.*will reach end-of-life:DeprecationWarning"),
]

WIRES = {"ada": "anthropic", "ben": "responses", "cleo": "google", "chair": "chat"}


async def _run(sitting: Sitting, log: MemoryLog) -> State:
    # Ben's turns end soon, because it hangs; the others have time for their retries.
    seats = [
        Seat(name, model=MODELS[WIRES[name]], timeout_s=4 if name == "ben" else 30)
        for name in ("ada", "ben", "cleo")
    ]
    definition = spec(*seats, rounds=1, chairman=Seat("chair", model=MODELS["chat"]))
    body = {
        "spec": definition.model_dump(mode="json"),
        "source": "person",
        "unattended": True,
        "prompts_version": 1,
    }
    now = time.time_ns() // 1_000_000
    state = start_state(Event(EVENT_VERSION, "d", 0, now, "created", body), definition)

    def provider(seat: Seat) -> Provider:
        return OnAccount(sitting.provider(WIRES[seat.name]), Account(seat.vendor))

    return await Debate(state, log, provider).run(("created", body))


async def test_review_survives_a_fault_in_every_phase(sitting: Sitting) -> None:
    names = {seat: MODELS[wire].partition(":")[2] for seat, wire in WIRES.items()}
    wire, log = sitting.wire, MemoryLog()
    for vendor in WIRES.values():
        await sitting.ask_ready(vendor)
    wire.billed.clear()
    wire.calls.clear()
    wire.script(Fail(429, retry_after="1"), Say(reply("opt-1", "It is ready.")), model=names["ada"])
    wire.script(Say(reply("opt-2", "It is not.")), Hang(), model=names["ben"])
    wire.script(Say(reply("opt-1", "Users wait.")), model=names["cleo"])
    wire.script(Say(VERDICT, ends="drop"), Say(VERDICT), model=names["chair"])

    state = await _run(sitting, log)

    assert (state.status, state.stop_reason) == ("done", "rounds")
    assert state.verdict is not None
    assert state.verdict.pick == "opt-1"
    assert [(b["call"], b["error"]) for b in log.of("call_failed")] == [
        ("0/ada/opening/1", "rate_limit"),
        ("1/ben/critique/1", "timeout"),
        ("1/chairman/verdict/1", "connection"),
    ]
    assert {seat: p.key for seat, p in state.positions.items()} == {
        "ada": "opt-1",
        "ben": "opt-2",
        "cleo": "opt-1",
    }
    billed = wire.billed[CANARY]
    assert state.usage.calls == wire.calls[CANARY] == 9
    assert (state.usage.prompt_tokens, state.usage.completion_tokens) == (6000, 360)
    assert (billed.prompt, billed.completion) == (6000, 360)
    # Two answers of Claude and of Gemini, one of GPT-5 and one of GPT-4o.
    assert state.usage.cost == pytest.approx(2 * 0.00336 + 2 * 0.001625 + 0.001625 + 0.00285)
    assert CANARY not in str(log.rows)
