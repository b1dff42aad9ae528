"""The live view: the messages that its page gets as plain text, and the forms below it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import ipywidgets
import pytest

from rt_notebook.domain.events import Event
from rt_notebook.domain.snapshot import TurnPart
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.domain.state import start_state
from rt_notebook.frontends.gate_form import ConfirmForm, GateForm
from rt_notebook.frontends.gate_form_base import Form
from rt_notebook.frontends.gate_form_turn import TurnForm
from rt_notebook.frontends.gate_words import plain_gate
from rt_notebook.frontends.live_model import message_for, messages_so_far
from rt_notebook.frontends.live_parts import Message
from tests.frontends.scenes import RecordingControl
from tests.hostile.checks import Page, assert_harmless_text, each
from tests.hostile.corpus import FAMILIES
from tests.hostile.debates import failed_events, review_events, states_of, talk_events

every_family = pytest.mark.parametrize("family", FAMILIES)
_FORM_TAGS = frozenset({"div", "span", "details", "summary", "pre"})


@cache
def told(make: Callable[[str], Sequence[Event]], text: str) -> tuple[Message, ...]:
    """Returns what a page is told about a debate, event by event."""
    created, *events = make(text)
    state = start_state(created, DebateSpec.model_validate(created.body["spec"]))
    messages = message_for(created, state)
    for event in events:
        state.apply(event)
        messages += message_for(event, state)
    return tuple(messages)


def texts_in(value: Any) -> Iterator[str]:
    """Yields every text in a message."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for inner in value.values() for text in texts_in(inner))
    elif isinstance(value, list | tuple):
        yield from (text for inner in value for text in texts_in(inner))


@every_family
def test_messages_to_the_page_hold_no_character_that_acts(family: str) -> None:
    def check(text: str) -> None:
        for make in (review_events, talk_events, failed_events):
            for message in told(make, text):
                json.dumps(message, ensure_ascii=False).encode()
                assert_harmless_text("\0".join(texts_in(message)).replace("\0", "\n"))
        for state in states_of(text):
            assert_harmless_text("\n".join(texts_in(messages_so_far(state))))

    each(family, check)


def _gates(family: str) -> Iterator[Message]:
    for text in FAMILIES[family]:
        for message in told(review_events, text):
            if message["type"] == "gate" and message["state"] == "open":
                assert_harmless_text(plain_gate(message, "payments-a1b2c3"))
                yield message


def _shown(form: Form) -> Iterator[ipywidgets.Widget]:
    waiting = [form.box]
    while waiting:
        widget = waiting.pop()
        yield widget
        waiting += getattr(widget, "children", ())


def _assert_form(form: Form) -> None:
    for widget in _shown(form):
        if isinstance(widget, ipywidgets.HTML):
            page = Page(widget.value)
            assert set(page.tags) <= _FORM_TAGS, page.tags
            assert page.strays == []
            assert {name for _, name, _ in page.attributes} <= {"class", "data-rt-closes"}
            assert_harmless_text(page.text)
        elif isinstance(widget, ipywidgets.RadioButtons):
            assert_harmless_text("\n".join(widget.options))
        elif isinstance(widget, ipywidgets.Checkbox):
            assert not widget.description_allow_html
    form.close()


@every_family
def test_forms_show_texts_as_text(family: str) -> None:
    control, told_back = RecordingControl(), list[Message]()
    asked = [question for gate in _gates(family) for question in gate["questions"]]
    gate = dict(next(_gates(family)))
    gate |= {"questions": [{**question, "id": f"q{n}"} for n, question in enumerate(asked, 1)]}
    _assert_form(GateForm(gate, control, uid="a", serial=1, tell=told_back.append))
    spec = states_of(FAMILIES[family][0])[0].spec
    names = [seat.name for text in FAMILIES[family] for seat in states_of(text)[0].spec.seats[:1]]
    prompt = "\n".join(text[:2_000] for text in FAMILIES[family])
    turn = TurnPart(round=1, seat=names[0], prompt=prompt, closes_at=None)
    others = list(dict.fromkeys(names))
    _assert_form(
        TurnForm(
            turn, spec.brief.options, others, control, uid="a", serial=2, tell=told_back.append
        )
    )
    confirm = ConfirmForm(prompt, lambda start: None, uid="a", serial=3, tell=told_back.append)
    control.error = prompt
    confirm._refuse(prompt)
    _assert_form(confirm)
    assert_harmless_text("\n".join(texts_in(told_back)))
