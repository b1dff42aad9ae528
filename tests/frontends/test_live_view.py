"""The live view without a page: what goes over the comms, who may see what, and what is left."""

from __future__ import annotations

import asyncio
import gc
import json
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import comm
import pytest
from IPython.core.displaypub import CapturingDisplayPublisher
from ipywidgets.widgets.widget import _instances

from rt_notebook.domain.events import Event
from rt_notebook.domain.snapshot import TurnPart
from rt_notebook.frontends.live_view import LiveView
from rt_notebook.frontends.publisher import remember_publisher
from rt_notebook.frontends.widgets import Transcript, close_tree
from tests.frontends.pages import WIDGET, Page, RecordingComm, Shell
from tests.frontends.scenes import RecordingControl, Scene, make_reply


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, dict[str, Any]]]:
    """Records every comm message."""
    messages: list[tuple[str, str, dict[str, Any]]] = []
    monkeypatch.setattr(RecordingComm, "sent", messages, raising=False)
    monkeypatch.setattr(comm, "create_comm", RecordingComm)
    return messages


@pytest.fixture
def shell() -> Shell:
    """Returns a shell that records displays."""
    return Shell()


@pytest.fixture
def control() -> RecordingControl:
    """Records what is handed over."""
    return RecordingControl()


def at_once(fn: Callable[..., object], *args: Any) -> None:
    """Posts as a background debate does."""
    fn(*args)


@pytest.fixture
def view(sent: Any, shell: Shell, control: RecordingControl) -> Iterator[LiveView]:
    """Makes a view whose posts run at once."""
    made = LiveView(shell, at_once, control, rearm_s=(0.01, 0.01, 0.01))
    yield made
    close_tree(made._box)


@pytest.fixture
def page(view: LiveView, sent: Any) -> Page:
    """Shows the view."""
    view.show()
    return Page(view, sent)


def play(view: LiveView, scene: Scene, *events: Event) -> None:
    for event in events:
        view.listener(event, scene.state)


def at_gate(view: LiveView) -> Scene:
    """Plays an opening up to its gate."""
    scene = Scene()
    play(view, scene, scene.events[0], scene.add("round_started", round=0))
    play(view, scene, scene.turn(0, "pm", make_reply(1, question="What is the <b>budget</b>?")))
    play(view, scene, scene.open_gate(0))
    return scene


def test_first_display_serves_every_front_end(view: LiveView, page: Page, shell: Shell) -> None:
    ((_, update, data),) = shell.display_pub.shown
    assert not update
    assert data[WIDGET]["model_id"] == view._box.model_id
    assert "%roundtable answer payments-abc123 --round N" in data["text/plain"]
    assert "%roundtable answer payments-abc123" in data["text/html"]


def test_events_travel_as_they_come(view: LiveView, page: Page) -> None:
    at_gate(view)
    kinds = [message["type"] for message in page.drawn() if message["type"] != "progress"]
    assert kinds == ["header", "round", "reply", "gate"]
    batches = [m for m in page.messages() if m["type"] == "batch"]
    assert [b["n"] + b["count"] for b in batches][:-1] == [b["n"] for b in batches][1:]


def test_events_of_one_moment_share_a_message(
    sent: Any, shell: Shell, control: RecordingControl
) -> None:
    posted: list[Callable[..., object]] = []
    view = LiveView(shell, posted.append, control)
    view.show()
    page = Page(view, sent)
    scene = Scene()
    play(view, scene, scene.events[0], scene.add("round_started", round=0))
    play(view, scene, *(scene.ask(0, seat) for seat in ("pm", "dev", "rv")))
    assert len(posted) == 1
    posted[0]()
    assert len([m for m in page.messages() if m["type"] == "batch"]) == 1
    assert [m["seat"] for m in page.drawn() if m["type"] == "asked"] == ["pm", "dev", "rv"]


@pytest.mark.asyncio
async def test_reply_and_what_follows_share_a_message(view: LiveView, page: Page) -> None:
    """On the debate's loop, where each event is stored in a turn of its own."""
    scene = Scene()
    play(view, scene, scene.events[0], scene.add("round_started", round=0))
    for seat in ("pm", "dev", "rv"):
        await asyncio.sleep(0)
        play(view, scene, scene.ask(0, seat))
    assert page.messages() == []
    async with asyncio.timeout(5):
        while not page.messages():  # noqa: ASYNC110  (the view posts by itself)
            await asyncio.sleep(0.005)
    assert [m["type"] for m in page.messages()] == ["batch"]
    assert [m["seat"] for m in page.drawn() if m["type"] == "asked"] == ["pm", "dev", "rv"]


@pytest.mark.asyncio
async def test_turn_is_told_behind_what_led_to_it(view: LiveView, page: Page) -> None:
    scene = Scene()
    play(view, scene, scene.events[0], scene.add("round_started", round=0))
    view.turns_changed([TurnPart(round=0, seat="dev", prompt="Speak.", closes_at=None)])
    kinds = [message["type"] for message in page.drawn() if message["type"] != "progress"]
    assert kinds == ["header", "round", "turn"]
    view.finish("over")


