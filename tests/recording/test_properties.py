"""Whatever happens in a debate: recorded, then replayed, it is the same and its file untouched."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rt_notebook as rt
from rt_notebook.contract.record import in_seat_order, read_record
from rt_notebook.domain.script import fail, garbage, say, scripted, wait
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.store.record import record_text
from tests.recording.scenes import Voices, answered, assert_same, recorded, run_of

TEXT = st.text(min_size=1, max_size=30)
STEPS = st.one_of(
    st.builds(
        say,
        stance=st.sampled_from(["Ship", "Wait", "other: sell it", "PASS"]),
        disagree=st.lists(TEXT, max_size=2),
        question=st.none() | TEXT,
    ),
    st.builds(garbage, TEXT),
    st.builds(fail, st.sampled_from(["rate_limit", "auth", "timeout", "context_length"])),
    st.builds(wait, st.floats(0, 400), st.builds(say, stance=st.just("Wait"))),
)
SCRIPTS = st.lists(st.lists(STEPS, min_size=1, max_size=6), min_size=2, max_size=3)
SETTINGS = st.fixed_dictionaries(
    {
        "rounds": st.integers(0, 3),
        "memory": st.sampled_from(["stateless", "full"]),
        "anonymous": st.booleans(),
        "loop_threshold": st.sampled_from([0, 0.85]),
    }
)
GATES = st.lists(st.tuples(st.booleans(), st.none() | TEXT, st.none() | TEXT), max_size=4)


def definition(scripts: list[list[Any]], fields: dict[str, Any]) -> DebateSpec:
    seats = tuple(
        rt.Seat(f"seat {number}", model=scripted(steps), timeout_s=60)
        for number, steps in enumerate(scripts)
    )
    return Voices().review(seats=seats, chairman=None, unattended=False, **fields)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(SCRIPTS, SETTINGS, GATES)
def test_replay_equals_the_recording(
    scripts: list[list[Any]], fields: dict[str, Any], gates: list[Any]
) -> None:
    left = list(gates)

    def steer(run: Any, event: Any, state: Any) -> None:
        if event.kind == "gate_opened" and left:
            holds, answer, message = left.pop()
            if holds:
                run.hold()
            asked = state.gate.questions
            run.answer({asked[0].id: answer} if asked and answer else None, message=message)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "r.jsonl"
        first = answered(definition(scripts, fields), path, steer)
        raw = path.read_bytes()
        record = read_record(raw.decode("utf-8"), "r")
        assert record_text(record.events, record.spec).encode() == raw
        assert in_seat_order(record.events, record.spec) == list(record.events)
        for mode in ("once", "new"):
            assert_same(first, recorded(definition(scripts, fields), path, mode))
        assert path.read_bytes() == raw


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(SCRIPTS, SETTINGS, st.data())
def test_any_beginning_of_a_record_is_completed(
    scripts: list[list[Any]], fields: dict[str, Any], data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "r.jsonl"
        spec = definition(scripts, fields)
        whole = recorded(spec, path)
        found = path.read_text("utf-8").splitlines(keepends=True)
        count = data.draw(st.integers(1, len(found) - 1))
        path.write_text("".join(found[:count]), encoding="utf-8")
        second = recorded(spec, path, "new", store=Path(folder) / "other.db")
        assert second.id == whole.id
        assert second.status in ("done", "error")
        assert "".join(path.read_text("utf-8").splitlines(keepends=True)[1:count]) == "".join(
            found[1:count]
        )
        assert_same(second, recorded(spec, path, "none"))
        assert run_of(spec, path, "none").id == whole.id
