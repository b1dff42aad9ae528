"""What goes wrong with forms and live views, without a page: errors nobody sees, late updates."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import comm
import ipywidgets
import pytest

import rt_notebook as rt
from rt_notebook import running, session
from rt_notebook.frontends.gate_form import GateForm
from rt_notebook.frontends.live_view import LiveView
from rt_notebook.frontends.widgets import close_tree
from tests.cases.catalogue import case, used_in_package
from tests.cases.reviews import others, review, speaker
from tests.engine.debates import reply
from tests.frontends.pages import WIDGET, Page, RecordingComm, Shell
from tests.frontends.scenes import RecordingControl, Scene, make_reply


class FailingControl(RecordingControl):
    """Fails with anything while `fault` is set."""

    fault: Exception | None = None

    def _take(self, *call: Any) -> Any:
        if self.fault is not None:
            raise self.fault
        return super()._take(*call)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, dict[str, Any]]]:
    """Records every comm message."""
    messages: list[tuple[str, str, dict[str, Any]]] = []
    monkeypatch.setattr(RecordingComm, "sent", messages, raising=False)
    monkeypatch.setattr(comm, "create_comm", RecordingComm)
    return messages


@pytest.fixture
def shown() -> Shell:
    """Records what is displayed."""
    return Shell()


@pytest.fixture
def control() -> FailingControl:
    """Records what is handed over."""
    return FailingControl()


def _at_once(fn: Callable[..., object], *args: Any) -> None:
    fn(*args)


@pytest.fixture
def view(sent: Any, shown: Shell, control: FailingControl) -> Iterator[LiveView]:
    """Shows a view whose posts run at once."""
    made = LiveView(shown, _at_once, control, rearm_s=(0.01, 0.01, 0.01))
    made.show()
    yield made
    close_tree(made._box)


def _at_gate(view: LiveView) -> Scene:
    """Plays an opening up to a gate with two questions, one of which names options."""
    scene = Scene()
    events = [scene.events[0], scene.add("round_started", round=0)]
    events.append(scene.turn(0, "pm", make_reply(1, question="What is the budget?")))
    asks = "Microservice or Wait one sprint?"
    events += [scene.turn(0, "dev", make_reply(2, question=asks)), scene.open_gate(0)]
    for event in events:
        view.listener(event, scene.state)
    return scene


def _form(view: LiveView) -> GateForm:
    assert view.forms.gate is not None
    return view.forms.gate


def _error_shown(form: GateForm) -> str:
    return str(form._error.value)


def _tree(widget: Any) -> list[Any]:
    return [widget, *(found for child in getattr(widget, "children", ()) for found in _tree(child))]


@case("a2-scn-08")
def test_form_is_of_core_controls_in_plain_boxes(view: LiveView) -> None:
    _at_gate(view)
    parts = _tree(_form(view).box)
    kinds = {type(part).__name__ for part in parts}
    assert kinds == {"VBox", "HBox", "HTML", "Button", "Textarea", "RadioButtons"}
    assert all(type(part).__module__.startswith("ipywidgets.") for part in parts)


@case("a2-scn-10", "a2-scn-11")
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (rt.StoreError("the store /data/debates.db is read-only"), "is read-only"),
        (ValueError("bad <value>"), "ValueError: bad &lt;value&gt;; your text is kept"),
    ],
    ids=["read-only store", "any other error"],
)
def test_error_behind_a_button_is_seen_in_the_form(
    view: LiveView, control: FailingControl, fault: Exception, words: str
) -> None:
    _at_gate(view)
    form = _form(view)
    form.fields["q1"].control.value = "forty thousand"
    control.fault = fault
    form.buttons["continue"].click()
    assert form.last_error is not None
    assert form.last_error.startswith(str(fault)) or type(fault).__name__ in form.last_error
    assert words in _error_shown(form)
    assert 'class="rt-text rt-error"' in _error_shown(form)
    assert (form.fields["q1"].control.value, form.sent) == ("forty thousand", False)
    # Nothing is lost: the same text goes out once the fault is mended.
    control.fault = None
    form.buttons["continue"].click()
    assert control.calls == [("answer", {"q1": "forty thousand"}, None, 0, "person")]
    assert form.sent
    assert _error_shown(form) == ""


@case("a2-scn-13")
def test_second_message_of_a_form_replaces_the_first(
    view: LiveView, control: FailingControl
) -> None:
    _at_gate(view)
    form = _form(view)
    for words in ("message A", "message B"):
        control.fault = rt.UsageError(words)
        form.buttons["continue"].click()
    assert "message B" in _error_shown(form)
    assert "message A" not in _error_shown(form)


@case("a2-scn-12", "a2-scn-14")
def test_progress_is_values_and_never_an_output_that_is_cleared() -> None:
    """No `Output` widget, no `clear_output`, no `with out:`: threads could write elsewhere."""
    clearing = ("Output", "clear_output", "append_stdout", "append_display_data")
    assert used_in_package(*clearing) == set()


@case("a2-scn-12")
def test_updates_from_a_worker_thread_all_arrive_in_order(view: LiveView, sent: Any) -> None:
    page = Page(view, sent)
    scene = Scene()
    view.listener(scene.events[0], scene.state)

    def work() -> None:
        for number in range(40):
            view.listener(scene.add("round_started", round=number), scene.state)
            for seat in ("pm", "dev"):
                view.listener(scene.turn(number, seat, make_reply(1)), scene.state)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    batches = [message for message in page.messages() if message["type"] == "batch"]
    assert [b["n"] + b["count"] for b in batches][:-1] == [b["n"] for b in batches][1:]
    progress = [message for message in page.drawn() if message["type"] == "progress"]
    assert len(progress) >= 80
    assert (progress[-1]["round"], progress[-1]["calls"]) == (39, 80)
    replies = [(m["round"], m["seat"]) for m in page.drawn() if m["type"] == "reply"]
    assert replies == [(number, seat) for number in range(40) for seat in ("pm", "dev")]


@case("a2-scn-16")
def test_closed_form_is_let_go(sent: Any, shown: Shell, control: FailingControl) -> None:
    """It is displayed, and never the value of a cell that `Out` would keep."""
    view = LiveView(shown, _at_once, control)
    view.show()
    _at_gate(view)
    form, box = weakref.ref(_form(view)), weakref.ref(view._box)
    view.finish("the result")
    del view
    gc.collect()
    assert (form(), box()) == (None, None)


@case("a2-scn-17")
def test_page_loaded_in_mid_debate_gets_all_of_it(view: LiveView) -> None:
    """With the widget's state, as a page asks for it; nothing waits for the end."""
    _at_gate(view)
    state = view._transcript.get_state()
    history = state["history"]
    kinds = [message["type"] for message in history["messages"]]
    assert sorted(kinds) == ["gate", "header", "progress", "reply", "reply", "round"]
    assert history["n"] >= len(kinds)
    assert "What is the budget?" in str(history)


