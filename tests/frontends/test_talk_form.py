"""A word to the seats of a discussion, and a human seat's turn, without a page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import comm
import pytest

from rt_notebook.domain.brief import Brief
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.snapshot import TurnPart
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.frontends.gate_form_talk import SpeechForm, TalkForm
from rt_notebook.frontends.live_view import LiveView
from rt_notebook.frontends.widgets import close_tree
from tests.frontends.pages import RecordingComm, Shell
from tests.frontends.scenes import RecordingControl, Scene


@pytest.fixture
def control() -> RecordingControl:
    """Records what is handed over."""
    return RecordingControl()


@pytest.fixture
def told() -> list[dict[str, Any]]:
    """Collects what the form tells the page."""
    return []


@pytest.fixture
def form(control: RecordingControl, told: list[dict[str, Any]]) -> Iterator[TalkForm]:
    """Makes the form."""
    made = TalkForm(control, uid="abc", serial=3, tell=told.append)
    yield made
    made.close()


def test_word_is_sent_and_form_stays_open(
    form: TalkForm, control: RecordingControl, told: list[dict[str, Any]]
) -> None:
    form.submit("continue", {"message": "  Mind the budget. "})
    form.submit("continue", {"message": "And Bob."})
    assert control.calls == [
        ("answer", {}, "Mind the budget.", None, "person"),
        ("answer", {}, "And Bob.", None, "person"),
    ]
    assert not form.sent
    assert not form.buttons["continue"].disabled
    assert {"type": "form", "serial": 3, "ok": True, "clear": True} in told


def test_refused_word_stays_in_its_field(form: TalkForm, control: RecordingControl) -> None:
    form.fields["message"].control.value = "late"
    control.error = "answer: the discussion is done"
    form.submit("continue")
    assert form.last_error == "answer: the discussion is done"
    assert form.drafts() == ["late"]
    form.submit("continue", {"message": " "})
    assert form.last_error == "write something first"
    assert control.calls == []


def test_human_seat_speaks_in_plain_words(
    control: RecordingControl, told: list[dict[str, Any]]
) -> None:
    turn = TurnPart(round=2, seat="me", prompt="Topic: <b>x</b>", closes_at=None)
    form = SpeechForm(turn, [], ["pm"], control, uid="abc", serial=1, tell=told.append)
    assert list(form.fields) == ["words"]
    form.submit("continue", {"words": "I would wait.\n"})
    assert control.calls == [("turn", 2, "me", "I would wait.")]
    form.close()


@pytest.fixture
def scene() -> Scene:
    """A discussion about to begin."""
    seats = tuple(Seat(name) for name in ("pm", "dev"))
    return Scene(DebateSpec(kind="discussion", brief=Brief(question="T?"), seats=seats))


def test_form_is_there_while_a_word_can_be_said(
    monkeypatch: pytest.MonkeyPatch, scene: Scene, control: RecordingControl
) -> None:
    monkeypatch.setattr(RecordingComm, "sent", [], raising=False)
    monkeypatch.setattr(comm, "create_comm", RecordingComm)
    view = LiveView(Shell(), lambda fn, *args: fn(*args), control)
    view.listener(scene.events[0], scene.state)
    assert view.forms.talk is not None
    assert view.forms.slot.children == (view.forms.talk.box,)
    first = view.forms.talk
    view.listener(scene.add("round_started", round=1), scene.state)
    assert view.forms.talk is first
    first.fields["message"].control.value = "never sent"
    view.listener(scene.add("verdict_started"), scene.state)
    assert view.forms.open() == []
    assert view.forms.slot.children == ()
    kept = [m for m in view._transcript._told.values() if m["type"] == "unsent"]
    assert [message["text"] for message in kept] == ["never sent"]
    close_tree(view._box)
