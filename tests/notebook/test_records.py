"""`--record` in real kernels: recorded once, run again without a call, its outputs the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import rt_notebook as rt
from rt_notebook.domain.brief import Brief
from rt_notebook.domain.spec import DebateSpec
from tests.notebook.live_kernel import live_kernel
from tests.notebook.runner import NEWEST, Executed, RunNotebook
from tests.recording.scenes import answered

SETUP = """
%load_ext rt_notebook
import rt_notebook as rt
asked = []
def seat(name, stance):
    def speak(call):
        asked.append(name)
        rest = f"DISAGREE:\\n- {call.round}\\nNEW:\\nASSUMPTIONS:"
        return f"STANCE: {stance}\\nAGREE_WITH: []\\n{rest}"
    speak.__name__ = f"speak_{name}"
    return rt.Seat(name, model=speak)
pro, con = seat("pro", "Ship"), seat("con", "Wait")
"""
QUESTION = "Ship it now?"
CELL = (
    "%%roundtable out --seats pro,con --record reviews/ship.jsonl\n{question}\n\n"
    "options:\n- Ship\n- Wait"
)
TABLES = "print([len(asked), out.id]); print(out.replies.to_csv(), out.calls.to_csv())"


def run(run_notebook: RunNotebook, mode: str | None = None, question: str = QUESTION) -> Executed:
    cells = [SETUP, CELL.format(question=question), TABLES]
    env = {} if mode is None else {"RT_NOTEBOOK_RECORD": mode}
    return run_notebook(cells, env=env, allow_errors=True)


def test_recorded_notebook_runs_again_as_it_was(run_notebook: RunNotebook, tmp_path: Path) -> None:
    first = run(run_notebook)
    assert first.error(1) is None
    record = tmp_path / "reviews" / "ship.jsonl"
    before = record.read_bytes()
    again = run(run_notebook, "none")
    counts = [executed.printed(2).splitlines()[0] for executed in (first, again)]
    assert [text.split(",")[0] for text in counts] == ["[4", "[0"]
    for mime in ("text/html", "text/markdown", "text/plain"):
        assert again.data(1, mime) == first.data(1, mime)
        assert len(first.data(1, mime)) == 1
    assert again.printed(2).splitlines()[1:] == first.printed(2).splitlines()[1:]
    assert again.printed(1) == first.printed(1)
    assert record.read_bytes() == before


def test_changed_word_stops_the_cell_with_one_line(run_notebook: RunNotebook) -> None:
    run(run_notebook)
    again = run(run_notebook, "none", "Ship it today?")
    error = again.error(1)
    assert error is not None
    assert error[0] == "RecordMismatchError"
    assert "question: word 3: 'now?' in the record, 'today?' here" in error[1]
    assert "first at seat 'pro' in round 0 (opening)" in error[1]


def test_line_magic_takes_a_record(run_notebook: RunNotebook) -> None:
    first = run(run_notebook)
    cells = [
        "%load_ext rt_notebook",
        "r = %roundtable show reviews/ship.jsonl",
        "print(r.id)",
        "files = %roundtable export reviews/ship.jsonl adr",
        "print(open('adr/0001-ship-it-now/record.jsonl').read()"
        " == open('reviews/ship.jsonl').read())",
    ]
    looked = run_notebook(cells)
    assert looked.printed(2).strip() in first.printed(2)
    assert looked.printed(4).strip() == "True"


def test_replay_where_somebody_sits_asks_nothing(tmp_path: Path) -> None:
    """A gate was answered when it was recorded: no form, no view, only the result."""

    def steer(run: Any, event: Any, state: Any) -> None:
        if event.kind == "gate_opened":
            run.answer({"q1": "A million"})

    says = [
        [rt.say(stance=stance, new=["a point"], question="What is the budget?")]
        for stance in ("Ship", "Wait")
    ]
    seats = tuple(
        rt.Seat(name, model=rt.scripted(script))
        for name, script in zip(("pro", "con"), says, strict=True)
    )
    spec = DebateSpec(brief=Brief(question="Ship now?", options=("Ship", "Wait")), seats=seats)
    answered(spec, tmp_path / "r.jsonl", steer)
    setup = "%load_ext rt_notebook\nimport rt_notebook as rt\n" + "\n".join(
        f"{name} = rt.Seat({name!r}, model=rt.scripted({script!r}))"
        for name, script in zip(("pro", "con"), says, strict=True)
    )
    body = "Ship now?\n\noptions:\n- Ship\n- Wait\n"
    with live_kernel(NEWEST, tmp_path) as live:
        live.run(f"import os; os.chdir({str(tmp_path)!r})\n{setup}")
        request = live.queue(f"%%roundtable out --seats pro,con --record r.jsonl\n{body}")
        assert live.reply(request)["status"] == "ok"
        assert live.of(request, "comm_open") == []
        (shown,) = live.of(request, "display_data")
        assert "A million" in shown["data"]["text/html"]
        assert live.run("print(out.status, len(out.questions))") == "done 1\n"
