from __future__ import annotations

from typing import Any

import pytest

from rt_notebook.contract import read_reply, read_verdict
from rt_notebook.domain.snapshot import Snapshot, TurnPart
from rt_notebook.errors import UsageError
from rt_notebook.frontends.terminal_screen import Enough
from rt_notebook.frontends.terminal_turn import TurnDialogue
from tests.frontends.scenes import OPTIONS, RecordingControl
from tests.frontends.typed_terminal import Typed, TypedTerminal


async def _sent(
    *typed: Typed, number: int = 0, chairs: bool = False, control: RecordingControl | None = None
) -> tuple[list[str], TypedTerminal]:
    control, terminal = control or RecordingControl(), TypedTerminal(typed)
    prompt = "\n".join(f"line {n}" for n in range(40))
    turn = TurnPart(round=number, seat="me", prompt=prompt, closes_at=None)
    await TurnDialogue(turn, OPTIONS, ["pm", "dev"], terminal, control, chairs=chairs).run()
    assert [call[:3] for call in control.calls] == [("turn", number, "me")] * len(control.calls)
    return [call[3] for call in control.calls], terminal


def _read(text: str, number: int = 0) -> Any:
    return read_reply(text, options=OPTIONS, round=number, seat="me", seats=["pm", "dev", "me"])


@pytest.mark.asyncio
async def test_fields_become_a_reply_in_form() -> None:
    typed = ("2", "PM, dev", "it costs a team", "", "users wait", "", "traffic doubles", "", "Who?")
    (text,), terminal = await _sent(*typed, number=1)
    reply = _read(text, 1)
    assert reply.valid, reply.errors
    assert (reply.stance_key, reply.agree_with) == ("opt-2", ["pm", "dev"])
    assert (reply.disagree, reply.new) == (["it costs a team"], ["users wait"])
    assert (reply.assumptions, reply.question) == (["traffic doubles"], "Who?")
    assert terminal.labels[:2] == ["stance", "agree with"]


@pytest.mark.asyncio
async def test_opening_asks_for_no_agreement() -> None:
    (text,), terminal = await _sent("wait one SPRINT", Enough)
    assert "agree with" not in terminal.labels
    assert _read(text).stance_key == "opt-3"


@pytest.mark.asyncio
async def test_own_stance_and_pass_are_possible() -> None:
    (text,), _ = await _sent("buy it", Enough)
    assert _read(text).stance_key == "other: buy it"
    (text,), terminal = await _sent("pass", number=1)
    assert (text, terminal.labels) == ("PASS", ["stance"])


@pytest.mark.asyncio
async def test_prompt_is_short_until_asked_for() -> None:
    _, terminal = await _sent("1", "/show", Enough)
    before = terminal.shown.index("  … 34 more lines: /show")
    assert "  line 5" in terminal.shown[:before]
    assert "  line 39" not in terminal.shown[:before]
    assert "  line 39" in terminal.shown[before:]


@pytest.mark.asyncio
async def test_refused_reply_is_asked_again() -> None:
    class Strict(RecordingControl):
        def take_turn(self, *, round: int, seat: str, text: str) -> Snapshot:
            snapshot = super().take_turn(round=round, seat=seat, text=text)
            if len(self.calls) == 1:
                raise UsageError("the reply of me breaks the contract: STANCE is missing")
            return snapshot

    texts, terminal = await _sent("", "too slow", Enough, "1", Enough, control=Strict())
    assert "the reply of me breaks the contract: STANCE is missing" in terminal.shown
    assert terminal.prompts[-1] == ("disagree 1", "too slow")
    reply = _read(texts[-1])
    assert (reply.stance_key, reply.disagree) == ("opt-1", ["too slow"])


@pytest.mark.asyncio
async def test_whole_reply_goes_word_for_word() -> None:
    lines = ["STANCE: opt-1", "DISAGREE: none", "NEW: none", "ASSUMPTIONS: none"]
    (text,), _ = await _sent("/write", *lines, ".")
    assert text == "\n".join(lines)
    (text,), _ = await _sent("\n".join(lines))
    assert text == "\n".join(lines)


@pytest.mark.asyncio
async def test_chairman_writes_verdict_in_form() -> None:
    typed = ("2", "It scales.", "pm fears cost", "p95 above 300", "", "Who runs it?", "")
    (text,), terminal = await _sent(*typed, chairs=True)
    verdict = read_verdict(text, options=OPTIONS)
    assert verdict.valid, verdict.errors
    assert (verdict.pick, verdict.rationale) == ("opt-2", "It scales.")
    assert (verdict.kill_criteria, verdict.open_questions) == (["p95 above 300"], ["Who runs it?"])
    assert terminal.labels[0] == "pick"
