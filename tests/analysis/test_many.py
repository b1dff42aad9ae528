"""Many debates' tables: those of one with a debate column, whatever the debates are like."""

from __future__ import annotations

from typing import Any, cast

import pandas as pd
import pytest

from rt_notebook.analysis.many import Frames, frames
from rt_notebook.analysis.result import Result
from rt_notebook.domain.brief import Brief
from rt_notebook.domain.reply import VerdictText
from rt_notebook.domain.seat import Seat
from rt_notebook.errors import OptionError
from tests.analysis.debates import Log, empty, full, interrupted, spec_of
from tests.analysis.test_frames import DTYPES, dtypes_of


def result_of(log: Log) -> Result:
    return Result(log.state, log.events)


def picked(pick: str | None, options: tuple[str, ...] = ("Ship", "Wait")) -> Result:
    log = Log(spec_of(brief=Brief(question="Q?", options=options)), f"debate-{pick}")
    log.start_round(0)
    log.say("rv", "opt-1")
    log.add("verdict_started")
    if pick is None:
        log.add("verdict_failed", error="timeout", message="late")
    else:
        log.add("verdict_written", verdict=VerdictText(valid=True, pick=pick).to_json())
    return result_of(log)


@pytest.mark.parametrize("name", Frames.names())
def test_tables_never_vary(name: str) -> None:
    some = getattr(frames([result_of(full()), result_of(empty())]), name)
    none = getattr(frames([]), name)
    assert isinstance(some, pd.DataFrame)
    # Rounds are columns of `stances`, so an empty one has fewer.
    assert dtypes_of(none).items() <= dtypes_of(some).items()
    if name in DTYPES and name not in ("tally", "measures"):
        own = {key: value for key, value in DTYPES[name].items() if key != "debate"}
        assert dtypes_of(some) == {"debate": "string", **own}


@pytest.mark.parametrize("name", ["replies", "tally", "flips", "points", "calls", "usage"])
def test_rows_are_those_of_each(name: str) -> None:
    one, two = result_of(full()), result_of(interrupted())
    both = getattr(frames([one, two]), name)
    parts = [result.to_pandas(name) for result in (one, two)]
    assert len(both) == sum(map(len, parts))
    assert both["debate"].tolist() == ["ship-abc123"] * len(both)
    assert both.columns[0] == "debate"
    stacked = pd.concat(parts, ignore_index=True)
    assert both[stacked.columns].equals(stacked)


def test_stances_of_different_briefs_share_categories() -> None:
    one = result_of(interrupted())
    log = Log(spec_of(Seat("x"), Seat("y"), brief=Brief(question="Q?", options=("Yes", "Ship"))))
    log.start_round(0)
    log.say("x", "opt-1")
    log.say("y", "other: maybe")
    stances = frames([one, result_of(log)]).stances
    assert list(stances) == ["debate", "seat", 0, 1]
    assert stances["seat"].tolist() == ["rv", "dev", "pm", "x", "y"]
    assert stances[0].tolist() == ["Ship", "Ship", "Wait", "Yes", "other"]
    assert stances[1].tolist()[:3] == ["Wait", "Ship", "Wait"]
    assert stances[1].isna().tolist()[3:] == [True, True]
    assert stances[0].cat.categories.tolist() == ["Ship", "Wait", "Yes", "other"]


def test_verdicts_have_one_row_a_debate() -> None:
    found = frames([result_of(full()), result_of(empty())]).verdicts
    row: Any = found.to_dict("records")[0]
    assert (row["status"], row["stop_reason"], row["verdict"]) == ("done", "rounds", "ready")
    assert (row["pick"], row["label"], row["completed_rounds"]) == ("opt-1", "Ship", 1)
    assert (row["calls"], row["prompt_tokens"], row["cost"]) == (15, 130, 1.125)
    assert found["verdict"].tolist() == ["ready", "none"]
    assert found["prompt_tokens"].isna().tolist() == [False, True]


def test_stability_compares_labels() -> None:
    """The same option under another number is the same pick."""
    results = [picked("opt-1"), picked("opt-2", ("Wait", "Ship")), picked("none"), picked(None)]
    found = frames(results).stability()
    assert (found.pick, found.runs, found.missing) == ("Ship", 3, 1)
    assert found.picks == {"Ship": 2, "none": 1}


def test_frames_are_made_from_one_look() -> None:
    looks = []

    def read() -> Any:
        looks.append(1)
        return iter([full().state])

    made = Frames(read)
    assert len(made.replies) == 10
    assert len(looks) == 1
    assert len(made) == 1


def test_single_result_is_a_list_of_one() -> None:
    result = result_of(full())
    assert frames(result).replies.equals(result.replies)


def test_other_things_are_refused() -> None:
    with pytest.raises(OptionError, match=r"'ship-abc123' is no result; rt\.load"):
        frames(cast(Any, ["ship-abc123"]))
