"""A store damaged in every region: it is set aside whole, and what is readable comes back."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from rt_notebook.frontends import cli
from tests.faults import damage
from tests.faults.damage import Bytes, Told, Whole

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SQLite's locks on POSIX")


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    """A store whose writer was killed, so that its log holds a part of it."""
    return damage.write_store(tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="module")
def ended(killed: Whole) -> Whole:
    """The same store without a log."""
    return killed.ended


def _data(files: Bytes) -> list[bytes]:
    """Returns what isn't made anew by reading; no log is an empty one."""
    return [files.get("", b""), files.get("-wal", b"")]


def _check(path: Path, files: Bytes, whole: Whole, told: Told) -> list[str]:
    """Checks what holds after every damage; returns the debates that aren't whole any more."""
    assert told.after == "done", told.lines
    assert all(len(line.splitlines()) == 1 and str(path) in line for line in told.lines)
    assert len(set(told.lines)) <= 2
    for name, found in told.events.items():
        if name in whole.events:
            assert found == whole.events[name][: len(found)], name
    missing = [name for name, events in whole.events.items() if told.events.get(name) != events]
    # Whatever is missing, somebody was told.
    assert not missing or told.lines
    kept = damage.set_aside(path)
    assert len(kept) <= 1
    for database in kept:
        assert any(database.name in line for line in told.lines)
        if database.name in told.lines[0]:
            # Found when it was opened. Where a bad page is met later, its log was carried over.
            assert _data(damage.read_files(database)) == _data(files)
    # Said once: from then on it works in silence.
    again = damage.use(path, [])
    assert (again.lines, again.after) == ([], "done")
    return missing


def _recovered(path: Path, whole: Whole, told: Told) -> list[str]:
    """Recovers what was set aside into the new store; returns the debates that aren't whole."""
    for database in damage.set_aside(path):
        before = _data(damage.read_files(database))
        assert cli.main(["doctor", "--recover", str(database)]) == 0
        assert _data(damage.read_files(database)) == before
    found = damage.all_events(path)
    for name, events in told.events.items():
        if name in whole.events:
            assert len(found.get(name, [])) >= len(events), name
    return [name for name, events in whole.events.items() if found.get(name) != events]


def _play(path: Path, name: str, files: Bytes, whole: Whole) -> None:
    path.parent.mkdir()
    damage.write_files(path, files)
    told = damage.use(path, list(whole.events))
    missing = _check(path, files, whole, told)
    if name in damage.HARMLESS or ("-wal" in files and name in damage.HEALED):
        assert (missing, told.lines) == ([], [])
    still = _recovered(path, whole, told)
    assert set(still) <= set(missing)
    if name in damage.RECOVERED:
        assert still == []


@pytest.mark.parametrize("name", damage.DAMAGES)
def test_damaged_store_with_log_is_set_aside(
    name: str, killed: Whole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "own" / "debates.db"
    monkeypatch.setenv("RT_NOTEBOOK_STORE", str(path))
    _play(path, name, damage.DAMAGES[name](killed), killed)


@pytest.mark.parametrize("name", [n for n in damage.DAMAGES if n.startswith(("header", "first",
    "middle", "last", "long", "all", "cut"))])  # fmt: skip
def test_damaged_store_without_log_is_set_aside(
    name: str, ended: Whole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "own" / "debates.db"
    monkeypatch.setenv("RT_NOTEBOOK_STORE", str(path))
    files = damage.DAMAGES[name](ended)
    if len(files[""]) > 100:
        _play(path, name, files, ended)
        return
    path.parent.mkdir()
    damage.write_files(path, files)
    told = damage.use(path, [])
    if not files[""]:
        # Nothing tells it from a new one, and there is nothing to be kept.
        assert (told.lines, told.after) == ([], "done")
        return
    # It may be anything, and nothing tells that it was a store.
    assert told.after == ""
    assert {line.count("was left as it is: move it aside") for line in told.lines} == {1}
    assert damage.read_files(path) == files
