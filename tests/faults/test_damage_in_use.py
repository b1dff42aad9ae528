"""Damage while others use the store, and what is never moved."""

from __future__ import annotations

import json
import random
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

import rt_notebook as rt
from rt_notebook import session
from rt_notebook.frontends import cli
from rt_notebook.store import open_store, sqlite_damage, sqlite_database
from rt_notebook.store.sqlite import SqliteStore
from tests.environment import ROOT
from tests.faults import damage
from tests.faults.damage import PAGE, Whole

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SQLite's locks on POSIX")


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    """A store whose writer was killed."""
    return damage.write_store(tmp_path_factory.mktemp("whole"))


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    """Where this test's store is."""
    found = tmp_path / "own" / "debates.db"
    found.parent.mkdir()
    yield found
    damage.close(found)


class Child:
    """A process at work on a store."""

    def __init__(self, stack: ExitStack, *words: object) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.opening", *map(str, words)],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8",
        )  # fmt: skip
        stack.callback(self.process.communicate)
        stack.callback(self.process.kill)

    def line(self) -> dict[str, Any]:
        """Returns what it says next."""
        assert self.process.stdout is not None
        found: dict[str, Any] = json.loads(self.process.stdout.readline())
        return found

    def go(self) -> None:
        """Lets it go on."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()


def test_store_in_use_stays_where_it_is(path: Path, killed: Whole) -> None:
    damage.write_files(path, killed.ended.files)
    with ExitStack() as stack:
        child = Child(stack, "hold", path)
        assert child.line() == {"debates": len(killed.events)}
        path.write_bytes(bytes(PAGE) + path.read_bytes()[PAGE:])
        with pytest.raises(rt.StoreError, match="damaged one, and was left as it is"):
            open_store(path)
        assert damage.set_aside(path) == []
        child.go()
        child.process.wait()
        with pytest.raises(
            rt.StoreError, match=r"was damaged .* set aside as debates\.db\.damaged-"
        ):
            open_store(path)
    assert len(damage.set_aside(path)) == 1
    assert open_store(path).debates() == []


def test_bad_page_that_others_use_waits_for_them(path: Path, killed: Whole) -> None:
    damage.write_files(path, damage.page(killed.ended.files, killed.ended.pages // 2))
    with ExitStack() as stack:
        child = Child(stack, "hold", path)
        child.line()
        match = "it is set aside when it is opened next and nobody else uses it"
        with pytest.raises(rt.StoreError, match=match):
            _load_all(path, killed)
        # All that can be read of it is read, as long as the others are there.
        assert len(session.rows(None, None, path)) == len(killed.events)
        child.go()
        child.process.wait()
        with pytest.raises(rt.StoreError, match=match):
            _load_all(path, killed)
        with pytest.raises(rt.StoreError, match="set aside as"):
            open_store(path)


def _load_all(path: Path, whole: Whole) -> None:
    for name in whole.events:
        session.load(name, path)


def test_processes_at_once_set_aside_once(path: Path, killed: Whole) -> None:
    files = damage.DAMAGES["header noise"](killed.ended)
    damage.write_files(path, files)
    with ExitStack() as stack:
        children = [Child(stack, "begin", path) for _ in range(4)]
        assert [child.line() for child in children] == [{"ready": True}] * 4
        for child in children:
            child.go()
        said = [child.line() for child in children]
    assert [found["status"] for found in said] == ["done"] * 4
    told = [line for found in said for line in found["lines"] if "set aside as" in line]
    assert len(told) == 1
    (kept,) = damage.set_aside(path)
    assert damage.read_files(kept)[""] == files[""]
    assert {row.id for row in session.rows(store=path)} == {found["id"] for found in said}


def test_file_that_came_in_between_isnt_set_aside(
    path: Path, killed: Whole, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find_slowly(at: Path) -> sqlite_damage.Damage | None:
        found = sqlite_damage.find_damage(at)
        if found is not None:
            # Another process was quicker, and begins a new store.
            at.rename(at.with_name("debates.db.damaged-20261130-101502"))
            at.touch()
        return found

    damage.write_files(path, damage.DAMAGES["header noise"](killed.ended))
    monkeypatch.setattr(sqlite_database, "find_damage", find_slowly)
    assert open_store(path).debates() == []
    assert len(damage.set_aside(path)) == 1


@pytest.mark.parametrize("number", range(1, 9))
def test_kill_in_between_parts_nothing(path: Path, killed: Whole, number: int) -> None:
    """All that belongs together has its new name before anything loses its old one."""
    files = damage.DAMAGES["cut to nothing"](killed)
    damage.write_files(path, files)
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.opening", "kill_at", str(path), str(number)],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode in (-signal.SIGKILL, 0), done.stderr
    told = damage.use(path, [])
    assert told.after == "done"
    logs = [damage.read_files(kept).get("-wal", b"") for kept in damage.set_aside(path)]
    assert files["-wal"] in logs
    again = damage.use(path, [])
    assert (again.lines, again.after) == ([], "done")


def test_running_debate_stops_before_next_call(path: Path, killed: Whole) -> None:
    """The store's file turns into noise under it; SQLite meets that when it looks for a page."""
    asked: list[int] = []

    def answer(call: rt.Call) -> str:
        asked.append(call.round)
        stance = call.seat.upper()
        return (
            f"STANCE: {stance}\nAGREE_WITH: []\nDISAGREE: none\nNEW:\n- {'x' * 9000}\n"
            "ASSUMPTIONS: none"
        )

    def spoil(event: rt.Event) -> None:
        if event.kind == "round_started" and event.body["round"] == 1:
            store = open_store(path)
            store.database.connection().execute("PRAGMA wal_checkpoint(TRUNCATE)")
            size = path.stat().st_size
            with path.open("r+b") as file:
                file.seek(PAGE)
                file.write(damage.noise(size - PAGE))
            # What SQLite still knows by heart would hide it for a while.
            store.database.connection().execute("PRAGMA cache_size = 1")
            store.database.connection().execute("PRAGMA shrink_memory")

    damage.write_files(path, killed.ended.files)
    seats = [rt.Seat(name, model=answer) for name in ("a", "b")]
    review = rt.Review(
        "Now?", options=["A", "B"], seats=seats, rounds=4, unattended=True, store=str(path),
        chairman="scripted", loop_threshold=0,
    )  # fmt: skip
    with pytest.raises(rt.StoreError, match="is damaged and was left as it is"):
        review.run_sync(on_event=spoil)
    assert max(asked) <= 1
    with pytest.raises(rt.StoreError, match="set aside as"):
        open_store(path)
    assert open_store(path).debates() == []


