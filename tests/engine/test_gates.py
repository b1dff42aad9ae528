"""Gates: when they open, how they close, what becomes of answers."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from rt_notebook.domain.script import say, scripted
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.domain.state import State
from rt_notebook.engine import commands
from rt_notebook.errors import UsageError
from tests.engine.attendance import attend, nobody
from tests.engine.clocks import play
from tests.engine.debates import (
    VERDICT,
    Ride,
    Voice,
    interrupt,
    reply,
    spec,
    split,
    voice,
)


def asking(*questions: str | None, rounds: int = 2, **fields: Any) -> DebateSpec:
    """Return a review in whose opening each seat asks this."""
    seats = [
        Seat(
            chr(97 + n),
            model=Voice(reply(f"opt-{1 + n % 2}", question=asked), reply(f"opt-{1 + n % 2}")),
        )
        for n, asked in enumerate(questions)
    ]
    return spec(*seats, rounds=rounds, **fields)


def _elapsed(ride: Ride, number: int = 0) -> float:
    gate = ride.state.gates[number]
    assert gate.closes_at is not None
    return (gate.closes_at - gate.opened_at) / 1000


def test_checkpoint_ends_by_itself() -> None:
    async def main() -> tuple[Ride, float]:
        ride = Ride(split(rounds=2), attended=True)
        began = asyncio.get_running_loop().time()
        await ride.run()
        return ride, asyncio.get_running_loop().time() - began

    ride, seconds = play(main())
    modes = [(gate.round, gate.mode, gate.why) for gate in ride.state.gates]
    assert modes == [(0, "checkpoint", "timeout"), (1, "checkpoint", "timeout")]
    assert seconds == pytest.approx(30, abs=0.1)
    assert _elapsed(ride) == pytest.approx(15, abs=0.01)


def test_no_gate_after_last_round() -> None:
    ride = attend(split(rounds=0), nobody)
    assert ride.state.gates == []


@pytest.mark.parametrize("fields", [{"gates": "off"}, {}])
def testnobody_there_means_no_pause(fields: dict[str, Any]) -> None:
    async def main() -> float:
        ride = Ride(asking("How much?", None, **fields), attended=bool(fields))
        began = asyncio.get_running_loop().time()
        state = await ride.run()
        assert state.gates == []
        assert [q.text for q in state.open_questions()] == ["How much?"]
        return asyncio.get_running_loop().time() - began

    assert play(main()) == 0.0


def test_questions_are_merged_and_keep_askers() -> None:
    definition = asking("How much?", "By when?", "how  MUCH?", rounds=1)
    ride = attend(definition, nobody)
    (gate,) = ride.state.gates
    assert (gate.mode, gate.why) == ("questions", "timeout")
    assert _elapsed(ride) == pytest.approx(120, abs=0.01)
    assert [(q.id, q.text, q.askers) for q in gate.questions] == [
        ("q1", "How much?", ["a", "c"]),
        ("q2", "By when?", ["b"]),
    ]


def test_hidden_seat_asks_without_its_name() -> None:
    definition = spec(
        Seat("a", model=Voice(reply("opt-1"))),
        Seat("muse", model=Voice(reply("opt-2", question="Who pays?")), mood="rant"),
    )
    ride = attend(definition, nobody)
    assert ride.state.gates[0].questions[0].askers == ["an unnamed voice"]
    assert all("muse" not in text for text in voice(definition.seats[0]).prompts)
    assert "Who pays?" in voice(definition.seats[0]).prompts[1]


def test_answers_reach_later_prompts() -> None:
    definition = asking("How much?", "By when?", rounds=2)

    async def person(ride: Ride) -> None:
        await ride.gate()
        await ride.answer({"q1": " 40,000 EUR ", "q2": "  "}, "Be brief.")

    ride = attend(definition, person)
    gate = ride.state.gates[0]
    assert (gate.why, gate.answers, gate.message) == (
        "answered", {"q1": "40,000 EUR"}, "Be brief."
    )  # fmt: skip
    assert [body["answers"] for body in ride.sink.of("gate_answered")] == [{"q1": "40,000 EUR"}]
    for prompt in voice(definition.seats[1]).prompts[1:]:
        assert "The person answers: 40,000 EUR" in prompt
        assert "The person says: Be brief." in prompt
        assert "questions still open, unanswered>>>\n- By when?" in prompt
    assert [q.text for q in ride.state.open_questions()] == ["By when?"]


def test_answered_question_is_not_asked_again() -> None:
    seats = [
        Seat("a", model=Voice(reply("opt-1", question="How much?"))),
        Seat("b", model=Voice(reply("opt-2", question="By when?"))),
    ]

    async def person(ride: Ride) -> None:
        await ride.gate()
        await ride.answer({"q1": "40,000"})

    ride = attend(spec(*seats, rounds=3), person)
    asked = [[(q.id, q.text) for q in gate.questions] for gate in ride.state.gates]
    assert asked == [[("q1", "How much?"), ("q2", "By when?")], [("q1", "By when?")],
                     [("q1", "By when?")]]  # fmt: skip


def test_empty_answer_goes_on() -> None:
    async def person(ride: Ride) -> None:
        await ride.gate()
        await ride.answer()

    ride = attend(asking("How much?", None, rounds=1), person)
    assert (ride.state.gates[0].why, ride.state.notes) == ("answered", [])


def test_agents_words_are_marked() -> None:
    definition = asking("How much?", None, rounds=1)

    async def person(ride: Ride) -> None:
        await ride.gate()
        await ride.answer({"q1": "unknown to me"}, "See the wiki.", source="agent")

    attend(definition, person)
    prompt = voice(definition.seats[0]).prompts[1]
    assert "Agent note answers: unknown to me" in prompt
    assert "Agent note says: See the wiki." in prompt


def test_second_answer_is_refused_with_its_text() -> None:
    refused: list[UsageError] = []

    async def person(ride: Ride) -> None:
        async def late() -> None:
            try:
                await ride.answer({"q1": "fifty"}, "me too", round=0)
            except UsageError as error:
                refused.append(error)

        await ride.gate()
        async with asyncio.TaskGroup() as group:
            group.create_task(ride.answer({"q1": "forty"}))
            group.create_task(late())

    ride = attend(asking("How much?", None, rounds=1), person)
    assert ride.state.gates[0].answers == {"q1": "forty"}
    (error,) = refused
    assert "no gate is open (status running, round 0)" in str(error)
    assert "not sent: q1: fifty; message: me too" in str(error)
    assert error.facts["kept"] == {"answers": {"q1": "fifty"}, "message": "me too"}


def test_answer_that_is_no_dict_keeps_the_words() -> None:
    async def person(ride: Ride) -> None:
        await ride.gate()
        loose: Any = "forty"
        with pytest.raises(UsageError, match=r"a dict of texts .*; not sent: message: forty") as no:
            await ride.answer(loose)
        assert no.value.facts["kept"] == {"message": "forty"}
        numbered: Any = {1: "forty"}
        with pytest.raises(UsageError, match="round 0 has no question '1'"):
            await ride.answer(numbered)
        await ride.answer({"q1": "forty"})

    attend(asking("How much?", None, rounds=1), person)


def test_answer_for_closed_round_is_refused() -> None:
    async def person(ride: Ride) -> None:
        await ride.gate()
        await ride.answer({"q1": "x"})
        await ride.debate.wait_until(lambda s: s.gate is not None and s.round == 1)
        with pytest.raises(UsageError, match="gate of round 0 isn't open, the one of round 1 is"):
            await ride.answer({"q1": "y"}, round=0)
        with pytest.raises(UsageError, match=r"round 1 has no question 'q1' \(open: none\)"):
            await ride.answer({"q1": "y"}, round=1)
        with pytest.raises(UsageError, match="message has 8,001 characters; 8,000 are allowed"):
            await ride.answer(message="x" * 8_001)
        assert ride.state.gate is not None

    attend(asking("How much?", None, rounds=2), person)


def test_hold_extends_three_times() -> None:
    async def person(ride: Ride) -> None:
        await ride.gate()
        for _ in range(3):
            await ride.hold()
        with pytest.raises(UsageError, match="extended 3 times"):
            await ride.hold()

    async def main() -> float:
        began = asyncio.get_running_loop().time()
        ride = Ride(split(rounds=1), attended=True)
        async with asyncio.TaskGroup() as group:
            group.create_task(ride.run())
            group.create_task(person(ride))
        gate = ride.state.gates[0]
        assert (gate.holds, gate.holds_left, gate.why) == (3, 0, "timeout")
        assert _elapsed(ride) == pytest.approx(60, abs=0.01)
        return asyncio.get_running_loop().time() - began

    assert play(main()) == pytest.approx(60, abs=0.1)


def test_hold_on_its_way_goes_before_the_end_of_the_window() -> None:
    """The window ends while the command is being carried out: it is extended all the same."""

    async def person(ride: Ride) -> None:
        await ride.gate()
        await asyncio.sleep(14.9)
        async with ride.debate._commands:
            await asyncio.sleep(1)
            now = time.time_ns() // 1_000_000
            await ride.debate.post(*commands.hold(ride.state, None, "person", now))
        await asyncio.sleep(5)
        assert ride.state.gate is not None

    ride = attend(split(rounds=1), person)
    (gate,) = ride.state.gates
    assert (gate.holds, gate.why) == (1, "timeout")
    assert _elapsed(ride) == pytest.approx(30, abs=0.01)


def test_hold_makes_no_call() -> None:
    async def person(ride: Ride) -> None:
        await ride.gate()
        before = ride.state.usage.calls
        await ride.hold()
        assert ride.state.usage.calls == before

    attend(split(rounds=1), person)


def test_blocking_gate_waits_until_answered() -> None:
    async def person(ride: Ride) -> None:
        await ride.gate()
        with pytest.raises(UsageError, match="waits until it is answered"):
            await ride.hold()
        await asyncio.sleep(29 * 60)
        await ride.answer()

    ride = attend(split(rounds=1, gates="blocking"), person)
    (gate,) = ride.state.gates
    assert (gate.mode, gate.closes_at, gate.why) == ("blocking", None, "answered")
    assert gate.holds_left == 0


def test_form_is_waited_for_before_first_gate_only() -> None:
    waits: list[str] = []

    async def main() -> State:
        async def ready() -> None:
            waits.append(ride.state.status)
            await asyncio.sleep(40)

        ride = Ride(split(rounds=2), attended=True, ready=ready)
        return await ride.run()

    state = play(main())
    assert waits == ["running"]
    assert [gate.why for gate in state.gates] == ["timeout", "timeout"]


def test_gate_without_a_window_waits_for_no_form() -> None:
    waits: list[str] = []

    async def main() -> State:
        async def ready() -> None:
            waits.append(ride.state.status)
            await asyncio.sleep(3_600)

        ride = Ride(split(rounds=2, checkpoint_wait_s=0), attended=True, ready=ready)
        return await ride.run()

    state = play(main())
    assert waits == []
    assert [gate.why for gate in state.gates] == ["timeout", "timeout"]


def test_form_that_breaks_leaves_countdown(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> State:
        async def ready() -> None:
            raise ValueError("no comm")

        return await Ride(split(rounds=1), attended=True, ready=ready).run()

    assert play(main()).gates[0].why == "timeout"
    assert "whether a form is seen" in caplog.text


def test_finish_while_form_is_waited_for_opens_no_gate() -> None:
    async def main() -> State:
        waiting = asyncio.Event()

        async def ready() -> None:
            waiting.set()
            await asyncio.sleep(3_600)

        ride = Ride(split(rounds=2), attended=True, ready=ready)
        async with asyncio.TaskGroup() as group:
            group.create_task(ride.run())
            await waiting.wait()
            await ride.finish()
        return ride.state

    state = play(main())
    assert (state.gates, state.stop_reason, state.verdict_status) == ([], "finished", "ready")


def test_open_questions_reach_chairman() -> None:
    chairman = Voice(VERDICT)
    definition = asking("How much?", "By when?", rounds=1, chairman=Seat("boss", model=chairman))

    async def person(ride: Ride) -> None:
        await ride.gate()
        await ride.answer({"q2": "May."})

    ride = attend(definition, person)
    prompt = chairman.prompts[0]
    assert "questions nobody answered (they stay unknown)>>>\n- How much?\n<<<" in prompt
    assert "The person answers: May." in prompt
    assert [q.text for q in ride.state.open_questions()] == ["How much?"]


def test_gate_left_open_opens_again_on_resume() -> None:
    definition = split(rounds=1)

    async def broken_off() -> Ride:
        ride = Ride(definition, attended=True)
        task = asyncio.create_task(ride.run())
        await ride.gate()
        await asyncio.sleep(10)
        await interrupt(task)
        return ride

    ride = play(broken_off())
    assert ride.state.gates[0].why == "interrupted"
    again = Ride(definition, attended=True, log=ride.sink)

    async def main() -> float:
        began = asyncio.get_running_loop().time()
        await again.run()
        return asyncio.get_running_loop().time() - began

    assert play(main()) == pytest.approx(15, abs=0.1)
    assert [gate.why for gate in again.state.gates] == ["interrupted", "timeout"]


def test_scripted_questions_open_gates() -> None:
    definition = spec(
        Seat("a", model=scripted([say(stance="Ship", question="Who?"), say(stance="Ship")])),
        Seat("b", model=scripted([say(stance="Wait"), say(stance="Wait")])),
    )
    ride = attend(definition, nobody)
    assert ride.state.gates[0].questions[0].text == "Who?"
