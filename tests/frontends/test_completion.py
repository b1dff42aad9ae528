"""Tab in a `%%roundtable` cell, asked of a real IPython completer."""

from __future__ import annotations

import atexit
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell

from rt_notebook.contract.line import parse_line
from rt_notebook.contract.options import LINE_OPTIONS, SECTIONS, line_names
from rt_notebook.domain.seat import Seat
from rt_notebook.frontends.completion import Found, complete, install, uninstall
from rt_notebook.frontends.help_text import WIDTH, cell_help


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Returns a shell with the matcher and two variables, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    shell: Any = InteractiveShell()  # type: ignore[no-untyped-call] # IPython's is untyped
    shell.user_ns.update({"ana": Seat("Ana"), "p95": 41})
    install(shell)
    yield shell
    uninstall(shell)
    # Left to a garbage collection, its thread and database would end at any time, in any thread.
    atexit.unregister(shell.atexit_operations)
    shell.atexit_operations()
    InteractiveShell.clear_instance()


def tab(shell: Any, cell: str, after: str | None = None) -> list[tuple[str, str]]:
    """Returns what Tab at the end (or behind `after`) offers, each with the text it replaces."""
    place = len(cell) if after is None else cell.index(after) + len(after)
    with provisionalcompleter():
        found = shell.Completer.completions(cell, place)
        return [(item.text, cell[item.start : item.end]) for item in found]


@pytest.mark.parametrize(
    ("cell", "offered"),
    [
        ("%%roundtable --ro", [("--rounds", "--ro")]),
        ("%%roundtable x --no-", [(name, "--no-") for name in
                                  ("--no-anonymous", "--no-unattended", "--no-display",
                                   "--no-api-billing")]),
        ("# why\n\n%%time\n%%roundtable --max-ca",
         [("--max-calls", "--max-ca"), ("--max-calls-per-vendor", "--max-ca")]),
        ("%%roundtable --gates ", [("timed", ""), ("blocking", ""), ("off", "")]),
        ("%%roundtable --gates b", [("blocking", "b")]),
        ("%%roundtable --gates=b", [("blocking", "b")]),
        ("%%roundtable --seats ", [(name, "") for name in ("ana", "pm", "dev", "rv")]),
        ("%%roundtable --seats pm,", [("ana", ""), ("dev", ""), ("rv", "")]),
        ("%%roundtable --seats pm,d", [("dev", "d")]),
        ("%%roundtable --chairman a", [("ana", "a")]),
        ("%%roundtable --with p9", [("p95", "p9")]),
        ("%%roundtable --context ana,p9", [("p95", "p9")]),
        ("%%roundtable\nQ\n\nop", [("options:", "op")]),
        ("%%roundtable --memory full\nQ\nKN", [("known:", "KN")]),
    ],
)  # fmt: skip
def test_tab_offers_what_fits(shell: Any, cell: str, offered: list[tuple[str, str]]) -> None:
    assert tab(shell, cell) == offered


def test_every_option_is_offered_at_a_new_word(shell: Any) -> None:
    assert [text for text, _ in tab(shell, "%%roundtable payments ")] == list(line_names())


def test_options_behind_the_cursor_are_not_offered_again(shell: Any) -> None:
    offered = tab(shell, "%%roundtable --m --max-cost 1", after="--m")
    assert ("--max-cost", "--m") not in offered
    assert ("--memory", "--m") in offered


@pytest.mark.parametrize(
    "given", ["--rounds 2 --round", "--round --rounds 2", "--rounds=2 --round"]
)
def test_given_option_is_not_offered_again(given: str) -> None:
    cell = f"%%roundtable {given}"
    column = cell.index("--round ") + 7 if "--round " in cell else len(cell)
    assert complete(cell, 0, column, nobody, nobody) == Found("--round", ())


def test_option_turned_off_is_not_offered_on() -> None:
    cell = "%%roundtable --no-unattended --unatt"
    assert complete(cell, 0, len(cell), nobody, nobody) == Found("--unatt", ())


def test_seats_come_from_the_nearest_file(shell: Any, tmp_path: Path) -> None:
    (tmp_path / "roundtable.toml").write_text("[seats.zoe]\n[seats.'Zed X']\n", encoding="utf-8")
    assert tab(shell, "%%roundtable --seats z") == [("zoe", "z")]


def test_broken_file_breaks_no_completion(shell: Any, tmp_path: Path) -> None:
    (tmp_path / "roundtable.toml").write_text("[seat", encoding="utf-8")
    assert tab(shell, "%%roundtable --ro") == [("--rounds", "--ro")]
    assert ("dev", "d") not in tab(shell, "%%roundtable --seats d")


def nobody() -> list[str]:
    """Names nobody, and should not be asked."""
    raise AssertionError("names were asked for")


@pytest.mark.parametrize(
    "cell",
    [
        "import o",
        "%%round",
        "%%roundtable",
        "%%roundtables --ro",
        "%roundtable --ro",
        "x = 1\n%%roundtable --ro",
        "%%roundtable pay",
        "%%roundtable --title a",
        "%%roundtable --seats pm=scr",
        "%%roundtable\n",
        "%%roundtable\nSome op",
        "%%roundtable\n- op",
        "%%roundtable\nxyz",
        "%%roundtable\n```\nop",
        "%%roundtable\nQ\noptions:\n- a\nop",
    ],
)
def test_completion_is_quiet_elsewhere(cell: str) -> None:
    lines = cell.split("\n")
    assert complete(cell, len(lines) - 1, len(lines[-1]), nobody, nobody) is None


def test_names_are_asked_for_only_where_they_fit() -> None:
    cell = "%%roundtable --seats a,b"
    assert complete(cell, 0, len(cell), lambda: ["bo", "a b", "cy"], nobody) == Found("b", ("bo",))


def test_python_completion_goes_on_elsewhere(shell: Any) -> None:
    assert ("p95", "p9") in tab(shell, "p9")
    assert ("path", "pa") in tab(shell, "import os\nos.pa")


def test_install_twice_keeps_one_matcher(shell: Any) -> None:
    install(shell)
    assert len(shell.Completer.custom_matchers) == 1
    uninstall(shell)
    uninstall(shell)
    assert shell.Completer.custom_matchers == []


def test_matchers_of_others_are_kept(shell: Any) -> None:
    def other(_text: str) -> list[str]:
        return []

    shell.Completer.custom_matchers.append(other)
    install(shell)
    uninstall(shell)
    assert shell.Completer.custom_matchers == [other]


def test_help_names_every_option_and_section() -> None:
    text = cell_help()
    for option in LINE_OPTIONS.values():
        name = f"--[no-]{option.name}" if option.negatable else option.typed
        assert f"\n  {name} " in text
    for name in SECTIONS:
        assert f"\n  {name}: " in text


def test_help_shows_default_and_choices() -> None:
    text = cell_help()
    entry = "whether a person is asked between rounds, and for how long"
    start = f"  --gates timed|blocking|off      {entry}\n"
    assert f"{start}{' ' * 34}(default: timed)\n" in text


def test_help_fits_its_width() -> None:
    assert max(map(len, cell_help().split("\n"))) <= WIDTH


def test_help_shows_a_line_that_can_be_read() -> None:
    example = cell_help().rpartition("%%roundtable ")[2].split("\n")[0]
    assert parse_line(example).seats == ("pm", "dev", "rv")
