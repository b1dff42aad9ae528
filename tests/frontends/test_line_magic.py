"""`%roundtable VERB` in a shell: verbs by id, one-line errors, and interrupted debates."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import rt_notebook as rt
from rt_notebook import session
from tests.frontends.shells import QUESTION, SAYS, Counted, Shell

# ---- the line magic -----------------------------------------------------------------------------


def test_overview_lists_debates_or_says_how(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shell.run("%roundtable") is None
    assert "No debate yet" in capsys.readouterr().out
    shell.run(f"%%roundtable out\n{QUESTION}")
    assert list(shell.run("%roundtable").id) == [shell.names["out"].id]


def test_line_verbs_read_a_finished_debate(shell: Shell) -> None:
    shell.run(f"%%roundtable out\n{QUESTION}")
    name = shell.names["out"].id
    assert shell.run("%roundtable status").status == "done"
    assert shell.run(f"%roundtable status {name}").id == name
    assert shell.run(f"%roundtable show {name}").verdict.pick == shell.names["out"].verdict.pick
    assert list(shell.run("%roundtable list --status done --limit 5").id) == [name]
    assert shell.run("%roundtable list --status error").empty
    assert shell.run("%roundtable wait --seconds 0.1").status == "done"
    assert list(shell.run("%roundtable seats").name) == ["pm", "dev", "rv"]
    shell.run(f"%roundtable delete {name}")
    assert shell.run("%roundtable list").empty


def test_line_verbs_look_into_another_store(shell: Shell, tmp_path: Path) -> None:
    store = tmp_path / "other debates.db"
    shell.run(f"%%roundtable out --store '{store}'\n{QUESTION}")
    name = shell.names["out"].id
    assert list(shell.run(f"%roundtable list --store '{store}'").id) == [name]
    assert shell.run("%roundtable list").empty
    assert shell.run(f"%roundtable status --store '{store}'").id == name
    shell.run(f"%roundtable extend {name} --store '{store}'")
    assert shell.names["roundtable_result"].id == name
    assert shell.names["roundtable_result"].state.status == "done"
    shell.run(f"%roundtable delete {name} --store '{store}'")
    assert shell.run(f"%roundtable list --store '{store}'").empty


def test_zero_is_a_number_on_the_line(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    shell.run(f"%%roundtable out\n{QUESTION}")
    with pytest.raises(rt.OptionError, match="limit=0"):
        shell.run("%roundtable list --limit 0")
    monkeypatch.setattr(session, "wait", lambda debate, seconds, store: seconds)
    assert shell.run("%roundtable wait --seconds 0") == 0
    assert shell.run("%roundtable wait") == 25


LINE_MISTAKES = {
    "verb": ("frob", rt.OptionError, "no verb 'frob'"),
    "near verb": ("stauts", rt.OptionError, "'status'"),
    "export": ("export last", rt.OptionError, "needs a debate's id"),
    "no such debate": ("show nothing-here", rt.UnknownDebateError, "nothing-here"),
    "bad id": ("show ../x", rt.UsageError, "x"),
    "no round": ("answer last q1='x'", rt.OptionError, "--round"),
    "no label": ("answer last --round 0 hello", rt.OptionError, "'hello' has no label"),
    "stop without id": ("stop", rt.OptionError, "needs the debate's id"),
    "not running": ("stop last", rt.UsageError, "the debate is done"),
    "no form": ("form", rt.UsageError, "no debate with a form"),
    "resume done": ("resume last", rt.NotResumableError, "is done"),
    "verdict done": ("verdict last", rt.NotResumableError, "is done"),
    "unclosed": ("answer last --round 0 q1='x", rt.OptionError, "quote"),
}


@pytest.mark.parametrize(("line", "error", "match"), LINE_MISTAKES.values(), ids=LINE_MISTAKES)
def test_line_mistake_is_one_line(
    shell: Shell,
    capsys: pytest.CaptureFixture[str],
    line: str,
    error: type[Exception],
    match: str,
) -> None:
    shell.run(f"%%roundtable out\n{QUESTION}")
    capsys.readouterr()
    with pytest.raises(error, match=match) as caught:
        shell.run(f"%roundtable {line}")
    shown = capsys.readouterr()
    assert (shown.out + shown.err).strip() == f"{type(caught.value).__name__}: {caught.value}"


# ---- interrupted debates ------------------------------------------------------------------------


def _interrupt(**settings: Any) -> str:
    """Returns the id of a debate that was cancelled when its second seat was asked."""

    async def run() -> str:
        ids: list[str] = []

        def listen(event: Any) -> None:
            ids.append(event.debate)
            if event.kind == "call_finished":
                task.cancel()

        review = rt.Review("Ship now?", options=["Ship", "Wait"], **settings)
        task = asyncio.create_task(review.run(on_event=listen))
        with pytest.raises(asyncio.CancelledError, match=r"^$"):
            await task
        return ids[0]

    return asyncio.run(run())  # noqa: TID251 # a program's own loop


def test_same_brief_names_interrupted_debate(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    old = _interrupt(seats=[rt.Seat("a"), rt.Seat("b", model=rt.scripted([rt.hang()]))])
    assert rt.state(old).status == "interrupted"
    shell.run(f"%%roundtable other\nShip later?\n{QUESTION.split(chr(10), 1)[1]}")
    assert old not in capsys.readouterr().out
    shell.run(f"%%roundtable out\n{QUESTION}")
    said = capsys.readouterr().out
    assert f"%roundtable resume {old}" in said
    assert shell.names["out"].id != old


def test_resume_finds_functions_among_variables(shell: Shell) -> None:
    counted, tries = Counted(), []

    async def slow(call: rt.Call) -> str:
        tries.append(call.round)
        if len(tries) == 1:
            await asyncio.get_running_loop().create_future()
        return SAYS.format("slow").replace("Wait", "Ship")

    shell.put(counted=counted, slow=slow)
    old = _interrupt(seats=[rt.Seat("a", model=counted), rt.Seat("b", model=slow)])
    assert (len(counted.prompts), tries) == (1, [0])
    shell.run(f"%roundtable resume {old}")
    result = shell.names["roundtable_result"]
    assert (result.id, result.status) == (old, "done")
    assert (len(counted.prompts), tries) == (2, [0, 0, 1])
    assert list(result.stances[1]) == ["Wait", "Ship"]


def test_resume_without_function_names_the_seat(shell: Shell) -> None:
    old = _interrupt(
        seats=[rt.Seat("a", model=Counted()), rt.Seat("b", model=rt.scripted([rt.hang()]))]
    )
    with pytest.raises(rt.NotResumableError, match=r"'a'.*counted"):
        shell.run(f"%roundtable resume {old}")
    assert rt.state(old).status == "interrupted"
