"""What models and people do to structured replies, told by whole reviews."""

from __future__ import annotations

import time
from typing import Any

import pytest

import rt_notebook as rt
from rt_notebook.contract import match_option, read_verdict
from tests.cases.catalogue import case, given
from tests.cases.reviews import (
    calls_of,
    hear,
    heard,
    others,
    prompts_of,
    review,
    row_of,
    speaker,
)
from tests.engine.debates import reply

_HEADERS = ("AGREE_WITH", "DISAGREE", "NEW", "ASSUMPTIONS")


def _complete(id: str) -> str:
    """Returns a case's input with the sections that ours requires and it lacks."""
    text = given(id)
    missing = [name for name in _HEADERS if name not in text]
    return text + "".join(f"\n{name}: none" for name in missing)


def _facts(row: dict[str, Any], *names: str) -> tuple[Any, ...]:
    return tuple(row[name] for name in names)


@case("a5-seat-01")
def test_bold_headers_hide_nothing() -> None:
    row = heard(given("a5-seat-01"))
    assert _facts(row, "valid", "repaired", "stance_key", "stance") == (
        True, False, "opt-2", "against",
    )  # fmt: skip
    assert _facts(row, "agree_with", "disagree") == (["bo"], ["cy - the date"])
    assert _facts(row, "new", "assumptions", "question") == ([], ["two engineers"], None)


@case("a5-seat-04")
def test_wrapped_values_are_read_or_asked_again() -> None:
    """Dollar signs are no quotes of ours: such a stance is asked for once more, and told.

    It never counts as another one in silence; brackets, quotes and emphasis are peeled.
    """
    result = hear(_complete("a5-seat-04"))
    row = row_of(result)
    assert _facts(row, "stance", "stance_key", "valid", "repaired") == (
        "$support$", None, False, True,
    )  # fmt: skip
    assert _facts(row, "agree_with", "new") == (["bo"], [])
    assert "ana" not in result.stances.dropna(how="all").index
    for wrapped in ("`support`", '"support"', "**support**", "'opt-1'", "`opt-1`."):
        assert heard(_complete("a5-seat-04").replace("$support$", wrapped))["stance_key"] == "opt-1"


@case("a5-seat-08")
def test_later_words_never_overwrite_the_stance() -> None:
    """A stance with a tail is asked for once more, never taken for what the tail says."""
    result = hear(_complete("a5-seat-08"))
    row = row_of(result)
    assert _facts(row, "stance_key", "valid", "repaired") == (None, False, True)
    assert row["stance"] == "support. Others may say against, but against is weaker."
    assert "ana" not in result.state.tally.get("opt-2", [])
    repaired = hear(_once_more(_complete("a5-seat-08"), reply("opt-1", "my point")))
    assert row_of(repaired)["stance_key"] == "opt-1"


@case("a5-seat-09")
def test_last_of_two_blocks_is_what_counts() -> None:
    row = heard(_complete("a5-seat-09"))
    assert _facts(row, "stance", "new") == ("support", ["b"])
    # Two answers are a broken form: it was asked for once more before it was kept like this.
    assert _facts(row, "valid", "repaired") == (False, True)


@case("a5-seat-19")
def test_fence_left_open_is_read_and_noted() -> None:
    result = hear(_complete("a5-seat-19"))
    assert _facts(row_of(result), "valid", "stance_key") == (True, "opt-1")
    read = [event.body["reply"] for event in result.events if event.kind == "reply_read"]
    assert ["fenced", "unclosed_fence"] in [body.get("notes") for body in read]


@case("a5-seat-19")
@pytest.mark.parametrize("text", ["```\n```", "```text\n\n```\n", "~~~\n~~~", "```"])
def test_empty_fence_is_an_empty_answer(text: str) -> None:
    row = heard(text)
    assert _facts(row, "error", "stance_key", "repaired") == ("empty", None, False)


@case("a5-seat-21")
def test_curly_quotes_are_peeled_from_names_only() -> None:
    row = heard(_complete("a5-seat-21"))
    assert _facts(row, "valid", "stance_key", "agree_with") == (True, "opt-1", ["bo", "cy"])
    assert row["new"] == ['he said „later" twice']


@case("a5-seat-22")
def test_full_width_punctuation_is_read() -> None:
    row = heard(_complete("a5-seat-22"), options=("赞成", "反对"))
    assert _facts(row, "valid", "stance", "stance_key") == (True, "反对", "opt-2")
    assert _facts(row, "agree_with", "new") == (["bo", "cy"], [])


@case("a5-seat-24")
def test_missing_colons_are_told_by_header() -> None:
    """Without colons a line is prose: the repair names every header, and the next reply counts."""
    ana = speaker("ana", given("a5-seat-24"), reply("opt-2", "my point"))
    result = review(ana, *others(), rounds=0).run_sync()
    asked = prompts_of(ana)[1]
    assert all(f"- {name} is missing" in asked for name in ("STANCE", "DISAGREE", "NEW"))
    row = row_of(result, round=0)
    assert _facts(row, "stance_key", "repaired", "valid") == ("opt-2", True, True)


