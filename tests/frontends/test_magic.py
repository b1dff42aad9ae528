"""`%%roundtable` and `%roundtable` in a shell: variables, options, errors, and the verbs by id."""

from __future__ import annotations

import os
import textwrap
from pathlib import Path

import pandas as pd
import pytest

import rt_notebook as rt
from rt_notebook.frontends.help_text import cell_help
from tests.frontends.shells import QUESTION, Counted, Shell

# ---- the variable -------------------------------------------------------------------------------


def test_result_lands_in_named_variable(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    shell.run("6 * 7")
    value = shell.run(f"%%roundtable ship --rounds 2\n{QUESTION}")
    result = shell.names["ship"]
    assert value is None
    assert result is shell.names["roundtable_result"]
    assert (result.status, result.spec.rounds, result.spec.brief.options) == (
        "done",
        2,
        ("Ship", "Wait"),
    )
    assert result.spec.brief.question == "Ship now?"
    assert shell.names["_"] == 42
    assert "The data: ship.replies" in capsys.readouterr().out


def test_without_name_only_last_result_is_set(shell: Shell) -> None:
    before = set(shell.names)
    shell.run(f"%%roundtable\n{QUESTION}")
    new = {name for name in set(shell.names) - before if not name.startswith("_")}
    assert new == {"roundtable_result"}


def test_second_cell_keeps_first_variable(shell: Shell) -> None:
    shell.run(f"%%roundtable first\n{QUESTION}")
    shell.run(f"%%roundtable second\n{QUESTION}")
    assert shell.names["first"].id != shell.names["second"].id
    assert shell.names["roundtable_result"] is shell.names["second"]


def test_failed_debate_is_returned_not_raised(shell: Shell) -> None:
    shell.put(bad=rt.scripted([rt.fail("auth"), rt.fail("auth")]))
    shell.run(f"%%roundtable out --seats a=bad,b=bad\n{QUESTION}")
    result = shell.names["out"]
    assert (result.status, result.stop_reason) == ("error", "error")
    assert list(result.calls.outcome) == ["failed", "failed"]


# ---- nothing is called --------------------------------------------------------------------------


def test_help_is_printed_and_nothing_runs(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    shell.run("%%roundtable out --rounds nonsense --help\n")
    assert capsys.readouterr().out.strip() == cell_help().strip()
    assert "roundtable_result" not in shell.names
    assert shell.ip.find_cell_magic("roundtable").__doc__ == cell_help()


def test_check_shows_estimate_and_calls_nothing(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    counted = Counted()
    shell.put(fn=counted, notes="Quiet week.")
    shell.run(f"%%roundtable out --seats a=fn,b=scripted --context notes --check\n{QUESTION}")
    said = capsys.readouterr().out
    assert "Calls: 5 expected (3 to 10)" in said
    assert "function" in said
    assert "notes" in said
    assert counted.prompts == []
    assert "out" not in shell.names
    assert rt.debates().empty


SHORT = "Ship?\noptions:\n- A\n- B\n"
MISTAKES = {
    "unknown option": (f"--roundz 2\n{SHORT}", rt.OptionError, r"'--roundz' .*'--rounds'"),
    "abbreviation": (f"--roun 2\n{SHORT}", rt.OptionError, r"'--roun' .*'--rounds'"),
    "short form": (f"-r 2\n{SHORT}", rt.OptionError, r"'-r'.*no short options"),
    "unclosed quote": (f"--title 'abc\n{SHORT}", rt.OptionError, r"unclosed quote ' before 'abc'"),
    "bad number": (f"--rounds two\n{SHORT}", rt.OptionError, r"--rounds takes .*'two'"),
    "too many rounds": (f"--rounds 51\n{SHORT}", rt.OptionError, r"from 0 to 50; got '51'"),
    "second name": (f"other\n{SHORT}", rt.OptionError, r"'other' is a second word"),
    "misspelt section": ("\nShip?\noptoins:\n- A\n- B\n", rt.BriefError, r"'optoins:'.*'options:'"),
    "one option": (
        "\nShip?\noptions:\n- A\n",
        rt.BriefError,
        r"options: 2 to 12 are allowed, got 1",
    ),
    "no question": ("\noptions:\n- A\n- B\n", rt.BriefError, r"question"),
    "reserved label": ("\nShip?\noptions:\n- opt-2\n- B\n", rt.BriefError, r"opt-2"),
    "unknown --with": (f"--with p95\n{SHORT}", rt.OptionError, r"no variable 'p95'"),
    "unknown --context": (f"--context df\n{SHORT}", rt.OptionError, r"no variable 'df'"),
    "bad format": ("--with n\nShip {n:q}?\noptions:\n- A\n- B\n", rt.OptionError, r"\{n:q\}"),
    "unknown seat": (f"--seats pn,dev\n{SHORT}", rt.SeatError, r"'pn' \(known: pm, dev, rv\)"),
    "unknown model": (f"--seats a=nosuch:x,dev\n{SHORT}", rt.SeatError, r"nosuch:x"),
    "seats twice": (f"--seats pm,dev\n{SHORT}seats:\n- a=scripted\n", rt.OptionError, r"seats"),
    "one seat": (f"--seats pm\n{SHORT}", rt.SeatError, r"2"),
    "limit too low": (f"--max-calls 3\n{SHORT}", rt.LimitError, r"max_calls"),
    "person needed": (f"--seats pm,me=human\n{SHORT}", rt.SeatError, r"'me' is a person"),
    "nobody confirms": (f"--seats pm,a=fn --confirm-above 1\n{SHORT}", rt.LimitError, r"nobody"),
}


@pytest.mark.parametrize(("rest", "error", "match"), MISTAKES.values(), ids=MISTAKES)
def test_mistake_is_one_line_before_any_call(
    shell: Shell,
    capsys: pytest.CaptureFixture[str],
    rest: str,
    error: type[Exception],
    match: str,
) -> None:
    counted = Counted()
    shell.put(n=1, fn=counted)
    with pytest.raises(error, match=match) as caught:
        shell.run(f"%%roundtable out {rest}")
    shown = capsys.readouterr()
    lines = [line for line in (shown.out + shown.err).splitlines() if line.strip()]
    assert lines == [f"{error.__name__}: {caught.value}"]
    assert counted.prompts == []
    assert "out" not in shell.names
    assert rt.debates().empty


# ---- variables in the text ----------------------------------------------------------------------


def test_named_variables_fill_the_body_only(shell: Shell) -> None:
    shell.put(p95=241.618, evil="{p95} $p95 {other}")
    shell.run(
        "%%roundtable out --with p95,evil\nIs {p95:.1f} ms {too} much? $p95 {{x}} {evil}\n"
        "options:\n- {p95} is fine\n- No"
    )
    brief = shell.names["out"].spec.brief
    assert brief.question == "Is 241.6 ms {too} much? $p95 {{x}} {p95} $p95 {other}"
    assert brief.options == ("241.618 is fine", "No")


def test_body_without_with_stays_as_typed(shell: Shell) -> None:
    shell.put(p95=1)
    shell.run("%%roundtable out\nIs {p95} ms > $p95? !ls %time\noptions:\n- {x}\n- $y")
    brief = shell.names["out"].spec.brief
    assert brief.question == "Is {p95} ms > $p95? !ls %time"
    assert brief.options == ("{x}", "$y")


def test_attached_frame_reaches_every_seat(shell: Shell) -> None:
    counted = Counted()
    shell.put(fn=counted, rain=pd.DataFrame({"days": [3, 41]}, index=["July", "May"]))
    shell.run(f"%%roundtable out --seats a=fn,b=scripted --rounds 0 --context rain\n{QUESTION}")
    (prompt,) = counted.prompts
    assert "rain" in prompt
    assert "| May" in prompt
    assert "41" in prompt
    assert "int64" in prompt


# ---- seats --------------------------------------------------------------------------------------


def test_seats_come_from_variables_of_every_kind(shell: Shell) -> None:
    counted = Counted()
    shell.put(
        ana=rt.Seat("Ana", lens="cost"), fn=counted, plan=rt.scripted([rt.say(stance="Ship")])
    )
    shell.run(f"%%roundtable out --seats ana,b=fn,c=plan,rv --rounds 0\n{QUESTION}")
    result = shell.names["out"]
    assert [(seat.name, seat.model) for seat in result.spec.seats] == [
        ("Ana", "scripted"),
        ("b", "function:fn"),
        ("c", "scripted"),
        ("rv", "scripted"),
    ]
    assert len(counted.prompts) == 1
    assert result.stances.loc["b", 0] == "Wait"
    assert result.stances.loc["c", 0] == "Ship"


def test_seats_section_sets_lens_and_mood(shell: Shell) -> None:
    shell.put(fn=Counted())
    body = f"{QUESTION}seats:\n- a=fn; lens=cost\n- b=scripted; lens=risk; mood=grill\n"
    shell.run(f"%%roundtable out\n{body}")
    seats = shell.names["out"].spec.seats
    assert [(seat.name, seat.lens, seat.mood) for seat in seats] == [
        ("a", "cost", None),
        ("b", "risk", "grill"),
    ]


def test_nearest_file_names_seats_and_defaults(shell: Shell, tmp_path: Path) -> None:
    text = """
    [review]
    rounds = 0
    [seats.critic]
    model = "scripted"
    lens = "long-term effects"
    """
    (tmp_path / "roundtable.toml").write_text(textwrap.dedent(text), encoding="utf-8")
    (tmp_path / "deep" / "er").mkdir(parents=True)
    os.chdir(tmp_path / "deep" / "er")
    shell.run(f"%%roundtable out --seats critic,pm\n{QUESTION}")
    spec = shell.names["out"].spec
    assert (spec.seats[0].name, spec.seats[0].lens) == ("critic", "long-term effects")
    assert spec.rounds == 0
    shell.run(f"%%roundtable out --seats critic,pm --rounds 1\n{QUESTION}")
    assert shell.names["out"].spec.rounds == 1


def test_function_can_chair_the_review(shell: Shell) -> None:
    def chair(call: rt.Call) -> str:
        return (
            "RECOMMENDATION: Wait\nIt costs nothing.\nDISSENT: none\n"
            "KILL_CRITERIA:\n- costs: above 5\nOPEN_QUESTIONS: none"
        )

    shell.put(chair=chair)
    shell.run(f"%%roundtable out --chairman chair\n{QUESTION}")
    result = shell.names["out"]
    assert result.spec.chairman.model == "function:chair"
    assert result.calls.iloc[-1].purpose == "verdict"
    assert (result.verdict.status, result.verdict.pick) == ("ready", "opt-2")


def test_no_seats_says_no_model_was_asked(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    shell.run(f"%%roundtable\n{QUESTION}")
    said = " ".join(capsys.readouterr().out.split())
    assert "No model was asked: every seat is scripted." in said


def test_blocking_gates_without_person_warn(shell: Shell) -> None:
    shell.run(f"%%roundtable out --gates blocking\n{QUESTION}")
    result = shell.names["out"]
    assert result.status == "done"
    assert any("blocking" in line and "nobody can answer" in line for line in result.warnings)


# ---- around the cell ----------------------------------------------------------------------------

_CALL = f"get_ipython().run_cell_magic('roundtable', 'out', {QUESTION!r})"
WRAPPED = {
    "comment": f"# why\n\n%%roundtable out\n{QUESTION}",
    "time": f"%%time\n%%roundtable out\n{QUESTION}",
    "capture": f"%%capture\n%%roundtable out\n{QUESTION}",
    "both": f"%%time\n%%capture\n%%roundtable out\n{QUESTION}",
    "run_cell": f"get_ipython().run_cell({'%%roundtable out' + chr(10) + QUESTION!r});",
    "function": f"def go():\n    {_CALL}\ngo()",
    "loop": f"for _ in range(2):\n    {_CALL}",
}


@pytest.mark.parametrize("cell", WRAPPED.values(), ids=WRAPPED)
def test_cell_runs_wherever_it_stands(shell: Shell, cell: str) -> None:
    shell.run(cell)
    assert shell.names["out"].status == "done"


def test_capture_holds_what_the_cell_shows(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.run(f"%%capture held\n%%roundtable out\n{QUESTION}")
    assert "VERDICT" not in capsys.readouterr().out
    assert "VERDICT" in shell.names["held"].stdout


def test_two_debates_run_in_one_cell(shell: Shell) -> None:
    shell.run(
        "ra = rt.Review('A?', options=['x', 'y']).run_sync()\n"
        "rb = await rt.Review('B?', options=['x', 'y']).run()"
    )
    assert [shell.names[name].status for name in ("ra", "rb")] == ["done", "done"]
    assert shell.names["ra"].id != shell.names["rb"].id


def test_loading_twice_and_unloading(shell: Shell) -> None:
    shell.run("%reload_ext rt_notebook")
    shell.run(f"%%roundtable out\n{QUESTION}")
    shell.run("%unload_ext rt_notebook")
    assert shell.ip.find_cell_magic("roundtable") is None
    assert shell.ip.find_line_magic("roundtable") is None
    shell.run("%load_ext rt_notebook")
    shell.run(f"%%roundtable again\n{QUESTION}")
    assert shell.names["again"].status == "done"
