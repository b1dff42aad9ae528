"""What the line of `%%roundtable` means, and how each mistake is told."""

from __future__ import annotations

import re

import pytest

from rt_notebook.contract.line import LineOptions, parse_line
from rt_notebook.contract.options import (
    LIMIT_KEYS,
    LINE_OPTIONS,
    OPTIONS,
    SEAT_FIELDS,
    Form,
    Option,
    check_kind,
    line_names,
)
from rt_notebook.domain.brief import MIN_OPTIONS
from rt_notebook.domain.kinds import MAX_TOOL_PREVIEW, MEMORIES
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.spec import MAX_ROUNDS, DebateSpec, Limits
from rt_notebook.errors import OptionError


def test_example_line_is_read_whole() -> None:
    found = parse_line("payments --seats pm,dev,rv --rounds 2 --with p95")
    assert found == LineOptions(
        variable="payments", seats=("pm", "dev", "rv"), rounds=2, with_names=("p95",)
    )


def test_every_option_can_be_given() -> None:
    line = (
        "v --seats 'Ana B, bo=human' --rounds=0 --chairman bo --memory full --gates off "
        "--no-unattended --anonymous --question-wait-s 1.5 --checkpoint-wait-s 0 "
        "--loop-threshold .9 --language Deutsch --title 'Ship it?' --kind review --store a.db "
        "--durability power --with p95,df --context df,notes --check --confirm-above 0.5 "
        "--background --no-display --max-calls 9 --max-calls-per-vendor a=5,b=0 "
        "--max-tokens 1000 --max-cost 1e-2 --max-minutes 2 --on-limit pause"
    )
    assert parse_line(line) == LineOptions(
        variable="v",
        seats=("Ana B", "bo=human"),
        rounds=0,
        chairman="bo",
        memory="full",
        gates="off",
        unattended=False,
        anonymous=True,
        question_wait_s=1.5,
        checkpoint_wait_s=0.0,
        loop_threshold=0.9,
        language="Deutsch",
        title="Ship it?",
        kind="review",
        store="a.db",
        durability="power",
        with_names=("p95", "df"),
        context=("df", "notes"),
        check=True,
        confirm_above=0.5,
        background=True,
        display=False,
        limits={
            "max_calls": 9,
            "max_calls_per_vendor": {"a": 5, "b": 0},
            "max_tokens": 1000,
            "max_cost": 0.01,
            "max_minutes": 2.0,
            "on_limit": "pause",
        },
    )


def test_settings_hold_only_what_was_given() -> None:
    found = parse_line("x --rounds 0 --no-anonymous --store s --check")
    assert found.settings() == {"rounds": 0, "anonymous": False}


def test_empty_line_gives_nothing() -> None:
    assert parse_line("  \u00a0 ") == LineOptions()


def test_nothing_on_the_line_is_expanded() -> None:
    found = parse_line("--title '$HOME {x} %s ~ `id` $(id) *' --store ~/x")
    assert found.title == "$HOME {x} %s ~ `id` $(id) *"
    assert found.store == "~/x"


def test_help_wins_over_any_mistake() -> None:
    assert parse_line("--nonsense 1 --rounds --help") == LineOptions(help=True)


def test_variable_may_stand_anywhere() -> None:
    assert parse_line("--rounds 2 payments --check").variable == "payments"


def test_pasted_spaces_separate_words() -> None:
    assert parse_line("x\u00a0--rounds\u30002").rounds == 2


