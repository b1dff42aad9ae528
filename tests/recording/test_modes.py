"""What each record mode does: who is called, what is written, what is refused."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pytest

import rt_notebook as rt
from rt_notebook import session
from rt_notebook.domain.events import Event
from rt_notebook.domain.script import say, scripted
from rt_notebook.domain.state import State
from rt_notebook.errors import OptionError, RecordMismatchError, UsageError
from rt_notebook.running import COMMAND_TIMEOUT_S
from rt_notebook.session import Opening
from tests.engine.clocks import play
from tests.engine.debates import reply
from tests.recording.scenes import (
    Voices,
    answered,
    assert_same,
    kinds,
    lines,
    recorded,
    run_of,
    stances,
    write,
)

MODES = ("once", "new", "none", "all")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "reviews" / "payments.jsonl"


def test_once_records_then_replays(path: Path) -> None:
    voices = Voices()
    first = recorded(voices.review(), path)
    assert len(voices.calls) == 5
    before = path.read_bytes(), path.stat().st_mtime_ns
    again = Voices()
    second = recorded(again.review(), path)
    assert again.calls == []
    assert_same(first, second)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


@pytest.mark.parametrize("mode", ["once", "new", "none"])
def test_whole_record_is_replayed_untouched(path: Path, mode: str) -> None:
    first = recorded(Voices().review(rounds=2), path)
    before = path.read_bytes()
    again = Voices()
    assert_same(first, recorded(again.review(rounds=2), path, mode))
    assert (again.calls, path.read_bytes()) == ([], before)


def test_all_records_anew(path: Path) -> None:
    first = recorded(Voices().review(), path)
    again = Voices()
    second = recorded(again.review(), path, "all")
    assert len(again.calls) == 5
    assert second.id != first.id
    assert {line["debate"] for line in lines(path)} == {second.id}


def test_records_of_equal_debates_differ_in_times_and_id_only(path: Path) -> None:
    found = []
    for _ in range(2):
        recorded(Voices().review(rounds=2), path, "all")
        text = re.sub(r'"(at|closes_at)":\d+|"debate":"[^"]+"', "", path.read_text("utf-8"))
        found.append(re.sub(r'"timings":\{[^}]*\}', "", text))
    assert found[0] == found[1]


def test_none_calls_nobody(path: Path) -> None:
    voices = Voices()
    with pytest.raises(RecordMismatchError, match="isn't there; record mode 'none' calls nobody"):
        recorded(voices.review(), path, "none")
    with pytest.raises(RecordMismatchError, match="this debate has no record"):
        session.new_run(voices.review(), Opening(record_mode="none"))
    assert voices.calls == []
    assert not path.parent.exists()


def test_none_lets_scripted_seats_run_without_a_record() -> None:
    seats = tuple(rt.Seat(name, model=scripted([say(stance="Ship")])) for name in ("pm", "dev"))
    run = session.new_run(Voices().review(seats=seats), Opening(record_mode="none"))
    assert run.id


def test_environment_sets_the_mode_where_no_argument_does(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RT_NOTEBOOK_RECORD", "none")
    voices = Voices()
    with pytest.raises(RecordMismatchError, match="'none' calls nobody"):
        recorded(voices.review(), path)
    recorded(voices.review(), path, "once")
    assert len(voices.calls) == 5
    monkeypatch.setenv("RT_NOTEBOOK_RECORD", "sometimes")
    with pytest.raises(OptionError, match=r"RT_NOTEBOOK_RECORD='sometimes': one of once, new"):
        recorded(voices.review(), path)


def test_unknown_mode_offers_the_nearest(path: Path) -> None:
    with pytest.raises(OptionError, match=r"record_mode='onec': .*did you mean 'once'\?"):
        recorded(Voices().review(), path, "onec")


def test_new_makes_only_the_missing_calls(path: Path) -> None:
    recorded(Voices().review(rounds=1), path)
    before = lines(path)
    longer = Voices()
    result = recorded(longer.review(rounds=2), path, "new")
    assert longer.calls == [("pm", 2, "critique"), ("dev", 2, "critique"), ("chair", 2, "verdict")]
    assert result.spec.rounds == result.fold.round == 2
    kept = [line for line in before if line["kind"] != "created"][:-5]
    after = {(line["seq"], line["at"], line["kind"]) for line in lines(path)}
    assert {(line["seq"], line["at"], line["kind"]) for line in kept} <= after
    again = Voices()
    assert_same(result, recorded(again.review(rounds=2), path, "none"))
    assert again.calls == []


def test_new_asks_only_the_changed_seat_in_the_opening(path: Path) -> None:
    recorded(Voices().review(rounds=0), path)
    voices = Voices()
    seats = (
        voices.seat("pm", *stances("opt-1")),
        voices.seat("dev", *stances("opt-2"), persona="You pay for it."),
    )
    result = recorded(voices.review(rounds=0, seats=seats), path, "new")
    assert voices.calls == [("dev", 0, "opening")]  # its words are the same, so the verdict fits
    assert result.verdict.pick == "opt-1"
    assert_same(result, recorded(voices.review(rounds=0, seats=seats), path, "none"))


def test_new_keeps_the_latencies_of_replayed_calls(path: Path) -> None:
    recorded(Voices().review(rounds=0), path)
    found = lines(path)
    for line in found:
        if line["kind"] == "call_finished":
            line["body"]["timings"] = {"total": 12.345, "queued": 1.5}
    write(path, found)
    voices = Voices()
    seats = (
        voices.seat("pm", *stances("opt-1")),
        voices.seat("dev", *stances("opt-2"), lens="cost"),
    )
    result = recorded(voices.review(rounds=0, seats=seats), path, "new")
    totals = {call.seat: call.timings.get("total") for call in result.fold.calls.values()}
    assert (totals["pm"], totals["chair"]) == (12.345, 12.345)
    assert totals["dev"] != 12.345


@pytest.mark.parametrize("mode", ["once", "none"])
def test_torn_record_is_refused(path: Path, mode: str) -> None:
    recorded(Voices().review(), path)
    path.write_bytes(path.read_bytes()[:-40])
    voices = Voices()
    with pytest.raises(RecordMismatchError, match=r"is cut off .*; nothing was called; .*'new'"):
        recorded(voices.review(), path, mode)
    assert voices.calls == []


def test_new_completes_a_torn_record(path: Path) -> None:
    first = recorded(Voices().review(), path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-40])
    voices = Voices()
    second = recorded(voices.review(), path, "new")
    assert voices.calls == []  # the store still has the whole debate
    assert path.read_bytes() == whole
    assert_same(first, second)


def test_new_mends_an_end_that_is_only_torn(path: Path, tmp_path: Path) -> None:
    first = recorded(Voices().review(), path)
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"at":17')
    voices = Voices()
    second = recorded(voices.review(), path, "new", store=tmp_path / "other.db")
    assert (voices.calls, path.read_bytes()) == ([], whole)
    assert_same(first, second)


def test_new_completes_an_unfinished_record_without_the_store(path: Path, tmp_path: Path) -> None:
    first = recorded(Voices().review(rounds=2), path)
    found = lines(path)
    place = [line["body"].get("round") for line in found].index(2)
    write(path, found[:place])
    for mode in ("once", "none"):
        with pytest.raises(RecordMismatchError, match=r"is unfinished \(status interrupted\)"):
            recorded(Voices().review(rounds=2), path, mode)
    voices = Voices()
    second = recorded(voices.review(rounds=2), path, "new", store=tmp_path / "other.db")
    assert voices.calls == [("pm", 2, "critique"), ("dev", 2, "critique"), ("chair", 2, "verdict")]
    assert second.id == first.id
    assert lines(path)[:place] == found[:place]
    assert kinds(path)[place : place + 2] == ["interrupted", "resumed"]
    again = Voices()
    assert_same(second, recorded(again.review(rounds=2), path, "none"))


def test_listener_that_asks_for_something_in_the_past_holds_nothing_up(
    path: Path, tmp_path: Path
) -> None:
    """The past is told on the debate's own thread, which nobody may keep waiting."""
    recorded(Voices().review(), path)
    write(path, lines(path)[:6])
    run = run_of(Voices().review(), path, "new", store=tmp_path / "other.db")

    def stop(event: Event, state: State) -> None:
        if event.kind == "created":
            with pytest.raises(UsageError, match="isn't running in this process"):
                run.stop()

    run.listeners.append(stop)
    began = time.monotonic()
    assert play(run.main()).status == "done"
    assert time.monotonic() - began < COMMAND_TIMEOUT_S / 3


