"""Which seat a name means, and who chairs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rt_notebook.config import (
    BUILT_IN,
    Config,
    choose_seats,
    load_config,
    resolve_chairman,
    resolve_seats,
    seat_names,
    seat_table,
)
from rt_notebook.domain.script import scripted
from rt_notebook.domain.seat import Seat, check_seats
from rt_notebook.errors import OptionError, SeatError

NOTHING = Config()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Returns the folder of a project, above the notebook's."""
    return tmp_path / "project"


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns the user's own file, which is empty at first."""
    path = tmp_path / "own" / "config.toml"
    path.parent.mkdir()
    path.write_text("", encoding="utf-8")
    monkeypatch.setenv("RT_NOTEBOOK_CONFIG", str(path))
    return path


def read(project: Path, text: str) -> Config:
    """Writes a project's file and reads it from a notebook's folder two levels below."""
    notebooks = project / "deep" / "notebooks"
    notebooks.mkdir(parents=True, exist_ok=True)
    (project / "roundtable.toml").write_text(text, encoding="utf-8")
    return load_config(notebooks)


def answer(call: object) -> str:
    """Sits in a seat."""
    return f"PASS {call}"


def test_three_scripted_seats_sit_by_default() -> None:
    seats = resolve_seats(None, {}, NOTHING)
    assert [(seat.name, seat.model) for seat in seats] == [
        ("pm", "scripted"),
        ("dev", "scripted"),
        ("rv", "scripted"),
    ]
    assert len({(seat.lens, seat.mood) for seat in check_seats(BUILT_IN)}) == 3
    assert not any(seat.hidden for seat in BUILT_IN)


def test_files_default_seats_sit_where_none_is_named(project: Path) -> None:
    found = read(project, "[defaults]\nseats = ['Ana', 'rv']\n[seats.ana]\nlens = 'cost'")
    assert [(s.name, s.lens) for s in resolve_seats(None, {}, found)] == [
        ("ana", "cost"),
        ("rv", "risk"),
    ]


def test_names_are_looked_up_in_order(project: Path, user: Path) -> None:
    user.write_text(
        "[seats.a]\nlens='user'\n[seats.b]\nlens='user'\n[seats.c]\nlens='user'\n[seats.pm]\nlens='user'",
        encoding="utf-8",
    )
    found = read(project, "[seats.a]\nlens='project'\n[seats.b]\nlens='project'")
    variables = {"a": Seat("a", lens="variable"), "b": 3, "rv": "text"}
    seats = resolve_seats(["a", "b", "c", "pm", "rv"], variables, found)
    assert [seat.lens for seat in seats] == ["variable", "project", "user", "user", "risk"]


def test_variable_seat_keeps_its_own_name() -> None:
    seat = Seat("Ana B", model=answer)
    found = resolve_seats(["s", "rv"], {"s": seat}, NOTHING)
    assert found[0] is seat


def test_pair_means_a_variable_before_a_model() -> None:
    script = scripted(["PASS"])
    variables = {"human": answer, "steps": script, "scripted": 3}
    a, b, c, d = resolve_seats(
        ["a=human", "b = steps", "c=scripted", "d=python:m:f"], variables, NOTHING
    )
    assert (a.model, a.function) == ("function:human", answer)  # where a resume finds it
    assert (b.model, b.script) == ("scripted", tuple(script))
    assert (c.model, c.function, c.script) == ("scripted", None, None)
    assert d.model == "python:m:f"


def test_seats_and_names_may_be_mixed() -> None:
    seat = Seat("Ana", model=answer)
    assert resolve_seats([seat, "rv"], {}, NOTHING) == [seat, BUILT_IN[2]]
    with pytest.raises(SeatError, match="no provider is named 'opnai'; did you mean 'openai'"):
        resolve_seats([Seat("x", model="opnai:y"), "rv"], {}, NOTHING)