def test_composed_letters_name_the_variable_as_python_does() -> None:
    assert parse_line("ﬁt").variable == "fit"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        # Reported of another tool: unknown flags were accepted silently, or by prefix.
        (
            "--seats ana,bo --stuff 3 --round 5",
            "unknown options '--stuff', '--round' (did you mean '--rounds'?); "
            "`%%roundtable --help` lists them all",
        ),
        ("-r 3", "'-r': there are no short options; did you mean '--rounds'?"),
        ("--recrod x", "unknown option '--recrod' (did you mean '--record'?); "
         "`%%roundtable --help` lists them all"),
        ("--", "unknown option '--'; `%%roundtable --help` lists them all"),
        ("--no-check", "unknown option '--no-check' (did you mean '--check'?); "
         "`%%roundtable --help` lists them all"),
        ("—rounds 2", "'—rounds' starts with a typographic dash; write '--'; "
         "did you mean '--rounds'?"),
        ('--title "a b --rounds 2',
         "unclosed quote \" before 'a b --rounds 2'; close it, or escape it as \\\""),
        ("--title Don't stop", "unclosed quote ' before 't stop'; close it, or escape it as \\'"),
        ("x \\", "the line ends with a lone backslash; remove it or double it"),
        ("--rounds two", "--rounds takes a whole number from 0 to 50; got 'two'"),
        ("--rounds 51", "--rounds takes a whole number from 0 to 50; got '51'"),
        ("--rounds -1", "--rounds takes a whole number from 0 to 50; got '-1'"),
        ("--rounds 1_0", "--rounds takes a whole number from 0 to 50; got '1_0'"),
        ("--rounds ٣", "--rounds takes a whole number from 0 to 50; got '٣'"),
        ("--max-minutes 0", "--max-minutes takes a number above 0; got '0'"),
        ("--confirm-above inf", "--confirm-above takes a number of at least 0; got 'inf'"),
        ("--loop-threshold 1.1", "--loop-threshold takes a number from 0 to 1; got '1.1'"),
        ("--gates Timed", "--gates takes one of timed, blocking, off; got 'Timed'; "
         "did you mean 'timed'?"),
        ("--kind debate", "--kind takes one of review, discussion; got 'debate'"),
        ("--memory window:0", "--memory takes one of stateless, full, turn, window:N; "
         "got 'window:0'"),
        ("--memory ful", "--memory takes one of stateless, full, turn, window:N; got 'ful'; "
         "did you mean 'full'?"),
        ("--seats pm, dev", "--seats takes a list by comma without empty entries; got 'pm,'; "
         "write the list without spaces or in quotes"),
        ("--with a.b", "--with takes plain names of variables; got 'a.b'"),
        ("--with 'sorted(ids)'", "--with takes plain names of variables; got 'sorted(ids)'"),
        ("--context df,df", "--context takes each name once, 'df' is there twice; got 'df,df'"),
        ("--max-calls-per-vendor a=5,a=6",
         "--max-calls-per-vendor takes each name once, 'a' is there twice; got 'a=5,a=6'"),
        ("--max-calls-per-vendor a:5",
         "--max-calls-per-vendor takes pairs by comma, such as a=5,b=3; got 'a:5'"),
        ("--max-calls-per-vendor a=-1",
         "--max-calls-per-vendor takes whole numbers of at least 0; got a=-1"),
        ("--max-calls-per-vendor a=999999999999999999",
         "--max-calls-per-vendor takes whole numbers up to 1e15; got a=999999999999999999"),
        ("--max-calls 999999999999999999",
         "--max-calls takes a whole number above 0; got '999999999999999999'"),
        ("--max-cost 1e300", "--max-cost takes a number above 0; got '1e300'"),
        ("--rounds", "'--rounds' needs a value (a whole number from 0 to 50); "
         "a value that starts with dashes is written --rounds=VALUE"),
        ("--rounds --check", "'--rounds' needs a value (a whole number from 0 to 50), "
         "got '--check'; a value that starts with dashes is written --rounds=VALUE"),
        ("--title ''", "--title has an empty value"),
        ("--title=", "--title has an empty value"),
        ("--check=yes", "'--check' takes no value, got 'yes'"),
        ("--unattended=0",
         "'--unattended' takes no value, got '0', and '--no-unattended' turns it off"),
        ("--rounds 1 --rounds=1", "'--rounds' is given twice; keep one"),
        ("--unattended --no-unattended", "'--no-unattended' is given twice; keep one"),
        ("a b", "'b' is a second word without dashes; 'a' already names the variable "
         "for the result"),
        ("a rounds", "'rounds' is a second word without dashes; 'a' already names the variable "
         "for the result; did you mean '--rounds'?"),
        ("2x", "'2x' can't name the variable for the result; use letters, digits and '_'"),
        ("class", "'class' can't name the variable for the result; use letters, digits and '_'"),
        ("_", "'_' is left to IPython; choose another name for the result"),
    ],
)  # fmt: skip
def test_mistake_is_one_clean_line(line: str, message: str) -> None:
    with pytest.raises(OptionError, match=f"^{re.escape(message)}$"):
        parse_line(line)


