"""One store and two real processes that append, read, take over, ask, freeze and die.

Whatever happens: numbers have no hole, nothing that was acknowledged is lost, a debate has one
owner at most, a replaced owner writes nothing, and a command is carried out once.
"""

from __future__ import annotations

import sqlite3
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from rt_notebook.store.log import STALE_S
from tests.fuzz.budget import tried
from tests.fuzz.store_worker import PATIENCE_S, Worker

texts = st.lists(st.sampled_from(("a", "ž" * 3_000, "", "b\x00")), min_size=1, max_size=4)
who = st.integers(0, 1)


@dataclass
class Debate:
    """What the store must hold of a debate."""

    id: str
    kinds: list[tuple[str, str]] = field(default_factory=lambda: [("created", "")])
    owner: Worker | None = None
    waiting: list[int] = field(default_factory=list)
    listened: bool = False

    @property
    def rows(self) -> list[tuple[int, str, str]]:
        return [(number, *row) for number, row in enumerate(self.kinds, 1)]


class StoreMachine(RuleBasedStateMachine):
    """Two workers; every rule is something that one of them does, or that happens to it."""

    path: Path
    workers: list[Worker]
    count = 0

    def __init__(self) -> None:
        super().__init__()
        self.debates: list[Debate] = []

    @initialize()
    def begin(self) -> None:
        for place in (0, 1):
            if len(self.workers) <= place:
                self.workers.append(Worker(self.path))

    def some(self) -> bool:
        return bool(self.debates)

    def _worker(self, place: int) -> Worker:
        """Return a worker that isn't frozen."""
        worker = self.workers[place]
        return self.workers[1 - place] if worker.frozen else worker

    def _debate(self, number: int) -> Debate:
        return self.debates[number % len(self.debates)]

    @rule(place=who)
    def create(self, place: int) -> None:
        StoreMachine.count += 1
        debate, worker = Debate(f"d-{self.count}"), self._worker(place)
        assert worker.do("create", debate.id) == ("ok", None)
        debate.owner = worker
        self.debates.append(debate)

    @precondition(some)
    @rule(place=who, number=st.integers(0, 3), said=texts,
          end=st.sampled_from((None, None, None, "concluded", "interrupted")))  # fmt: skip
    def append(self, place: int, number: int, said: list[str], end: str | None) -> None:
        debate, worker = self._debate(number), self._worker(place)
        what, fault = worker.do("append", debate.id, len(debate.kinds), said, end)
        if debate.owner is not worker:
            assert (what, fault in ("unheld", "taken")) == ("StoreError", True), (what, fault)
            return
        assert what == "ok", (what, fault)
        debate.kinds += [("interjection", text) for text in said]
        if end is not None:
            debate.kinds.append((end, ""))
            debate.owner = None

    @precondition(some)
    @rule(place=who, number=st.integers(0, 3))
    def take_over(self, place: int, number: int) -> None:
        debate, worker = self._debate(number), self._worker(place)
        what, revision = worker.do("take_over", debate.id)
        if debate.owner is None:
            assert (what, revision) == ("ok", len(debate.kinds))
            self._owns(debate, worker)
        else:
            assert what == "NotResumableError"

    @precondition(some)
    @rule(number=st.integers(0, 3))
    def take_over_both_at_once(self, number: int) -> None:
        debate = self._debate(number)
        if any(worker.frozen for worker in self.workers):
            return
        for worker in self.workers:
            worker.send("take_over", debate.id)
        won = [worker for worker in self.workers if worker.reply()[0] == "ok"]
        assert len(won) == (1 if debate.owner is None else 0)
        if won:
            # Who wins is chance, and what follows must not hang on it, or no example is repeatable.
            first = self.workers[0]
            if won[0] is not first:
                assert won[0].do("release", debate.id) == ("ok", None)
                assert first.do("take_over", debate.id) == ("ok", len(debate.kinds))
            self._owns(debate, first)

    def _owns(self, debate: Debate, worker: Worker) -> None:
        debate.owner, debate.listened = worker, False
        for asked in debate.waiting:  # they were meant for the one before
            assert self._worker(0).do("collect", asked) == ("StoreError", "lost")
        debate.waiting.clear()

    @precondition(some)
    @rule(number=st.integers(0, 3))
    def release(self, number: int) -> None:
        debate = self._debate(number)
        if debate.owner is not None and not debate.owner.frozen:
            assert debate.owner.do("release", debate.id) == ("ok", None)
            debate.owner = None

    @precondition(some)
    @rule(place=who, number=st.integers(0, 3))
    def read(self, place: int, number: int) -> None:
        debate = self._debate(number)
        assert self._worker(place).do("read", debate.id) == ("ok", debate.rows)

    @precondition(some)
    @rule(place=who, number=st.integers(0, 3))
    def delete(self, place: int, number: int) -> None:
        debate = self._debate(number)
        what, _ = self._worker(place).do("delete", debate.id)
        assert what == ("ok" if debate.owner is None else "NotResumableError")
        if what == "ok":
            for asked in debate.waiting:
                assert self._worker(place).do("collect", asked) == ("StoreError", "lost")
            self.debates.remove(debate)

    # ---- commands --------------------------------------------------------------------------------

    @precondition(some)
    @rule(number=st.integers(0, 3))
    def listen(self, number: int) -> None:
        debate = self._debate(number)
        if debate.owner is not None and not debate.owner.frozen:
            assert debate.owner.do("listen", debate.id) == ("ok", None)
            debate.listened = True
            self._all_are_answered(debate)

    @precondition(some)
    @rule(place=who, number=st.integers(0, 3), text=st.sampled_from(("x", "\ud800", "y" * 5_000)))
    def ask(self, place: int, number: int, text: str) -> None:
        debate = self._debate(number)
        what, asked = self._worker(place).do("ask", debate.id, text)
        assert what == "ok"
        debate.waiting.append(asked)
        if debate.listened and debate.owner is not None and not debate.owner.frozen:
            self._all_are_answered(debate)

    @precondition(some)
    @rule(place=who, number=st.integers(0, 3))
    def withdraw(self, place: int, number: int) -> None:
        debate = self._debate(number)
        if debate.waiting:
            assert self._worker(place).do("withdraw", debate.waiting.pop()) == ("ok", True)

    def _all_are_answered(self, debate: Debate) -> None:
        owner = debate.owner
        assert owner is not None
        ends = time.monotonic() + PATIENCE_S
        for asked in debate.waiting:
            while (found := owner.do("collect", asked)) == ("ok", None):
                assert time.monotonic() < ends, "a command isn't answered"
                time.sleep(0.01)
            assert found == ("ok", asked)
        taken = [words[1] for words in owner.told if words[0] == "took"]
        assert [number for number in taken if number in debate.waiting] == debate.waiting, (
            "each once, in order"
        )
        debate.waiting.clear()

    # ---- death -----------------------------------------------------------------------------------

    @rule(place=who)
    def kill(self, place: int) -> None:
        self._dies(self.workers[place])

    @precondition(some)
    @rule(number=st.integers(0, 3), count=st.integers(1, 30),
          delay_s=st.sampled_from((0.0, 0.0002, 0.001, 0.003, 0.01)))  # fmt: skip
    def kill_while_it_appends(self, number: int, count: int, delay_s: float) -> None:
        debate = self._debate(number)
        owner = debate.owner
        if owner is None or owner.frozen:
            return
        before = len(debate.kinds)
        said = [f"{place} " * 200 for place in range(count)]
        owner.told.clear()
        owner.send("burst", debate.id, before, said)
        time.sleep(delay_s)
        self._dies(owner)
        acknowledged = max((words[1] for words in owner.told if words[0] == "at"), default=before)
        _, rows = self._worker(0).do("read", debate.id)
        assert acknowledged <= len(rows) <= before + count
        debate.kinds += [("interjection", text) for text in said[: len(rows) - before]]
        assert rows == debate.rows

    def _dies(self, worker: Worker) -> None:
        worker.kill()
        self.workers[self.workers.index(worker)] = Worker(self.path)
        for debate in self.debates:
            if debate.owner is worker:
                debate.owner = None  # known to be dead
                debate.listened = False

    @precondition(lambda self: not any(worker.frozen for worker in self.workers))
    @rule(place=who)
    def freeze_till_it_is_given_up(self, place: int) -> None:
        """Stop a process for so long that its leases get stale."""
        worker = self.workers[place]
        worker.freeze()
        mine = [debate for debate in self.debates if debate.owner is worker]
        self._let_pass(STALE_S, mine)
        for debate in mine:
            debate.owner = None

    def _let_pass(self, seconds: float, debates: list[Debate]) -> None:
        with sqlite3.connect(self.path, timeout=PATIENCE_S) as connection:
            ms = int(seconds * 1000) + 1
            for debate in debates:
                connection.execute(
                    "UPDATE leases SET beat = beat - ?, ticks = ticks - ? WHERE debate = "
                    "(SELECT number FROM debates WHERE id = ?)", (ms, ms, debate.id),
                )  # fmt: skip
        connection.close()

    @precondition(lambda self: any(worker.frozen for worker in self.workers))
    @rule()
    def thaw(self) -> None:
        """Let it go on: what nobody took over meanwhile is its own again, the rest is lost."""
        worker = next(worker for worker in self.workers if worker.frozen)
        worker.thaw()
        assert worker.do("read", self.debates[0].id)[0] == "ok" if self.debates else True
        for debate in self.debates:
            if debate.owner is None and self._owner_in_store(debate) == worker.pid:
                debate.owner = worker
                # Its next sign of life would be due at once, had it really been stopped so long.
                self._let_pass(-STALE_S, [debate])
                if debate.listened:
                    self._all_are_answered(debate)

    # ---- what must hold --------------------------------------------------------------------------

    @invariant()
    def owners_are_whom_the_store_names(self) -> None:
        for debate in self.debates:
            if debate.owner is not None:
                assert self._owner_in_store(debate) == debate.owner.pid

    def _owner_in_store(self, debate: Debate) -> int | None:
        connection = sqlite3.connect(self.path, timeout=PATIENCE_S)
        rows = connection.execute(
            "SELECT pid FROM leases WHERE debate = (SELECT number FROM debates WHERE id = ?)",
            (debate.id,),
        ).fetchall()
        connection.close()
        assert len(rows) <= 1, "two leases"
        return rows[0][0] if rows else None

    def teardown(self) -> None:
        try:
            for worker in self.workers:
                if worker.frozen:
                    worker.thaw()
            for debate in self.debates:
                for worker in self.workers:
                    assert worker.do("read", debate.id) == ("ok", debate.rows)
        except BaseException:
            # What they may still say belongs to this example: the next one starts others.
            while self.workers:
                self.workers.pop().kill()
            raise


@pytest.fixture
def place() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "debates.db"


def test_two_processes_on_one_store_lose_nothing(place: Path) -> None:
    StoreMachine.path, StoreMachine.workers, StoreMachine.count = place, [], 0
    try:
        run_state_machine_as_test(StoreMachine, settings=tried(25, stateful_step_count=30))
    finally:
        for worker in StoreMachine.workers:
            worker.kill()
