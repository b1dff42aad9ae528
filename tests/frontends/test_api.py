"""`rt.Review` and the verbs by id from plain Python: scripts, async programs, other threads."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

import rt_notebook as rt
from rt_notebook.analysis.result import Result

OPTIONS = ["Ship", "Wait"]
REPLY = "STANCE: Ship\nDISAGREE: none\nNEW:\n- I tested it.\nASSUMPTIONS: none"
PASSES = rt.say(stance="Wait")


def asking(count: int = 4, **fields: Any) -> rt.Seat:
    """Returns a seat that asks one question in the opening."""
    first = rt.say(stance="Ship", question="What is the budget?")
    later = [rt.say(stance="Ship", new=[f"round {n}"]) for n in range(1, count)]
    return rt.Seat("asks", model=rt.scripted([first, *later]), **fields)


def waiting(count: int = 4) -> rt.Seat:
    """Returns a seat that holds another stance."""
    return rt.Seat(
        "waits", model=rt.scripted([rt.say(stance="Wait", new=[f"n {n}"]) for n in range(count)])
    )


def review(**settings: Any) -> rt.Review:
    """Returns a review of two seats that disagree; one asks."""
    seats = settings.pop("seats", None) or [asking(), waiting()]
    return rt.Review("Ship now?", options=OPTIONS, seats=seats, **settings)


class Gate:
    """Waits, from any thread, until a debate has got to an event."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.reached = threading.Event()

    def __call__(self, event: Any) -> None:
        if event.kind == self.kind:
            self.reached.set()

    def wait(self) -> None:
        assert self.reached.wait(10), f"no {self.kind}"


# ---- arguments ----------------------------------------------------------------------------------

WRONG: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "unknown": ({"rouns": 2}, rt.OptionError, "'rouns'.*'rounds'"),
    "query": ({"research": {"query": " "}}, rt.OptionError, "the query has 0 characters"),
    "no options": ({"options": []}, rt.BriefError, "at least 2 options, got 0"),
    "long label": ({"options": ["x" * 201, "B"]}, rt.BriefError, "200"),
    "same label": ({"options": ["Ship", "ship "]}, rt.BriefError, "(?i)ship"),
    "bad gates": ({"gates": "never"}, rt.OptionError, "gates"),
    "bad rounds": ({"rounds": 51}, rt.OptionError, "50"),
    "one seat": ({"seats": [rt.Seat("a")]}, rt.SeatError, "2"),
    "twins": ({"seats": [rt.Seat("a"), rt.Seat("A")]}, rt.SeatError, "(?i)'a'"),
    "seat alone": ({"seats": rt.Seat("a")}, rt.SeatError, "a list is expected"),
    "seat number": ({"seats": [1, 2]}, rt.SeatError, "neither a Seat nor a name"),
    "only rant": (
        {"seats": [rt.Seat("a", mood="rant"), rt.Seat("b", mood="rant")]}, rt.SeatError, "count",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("given", "error", "match"), WRONG.values(), ids=WRONG)
def test_bad_argument_is_refused_before_any_call(
    given: dict[str, Any], error: type[Exception], match: str
) -> None:
    with pytest.raises(error, match=match):
        rt.Review("Ship now?", **{"options": OPTIONS, **given})
    assert rt.debates().empty


def test_limit_below_minimum_is_refused() -> None:
    small = review(limits=rt.Limits(max_calls=2))
    with pytest.raises(rt.LimitError, match="max_calls"):
        small.run_sync()
    assert rt.debates().empty


def test_check_counts_calls_and_calls_nothing() -> None:
    calls: list[int] = []

    def seat(call: rt.Call) -> str:
        calls.append(call.round)
        return "PASS"

    seats = [rt.Seat(name, model=seat) for name in "abc"]
    found = rt.Review("Ship now?", options=OPTIONS, seats=seats, rounds=2).check()
    assert (found.calls.min, found.calls.expected, found.calls.max) == (4, 10, 20)
    assert found.cost is None
    assert set(found.vendors) == {"function", "scripted"}
    assert calls == []


# ---- the ways to run ----------------------------------------------------------------------------


def test_run_sync_returns_whole_result() -> None:
    result = review(rounds=2).run_sync()
    assert isinstance(result, Result)
    assert (result.status, result.stop_reason) == ("done", "rounds")
    assert list(result.replies.stance) == ["Ship", "Wait"] * 3
    assert rt.load(result.id).verdict.pick == result.verdict.pick
    assert list(rt.debates().id) == [result.id]


@pytest.mark.asyncio
async def test_run_awaits_on_the_callers_loop() -> None:
    loops: list[Any] = []

    async def seat(call: rt.Call) -> str:
        loops.append(asyncio.get_running_loop())
        return REPLY

    result = await review(seats=[rt.Seat("a", model=seat), waiting()]).run()
    assert result.status == "done"
    assert set(loops) == {asyncio.get_running_loop()}


@pytest.mark.asyncio
async def test_run_sync_works_inside_running_loop() -> None:
    loops: list[Any] = []

    async def seat(call: rt.Call) -> str:
        loops.append(asyncio.get_running_loop())
        return REPLY

    result = review(seats=[rt.Seat("a", model=seat), waiting()]).run_sync()
    assert result.status == "done"
    assert asyncio.get_running_loop() not in loops


