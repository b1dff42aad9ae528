"""Scripted seats: scripts from code and files, and the ones that answer by themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rt_notebook.domain.brief import Brief
from rt_notebook.domain.script import as_step, fail, garbage, hang, say, scripted, wait
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.errors import RoundtableError, SeatError
from rt_notebook.providers.registry import check_provider
from rt_notebook.providers.scripted import load_script
from tests.engine.clocks import play
from tests.engine.debates import Ride, Voice, brief, reply, spec

TOML = """
[[steps]]
reply = '''
STANCE: opt-1
DISAGREE: none
NEW: none
ASSUMPTIONS: none'''

[[steps]]
fail = "rate_limit"
retry_after_s = 1

[[steps]]
wait_s = 0.2
say = { stance = "Wait", disagree = ["too early"], question = "What is the budget?" }

[[steps]]
hang = true
"""


def test_script_file_is_played(tmp_path: Path) -> None:
    path = tmp_path / "pm.toml"
    path.write_text(TOML, encoding="utf-8")
    seat = Seat("pm", model=f"scripted:{path}")
    check_provider(seat)
    assert load_script(str(path)) == scripted(
        [
            "STANCE: opt-1\nDISAGREE: none\nNEW: none\nASSUMPTIONS: none",
            fail("rate_limit", retry_after_s=1),
            wait(0.2, say(stance="Wait", disagree=["too early"], question="What is the budget?")),
            hang(),
        ]
    )
    state = play(Ride(spec(seat, Seat("b", model=Voice(reply("opt-2"))), rounds=1)).run())
    assert [position.key for position in state.history["pm"]] == ["opt-1", "opt-2"]
    assert [q.text for q in state.questions_of(1)] == ["What is the budget?"]
    assert [call.outcome for call in state.turns[1]["pm"].calls] == ["failed", "finished"]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("steps = 3", r"must hold one array, \[\[steps\]\]"),
        ("[[steps]]\nreply = 'x'\n[extra]\n", "must hold one array"),
        ("[[steps]]\nreplay = 'x'", "a script's step is a text or one of"),
        ("[[steps]]\nfail = 'rate_limti'", "no such error kind; did you mean 'rate_limit'"),
        ("[[steps]]\nreply = 'x'\nwait_s = -1", "wait_s is 0 or more"),
        ("[[steps]]\nsay = { stanse = 'Ship' }", "say needs a stance"),
        ("[[steps]]\nsay = { stance = 'Ship', dissagree = ['x'] }", "did you mean 'disagree'"),
        ("[[steps", "is not TOML"),
        ("steps = " + "9" * 5_000, "is not TOML"),
        ("steps = " + "[" * 100_000, "is not TOML"),
        ("[[steps]]\nfail = ['auth']", "no such error kind"),
        ("[[steps]]\nhang = 'x'", "says nothing"),
    ],
)
def test_wrong_script_file_is_refused(tmp_path: Path, text: str, error: str) -> None:
    path = tmp_path / "pm.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SeatError, match=error):
        check_provider(Seat("pm", model=f"scripted:{path}"))


def test_missing_script_file_is_refused() -> None:
    with pytest.raises(SeatError, match="can't be read: No such file"):
        check_provider(Seat("pm", model="scripted:nowhere.toml"))


@pytest.mark.parametrize(
    "make",
    [
        lambda: say(),
        lambda: say("text", stance="Ship"),
        lambda: say(stance="Ship", disagree=[3]),  # type: ignore[list-item]
        lambda: say(stance="Ship", question=7),  # type: ignore[arg-type]
        lambda: fail("teapot"),
        lambda: fail("rate_limit", retry_after_s=-1),
        lambda: wait(-1),
        lambda: wait(float("nan")),
        lambda: wait(10**400),
        lambda: scripted([{"hang": False}]),
        lambda: wait("soon"),  # type: ignore[arg-type]
        lambda: scripted("PASS"),
        lambda: scripted([3]),  # type: ignore[list-item]
        lambda: scripted([{"reply": "x", "hang": True}]),
        lambda: as_step({"reply": 5}),
    ],
)
def test_wrong_steps_are_refused(make: Any) -> None:
    with pytest.raises(RoundtableError, match=r"script|say\(\)|fail\("):
        make()


def test_waits_add_up() -> None:
    assert wait(1, wait(2, "x")) == {"reply": "x", "wait_s": 3.0}
    assert wait(1) == {"reply": "PASS", "wait_s": 1.0}
    assert garbage()["garbage"]


def test_single_bullet_may_stand_alone() -> None:
    step = as_step({"say": {"stance": "Ship", "new": "one thing"}})
    assert step["say"]["new"] == ["one thing"]


def test_script_names_seats_as_people_do() -> None:
    definition = spec(
        Seat(
            "Petra", model=scripted([say(stance="Ship"), say(stance="Ship", agree_with=["Ruth"])])
        ),
        Seat("Ruth", model=scripted([say(stance="Wait"), say(stance="Wait")])),
        anonymous=True,
    )
    state = play(Ride(definition).run())
    assert state.turns[1]["Petra"].reply is not None
    assert state.turns[1]["Petra"].reply.agree_with == ["Ruth"]


def believing(**fields: Any) -> DebateSpec:
    seats = (Seat("pm"), Seat("dev", lens="risk"), Seat("rv", mood="grill"), Seat("x", lens="cost"))
    given = {"brief": brief(), "rounds": 4, "loop_threshold": 0, **fields}
    return DebateSpec(seats=seats, **given)


def _texts(definition: DebateSpec) -> list[str | None]:
    state = play(Ride(definition).run())
    return [call.text for call in sorted(state.calls.values(), key=lambda call: call.id)]


def test_believable_seats_say_the_same_again() -> None:
    assert _texts(believing()) == _texts(believing())


def test_believable_seats_do_not_hear_who_was_first() -> None:
    """The others' replies of the same round aren't looked at, whatever order they come in."""

    def order(*names: str) -> dict[str, str | None]:
        seats = {seat.name: seat for seat in believing().seats}
        definition = believing().model_copy(update={"seats": tuple(seats[n] for n in names)})
        state = play(Ride(definition).run())
        return {call.seat: call.text for call in state.calls.values() if call.round == 0}

    one, other = order("pm", "dev", "rv", "x"), order("x", "rv", "dev", "pm")
    assert {n: one[n] for n in ("pm", "dev", "rv", "x")} == {
        n: other[n] for n in ("pm", "dev", "rv", "x")
    }


def test_believable_seats_differ_and_move() -> None:
    questions = [f"Should we do thing {n}?" for n in range(12)]
    moved, asked, stances = 0, 0, set()
    for question in questions:
        definition = believing(brief=brief(question=question))
        state = play(Ride(definition).run())
        moved += any(len({p.key for p in taken}) > 1 for taken in state.history.values())
        asked += bool(state.open_questions())
        stances |= {position.key for position in state.positions.values()}
    assert stances == {"opt-1", "opt-2"}
    assert moved > 2
    assert asked > 2


LABELS = st.lists(
    st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=30),
    min_size=2,
    max_size=5,
)


@settings(max_examples=60, deadline=None)
@given(
    labels=LABELS, known=st.lists(st.text(max_size=60), max_size=2), question=st.text(min_size=1)
)
def test_believable_replies_are_valid(labels: list[str], known: list[str], question: str) -> None:
    """Whatever the brief says: nothing in it turns a reply or the verdict into something else."""
    try:
        odd = Brief(question=question, options=tuple(labels), known=tuple(known))
    except RoundtableError:
        return
    state = play(Ride(believing(brief=odd, rounds=2)).run())
    assert state.verdict_status == "ready"
    for turns in state.turns:
        for turn in turns.values():
            assert turn.reply is not None
            assert turn.reply.valid
            assert not turn.repaired


def test_variant_is_another_voice() -> None:
    def first(model: str) -> str | None:
        definition = believing().model_copy(
            update={"seats": (Seat("pm", model=model), Seat("dev", lens="risk"))}
        )
        questions = play(Ride(definition).run())
        return questions.calls["0/pm/opening/1"].text

    voices = {first(f"scripted:{name}") for name in ("", "bold", "calm", "dry", "mild")}
    assert len(voices) > 1
