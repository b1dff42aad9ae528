"""What `live.js` draws in a bare page: real messages, a real browser, no front end around it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route

from rt_notebook.frontends.live_model import message_for
from rt_notebook.frontends.widgets import STATIC
from tests.browser.labdriver import NARROW, WIDE
from tests.frontends.scenes import Scene, make_reply

pytestmark = pytest.mark.parametrize("app", ["none"])

_ORIGIN = "http://127.0.0.1/"
_HTML = """<!doctype html><title>page</title><link rel=stylesheet href=live.css>
<div class="rt-live-box"><div id=root></div></div>
<script type=module>
import view from "./live.js";
const state = {uid: "u1", history: {}};
let hear = null;
window.sent = [];
const send = message => window.sent.push(message);
const model = {get: name => state[name], send, off() {}, on: (_, f) => { hear = f; }};
view.initialize({model});
view.render({model, el: document.getElementById("root")});
window.tell = batch => hear(batch);
</script>"""
_FROM_END = """() => { const log = document.querySelector('.rt-log');
    return log.scrollHeight - log.scrollTop - log.clientHeight; }"""
_FORM = """() => { document.body.insertAdjacentHTML("beforeend", `
    <div class="rt-form rt-form--u1--0">
    <button class="rt-button rt-button--finish">Finish now</button>
    <button class="rt-button rt-button--stop">Stop</button>
    <label><input type=radio>Ship</label></div>`); }"""
_PUSH = """() => document.querySelector('.rt-form').insertAdjacentHTML(
    'beforebegin', '<div style="height: 300px"></div>')"""
_CLICK = """([clientX, clientY]) => document.body.dispatchEvent(
    new MouseEvent("click", {clientX, clientY, bubbles: true}))"""
_SENT = "() => window.sent.filter(m => m.type === 'submit').map(m => m.action)"
_SEAT = ".rt-seat:has(.rt-seat-name:text-is('{}')) .rt-seat-state"


class BarePage:
    """A page with one view, told what a debate's events mean."""

    def __init__(self, page: Page) -> None:
        self.page, self._count = page, 0
        self.scene = Scene()
        page.route("**/*", self._serve)
        page.set_viewport_size({"width": WIDE, "height": 800})
        page.goto(_ORIGIN)
        page.wait_for_function("() => !!window.tell")
        self.tell(self.scene.events[0])

    def _serve(self, route: Route) -> None:
        name = route.request.url.removeprefix(_ORIGIN)
        kinds = {"live.js": "text/javascript", "live.css": "text/css"}
        if name in kinds:
            body = (STATIC / name).read_text(encoding="utf-8")
            route.fulfill(body=body, content_type=kinds[name])
        else:
            route.fulfill(body=_HTML, content_type="text/html")

    def tell(self, *events: Any) -> None:
        """Sends what events mean, as the kernel does."""
        messages = [message for e in events for message in message_for(e, self.scene.state)]
        batch = {"type": "batch", "n": self._count, "count": len(messages), "messages": messages}
        self._count += len(messages)
        now = time.time_ns() // 1_000_000
        self.page.evaluate(
            "batch => window.tell(batch)", json.loads(json.dumps(batch)) | {"now": now}
        )

    def from_end(self) -> float:
        """Returns how many pixels below the shown replies there are."""
        return float(self.page.evaluate(_FROM_END))

    def resize(self, width: int) -> None:
        """Gives the window another width and waits until the page is drawn anew."""
        self.page.set_viewport_size({"width": width, "height": 800})
        frames = "() => new Promise(done => requestAnimationFrame(() => setTimeout(done, 200)))"
        self.page.evaluate(frames)

    def seat(self, name: str) -> str:
        """Returns what the header says of a seat."""
        return self.page.locator(_SEAT.format(name)).inner_text()


@pytest.fixture
def bare(browser: Browser, app: str) -> Iterator[BarePage]:
    """Opens a page of its own."""
    page = browser.new_page()
    yield BarePage(page)
    page.close()


