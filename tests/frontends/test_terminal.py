"""The terminal's view on real pseudo-terminals, with scripted seats and a person who types."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from textwrap import dedent

import pytest

import rt_notebook as rt
from tests.environment import ROOT
from tests.frontends.terminal_session import TerminalSession, other_sequences, script
from tests.rendering.hostile import assert_harmless_text

pytestmark = pytest.mark.slow

_REVIEW = """
    import rt_notebook as rt

    def review(**changes):
        pm = [rt.say(stance="Ship", disagree=["Tests are slow"], question="What budget?"),
              rt.say(stance="Wait", agree_with=["dev"])]
        dev = [rt.say(stance="Wait", question="How long?"), rt.say(stance="Wait")]
        seats = [rt.Seat("pm", model=rt.scripted(pm)), rt.Seat("dev", model=rt.scripted(dev))]
        settings = {"rounds": 1, "question_wait_s": 60, "checkpoint_wait_s": 0.1} | changes
        seats += settings.pop("more", [])
        return rt.Review("Ship now?", options=["Ship", "Wait"], seats=seats, **settings)
    """
_SYNC = "result = review({}).run_sync()\nprint('ENDED', result.status, len(result.warnings))\n"
_ASYNC = """
    import asyncio, time

    gaps = []

    async def beat():
        before = time.monotonic()
        while True:
            await asyncio.sleep(0.01)
            now = time.monotonic()
            gaps.append(now - before)
            before = now

    async def main():
        beating = asyncio.create_task(beat())
        try:
            result = await review().run()
        finally:
            beating.cancel()
        print("ENDED", result.status, "SLOW" if max(gaps) > 1 else "SMOOTH")

    asyncio.run(main())
    """


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Returns a folder of its own to run in."""
    return tmp_path


def _start(
    place: Path, source: str, *, term: str = "xterm", changes: str = "", review: str = _REVIEW
) -> TerminalSession:
    body = source if "ENDED" in source and source != _SYNC else _SYNC.replace("{}", changes)
    program = script(place, dedent(review) + dedent(body))
    return TerminalSession(program, _environment(), place, term=term)


def _environment() -> dict[str, str]:
    """Returns this run's environment; programs may import the tests' helpers."""
    path = os.pathsep.join(filter(None, (os.environ.get("PYTHONPATH"), str(ROOT))))
    return {**os.environ, "PYTHONPATH": path}


def _answers() -> dict[str, str]:
    questions = rt.load("last").questions
    return dict(zip(questions["text"], questions["answer"].fillna("-"), strict=True))


@pytest.mark.parametrize("source", [_SYNC, _ASYNC], ids=["script", "asyncio"])
@pytest.mark.parametrize("term", ["xterm-256color", "dumb"])
def test_typed_answers_arrive_whole(place: Path, source: str, term: str) -> None:
    whole = "żółw 日本 — " + "word " * 60 + "end"
    with _start(place, source, term=term) as terminal:
        terminal.wait_for("q1 · ")
        terminal.type(f"{whole}\r")
        terminal.wait_for("q2 · ")
        terminal.type("2x\x7f weeks\r")
        terminal.wait_for("message · ")
        terminal.type("\r")
        assert terminal.wait_end() == 0
    assert _answers() == {"What budget?": whole, "How long?": "2 weeks"}
    assert "ENDED done" in terminal.shown
    assert "SLOW" not in terminal.shown
    assert "changed, was Ship" in terminal.shown
    assert terminal.shown.count("TALLY") == 1


def test_pasted_lines_arrive_as_one(place: Path) -> None:
    with _start(place, _SYNC) as terminal:
        terminal.wait_for("q1 · ")
        terminal.type("\x1b[200~first\nsecond\x1b[201~\r")
        terminal.wait_for("q2 · ")
        terminal.type("\x04")
        terminal.wait_end()
    assert _answers() == {"What budget?": "first\nsecond", "How long?": "-"}


def test_typing_before_question_is_no_answer(place: Path) -> None:
    late = "rt.Seat('late', model=rt.scripted([rt.wait(1, then=rt.say(stance='Ship'))]))"
    with _start(place, _SYNC, changes=f"more=[{late}]") as terminal:
        terminal.wait_for("asking")
        terminal.type("\r\rnot meant\r")
        terminal.wait_for("q1 · ")
        terminal.type("meant\r")
        terminal.wait_for("q2 · ")
        terminal.type("\x04")
        terminal.wait_end()
    assert _answers()["What budget?"] == "meant"


