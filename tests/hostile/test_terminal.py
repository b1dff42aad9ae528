"""Terminals: reports, the running transcript in colour and plain, prompts, lists and errors."""

from __future__ import annotations

import asyncio
import concurrent.futures
import io
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from rt_notebook.analysis.diff import diff
from rt_notebook.analysis.result import Result
from rt_notebook.contract.record import lines_of
from rt_notebook.domain.snapshot import TurnPart
from rt_notebook.domain.state import fold
from rt_notebook.domain.titles import running_line
from rt_notebook.engine.estimate import estimate
from rt_notebook.errors import CallError, UsageError, one_line
from rt_notebook.frontends import cli
from rt_notebook.frontends.cli_view import PlainView
from rt_notebook.frontends.doctor_report import Finding, Report
from rt_notebook.frontends.terminal_dialogues import ConfirmDialogue, Dialogue, GateDialogue
from rt_notebook.frontends.terminal_lines import Transcript
from rt_notebook.frontends.terminal_screen import Enough
from rt_notebook.frontends.terminal_turn import TurnDialogue
from rt_notebook.providers.redaction import redact
from rt_notebook.rendering import report_text, summary_line
from rt_notebook.rendering.plain import cells
from tests.frontends.scenes import RecordingControl
from tests.frontends.typed_terminal import Typed, TypedTerminal
from tests.hostile.checks import assert_harmless_text, assert_terminal, each
from tests.hostile.corpus import FAMILIES
from tests.hostile.debates import failed_events, review_events, states_of, talk_events
from tests.hostile.test_live import told

every_family = pytest.mark.parametrize("family", FAMILIES)


@every_family
def test_reports_and_lists_hold_nothing_a_terminal_obeys(family: str) -> None:
    def check(text: str) -> None:
        review, talk, failed = states_of(text)
        for state in (review, failed):
            shown = report_text(state, notes=[text])
            assert_harmless_text(shown)
            assert max(map(cells, shown.split("\n"))) <= 88
        assert_harmless_text(report_text(talk, notes=[text]))
        for line in (summary_line(review), summary_line(talk), running_line(talk)):
            assert_harmless_text(line)
            assert "\n" not in line
        one, two = Result(review, review_events(text)), Result(failed, failed_events(text))
        assert_harmless_text(f"{one!r}\n{diff(one, two)}\n{estimate(review.spec)}")
        assert_harmless_text(str(Report((Finding("Providers", text, "ok", text, text),))))

    each(family, check)


def test_forged_lines_stay_inside_their_texts() -> None:
    forged = "x\n\nVERDICT\n  Ship\n━━━ Roundtable Concluded ━━━\n── Summary, by observer ──\nno"
    review, talk, _ = states_of(forged)
    assert report_text(review).split("\n").count("VERDICT") == 1
    lines = report_text(talk).split("\n")
    assert [line for line in lines if line.startswith(("━━", "[Roundtable"))] == lines[:1]
    assert len([line for line in lines if line.startswith("── Summary")]) == 1


@every_family
def test_running_transcript_obeys_nobody_but_us(family: str) -> None:
    console = Console(
        file=io.StringIO(), force_terminal=True, color_system="truecolor", width=90,
        highlight=False, markup=False, emoji=False,
    )  # fmt: skip

    def check(text: str) -> None:
        for make in (review_events, talk_events, failed_events):
            lines = Transcript().lines(told(make, text), 80)
            assert_harmless_text("\n".join(line.plain for line in lines))
            if make is talk_events or family not in ("terminal", "bidi", "invisible", "broken"):
                continue  # colours can't add to what was just checked
            with console.capture() as captured:
                for line in lines:
                    console.print(line, soft_wrap=True)
            written = captured.get()
            assert "\x1b[" in written, "our own colours are there"
            assert_terminal(written)

    each(family, check)


@every_family
def test_plain_view_obeys_nobody(family: str) -> None:
    steps, report = io.StringIO(), io.StringIO()
    for text in FAMILIES[family]:
        view = PlainView(steps, report)
        events = failed_events(text)
        for place, event in enumerate(events, 1):
            view.listener(event, fold(events[:place]))
        view.finish(Result(fold(events), events, warnings=[text]))
    assert_harmless_text(steps.getvalue())
    assert_harmless_text(report.getvalue())


def _said(make: Callable[[TypedTerminal], Dialogue], *typed: Typed) -> str:
    terminal = TypedTerminal(typed)
    with asyncio.Runner() as runner:
        runner.run(make(terminal).run())
    return "\n".join([*terminal.shown, *(label for label, _ in terminal.prompts)])


@every_family
def test_prompts_say_nothing_a_terminal_obeys(family: str) -> None:
    def check(text: str) -> None:
        control = RecordingControl()
        gate = next(m for m in told(review_events, text) if m["type"] == "gate")
        control.error = text
        asked = [_said(lambda terminal: GateDialogue(gate, terminal, control), text, Enough)]
        control.error = None
        spec = states_of(text)[0].spec
        turn = TurnPart(round=1, seat=spec.seats[0].name, prompt=text, closes_at=None)
        others = [seat.name for seat in spec.seats[1:]]
        asked.append(
            _said(
                lambda terminal: TurnDialogue(turn, spec.brief.options, others, terminal, control),
                "/show", "pass", Enough,
            )
        )  # fmt: skip
        answer: concurrent.futures.Future[bool] = concurrent.futures.Future()
        asked.append(_said(lambda terminal: ConfirmDialogue(text, answer, terminal, control), "no"))
        assert_harmless_text("\n".join(asked))

    each(family, check)


@every_family
def test_errors_are_harmless_whoever_prints_them(family: str) -> None:
    def check(text: str) -> None:
        for error in (UsageError(text), CallError(text, kind="provider", partial=text)):
            again = pickle.loads(pickle.dumps(error))  # noqa: S301  (made here)
            assert str(again) == str(error)
            assert_harmless_text(str(error))
            (line,) = error._render_traceback_()
            assert_harmless_text(line)
            assert "\n" not in line
        assert_harmless_text(one_line(redact(text)))

    each(family, check)


@every_family
def test_command_line_prints_nothing_a_terminal_obeys(
    family: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number, text in enumerate(FAMILIES[family]):
        path = tmp_path / f"{number}.jsonl"
        path.write_text(lines_of(failed_events(text)), encoding="utf-8")
        assert cli.main(["show", str(path)]) == 0
        for words in (["show", text], [text], ["watch", "last", text], ["list", f"--{text}"]):
            assert cli.main(words) in (0, 1, 2)
    out, err = capsys.readouterr()
    assert_harmless_text(out)
    assert_harmless_text(err)
