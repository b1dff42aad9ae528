"""A discussion in a real page: turns appear as they are said, a word is heard, the result stays."""

from __future__ import annotations

import json

import pytest

from tests.browser.labdriver import NotebookPage
from tests.browser.reviews import assert_clean, run
from tests.browser.servers import Server

SEATS = """
import asyncio, threading
heard = threading.Event()
async def pm(call):
    if call.round == 1:
        return "# Start small\\n\\n- one *step*\\n- then `measure`\\n\\n<img src=x onerror=hack()>"
    return "The second turn of pm, which says something else altogether."
def dev(call):
    if call.round == 1:
        heard.wait(60)  # until the person has spoken
        return "I waited for a word of the person, and it has come by now."
    return "Done." if "Mind the budget, 40,000 €" in call.prompt else "I heard nothing."
def release(event):
    if event.kind == "interjection":
        heard.set()
seats = [rt.Seat("pm", model=pm), rt.Seat("dev", model=dev)]
"""
CELL = """talk = await rt.Discussion("How to ship?", seats=seats, rounds=2).run(on_event=release)"""
FACTS = (
    "print('FACTS', json.dumps([talk.status, talk.fold.turns[2]['dev'].reply.raw, "
    "[n.text for n in talk.fold.notes]]))"
)


@pytest.mark.parametrize("app", ["lab"])
def test_word_said_in_the_page_is_heard(tab: NotebookPage, server: Server) -> None:
    run(tab, server, CELL, FACTS, setup=SEATS)
    tab.wait(".rt-form-talk")
    tab.wait_text("Start small")
    card = tab.find(".rt-card").first
    assert card.locator("li").all_inner_texts() == ["one *step*", "then measure"]
    assert card.locator("img").count() == 0
    assert tab.find(".rt-meta-round").inner_text() == "Round 1 of 2"
    field = ".rt-form-talk input[type=text]"
    tab.type(field, "Mind the budget, 40,000 €", delay_ms=0)
    tab.press(field, "Enter")
    tab.wait_finished()
    assert json.loads(tab.printed("FACTS ")) == [
        "done", "Done.", ["Mind the budget, 40,000 €"]
    ]  # fmt: skip
    assert tab.find(".rt-form").count() == 0
    assert "What was said" in "".join(tab.outputs())
    assert_clean(tab)


@pytest.mark.parametrize("app", ["lab"])
def test_live_view_keeps_words_in_their_place(tab: NotebookPage, server: Server) -> None:
    """The word stands between the turns, the field is empty again, the mark isn't there."""
    linger = SEATS + "\nlast = threading.Event()\n"
    waits = "async def pm(call):\n    return f'turn {call.round} of pm'\n"
    hang = "def dev(call):\n    heard.wait(60)\n    last.wait(3)\n    return 'turn of dev'\n"
    seats = "seats = [rt.Seat('pm', model=pm), rt.Seat('dev', model=dev)]\n"
    run(tab, server, CELL, setup=linger + waits + hang + seats)
    tab.wait(".rt-form-talk")
    tab.wait_text("turn 1 of pm")
    field = ".rt-form-talk input[type=text]"
    tab.type(field, "a word", delay_ms=0)
    tab.click(".rt-form-talk .rt-button--continue")
    tab.wait(".rt-talk .rt-said")
    assert tab.find(field).input_value() == ""
    kinds = tab.page.evaluate(
        "() => [...document.querySelector('.rt-talk').children].map(n => n.className.split(' ')[0])"
    )
    assert kinds == ["rt-card", "rt-card", "rt-said"]
    assert not tab.title().startswith("●")
    tab.wait_finished()
    assert_clean(tab)
