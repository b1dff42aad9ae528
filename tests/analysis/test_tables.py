"""What the frames hold, on hand-made debates; runs on pandas 2.2 and 3 alike."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from rt_notebook.analysis.result import Result
from rt_notebook.domain.brief import Brief
from rt_notebook.domain.seat import Seat
from tests.analysis.debates import AFRAID, NASTY, NO_BUDGET, Log, empty, full, interrupted, spec_of

SEATS = ["rv", "dev", "pm", "law", "ghost"]


def result_of(log: Log) -> Result:
    return Result(log.state, log.events)


@pytest.fixture(scope="module")
def debate() -> Result:
    return result_of(full())


def values(column: Any) -> list[Any]:
    """Returns a column's values with None for whatever is missing."""
    return [None if value is pd.NA else value for value in column.astype(object)]


def test_replies_have_row_per_turn(debate: Result) -> None:
    replies = debate.replies
    assert values(replies["round"]) == [0] * 5 + [1] * 5
    assert values(replies["seat"]) == SEATS * 2
    assert set(replies["debate"]) == {"ship-abc123"}


def test_replies_carry_seat_settings(debate: Result) -> None:
    opening = debate.replies.iloc[:5]
    assert values(opening["model"]) == ["scripted", "function:from_data"] + ["scripted"] * 3
    assert values(opening["lens"]) == ["risk", None, None, None, None]
    assert values(opening["mood"]) == [None, None, "grill", None, "rant"]


def test_stance_shows_label_beside_key(debate: Result) -> None:
    replies = debate.replies
    assert values(replies["stance_key"]) == [
        "opt-2", "opt-1", "opt-1", None, "opt-2", "other: Sell it", "PASS", None, "opt-2", "opt-1",
    ]  # fmt: skip
    # What names no option is shown as the seat wrote it.
    assert values(replies["stance"]) == [
        "Wait", "Ship", "Ship", "opt-9", "Wait", "Sell it", None, None, "Wait", "Ship",
    ]  # fmt: skip


def test_bullets_that_say_none_are_dropped(debate: Result) -> None:
    dev = debate.replies.iloc[1]
    assert (dev["disagree"], dev["new"], dev["assumptions"]) == (["too slow"], [], ["six people"])


def test_every_list_column_holds_lists(debate: Result) -> None:
    lists = debate.replies[["agree_with", "disagree", "new", "assumptions"]]
    assert all(type(cell) is list for column in lists for cell in lists[column])
    assert debate.replies["agree_with"].tolist() == [
        [], [], [], [], [], ["dev", "law"], [], [], ["rv"], [],
    ]  # fmt: skip


def test_changed_marks_counted_moves_only(debate: Result) -> None:
    """A first stance, a pass and a hidden seat's move aren't changes."""
    assert values(debate.replies["changed"]) == [False] * 5 + [True] + [False] * 4


def test_failed_turn_keeps_its_row(debate: Result) -> None:
    failed = debate.replies.iloc[7]
    assert (failed["seat"], failed["round"], failed["error"]) == ("pm", 1, "timeout")
    assert failed["text"] is pd.NA
    assert not failed["valid"]
    assert not failed["passed"]
    assert values(debate.replies["error"]).count(None) == 9


def test_flags_tell_repair_from_pass(debate: Result) -> None:
    replies = debate.replies
    assert values(replies["repaired"]) == [False, False, True, True] + [False] * 6
    assert values(replies["passed"]) == [False] * 6 + [True] + [False] * 3
    assert values(replies["valid"]) == [
        True,
        True,
        True,
        False,
        True,
        True,
        True,
        False,
        True,
        True,
    ]


def test_turn_sums_known_usage_only(debate: Result) -> None:
    replies = debate.replies
    assert values(replies["prompt_tokens"])[:4] == [100, None, 30, None]
    assert values(replies["completion_tokens"])[:4] == [40, None, 12, None]
    assert values(replies["cached_tokens"])[:4] == [64, None, None, None]
    assert values(replies["cost"])[:4] == [0.25, None, 0.75, None]
    assert values(replies["latency_s"]) == [1.5, 1.5, 3.0, 3.0, 1.5, 1.5, 1.5, 0.25, 1.5, 1.5]