@case("a5-seat-28")
def test_answer_behind_an_open_think_tag_is_kept() -> None:
    result = hear(_complete("a5-seat-28"))
    row = row_of(result)
    assert _facts(row, "valid", "stance_key", "agree_with") == (True, "opt-1", ["bo"])
    read = [event.body["reply"] for event in result.events if event.kind == "reply_read"]
    assert ["think_removed"] in [body.get("notes") for body in read]


@case("a5-seat-30")
@pytest.mark.parametrize("text", [_complete("a5-seat-30"), given("a5-seat-30")])
def test_musing_before_the_form_reaches_nobody(text: str) -> None:
    bo, cy = others()
    result = review(speaker("ana", text), bo, cy).run_sync()
    assert row_of(result)["stance"] == "support"
    seen = "".join(prompts_of(bo) + prompts_of(cy))
    assert "reply of ana" in seen
    assert "Okay, so I have to decide" not in seen


@case("a5-seat-31")
def test_stance_with_a_tail_is_asked_for_once_more() -> None:
    """Kept as written, with no key; the seat itself says which option it meant."""
    text = _complete("a5-seat-31")
    row = heard(text)
    assert _facts(row, "stance", "stance_key") == ("SUPPORT (with caveats)", None)
    repaired = hear(_once_more(text, text.replace(" (with caveats)", "")))
    assert _facts(row_of(repaired), "stance_key", "repaired", "valid") == ("opt-1", True, True)


@case("a5-seat-32")
def test_prose_is_never_taken_for_a_stance() -> None:
    result = hear(given("a5-seat-32"))
    row = row_of(result)
    assert _facts(row, "valid", "repaired", "stance", "stance_key") == (False, True, None, None)
    assert (row["agree_with"], row["text"]) == ([], given("a5-seat-32"))
    assert result.state.tally == {"opt-1": ["cy"], "opt-2": ["bo"]}
    assert result.verdict.participation["missing"] == ["ana"]


@case("a5-seat-33")
def test_unknown_stance_keeps_its_words_and_no_key() -> None:
    """`other:` has to be said; words that name no option are nobody's stance."""
    row = heard(_complete("a5-seat-33"))
    assert _facts(row, "stance", "stance_key", "valid") == ("maybe later", None, False)
    own = heard(_complete("a5-seat-33").replace("maybe later", "other: maybe later"))
    assert _facts(own, "stance_key", "valid") == ("other: maybe later", True)


@case("a5-seat-36")
def test_refusal_words_in_a_reply_are_content() -> None:
    row = heard(_complete("a5-seat-36"))
    assert _facts(row, "valid", "error", "stance_key") == (True, None, "opt-2")
    assert row["disagree"] == ["bo - users will read \"I'm sorry, I can't help\" too often"]


@case("a5-seat-38")
def test_table_is_asked_for_in_the_form() -> None:
    row = heard(given("a5-seat-38"))
    assert _facts(row, "valid", "repaired", "stance", "stance_key") == (False, True, None, None)


@case("a5-seat-39")
def test_many_ways_to_say_nothing_open_no_question() -> None:
    result = hear(given("a5-seat-39"))
    row = row_of(result)
    assert _facts(row, "valid", "agree_with", "question") == (True, [], None)
    assert (row["disagree"], row["new"], row["assumptions"]) == ([], [], [])
    assert len(result.questions) == 0


@case("a5-seat-40")
def test_reply_cut_off_keeps_what_came() -> None:
    ana = speaker("ana", given("a5-seat-40").replace("\n[stream ends]", ""))
    row = row_of(review(ana, *others()).run_sync())
    assert _facts(row, "stance", "disagree", "valid") == ("against", ["the price is"], False)
    asked = prompts_of(ana)[1]
    assert [name for name in _HEADERS if f"{name} is missing" in asked] == ["NEW", "ASSUMPTIONS"]


@case("a5-seat-42")
def test_form_is_told_in_plain_headers() -> None:
    ana = speaker("ana", reply("opt-1", "my point"))
    review(ana, *others()).run_sync()
    form = calls_of(ana)[0].messages[0].text.partition("Answer in exactly this form")[2]
    lines = [line.partition(":")[0] for line in form.split("\n")]
    assert [line for line in lines if line.isupper()] == ["STANCE", *_HEADERS, "QUESTION_FOR_HUMAN"]
    assert not set("*`#") & set(form)
    # No block with values that a model could echo as its own.
    assert "support" not in form
    assert "opt-1" not in form


@case("a5-seat-43")
def test_several_questions_in_one_field_all_reach_the_person() -> None:
    """One field is one question here, shown whole; the person answers both in one text."""
    handle = review(
        speaker("ana", _complete("a5-seat-43")), *others(), unattended=False, question_wait_s=60
    ).start()
    gate = rt.wait(handle.id, 20).gate
    assert gate is not None
    asked = [(question.askers, question.text) for question in gate.questions]
    assert asked == [(["ana"], "1. Which market first? (a) DE (b) FR 2. Is 40k the real limit?")]
    handle.answer({"q1": "DE; yes"})
    assert _done(handle).questions["answer"].dropna().tolist() == ["DE; yes"]


