"""What the command line says of debates that are kept: in its own words, and by their status."""

from __future__ import annotations

import os

import pytest

import rt_notebook as rt
from rt_notebook.frontends import agent, cli
from rt_notebook.frontends.agent_next import typed_line


@pytest.fixture
def paused() -> str:
    """The id of a debate that a budget has paused."""
    result = rt.Review(
        "Ship now?",
        options=["Ship", "Wait"],
        unattended=True,
        limits=rt.Limits(max_calls=4, on_limit="pause"),
    ).run_sync()
    assert result.status == "paused"
    return result.id


def test_report_names_the_command_that_goes_on(
    paused: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["show", paused]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f"{typed_line()('resume', paused)} goes on where it ended" in shown
    assert "%roundtable" not in shown
    # In a notebook, and in Python, it stays what a cell takes.
    assert f"%roundtable resume {paused}" in str(rt.load(paused))


def test_named_store_is_in_the_command_too(
    paused: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = os.environ["RT_NOTEBOOK_STORE"]
    monkeypatch.delenv("RT_NOTEBOOK_STORE")
    assert cli.main(["show", paused, "--store", place]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f"resume {paused} --store" in shown


def test_refusal_names_the_command_that_goes_on(
    paused: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["extend", paused]) == 1
    said = capsys.readouterr().err
    assert f"go on with it first (rt-notebook resume {paused}), then extend it" in said
    assert agent.main(["extend", "--id", paused]) == 1
    assert f"go on with it first (resume {paused}), then extend it" in capsys.readouterr().out
    with pytest.raises(rt.NotResumableError, match=rf"\(%roundtable resume {paused}\)"):
        _ = rt.extend(paused)


def test_list_knows_the_statuses(paused: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["list", "--status", "paused"]) == 0
    assert paused in capsys.readouterr().out
    for line in (["list", "--status", "pausd"], ["list", "--status", "pausd", "--json"]):
        assert cli.main(line) == 2
        said = capsys.readouterr()
        assert (said.out, "--status takes one of researching, running" in said.err) == ("", True)
    assert agent.main(["list", "--status", "pausd"]) == 2
    assert "'paused', 'interrupted' or 'error'; got 'pausd'" in capsys.readouterr().out
