"""Code fences around replies, in front of them and inside them."""

from __future__ import annotations

import pytest

from rt_notebook.contract import read_verdict
from tests.contract.replies import OPTIONS, VALID, read


@pytest.mark.parametrize("mark", ["```", "~~~", "````", "```markdown", "  ```text"])
def test_wrapping_fence_is_not_there(mark: str) -> None:
    closing = mark.strip()[0] * 4
    reply = read(f"{mark}\n{VALID}\n{closing}\n")
    assert (reply.valid, reply.disagree, reply.assumptions) == (True, ["cost"], ["none"])
    assert reply.notes == ["fenced"]


def test_reply_ends_where_its_fence_ends() -> None:
    reply = read(f"Here:\n```\n{VALID}\n```\nNEW: remark\n- and more")
    assert (reply.valid, reply.new, reply.assumptions) == (True, ["none"], ["none"])


def test_fence_in_a_section_is_content() -> None:
    text = VALID.replace("- cost", "- cost\n~~~python\nNEW: in code\n```\n~~~\n- more")
    reply = read(text, trim=False)
    assert reply.disagree == ["cost", "~~~python", "NEW: in code", "```", "~~~", "more"]
    assert (reply.valid, reply.notes) == (True, [])


def test_fence_never_closed_runs_to_the_end() -> None:
    wrapped = read(f"```\n{VALID}")
    assert (wrapped.valid, wrapped.notes) == (True, ["fenced", "unclosed_fence"])
    inner = read(VALID.replace("- cost", "- cost\n```"))
    assert (inner.disagree, inner.new, inner.notes) == (
        ["cost", "```", "NEW: none"],
        [],
        ["unclosed_fence", "trimmed"],
    )


def test_fence_with_info_nests_in_wrapping_fence() -> None:
    text = VALID.replace("- cost", "```python\nNEW: in code\n```\n- cost")
    reply = read(f"```markdown\n{text}\n```\nNEW: remark", trim=False)
    assert (reply.valid, reply.disagree) == (True, ["```python", "NEW: in code", "```", "cost"])


def test_backtick_in_info_makes_no_fence() -> None:
    reply = read(VALID.replace("- cost", "```a`b\n- cost"))
    assert (reply.valid, reply.disagree, reply.notes) == (True, ["```a`b", "cost"], [])


def test_fenced_template_before_the_reply_is_skipped() -> None:
    template = "```\nSTANCE: <option id>\nNEW: <bullets>\n```"
    assert read(f"The form:\n{template}\nMine:\n{VALID}").stance_key == "opt-1"
    fenced = read(f"{template}\n{template}\n```\n{VALID}\n```\nNEW: remark")
    assert (fenced.stance_key, fenced.new, fenced.notes) == ("opt-1", ["none"], ["fenced"])


def test_first_fenced_reply_that_names_an_option_counts() -> None:
    other = VALID.replace("opt-1", "opt-2")
    reply = read(f"```\n{VALID}\n```\nOr, if there is time:\n```\n{other}\n```")
    assert (reply.stance_key, reply.valid) == ("opt-1", True)


def test_fenced_reply_with_a_wrong_stance_is_the_reply() -> None:
    reply = read(f"```\n{VALID.replace('opt-1', 'opt-9')}\n```\nNEW: remark")
    assert (reply.stance, reply.new, len(reply.errors)) == ("opt-9", ["none"], 1)


def test_code_before_the_first_header_is_ignored() -> None:
    assert read(f"```\nprint(1)\n```\n{VALID}").valid
    assert read(f"```\n~~~\nSTANCE: opt-2\n~~~\n```\n{VALID}").stance_key == "opt-1"


def test_empty_fence_is_an_empty_reply() -> None:
    assert len(read("```\n```").errors) == 5


def test_verdict_in_a_fence_is_read() -> None:
    sections = "RECOMMENDATION: opt-1\nDISSENT: none\nKILL_CRITERIA: none\nOPEN_QUESTIONS: none"
    text = f"```\nRECOMMENDATION: <option>\n```\n```md\n{sections}\n```\nDISSENT: remark"
    verdict = read_verdict(text, options=OPTIONS)
    assert (verdict.valid, verdict.pick, verdict.notes) == (True, "opt-1", ["fenced"])