@pytest.mark.asyncio
async def test_many_reviews_run_at_once() -> None:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(review().run()) for _ in range(5)]
    assert [task.result().status for task in tasks] == ["done"] * 5
    assert len({task.result().id for task in tasks}) == 5


def test_every_event_is_heard_in_order() -> None:
    heard: list[Any] = []
    result = review().run_sync(on_event=heard.append)
    assert [event.seq for event in heard] == list(range(1, len(heard) + 1))
    assert heard == result.events
    assert (heard[0].kind, heard[-1].kind) == ("created", "concluded")


def test_failing_listener_does_not_harm_the_debate() -> None:
    def broken(event: Any) -> None:
        raise ZeroDivisionError

    result = review().run_sync(on_event=broken)
    assert result.status == "done"


@pytest.mark.asyncio
async def test_cancelled_run_is_interrupted_and_resumable() -> None:
    def listen(event: Any) -> None:
        if event.kind == "call_finished":
            task.cancel()

    slow = rt.Seat("slow", model=rt.scripted([rt.wait(0.5, then=PASSES), PASSES]))
    made = review(seats=[asking(), slow], unattended=True)
    task = asyncio.create_task(made.run(on_event=listen))
    with pytest.raises(asyncio.CancelledError, match=r"^$"):
        await task
    (name,) = rt.debates("interrupted").id
    assert rt.state(name).next_action.type == "resume"
    result = await rt.resume(name)
    assert (result.id, result.status) == (name, "done")
    assert list(result.calls[result.calls.seat == "asks"]["round"]) == [0, 1]


@pytest.mark.asyncio
async def test_timeout_around_run_interrupts_it() -> None:
    hanging = rt.Seat("hangs", model=rt.scripted([rt.hang()]))
    with pytest.raises(TimeoutError, match=r"^$"):
        async with asyncio.timeout(0.2):
            await review(seats=[asking(), hanging]).run()
    assert list(rt.debates().status) == ["interrupted"]


# ---- somebody there, or not ---------------------------------------------------------------------


def test_run_without_terminal_waits_for_nobody() -> None:
    result = review(question_wait_s=600).run_sync()
    assert list(result.questions.text) == ["What is the budget?"]
    assert result.questions.answer.isna().all()
    assert result.verdict.open_questions or result.status == "done"


def test_blocking_gates_without_person_warn() -> None:
    result = review(gates="blocking").run_sync()
    assert result.status == "done"
    assert [line for line in result.warnings if "blocking" in line]


def test_attended_gate_times_out_by_itself() -> None:
    result = review(unattended=False, question_wait_s=0.05).run_sync()
    kinds = [event.kind for event in result.events]
    assert "gate_opened" in kinds
    assert result.questions.answer.isna().all()


def test_person_is_needed_for_human_seat() -> None:
    with pytest.raises(rt.SeatError, match="'me' is a person"):
        review(seats=[rt.Seat("me", model="human"), waiting()]).run_sync()


# ---- the handle ---------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_handle_answers_the_open_gate() -> None:
    gate = Gate("gate_opened")
    handle = review().start(on_event=gate)
    await asyncio.to_thread(gate.wait)
    found = handle.state()
    assert found.status == "waiting"
    assert found.gate is not None
    assert [(q.id, q.text) for q in found.gate.questions] == [("q1", "What is the budget?")]
    assert not handle.done()
    after = handle.answer({"q1": "12 000 €"}, message="No overtime.")
    assert after.gate is None
    result = await handle
    assert handle.done()
    assert list(result.questions.answer) == ["12 000 €"]
    (answered,) = [event for event in result.events if event.kind == "gate_answered"]
    assert answered.body["message"] == "No overtime."
    assert answered.body["source"] == "person"


@pytest.mark.asyncio
async def test_cancelled_await_leaves_debate_running() -> None:
    gate = Gate("gate_opened")
    handle = review().start(on_event=gate)
    with pytest.raises(TimeoutError, match=r"^$"):
        async with asyncio.timeout(0.1):
            await handle
    await asyncio.to_thread(gate.wait)
    assert handle.state().status == "waiting"
    handle.answer()
    assert (await handle).status == "done"
    assert (await handle).status == "done"


def test_handle_holds_finishes_and_stops() -> None:
    gate = Gate("gate_opened")
    handle = review().start(on_event=gate)
    gate.wait()
    before, held = handle.state().gate, handle.hold().gate
    assert before is not None
    assert held is not None
    assert held.holds_left == 2
    assert (held.closes_at or 0) > (before.closes_at or 0)
    handle.finish()
    result = handle.result(10)
    assert (result.status, result.stop_reason) == ("done", "finished")
    assert list(result.replies["round"].unique()) == [0]

    gate = Gate("gate_opened")
    handle = review().start(on_event=gate)
    gate.wait()
    handle.stop()
    result = handle.result(10)
    assert (result.status, result.stop_reason) == ("stopped", "stopped")
    assert len(result.replies) == 2
    assert result.verdict.status in ("none", "skipped")