def test_pair_may_name_a_seat_anew() -> None:
    seat = Seat("x", model=answer, lens="cost", timeout_s=3)
    found = resolve_seats(["boss=x", "rv"], {"x": seat}, NOTHING)[0]
    assert (found.name, found.lens, found.timeout_s, found.function) == ("boss", "cost", 3, answer)


def test_seat_lines_of_a_cell_are_resolved() -> None:
    requests: list[dict[str, object]] = [
        {"name": "a", "model": "f", "lens": "cost", "timeout_s": 2.0},
        {"name": "rv", "mood": "contrarian"},
    ]
    a, rv = resolve_seats(requests, {"f": answer}, NOTHING)
    assert (a.name, a.lens, a.timeout_s, a.function) == ("a", "cost", 2.0, answer)
    assert (rv.name, rv.lens, rv.mood) == ("rv", "risk", "contrarian")


def test_script_beside_a_file_is_found_there(project: Path) -> None:
    found = read(project, "[seats.a]\nmodel = 'scripted:scripts/a.toml'")
    model = resolve_seats(["a", "rv"], {}, found)[0].model
    assert model == f"scripted:{project / 'scripts' / 'a.toml'}"


WHAT = ("a model such as 'openai:MODEL', 'anthropic:MODEL', 'google:MODEL', 'cli:claude' or "
        "'cli:codex', 'python:module:function', 'human', 'scripted', or a variable that holds a "
        "function or a script")  # fmt: skip


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("dve", "no seat is named 'dve' (known: ana, pm, dev, rv); did you mean 'dev'?"),
        ("zzz", "no seat is named 'zzz' (known: ana, pm, dev, rv)"),
        ("", "no seat is named '' (known: ana, pm, dev, rv)"),
        ("f", "no seat is named 'f' (known: ana, pm, dev, rv); the variable f holds no Seat, "
         "give it a seat's name: NAME=f"),
        ("human", "no seat is named 'human' (known: ana, pm, dev, rv); to seat a model, "
         "give it a name: NAME=human"),
        ("=human", "the seat '=human' is not of the form name=model"),
        ("a=", "the seat 'a=' is not of the form name=model"),
        ("a=opnai:gpt-5", "a=opnai:gpt-5: no provider is named 'opnai'; did you mean 'openai'?; "
         f"a seat takes {WHAT}"),
        ("a=function:f", f"a=function:f: no provider is named 'function'; a seat takes {WHAT}"),
        ("a=scriptd", "a=scriptd: 'scriptd' is no variable and no model; did you mean 'scripted'?; "
         f"a seat takes {WHAT}"),
        ("a=n", "a=n: the variable 'n' holds a value of type int; a seat takes " + WHAT),
    ],
)  # fmt: skip
def test_seat_that_cannot_sit_is_one_clear_error(name: str, message: str) -> None:
    variables = {"ana": Seat("ana"), "_1": Seat("hidden"), "f": answer, "n": 3}
    with pytest.raises(SeatError, match=f"^{re.escape(message)}$"):
        resolve_seats([name, "rv"], variables, NOTHING)


def test_seat_that_cannot_sit_fails_only_when_named(project: Path) -> None:
    found = read(project, "[seats.gpt]\nmodel = 'opnai:gpt-5'\n[seats.ana]\nmood = 'grumpy'")
    assert len(resolve_seats(["pm", "rv"], {}, found)) == 2
    where = re.escape(f"{project / 'roundtable.toml'}: [seats.gpt]: gpt=opnai:gpt-5: no provider")
    with pytest.raises(SeatError, match=where):
        resolve_seats(["gpt", "rv"], {}, found)
    with pytest.raises(SeatError, match=r"\[seats\.ana\]: Seat: mood='grumpy'"):
        resolve_seats(["ana", "rv"], {}, found)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["pm", "PM"], "two seats are named 'pm'; names are unique without regard to case"),
        (["pm"], "a debate has 2 to 26 seats; got 1"),
    ],
)
def test_seats_are_checked_together(names: list[str], message: str) -> None:
    with pytest.raises(SeatError, match=f"^{re.escape(message)}$"):
        resolve_seats(names, {}, NOTHING)