@case("a2-scn-06")
def test_front_end_without_widgets_reads_what_to_do(view: LiveView, shown: Shell) -> None:
    """Beside the widget as text and HTML; at a gate that no page shows, with its questions."""
    (_, _, first), *_ = shown.display_pub.shown
    assert {WIDGET, "text/plain", "text/html"} <= set(first)
    assert "%roundtable answer payments-abc123 --round N q1=" in first["text/plain"]
    _at_gate(view)
    _, _, note = shown.display_pub.shown[-1]
    for kind in ("text/plain", "text/html"):
        assert "What is the budget?" in note[kind]
        assert "Microservice or Wait one sprint?" in note[kind]
        assert "%roundtable answer payments-abc123 --round 0 q1=" in note[kind]
    assert WIDGET not in note


@case("a2-scn-05")
def test_gate_cut_off_by_a_restart_opens_again_with_its_questions(sent: Any, shown: Shell) -> None:
    """The questions are in the store; `resume` opens the form again, with the whole window.

    What was typed and never sent is not kept across a restart; the old output names the commands.
    """
    asks = speaker("ana", reply("opt-1", "a", question="What is the budget?"))
    seats = [asks, *others()]
    handle = review(*seats, unattended=False, question_wait_s=60, checkpoint_wait_s=0).start()
    rt.wait(handle.id, 20)
    run = running.running(handle.id)
    assert run is not None
    run.interrupt()
    handle.result(20)
    left = rt.load(handle.id)
    assert (left.status, left.state.next_action.command) == (
        "interrupted",
        f"%roundtable resume {handle.id}",
    )
    assert left.questions["text"].tolist() == ["What is the budget?"]

    models: dict[str, Any] = {seat.name: seat.function for seat in seats}
    opening = session.Opening(attended=True)
    again = session.resume_run(handle.id, opening, models=models)
    view = LiveView(shown, _at_once, again)
    view.show()
    again.listeners.append(view.listener)
    thread = threading.Thread(target=_drive, args=(again,))
    thread.start()
    _until(lambda: view.forms.gate is not None)
    labels = "".join(str(part.value) for part in _tree(_form(view).box)
                     if isinstance(part, ipywidgets.HTML))  # fmt: skip
    assert "What is the budget?" in labels
    gate = again.state().gate
    assert gate is not None
    assert (gate.closes_at or 0) / 1000 - time.time() > 50
    _form(view).fields["q1"].control.value = "forty thousand"
    _form(view).buttons["continue"].click()
    thread.join(20)
    view.finish("over")
    assert rt.load(handle.id).questions["answer"].tolist() == ["forty thousand"]


def _drive(run: Any) -> None:
    from rt_notebook.engine.runner import runner

    job = runner().new_job(lambda job: run.main())
    job.start().result(20)


def _until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline, "it never came to that"
        time.sleep(0.01)
