"""What the body of a cell means: question, sections, bullets, seats."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rt_notebook.contract.cell import EXAMPLE, CellBody, open_fence, read_cell, section_names
from rt_notebook.errors import BriefError, SeatError, UsageError

TAIL = "\noptions:\n- a\n- b\n"
WHOLE = """\
Should the payments module become its own service?

options:
- Modular monolith
- Microservice
- Wait one sprint

known:
- Six people; p95 latency {p95} ms
constraints: no downtime over 5 minutes
reversibility: costly
deadline: 2027-01-31
"""
READ = CellBody(
    question="Should the payments module become its own service?",
    options=("Modular monolith", "Microservice", "Wait one sprint"),
    known=("Six people; p95 latency {p95} ms",),
    constraints=("no downtime over 5 minutes",),
    reversibility="costly",
    deadline="2027-01-31",
)


def known(section: str) -> tuple[str, ...]:
    """Returns the entries of a `known:` section."""
    return read_cell(f"Q{TAIL}known:{section}").known


def options(section: str) -> tuple[str, ...]:
    """Returns the entries of an `options:` section."""
    return read_cell(f"Q\noptions:{section}").options


def seats(section: str) -> list[dict[str, object]]:
    """Returns the seats of a `seats:` section."""
    return [dict(seat) for seat in read_cell(f"Q{TAIL}seats:{section}").seats]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_whole_cell_is_read(newline: str) -> None:
    assert read_cell(WHOLE.replace("\n", newline)) == READ


def test_question_keeps_every_byte() -> None:
    question = '  Is {"retries": 4} $x {{y}}\t\r\n\r\n    code \u00a0 "—"\r\n# Not a comment'
    assert read_cell(f"\n \n{question}\n\n{TAIL}").question == question


def test_braces_and_json_mean_nothing() -> None:
    question = 'Our config is {"retries": 4, "mode": "safe"} - is 4 right?'
    assert read_cell(question + TAIL).question == question


def test_names_start_sections_in_any_case() -> None:
    cell = read_cell("Q\nOPTIONS:\n- a\n- b\nKnown: x\nDeadLine:  tomorrow \n")
    assert (cell.options, cell.known, cell.deadline) == (("a", "b"), ("x",), "tomorrow")


@pytest.mark.parametrize(
    "line",
    [" options: x", "> known: x", "knownx: y", "My options: a", "opt: x", "known", "seats -"],
)
def test_other_lines_start_no_section(line: str) -> None:
    assert read_cell(f"Q\n{line}{TAIL}").question == f"Q\n{line}"


@pytest.mark.parametrize("fence", ["```", "~~~", "````", "```python", "- ```", "   ~~~~ x"])
def test_no_section_starts_in_a_fence(fence: str) -> None:
    close = fence.strip("- x").removesuffix("python").strip()
    question = f"Q\n{fence}\noptions:\n- x\n{close[:2]}\n{close}"
    assert read_cell(question + TAIL) == CellBody(question=question, options=("a", "b"))


def test_backticks_in_prose_open_no_fence() -> None:
    cell = read_cell("```x``` is code" + TAIL)
    assert cell.options == ("a", "b")


@pytest.mark.parametrize(
    ("section", "entries"),
    [
        ("\n- Ship\n* Wait\n• Stop\n1. One\n2) Two", ("Ship", "Wait", "Stop", "One", "Two")),
        ("\n  - Ship\n  - Wait", ("Ship", "Wait")),
        ("\n-\u00a0Ship\n•Wait", ("Ship", "Wait")),
        ("\n-Ship\n-Wait", ("Ship", "Wait")),
        ("\n- Ship it\n  next week\n- Wait", ("Ship it next week", "Wait")),
        ("\nShip\n\nWait", ("Ship", "Wait")),
        (" Ship\nWait", ("Ship", "Wait")),
        ("\n- **Ship** it\n- -5 %\n- ", ("**Ship** it", "-5 %")),
        ("\n*Ship* now\n1.5 M users\n-5 % margin", ("*Ship* now", "1.5 M users", "-5 % margin")),
    ],
)
def test_options_are_one_line_each(section: str, entries: tuple[str, ...]) -> None:
    assert options(section) == entries


@pytest.mark.parametrize(
    ("section", "entries"),
    [
        (" p95 is high\n- six people", ("p95 is high", "six people")),
        ("\nOne paragraph\nof two lines\n\nAnother", ("One paragraph\nof two lines", "Another")),
        ("\n- a\n  b\n\n  c\n- d", ("a\nb\n\nc", "d")),
        ("\n- a\n  - nested\n    deeper\n- d", ("a\n- nested\n  deeper", "d")),
        ("\n- a\nlazy\n\nnew", ("a\nlazy", "new")),
        ("\n- a\n  ```\n  - x\n\n  options:\n  ```\n- b", ("a\n```\n- x\n\noptions:\n```", "b")),
        ("\n- tab\there\n\t- in", ("tab\there\n  - in",)),
        ("", ()),
        ("\n\n- \n", ()),
    ],
)
def test_notes_keep_paragraphs_and_nesting(section: str, entries: tuple[str, ...]) -> None:
    assert known(section) == entries


def test_context_keeps_every_byte() -> None:
    cell = read_cell(f"Q{TAIL}context:  head\r\n\r\n  | a |\r\n- b\r\n\r\n")
    assert cell.context == "head\r\n\r\n  | a |\r\n- b"


@pytest.mark.parametrize("text", [" costly", "\ncostly", "\n- costly\n", " \n\n  * costly\n\n"])
def test_note_of_one_line_loses_its_bullet(text: str) -> None:
    assert read_cell(f"Q{TAIL}reversibility:{text}").reversibility == "costly"


def test_empty_sections_are_left_out() -> None:
    cell = read_cell(f"Q{TAIL}known:\nassumed:\ndeadline:\ncontext:\nseats:\n")
    assert cell == CellBody(question="Q", options=("a", "b"))


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        (
            "\n- pm=scripted; lens=cost, risk; mood=grill\n- dev",
            [
                {"name": "pm", "model": "scripted", "lens": "cost, risk", "mood": "grill"},
                {"name": "dev"},
            ],
        ),
        (" pm, dev=human,rv", [{"name": "pm"}, {"name": "dev", "model": "human"}, {"name": "rv"}]),
        (
            "\n- a=python:m:f; timeout-s=3; max_tokens=9; persona=You say x=y",
            [
                {
                    "name": "a",
                    "model": "python:m:f",
                    "timeout_s": 3.0,
                    "max_tokens": 9,
                    "persona": "You say x=y",
                }
            ],
        ),
        ("\n- name=pm; model=scripted", [{"name": "pm", "model": "scripted"}]),
        ("\n- Ana B; lens=risk;", [{"name": "Ana B", "lens": "risk"}]),
    ],
)
def test_seat_lines_become_fields(section: str, expected: list[dict[str, object]]) -> None:
    assert seats(section) == expected


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ("\n- pm=x; mod=grill", "the seat line 'pm=x; mod=grill': a seat has no 'mod'; "
         "did you mean 'mood'?"),
        ("\n- pm=", "the seat line 'pm=' is not of the form `name=model; lens=...`"),
        (" ana,,bo", "the seat line '' is not of the form `name=model; lens=...`"),
        ("\n- a=x; lens=b; lens=c", "the seat line 'a=x; lens=b; lens=c': 'lens' is given twice"),
        ("\n- a=x; lens=", "the seat line 'a=x; lens=': 'lens' has no value"),
        ("\n- a=x; retries=2.5", "the seat line 'a=x; retries=2.5': retries takes a whole number"),
        ("\n- a=x; tools=f", "the seat line 'a=x; tools=f': a seat has no 'tools'"),
    ],
)  # fmt: skip
def test_wrong_seat_line_is_quoted(section: str, message: str) -> None:
    with pytest.raises(SeatError, match=f"^{re.escape(message)}$"):
        seats(section)


@pytest.mark.parametrize(
    ("body", "line", "shown", "meant"),
    [
        ("Q\n\noptoins:\n- a\n- b", 3, "optoins:", "options"),
        ("optoins:\n\n* a\n* b", 1, "optoins:", "options"),
        ("Q\n**Options:**\n1. a\n2. b", 2, "**Options:**", "options"),
        ("Q\n options:\n- a\n- b", 2, "options:", "options"),
        ("Q\noptions：\n- a\n- b", 2, "options：", "options"),
        ("Q\noptions :\n- a\n- b", 2, "options :", "options"),
        (f"Q{TAIL}knwon:\n- x", 5, "knwon:", "known"),
        (f"Q{TAIL}reversability:\n- x", 5, "reversability:", "reversibility"),
        (f"Q{TAIL}assumptions:\n- x", 5, "assumptions:", "assumed"),
        (f"Q{TAIL}constraint: no downtime", 5, "constraint: no downtime", "constraints"),
        (f"Q{TAIL}known: x\ndeadlin: 2027", 6, "deadlin: 2027", "deadline"),
    ],
)
def test_misspelt_section_names_the_near_one(body: str, line: int, shown: str, meant: str) -> None:
    message = (
        f"line {line} of the body, {shown!r}, looks like the section `{meant}:`; "
        f"write '{meant}:' at the start of the line, or put text in a code fence"
    )
    with pytest.raises(BriefError, match=f"^{re.escape(message)}$"):
        read_cell(body)


@pytest.mark.parametrize(
    "prose",
    [
        "Actions:\n- foo",
        "Unknown:\n- foo",
        "Reasons:\n- foo",
        "Contents:\n- foo",
        "optoins:\nno bullets",
        "Option: Ship or wait",
        "```\noptoins:\n- a\n```",
        "The optoins:\n- a",
    ],
)
def test_ordinary_words_with_colons_are_prose(prose: str) -> None:
    assert read_cell(prose + TAIL).question == prose


def test_free_text_of_context_may_use_near_words() -> None:
    assert read_cell(f"Q{TAIL}context:\nOption: x\nSeat: 12").context == "Option: x\nSeat: 12"


@pytest.mark.parametrize("body", ["Q?", "Q\nknown: x", "Q\n```py\nx = 1", "Q\n\n- a\n- b"])
def test_cell_without_options_is_a_discussions(body: str) -> None:
    read = read_cell(body)
    assert read.options == ()
    assert read.question.startswith("Q")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("", "the cell is empty; write for example: Should the payments module become its own "
         "service? / options: / - Modular monolith / - Microservice"),
        (" \r\n\t\u00a0\n", "the cell is empty; write for example: Should the payments module "
         "become its own service? / options: / - Modular monolith / - Microservice"),
        ("options:\n- a\n- b", "the question is empty; write it above the first section"),
        ("Q\noptions:\nknown: x", "the section `options:` is empty; write a bullet each, or leave "
         "it out for a discussion"),
        ("Q\n```py\noptions:\n- a\n- b", "the code fence of line 2 is never closed, so the "
         "sections below it are text; close it"),
        (f"Q{TAIL}Options:\n- c", "the section `options:` is there twice, in lines 2 and 5 of the "
         "body; make them one"),
        ("Q\noptions:\n- a\nb", "options: 'b' has no bullet; start it with '- ', or indent it"),
        ("Q\noptions:\n- a\n  - b", "options: '- b' is a bullet below a bullet; an entry here is "
         "one line"),
    ],
)  # fmt: skip
def test_unclear_body_is_refused(body: str, message: str) -> None:
    with pytest.raises(BriefError, match=f"^{re.escape(message)}$"):
        read_cell(body)


def test_example_of_the_messages_is_a_cell() -> None:
    assert read_cell(EXAMPLE).options == ("Modular monolith", "Microservice")


def test_completion_sees_sections_and_open_fences() -> None:
    assert section_names("Q\nKnown: x\n```\noptions:\n```\nseats:") == ("known", "seats")
    assert open_fence("Q\n```\nx") == 2
    assert open_fence("Q\n```\nx\n```") == 0


BITS = ["options:", "known:", "seats:", "- ", "  ", "\n", "\r\n", "```", "a", "=", ";", "1. "]


@given(st.lists(st.sampled_from([*BITS, "\u2028", "*"]), max_size=40).map("".join))
def test_any_body_is_read_or_refused_cleanly(body: str) -> None:
    refusal = ""
    try:
        assert read_cell(body).question in body
    except UsageError as error:
        refusal = str(error)
    assert "\n" not in refusal


@pytest.mark.timeout(20)
def test_long_hostile_body_is_read_in_linear_time() -> None:
    """Quadratic reading of this would take minutes."""
    bits = ["- x\n" * 50_000, "**" * 50_000, "\n" * 50_000, "optoinsx:\n" * 50_000, "{" * 50_000]
    assert read_cell("Q\n" + "".join(bits) + TAIL).options == ("a", "b")
