"""The forms without a page: what is handed over, and what happens when it is refused."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import ipywidgets
import pytest
from ipywidgets.widgets.widget import _instances

from rt_notebook.contract import read_reply
from rt_notebook.domain.snapshot import TurnPart
from rt_notebook.frontends.gate_form import ConfirmForm, GateForm
from rt_notebook.frontends.gate_form_turn import NOTHING_NEW, OTHER_CHOICE, TurnForm
from rt_notebook.frontends.gate_words import gate_heading, gate_hint
from rt_notebook.frontends.live_model import message_for
from tests.frontends.scenes import OPTIONS, RecordingControl, Scene, make_reply

HOSTILE = "<img src=x onerror=alert(1)> $x^2$ or Wait one sprint or Microservice?"


@pytest.fixture
def told() -> list[dict[str, Any]]:
    """Collects what the forms tell the page."""
    return []


@pytest.fixture
def control() -> RecordingControl:
    """Records what is handed over."""
    return RecordingControl()


def make_gate(**body: Any) -> dict[str, Any]:
    scene = Scene()
    scene.add("round_started", round=0)
    scene.turn(0, "pm", make_reply(1, question="What is the budget?"))
    scene.turn(0, "dev", make_reply(2, question=HOSTILE))
    event = scene.open_gate(0, **body)
    return next(m for m in message_for(event, scene.state) if m["type"] == "gate")


@pytest.fixture
def form(control: RecordingControl, told: list[dict[str, Any]]) -> Iterator[GateForm]:
    """Makes a form with a text question and one that names options."""
    made = GateForm(make_gate(), control, uid="abc", serial=7, tell=told.append)
    yield made
    made.close()


def test_question_gets_radio_only_when_options_are_named(form: GateForm) -> None:
    kinds = {key: type(field.control).__name__ for key, field in form.fields.items()}
    assert kinds == {
        "q1": "Textarea", "q2-choice": "RadioButtons", "q2": "Textarea", "message": "Textarea"
    }  # fmt: skip
    options = form.fields["q2-choice"].control.options
    assert options == ("Microservice", "Wait one sprint", "No answer")


def test_continue_hands_over_what_the_page_sent(form: GateForm, control: RecordingControl) -> None:
    values = {"q1": " 12,000 ", "q2-choice": 1, "q2": "", "message": "Mind the audit"}
    form.submit("continue", values)
    answers = {"q1": "12,000", "q2": "Wait one sprint"}
    assert control.calls == [("answer", answers, "Mind the audit", 0, "person")]
    assert form.last_error is None


def test_button_click_takes_what_has_arrived(form: GateForm, control: RecordingControl) -> None:
    form.fields["q1"].control.value = "12,000"
    form.fields["q2-choice"].control.value = "Microservice"
    form.fields["q2"].control.value = "in two steps"
    form.buttons["continue"].click()
    answers = {"q1": "12,000", "q2": "Microservice: in two steps"}
    assert control.calls == [("answer", answers, None, 0, "person")]


def test_empty_form_answers_nothing(form: GateForm, control: RecordingControl) -> None:
    form.submit("continue", {})
    assert control.calls == [("answer", {}, None, 0, "person")]


@pytest.mark.parametrize("junk", [{"q1": 5, "q2-choice": "x"}, {"q2-choice": 99}, {"other": []}])
def test_junk_from_a_page_changes_nothing(
    form: GateForm, control: RecordingControl, junk: dict[str, Any]
) -> None:
    form.submit("continue", junk)
    assert control.calls == [("answer", {}, None, 0, "person")]


def test_second_click_counts_for_nothing(form: GateForm, control: RecordingControl) -> None:
    form.submit("continue", {"q1": "first"})
    form.submit("continue", {"q1": "second"})
    form.buttons["stop"].click()
    assert [call[1] for call in control.calls] == [{"q1": "first"}]
    assert form.buttons["continue"].disabled


def test_click_during_a_click_counts_for_nothing(form: GateForm, control: RecordingControl) -> None:
    inside, go_on = threading.Event(), threading.Event()
    take = control._take

    def slow(*call: Any) -> Any:
        inside.set()
        assert go_on.wait(5)
        return take(*call)

    control._take = slow  # type: ignore[method-assign]  # stands for a busy engine
    first = threading.Thread(target=form.submit, args=("continue", {"q1": "first"}))
    first.start()
    assert inside.wait(5)
    form.submit("continue", {"q1": "second"})
    go_on.set()
    first.join(5)
    assert [call[1] for call in control.calls] == [{"q1": "first"}]


def test_refused_answer_shows_why_and_keeps_text(
    form: GateForm, control: RecordingControl, told: list[dict[str, Any]]
) -> None:
    control.error = "round 0's gate has closed <b>"
    form.fields["q1"].control.value = "12,000"
    form.submit("continue")
    assert form.last_error == "round 0's gate has closed <b>"
    assert told[-1] == {"type": "form", "serial": 7, "ok": False, "error": form.last_error}
    errors = [w.value for w in form.box.children if "rt-error" in getattr(w, "value", "")]
    assert "has closed &lt;b&gt;" in errors[0]
    assert form.fields["q1"].control.value == "12,000"
    assert form.drafts() == ["12,000"]
    assert not form.buttons["continue"].disabled
    control.error = None
    form.submit("continue")
    assert control.calls[0][1] == {"q1": "12,000"}
    assert form.drafts() == []


def test_unexpected_error_is_shown_and_logged(
    form: GateForm, control: RecordingControl, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*call: Any) -> Any:
        raise ValueError("a <b>bug</b>")

    control._take = broken  # type: ignore[method-assign]  # for this one control
    form.fields["q1"].control.value = "keep me"
    form.buttons["continue"].click()
    assert form.last_error == "ValueError: a <b>bug</b>; your text is kept"
    assert "a &lt;b&gt;bug" in form._error.value
    assert (form.fields["q1"].control.value, form.sent) == ("keep me", False)
    assert "could not be handed over" in caplog.text


def test_more_time_keeps_form_open(form: GateForm, control: RecordingControl) -> None:
    form.submit("hold", {"q1": "half an ans"})
    assert control.calls == [("hold", 0)]
    assert not form.sent
    form.held({"closes_at": 1_700_000_500_000, "holds_left": 0})
    assert form.buttons["hold"].disabled
    form.submit("continue", {"q1": "half an answer"})
    assert control.calls[-1][1] == {"q1": "half an answer"}


@pytest.mark.parametrize("action", ["finish", "stop"])
def test_finish_and_stop_are_handed_over(
    form: GateForm, control: RecordingControl, action: str
) -> None:
    form.submit(action, {})
    assert control.calls == [(action,)]


def test_questions_are_shown_as_text_alone(form: GateForm) -> None:
    values = [str(getattr(widget, "value", "")) for widget in _walk(form.box)]
    assert not any("<img" in value for value in values)
    assert any("&lt;img src=x onerror=alert(1)&gt; $x^2$" in value for value in values)


def test_blocking_gate_has_no_countdown(control: RecordingControl) -> None:
    gate = make_gate(mode="blocking", closes_at=None)
    form = GateForm(gate, control, uid="abc", serial=1, tell=lambda message: None)
    values = [str(getattr(widget, "value", "")) for widget in _walk(form.box)]
    assert not any("data-rt-closes" in value for value in values)
    assert form.buttons["hold"].layout.display == "none"
    form.close()


def test_consensus_gate_words_what_a_text_costs() -> None:
    gate = make_gate(questions=[], mode="checkpoint", reopen_calls=3)
    assert gate_heading(gate) == "Everybody agrees on Modular monolith"
    assert "Any text runs one more round: 3 calls." in gate_hint(gate)


def test_closed_form_leaves_no_widget_behind(control: RecordingControl) -> None:
    before = set(_instances)
    form = GateForm(make_gate(), control, uid="abc", serial=1, tell=lambda message: None)
    assert len(set(_instances) - before) > 20
    form.close()
    form.submit("continue", {"q1": "late"})
    assert set(_instances) == before
    assert control.calls == []


@pytest.mark.parametrize(("action", "decision"), [("continue", True), ("cancel", False)])
def test_confirmation_is_decided_once(
    told: list[dict[str, Any]], action: str, decision: bool
) -> None:
    decided: list[bool] = []
    form = ConfirmForm("12 calls", decided.append, uid="abc", serial=1, tell=told.append)
    form.submit(action, {})
    form.submit("continue", {})
    form.close()
    assert decided == [decision]


def make_turn(control: RecordingControl, told: list[dict[str, Any]], number: int = 1) -> TurnForm:
    turn = TurnPart(round=number, seat="me", prompt="Take <b>a</b> stance", closes_at=None)
    return TurnForm(
        turn, OPTIONS, ["pm", "dev"], control, uid="abc", serial=2, tell=told.append
    )  # fmt: skip


def test_turn_form_makes_a_valid_reply(
    control: RecordingControl, told: list[dict[str, Any]]
) -> None:
    form = make_turn(control, told)
    form.submit("continue", {
        "stance": 1, "agree-1": True, "disagree": "Tests are slow.\n\nPager.", "new": "",
        "assumptions": "Six people", "question": "Who\npays?",
    })  # fmt: skip
    form.close()
    verb, number, seat, text = control.calls[0]
    assert (verb, number, seat) == ("turn", 1, "me")
    read = read_reply(text, options=OPTIONS, round=1, seats=("pm", "dev", "me"), seat="me")
    assert read.errors == []
    assert (read.stance_key, read.agree_with) == ("opt-2", ["dev"])
    assert read.disagree == ["Tests are slow.", "Pager."]
    assert (read.assumptions, read.question) == (["Six people"], "Who pays?")


def test_turn_form_can_pass_and_say_something_else(
    control: RecordingControl, told: list[dict[str, Any]]
) -> None:
    for choice, label, key in (
        (NOTHING_NEW, "", "PASS"),
        (OTHER_CHOICE, "Buy it", "other: Buy it"),
    ):
        form = make_turn(control, told)
        form.fields["stance"].control.value = choice
        form.fields["other"].control.value = label
        form.submit("continue")
        form.close()
        assert read_reply(control.calls[-1][3], options=OPTIONS, round=1).stance_key == key


def test_turn_errors_come_back_into_the_form(
    control: RecordingControl, told: list[dict[str, Any]]
) -> None:
    control.error = "STANCE names nothing; write one of opt-1, opt-2, opt-3"
    form = make_turn(control, told, number=0)
    form.fields["new"].control.value = "kept"
    form.submit("continue")
    assert form.last_error == control.error
    assert form.fields["new"].control.value == "kept"
    assert "agree-0" not in form.fields
    form.close()


def _walk(widget: Any) -> Iterator[Any]:
    yield widget
    for child in getattr(widget, "children", ()):
        assert isinstance(child, ipywidgets.Widget)
        yield from _walk(child)