def test_empty_file_is_a_record_to_be_made_in_new_only(path: Path) -> None:
    path.parent.mkdir()
    path.touch()
    for mode in ("once", "none"):
        with pytest.raises(RecordMismatchError, match="is empty: it holds no event"):
            recorded(Voices().review(), path, mode)
    assert recorded(Voices().review(), path, "new").status == "done"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("text", ["# My notes\n", '{"cells": [], "nbformat": 4}\n', "[1]\n"])
def test_other_files_are_never_written_over(path: Path, mode: str, text: str) -> None:
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    voices = Voices()
    with pytest.raises(rt.UsageError, match=r"is damaged at line 1|is another file, no record"):
        recorded(voices.review(), path, mode)
    assert (voices.calls, path.read_text("utf-8")) == ([], text)


@pytest.mark.parametrize("given", ["", "  ", "a\0b"])
def test_impossible_paths_are_refused(given: str) -> None:
    with pytest.raises(OptionError, match="is no file's path"):
        recorded(Voices().review(), given)


def test_folder_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="is a folder; name a file in it"):
        recorded(Voices().review(), tmp_path)


def test_record_that_cant_be_written_is_refused_before_any_call(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    voices = Voices()
    with pytest.raises(rt.StoreError, match=r"can't be written: .*; nothing was called"):
        recorded(voices.review(), tmp_path / "file" / "r.jsonl")
    assert voices.calls == []


def test_store_gets_the_debate_at_most_once(path: Path, tmp_path: Path) -> None:
    first = recorded(Voices().review(), path)
    for _ in range(2):
        recorded(Voices().review(), path)
    assert [row.id for row in session.rows()] == [first.id]
    other = tmp_path / "other.db"
    for _ in range(2):
        recorded(Voices().review(), path, store=other)
    assert [(row.id, row.status) for row in session.rows(store=other)] == [(first.id, "done")]
    kept = session.load(first.id, other)
    assert [event.kind for event in kept.events] == kinds(path)
    assert kept.fold.verdict_status == "ready"


def test_replay_needs_nobody_for_a_human_seat(path: Path) -> None:
    voices = Voices()
    human = rt.Seat("me", model="human")
    spec = voices.review(seats=(voices.seat("pm", *stances("opt-1")), human), rounds=0)

    def steer(run: Any, event: Any, state: Any) -> None:
        if event.kind == "call_started" and event.body["seat"] == "me":
            give_later(run)

    first = answered(spec, path, steer)
    assert first.replies.seat.tolist() == ["pm", "me"]
    with pytest.raises(rt.SeatError, match="is a person, and nobody can answer here"):
        recorded(spec, path.with_name("other.jsonl"))
    assert_same(first, recorded(spec, path, "none"))


def give_later(run: Any) -> None:
    """Give the person's turn once it lies on the desk."""

    def look() -> None:
        for turn in run.desk.turns:
            if not turn.answer.done():
                turn.answer.set_result((reply("opt-2", "mine"), "person"))

    run.desk.changed.append(look)