@pytest.mark.parametrize("term", ["xterm", "dumb"])
def test_countdown_ends_prompt_and_shows_words(place: Path, term: str) -> None:
    with _start(place, _SYNC, term=term, changes="question_wait_s=2") as terminal:
        terminal.wait_for("q1 · 0:02 left >")
        terminal.type("20k\r")
        terminal.wait_for("q2 · ")
        terminal.type("about tw")
        terminal.wait_for("not sent: q1: 20k")
        terminal.wait_for("not sent: q2: about tw")
        terminal.wait_for("The time is up")
        assert terminal.wait_end() == 0
    assert _answers() == {"What budget?": "-", "How long?": "-"}
    assert "ENDED done" in terminal.shown


def test_more_time_moves_countdown(place: Path) -> None:
    with _start(place, _SYNC) as terminal:
        terminal.wait_for("q1 · 1:00 left")
        terminal.type("/more\r")
        terminal.wait_for("2 more extensions left")
        terminal.wait_for("q1 · 2:00 left")
        terminal.type("/stop\r")
        terminal.wait_end()
    assert rt.load("last").status == "stopped"


def test_finish_goes_to_the_verdict(place: Path) -> None:
    with _start(place, _SYNC, changes="gates='blocking'") as terminal:
        terminal.wait_for("q1 · waits for you")
        terminal.type("/finish\r")
        assert terminal.wait_end() == 0
    assert rt.load("last").stop_reason == "finished"


@pytest.mark.parametrize("term", ["xterm", "dumb"])
@pytest.mark.parametrize("source", [_SYNC, _ASYNC], ids=["script", "asyncio"])
def test_interrupt_at_prompt_ends_within_two_seconds(place: Path, source: str, term: str) -> None:
    with _start(place, source, term=term) as terminal:
        terminal.wait_for("q1 · ")
        terminal.type("20k\r")
        terminal.wait_for("q2 · ")
        terminal.type("\x03")
        pressed = time.monotonic()
        terminal.wait_for("%roundtable resume")
        assert time.monotonic() - pressed < 2
        assert terminal.wait_end() != 0
    result = rt.load("last")
    assert result.status == "interrupted"
    assert [event.kind for event in result.events][-1] == "interrupted"
    assert "KeyboardInterrupt" in terminal.shown


def test_human_seat_answers_while_others_do(place: Path) -> None:
    changes = "gates='off', more=[rt.Seat('me', model='human')]"
    with _start(place, _SYNC, changes=changes) as terminal:
        terminal.wait_for("Your turn as me: opening")
        terminal.wait_for("stance · ")
        terminal.type("2\r")
        terminal.wait_for("disagree 1 · ")
        terminal.type("too early\r")
        terminal.wait_for("disagree 2 · ")
        terminal.type("\x04")
        terminal.wait_for("Your turn as me: round 1")
        terminal.wait_for("stance · ")
        terminal.type("pass\r")
        assert terminal.wait_end() == 0
    replies = rt.load("last").replies.query("seat == 'me'")
    assert list(replies["stance_key"]) == ["opt-2", "PASS"]


def test_hostile_seats_reach_no_terminal(place: Path) -> None:
    hostile = """
        import rt_notebook as rt
        from tests.rendering.hostile import CORPUS

        def review():
            texts = [" ".join(text[:2000].split("\\n")) for text in CORPUS]
            seats = [rt.Seat(f"s{n}", model=rt.scripted([
                rt.say(stance=("Ship", "Wait")[n % 2], disagree=texts[n::9][:3],
                       new=texts[n + 1::9][:2],
                       assumptions=texts[n + 2::9], question=texts[-1 - n]),
                rt.fail("refused", message=texts[n]), texts[n]])) for n in range(9)]
            return rt.Review("Ship?\\x1b[2J [bold]now[/]", options=["Ship", "\\x1b]0;x\\x07Wait"],
                             seats=seats, rounds=2, gates="off")
        """
    with _start(place, _SYNC, review=hostile) as terminal:
        assert terminal.wait_end() == 0
    assert other_sequences(terminal.raw) == []
    assert "\x1b[" in terminal.raw  # there were colours
    assert_harmless_text(terminal.shown)
    assert "[bold]now[/]" in terminal.shown


def test_dumb_terminal_gets_no_sequence(place: Path) -> None:
    with _start(place, _SYNC, term="dumb") as terminal:
        terminal.wait_for("q1 · ")
        terminal.type("\x04")
        assert terminal.wait_end() == 0
    assert "\x1b" not in terminal.raw
    assert "[Ship]" in terminal.shown


