"""The scenarios of a discussion, each by its name, through the real driver and the real store."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from dataclasses import replace
from typing import Any

import pytest

import rt_notebook as rt
from rt_notebook import session
from rt_notebook.analysis.result import Result
from rt_notebook.contract.discussion_prompts import OBSERVER_PROMPT
from rt_notebook.domain.gate import Note
from rt_notebook.domain.script import Step
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.spec import DebateSpec, Limits
from rt_notebook.domain.state import fold
from rt_notebook.errors import NotResumableError, UsageError
from rt_notebook.extending import Extending, extend_run
from rt_notebook.providers.base import Call
from rt_notebook.running import DebateRun
from rt_notebook.session import Opening
from tests.engine.debates import Voice, voice
from tests.engine.discussions import SUMMARY, WORDS, observing, said, speakers, talk, texts
from tests.environment import ROOT
from tests.live_runs import under_way, when
from tests.test_session import finished

WAIT_S = 20.0


def extended(debate: str, spec: DebateSpec, prompt: str, **more: Any) -> Result:
    """Extend a debate whose seats are functions, and run it to its end."""
    models = {seat.name: seat.function for seat in spec.seats if seat.function}
    if spec.observer is not None and spec.observer.function is not None:
        models[spec.observer.name] = spec.observer.function
    run = extend_run(debate, Extending(prompt, **more), Opening(), models=models)
    with under_way(run):
        pass
    return run.result()


def test_basic() -> None:
    """Two seats, one round, the built-in observer."""
    result = rt.Discussion("How to ship?", seats=["pm", "dev"]).run_sync()
    assert (result.status, result.stop_reason) == ("done", "rounds")
    assert said(result.fold) == [("pm", 1), ("dev", 1)]
    assert result.summary.status == "ready"
    assert "No model was asked" in str(result)
    assert str(result).startswith("━━━ Roundtable Concluded ━━━\n\nTopic: How to ship?\n")
    assert "\n── PM (Round 1) ──\n" in str(result)
    assert result.title == "(Roundtable) - How to ship? ✓"


def test_named_observer() -> None:
    """Three seats, two rounds, an observer with a persona of its own."""
    sage = observing(persona="You count arguments.")
    result = finished(speakers("pm", "dev", "rv", rounds=2, observer=sage))
    assert said(result.fold) == [(name, n) for n in (1, 2) for name in ("pm", "dev", "rv")]
    assert (result.summary.status, result.summary.text) == ("ready", SUMMARY)
    asked = voice(sage).calls[0]
    assert asked.purpose == "summary"
    assert asked.messages[0].text.startswith("You count arguments.")
    assert all(text in asked.messages[1].text for text in texts(result.fold))
    assert result.fold.chairman_name == "sage"


def test_default_observer() -> None:
    """Nobody is named: the built-in one, marked as scripted, with its neutral prompt."""
    spec = speakers("pm", "dev").model_copy(update={"observer": None})
    result = finished(spec)
    assert "by observer (scripted)" in str(result)
    assert "no model weighed them" in result.summary.text
    for part in ("Executive summary", "Key points by participant", "Open questions", "Next steps"):
        assert part in OBSERVER_PROMPT
        assert part in result.summary.text


def test_a_seat_fails_and_is_skipped() -> None:
    """The others go on, a notice says so, and it is asked again in the next round."""
    spec = talk(
        Seat("pm", model=Voice(*WORDS[:2])),
        Seat("dev", model=Voice(ValueError("out of paper"), WORDS[2])),
        Seat("rv", model=Voice(*WORDS[3:5])),
        observer=observing(),
        rounds=2,
    )
    result = finished(spec)
    assert said(result.fold) == [("pm", 1), ("rv", 1), ("pm", 2), ("dev", 2), ("rv", 2)]
    assert "[dev failed in round 1, going on with rv (provider: " in str(result)
    assert result.replies.error.notna().sum() == 1
    assert "Never heard" not in voice(spec.observer or spec.seats[0]).prompts[0]


def test_timeout_is_cancelled_and_skipped() -> None:
    """A turn past its time is cancelled with what it started; its late answer is dropped."""
    cancelled, let_go = threading.Event(), threading.Event()

    async def endless(call: Call) -> str:
        try:
            await asyncio.sleep(3600)
        finally:
            cancelled.set()
        return "never"

    def late(call: Call) -> str:
        let_go.wait(WAIT_S)
        return "too late to count, though it is long enough to be read by everybody"

    spec = talk(
        Seat("pm", model=endless, timeout_s=0.2),
        Seat("dev", model=late, timeout_s=0.2),
        Seat("rv", model=Voice(WORDS[0])),
        observer=observing(),
    )
    result = finished(spec)
    let_go.set()
    assert cancelled.is_set()
    assert said(result.fold) == [("rv", 1)]
    assert [turn["kind"] for turn in result.state.errors] == ["timeout", "timeout"]
    assert "too late" not in "".join(str(event.body) for event in result.events)
    assert result.summary.status == "ready"


def test_loop_ends_it_early() -> None:
    """A seat that repeats itself ends the discussion, which still gets its summary."""
    spec = talk(
        Seat("pm", model=Voice(WORDS[0], f"**{WORDS[0].upper()}**", WORDS[5])),
        Seat("dev", model=Voice(*WORDS[1:4])),
        observer=observing(),
        rounds=5,
    )
    result = finished(spec)
    assert (result.status, result.stop_reason) == ("done", "loop")
    assert said(result.fold) == [("pm", 1), ("dev", 1), ("pm", 2)]
    assert result.summary.text == SUMMARY


def test_session_closed_leaves_the_partial_result() -> None:
    """Interrupted in mid-turn: what was said is kept and shown, and can be gone on with."""
    spec = talk(
        Seat("pm", model=Voice(*WORDS[:2])), Seat("dev", model=rt.scripted([rt.hang()])), rounds=2
    )
    run = session.new_run(spec, Opening())
    hangs = when(run, "call_started", seat="dev")
    with under_way(run):
        assert hangs.wait(WAIT_S)
        run.interrupt()
    text = str(run.result())
    assert text.startswith("[Roundtable interrupted]\n")
    assert WORDS[0] in text
    assert f"%roundtable resume {run.id}" in text
    assert (run.result().summary.status, said(run.fold)) == ("none", [("pm", 1)])


def test_parent_closed_aborts_the_children() -> None:
    """The process dies: its calls die with it, the log keeps what was said, nobody restarts it."""
    code = (
        "import rt_notebook as rt\n"
        "talk = rt.Discussion('T?', seats=[rt.Seat('pm', model=rt.scripted(['one'])),"
        " rt.Seat('dev', model=rt.scripted([rt.hang()]))])\n"
        "def told(event):\n"
        "    if event.kind == 'call_started' and event.body['seat'] == 'dev':\n"
        "        print(event.debate, flush=True)\n"
        "talk.run_sync(on_event=told)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True,
                              cwd=ROOT)  # fmt: skip
    assert parent.stdout is not None
    debate = parent.stdout.readline().strip()
    parent.kill()
    parent.wait(WAIT_S)
    parent.stdout.close()
    result = session.load(debate)
    assert result.status == "interrupted"
    assert said(result.fold) == [("pm", 1)]
    assert str(result).startswith("[Roundtable interrupted]\n")


def test_extend_continuing() -> None:
    """More rounds on the same topic; rounds add up, the history is kept."""
    spec = speakers("pm", "dev", rounds=1)
    first = finished(spec)
    result = extended(first.id, spec, "Go deeper on the costs", rounds=2)
    assert result.fold.rounds == result.fold.round == 3
    assert said(result.fold) == [(name, n) for n in (1, 2, 3) for name in ("pm", "dev")]
    assert result.fold.extensions[0].mode == "continue"
    asked = voice(spec.seats[0]).prompts[1]
    assert "The person asks to go on: Go deeper on the costs" in asked
    assert all(text in asked for text in texts(first.fold))
    assert [event.kind for event in result.events].count("verdict_written") == 2
    assert [seat.name for seat in result.spec.seats] == ["pm", "dev"]


def test_extend_new_topic() -> None:
    """Anything else is a new challenge, with all that was said as its background."""
    spec = speakers("pm", "dev")
    first = finished(spec)
    result = extended(first.id, spec, "Now plan the rollback", observer_prompt="One line.")
    assert result.fold.extensions[0].mode == "new"
    asked = voice(spec.seats[1]).prompts[1]
    assert "The person sets a new challenge" in asked
    assert asked.index(texts(first.fold)[0]) < asked.index("Now plan the rollback")
    assert spec.observer is not None
    assert voice(spec.observer).prompts[1].endswith("One line.")
    assert result.spec.observer_prompt == "One line."


def test_two_at_once() -> None:
    """Each has its own state."""
    both = [
        session.new_run(speakers("pm", "dev", question=question, rounds=3), Opening())
        for question in ("First?", "Second?")
    ]
    with under_way(both[0]), under_way(both[1]):
        pass
    assert [run.fold.status for run in both] == ["done", "done"]
    assert [len(said(run.fold)) for run in both] == [6, 6]
    for run, other in (both, both[::-1]):
        told = fold(session.load(run.id).events)
        assert replace(run.fold, spec=told.spec) == told
        question = other.fold.spec.brief.question
        assert all(question not in prompt for prompt in voice(run.fold.spec.seats[0]).prompts)


def test_long_history_survives_compaction() -> None:
    """A prompt too long for a model is asked again without the oldest turns, with a notice."""
    too_long: Step = rt.fail("context_length")
    scripted = rt.scripted([WORDS[0], WORDS[3], too_long, WORDS[6], WORDS[7]])
    spec = talk(
        Seat("pm", model=scripted, retries=0),
        Seat("dev", model=Voice(*WORDS[1:3], *WORDS[4:6])),
        observer=observing(),
        rounds=4,
    )
    result = finished(spec)
    assert (result.status, result.stop_reason) == ("done", "rounds")
    assert said(result.fold) == [(name, n) for n in (1, 2, 3, 4) for name in ("pm", "dev")]
    # Of the four turns of two rounds the older two were left out, and stay so.
    assert result.fold.shortened == {"pm": 2}
    failed = [event.body for event in result.events if event.kind == "call_failed"]
    assert [(body["error"], body["retry_in_s"]) for body in failed] == [("context_length", 0.0)]
    windowed = finished(speakers("pm", "dev", rounds=4, memory="window:2"))
    last = voice(windowed.spec.seats[1]).prompts[3]
    seen = [text in last for text in texts(windowed.fold)[:7]]
    assert seen == [False] * 5 + [True] * 2
    assert "[turns left out here: the 5 oldest]" in last


def test_interjection() -> None:
    """A person's word at any time is kept, marked as theirs, and in the next turn's prompt."""
    asked, answer = threading.Event(), threading.Event()

    def waits(call: Call) -> str:
        asked.set()
        answer.wait(WAIT_S)
        return WORDS[0]

    spec = talk(Seat("pm", model=waits), Seat("dev", model=Voice(WORDS[1])), observer=observing())
    run = session.new_run(spec, Opening())
    with under_way(run):
        assert asked.wait(WAIT_S)
        state = run.answer(message="Mind the budget of 40,000.")
        assert (state.status, state.gate) == ("running", None)
        answer.set()
    assert run.fold.notes == [Note(1, "person", "Mind the budget of 40,000.")]
    assert "The person says: Mind the budget of 40,000." in voice(spec.seats[1]).prompts[0]
    assert "── The person (Round 1) ──\nMind the budget of 40,000." in str(run.result())


def test_message_after_the_end() -> None:
    """It is refused with its text, and changes nothing."""
    result = finished(speakers("pm", "dev"))
    before = session.load(result.id).fold
    with pytest.raises(UsageError, match=r"the discussion is done; .*not sent: message: And Bob"):
        rt.answer(result.id, message="And Bob?")
    assert session.load(result.id).fold == before


def test_recovery_after_restart() -> None:
    """One that was running shows as interrupted; resumed by hand it repeats no finished call."""
    spec = speakers("pm", "dev", rounds=2)
    run = session.new_run(spec, Opening())
    second = when(run, "call_started", seat="dev", round=2)
    run.listeners.append(lambda event, state: run.interrupt() if second.is_set() else None)
    with under_way(run):
        pass
    assert session.load(run.id).status == "interrupted"
    assert session.state(run.id).next_action.type == "resume"
    with pytest.raises(NotResumableError, match=r"go on with it first \(%roundtable resume"):
        extend_run(run.id, Extending("Continue"), Opening())
    models = {seat.name: seat.function for seat in spec.seats if seat.function}
    assert spec.observer is not None
    assert spec.observer.function is not None
    again = session.resume_run(run.id, Opening(), models={**models, "sage": spec.observer.function})
    with under_way(again):
        pass
    assert (again.fold.status, again.fold.stop_reason) == ("done", "rounds")
    assert said(again.fold) == [("pm", 1), ("dev", 1), ("pm", 2), ("dev", 2)]
    assert len(voice(spec.seats[0]).calls) == 2


def test_unknown_seat() -> None:
    """The error names it and lists the available ones."""
    with pytest.raises(rt.SeatError, match=r"no seat is named 'pmm' .*pm, dev, rv.*did you mean"):
        rt.Discussion("T?", seats=["pmm", "dev"])


def test_available_seats() -> None:
    """They can be listed, and two that are one can't sit."""
    assert {"pm", "dev", "rv"} <= set(rt.seats().name)
    with pytest.raises(rt.SeatError, match="two seats are named 'PM'"):
        rt.Discussion("T?", seats=[rt.Seat("pm"), rt.Seat("PM")])
    with pytest.raises(rt.SeatError, match="2 to 26 seats; got 1"):
        rt.Discussion("T?", seats=["pm"])


