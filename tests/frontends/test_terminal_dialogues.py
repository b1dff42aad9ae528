from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from typing import Any

import pytest

from rt_notebook.domain.snapshot import Snapshot
from rt_notebook.frontends import terminal_dialogues
from rt_notebook.frontends.live_model import message_for
from rt_notebook.frontends.terminal_dialogues import (
    ConfirmDialogue,
    Dialogue,
    Dialogues,
    GateDialogue,
)
from rt_notebook.frontends.terminal_screen import Enough, Interrupt
from tests.frontends.scenes import RecordingControl, Scene, make_reply
from tests.frontends.typed_terminal import Half, Typed, TypedTerminal


def _gate(*questions: str) -> dict[str, Any]:
    scene = Scene()
    scene.add("round_started", round=0)
    for seat, question in zip(("pm", "dev", "rv"), questions, strict=False):
        scene.turn(0, seat, make_reply(1, question=question))
    return message_for(scene.open_gate(0), scene.state)[0]


def _dialogue(*typed: Typed, questions: tuple[str, ...] = ("What budget?",)) -> GateDialogue:
    return GateDialogue(_gate(*questions), TypedTerminal(typed), RecordingControl())


def _calls(dialogue: Dialogue) -> list[tuple[Any, ...]]:
    assert isinstance(dialogue.control, RecordingControl)
    return dialogue.control.calls


def _terminal(dialogue: Dialogue) -> TypedTerminal:
    assert isinstance(dialogue.terminal, TypedTerminal)
    return dialogue.terminal


@pytest.mark.asyncio
async def test_typed_answers_arrive_with_message() -> None:
    dialogue = _dialogue("20k", " two\nlines ", "Hurry", questions=("What budget?", "How long?"))
    await dialogue.run()
    answers = {"q1": "20k", "q2": "two\nlines"}
    assert _calls(dialogue) == [("answer", answers, "Hurry", 0, "person")]
    assert _terminal(dialogue).labels == ["q1", "q2", "message"]


@pytest.mark.asyncio
async def test_empty_lines_leave_questions_open() -> None:
    dialogue = _dialogue("", "  ")
    await dialogue.run()
    assert _calls(dialogue) == [("answer", {}, None, 0, "person")]


@pytest.mark.asyncio
async def test_number_stands_for_named_option() -> None:
    dialogue = _dialogue("2", "2", questions=("opt-1 or opt-2?",))
    await dialogue.run()
    assert _calls(dialogue) == [("answer", {"q1": "Microservice"}, "2", 0, "person")]


@pytest.mark.asyncio
async def test_control_d_sends_what_there_is() -> None:
    dialogue = _dialogue("20k", Enough, questions=("What budget?", "How long?"))
    await dialogue.run()
    assert _calls(dialogue) == [("answer", {"q1": "20k"}, None, 0, "person")]


@pytest.mark.asyncio
async def test_more_time_asks_same_question_again() -> None:
    dialogue = _dialogue("/more", "20k", "")
    await dialogue.run()
    assert _calls(dialogue) == [("hold", 0), ("answer", {"q1": "20k"}, None, 0, "person")]
    assert _terminal(dialogue).labels == ["q1", "q1", "message"]


@pytest.mark.asyncio
async def test_back_offers_answer_for_change() -> None:
    dialogue = _dialogue("20k", "/back", "30k", "")
    await dialogue.run()
    assert _calls(dialogue) == [("answer", {"q1": "30k"}, None, 0, "person")]
    assert _terminal(dialogue).prompts[2] == ("q1", "20k")


@pytest.mark.asyncio
@pytest.mark.parametrize("command", ["finish", "stop"])
async def test_finish_and_stop_show_unsent_answers(command: str) -> None:
    dialogue = _dialogue("20k", f"/{command}")
    await dialogue.run()
    assert _calls(dialogue) == [(command,)]
    assert "not sent: q1: 20k" in _terminal(dialogue).shown


@pytest.mark.asyncio
async def test_path_is_no_command() -> None:
    dialogue = _dialogue("/more/of/this", "")
    await dialogue.run()
    assert _calls(dialogue)[0][1] == {"q1": "/more/of/this"}


@pytest.mark.asyncio
async def test_refused_answer_is_shown_back() -> None:
    dialogue = _dialogue("20k", "Hurry")
    assert isinstance(dialogue.control, RecordingControl)
    dialogue.control.error = "the gate of round 0 has closed"
    await dialogue.run()
    shown = _terminal(dialogue).shown
    assert "the gate of round 0 has closed" in shown
    assert shown[-2:] == ["not sent: q1: 20k", "not sent: message: Hurry"]