def test_stances_hold_positions_by_round(debate: Result) -> None:
    stances = debate.stances
    assert stances.index.tolist() == ["rv", "dev", "pm", "law"]
    assert stances.index.name == "seat"
    assert list(stances) == [0, 1]
    assert stances.columns.name == "round"
    assert stances[0].dropna().to_dict() == {"rv": "Wait", "dev": "Ship", "pm": "Ship"}
    assert stances[1].tolist() == ["other", "Ship", "Ship", "Wait"]
    assert stances[1].cat.categories.tolist() == ["Ship", "Wait", "other"]


def test_tally_counts_first_and_final(debate: Result) -> None:
    tally = debate.tally
    assert tally.index.tolist() == ["Ship", "Wait", "Sell it"]
    assert tally.index.name == "option"
    assert tally["first"].tolist() == [2, 1, 0]
    assert tally["final"].tolist() == [2, 1, 1]
    assert tally["change"].tolist() == [0, 0, 1]
    assert tally["first_seats"].tolist() == [["dev", "pm"], ["rv"], []]
    assert tally["final_seats"].tolist() == [["dev", "pm"], ["law"], ["rv"]]


def test_tally_joins_spellings_of_stance() -> None:
    log = empty()
    log.start_round(0)
    log.say("rv", "other: Sell It")
    log.say("dev", "other:  sell it")
    log.say("pm", "other: ship")
    tally = result_of(log).tally
    # The option Ship and the stance `other: ship` stay apart.
    assert tally.index.tolist() == ["Ship", "Wait", "Sell It", "other: ship"]
    assert tally["final_seats"].tolist() == [[], [], ["rv", "dev"], ["pm"]]


def test_flips_name_whom_seat_followed(debate: Result) -> None:
    assert debate.flips.to_dict("list") == {
        "seat": ["rv"],
        "round": [1],
        "from_key": ["opt-2"],
        "to_key": ["other: Sell it"],
        "agreed_with": [["dev", "law"]],
    }


def test_flips_stand_in_seat_order() -> None:
    log = empty()
    for number, keys in enumerate(["opt-1 opt-1 opt-2", "opt-2 opt-2 opt-1", "opt-1 opt-2 opt-1"]):
        log.start_round(number)
        # The last seat always answers first.
        for seat, key in reversed(list(zip(("rv", "dev", "pm"), keys.split(), strict=True))):
            log.say(seat, key)
    flips = result_of(log).flips
    assert flips["seat"].tolist() == ["rv", "dev", "pm", "rv"]
    assert flips["round"].tolist() == [1, 1, 1, 2]


def test_questions_show_answers_and_askers(debate: Result) -> None:
    questions = debate.questions
    assert values(questions["round"]) == [0, 0, 1]
    assert values(questions["id"]) == ["q1", "q2", "q1"]
    assert values(questions["text"]) == [NO_BUDGET, AFRAID, AFRAID]
    assert questions["seats"].tolist() == [["rv", "dev"], ["ghost"], ["rv"]]
    assert values(questions["answer"]) == [NASTY, None, None]
    assert values(questions["answered_by"]) == ["agent", None, None]


def test_questions_without_gate_are_listed() -> None:
    log = Log(spec_of(gates="off"))
    log.start_round(0)
    log.say("dev", "opt-1", question=NO_BUDGET)
    log.say("rv", "opt-1", question=AFRAID)
    log.say("pm", "opt-1", question="what is  the budget?")
    questions = result_of(log).questions
    assert questions["id"].tolist() == ["q1", "q2"]
    assert questions["text"].tolist() == [AFRAID, NO_BUDGET]
    assert questions["seats"].tolist() == [["rv"], ["dev", "pm"]]
    assert questions["answer"].isna().all()


def test_question_answered_later_counts_everywhere() -> None:
    log = empty()
    for number in (0, 1):
        log.start_round(number)
        log.say("rv", "opt-1", question=NO_BUDGET)
        asked = [{"id": "q1", "text": NO_BUDGET, "askers": ["rv"]}]
        log.add("gate_opened", round=number, mode="questions", questions=asked, closes_at=log.now)
        if number == 1:
            log.add("gate_answered", round=1, answers={"q1": "10 k"}, source="person")
        log.add("gate_closed", round=number, why="timeout")
    result = result_of(log)
    assert result.questions["answer"].tolist() == ["10 k", "10 k"]
    assert result.fold.open_questions() == []