def _rounds(bare: BarePage, count: int) -> None:
    point = "A point that takes a good deal of room on a narrow page, so that it wraps. " * 3
    for number in range(count):
        bare.tell(bare.scene.add("round_started", round=number))
        for n, seat in enumerate(("pm", "dev", "rv")):
            bare.tell(bare.scene.turn(number, seat, make_reply(n + 1, new=[point, point])))


def test_newest_reply_stays_in_sight_when_the_page_narrows(bare: BarePage) -> None:
    _rounds(bare, 4)
    assert bare.from_end() < 2
    for width in (NARROW, 420, WIDE, NARROW):
        bare.resize(width)
        assert bare.from_end() < 2, width
    _more = bare.scene.add("round_started", round=4)
    bare.tell(_more, bare.scene.turn(4, "pm", make_reply(1, new=["the newest point"])))
    assert bare.from_end() < 2


def test_who_reads_further_up_is_left_there(bare: BarePage) -> None:
    _rounds(bare, 4)
    bare.page.locator(".rt-log").hover()
    bare.page.mouse.wheel(0, -600)
    bare.page.wait_for_function(f"() => ({_FROM_END})() > 300")
    bare.resize(NARROW)
    assert bare.from_end() > 300
    bare.tell(bare.scene.turn(3, "pm", make_reply(1, new=["one more"])))
    assert bare.from_end() > 300
    bare.page.mouse.wheel(0, 100_000)
    bare.page.wait_for_function(f"() => ({_FROM_END})() < 2")
    bare.resize(WIDE)
    assert bare.from_end() < 2


def test_stance_stays_beside_a_seat_that_works_or_failed(bare: BarePage) -> None:
    scene = bare.scene
    bare.tell(scene.add("round_started", round=0), scene.ask(0, "pm"))
    assert bare.seat("pm").split("\n") == ["at work"]
    bare.tell(scene.finish_call(0, "pm"), scene.reply(0, "pm", make_reply(1)))
    assert bare.seat("pm") == "Modular monolith"
    bare.tell(scene.add("round_started", round=1), scene.ask(1, "pm"))
    assert bare.seat("pm").split("\n") == ["Modular monolith", "at work"]
    call = "1/pm/opening/1"
    bare.tell(
        scene.add(
            "call_failed",
            call=call,
            error="timeout",
            message="too slow",
            partial="",
            retry_in_s=None,
        )
    )
    assert bare.seat("pm").split("\n") == ["Modular monolith", "failed"]
    bare.tell(scene.ask(1, "dev"))
    assert bare.seat("dev").split("\n") == ["at work"]


def _press(bare: BarePage, selector: str) -> tuple[float, float]:
    bare.page.evaluate(_FORM)
    box = bare.page.locator(selector).bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    bare.page.mouse.move(x, y)
    bare.page.mouse.down()
    return x, y


def test_button_that_moves_while_it_is_pressed_is_clicked(bare: BarePage) -> None:
    _press(bare, ".rt-button--stop")
    bare.page.evaluate(_PUSH)
    bare.page.mouse.up()
    assert bare.page.evaluate(_SENT) == ["stop"]


@pytest.mark.parametrize("selector", [".rt-form label", ".rt-form input"])
def test_choice_that_moves_while_it_is_pressed_is_taken(bare: BarePage, selector: str) -> None:
    _press(bare, selector)
    bare.page.evaluate(_PUSH)
    bare.page.mouse.up()
    assert bare.page.locator(".rt-form input").is_checked()
    assert bare.page.evaluate(_SENT) == []


def test_button_that_the_pointer_leaves_before_its_release_is_not_clicked(bare: BarePage) -> None:
    x, y = _press(bare, ".rt-button--stop")
    bare.page.mouse.move(x + 200, y + 200)
    bare.page.mouse.up()
    assert bare.page.evaluate(_SENT) == []


def test_press_counts_for_its_own_click_alone(bare: BarePage) -> None:
    x, y = _press(bare, ".rt-button--stop")
    bare.page.mouse.up()
    bare.page.evaluate("() => document.querySelector('.rt-form').classList.remove('rt-sending')")
    # A front end may click by itself, without any press.
    bare.page.evaluate(_CLICK, [x, y])
    bare.page.evaluate(_PUSH)
    bare.page.mouse.click(x, y)
    assert bare.page.evaluate(_SENT) == ["stop"]
