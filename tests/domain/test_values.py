"""Values read back from the log as they were made: no text holds half of a surrogate pair."""

from __future__ import annotations

import json

from rt_notebook.domain.brief import Brief
from rt_notebook.domain.events import decode_event, encode_body
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.spec import DebateSpec, Limits
from rt_notebook.domain.stored import spec_of


def test_half_a_character_becomes_a_mark_and_two_halves_one() -> None:
    brief = Brief(question="a \ud800?", options=("b\udfff", "\ud83d\ude00"), known=("\ud800",))
    assert brief.question == "a \ufffd?"
    assert brief.options == ("b\ufffd", "\U0001f600")
    assert brief.known == ("\ufffd",)
    assert Limits(max_calls_per_vendor={"\ud800": 3}).max_calls_per_vendor == {"\ufffd": 3}


def test_definition_reads_back_as_it_was_made() -> None:
    seats = (Seat("a", persona="\ud800", script=[{"reply": "\ud800"}]), Seat("b"))
    brief = Brief(question="Ship\ud800?", options=("Ship", "Wait"))
    spec = DebateSpec(brief=brief, seats=seats, title="\ud800")
    body = encode_body({"spec": spec.model_dump(mode="json")})
    json.loads(body.encode())
    assert spec_of(decode_event(1, "d", 1, 0, "created", body)) == spec
