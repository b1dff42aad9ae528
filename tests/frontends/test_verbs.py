"""The line of `%roundtable VERB`: what is read from it, and what is refused with one clear line."""

from __future__ import annotations

import pytest

from rt_notebook.errors import OptionError
from rt_notebook.frontends.verbs import VERBS, new_limits, number, read_verb, verbs_help


def test_empty_line_asks_for_the_overview() -> None:
    assert read_verb("  ") is None


def test_id_is_last_unless_given() -> None:
    for line, name in (("show", "last"), ("show ship-abc123", "ship-abc123")):
        command = read_verb(line)
        assert command is not None
        assert (command.verb.name, command.id) == ("show", name)


def test_answers_keep_their_text_whole() -> None:
    command = read_verb(
        "answer ship-1 --round 2 q1='yes, \"now\" = 5' q12=no --message='a -- b' --seat me"
    )
    assert command is not None
    assert command.answers == {"q1": 'yes, "now" = 5', "q12": "no"}
    assert command.options == {"round": "2", "message": "a -- b", "seat": "me"}
    assert number(command, "round") == 2


def test_answer_text_may_hold_any_script() -> None:
    command = read_verb("answer last --round 0 q1='予算は１２万円 🎉 # not a comment'")
    assert command is not None
    assert command.answers == {"q1": "予算は１２万円 🎉 # not a comment"}


MISTAKES = {
    "verb": ("stauts", "no verb 'stauts'; did you mean 'status'"),
    "option": ("list --limt 3", "no option --limt; did you mean '--limit'"),
    "value": ("list --limit", "--limit needs a value"),
    "twice": ("list --limit 1 --limit 2", "given twice"),
    "too many": ("show a b", "'b' is one word too many"),
    "no id": ("finish", "needs the debate's id"),
    "no label": ("answer last --round 0 yes", "'yes' has no label"),
    "quote": ("answer last q1='x", "a quote isn't closed"),
}


@pytest.mark.parametrize(("line", "match"), MISTAKES.values(), ids=MISTAKES)
def test_mistake_quotes_the_word(line: str, match: str) -> None:
    with pytest.raises(OptionError, match=match):
        read_verb(line)


def test_number_says_which_option_is_none() -> None:
    command = read_verb("list --limit many")
    assert command is not None
    with pytest.raises(OptionError, match="--limit 'many' is not a whole number"):
        number(command, "limit")


def test_resume_changes_given_limits_only() -> None:
    command = read_verb(
        "resume last --max-calls 9 --max-cost 1.5 --max-calls-per-vendor openai=4 --on-limit pause"
    )
    assert command is not None
    assert new_limits(command) == {
        "max_calls": 9,
        "max_cost": 1.5,
        "max_calls_per_vendor": {"openai": 4},
        "on_limit": "pause",
    }
    plain = read_verb("resume last")
    assert plain is not None
    assert new_limits(plain) is None


def test_limit_that_does_not_fit_is_refused_like_in_a_cell() -> None:
    command = read_verb("resume last --max-calls-per-vendor openai")
    assert command is not None
    with pytest.raises(OptionError, match="--max-calls-per-vendor takes"):
        new_limits(command)


def test_verbs_on_debates_take_another_store() -> None:
    command = read_verb("show some-id --store 'my debates.db'")
    assert command is not None
    assert command.store == "my debates.db"
    with pytest.raises(OptionError, match="seats has no option --store"):
        read_verb("seats --store x.db")


def test_help_lists_every_verb_once() -> None:
    lines = [line.split()[0] for line in verbs_help().splitlines()[1::2]]
    assert lines == list(VERBS)