@pytest.mark.asyncio
async def test_refused_finish_asks_on() -> None:
    class Refusing(RecordingControl):
        def finish(self) -> Snapshot:
            self.error = "there is nothing to judge yet"
            try:
                return self._take("finish")
            finally:
                self.error = None

    dialogue = GateDialogue(_gate("What budget?"), TypedTerminal(["/finish", "1", ""]), Refusing())
    await dialogue.run()
    assert "there is nothing to judge yet" in _terminal(dialogue).shown
    assert _calls(dialogue) == [("answer", {"q1": "1"}, None, 0, "person")]


@pytest.mark.asyncio
async def test_closed_window_shows_half_typed_words() -> None:
    dialogue = _dialogue("20k", Half("about tw"), questions=("What budget?", "How long?"))
    dialogues = Dialogues(lambda: None, lambda: None)
    dialogues.open("gate", dialogue)
    await _terminal(dialogue).idle.wait()
    await dialogues.end("gate")
    assert _terminal(dialogue).shown[-2:] == ["not sent: q1: 20k", "not sent: q2: about tw"]
    assert _calls(dialogue) == []


@pytest.mark.asyncio
async def test_changed_answer_is_shown_back_once() -> None:
    dialogue = _dialogue("20k", "/back", Half("30k"))
    dialogues = Dialogues(lambda: None, lambda: None)
    dialogues.open("gate", dialogue)
    await _terminal(dialogue).idle.wait()
    await dialogues.end("gate")
    lines = [line for line in _terminal(dialogue).shown if line.startswith("not sent")]
    assert lines == ["not sent: q1: 30k"]


@pytest.mark.asyncio
async def test_answer_on_its_way_is_not_cut() -> None:
    taken, go_on = threading.Event(), threading.Event()

    class Slow(RecordingControl):
        def answer(self, *args: Any, **kwargs: Any) -> Snapshot:
            taken.set()
            go_on.wait(10)
            return super().answer(*args, **kwargs)

    dialogue = GateDialogue(_gate("What budget?"), TypedTerminal(["20k", ""]), Slow())
    dialogues = Dialogues(lambda: None, lambda: None)
    dialogues.open("gate", dialogue)
    await asyncio.to_thread(taken.wait, 10)
    ending = asyncio.create_task(dialogues.end("gate"))
    await asyncio.sleep(0)
    go_on.set()
    await ending
    assert _calls(dialogue) == [("answer", {"q1": "20k"}, None, 0, "person")]
    assert not any(line.startswith("not sent") for line in _terminal(dialogue).shown)


@pytest.mark.asyncio
async def test_ended_dialogues_give_terminal_back() -> None:
    taken, go_on = threading.Event(), threading.Event()

    class Stuck(RecordingControl):
        def answer(self, *args: Any, **kwargs: Any) -> Snapshot:
            taken.set()
            go_on.wait(20)
            return super().answer(*args, **kwargs)

    stuck = GateDialogue(_gate("What budget?"), TypedTerminal(["20k", ""]), Stuck())
    ended = Dialogues(lambda: None, lambda: None)
    ended.open("gate", stuck)
    await asyncio.to_thread(taken.wait, 10)
    assert terminal_dialogues._asking.locked()
    await ended.end_all()
    assert not terminal_dialogues._asking.locked()
    go_on.set()


@pytest.mark.asyncio
async def test_interrupt_is_passed_on_with_words_shown() -> None:
    dialogue = _dialogue("20k", Interrupt)
    interrupted = asyncio.Event()
    Dialogues(lambda: None, interrupted.set).open("gate", dialogue)
    await asyncio.wait_for(interrupted.wait(), 10)
    assert _terminal(dialogue).shown[-1] == "not sent: q1: 20k"
    assert _calls(dialogue) == []


@pytest.mark.asyncio
async def test_dialogues_wait_for_each_other() -> None:
    begun: list[int] = []
    first, second = _dialogue(Half("")), _dialogue("20k", "")
    dialogues = Dialogues(lambda: begun.append(1), lambda: None)
    dialogues.open("first", first)
    dialogues.open("second", second)
    dialogues.open("never", never := _dialogue("x", ""))
    await _terminal(first).idle.wait()
    assert _terminal(second).labels == []
    await dialogues.end("never")
    await dialogues.end("first")
    while not _calls(second):  # noqa: ASYNC110
        await asyncio.sleep(0.001)
    assert len(begun) == 2
    assert _terminal(never).labels == []


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("typed", "decision"),
    [(["yes"], True), (["Y"], True), (["", "what?", "no"], False), ([Enough], False)],
)
async def test_start_needs_clear_yes(typed: list[Typed], decision: bool) -> None:
    answer: concurrent.futures.Future[bool] = concurrent.futures.Future()
    terminal = TypedTerminal(typed)
    await ConfirmDialogue("Up to $3.20 for openai.", answer, terminal, RecordingControl()).run()
    assert answer.result(0) is decision
    assert terminal.shown == ["Up to $3.20 for openai."]