def test_hostile_word_is_shown_short_and_tame() -> None:
    with pytest.raises(OptionError, match="unknown option") as caught:
        parse_line("--x\x1b[31m" + "y" * 100_000)
    shown = str(caught.value)
    assert len(shown) < 200
    assert "\x1b" not in shown


def test_value_with_dashes_needs_equals_sign() -> None:
    assert parse_line("--title=--x").title == "--x"


def test_line_fields_and_table_agree() -> None:
    keys = {option.key for option in LINE_OPTIONS.values()} - LIMIT_KEYS
    assert keys | {"variable", "limits"} == set(LineOptions.__dataclass_fields__)


def test_table_knows_each_budget_of_limits() -> None:
    assert set(Limits.model_fields) == LIMIT_KEYS


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: str(option.name))
def test_table_tells_the_real_default(option: Option) -> None:
    fields = Limits.model_fields if option.key in LIMIT_KEYS else DebateSpec.model_fields
    # What depends on the kind of debate is in words.
    if option.key not in fields or option.key in ("seats", "context", "kind", "memory"):
        return
    real = fields[option.key].default
    if isinstance(real, bool):
        assert option.default == ("on" if real else "off")
    elif option.form in (Form.COUNT, Form.NUMBER):
        assert option.default == ("" if real is None else f"{real:g}")
    elif option.form is Form.CHOICE:
        assert option.default == real


@pytest.mark.parametrize("name", ["kind", "gates"])
def test_table_choices_are_those_of_the_spec(name: str) -> None:
    literal = DebateSpec.model_fields[name].annotation
    assert getattr(literal, "__args__", ()) == LINE_OPTIONS[name].choices


def test_table_knows_every_memory_of_both_kinds() -> None:
    memory = LINE_OPTIONS["memory"]
    known = {name for names in MEMORIES.values() for name in names}
    assert {*memory.choices, memory.metavar} == known
    assert [memory.read(text) for text in ("turn", "window:3")] == ["turn", "window:3"]


@pytest.mark.parametrize(
    ("kind", "given"),
    [("discussion", "gates"), ("discussion", "chairman"), ("review", "observer_prompt")],
)
def test_option_of_the_other_kind_is_refused(kind: str, given: str) -> None:
    with pytest.raises(OptionError, match=f"belongs to a .*; this is a {kind}$"):
        check_kind(kind, ["rounds", given])


def test_table_bounds_are_those_of_the_spec() -> None:
    assert LINE_OPTIONS["rounds"].most == MAX_ROUNDS
    assert LINE_OPTIONS["tool-preview"].most == MAX_TOOL_PREVIEW
    assert f"{MIN_OPTIONS} to" in OPTIONS[0].help


def test_seat_fields_are_those_of_seat() -> None:
    not_text = {"name", "model", "script", "tools"}
    assert set(SEAT_FIELDS) == set(Seat.model_fields) - not_text


def test_negatable_options_have_both_words() -> None:
    names = line_names()
    assert {"--unattended", "--no-unattended", "--check"} <= set(names)
    assert "--no-check" not in names
