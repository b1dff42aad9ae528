"""The live view and its forms in a real page: what a person sees, types and gets back.

The debates are fake (see `tests.frontends.live_cell`); view, forms, pump and kernel are real.
"""

from __future__ import annotations

import ast
from typing import Any

import pytest

from tests.browser.labdriver import NotebookPage
from tests.browser.servers import Server
from tests.environment import ROOT
from tests.notebook.runner import ALL_KERNELS, NEWEST

_HEAD = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from rt_notebook.domain.reply import Reply
from tests.frontends.live_cell import play, two_rounds
from tests.frontends.scenes import make_reply, make_spec
"""
_CALLS = "print('handed over', cell.debate.calls)"
_BOOM = "<img src=x onerror=window.__hacked=1><script>window.__hacked=1</script>"


def run(
    tab: NotebookPage, server: Server, call: str, *more: str, kernel: str = NEWEST, setup: str = ""
) -> None:
    """Opens a notebook whose first cell plays a debate, and starts all cells."""
    cells = [f"{_HEAD}{setup}\ncell = await {call}", *more]
    tab.show("live.ipynb", cells, kernel)
    tab.run_all()


def calls(tab: NotebookPage) -> list[Any]:
    """Returns what the last cell says was handed over."""
    found: list[Any] = ast.literal_eval(tab.printed("handed over "))
    return found


def assert_clean(tab: NotebookPage) -> None:
    """Nothing went wrong, nothing asked the network, nothing hostile ran."""
    assert tab.console_errors == []
    assert tab.foreign_requests == []
    assert tab.dialogs == []
    assert tab.page.evaluate("window.__hacked") is None


def test_replies_appear_and_result_replaces_them(tab: NotebookPage, server: Server) -> None:
    run(tab, server, "play(linger_s=1.5)", _CALLS)
    tab.wait(".rt-form")
    assert tab.find(".rt-card").count() == 3
    assert "One deployment is simpler to run." in tab.text(".rt-card")
    assert tab.text(".rt-card .rt-chip") == "Modular monolith"
    tab.click(".rt-card details summary")
    assert "STANCE: opt-1" in tab.text(".rt-card .rt-full .rt-pre")
    tab.click(".rt-button--continue")
    tab.wait(".rt-verdict")
    assert tab.find(".rt-card").count() == 6
    assert "changed, was Microservice" in tab.text(".rt-round:nth-of-type(2)")
    assert tab.find(".rt-form").count() == 0
    tab.wait(".rt-static")
    assert calls(tab) == [("answer", {}, None, 0, "person")]
    assert tab.find(".rt-live").count() == 0
    assert_clean(tab)


@pytest.mark.parametrize("kernel", ALL_KERNELS)
@pytest.mark.parametrize("app", ["lab"])
def test_typed_text_arrives_whole_at_once(tab: NotebookPage, server: Server, kernel: str) -> None:
    """The button is clicked right behind the last key, long before the text's own update."""
    run(tab, server, "play()", _CALLS, kernel=kernel)
    tab.wait(".rt-form")
    long = "every single letter, €12,000 & more " * 8
    tab.type(".rt-field--q1 textarea", long, delay_ms=0)
    tab.find(".rt-field--q2-choice input").nth(1).check()
    tab.type(".rt-field--message textarea", "and this message too", delay_ms=0)
    tab.page.evaluate("document.querySelector('.rt-button--continue').click()")
    answers = {"q1": long.strip(), "q2": "Microservice"}
    assert calls(tab) == [("answer", answers, "and this message too", 0, "person")]
    assert_clean(tab)


def test_ctrl_enter_sends_whole_text(tab: NotebookPage, server: Server) -> None:
    run(tab, server, "play()", _CALLS)
    tab.wait(".rt-form")
    tab.type(".rt-field--q1 textarea", "twelve thousand\neuros", delay_ms=0)
    tab.press(".rt-field--q1 textarea", "Control+Enter")
    assert calls(tab) == [("answer", {"q1": "twelve thousand\neuros"}, None, 0, "person")]
    tab.wait_finished()
    assert tab.prompts() == ["[1]:", "[2]:"]  # to the front end, these keys run a cell
    assert_clean(tab)


