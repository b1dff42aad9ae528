"""What a person typed into a live view's form: given back where nobody got it, else not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import comm
import pytest

from rt_notebook.frontends.gate_form import GateForm
from rt_notebook.frontends.live_forms import LiveForms
from rt_notebook.frontends.live_model import message_for
from rt_notebook.frontends.widgets import Transcript, close_tree
from tests.frontends.pages import RecordingComm
from tests.frontends.scenes import RecordingControl, Scene, make_reply


class Gate:
    """A live view's forms at a gate with two questions, one of which names options."""

    def __init__(self) -> None:
        self.transcript = Transcript("abc", lambda message: None)
        self.forms = LiveForms(self.transcript, RecordingControl())
        self.scene = Scene()
        self.scene.add("round_started", round=0)
        self.scene.turn(0, "pm", make_reply(1, question="What is the budget?"))
        self.scene.turn(0, "dev", make_reply(2, question="Microservice or Wait one sprint?"))
        self.scene.open_gate(0)
        self.follow()

    @property
    def form(self) -> GateForm:
        assert self.forms.gate is not None
        return self.forms.gate

    def type(self, key: str, text: str) -> None:
        self.form.fields[key].control.value = text

    def follow(self) -> None:
        for message in message_for(self.scene.events[-1], self.scene.state):
            self.forms.follow(message)

    def end(self, message: str | None = None, **answers: str) -> list[str]:
        """Ends the gate with these answers, and returns what is given back."""
        if answers or message:
            said = {"answers": answers, "message": message, "source": "person"}
            self.scene.add("gate_answered", round=0, **said)
            self.follow()
        self.scene.add("gate_closed", round=0, why="answered" if answers else "timeout")
        self.follow()
        told: Any = self.transcript.get_state()["history"]["messages"]
        return [entry["text"] for entry in told if entry["type"] == "unsent"]


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    monkeypatch.setattr(RecordingComm, "sent", [], raising=False)
    monkeypatch.setattr(comm, "create_comm", RecordingComm)
    made = Gate()
    yield made
    close_tree(made.forms.slot)
    close_tree(made.transcript)


def test_unsent_draft_is_shown_back(gate: Gate) -> None:
    gate.type("q1", "half an answer")
    assert gate.end() == ["half an answer"]
    assert gate.forms.open() == []


def test_sent_answer_is_not_shown_as_unsent(gate: Gate) -> None:
    gate.type("q1", "12,000")
    assert gate.end(q1="12,000") == []


def test_draft_inside_another_answer_is_shown_back(gate: Gate) -> None:
    gate.type("q2", "no")
    assert gate.end(q1="I know of none") == ["no"]


def test_sent_message_is_not_shown_as_unsent(gate: Gate) -> None:
    gate.type("message", "Mind the audit")
    assert gate.end("Mind the audit", q1="none") == []


def test_choice_with_words_is_one_answer(gate: Gate) -> None:
    gate.type("q2-choice", "Microservice")
    gate.type("q2", "soon")
    assert gate.form.drafts() == ["Microservice: soon"]
    assert gate.end(q2="Microservice: soon") == []
