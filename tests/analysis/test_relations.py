"""Who stood with whom, who named whom, which tools were used, and the measures of a debate."""

from __future__ import annotations

import pandas as pd
import pytest

from rt_notebook.analysis.debate_measures import consensus_round, measure_rows, reliability_rows
from rt_notebook.analysis.relations import endorsement_rows, tool_rows
from rt_notebook.analysis.result import Result
from rt_notebook.domain.brief import Brief
from rt_notebook.domain.seat import Seat
from tests.analysis.debates import Log, empty, full, spec_of


def result_of(log: Log) -> Result:
    return Result(log.state, log.events)


def voted(*rounds: str, seats: str = "abc", **settings: object) -> Log:
    """A debate in which each letter is a seat's option, `-` a failure, `.` a pass."""
    log = Log(spec_of(*(Seat(name) for name in seats), **settings))
    for number, votes in enumerate(rounds):
        log.start_round(number)
        for name, vote in zip(seats, votes, strict=True):
            if vote == "-":
                log.fail(log.start(name, "critique" if number else "opening"), "timeout")
            elif vote == ".":
                call = log.start(name, "critique")
                log.finish(call, "PASS")
                log.read(call, valid=True, passed=True, stance_key="PASS")
            else:
                log.say(name, f"opt-{vote}")
    return log


def test_agreement_is_share_of_shared_rounds() -> None:
    agreement = result_of(full()).agreement
    assert list(agreement.index) == list(agreement.columns) == ["rv", "dev", "pm", "law"]
    assert agreement.loc["dev", "pm"] == 1.0
    assert agreement.loc["rv", "dev"] == 0.0
    # law takes its first stance in round 1: the one round that it shares with anybody.
    assert agreement.loc["law", "law"] == 1.0
    assert agreement.loc["law", "rv"] == 0.0
    assert agreement.equals(agreement.T)


def test_agreement_without_positions_is_na() -> None:
    agreement = result_of(empty()).agreement
    assert agreement.shape == (3, 3)
    assert agreement.isna().to_numpy().all()
    assert (agreement.index.name, agreement.columns.name) == ("seat", "other")


def test_own_stances_agree_by_label() -> None:
    log = Log(spec_of(Seat("a"), Seat("b"), Seat("c")))
    log.start_round(0)
    for name, key in (("a", "other: Sell it"), ("b", "other:  SELL it"), ("c", "other: Rent it")):
        log.say(name, key)
    agreement = result_of(log).agreement
    assert agreement["a"].tolist() == [1.0, 1.0, 0.0]


def test_endorsements_name_seats_only() -> None:
    log = Log(spec_of(Seat("a"), Seat("B"), Seat("ghost", mood="rant")))
    log.start_round(0)
    log.say("a", "opt-1", agree_with=["b", "Seat C", "GHOST"])
    log.say("ghost", "opt-1", agree_with=["a"])
    assert list(endorsement_rows(log.state)) == [
        ("a", "B", 0),
        ("a", "ghost", 0),
        ("ghost", "a", 0),
    ]


def test_tool_calls_stand_in_order_of_calls() -> None:
    log = Log(spec_of(Seat("a"), Seat("b")))
    log.start_round(0)
    for name in ("b", "a"):
        call = log.start(name, "opening")
        used = [{"name": f"search {name}", "preview": "42 hits"}, {"name": "read"}]
        log.finish(call, tool_calls=used)
    assert list(tool_rows(log.state)) == [
        (0, "a", "search a", "42 hits"), (0, "a", "read", None),
        (0, "b", "search b", "42 hits"), (0, "b", "read", None),
    ]  # fmt: skip
    assert result_of(log).tool_calls["preview"].tolist() == ["42 hits", pd.NA, "42 hits", pd.NA]


def test_measures_follow_the_rounds() -> None:
    found = result_of(voted("112", "111")).measures
    assert found.index.tolist() == [0, 1]
    assert found["agreement"].tolist() == pytest.approx([1 / 3, 1.0])
    # With two options and three seats: (agreement - 1/2) / (1 - 1/2).
    assert found["fleiss_kappa"].tolist() == pytest.approx([-1 / 3, 1.0])
    assert found["entropy"].tolist() == pytest.approx([0.9183, 0.0], abs=0.00005)
    assert found["volatility"].tolist() == [pd.NA, pytest.approx(1 / 3)]
    assert found["conformity"].tolist() == [pd.NA, 1.0]
    assert found["consensus"].tolist() == [False, True]


@pytest.mark.parametrize("options", [("A", "B"), ("A", "B", "C"), ("A", "B", "C", "D", "E")])
def test_kappa_of_one_question_is_free_marginal(options: tuple[str, ...]) -> None:
    brief = Brief(question="Q?", options=options)
    log = voted("12121", seats="abcde", brief=brief)
    row = next(iter(measure_rows(log.state)))
    share = 1 / len(options)
    assert row[4] == pytest.approx((row[3] - share) / (1 - share))


def test_missing_seat_is_left_out() -> None:
    log = voted("11-", "112")
    first, second = measure_rows(log.state)
    assert first[1:7] == (3, 2, 1.0, 1.0, 1.0, 0.0)
    assert second[2] == 3
    # The seat without an earlier position can't have moved.
    assert second[7] == 0.0


def test_failed_or_passing_seat_keeps_position() -> None:
    _, second = measure_rows(voted("112", "-.2").state)
    assert second[2:4] == (3, pytest.approx(1 / 3))


def test_one_counted_seat_has_no_agreement() -> None:
    log = Log(spec_of(Seat("a"), Seat("ghost", mood="rant")))
    log.start_round(0)
    log.say("a", "opt-1")
    log.say("ghost", "opt-2")
    row = next(iter(measure_rows(log.state)))
    assert row == (0, 1, 1, None, None, None, 0.0, None, None, False)


def test_round_of_failures_has_no_measure() -> None:
    row = next(iter(measure_rows(voted("---").state)))
    assert row == (0, 3, 0, None, None, None, None, None, None, False)


def test_persuasion_tells_towards_whom() -> None:
    persuasion = result_of(voted("122", "222")).persuasion
    assert list(persuasion.loc["a"]) == [0.0, 0.5, 0.5]
    assert persuasion.drop("a").to_numpy().sum() == 0
    assert persuasion.columns.name == "towards"


def test_consensus_round_must_last() -> None:
    assert consensus_round(voted("112", "111", "111").state) == 1
    assert result_of(voted("111", "112", "222")).consensus_round == 2
    assert consensus_round(voted("111", "112").state) is None
    assert consensus_round(empty().state) is None


def test_reliability_takes_debates_as_subjects() -> None:
    """Two debates, each unanimous, but for another option: the seats agree perfectly."""
    logs = [voted("111"), voted("222"), voted("22-")]
    states = [log.state for log in logs]
    (row,) = reliability_rows(states)
    assert row[:4] == (0, 3, 2, 1.0)
    assert row[4] == 1.0
    (row,) = reliability_rows(states[:1])
    assert row == (0, 1, 1, None, None)
    assert list(reliability_rows([])) == []


def test_ended_debate_keeps_its_last_positions() -> None:
    states = [voted("112", "111").state, voted("222").state]
    first, second = reliability_rows(states)
    assert (first[1], second[1], second[3]) == (2, 2, 1.0)
    assert first[3] < 1