def test_calls_have_row_per_try(debate: Result) -> None:
    calls = debate.calls
    assert calls["call"].tolist() == [
        "0/rv/opening/1", "0/rv/opening/2", "0/dev/opening/1", "0/pm/opening/1", "0/pm/repair/1",
        "0/law/opening/1", "0/law/repair/1", "0/ghost/opening/1", "1/rv/critique/1",
        "1/dev/critique/1", "1/pm/critique/1", "1/law/critique/1", "1/ghost/critique/1",
        "1/chairman/verdict/1", "1/chairman/verdict/2",
    ]  # fmt: skip
    failed = calls[calls["outcome"] == "failed"]
    assert failed["error"].tolist() == ["rate_limit", "timeout", "overloaded"]
    assert failed["latency_s"].tolist() == [0.25, 0.25, 0.25]


def test_verdict_calls_stand_last_under_shared_name() -> None:
    log = Log(spec_of(Seat("chairman"), Seat("dev", lens="cost")))
    log.start_round(0)
    log.say("dev", "opt-1")
    log.say("chairman", "opt-1")
    log.finish(log.start("chairman", "verdict"))
    calls = result_of(log).calls
    assert calls["purpose"].tolist() == ["opening", "opening", "verdict"]
    assert calls["seat"].tolist() == ["chairman", "dev", "chairman"]


def test_model_is_what_was_asked() -> None:
    """A resume may give a seat another model than the one it was defined with."""
    log = empty()
    log.start_round(0)
    log.models["rv"] = "function:mine"
    log.say("rv", "opt-1")
    result = result_of(log)
    assert result.replies["model"].tolist() == ["function:mine"]
    assert result.calls["model"].tolist() == ["function:mine"]


def test_provider_timings_win_over_clock(debate: Result) -> None:
    retry = debate.calls.iloc[1]
    assert (retry["latency_s"], retry["first_output_s"], retry["attempt"]) == (1.25, 0.5, 2)
    assert (retry["model"], retry["model_reported"]) == ("scripted", "scripted-2")
    assert (retry["prompt_tokens"], retry["cost"], retry["outcome"]) == (100, 0.25, "finished")


def test_calls_and_replies_sum_alike(debate: Result) -> None:
    seats = debate.calls[debate.calls["purpose"] != "verdict"]
    for column in ("prompt_tokens", "completion_tokens", "cached_tokens", "cost", "latency_s"):
        assert debate.replies[column].sum() == seats[column].sum()


def test_subprocess_columns_are_missing_where_there_was_none(debate: Result) -> None:
    columns = debate.calls[["idle_s", "stdout_bytes", "stderr_bytes", "exit_code"]]
    assert columns.isna().all().all()


def test_usage_adds_up_by_scope(debate: Result) -> None:
    usage = debate.usage
    assert list(zip(usage["scope"], usage["name"], usage["calls"], strict=True)) == [
        ("seat", "rv", 3), ("seat", "dev", 2), ("seat", "pm", 3), ("seat", "law", 3),
        ("seat", "ghost", 2), ("seat", "chairman", 2), ("vendor", "function", 2),
        ("vendor", "scripted", 13), ("all", "all", 15),
    ]  # fmt: skip
    assert values(usage["cost"]) == [0.25, None, 0.75, None, None, 0.125, None, 1.125, 1.125]
    assert values(usage["prompt_tokens"]) == [100, None, 30, None, None, None, None, 130, 130]


def test_interrupted_debate_shows_what_is_there() -> None:
    result = result_of(interrupted())
    assert result.replies["seat"].tolist() == ["rv", "dev", "pm", "rv", "dev"]
    assert result.replies["changed"].tolist() == [False, False, False, True, False]
    assert result.stances[1].tolist() == ["Wait", "Ship", "Wait"]
    assert result.tally["change"].tolist() == [-1, 1]
    in_flight = result.calls.iloc[-2:]
    assert in_flight["error"].tolist() == ["cancelled", "cancelled"]
    # The hour until somebody noticed isn't the call's.
    assert in_flight["latency_s"].isna().all()


def test_running_call_has_no_outcome_yet() -> None:
    log = empty()
    log.start_round(0)
    log.start("rv", "opening")
    result = result_of(log)
    assert result.calls["outcome"].tolist() == ["running"]
    assert result.calls["latency_s"].isna().all()
    assert len(result.replies) == 0


def test_seat_without_position_is_missing() -> None:
    log = Log(
        spec_of(Seat("rv"), Seat("dev", lens="cost"), brief=Brief(question="?", options=("A", "B")))
    )
    log.start_round(0)
    log.fail(log.start("rv", "opening"), "auth")
    log.say("dev", "opt-2")
    stances = result_of(log).stances
    assert stances[0].isna().tolist() == [True, False]
    assert stances[0].cat.categories.tolist() == ["A", "B", "other"]