def test_view_made_on_resume_gets_what_was_said(view: LiveView, page: Page) -> None:
    scene = Scene()
    scene.add("round_started", round=0)
    scene.turn(0, "pm", make_reply(1))
    scene.add("interrupted", why="crash")
    play(view, scene, scene.add("resumed", source="person", limits=None))
    kinds = [message["type"] for message in page.drawn()]
    assert kinds[:3] == ["header", "round", "reply"]
    assert kinds[-3:] == ["clock", "notice", "progress"]


def test_page_that_missed_messages_gets_all(view: LiveView, page: Page) -> None:
    at_gate(view)
    page.send(type="ready", n=0, have=0)
    whole = page.messages()[-1]
    assert whole["whole"] is True
    kinds = [message["type"] for message in whole["messages"]]
    assert kinds == ["header", "round", "reply", "progress", "gate"]
    count = len(page.messages())
    page.send(type="ready", n=0, have=whole["n"] + whole["count"])
    assert len(page.messages()) == count


def test_state_holds_each_turn_once(sent: Any) -> None:
    transcript = Transcript("abc", lambda message: None)
    transcript.append([{"type": "asked", "round": 0, "seat": "pm"}, {"type": "progress", "n": 1}])
    transcript.append([{"type": "reply", "round": 0, "seat": "pm"}, {"type": "progress", "n": 2}])
    history = transcript.get_state()["history"]
    assert history["n"] == 4
    assert history["messages"] == [
        {"type": "reply", "round": 0, "seat": "pm"}, {"type": "progress", "n": 2}
    ]  # fmt: skip
    close_tree(transcript)


def test_reply_costs_under_two_kilobytes(view: LiveView, page: Page, sent: Any) -> None:
    scene = Scene()
    play(view, scene, scene.events[0], scene.add("round_started", round=0))
    before = len(sent)
    reply = make_reply(1, new=["p" * 250, "q" * 250], disagree=["r" * 100], question="s" * 60 + "?")
    play(view, scene, scene.ask(0, "pm"), scene.finish_call(0, "pm"), scene.reply(0, "pm", reply))
    traffic = [json.dumps(data) for _, _, data in sent[before:]]
    # Each message's envelope takes about 500 bytes more on the wire.
    assert sum(map(len, traffic)) + 500 * len(traffic) - len(reply.raw) < 2_000


def test_open_gate_shows_form_and_submits(
    view: LiveView, page: Page, control: RecordingControl
) -> None:
    at_gate(view)
    assert view.forms.gate is not None
    assert view.forms.gate.box in view.forms.slot.children
    values = {"q1": "12,000", "message": "hi"}
    page.send(type="submit", serial=view.forms.gate.serial, action="continue", values=values)
    assert control.calls == [("answer", {"q1": "12,000"}, "hi", 0, "person")]
    assert page.messages()[-1]["ok"] is True


def test_click_on_older_form_does_nothing(
    view: LiveView, page: Page, control: RecordingControl
) -> None:
    scene = at_gate(view)
    serial = view.forms.gate.serial if view.forms.gate else None
    play(view, scene, scene.add("gate_closed", round=0, why="timeout"))
    assert view.forms.gate is None
    assert view.forms.slot.children == ()
    play(view, scene, scene.open_gate(0))
    page.send(type="submit", serial=serial, action="continue", values={"q1": "late"})
    assert control.calls == []


def test_gate_without_page_is_published_as_text(view: LiveView, shell: Shell, page: Page) -> None:
    at_gate(view)
    _, update, data = shell.display_pub.shown[-1]
    assert not update
    assert "q1 (pm): What is the <b>budget</b>?" in data["text/plain"]
    assert "--round 0 q1='...' --message '...'" in data["text/plain"]
    assert "&lt;b&gt;budget&lt;/b&gt;" in data["text/html"]


def test_gate_on_a_seen_page_is_a_form_only(view: LiveView, shell: Shell, page: Page) -> None:
    page.send(type="ready", n=0, have=0)
    at_gate(view)
    assert len(shell.display_pub.shown) == 1


@pytest.mark.asyncio
async def test_ready_ends_at_once_when_seen(view: LiveView, page: Page) -> None:
    view._rearm_s = (60.0, 60.0, 60.0)
    waiting = asyncio.create_task(view.ready())
    await asyncio.sleep(0)
    page.send(type="ready", n=0, have=0)
    assert await waiting is True
    assert view.seen


@pytest.mark.asyncio
async def test_view_count_alone_counts_as_seen(view: LiveView, page: Page) -> None:
    view._box._view_count = 1
    assert await view.ready() is True


