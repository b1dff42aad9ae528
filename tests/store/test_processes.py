"""Several real processes on one file: killed, racing, creating, writing at once."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.environment import ROOT
from tests.store.samples import concluded, created, event, opened, seqs, write, write_each

Start = Callable[..., "subprocess.Popen[str]"]
RACES = 200


@pytest.fixture
def start(path: Path) -> Iterator[Start]:
    """Starts children on this test's store; ends them with the test."""
    with ExitStack() as stack:

        def begin(work: str, *arguments: object) -> subprocess.Popen[str]:
            child = subprocess.Popen(
                [sys.executable, "-m", "tests.store.children", work, str(path)]
                + [str(argument) for argument in arguments],
                cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8",
            )  # fmt: skip
            stack.callback(child.communicate)
            stack.callback(child.kill)
            return child

        yield begin


def _say(child: subprocess.Popen[str], line: str = "") -> None:
    assert child.stdin is not None
    child.stdin.write(f"{line}\n")
    child.stdin.flush()


def _line(child: subprocess.Popen[str]) -> str:
    assert child.stdout is not None
    return child.stdout.readline().strip()


@pytest.mark.parametrize("lines", [1, 7, 40, 333, 1500])
def test_kill_loses_nothing_that_was_committed(path: Path, start: Start, lines: int) -> None:
    child = start("write_forever", 5)
    said = [_line(child) for _ in range(lines)]
    child.kill()
    assert child.stdout is not None
    said += child.stdout.read().splitlines()
    child.wait()
    last = {debate: int(number) for debate, number in map(str.split, said)}
    with opened(path) as store:
        for debate, seq in last.items():
            found = store.events(debate)
            assert [each.seq for each in found] == list(range(1, len(found) + 1))
            assert len(found) >= seq
            assert found[1:] == [event(debate, each.seq) for each in found[1:]]
        # Its process is dead: nobody waits for a lease to run out.
        assert {row.status for row in store.debates()} == {"interrupted"}
        debate = next(iter(last))
        assert store.log(debate).take_over() == len(store.events(debate))


def test_one_of_two_processes_takes_over(path: Path, start: Start) -> None:
    debates = [f"d-{number}" for number in range(RACES)]
    with opened(path) as store:
        write_each(store, debates, ("error", "error"))
    children = [start("take_over_each") for _ in range(2)]
    assert [_line(child) for child in children] == ["ready", "ready"]
    winners: Counter[str] = Counter()
    for number, debate in enumerate(debates):
        # Each is asked first in turn, so that both have a chance.
        for child in children if number % 2 else reversed(children):
            _say(child, debate)
        said = sorted(_line(child).split() for child in children)
        assert [words[0] for words in said] == ["lost", "won"]
        # The loser is told the winner's process id.
        assert said[0][1] == said[1][1]
        winners[said[1][1]] += 1
        for child in children:
            _say(child)
        assert [_line(child) for child in children] == ["released", "released"]
    assert winners.total() == RACES
    assert set(winners) == {str(child.pid) for child in children}


def test_dead_holder_is_followed_by_one(path: Path, start: Start) -> None:
    with opened(path) as store:
        write_each(store, ["d"], ("error", "error"))
    first, second = start("take_over_each"), start("take_over_each")
    assert (_line(first), _line(second)) == ("ready", "ready")
    _say(first, "d")
    assert _line(first) == f"won {first.pid}"
    _say(second, "d")
    assert _line(second) == f"lost {first.pid}"
    first.kill()
    first.wait()
    _say(second, "d")
    assert _line(second) == f"won {second.pid}"


def test_processes_may_all_make_the_file(path: Path, start: Start) -> None:
    children = [start("open_and_create", f"d-{number}") for number in range(6)]
    assert [_line(child) for child in children] == ["ready"] * 6
    for child in children:
        _say(child)
    assert [_line(child) for child in children] == ["notes"] * 6
    with opened(path) as store:
        assert {row.id for row in store.debates()} == {f"d-{number}" for number in range(6)}
        assert [seqs(store, row.id) for row in store.debates()] == [[1, 2, 3]] * 6


def test_processes_write_at_once(path: Path, start: Start) -> None:
    with opened(path) as store:
        children = [start("write_many", f"d-{number}", 1000) for number in range(4)]
        assert [_line(child) for child in children] == ["ready"] * 4
        for child in children:
            _say(child)
        # This process reads all the while.
        while any(row.status == "running" for row in store.debates()) or not store.debates():
            assert all(child.poll() in (None, 0) for child in children)
        assert [_line(child) for child in children] == ["done"] * 4
        for number in range(4):
            assert seqs(store, f"d-{number}") == list(range(1, 1001))
        assert {row.status for row in store.debates()} == {"done"}


def test_file_limit_stops_without_loss(path: Path, start: Start) -> None:
    """A real fault of the system: files of that process can't grow beyond some size."""
    child = start("fill_up", 300_000)
    count, fault, committed = _line(child).split()
    message = _line(child)
    assert (count, fault) == ("4", "io")
    assert str(path) in message
    assert "check the disk and its free space, or choose another place with store=PATH" in message
    went_on = _line(child)
    assert went_on.startswith("went on at ")
    seq = int(went_on.split()[-1])
    with opened(path) as store:
        assert int(committed) == 4 * (seq - 2)
        assert seqs(store, "d") == list(range(1, seq + 2))
        assert [len(store.events(f"o-{number}")) for number in range(3)] == [seq - 1] * 3


def test_store_of_older_process_is_read(path: Path, start: Start) -> None:
    child = start("write_many", "d", 5)
    assert _line(child) == "ready"
    _say(child)
    assert _line(child) == "done"
    with opened(path) as store:
        expected = [created("d"), event("d", 2), event("d", 3), event("d", 4), concluded("d", 5)]
        assert store.events("d") == expected
        write(store, created("e"))
