"""What a person, or an agent for them, gives to a debate of this process: kept, marked, bounded."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest

from rt_notebook import running, session
from rt_notebook.domain.seat import Seat
from rt_notebook.engine.debate import Debate
from rt_notebook.errors import UsageError
from rt_notebook.session import Opening
from tests.engine.debates import Voice, reply, spec
from tests.live_runs import WAIT_S, petras_turn, under_way, when


@pytest.mark.parametrize(("source", "named"), [("person", None), ("agent", "agent")])
def test_reply_of_a_human_seat_says_who_sent_it(source: str, named: str | None) -> None:
    with petras_turn() as run:
        bound = "breaks the contract" if source == "person" else "has 8,001 characters; 8,000"
        with pytest.raises(UsageError, match=bound) as caught:
            run.take_turn(round=0, seat="Petra", text="x" * 8_001, source=source)
        assert caught.value.facts["kept"] == {"text": "x" * 8_001}
        run.take_turn(round=0, seat="Petra", text=reply("opt-1"), source=source)
    assert [event.body["model"] for event in run.result().events if _is_petras(event)] == [named]


def _is_petras(event: Any) -> bool:
    return event.kind == "call_finished" and "/petra/" in event.body["call"].casefold()


def test_words_that_a_blocked_debate_never_took_are_kept_and_never_carried_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(running, "COMMAND_TIMEOUT_S", 0.2)
    asks = Voice(reply("opt-1", question="Why not?"))
    definition = spec(Seat("a", model=asks), Seat("b"), rounds=1, question_wait_s=1.5)
    run = session.new_run(definition, Opening(attended=True))
    opened, free = threading.Event(), threading.Event()

    def block(event: Any, state: Any) -> None:
        if event.kind == "gate_opened" and not opened.is_set():
            opened.set()
            free.wait(WAIT_S)

    run.listeners.append(block)
    with under_way(run):
        assert opened.wait(WAIT_S)
        with pytest.raises(
            UsageError, match=r"took no notice within 0\.2 s.*not sent: q1: so"
        ) as e:
            run.answer({"q1": "so"})
        assert e.value.facts["kept"] == {"answers": {"q1": "so"}, "message": None}
        time.sleep(0.1)
        free.set()
    assert run.fold.status == "done"
    assert "gate_answered" not in [event.kind for event in run.result().events]


def test_command_that_has_begun_is_not_said_to_be_unsent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "COMMAND_TIMEOUT_S", 0.2)
    command = Debate.command

    async def slow(debate: Debate, make: Any) -> None:
        await asyncio.sleep(0.6)
        await command(debate, make)

    monkeypatch.setattr(Debate, "command", slow)
    asks = Voice(reply("opt-1", question="Why not?"))
    definition = spec(Seat("a", model=asks), Seat("b"), rounds=1, question_wait_s=10)
    run = session.new_run(definition, Opening(attended=True))
    opened = when(run, "gate_opened")
    with under_way(run):
        assert opened.wait(WAIT_S)
        with pytest.raises(UsageError, match="may still be carried out") as caught:
            run.answer({"q1": "so"})
        assert "not sent" not in str(caught.value)
        assert caught.value.facts["kept"] == {"answers": {"q1": "so"}, "message": None}
    assert "gate_answered" in [event.kind for event in run.result().events]
