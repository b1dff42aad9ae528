"""The result as a value: what became of the debate, its verdict, and how it is shown."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import pandas as pd
import pytest

from rt_notebook.analysis.result import Result
from rt_notebook.domain.brief import Brief
from rt_notebook.domain.events import Event
from rt_notebook.domain.reply import VerdictText
from rt_notebook.domain.snapshot import NextAction, Snapshot, snapshot
from rt_notebook.domain.state import State
from tests.analysis.debates import Log, empty, full, interrupted, spec_of


def result_of(log: Log) -> Result:
    return Result(log.state, log.events)


def decided(pick: str = "opt-2", **sections: str | list[str]) -> Log:
    log = interrupted()
    log.add("verdict_started")
    text = VerdictText(valid=True, pick=pick).to_json() | sections
    log.add("verdict_written", verdict=text)
    return log


def test_result_names_its_debate() -> None:
    log = full()
    result = Result(log.state, log.events, ["two seats are alike"], "ship")
    assert (result.id, result.title, result.variable) == ("ship-abc123", "Ship", "ship")
    assert (result.status, result.stop_reason) == ("done", "rounds")
    assert result.warnings == ["two seats are alike"]
    assert result.spec.brief.question == "Ship now?"
    assert result.fold.completed_rounds == 1


def _pickled(result: Result) -> Result:
    again: Result = pickle.loads(pickle.dumps(result))  # noqa: S301  (our own)
    return again


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, _pickled])
def test_copy_needs_neither_store_nor_process(again: Callable[[Result], Result]) -> None:
    log = full()
    shown = snapshot(log.state, [], NextAction(type="none", instruction="ask elsewhere"))
    result = Result(
        log.state, lambda: iter(log.events), ["alike"], "ship", outside=lambda state: shown
    )
    copied = again(again(result))
    assert (copied.id, copied.warnings, copied.variable) == (result.id, ["alike"], "ship")
    assert copied.events == log.events
    assert copied.state == shown
    assert str(copied) == str(result)
    pd.testing.assert_frame_equal(copied.replies, result.replies)


def test_events_may_be_read_late() -> None:
    log = full()
    reads: list[int] = []

    def read() -> list[Event]:
        reads.append(len(log.events))
        return log.events

    result = Result(log.state, read)
    assert (repr(result) != "", reads) == (True, [])
    assert result.events == log.events
    assert reads == [len(log.events)]
    assert Result(log.state, tuple(log.events)).events == log.events


def test_state_is_what_outsiders_see() -> None:
    state = result_of(full()).state
    assert (state.id, state.status, state.next_action.type) == ("ship-abc123", "done", "none")
    assert state.tally == {"opt-1": ["dev", "pm"], "opt-2": ["law"], "other: Sell it": ["rv"]}


def test_status_follows_outside_view() -> None:
    """A debate whose process died is running in its log and interrupted to everybody else."""
    log = empty()

    def outside(state: State) -> Snapshot:
        resume = NextAction(type="resume", instruction="Resume it.")
        return snapshot(state, [], resume, status="interrupted")

    result = Result(log.state, log.events, outside=outside, status="interrupted")
    assert (result.status, result.stop_reason) == ("interrupted", "interrupted")
    assert result.state.next_action.type == "resume"
    assert repr(result).startswith("<Result ship-abc123: interrupted, interrupted;")
    assert result.fold.status == "running"


def test_verdict_holds_every_section() -> None:
    verdict = result_of(full()).verdict
    assert (verdict.status, verdict.pick, verdict.label) == ("ready", "opt-1", "Ship")
    assert verdict.rationale == "The risk is small.\nAnd it can be taken back."
    assert verdict.dissent == "rv would sell."
    assert verdict.kill_criteria == ["churn above 3 %"]
    assert verdict.open_questions == []
    assert verdict.error is None


def test_verdict_counts_seats_itself() -> None:
    verdict = result_of(full()).verdict
    assert verdict.tally == {"opt-1": ["dev", "pm"], "opt-2": ["law"], "other: Sell it": ["rv"]}
    # The pass keeps its stance, the failed seat's is carried over.
    assert verdict.participation == {
        "counted": ["rv", "dev", "law"], "carried": ["pm"], "missing": [],
    }  # fmt: skip


def test_no_pick_has_no_label() -> None:
    verdict = result_of(decided("none", recommendation="No pick\nIt is too early.")).verdict
    assert (verdict.status, verdict.pick, verdict.label) == ("ready", "none", None)
    assert verdict.rationale == "It is too early."
    assert repr(verdict) == "<Verdict ready: none; 3 of 3 seats have a position>"


def test_running_debate_has_no_verdict_yet() -> None:
    verdict = result_of(empty()).verdict
    assert (verdict.status, verdict.pick, verdict.label) == ("none", None, None)
    assert (verdict.rationale, verdict.dissent) == ("", "")
    assert (verdict.kill_criteria, verdict.open_questions, verdict.tally) == ([], [], {})
    assert verdict.participation["missing"] == ["rv", "dev", "pm"]


def test_failed_chairman_leaves_tally_alone() -> None:
    log = interrupted()
    log.add("verdict_started")
    log.add("verdict_failed", error="timeout", message="no answer within 300 s")
    log.add("concluded", status="done", stop_reason="rounds")
    verdict = result_of(log).verdict
    assert (verdict.status, verdict.pick, verdict.rationale) == ("failed", None, "")
    assert verdict.error == "no answer within 300 s"
    assert verdict.tally == {"opt-1": ["dev"], "opt-2": ["rv", "pm"]}
    assert repr(verdict) == "<Verdict failed; 3 of 3 seats have a position>"


def test_stopped_debate_skips_verdict() -> None:
    log = interrupted()
    log.add("resumed", source="person", limits=None)
    log.add("stop_asked", source="person")
    log.add("concluded", status="stopped", stop_reason="stopped")
    result = result_of(log)
    assert (result.verdict.status, result.verdict.pick) == ("skipped", None)
    assert (result.status, result.stop_reason) == ("stopped", "stopped")


def test_new_verdict_replaces_failed_one() -> None:
    log = decided("opt-1")
    log.add("verdict_started")
    # While the chairman is asked again, the old pick is no longer the verdict.
    assert (result_of(log).verdict.status, result_of(log).verdict.pick) == ("none", None)


def test_reprs_are_one_line() -> None:
    result = result_of(full())
    assert repr(result) == "<Result ship-abc123: done, rounds; verdict ready; 'Ship'>"
    assert repr(result.verdict) == "<Verdict ready: Ship (opt-1); 4 of 4 seats have a position>"


def test_reprs_obey_no_terminal_code() -> None:
    brief = Brief(question="Red \x1b[31m\x07 or\nnot?", options=("Ship\x1b[2J\x9b31m", "Wait"))
    log = Log(spec_of(brief=brief, title=None))
    log.add("verdict_started")
    log.add("verdict_written", verdict=VerdictText(valid=True, pick="opt-1").to_json())
    result = result_of(log)
    for shown in (repr(result), repr(result.verdict)):
        assert shown.isprintable()


def test_frames_of_finished_debate_are_frames() -> None:
    result = result_of(full())
    for frame in (result.replies, result.calls, result.questions, result.usage, result.flips):
        assert isinstance(frame, pd.DataFrame)
        assert frame.index.tolist() == list(range(len(frame)))


def test_shown_result_has_three_forms() -> None:
    log = full()
    result = Result(log.state, log.events, ["<b>two</b> seats are alike"], "ship")
    bundle = result._repr_mimebundle_()
    assert list(bundle) == ["text/html", "text/markdown", "text/plain"]
    assert all("Ship now?" in text for text in bundle.values())
    assert "<b>two</b>" not in bundle["text/html"]
    assert "<script" not in bundle["text/html"]
    assert str(result) == bundle["text/plain"]


def test_shown_result_gives_only_what_is_asked() -> None:
    result = result_of(full())
    assert list(result._repr_mimebundle_(include={"text/plain"})) == ["text/plain"]
    assert list(result._repr_mimebundle_(exclude={"text/html"})) == ["text/markdown", "text/plain"]