def test_double_click_counts_once(tab: NotebookPage, server: Server) -> None:
    setup = "rounds = [*two_rounds(), {'pm': make_reply(1), 'dev': make_reply(2)}]"
    run(tab, server, "play(rounds)", _CALLS, setup=setup)
    tab.wait(".rt-form")
    tab.find(".rt-button--continue").dblclick()
    tab.wait_text("Round 1")
    tab.wait(".rt-form:not(.rt-sent)")
    tab.click(".rt-button--finish")
    assert calls(tab) == [("answer", {}, None, 0, "person"), ("finish",)]


def test_open_gate_marks_title_and_takes_no_focus(tab: NotebookPage, server: Server) -> None:
    run(tab, server, "play()", _CALLS)
    tab.wait(".rt-form")
    assert tab.title().startswith("● ")
    assert "form is open" in tab.find(".rt-live [role=status]").inner_text()
    assert tab.page.evaluate("!document.activeElement.closest('.rt-form')")
    tab.click(".rt-go")
    assert tab.page.evaluate("!!document.activeElement.closest('.rt-form')")
    tab.click(".rt-button--continue")
    tab.wait_finished()
    assert not tab.title().startswith("●")


def test_reload_at_gate_brings_form_and_replies_back(tab: NotebookPage, server: Server) -> None:
    run(tab, server, "play()", _CALLS)
    tab.wait(".rt-form")
    tab.save()
    tab.type(".rt-field--q1 textarea", "a draft", delay_ms=0)
    wait_for_frame(tab, "a draft")
    tab.reload()
    tab.wait(".rt-form")
    assert tab.find(".rt-card").count() == 3
    assert tab.find(".rt-field--q1 textarea").input_value() == "a draft"
    assert tab.title().startswith("● ")
    tab.type(".rt-field--message textarea", "after the reload", delay_ms=0)
    tab.click(".rt-button--continue")
    tab.wait(".rt-verdict")
    assert tab.find(".rt-card").count() == 6
    assert "after the reload" in tab.text(".rt-said")
    assert "a draft" in tab.text(".rt-said")
    assert not tab.title().startswith("●")
    assert_clean(tab)


def wait_for_frame(tab: NotebookPage, text: str) -> None:
    """Waits until the page has sent a message with this text to the kernel."""
    for _ in range(100):
        sent = (frame.payload for frame in tab.frames if frame.direction == "sent")
        if any(text.encode() in _bytes(payload) for payload in sent):
            return
        tab.page.wait_for_timeout(50)
    raise AssertionError(f"{text!r} was never sent")


def _bytes(payload: str | bytes) -> bytes:
    return payload.encode() if isinstance(payload, str) else payload


def test_refused_answer_shows_why_and_keeps_text(tab: NotebookPage, server: Server) -> None:
    run(tab, server, f"play(refuse='the gate is <b>busy</b> {_BOOM}')", _CALLS)
    tab.wait(".rt-form")
    tab.type(".rt-field--q1 textarea", "keep me", delay_ms=0)
    tab.click(".rt-button--continue")
    tab.wait(".rt-error")
    assert "the gate is <b>busy</b>" in tab.text(".rt-error")
    assert tab.find(".rt-field--q1 textarea").input_value() == "keep me"
    tab.type(".rt-field--q1 textarea", ", please", delay_ms=0)
    tab.click(".rt-button--continue")
    assert calls(tab) == [("answer", {"q1": "keep me, please"}, None, 0, "person")]
    assert_clean(tab)


def test_more_time_moves_countdown_and_timeout_gives_draft_back(
    tab: NotebookPage, server: Server
) -> None:
    run(tab, server, "play(wait_s=8, linger_s=3)", _CALLS)
    tab.wait(".rt-form")
    tab.wait(".rt-countdown.rt-soon")
    tab.type(".rt-field--q1 textarea", "not done yet", delay_ms=0)
    tab.click(".rt-button--hold")
    tab.wait_text("1:0")
    tab.wait(".rt-countdown:not(.rt-soon)")
    # The fake keeps its own window, so that the timeout comes soon.
    tab.wait_gone(".rt-form")
    assert "not done yet" in tab.text(".rt-line-warning")
    assert calls(tab) == [("hold", 0)]


