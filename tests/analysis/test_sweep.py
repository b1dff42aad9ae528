"""Sweeps: which debates there are, how they run, end, fail and go on."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import rt_notebook as rt
from rt_notebook import session
from rt_notebook.analysis.sweep import sweep
from rt_notebook.errors import (
    BriefError,
    OptionError,
    SeatError,
    UnknownDebateError,
)
from rt_notebook.running import all_running
from tests.analysis.sweeps import OPTIONS, QUESTIONS, Speaker, run

SEVEN = [f"s{number}=scripted" for number in range(7)]
LEVELS = ("rounds", "loop_threshold", "max_tokens")


def test_every_brief_is_debated_repeatedly(store: Path) -> None:
    found = run(store=store, repeats=2)
    debates = found.debates
    assert len(found) == 6
    assert debates["status"].tolist() == ["done"] * 6
    assert debates["brief"].tolist() == [0, 0, 1, 1, 2, 2]
    assert debates["repeat"].tolist() == [1, 2] * 3
    assert debates["title"].tolist()[::2] == QUESTIONS
    assert len(set(found.ids)) == 6
    assert found.ids[0].startswith("ship-now-")


@pytest.mark.parametrize("kind", ["pandas", "polars", "list"])
def test_briefs_come_from_tables(kind: str, store: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"question": "Ship now?", "options": ["Yes", "No"], "known": "- six\n- p95", "team": "a"},
        {"question": "Hire two?", "options": ["One", "Two", "None of both"], "known": None,
         "team": None},
    ]  # fmt: skip
    briefs: Any = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "list": list}[kind](rows)
    found = run(briefs, store)
    first, second = (made.spec.brief for made in found)
    assert (first.options, first.known) == (("Yes", "No"), ("six", "p95"))
    assert (len(second.options), second.known) == (3, ())
    assert found.debates["team"].tolist() == ["a", pd.NA]


@pytest.mark.parametrize(
    ("given", "error", "match"),
    [
        ({"briefs": []}, OptionError, "no brief was given"),
        ({"briefs": [7]}, OptionError, "7 is no brief"),
        ({"briefs": [{"qestion": "Q?"}]}, OptionError, "'qestion'; did you mean 'question'"),
        ({"briefs": [{"team": "a"}]}, OptionError, "has no question"),
        ({"briefs": [""]}, BriefError, "question is empty"),
        ({"repeats": 0}, OptionError, "repeats=0"),
        ({"concurrency": 0}, OptionError, "concurrency=0"),
        ({"ronds": 2}, OptionError, "no argument 'ronds'; did you mean 'rounds'"),
        ({"vary": {"pm.lenz": ["x"]}}, OptionError, "'pm.lenz' can't be varied; did you mean"),
        ({"vary": {"rounds": []}}, OptionError, "'rounds' has nothing to choose from"),
        ({"vary": {"order": [("pm",)]}}, OptionError, "doesn't name each seat once"),
        ({"vary": {"order": "random"}}, OptionError, "rotations or all"),
        ({"seats": SEVEN, "vary": {"order": "all"}}, OptionError, "7 seats have 5,040 orders"),
        ({"repeats": 33_334}, OptionError, "3 briefs × 1 variations × 33,334 repeats are more"),
        ({"repeats": 10**5000}, OptionError, "10⁹ or more repeats are more than 100,000 debates"),
        ({"vary": dict.fromkeys(LEVELS, range(60))}, OptionError, "216,000 variations"),
        ({"seats": ["nobody"]}, SeatError, "nobody"),
        ({"seats": ["pm"]}, SeatError, "2 to 26 seats"),
    ],
)
def test_mistakes_are_told_before_any_call(
    given: dict[str, Any], error: type[Exception], match: str, store: Path
) -> None:
    with pytest.raises(error, match=match):
        _ = run(given.pop("briefs", QUESTIONS), store, **given)
    assert not store.exists() or session.rows(store=store) == []


# ---- running -------------------------------------------------------------------------------------


def test_same_call_finds_what_is_finished(store: Path) -> None:
    speaker = Speaker()
    first = run(store=store, speaker=speaker)
    made = speaker.calls
    second = run(store=store, speaker=speaker)
    assert speaker.calls == made > 0
    assert second.ids == first.ids
    assert second.replies.equals(first.replies)
    assert len(session.rows(store=store)) == 3


def test_grown_call_runs_only_what_is_new(store: Path) -> None:
    speaker = Speaker()
    _ = run(store=store, speaker=speaker)
    made = speaker.calls
    _ = run([*QUESTIONS, "Ship never?"], store, speaker=speaker)
    assert speaker.calls == made + made // 3


def test_tables_have_a_debate_column(store: Path) -> None:
    found = run(store=store)
    assert found.replies["debate"].unique().tolist() == found.ids
    assert len(found.replies) == 6
    assert found.verdicts["status"].tolist() == ["done"] * 3
    assert found[1].spec.brief.question == "Ship soon?"
    assert found[found.ids[2]].id == found.ids[2]
    assert [result.id for result in found] == found.ids
    assert repr(found) == "<Sweep of 3 debates: 3 done>"


def test_no_more_run_at_once_than_asked(store: Path) -> None:
    most = 0

    def act(call: rt.Call, number: int) -> object:
        async def work() -> None:
            nonlocal most
            most = max(most, len(all_running()))
            for _ in range(20):
                await asyncio.sleep(0)

        return work()

    _ = run([f"Q{n}?" for n in range(8)], store, speaker=Speaker(act), concurrency=3, rounds=0)
    assert most == 3


def test_failed_debate_fails_alone(store: Path) -> None:
    def act(call: rt.Call, number: int) -> None:
        if "soon" in call.prompt:
            raise RuntimeError("out of paper")

    found = run(store=store, speaker=Speaker(act))
    assert found.debates["status"].tolist() == ["done", "error", "done"]
    error = found.debates["error"].tolist()[1]
    assert "out of paper" in error
    assert found.failures == {found.ids[1]: error}
    assert len(found.replies) == 6


def test_impossible_debate_fails_alone(store: Path) -> None:
    limits = [rt.Limits(max_calls=1), rt.Limits()]
    found = run(["Q?"], store, vary={"rounds": [0, 1], "limits": limits[:1]})
    assert found.debates["status"].tolist() == ["failed", "failed"]
    assert "max_calls=1 is below the least" in found.debates["error"].tolist()[0]
    with pytest.raises(UnknownDebateError, match="q-"):
        found[0]


def test_person_is_never_asked(store: Path) -> None:
    found = run(["Q?"], store, seats=[rt.Seat("me", model="human"), rt.Seat("dev")])
    assert found.debates["error"].tolist() == ["seat 'me' is a person; a sweep asks nobody"]


def test_failed_debate_is_tried_again_by_same_call(store: Path) -> None:
    broken = True

    def act(call: rt.Call, number: int) -> None:
        if broken:
            raise RuntimeError("out of paper")

    speaker = Speaker(act)
    assert run(["Q?"], store, speaker=speaker).debates["status"].tolist() == ["error"]
    broken = False
    assert run(["Q?"], store, speaker=speaker).debates["status"].tolist() == ["done"]
    assert len(session.rows(store=store)) == 1


def test_interrupted_sweep_goes_on_by_same_call(store: Path) -> None:
    reached, stuck = threading.Event(), True

    def act(call: rt.Call, number: int) -> object:
        async def hang() -> None:
            reached.set()
            await asyncio.Event().wait()

        return hang() if stuck and "later" in call.prompt else None

    speaker = Speaker(act)
    found = run(store=store, speaker=speaker, background=True, concurrency=1)
    assert reached.wait(10)
    assert not found.done()
    assert "at work" in repr(found)
    # Partial results are there while the last one runs.
    assert found.debates["status"].tolist() == ["done", "done", "running"]
    found.interrupt()
    assert found.wait() is found
    assert found.debates["status"].tolist() == ["done", "done", "interrupted"]
    stuck = False
    made = speaker.calls
    again = run(store=store, speaker=speaker)
    assert again.debates["status"].tolist() == ["done"] * 3
    assert speaker.calls - made <= 3


@pytest.mark.asyncio
async def test_sweep_can_be_awaited(store: Path) -> None:
    found = await run(store=store, background=True)
    assert found.done()
    assert found.debates["status"].tolist() == ["done"] * 3


@pytest.mark.asyncio
async def test_sweep_blocks_inside_a_running_loop(store: Path) -> None:
    assert run(store=store).done()


def test_one_debate_interrupted_leaves_others(store: Path) -> None:
    def act(call: rt.Call, number: int) -> None:
        if "soon" in call.prompt:
            (debate,) = [one for one in all_running() if "soon" in one.id]
            debate.interrupt()

    found = run(store=store, speaker=Speaker(act))
    assert found.debates["status"].tolist() == ["done", "interrupted", "done"]


def test_finished_debates_are_let_go(store: Path) -> None:
    kept: list[weakref.ref[Any]] = []

    def act(call: rt.Call, number: int) -> None:
        kept.extend(map(weakref.ref, all_running()))

    _ = run([f"Q{n}?" for n in range(6)], store, speaker=Speaker(act), concurrency=1)
    gc.collect()
    assert len(kept) > 6
    assert sum(ref() is not None for ref in kept) == 0


def test_progress_bar_counts_debates(store: Path, capfd: pytest.CaptureFixture[str]) -> None:
    speaker = Speaker()
    seats = [rt.Seat("pm", model=speaker), rt.Seat("dev", model=speaker)]
    _ = sweep(QUESTIONS, options=OPTIONS, seats=seats, store=store, progress=True)
    assert "3/3" in capfd.readouterr().err
    _ = run(store=store)
    assert capfd.readouterr().err == ""


def test_configuration_of_single_debates_is_no_hindrance(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RT_NOTEBOOK_API_BILLING", "1")
    monkeypatch.chdir(tmp_path)
    text = "[defaults]\nrecord_mode = 'new'\n[review]\ngates = 'off'\ntool_preview = 300"
    (tmp_path / "roundtable.toml").write_text(text, encoding="utf-8")
    (result,) = run(QUESTIONS[:1], store=store)
    assert (result.status, result.spec.tool_preview, result.spec.api_billing) == ("done", 300, True)


def test_store_of_the_configuration_is_used(settings_store: Path) -> None:
    found = run(QUESTIONS[:1])
    assert list(rt.debates(store=settings_store)["id"]) == found.ids
    assert found[0].status == "done"


# ---- repeats -------------------------------------------------------------------------------------


def test_stability_is_told_by_variation(store: Path) -> None:
    found = run(["Q?"], store, repeats=3, vary={"pm.lens": ["risk", "cost"]})
    stabilities = found.stabilities
    assert stabilities["variation"].tolist() == ["pm.lens=risk", "pm.lens=cost"]
    assert stabilities["runs"].tolist() == [3, 3]
    assert stabilities["share"].tolist() == [1.0, 1.0]
    assert found.stability().runs == 6


def test_own_columns_never_hide_ours(store: Path) -> None:
    found = run([{"question": "Q?", "status": "urgent", "cost": 7}], store)
    assert found.debates["status"].tolist() == ["done"]
    assert found.debates["own status"].tolist() == ["urgent"]
    assert found.debates["own cost"].tolist() == ["7"]
