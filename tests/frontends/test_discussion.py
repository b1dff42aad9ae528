"""`rt.Discussion`, `%%roundtable` without options, and `extend`, as a person uses them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import rt_notebook as rt
from tests.frontends.shells import QUESTION, Shell


def test_discussion_takes_what_a_review_does_not() -> None:
    sage = rt.Seat("sage", persona="Count.")
    debate = rt.Discussion(
        "T?", seats=["pm", "dev"], rounds=3, observer=sage, observer_prompt="Short.",
        memory="window:4", tool_preview=100, known=["six people"], title="Ours",
    )  # fmt: skip
    spec = debate.spec
    assert (spec.kind, spec.rounds, spec.memory, spec.gates) == ("discussion", 3, "window:4", "off")
    assert (spec.observer, spec.chairman, spec.tool_preview) == (sage, None, 100)
    assert repr(debate) == "<Discussion 'Ours': 2 seats, 3 rounds>"
    assert rt.Discussion("T?").spec.memory == "full"
    found = debate.check()
    assert (found.calls.min, found.calls.expected, found.calls.max) == (3, 7, 14)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"rounds": 0}, "rounds=0: 1 to 50 rounds are allowed"),
        ({"rounds": 51}, "rounds=51: 1 to 50 rounds"),
        ({"memory": "stateless"}, "memory='stateless': a discussion takes one of full, turn"),
        ({"memory": "window:0"}, "memory='window:0': a discussion"),
        ({"gates": "timed"}, "Discussion has no argument 'gates'"),
        ({"chairman": "pm"}, "Discussion has no argument 'chairman'"),
        ({"options": ["a", "b"]}, "Discussion has no argument 'options'"),
        ({"observer": "nobody"}, "observer"),
        ({"observer_prompt": "x" * 8_001}, "observer_prompt has 8,001 characters"),
        ({"tool_preview": 501}, "tool_preview=501: 0 to 500 characters"),
    ],
)
def test_what_does_not_fit_is_refused(fields: dict[str, Any], problem: str) -> None:
    with pytest.raises(rt.UsageError, match=problem):
        rt.Discussion("T?", **fields)


def test_review_knows_no_observer() -> None:
    with pytest.raises(rt.OptionError, match="Review has no argument 'observer'"):
        rt.Review("T?", options=["a", "b"], observer="pm")  # type: ignore[call-arg]
    with pytest.raises(rt.OptionError, match="memory='turn': a review takes one of stateless"):
        rt.Review("T?", options=["a", "b"], memory="turn")  # type: ignore[arg-type]


def test_files_say_who_observes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = "[discussion]\nobserver = 'rv'\nobserver_prompt = 'Short.'\nrounds = 2\n"
    (tmp_path / "roundtable.toml").write_text(text, encoding="utf-8")
    spec = rt.Discussion("T?").spec
    assert spec.observer is not None
    assert (spec.observer.name, spec.observer.mood, spec.rounds) == ("observer", "grill", 2)
    assert spec.observer_prompt == "Short."
    assert rt.Discussion("T?", observer_prompt="Mine.").spec.observer_prompt == "Mine."
    assert rt.Review("T?", options=["a", "b"]).spec.rounds == 1


def test_cell_without_options_holds_a_discussion(shell: Shell) -> None:
    shell.run("%%roundtable out --seats pm,dev --rounds 2 --observer rv --memory window:3\nT?\n\n"
              "known:\n- six people")  # fmt: skip
    out = shell.names["out"]
    assert (out.spec.kind, out.status, out.summary.status) == ("discussion", "done", "ready")
    assert out.spec.memory == "window:3"
    assert out.fold.chairman_name == "observer"
    assert out.spec.observer.mood == "grill"
    shell.run(f"%%roundtable out --kind review\n{QUESTION}")
    assert shell.names["out"].spec.kind == "review"


CELLS = {
    "gates": ("--gates off\nT?", "--gates belongs to a review; this is a discussion"),
    "observer": (f"--observer rv\n{QUESTION}", "--observer belongs to a discussion; this is a"),
    "review": ("--kind review\nT?", "a review needs at least 2 options, got 0"),
    "discussion": (f"--kind discussion\n{QUESTION}", "a discussion has no options, got 2"),
    "memory": (f"--memory window:3\n{QUESTION}", "memory='window:3': a review takes one of"),
    "fence": ("\nT?\n```\noptions:\n- a\n- b", "the code fence of line 2 is never closed"),
}


@pytest.mark.parametrize(("cell", "problem"), CELLS.values(), ids=CELLS)
def test_cell_of_the_wrong_kind_is_one_line(shell: Shell, cell: str, problem: str) -> None:
    with pytest.raises(rt.UsageError, match=problem):
        shell.run(f"%%roundtable out {cell}")
    assert len(rt.debates()) == 0


def test_extend_adds_rounds_and_a_new_summary(shell: Shell) -> None:
    shell.run("%%roundtable out --seats pm,dev\nT?")
    name = shell.names["out"].id
    shell.run(f"%roundtable extend {name} --rounds 2 'Now price it'")
    result = shell.names["roundtable_result"]
    assert (result.id, result.status, result.fold.rounds) == (name, "done", 3)
    assert [note.text for note in result.fold.notes] == ["Now price it"]
    shell.run("%roundtable extend last --mode continue --observer-prompt 'One line' and Bob")
    result = shell.names["roundtable_result"]
    assert (result.fold.extensions[-1].prompt, result.fold.extensions[-1].mode) == (
        "and Bob", "continue")  # fmt: skip
    assert result.spec.observer_prompt == "One line"


EXTENSIONS = {
    "rounds": ({"rounds": 0}, "extend: rounds=0: 1 to 49 more are allowed"),
    "too many": ({"rounds": 50}, "1 to 49 more"),
    "mode": ({"mode": "contine"}, "mode='contine': continue or new; did you mean 'continue'"),
    "empty": ({"mode": "new", "prompt": " "}, "the new challenge is empty"),
    "seats": ({"seats": ["pm", "rv"]}, r"extend keeps the seats \(pm, dev\)"),
    "long": ({"prompt": "x" * 20_001}, "the prompt has 20,001 characters"),
}


@pytest.mark.parametrize(("fields", "problem"), EXTENSIONS.values(), ids=EXTENSIONS)
def test_extension_that_does_not_fit_changes_nothing(fields: dict[str, Any], problem: str) -> None:
    result = rt.Discussion("T?", seats=["pm", "dev"]).run_sync()
    prompt = fields.pop("prompt", "Go on")
    with pytest.raises(rt.UsageError, match=problem):
        _ = rt.extend(result.id, prompt, **fields)
    assert rt.state(result.id) == result.state
    assert rt.extend(result.id, "Go on", seats=["pm", "dev"]).result(20).status == "done"


def test_extension_that_no_limit_leaves_room_for_asks_nobody() -> None:
    limits = rt.Limits(max_calls=3)
    talk = rt.Discussion("T?", seats=["pm", "dev"], limits=limits).run_sync()
    review = rt.Review(
        "T?", options=["Ship", "Wait"], seats=["pm", "dev"], rounds=0, limits=limits
    ).run_sync()
    for done in (talk, review):
        assert (done.status, done.state.usage["calls"]) == ("done", 3)
        with pytest.raises(rt.LimitError, match="no further round fits its limits: max_calls=3, 3"):
            _ = rt.extend(done.id, "Go on")
        assert rt.load(done.id).events == done.events


def test_half_a_character_of_an_extension_is_the_same_in_the_log() -> None:
    done = rt.Discussion("T?", seats=["pm", "dev"]).run_sync()
    more = rt.extend(done.id, "What of \ud800?", observer_prompt="Be \ud800.").result(20)
    assert more.fold.extensions[-1].prompt == "What of \ufffd?"
    assert more.spec.observer_prompt == "Be \ufffd."
    assert rt.load(done.id).fold == more.fold


def test_only_what_is_done_can_be_extended() -> None:
    seats = [rt.Seat("pm"), rt.Seat("dev", model=rt.scripted([rt.fail("auth")]))]
    seats[0] = rt.Seat("pm", model=rt.scripted([rt.fail("auth")]))
    failed = rt.Discussion("T?", seats=seats).run_sync()
    assert failed.status == "error"
    with pytest.raises(rt.NotResumableError, match=r"go on with it first .%roundtable resume"):
        _ = rt.extend(failed.id, "Go on")
    handle = rt.Discussion(
        "T?", seats=[rt.Seat("a", model=rt.scripted([rt.hang()])), "dev"]
    ).start()
    with pytest.raises(rt.NotResumableError, match=r"runs|is running"):
        _ = rt.extend(handle.id, "Go on")
    handle.stop()
    handle.result(20)
    with pytest.raises(rt.NotResumableError, match=r"ask for its summary first .%roundtable verd"):
        _ = rt.extend(handle.id, "Go on")


def test_failed_summary_is_asked_for_again() -> None:
    observer = rt.Seat("sage", model=rt.scripted([rt.fail("provider"), "They agree."]), retries=0)
    result = rt.Discussion("T?", seats=["pm", "dev"], observer=observer).run_sync()
    assert (result.status, result.summary.status) == ("done", "failed")
    assert result.state.next_action.type == "verdict"
    assert "observer" in result.state.next_action.instruction
    again = rt.verdict(result.id).result(20)
    assert (again.summary.status, again.summary.text) == ("ready", "They agree.")
    with pytest.raises(rt.NotResumableError, match="its summary ready"):
        _ = rt.verdict(result.id)


def test_review_is_extended_by_rounds_and_a_new_verdict() -> None:
    seats = [rt.Seat(name, model=rt.scripted([rt.say(stance=stance)] * 4))
             for name, stance in (("a", "Ship"), ("b", "Wait"))]  # fmt: skip
    review = rt.Review(
        "T?", options=["Ship", "Wait"], seats=seats, loop_threshold=0, rounds=1,
        checkpoint_wait_s=0.2,
    )  # fmt: skip
    first = review.run_sync()
    result = rt.extend(first.id, "What of the bank?", rounds=2).result(20)
    assert (result.fold.round, result.fold.rounds, result.status) == (3, 3, "done")
    assert [event.kind for event in result.events].count("verdict_written") == 2
    assert len(result.replies) == 8
    with pytest.raises(rt.OptionError, match="a review has a chairman and no observer"):
        _ = rt.extend(first.id, "x", observer_prompt="y")


def test_answer_without_a_round_is_for_discussions() -> None:
    seats = [rt.Seat(n, model=rt.scripted([rt.hang()])) for n in ("a", "b")]
    talk = rt.Discussion("T?", seats=seats).start()
    assert rt.answer(talk.id, message="Mind the budget.").status == "running"
    assert talk.answer(message="And Bob.").revision > 4
    talk.stop()
    assert [note.text for note in talk.result(20).fold.notes] == ["Mind the budget.", "And Bob."]
    review = rt.Review("T?", options=["x", "y"], seats=seats).start()
    with pytest.raises(rt.OptionError, match="answer: round is missing") as caught:
        rt.answer(review.id, message="kept")
    assert caught.value.facts["kept"]["message"] == "kept"
    review.stop()
    review.result(20)


def test_person_takes_part_in_plain_words() -> None:
    seats = [rt.Seat("me", model="human"), rt.Seat("pm")]
    talk = rt.Discussion("T?", seats=seats, observer="human", unattended=False).start()
    asked = rt.wait(talk.id, 20)
    assert [(turn.round, turn.seat) for turn in asked.turns] == [(1, "me")]
    assert "Round 1/1, you are me." in asked.turns[0].prompt
    with pytest.raises(rt.UsageError, match="the reply of me in round 1 is empty"):
        rt.answer(talk.id, round=1, seat="me", text=" ")
    rt.answer(talk.id, round=1, seat="me", text="I would wait.")
    summing = rt.wait(talk.id, 20)
    assert [turn.seat for turn in summing.turns] == ["observer"]
    assert "I would wait." in summing.turns[0].prompt
    rt.answer(talk.id, round=1, seat="observer", text="They wait.")
    assert talk.result(20).summary.text == "They wait."
