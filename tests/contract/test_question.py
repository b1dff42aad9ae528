"""Real questions and placeholders."""

from __future__ import annotations

import pytest

from rt_notebook.contract import read_question
from tests.contract.replies import VALID, read


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "-",
        "———",
        "**none",
        "`N/A`",
        "_** None. **_",
        "- none",
        "not  applicable",
        "No question",
        "no further questions",
        "No additional unanswered questions for the human.",
        "no questions for human!",
        "none at this time",
        "None at present.",
        "No questions from me for now",
        "n/a - treat the 2024, 2025 budgets as unknowns",
        "None; treat traffic as an assumption and cost as unknown.",
        "none — the information is not provided",
        "None. All questions are answered; the answer remains unknown.",
        "None: the details remain unknown",
        "none, questions answered",
    ],
)
def test_placeholder_is_no_question(text: str) -> None:
    assert read_question(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "None of these options is right",
        "None?",
        "None？",
        "预算是多少？",
        "Please confirm the deadline",
        "No question. confirm the cap",
        "none, treat what you know as unknown",
        "none - treat cost as known",
        "none - all questions are answered, ship it",
        "None (yet)",
        "nonetheless",
        "no questions about cost",
        "None at this time is settled",
        "None; the cost is unknown",
        "None; all questions\nare answered",
        "n/a " + "and so on " * 100,
        "None: " + "all questions are answered; " * 40,
        "The budget",
    ],
)
def test_anything_else_is_asked(text: str) -> None:
    assert read_question(text) == text.strip()


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("- What is it?", "What is it?"),
        ("• Why?", "Why?"),
        ("- - Why?", "- Why?"),
        ("**Who?**", "**Who?**"),
    ],
)
def test_question_loses_one_leading_mark(text: str, question: str) -> None:
    assert read_question(text) == question


def test_several_questions_reach_the_person() -> None:
    text = f"{VALID}\nQUESTION_FOR_HUMAN:\n1. Which market? (a) DE (b) FR\n2. Is 40k real?"
    assert read(text).question == "1. Which market? (a) DE (b) FR 2. Is 40k real?"