@pytest.mark.asyncio
async def test_ready_tries_again_then_says_what_to_do(
    view: LiveView, page: Page, shell: Shell
) -> None:
    assert await view.ready() is False
    assert [m["type"] for m in page.messages()] == ["ping"]
    fresh, line = shell.display_pub.shown[1:]
    assert fresh[0] != shell.display_pub.shown[0][0]
    assert WIDGET in fresh[2]
    assert "reload the page" in line[2]["text/plain"]
    assert "%roundtable answer payments-abc123" in line[2]["text/plain"]
    assert view.settled
    assert not view.seen
    page.send(type="ready", n=1, have=0)
    assert view.seen


@pytest.mark.asyncio
@pytest.mark.parametrize(("action", "decision"), [("continue", True), ("cancel", False)])
async def test_confirmation_waits_for_a_decision(
    view: LiveView, page: Page, action: str, decision: bool
) -> None:
    waiting = asyncio.create_task(view.confirm("12 calls"))
    await asyncio.sleep(0)
    serial = view.forms.confirmation.serial if view.forms.confirmation else None
    page.send(type="submit", serial=serial, action=action, values={})
    assert await waiting is decision
    assert view.forms.confirmation is None


def test_human_turns_come_and_go(view: LiveView, page: Page, control: RecordingControl) -> None:
    scene = Scene()
    play(view, scene, scene.events[0])
    turn = TurnPart(round=0, seat="dev", prompt="Decide", closes_at=None)
    view.turns_changed([turn])
    (form,) = view.forms.turns.values()
    page.send(type="submit", serial=form.serial, action="continue", values={"stance": 0})
    assert control.calls[0][:3] == ("turn", 0, "dev")
    assert control.calls[0][3].startswith("STANCE: ")
    view.turns_changed([])
    assert view.forms.turns == {}
    assert [m["state"] for m in page.drawn() if m["type"] == "turn"] == ["open", "closed"]


def test_result_replaces_every_display(view: LiveView, page: Page, shell: Shell) -> None:
    view.show_again()
    names = [name for name, _, _ in shell.display_pub.shown]
    at_gate(view)
    shell.display_pub.shown.clear()
    view.finish("the result")
    updates = [(name, update) for name, update, _ in shell.display_pub.shown]
    assert updates == [(name, True) for name in names]
    assert shell.display_pub.shown[0][2]["text/plain"] == "'the result'"
    view.finish("again")
    assert len(shell.display_pub.shown) == len(names)


def test_captured_cell_still_shows_view_and_says_where_result_is(
    sent: Any, shell: Shell, control: RecordingControl
) -> None:
    remember_publisher(shell)
    page = shell.display_pub
    shell.display_pub = CapturingDisplayPublisher()  # type: ignore[no-untyped-call]  # IPython's
    view = LiveView(shell, at_once, control)
    view.show()
    view.finish("the result")
    assert [update for _, update, _ in page.shown] == [False, True]
    assert page.shown[1][2]["text/plain"] == "The result is in the captured output."
    assert shell.display_pub.outputs == []


def test_finished_view_leaves_nothing_behind(
    sent: Any, shell: Shell, control: RecordingControl
) -> None:
    before = set(_instances)
    view = LiveView(shell, at_once, control)
    view.show()
    Page(view, sent).send(type="ready", n=0, have=0)
    at_gate(view)
    view.turns_changed([TurnPart(round=0, seat="dev", prompt="Decide", closes_at=None)])
    assert len(set(_instances) - before) > 20
    view.finish("the result")
    assert set(_instances) == before
    gone = weakref.ref(view)
    del view
    gc.collect()
    assert gone() is None


def test_reloaded_page_keeps_the_transcript(
    sent: Any, shell: Shell, control: RecordingControl
) -> None:
    before = set(_instances)
    view = LiveView(shell, at_once, control)
    view.show()
    page = Page(view, sent)
    page.send(type="ready", n=0, have=0)
    page.send(type="ready", n=0, have=0, page="second")
    scene = at_gate(view)
    play(view, scene, scene.add("concluded", status="done", stop_reason="rounds"))
    view.finish("the result")
    left = [_instances[key] for key in set(_instances) - before]
    assert any(isinstance(widget, Transcript) for widget in left)
    assert view.forms.gate is None
    assert [m["type"] for m in page.drawn()][-3:] == ["concluded", "progress", "over"]
    page.send(type="missing", n=0, have=0)
    assert page.messages()[-1]["whole"]
    box, gone = view._box, weakref.ref(view)
    del view, page
    gc.collect()
    assert gone() is None  # the widgets stay, the debate doesn't
    close_tree(box)
    assert set(_instances) == before


def test_nothing_is_sent_after_the_end(view: LiveView, page: Page) -> None:
    scene = at_gate(view)
    view.finish("the result")
    count = len(page.messages())
    play(view, scene, scene.add("finish_asked", source="person"))
    view.turns_changed([TurnPart(round=0, seat="dev", prompt="Decide", closes_at=None)])
    assert len(page.messages()) == count
