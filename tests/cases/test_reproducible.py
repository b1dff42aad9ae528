"""What keeps a notebook from being run again: records that miss or leak, and pages that misread."""

from __future__ import annotations

import ast
import shutil
from pathlib import Path

import pytest

import rt_notebook as rt
from tests.cases.catalogue import case, given, used_in_package
from tests.cases.reviews import calls_of, hear, prompts_of, row_of, speaker
from tests.engine.debates import VERDICT, reply
from tests.source_tree import package_modules, tree_of

RECORD = "review.jsonl"


def _panel() -> list[rt.Seat]:
    """Returns two seats that say something else in every round, and a chairman."""
    points = [[reply(f"opt-{n}", f"{name} in round {number}") for number in range(4)]
              for n, name in ((1, "ana"), (2, "bo"))]  # fmt: skip
    return [
        speaker("ana", *points[0]),
        speaker("bo", *points[1]),
        speaker("boss", VERDICT),
    ]


def _run(
    panel: list[rt.Seat], question: str = "Shall we do it now?", **settings: object
) -> rt.Result:
    return rt.Review(
        question,
        options=["Yes", "No"],
        seats=panel[:2],
        chairman=panel[2],
        unattended=True,
        rounds=3,
        loop_threshold=0,
        record=RECORD,
        **settings,  # type: ignore[arg-type]  # checked by Review itself
    ).run_sync()


def _asked(panel: list[rt.Seat]) -> list[int]:
    return [len(calls_of(seat)) for seat in panel]


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@case("a6-scn-02")
def test_nothing_reads_the_notebooks_standard_input() -> None:
    """Forms, `answer` and the countdown are the ways through a gate."""
    assert used_in_package("input", "getpass", "raw_input") <= {"input"}
    assert not _calls_input()


def _calls_input() -> list[str]:
    """Returns where the built-in `input` is called; elsewhere the word names fields."""
    return [
        module
        for module, path in package_modules().items()
        if "input(" in path.read_text(encoding="utf-8")
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "input"
    ]


@case("a6-scn-03")
def test_changed_word_is_refused_and_calls_nobody() -> None:
    _run(_panel())
    kept = Path(RECORD).read_bytes()
    panel = _panel()
    with pytest.raises(rt.RecordMismatchError, match="question") as raised:
        _run(panel, "Shall we do it later?")
    assert (raised.value.facts["seat"], raised.value.facts["round"]) == ("ana", 0)
    assert "now" in str(raised.value)
    assert "later" in str(raised.value)
    assert _asked(panel) == [0, 0, 0]
    assert Path(RECORD).read_bytes() == kept


@case("a6-scn-04")
def test_record_fits_on_another_day_in_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = _panel()
    first = _run(panel)
    other = tmp_path / "elsewhere"
    other.mkdir()
    shutil.copy(RECORD, other)
    monkeypatch.chdir(other)
    monkeypatch.setenv("TZ", "Pacific/Auckland")
    monkeypatch.setattr("time.time_ns", lambda: 1_900_000_000_000_000_000)
    again = _panel()
    second = _run(again)
    assert _asked(again) == [0, 0, 0]
    assert second.replies.equals(first.replies)
    # Prompts hold no clock, path or id: asked anew, they are the same words.
    anew = _panel()
    Path(RECORD).unlink()
    _run(anew)
    assert [prompts_of(seat) for seat in anew] == [prompts_of(seat) for seat in panel]
    prompts = "".join(text for seat in anew for text in prompts_of(seat))
    assert not any(word in prompts for word in (str(tmp_path), first.id, "2030"))


@case("a6-scn-05")
def test_each_round_replays_its_own_reply() -> None:
    _run(_panel())
    again = _run(_panel())
    for name in ("ana", "bo"):
        said = [row_of(again, name, number)["disagree"] for number in range(4)]
        assert said == [[f"{name} in round {number}"] for number in range(4)]
    # Another persona is another call: nothing is served for it.
    panel = _panel()
    panel[0] = rt.Seat("ana", model=panel[0].function, persona="A sceptic.")
    with pytest.raises(rt.RecordMismatchError, match="persona"):
        _run(panel)
    assert _asked(panel) == [0, 0, 0]


@case("a6-render-16")
def test_two_amounts_of_dollars_are_no_formula() -> None:
    result = hear(_complete("a6-render-16"))
    bundle = result._repr_mimebundle_()
    # What typesets formulas takes no code, and no dollar that an element of its own holds.
    assert "from `$20` to `$35` per seat" in bundle["text/markdown"]
    assert "<span>$</span>20 to <span>$</span>35 per seat" in bundle["text/html"]
    assert row_of(result)["new"] == ["going from $20 to $35 per seat is fine"]


@case("a6-render-17")
def test_markup_of_a_model_is_text() -> None:
    result = hear(_complete("a6-render-17"))
    html = result._repr_mimebundle_()["text/html"]
    assert "<img" not in html
    assert "<script" not in html
    assert "onerror=alert(1)&gt;" in html
    assert 'href="javascript:' not in html.casefold()
    markdown = result._repr_mimebundle_()["text/markdown"]
    assert "<img" not in markdown.replace("\\<img", "").replace("&lt;img", "")


def _complete(id: str) -> str:
    return f"{given(id)}\nAGREE_WITH: none\nDISAGREE: none\nASSUMPTIONS: none"
