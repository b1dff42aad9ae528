"""The frames' dtypes and how they behave in pandas' own hands; runs on pandas 2.2 and 3 alike."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from rt_notebook.analysis import frames
from rt_notebook.analysis.result import Result
from rt_notebook.store.log import DebateRow
from tests.analysis.debates import NASTY, Log, empty, full, interrupted
from tests.environment import ROOT

TABLES = [
    "replies", "stances", "tally", "agreement", "endorsements", "flips", "points", "questions",
    "calls", "tool_calls", "usage", "measures", "persuasion",
]  # fmt: skip
TOKENS = {
    "prompt_tokens": "Int64",
    "completion_tokens": "Int64",
    "cached_tokens": "Int64",
    "cost": "Float64",
}
# In the documented order; "string" stands for the nullable strings that Python itself stores.
DTYPES = {
    "replies": {
        "debate": "string", "round": "Int64", "seat": "string", "model": "string",
        "lens": "string", "mood": "string", "stance_key": "string", "stance": "string",
        "agree_with": "object", "disagree": "object", "new": "object", "assumptions": "object",
        "question": "string", "passed": "boolean", "valid": "boolean", "repaired": "boolean",
        "changed": "boolean", "error": "string", "text": "string", **TOKENS,
        "latency_s": "Float64",
    },
    "tally": {
        "first": "Int64", "final": "Int64", "change": "Int64", "first_seats": "object",
        "final_seats": "object",
    },
    "flips": {
        "seat": "string", "round": "Int64", "from_key": "string", "to_key": "string",
        "agreed_with": "object",
    },
    "questions": {
        "round": "Int64", "id": "string", "text": "string", "seats": "object",
        "answer": "string", "answered_by": "string",
    },
    "calls": {
        "debate": "string", "call": "string", "round": "Int64", "seat": "string",
        "purpose": "string", "attempt": "Int64", "model": "string", "model_reported": "string",
        "error": "string", **TOKENS, "latency_s": "Float64", "first_output_s": "Float64",
        "idle_s": "Float64", "stdout_bytes": "Int64", "stderr_bytes": "Int64",
        "exit_code": "Int64", "outcome": "string",
    },
    "usage": {"scope": "string", "name": "string", "calls": "Int64", **TOKENS},
    "endorsements": {"seat": "string", "named": "string", "round": "Int64"},
    "points": {
        "round": "Int64", "seat": "string", "kind": "string", "text": "string", "group": "Int64",
    },
    "tool_calls": {
        "round": "Int64", "seat": "string", "name": "string", "preview": "string",
    },
    "measures": {
        "seats": "Int64", "standing": "Int64", "agreement": "Float64", "fleiss_kappa": "Float64",
        "krippendorff_alpha": "Float64", "entropy": "Float64", "volatility": "Float64",
        "conformity": "Float64", "consensus": "boolean",
    },
}  # fmt: skip
CREATED = 1_767_225_600_123
ROW = DebateRow(
    "ship-abc123", "review", "Ship", "done", "rounds", "opt-1", ("rv", "dev"), CREATED,
    CREATED + 5_000, 9, "0" * 32,
)  # fmt: skip


def table_of(log: Log, name: str) -> pd.DataFrame:
    table = getattr(Result(log.state, log.events), name)
    assert isinstance(table, pd.DataFrame)
    return table


def dtypes_of(frame: pd.DataFrame) -> dict[str, str]:
    """Returns the dtypes by column, under the name that both pandas have for them."""
    found = {}
    for column, dtype in frame.dtypes.items():
        if isinstance(dtype, pd.StringDtype):
            assert dtype.storage == "python"
            assert dtype.na_value is pd.NA
            found[str(column)] = "string"
        else:
            found[str(column)] = str(dtype)
    return found


@pytest.mark.parametrize("make", [full, empty, interrupted])
@pytest.mark.parametrize("name", DTYPES)
def test_columns_and_dtypes_never_vary(name: str, make: Callable[[], Log]) -> None:
    found = dtypes_of(table_of(make(), name))
    assert list(found.items()) == list(DTYPES[name].items())


def test_text_dtype_names_its_storage() -> None:
    """Left open, the storage would depend on what else is installed."""
    assert isinstance(frames.TEXT, pd.StringDtype)
    assert (frames.TEXT.storage, frames.TEXT.na_value) == ("python", pd.NA)


@pytest.mark.parametrize("make", [full, empty, interrupted])
def test_indexes_of_names_never_vary(make: Callable[[], Log]) -> None:
    for name in ("stances", "tally", "agreement", "persuasion"):
        dtype = table_of(make(), name).index.dtype
        assert isinstance(dtype, pd.StringDtype)
        assert (dtype.storage, dtype.na_value) == ("python", pd.NA)
    assert table_of(make(), "stances").columns.dtype == "int64"


def test_stances_share_one_categorical_dtype() -> None:
    stances = table_of(full(), "stances")
    expected = pd.CategoricalDtype(pd.Index(["Ship", "Wait", "other"], dtype=frames.TEXT))
    assert stances.dtypes.tolist() == [expected, expected]
    assert isinstance(stances[0].cat.categories.dtype, pd.StringDtype)
    assert stances.apply(lambda column: column.eq("Ship").sum()).tolist() == [2, 2]


@pytest.mark.parametrize("name", TABLES)
def test_empty_debate_gives_every_frame(name: str) -> None:
    rows = {"stances": 3, "tally": 2, "usage": 4, "agreement": 3, "persuasion": 3}
    assert len(table_of(empty(), name)) == rows.get(name, 0)


@pytest.mark.parametrize("name", DTYPES)
def test_concat_keeps_dtypes(name: str) -> None:
    both = pd.concat([table_of(empty(), name), table_of(full(), name), table_of(empty(), name)])
    assert dtypes_of(both) == DTYPES[name]


def test_frames_of_many_debates_join() -> None:
    states = [full().state, empty().state, Log(full().state.spec, "second").state, full().state]
    replies = frames.replies(states)
    assert len(replies) == 20
    assert dtypes_of(replies) == DTYPES["replies"]
    assert replies.index.tolist() == list(range(20))
    assert len(frames.calls(states)) == 30
    assert dtypes_of(frames.replies([])) == DTYPES["replies"]


def test_missing_is_na_in_every_column() -> None:
    for name in DTYPES:
        frame = table_of(full(), name)
        for column in frame:
            assert all(cell is pd.NA or not _is_missing(cell) for cell in frame[column]), column


def _is_missing(cell: object) -> bool:
    return cell is None or cell != cell  # only NaN differs from itself


def test_flags_select_rows() -> None:
    replies = table_of(full(), "replies")
    assert len(replies[replies["valid"] & ~replies["passed"]]) == 7
    assert replies.groupby("seat", sort=False)["valid"].sum().tolist() == [2, 2, 1, 1, 2]


def test_changing_frame_leaves_result_alone() -> None:
    log = full()
    result = Result(log.state, log.events)
    replies = result.replies
    replies.loc[0, "seat"] = "somebody"
    assert result.replies["seat"].tolist()[0] == "rv"
    for name, column in (
        ("replies", "agree_with"), ("flips", "agreed_with"), ("questions", "seats"),
        ("tally", "first_seats"), ("tally", "final_seats"),
    ):  # fmt: skip
        before = str(getattr(result, name)[column].tolist())
        for cell in getattr(result, name)[column]:
            cell.append("somebody")
        assert str(getattr(result, name)[column].tolist()) == before


@pytest.mark.parametrize(
    "text", [NASTY, "a\rb\r\nc", '\'"\\"', "NA", "\N{LINE SEPARATOR},\x1b[31m", "﷽" * 200]
)
def test_nasty_text_survives_csv(text: str, tmp_path: Path) -> None:
    log = empty()
    log.start_round(0)
    log.say("rv", "opt-1", raw=text)
    path = tmp_path / "replies.csv"
    table_of(log, "replies").to_csv(path, index=False)
    back = pd.read_csv(path, dtype={"text": frames.TEXT}, keep_default_na=False, encoding="utf-8")
    assert back["text"].tolist() == [text]


def test_lone_surrogates_never_reach_file(tmp_path: Path) -> None:
    log = empty()
    log.start_round(0)
    log.say("rv", "opt-1", raw="half \ud83d of it")
    replies = table_of(log, "replies")
    assert replies["text"].tolist() == ["half ? of it"]
    replies.to_csv(tmp_path / "replies.csv")


def test_frames_go_to_json_and_back() -> None:
    replies = table_of(full(), "replies")
    back = pd.read_json(StringIO(replies.to_json(orient="records")), orient="records")
    assert back["text"].tolist()[0] == NASTY
    assert back["agree_with"].tolist() == replies["agree_with"].tolist()


def test_debates_list_has_utc_times() -> None:
    frame = frames.debates_frame([ROW])
    assert dtypes_of(frame) == dtypes_of(frames.debates_frame([])) == {
        "id": "string", "title": "string", "kind": "string", "status": "string",
        "stop_reason": "string", "created": "datetime64[ms, UTC]",
        "updated": "datetime64[ms, UTC]", "pick": "string", "seats": "object",
    }  # fmt: skip
    row: Any = frame.to_dict("records")[0]
    assert row["created"] == pd.Timestamp("2026-01-01T00:00:00.123Z")
    assert row["updated"] - row["created"] == pd.Timedelta(seconds=5)
    assert (row["seats"], row["pick"]) == (["rv", "dev"], "opt-1")


def test_seats_list_names_their_source() -> None:
    row = {"name": "pm", "seat": "PM", "model": "scripted:pm", "lens": "cost", "source": "project"}
    frame = frames.seats_frame([row])
    assert dtypes_of(frame) == dtypes_of(frames.seats_frame([]))
    assert list(frame) == [
        "name", "model", "lens", "mood", "effort", "persona", "auth", "source", "problem",
    ]  # fmt: skip
    assert frame.fillna("-").to_numpy().tolist()[0] == [
        "pm", "scripted:pm", "cost", "-", "-", "-", "-", "project", "-",
    ]  # fmt: skip


def test_result_module_loads_no_pandas() -> None:
    code = "import sys, rt_notebook.analysis.result; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert {"pandas", "numpy", "nh3", "sqlite3"}.isdisjoint(done.stdout.split())
