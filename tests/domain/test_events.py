"""Events as JSON, and the fold over them."""

from __future__ import annotations

import json

import pytest

from rt_notebook.domain.events import BODY_KEYS, Event, decode_event, encode_body
from rt_notebook.domain.folding import HANDLERS
from rt_notebook.domain.state import fold
from rt_notebook.errors import StoreError
from tests.engine.clocks import play
from tests.engine.debates import Ride, split


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"a": [1, 2.5, None, True]}, '{"a":[1,2.5,null,true]}'),
        ({"text": "Größe 审 \U0001f600"}, '{"text":"Größe 审 \U0001f600"}'),
        ({"text": "half \ud800 a"}, '{"text":"half ? a"}'),
        ({"text": 'quo"te\n\u2028'}, '{"text":"quo\\"te\\n\u2028"}'),
        ({"x": float("nan")}, '{"x":null}'),
    ],
)
def test_body_is_compact_json_that_can_be_stored(body: dict[str, object], text: str) -> None:
    assert encode_body(body) == text
    encode_body(body).encode("utf-8")


def test_event_comes_back_as_it_was() -> None:
    body = {"call": "0/a/opening/1", "text": "x\x00y", "n": [{"deep": -1}]}
    event = decode_event(1, "d", 3, 1_700_000_000_123, "call_finished", encode_body(body))
    assert event == Event(1, "d", 3, 1_700_000_000_123, "call_finished", body)
    assert event.time.isoformat() == "2023-11-14T22:13:20.123000+00:00"


def test_newer_schema_and_damage_are_refused() -> None:
    with pytest.raises(StoreError, match="schema version 2; this version reads up to 1: upgrade"):
        decode_event(2, "d", 1, 0, "created", "{}")
    with pytest.raises(StoreError, match="debate 'd': event 7 is damaged"):
        decode_event(1, "d", 7, 0, "created", '{"x":')


def test_every_kind_of_event_has_a_meaning() -> None:
    assert set(HANDLERS) == set(BODY_KEYS)


def test_bodies_hold_the_keys_promised() -> None:
    ride = Ride(split(rounds=1), attended=True)
    play(ride.run())
    for event in ride.sink.events:
        assert set(event.body) <= set(BODY_KEYS[event.kind].split()), event.kind


def test_unknown_kind_is_kept_without_effect() -> None:
    ride = Ride(split(rounds=0))
    play(ride.run())
    odd = Event(1, "d", 99, 5, "confetti", {"colour": "red"})
    state = fold([*ride.sink.events, odd, odd])
    assert state.unknown_kinds == {"confetti": 2}
    assert (state.status, state.revision) == ("done", 99)


def test_fold_needs_a_beginning() -> None:
    with pytest.raises(ValueError, match="a debate's first event is 'created'"):
        fold([])
    with pytest.raises(ValueError, match="first event is 'created'"):
        fold([Event(1, "d", 1, 0, "resumed", {})])


def test_fold_of_every_beginning_has_its_revision() -> None:
    ride = Ride(split(rounds=2), attended=True)
    play(ride.run())
    events = ride.sink.events
    for count in range(1, len(events) + 1):
        state = fold(events[:count])
        assert (state.revision, state.updated_at) == (count, events[count - 1].at)
        assert json.dumps(state.spec.model_dump(mode="json"))


def test_numbers_rise_and_time_never_falls() -> None:
    ride = Ride(split(rounds=3), attended=True)
    play(ride.run())
    assert [row[0] for row in ride.sink.rows] == list(range(1, len(ride.sink.rows) + 1))
    times = [row[1] for row in ride.sink.rows]
    assert times == sorted(times)
