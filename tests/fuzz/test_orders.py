"""What other processes ask and answer: rows that any version, or anybody, may have written.

Whatever they say: it becomes events that the log's own rules allow, or a UsageError.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any, Final

from hypothesis import given
from hypothesis import strategies as st

from rt_notebook.domain.body_types import wrong_key
from rt_notebook.domain.events import EVENT_VERSION, Event, encode_body
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.state import State, fold
from rt_notebook.engine.commands import Body
from rt_notebook.errors import RoundtableError, UsageError
from rt_notebook.orders import error_of, make_of, refusal, turn_of
from tests.engine.clocks import play
from tests.engine.debates import Ride, Voice, reply, spec
from tests.engine.discussions import speakers
from tests.fuzz.budget import tried
from tests.fuzz.texts import edited, fragments, values

BODIES: Final[tuple[dict[str, Any], ...]] = (
    {"answers": {"q1": "forty"}, "message": "be brief", "round": 0},
    {"answers": {}, "message": None, "round": None},
    {"round": 1},
    {"round": 0, "seat": "a", "text": "PASS"},
    {},
)


@cache
def logs() -> tuple[list[Event], ...]:
    """Return the logs of a review with questions at its gates and of a discussion."""
    asking = spec(
        Seat("a", model=Voice(reply("opt-1", question="Who pays?"), reply("opt-1"))),
        Seat("b", model=Voice(reply("opt-2", question="By when?"), reply("opt-1"))),
        rounds=2,
    )
    found = []
    for definition in (asking, speakers("a", "b", rounds=2)):
        ride = Ride(definition, attended=True)
        play(ride.run())
        found.append(ride.sink.events)
    return tuple(found)


@st.composite
def states(draw: st.DrawFn) -> State:
    """Return a debate at any moment of its life."""
    events = draw(st.sampled_from(logs()))
    return fold(events[: draw(st.integers(1, len(events)))])


bodies = st.one_of(
    st.sampled_from(BODIES).flatmap(edited).filter(lambda body: isinstance(body, dict)),
    st.dictionaries(st.sampled_from(("round", "answers", "message", "q1", "")), values, max_size=4),
)
verbs = st.sampled_from(("answer", "answer", "hold", "finish", "stop", "turn", "Answer", "")) | (
    fragments
)


@tried(250)
@given(states(), verbs, bodies, st.sampled_from(("person", "agent", "", "\ud800")))
def test_any_order_becomes_lawful_events_or_a_refusal(
    state: State, verb: str, body: dict[str, Any], source: str
) -> None:
    revision = state.revision
    refused: UsageError | None = None
    events: list[Body] = []
    try:
        events = make_of(verb, body, source)(state)
    except UsageError as error:
        refused = error
    if refused is not None:
        answer = json.loads(json.dumps(refusal(refused).error, default=str))
        again = error_of(answer, {})
        assert type(again) is type(refused)
        assert str(again) == str(refused)
    assert state.revision == revision, "deciding changes nothing"
    for kind, told in events:
        stored = json.loads(encode_body(told))
        assert stored == told, "what is stored is what was told"
        assert wrong_key(kind, 0, told) is None
        state.apply(
            Event(EVENT_VERSION, state.id, state.revision + 1, state.updated_at, kind, told)
        )


@tried(80)
@given(bodies)
def test_any_turn_is_taken_or_refused(body: dict[str, Any]) -> None:
    try:
        number, seat, text = turn_of(body)
    except UsageError:
        return
    assert (type(number), type(seat), type(text)) == (int, str, str)


@tried(120)
@given(
    st.one_of(
        st.sampled_from(({"kind": "StoreError", "message": "full", "facts": {"fault": "full"}},))
        .flatmap(edited)
        .filter(lambda answer: isinstance(answer, dict)),
        st.fixed_dictionaries({
            "kind": st.sampled_from(("UsageError", "RunError", "SystemExit", "")) | values,
            "message": values,
            "facts": values | st.dictionaries(
                st.sampled_from(("message", "self", "kind", "facts", "args", "x y", "__class__")),
                values, max_size=3),
        }),
    )
)  # fmt: skip
def test_any_refusal_becomes_an_error_of_ours(answer: dict[str, Any]) -> None:
    error = error_of(answer, {"text": "kept"})
    assert isinstance(error, RoundtableError)
    assert str(error)
    assert isinstance(error.facts, dict)