# ---- what isn't ours ---------------------------------------------------------------------------


def _foreign(path: Path) -> bytes:
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE bookmarks (url TEXT)")
        other.executemany("INSERT INTO bookmarks VALUES (?)", [("x" * 500,)] * 50)
        other.commit()
    content = path.read_bytes()
    return content[:PAGE] + damage.noise(len(content) - PAGE)


def _text(path: Path) -> bytes:
    return b"# my notebook\n" * 400


def _zeros(path: Path) -> bytes:
    return bytes(5 * PAGE)


def _record(path: Path) -> bytes:
    result = rt.Review(
        "Now?", options=["A", "B"], seats=["pm", "dev"], unattended=True,
        record=str(path.with_suffix(".jsonl")),
    ).run_sync()  # fmt: skip
    assert result.status == "done"
    return path.with_suffix(".jsonl").read_bytes()


@pytest.mark.parametrize("content", ["damaged database", "record", "text", "zeros"])
def test_other_files_are_never_moved(path: Path, content: str) -> None:
    makers = {
        "damaged database": _foreign,
        "record": _record,
        "text": _text,
        "zeros": _zeros,
    }
    before = makers[content](path)
    path.write_bytes(before)
    for _ in range(2):
        with pytest.raises(rt.StoreError, match=r"left as it is|another program's database"):
            open_store(path)
    assert path.read_bytes() == before
    assert damage.set_aside(path) == []


def test_own_place_is_always_a_store(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_damage, "own_place", lambda: path)
    path.write_bytes(bytes(5 * PAGE))
    with pytest.raises(rt.StoreError, match="set aside as"):
        open_store(path)
    (kept,) = damage.set_aside(path)
    assert kept.read_bytes() == bytes(5 * PAGE)


def test_doctor_tells_how_to_recover(path: Path, killed: Whole, monkeypatch: Any) -> None:
    from rt_notebook.config import Config
    from rt_notebook.frontends.doctor_checks import store_findings

    monkeypatch.setenv("RT_NOTEBOOK_STORE", str(path))
    damage.write_files(path, damage.DAMAGES["header noise"](killed.ended))
    damage.use(path, [])
    (kept,) = damage.set_aside(path)
    (found,) = [each for each in store_findings(Config()) if each.name == "set aside"]
    assert str(kept) in found.detail
    assert f"rt-notebook doctor --recover {kept}" in found.next_step


