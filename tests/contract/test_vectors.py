"""The contract's cases with their right answers, both files, one test a case."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rt_notebook.contract import (
    Reply,
    VerdictText,
    match_option,
    match_stance,
    read_question,
    read_reply,
    read_verdict,
)

FOLDER = Path(__file__).parents[1] / "vectors"


def _cases(name: str) -> list[Any]:
    # Not splitlines: the texts hold U+2028.
    lines = (FOLDER / name).read_text(encoding="utf-8").strip().split("\n")
    return [pytest.param(case, id=case["id"]) for case in map(json.loads, lines)]


def _answer(case: dict[str, Any]) -> Any:
    text, options = case["text"], case["options"]
    match case["fn"]:
        case "reply":
            given = {key: case[key] for key in ("trim", "require_agree") if key in case}
            return read_reply(text, options=options, round=case["round"], **given)
        case "verdict":
            return read_verdict(text, options=options)
        case "stance":
            return match_stance(text, options)
        case "question":
            return read_question(text)
        case "pick":
            sections = f"RECOMMENDATION: {text}\nDISSENT: -\nKILL_CRITERIA: -\nOPEN_QUESTIONS: -"
            return read_verdict(sections, options=options).pick
        case _:
            return match_option(text, options)


@pytest.mark.parametrize("case", [*_cases("contract.jsonl"), *_cases("contract-wider.jsonl")])
def test_case_has_its_right_answer(case: dict[str, Any]) -> None:
    answer = _answer(case)
    if isinstance(answer, (Reply, VerdictText)):
        fields = answer.to_json()
        fields |= {"n_errors": len(answer.errors), "pass": fields.get("passed")}
        answer = {key: fields[key] for key in case["expected"]}
    assert answer == case["expected"]


def test_both_files_are_whole() -> None:
    assert len(_cases("contract.jsonl")) == 400
    assert len(_cases("contract-wider.jsonl")) == 38
