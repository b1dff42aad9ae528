"""Two debates side by side: brief, seats, stances, verdict, and how it is shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pandas as pd
import pytest

import rt_notebook as rt
from rt_notebook.analysis.diff import Diff, diff
from rt_notebook.analysis.result import Result
from rt_notebook.domain.brief import Brief
from rt_notebook.domain.reply import VerdictText
from rt_notebook.domain.seat import Seat
from rt_notebook.errors import OptionError, UnknownDebateError
from tests.analysis.debates import NASTY, Log, empty, full, spec_of

OPTIONS = ("Ship", "Wait")


def debate(
    votes: str = "12", pick: str | None = "opt-1", name: str = "one-abc123", **settings: Any
) -> Log:
    settings.setdefault("brief", Brief(question="Ship now?", options=OPTIONS))
    seats = settings.pop("seats", (Seat("a"), Seat("b")))
    log = Log(spec_of(*seats, **settings), name)
    log.start_round(0)
    for seat, vote in zip(seats, votes, strict=True):
        log.say(seat.name, f"opt-{vote}")
    log.add("verdict_started")
    if pick is not None:
        text = VerdictText(valid=True, pick=pick, recommendation=f"{pick}\nwhy").to_json()
        log.add("verdict_written", verdict=text)
        log.add("concluded", status="done", stop_reason="rounds")
    return log


def compared(one: Log, two: Log) -> Diff:
    return diff(Result(one.state, one.events), Result(two.state, two.events))


def rows(frame: Any) -> list[tuple[Any, ...]]:
    return [tuple(None if cell is pd.NA else cell for cell in row) for row in frame.to_numpy()]


def test_equal_debates_differ_in_nothing() -> None:
    found = compared(debate(), debate(name="two-abc123"))
    assert found.same
    assert not found.verdict_changed
    assert found.brief.empty
    assert found.seats.empty
    assert not found.stances["differs"].any()
    assert not found.verdict["differs"].any()
    assert repr(found) == (
        "<Diff of one-abc123 and two-abc123: The same verdict: Ship; no seat ends elsewhere.>"
    )


def test_changed_facts_are_told_one_by_one() -> None:
    one = Brief(question="Ship now?", options=OPTIONS, known=("six people", "p95 80 ms"))
    two = Brief(
        question="Ship?", options=OPTIONS, known=("six people", "p95 90 ms"), deadline="May"
    )
    found = compared(debate(brief=one), debate(brief=two, rounds=3))
    assert rows(found.brief) == [
        ("question", "Ship now?", "Ship?"), ("known", "p95 80 ms", None),
        ("known", None, "p95 90 ms"), ("deadline", None, "May"), ("rounds", "1", "3"),
    ]  # fmt: skip
    assert not found.same


def test_whoever_has_the_last_word_is_compared_like_a_seat() -> None:
    kind = Seat("boss", model="scripted", persona="Be kind.")
    cruel = Seat("boss", model="scripted", persona="Be cruel.", lens="cost")
    found = compared(debate(chairman=kind), debate(chairman=cruel, name="two-abc123"))
    assert not found.same
    assert rows(found.seats) == [
        ("chairman", "persona", "Be kind.", "Be cruel."),
        ("chairman", "lens", None, "cost"),
    ]


def test_entries_that_stand_twice_are_counted() -> None:
    one, two = (
        Brief(question="Ship now?", options=OPTIONS, known=known) for known in (("k", "k"), ("k",))
    )
    found = compared(debate(brief=one), debate(brief=two, name="two-abc123"))
    assert rows(found.brief) == [("known", "k", None)]


def test_tools_previews_and_research_are_compared() -> None:
    def look_up(what: str) -> str:
        """Looks it up."""
        return what

    seats = (Seat("a", model="openai:gpt-5", tools=(look_up,)), Seat("b"))
    plain = (Seat("a", model="openai:gpt-5"), Seat("b"))
    found = compared(
        debate(seats=seats, tool_preview=300, research="what others did"),
        debate(seats=plain, name="two-abc123"),
    )
    assert rows(found.seats) == [("a", "tools", "look_up", None)]
    assert rows(found.brief) == [
        ("tool_preview", "300", "500"),
        ("research", "what others did", None),
    ]


def test_seats_are_matched_by_name() -> None:
    one = debate(seats=(Seat("a", lens="risk"), Seat("b")))
    two = debate(seats=(Seat("c"), Seat("A", lens="cost", mood="grill")))
    assert rows(compared(one, two).seats) == [
        ("a", "lens", "risk", "cost"), ("a", "mood", None, "grill"),
        ("b", "seat", "scripted", None), ("c", "seat", None, "scripted"),
    ]  # fmt: skip


def test_stances_are_compared_by_label() -> None:
    """The options in another order have other ids and are no difference of stance."""
    turned = Brief(question="Ship now?", options=OPTIONS[::-1])
    found = compared(debate("12"), debate("22", "opt-2", brief=turned))
    assert rows(found.stances) == [
        ("a", "Ship", "Ship", "Ship", "Ship", False),
        ("b", "Wait", "Ship", "Wait", "Ship", True),
    ]
    assert rows(found.brief) == [("options (order)", "Ship, Wait", "Wait, Ship")]
    assert rows(found.tally) == [("Ship", 1, 2, 1), ("Wait", 1, 0, -1)]
    assert not found.verdict_changed
    assert "1 of 2 seats ends elsewhere" in str(found)


def test_changed_verdict_is_said_first() -> None:
    found = compared(debate(), debate(pick="none"))
    assert found.verdict_changed
    assert (
        str(found).splitlines()[1].startswith("The verdict changed: Ship → no option recommended;")
    )
    row = found.verdict.set_index("field").loc["pick"]
    assert (row["a"], row["b"], bool(row["differs"])) == ("Ship", "none", True)
    assert compared(debate(), debate(pick=None)).verdict_changed
    assert not compared(debate(pick=None), debate(pick=None)).verdict_changed


def test_long_texts_show_where_they_differ() -> None:
    start = "The payments module has one team and one database. " * 20
    one = Brief(question=start + "Should it be split this year?", options=OPTIONS)
    two = Brief(question=start + "Should it be split next year?", options=OPTIONS)
    found = compared(debate(brief=one), debate(brief=two))
    line = next(line for line in str(found).splitlines() if "question" in line)
    assert "this year" in line
    assert "next year" in line
    assert found.brief["a"].tolist() == [one.question]


def test_partial_debates_are_compared_too() -> None:
    found = compared(empty(), full())
    assert found.verdict_changed
    assert "no verdict (none) → Ship" in str(found)
    assert found.stances["first_a"].isna().all()


def test_shown_diff_is_harmless() -> None:
    brief = Brief(question=NASTY, options=("<b>Ship</b>", "Wait\x1b[2J"))
    bundle = compared(debate(), debate(brief=brief))._repr_mimebundle_()
    assert list(bundle) == ["text/html", "text/plain"]
    assert "<script" not in bundle["text/html"]
    assert "<b>Ship" not in bundle["text/html"]
    assert "\x1b" not in bundle["text/plain"]
    assert all(len(line) <= 88 for line in bundle["text/plain"].splitlines())
    assert "verdict changed" in bundle["text/html"]


def test_shown_diff_gives_only_what_is_asked() -> None:
    found = compared(debate(), debate())
    assert list(found._repr_mimebundle_(include={"text/plain"})) == ["text/plain"]


def test_ids_are_looked_up_in_the_store(tmp_path: Path) -> None:
    store = tmp_path / "debates.db"
    results = [
        rt.Review(
            "Ship now?", options=OPTIONS, seats=["pm", "dev"], store=store, display=False,
            unattended=True,
        ).run_sync()
        for _ in range(2)
    ]  # fmt: skip
    assert diff(results[0].id, results[1].id, store=store).same
    with pytest.raises(UnknownDebateError, match="nobody"):
        diff("nobody", results[0], store=store)
    with pytest.raises(OptionError, match="42 is neither a result nor a debate's id"):
        diff(cast(Any, 42), results[0])