def test_recovering_needs_another_file(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RT_NOTEBOOK_STORE", str(path))
    assert cli.main(["doctor", "--recover", str(path)]) == 1
    assert "this is the store itself" in capsys.readouterr().err
    assert cli.main(["doctor", "--recover", str(path) + ".damaged-20261130-101502"]) == 1
    assert "can't be recovered: No such file" in capsys.readouterr().err


def test_recovering_twice_adds_nothing(
    path: Path, killed: Whole, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RT_NOTEBOOK_STORE", str(path))
    damage.write_files(path, damage.DAMAGES["log header zeroed"](killed))
    damage.use(path, [])
    (kept,) = damage.set_aside(path)
    said = []
    for _ in range(2):
        assert cli.main(["doctor", "--recover", str(kept)]) == 0
        said.append(capsys.readouterr().out)
    count = len(killed.events)
    assert f": {count - damage.ENDED} whole, 0 up to" in said[0]
    assert f": 0 whole, 0 up to where they can be read, {count} that were there" in said[1]
    assert {i: e for i, e in damage.all_events(path).items() if i in killed.events} == killed.events


def test_set_aside_store_can_be_looked_at(path: Path, killed: Whole) -> None:
    damage.write_files(path, damage.page(killed.ended.files, killed.ended.pages))
    told = damage.use(path, list(killed.events))
    (kept,) = damage.set_aside(path)
    before = kept.read_bytes()
    with pytest.raises(rt.StoreError, match="is read-only"):
        rt.delete(next(iter(killed.events)), store=kept)
    store = SqliteStore(kept)
    assert [row.id for row in store.debates(limit=None)][::-1] == list(killed.events)
    assert any("read-only" in note for note in store.notes)
    store.close()
    damage.close(kept)
    assert kept.read_bytes() == before
    assert told.events


# ---- by chance ---------------------------------------------------------------------------------


def _flipped(whole: Whole, seed: int) -> damage.Bytes:
    chance = random.Random(seed)  # noqa: S311
    files = dict(whole.files)
    for _ in range(chance.randint(1, 20)):
        end = chance.choice(["", "-wal"])
        place = chance.randrange(len(files[end]))
        files[end] = damage.over(files, end, place, chance.randbytes(chance.randint(1, 8)))[end]
    return files


def _survives(path: Path, files: damage.Bytes, whole: Whole) -> None:
    """Nothing but clear lines comes of it; a letter that only became another one isn't noticed."""
    damage.write_files(path, files)
    told = damage.use(path, list(whole.events))
    assert all(len(line.splitlines()) == 1 for line in told.lines)
    assert told.after == "done" or "left as it is" in told.lines[-1]
    damage.close(path)
    for file in path.parent.iterdir():
        file.unlink()


def test_flipped_bytes_lead_to_clear_lines(path: Path, killed: Whole) -> None:
    for seed in range(20):
        _survives(path, _flipped(killed, seed), killed)


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_any_flipped_bytes_lead_to_clear_lines(path: Path, killed: Whole) -> None:
    for seed in range(1_000):
        _survives(path, _flipped(killed, seed), killed)
    for _, files in damage.damages(killed, every_page=True):
        _survives(path, files, killed)


# ---- what chance found, each at its least ------------------------------------------------------


def _overwritten(whole: Whole, old: bytes, new: bytes) -> damage.Bytes:
    content = whole.ended.files[""]
    assert len(old) == len(new)
    assert old in content
    return {"": content.replace(old, new, 1)}


def test_table_without_its_column_is_damage(path: Path, killed: Whole) -> None:
    damage.write_files(path, _overwritten(killed, b"revision INTEGER", b"revisiom INTEGER"))
    with pytest.raises(rt.StoreError, match=r"its tables don't fit its form: debates\.revision"):
        open_store(path)
    assert len(damage.set_aside(path)) == 1


def test_table_whose_name_is_no_text_is_damage(path: Path, killed: Whole) -> None:
    damage.write_files(path, _overwritten(killed, b"revision INTEGER", b"rev\xffsion INTEGER"))
    with pytest.raises(rt.StoreError, match="was damaged"):
        open_store(path)
    assert len(damage.set_aside(path)) == 1


def test_one_row_of_seats_that_is_no_list_leaves_the_others(path: Path, killed: Whole) -> None:
    seats = b'["pm", "dev"]' if b'["pm", "dev"]' in killed.ended.files[""] else b'["pm","dev"]'
    damage.write_files(path, _overwritten(killed, seats, b"x" * len(seats)))
    rows = session.rows(None, None, path)
    assert len(rows) == len(killed.events)
    assert sorted({row.seats for row in rows}) == [(), ("pm", "dev")]
