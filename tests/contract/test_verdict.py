"""The chairman's verdict."""

from __future__ import annotations

import pytest

from rt_notebook.contract import VerdictText, read_verdict

REST = "DISSENT: none\nKILL_CRITERIA: none\nOPEN_QUESTIONS: none"


def _read(text: str, options: tuple[str, ...] = ("Ship", "Wait")) -> VerdictText:
    return read_verdict(text, options=options)


def test_sections_are_taken_whole() -> None:
    verdict = _read(
        "# Verdict\n**Kill criteria**\n- churn > 4 %\n- no hire by May\n\n"
        "**Recommendation:** Ship\nIt is cheap.\n\nAnd fast.\n"
        "**Open questions** – who owns it?\n**Dissent:** cy (date)\n- and pm"
    )
    assert verdict.valid
    assert (verdict.pick, verdict.recommendation) == ("opt-1", "Ship\nIt is cheap.\n\nAnd fast.")
    assert verdict.rationale == "It is cheap.\n\nAnd fast."
    assert verdict.dissent == "cy (date)\n- and pm"
    assert verdict.kill_criteria == ["churn > 4 %", "no hire by May"]
    assert verdict.open_questions == ["– who owns it?"]


def test_none_sections_are_empty_values() -> None:
    verdict = _read(f"RECOMMENDATION: opt-1\n{REST}")
    assert verdict.valid
    assert (verdict.dissent, verdict.kill_criteria, verdict.open_questions) == ("", [], [])


@pytest.mark.parametrize("line", ["none", "No pick.", "**none**", "“NO  PICK”", "none;"])
def test_no_pick_is_tested_first(line: str) -> None:
    assert _read(f"RECOMMENDATION:\n\n{line}\nBecause.\n{REST}", ("None", "Wait")).pick == "none"


def test_option_labelled_none_needs_its_id() -> None:
    assert _read(f"RECOMMENDATION: opt-1 (None)\n{REST}", ("None", "Wait")).pick == "opt-1"


@pytest.mark.parametrize(
    "line", ["We recommend opt-1", "Ship, because", "none of them", "other: sell", "Ship or Wait"]
)
def test_first_line_must_name_one_option(line: str) -> None:
    verdict = _read(f"RECOMMENDATION: {line}\n{REST}")
    assert verdict.pick is None
    assert [error.partition(":")[0] for error in verdict.errors] == [
        "RECOMMENDATION names no option"
    ]
    assert "opt-1, opt-2" in verdict.errors[0]


@pytest.mark.parametrize(
    "line",
    [
        "RECOMMENDATION opt-1",
        "## Recommendation opt-1",
        "**Recommendation** opt-1",
        "**Recommendation opt-1**",
        "recommendation\nopt-1",
        "RECOMMENDATION： opt-1",
        "- recommendation : opt-1",
        "recommendation opt-1",
        "- Recommendation **opt-1**",
    ],
)
def test_verdict_header_may_miss_its_colon(line: str) -> None:
    assert _read(f"{line}\n{REST}").pick == "opt-1"


@pytest.mark.parametrize(
    "line",
    [
        "DISSENT, mostly from pm",
        "DISSENTERS were few",
        "> DISSENT: x",
        "`DISSENT`: x",
        "My DISSENT: x",
        "DISSENT; x",
    ],
)
def test_prose_with_a_header_s_name_is_prose(line: str) -> None:
    verdict = _read(f"RECOMMENDATION: opt-1\n{line}\n{REST}")
    assert (verdict.valid, verdict.rationale) == (True, line)


def test_doubtful_header_counts_only_alone_and_first() -> None:
    prose = "Dissent from pm was weighed.\nDissent from dev too."
    verdict = _read(f"RECOMMENDATION: opt-1\n{prose}\n{REST}")
    assert (verdict.valid, verdict.dissent, verdict.rationale) == (True, "", prose)
    without = _read(f"RECOMMENDATION: opt-1\n{prose}\nKILL_CRITERIA: none\nOPEN_QUESTIONS: none")
    assert without.valid
    assert without.dissent == "from pm was weighed.\nDissent from dev too."


def test_missing_empty_and_repeated_sections_are_errors() -> None:
    verdict = _read("RECOMMENDATION: opt-1\nDISSENT:\n\nKILL_CRITERIA: none\nTALLY: 2\nTALLY: 3")
    assert verdict.errors == [
        "duplicate TALLY section",
        "DISSENT is empty: write its content, or none",
        "OPEN_QUESTIONS is missing: write `OPEN_QUESTIONS:` and its content, or none",
    ]
    assert (verdict.pick, verdict.duplicates) == ("opt-1", ["TALLY"])


def test_lone_pass_is_no_verdict() -> None:
    assert len(_read("PASS").errors) == 4


def test_verdict_survives_the_log() -> None:
    verdict = _read(f"<think>hm</think>RECOMMENDATION: opt-1\nCheap.\n{REST}")
    assert VerdictText.from_json(verdict.to_json()) == verdict
    assert VerdictText.from_json({"pick": "none", "later": 1}) == VerdictText(pick="none")