@case("a5-seat-45")
def test_line_ends_and_strange_spaces_leave_no_trace() -> None:
    text = _complete("a5-seat-45").replace("none\r\n\n", "none\r\n")
    row = heard(text)
    assert _facts(row, "valid", "stance", "agree_with") == (True, "support", ["bo"])


@case("a5-verdict-44")
def test_decorated_verdict_in_another_order_is_read() -> None:
    """The title is ignored; `go, in two steps` names no option, so the chairman is asked once more.

    The dash behind `Open questions` belongs to the text: it is no mark of a bullet.
    """
    text = given("a5-verdict-44")
    found = read_verdict(text, options=["go", "stay"])
    assert found.kill_criteria == ["churn > 4%", "no hire by May"]
    assert found.dissent == "cy (date)"
    assert found.open_questions == ["– who owns it?"]
    assert found.recommendation == "go, in two steps"
    # A pick is a label alone; the rest of the sentence belongs on the next line.
    chair = speaker("chair", text, text.replace("go, in", "go\nin"))
    result = review(*others(), chairman=chair, options=("go", "stay")).run_sync()
    assert (result.verdict.status, result.verdict.label) == ("ready", "go")
    assert result.verdict.kill_criteria == ["churn > 4%", "no hire by May"]
    assert result.verdict.open_questions == ["– who owns it?"]


def _once_more(first: str, second: str) -> Any:
    """Returns answers: a broken reply in every turn, mended when it is asked for again."""
    return lambda call: second if call.purpose == "repair" else first


def _done(handle: rt.Handle) -> rt.Result:
    return handle.result(20)


def _sitting(options: list[str]) -> rt.Handle:
    """Returns a review at which a person has the turn."""
    made = review(rt.Seat("me", model="human"), *others(), options=options, unattended=False,
                  rounds=0)  # fmt: skip
    handle = made.start()
    deadline = time.monotonic() + 20
    while not handle.state().turns:
        assert time.monotonic() < deadline, "the person never got a turn"
        time.sleep(0.01)
    return handle


def _typed(stance: str) -> str:
    return f"STANCE: {stance}\nDISAGREE: none\nNEW: none\nASSUMPTIONS: none"


@case("a5-human-12", "a5-human-13")
@pytest.mark.parametrize("id", ["a5-human-12", "a5-human-13"])
def test_answer_that_names_no_one_option_is_asked_again(id: str) -> None:
    options = ["Ship", "Ship in March"]
    assert match_option(given(id), options) is None
    handle = _sitting(options)
    with pytest.raises(rt.UsageError, match="STANCE names no option: write one of opt-1, opt-2"):
        rt.answer(handle.id, round=0, seat="me", text=_typed(given(id)))
    assert [turn.seat for turn in handle.state().turns] == ["me"]
    rt.answer(handle.id, round=0, seat="me", text=_typed("opt-2"))
    result = _done(handle)
    assert row_of(result, "me", 0)["stance_key"] == "opt-2"
    assert not any(given(id) in str(event.body) for event in result.events)


@case("a5-human-13")
def test_free_answer_at_a_gate_is_kept_as_it_is() -> None:
    ana = speaker("ana", reply("opt-1", "a", question="support or against?"))
    bo, cy = others()
    handle = review(ana, bo, cy, unattended=False, question_wait_s=60).start()
    rt.wait(handle.id, 20)
    handle.answer({"q1": given("a5-human-13")})
    result = _done(handle)
    assert result.questions["answer"].tolist()[:1] == ["forty-two"]
    assert "The person answers: forty-two" in prompts_of(bo)[1]


@case("a5-human-14")
@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("**OPT-2: Ship in March**", "opt-2"),
        ("**OPT-2**", "opt-2"),
        ("ship in march", "opt-2"),
        ("Opt-2 - ship in March", "opt-2"),
        *((text.strip(), None) for text in ("**OPT-2**: Ship in March", "opt 2", "2", "2)")),
    ],
)
def test_answer_in_other_words_is_the_option_or_asked_again(text: str, key: str | None) -> None:
    """An id and an exact label, decorated or not, in any case; a bare number is never guessed.

    Who types a whole reply is told and can mend it; forms have a choice, terminals take numbers.
    """
    assert match_option(text, ["Ship", "Ship in March"]) == key
    handle = _sitting(["Ship", "Ship in March"])
    if key is None:
        with pytest.raises(rt.UsageError, match="STANCE names no option"):
            rt.answer(handle.id, round=0, seat="me", text=_typed(text))
    rt.answer(handle.id, round=0, seat="me", text=_typed(text if key else "opt-2"))
    assert row_of(_done(handle), "me", 0)["stance_key"] == "opt-2"