def _held(name: str) -> tuple[DebateRun, threading.Event, threading.Event]:
    asked, go_on = threading.Event(), threading.Event()

    def waits(call: Call) -> str:
        asked.set()
        go_on.wait(WAIT_S)
        return WORDS[0]

    seats = (Seat(name, model=waits), Seat("dev", model=Voice(WORDS[1])))
    return session.new_run(talk(*seats, rounds=2, observer=observing()), Opening()), asked, go_on


def test_running_debates() -> None:
    """The list says of each who sits, the round and the phase."""
    (one, asked_one, go_one), (two, asked_two, go_two) = _held("pm"), _held("rv")
    with under_way(one), under_way(two):
        assert asked_one.wait(WAIT_S)
        assert asked_two.wait(WAIT_S)
        lines = session.running_lines()
        assert set(lines) == {
            f"#{one.id} · pm→dev (R1/2) · debating",
            f"#{two.id} · rv→dev (R1/2) · debating",
        }
        go_one.set()
        go_two.set()
    assert session.running_lines() == []


def test_navigation() -> None:
    """The title says where it is, and every form of it names the record."""
    run, asked, go_on = _held("pm")
    with under_way(run):
        assert asked.wait(WAIT_S)
        assert run.state().title.endswith(" · pm→dev (R1/2)")
        assert run.state().next_action.command == f"%roundtable answer {run.id} --message '…'"
        go_on.set()
    bundle = run.result()._repr_mimebundle_()
    assert run.result().title.endswith(" ✓")
    assert run.id in bundle["text/html"]
    assert run.id in bundle["text/markdown"]
    assert session.load(run.id).id == run.id


def test_limits_and_clock_lead_to_the_summary() -> None:
    """A budget keeps one call for the observer; a clock that runs out still gets a summary."""
    few = finished(speakers("pm", "dev", rounds=5, limits=Limits(max_calls=4)))
    assert (few.stop_reason, len(said(few.fold)), few.summary.text) == ("limit", 3, SUMMARY)
    begun = time.monotonic()
    slow = talk(
        Seat("pm", model=Voice(WORDS[0])),
        Seat("dev", model=rt.scripted([rt.hang()])),
        observer=observing(),
        limits=Limits(max_minutes=0.005),
    )
    result = finished(slow)
    assert time.monotonic() - begun < WAIT_S
    assert (result.stop_reason, said(result.fold)) == ("clock", [("pm", 1)])
    assert result.summary.text == SUMMARY