def test_line_and_section_cannot_both_name_seats() -> None:
    assert choose_seats(None, ()) is None
    assert choose_seats(("pm",), ()) == ("pm",)
    assert choose_seats(None, ({"name": "pm"},)) == ({"name": "pm"},)
    with pytest.raises(OptionError, match="--seats and the section `seats:` both name seats"):
        choose_seats(("pm",), ({"name": "pm"},))


def chair(text: str | None, config: Config = NOTHING, **variables: object) -> Seat | None:
    """Returns the chairman of a debate of three seats."""
    seats = [Seat("Ana", model=answer, persona="own words"), Seat("bo"), Seat("cy")]
    return resolve_chairman(text, variables, config, seats)


def test_nobody_chairs_unless_named() -> None:
    assert chair(None) is None


def test_seat_of_the_debate_chairs_with_its_definition() -> None:
    found = chair("ana", ana=Seat("other"))
    assert found is not None
    assert (found.name, found.persona, found.function) == ("chairman", "own words", answer)


def test_variable_chairs_under_the_chairmans_name() -> None:
    found = [
        chair("s", s=Seat("Boss", lens="cost")),
        chair("f", f=answer),
        chair("x", x=scripted([])),
    ]
    assert [seat and seat.name for seat in found] == ["chairman"] * 3
    assert [seat and seat.model for seat in found] == ["scripted", "function:f", "scripted"]


def test_file_seat_or_model_can_chair(project: Path) -> None:
    found = read(project, "[seats.boss]\nlens = 'cost'")
    by_name, by_model = chair("boss", found), chair("human", found)
    assert by_name is not None
    assert by_model is not None
    assert (by_name.lens, by_model.model) == ("cost", "human")


def test_unknown_chairman_offers_the_nearest() -> None:
    problem = "chairman=bos: 'bos' is no variable and no model; did you mean 'boss'?"
    message = f"{problem}; a seat takes {WHAT}"
    with pytest.raises(SeatError, match=f"^{re.escape(message)}$"):
        chair("bos", boss=answer)


def test_projects_chairman_cannot_pick_a_function(project: Path, user: Path) -> None:
    found = read(project, "[review]\nchairman = 'exit'")
    with pytest.raises(SeatError, match="'exit' is no variable and no model"):
        chair(None, found, exit=answer)
    user.write_text("[review]\nchairman = 'exit'", encoding="utf-8")
    trusted = chair(None, read(project, ""), exit=answer)
    assert trusted is not None
    assert trusted.function is answer


def test_call_goes_before_the_files_chairman(project: Path) -> None:
    found = read(project, "[review]\nchairman = 'bo'")
    named, given = chair(None, found), chair("human", found)
    assert named is not None
    assert given is not None
    assert (named.model, given.model) == ("scripted", "human")


def test_table_lists_every_seat_that_can_be_named(project: Path, user: Path) -> None:
    user.write_text(
        "[seats.pm]\nmodel = 'human'\n[seats.gpt]\nmodel = 'openai:x'", encoding="utf-8"
    )
    found = read(project, "[seats.ana]\nlens = 'cost'")
    variables = {"s": Seat("Sam", model=answer), "_": Seat("hidden"), "f": answer}
    rows = seat_table(found, variables)
    assert [(row["name"], row["seat"], row["model"], row["source"]) for row in rows] == [
        ("s", "Sam", "function:answer", "variable"),
        ("ana", "ana", "scripted", "project"),
        ("pm", "pm", "human", "user"),
        ("gpt", "gpt", "openai:x", "user"),
        ("dev", "dev", "scripted", "built-in"),
        ("rv", "rv", "scripted", "built-in"),
    ]
    assert "no key: set the environment variable OPENAI_API_KEY" in str(rows[3]["problem"])
    assert [row["auth"] for row in rows] == ["none"] * 6
    assert [row["problem"] for row in rows if row["name"] != "gpt"] == [None] * 5
    assert seat_names(variables, found) == ["s", "ana", "pm", "gpt", "dev", "rv"]