def test_stopped_debate_gets_verdict_when_asked() -> None:
    gate = Gate("gate_opened")
    handle = review().start(on_event=gate)
    gate.wait()
    handle.stop()
    handle.result(10)
    result = rt.verdict(handle.id).result(10)
    assert (result.status, result.verdict.status) == ("done", "ready")


def test_controls_of_ended_debate_say_so() -> None:
    handle = review(gates="off").start()
    handle.result(10)
    for act in (handle.answer, handle.hold, handle.finish, handle.stop):
        with pytest.raises(rt.UsageError, match="done"):
            act()


def test_answer_from_debates_own_loop_is_taken() -> None:
    handles: list[rt.UsageError | Any] = []

    def listen(event: Any) -> None:
        if event.kind == "gate_opened":
            rt.answer(event.debate, round=0, answers={"q1": "yes"})
            handles.append(event.debate)

    result = review(unattended=False, question_wait_s=5).run_sync(on_event=listen)
    assert list(result.questions.answer) == ["yes"]


# ---- the verbs by id ----------------------------------------------------------------------------


def test_late_answer_is_refused_with_its_text() -> None:
    gate = Gate("gate_opened")
    handle = review(rounds=2, checkpoint_wait_s=60).start(on_event=gate)
    gate.wait()
    with pytest.raises(rt.UsageError, match="q7"):
        rt.answer(handle.id, round=0, answers={"q7": "x"})
    with pytest.raises(rt.UsageError, match=r"round 3|round 0") as caught:
        rt.answer(handle.id, round=3, answers={"q1": "kept text"})
    assert "kept text" in str(caught.value.facts["kept"])
    rt.answer(handle.id, round=0, answers={"q1": "first"})
    with pytest.raises(rt.UsageError, match=r"no gate is open|round 0 isn't open") as caught:
        rt.answer(handle.id, round=0, answers={"q1": "second"})
    assert "second" in str(caught.value.facts["kept"])
    rt.finish(handle.id)
    assert list(handle.result(10).questions.answer) == ["first"]


def test_wait_blocks_until_something_is_to_do() -> None:
    handle = review().start()
    found = rt.wait(handle.id, seconds=10)
    assert (found.status, found.next_action.type) == ("waiting", "ask_user")
    rt.hold(handle.id, round=0)
    rt.stop(handle.id)
    assert rt.wait(handle.id, seconds=10).status == "stopped"
    handle.result(10)


def test_person_takes_a_seats_turn() -> None:
    handle = review(seats=[rt.Seat("me", model="human"), waiting()], rounds=0).start()
    found = rt.wait(handle.id, seconds=10)
    assert [(turn.seat, turn.round) for turn in found.turns] == [("me", 0)]
    with pytest.raises(rt.UsageError, match="STANCE"):
        rt.answer(handle.id, round=0, seat="me", text="I would rather not say.")
    rt.answer(handle.id, round=0, seat="me", text=REPLY)
    result = handle.result(10)
    assert list(result.stances[0]) == ["Ship", "Wait"]


def test_unknown_debate_is_named() -> None:
    for verb in (rt.load, rt.state, rt.finish, rt.stop, rt.delete, rt.resume, rt.verdict):
        with pytest.raises(rt.UnknownDebateError, match="no-such-debate"):
            verb("no-such-debate")


def test_deleted_debate_is_gone_and_running_one_stays() -> None:
    handle = review().start()
    rt.wait(handle.id, seconds=10)
    with pytest.raises(rt.NotResumableError, match=handle.id):
        rt.delete(handle.id)
    rt.stop(handle.id)
    handle.result(10)
    rt.delete(handle.id)
    assert rt.debates().empty


def test_paused_debate_goes_on_with_higher_limit() -> None:
    limits = rt.Limits(max_calls=4, on_limit="pause")
    result = review(rounds=2, limits=limits, unattended=True).run_sync()
    assert (result.status, result.stop_reason) == ("paused", "limit")
    result = rt.resume(result.id, limits={"max_calls": 20}).result(10)
    assert (result.status, result.stop_reason) == ("done", "rounds")
    assert list(result.replies.stance) == ["Ship", "Wait"] * 3


def test_own_store_is_used_and_read(tmp_path: Any) -> None:
    path = tmp_path / "own" / "debates.db"
    result = review(store=path).run_sync()
    assert list(rt.debates(store=path).id) == [result.id]
    assert rt.debates().empty
    assert rt.load(result.id, store=path).status == "done"


def test_seats_that_can_be_named_are_listed() -> None:
    frame = rt.seats()
    assert list(frame.name) == ["pm", "dev", "rv"]
    assert set(frame.source) == {"built-in"}


def test_delayed_step_given_by_place_is_refused() -> None:
    """It would be taken for the seconds, and the seat would silently pass."""
    step: Any = rt.say(stance="Ship")
    assert rt.wait(0.2, then=step)["wait_s"] == 0.2
    with pytest.raises(rt.SeatError, match=r"wait\(0\.2, then=\.\.\.\)"):
        rt.wait(0.2, step)
