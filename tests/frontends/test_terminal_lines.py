from __future__ import annotations

import io
import re

import pytest
from rich.console import Console
from rich.text import Text

from rt_notebook.domain.normal import normal_form
from rt_notebook.domain.seat import Seat
from rt_notebook.frontends.live_model import message_for
from rt_notebook.frontends.terminal_lines import BOLD, Transcript, flow, hanging, rule
from rt_notebook.frontends.terminal_screen import clock
from rt_notebook.rendering.plain import cells
from tests.frontends.scenes import OPTIONS, Scene, make_reply, make_spec
from tests.rendering.hostile import CORPUS, assert_harmless_text

_SGR = re.compile(r"\x1b\[[0-9;]*m")


def _told(scene: Scene, kinds: set[str] | None = None) -> list[str]:
    """What is printed for a scene's events; `kinds`: for these only, after the rest was heard."""
    transcript = Transcript()
    again = Scene(scene.spec)
    lines = [] if kinds else transcript.lines(message_for(again.events[0], again.state), 80)
    for event in scene.events[1:]:
        again.state.apply(event)
        printed = transcript.lines(message_for(event, again.state), 80)
        lines += printed if kinds is None or event.kind in kinds else []
    return [line.plain for line in lines]


def _opening(**fields: object) -> Scene:
    scene = Scene()
    scene.add("round_started", round=0)
    scene.turn(0, "pm", make_reply(1, **fields))
    return scene


def _rendered(lines: list[Text]) -> str:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, color_system="truecolor", width=80)
    for line in lines:
        console.print(line, soft_wrap=True, markup=False, highlight=False, emoji=False)
    return stream.getvalue()


def test_header_names_options_and_seats() -> None:
    shown = "\n".join(_told(Scene()))
    assert "Should payments become its own service?" in shown
    for number, option in enumerate(OPTIONS, 1):
        assert re.search(rf"^ +{number}  {option}$", shown, re.MULTILINE)
    assert re.search(r"^  dev  scripted", shown, re.MULTILINE)
    assert "payments-abc123" in shown


def test_reply_shows_stance_and_points() -> None:
    scene = _opening(disagree=["It costs a team"], new=["Users wait"], question="What budget?")
    assert _told(scene, {"reply_read"})[:4] == [
        "pm   Modular monolith   0.1 s",
        "    against  - It costs a team",
        "    new      - Users wait",
        "    asks     What budget?",
    ]


def test_changed_stance_names_the_old() -> None:
    scene = _opening()
    scene.add("round_started", round=1)
    scene.turn(1, "pm", make_reply(2, agree_with=["dev"]))
    shown = _told(scene, {"reply_read"})
    assert "Microservice" in shown[-2]
    assert "changed, was Modular monolith" in shown[-2]
    assert shown[-1] == "    with     dev"


def test_stance_stands_in_brackets_without_colours() -> None:
    scene = _opening()
    messages = message_for(scene.events[-1], scene.state)
    line = Transcript(chips=False).lines(messages, 80)[0]
    assert "[Modular monolith]" in line.plain


def test_failure_shows_kind_and_reason() -> None:
    scene = Scene()
    scene.add("round_started", round=0)
    scene.ask(0, "rv")
    call = scene.events[-1].body["call"]
    scene.add(
        "call_failed", call=call, error="timeout", message="no answer in 300 s", retry_in_s=None
    )
    assert _told(scene, {"call_failed"}) == ["rv  failed  timeout: no answer in 300 s"]


def test_gate_lists_questions_and_choices() -> None:
    scene = _opening(question="opt-1 or opt-2?")
    scene.open_gate(0)
    shown = "\n".join(_told(scene, {"gate_opened"}))
    assert "The opening is done: 1 question for you" in shown
    assert "q1  pm asks: opt-1 or opt-2?" in shown
    assert "1 Modular monolith · 2 Microservice" in shown


def test_answers_appear_in_transcript() -> None:
    scene = _opening(question="What budget?")
    scene.open_gate(0)
    scene.add("gate_answered", round=0, answers={"q1": "20k"}, message="Hurry", source="person")
    scene.add("gate_closed", round=0, why="answered")
    assert _told(scene, {"gate_answered", "gate_closed"}) == [
        "you: What budget? → 20k",
        "you: Hurry",
    ]


@pytest.mark.parametrize("text", CORPUS, ids=range(len(CORPUS)))
def test_hostile_text_prints_no_control(text: str) -> None:
    bad = ",;=[](){}<>\u3001\uff0c"  # what no name may hold
    name = "".join(char for char in text if char.isprintable() and char not in bad)[:20]
    spec = make_spec(seats=(Seat(name.strip() or "pm", model="scripted"), Seat("dev")))
    if normal_form(spec.seats[0].name) in ("none", "empty", "pass"):
        pytest.skip("no name of a seat")
    scene = Scene(spec)
    scene.add("round_started", round=0)
    seat = spec.seats[0].name
    reply = make_reply(1, disagree=[text], new=[text], assumptions=[text], question=text[:500])
    scene.turn(0, seat, reply)
    scene.turn(0, "dev", make_reply(None, raw=text, valid=False, errors=[text], stance_key=None))
    scene.open_gate(0)
    scene.add("gate_answered", round=0, answers={"q1": text}, message=text, source=text)
    scene.add("gate_closed", round=0, why="answered")
    scene.add("interjection", text=text, source=text)
    transcript, again, lines = Transcript(), Scene(spec), []
    for event in scene.events:
        if event.kind != "created":
            again.state.apply(event)
        lines += transcript.lines(message_for(event, again.state), 80)
    assert all(cells(line.plain) <= 80 for line in lines)
    output = _SGR.sub("", _rendered(lines))
    assert_harmless_text(output)


def test_head_and_text_are_made_harmless() -> None:
    hostile = "\x1b[2J\x1b]0;title\x07a\u202eb\rc"
    lines = [*hanging([(hostile, None)], hostile, 80), *flow([(hostile, BOLD)], 80)]
    lines.append(rule(hostile, 80, hostile))
    for line in lines:
        assert_harmless_text(line.plain)


def test_markup_in_text_stays_text() -> None:
    lines = hanging([("x: ", None)], "[bold red]not bold[/] [link=https://a.example]x[/link]", 80)
    output = _rendered(lines)
    assert "[bold red]not bold[/]" in output
    assert "\x1b]8" not in output


def test_wrapped_lines_hang_under_text() -> None:
    lines = [line.plain for line in hanging([("head  ", None)], "word " * 30, 40)]
    assert len(lines) > 3
    assert all(line.startswith("      word") for line in lines[1:])
    assert max(map(len, lines)) <= 40


def test_rule_fits_width_with_wide_letters() -> None:
    assert cells(rule("支払いを分けるべきか " * 20, 80, "9 calls").plain) == 80


@pytest.mark.parametrize(
    ("closes_at", "words"),
    [
        (None, "waits for you"),
        (118_000, "1:58 left"),
        (117_001, "1:58 left"),
        (9_000, "0:09 left"),
        (-5, "0:00 left"),
        (3_723_000, "1:02:03 left"),
    ],
)
def test_clock_counts_whole_seconds_down(closes_at: int | None, words: str) -> None:
    assert clock(closes_at, 0) == words