def test_background_prints_and_asks_nothing(place: Path) -> None:
    source = """
        import time
        handle = review().start()
        while handle.state().gate is None:
            time.sleep(0.01)
        handle.answer({"q1": "20k"})
        print("ENDED", handle.result(20).status)
        """
    with _start(place, source) as terminal:
        assert terminal.wait_end() == 0
    assert "%roundtable answer" in terminal.shown
    assert "you: What budget? → 20k" in terminal.shown
    assert "left >" not in terminal.shown
    assert terminal.shown.count("TALLY") == 1


def test_resumed_debate_says_where_it_stands(place: Path) -> None:
    source = """
        paused = review(gates="off", limits=rt.Limits(max_calls=3, on_limit="pause")).run_sync()
        print("PAUSED", paused.status)
        print("ENDED", rt.resume(paused.id, limits=rt.Limits()).result(20).status)
        """
    with _start(place, source) as terminal:
        before = terminal.wait_for("PAUSED paused")
        assert terminal.wait_end() == 0
    after = terminal.shown[len(before) :]
    assert "So far" in after
    assert "  pm  Ship (opening)" in after
    assert "Opening ──" not in after
    assert "ENDED done" in after


def test_next_debate_asks_after_interrupted_wait(place: Path) -> None:
    source = """
        for _ in range(2):
            result = review(question_wait_s=1).run_sync()
        print("ENDED", result.status)
        """
    with _start(place, source) as terminal:
        terminal.wait_for("q1 · ")
        terminal.wait_for("The time is up")
        terminal.wait_for("TALLY")
        terminal.wait_for("q1 · ")
        terminal.type("20k\r\x04")
        assert terminal.wait_end() == 0
    assert _answers()["What budget?"] == "20k"


def _ipython(place: Path) -> TerminalSession:
    command = [sys.executable, "-m", "IPython", "--no-banner", "--no-confirm-exit"]
    environment = {**_environment(), "IPYTHONDIR": str(place), "PROMPT_TOOLKIT_NO_CPR": "1"}
    (place / "setup_review.py").write_text(dedent(_REVIEW), encoding="utf-8")
    return TerminalSession(command, environment, place)


def test_ipython_cell_asks_and_goes_on(place: Path) -> None:
    cell = "%%roundtable out --seats pm,dev --rounds 1\nShip it?\n\noptions:\n- Yes\n- No\n"
    with _ipython(place) as terminal:
        terminal.wait_for("In [1]:")
        terminal.type("%load_ext rt_notebook\r")
        terminal.wait_for("In [2]:")
        terminal.type(f"\x1b[200~{cell}\x1b[201~\r\r")
        terminal.wait_for("q1 · ")
        terminal.type("20k\r")
        terminal.wait_for("q2 · ")
        terminal.type("\x04")
        terminal.wait_for("In [3]:")
        terminal.type("print('STATUS', out.status)\r")
        terminal.wait_for("STATUS done")
    assert "20k" in _answers().values()


def test_ipython_background_leaves_the_prompt(place: Path) -> None:
    cell = (
        "%%roundtable out --seats pm,dev --rounds 1 --background --checkpoint-wait-s 1\n"
        "Ship?\n\noptions:\n- A\n- B\n"
    )
    with _ipython(place) as terminal:
        terminal.wait_for("In [1]:")
        terminal.type("%load_ext rt_notebook\r")
        terminal.wait_for("In [2]:")
        terminal.type(f"\x1b[200~{cell}\x1b[201~\r\r")
        terminal.wait_for("In Python: `handle.answer(")
        terminal.type("out.answer({'q1': '20k'}).id\r")
        terminal.wait_for("VERDICT")
        terminal.type("print('STATUS', out.result(20).status)\r")
        terminal.wait_for("STATUS done")
    assert "20k" in _answers().values()


def test_ipython_interrupt_leaves_a_prompt(place: Path) -> None:
    with _ipython(place) as terminal:
        terminal.wait_for("In [1]:")
        terminal.type("from setup_review import *\r")
        terminal.wait_for("In [2]:")
        terminal.type("out = await review().run()\r")
        terminal.wait_for("q1 · ")
        terminal.type("half\x03")
        pressed = time.monotonic()
        terminal.wait_for("In [3]:")
        assert time.monotonic() - pressed < 2
        assert rt.load("last").status == "interrupted"
        terminal.type("print('STILL', 1 + 1)\r")
        terminal.wait_for("STILL 2")