@pytest.mark.parametrize(("button", "verb"), [("finish", "finish"), ("stop", "stop")])
def test_finish_and_stop_reach_the_debate(
    tab: NotebookPage, server: Server, button: str, verb: str
) -> None:
    run(tab, server, "play()", _CALLS)
    tab.click(f".rt-button--{button}")
    assert calls(tab) == [(verb,)]


def test_hostile_texts_execute_nothing(tab: NotebookPage, server: Server) -> None:
    setup = f"""
boom = {_BOOM!r}
from rt_notebook.domain.brief import Brief
from rt_notebook.domain.seat import Seat
brief = Brief(question=boom + ' $x$', options=(boom + '1', boom + '2'), context=boom)
seats = (Seat('p$x$m', model='x:' + boom, lens=boom), Seat('dev', model=boom))
spec = make_spec(brief=brief, seats=seats, title=boom)
opening = {{
    'p$x$m': make_reply(1, new=[boom], disagree=['**' + boom + '**'],
        question=boom + '?'),
    'dev': make_reply(2, agree_with=[boom], question=boom + '1 or ' + boom + '2?'),
}}
bad = Reply(valid=False, errors=[boom], raw=boom)
"""
    call = "play([opening, {'p$x$m': bad, 'dev': make_reply(2)}], spec=spec, linger_s=1)"
    run(tab, server, call, _CALLS, setup=setup)
    tab.wait(".rt-form")
    assert tab.find(".rt-form input[type=radio]").count() == 3
    assert tab.find(".rt-live img, .rt-live script, .rt-form img, .rt-form script").count() == 0
    tab.click(".rt-card details summary")
    tab.type(".rt-field--message textarea", _BOOM, delay_ms=0)
    tab.click(".rt-button--continue")
    tab.wait(".rt-said")
    assert _BOOM in tab.text(".rt-said")
    tab.wait(".rt-verdict")
    assert tab.find(".rt-live img, .rt-live script").count() == 0
    tab.wait_finished()
    assert_clean(tab)


def test_human_seat_fills_in_its_turn(tab: NotebookPage, server: Server) -> None:
    run(tab, server, "play(human='dev')", _CALLS)
    tab.wait(".rt-form")
    assert "Your turn as dev: opening" in tab.text(".rt-form")
    assert tab.title().startswith("● ")
    tab.find(".rt-field--stance input").nth(1).check()
    tab.type(".rt-field--disagree textarea", "Tests are slow.\nPager.", delay_ms=0)
    tab.press(".rt-field--disagree textarea", "Control+Enter")
    tab.wait(".rt-field--q1")
    tab.click(".rt-button--continue")
    tab.wait(".rt-field--stance")
    tab.find(".rt-field--agree-0 input").check()
    tab.find(".rt-field--stance input").nth(4).check()
    tab.click(".rt-button--continue")
    (verb, number, seat, text), _, later = calls(tab)
    assert (verb, number, seat) == ("turn", 0, "dev")
    assert "STANCE: Microservice" in text
    assert "- Tests are slow.\n- Pager." in text
    assert later == ("turn", 1, "dev", "PASS")
    assert_clean(tab)


def test_background_form_works_while_cells_run(tab: NotebookPage, server: Server) -> None:
    more = ["print('next cell ran', cell.view.seen)"]
    setup = "import asyncio\ncell = None"
    source = "play(background=True)"
    run(tab, server, source, *more, setup=setup)
    tab.wait_text("next cell ran True")
    tab.wait(".rt-form")
    tab.type(".rt-field--q1 textarea", "from the background", delay_ms=0)
    tab.click(".rt-button--continue")
    tab.wait(".rt-static")
    assert "from the background" in tab.text(".rt-static")


def test_view_shown_again_works_and_ends(tab: NotebookPage, server: Server) -> None:
    run(tab, server, "play(background=True)", "cell.view.show_again()")
    tab.wait(".jp-Cell:nth-of-type(2) .rt-form, .jp-Cell + .jp-Cell .rt-form")
    assert tab.find(".rt-live").count() == 2
    assert tab.find(".rt-card").count() == 6
    tab.find(".rt-field--q1 textarea").nth(1).press_sequentially("here")
    tab.find(".rt-button--continue").nth(1).click()
    tab.wait_gone(".rt-live")
    assert tab.find(".rt-static").count() == 2
    assert "here" in tab.text(".rt-static")
