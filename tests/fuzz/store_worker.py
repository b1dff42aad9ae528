"""A process that works on a store as it is told, over a pipe; forked quickly, killed at will.

What it says has happened before: an event is told of once it is committed.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import sqlite3
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

import psutil

from rt_notebook.errors import NotResumableError, RoundtableError
from rt_notebook.store.log import Answer, Command
from rt_notebook.store.sqlite import SqliteLog, SqliteStore
from tests.store.samples import concluded, created, event, nothing

Reply = tuple[str, Any]
"""`ok` and a value, or an error's class and its fault."""

PATIENCE_S: Final = 60.0
"""How long a worker may take, on a machine that does other things too."""


class Worker:
    """The test's end: starts the process, tells it what to do and hears what came of it."""

    def __init__(self, path: Path) -> None:
        # A test that embeds IPython leaves a main module without one: no child could start then.
        vars(sys.modules["__main__"]).setdefault("__spec__", None)
        self._path = path
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([__name__])
        self._pipe, theirs = context.Pipe()
        self.process = context.Process(target=_main, args=(theirs, str(path)), daemon=True)
        self.process.start()
        theirs.close()
        self.told: list[tuple[Any, ...]] = []
        self.frozen = False

    @property
    def pid(self) -> int:
        """The process's id."""
        return self.process.pid or 0

    def send(self, verb: str, *arguments: Any) -> None:
        """Tell it to do something."""
        self._pipe.send((verb, *arguments))

    def reply(self) -> Reply:
        """Return what came of what was sent; what it told on the way is in `told`."""
        while True:
            if not self._pipe.poll(PATIENCE_S):
                raise AssertionError("a worker doesn't answer")
            kind, *rest = self._pipe.recv()
            if kind == "reply":
                return rest[0], rest[1]
            self.told.append((kind, *rest))

    def do(self, verb: str, *arguments: Any) -> Reply:
        """Tell it to do something and return what came of it."""
        self.send(verb, *arguments)
        return self.reply()

    def kill(self) -> None:
        """End it as nothing can be caught, and hear what it said before."""
        self.process.kill()
        self.process.join(PATIENCE_S)
        with suppress(EOFError, OSError):
            while self._pipe.poll(0):
                kind, *rest = self._pipe.recv()
                self.told.append((kind, *rest))
        self._pipe.close()
        self.process.close()

    def freeze(self) -> None:
        """Stop it without its noticing, once it has opened the store and holds no lock in it.

        SQLite's locks would last as long as it is stopped, and then nobody could go on.
        """
        assert self.do("nothing") == ("ok", None)
        while True:
            os.kill(self.pid, signal.SIGSTOP)
            while psutil.Process(self.pid).status() != psutil.STATUS_STOPPED:
                time.sleep(0.001)
            if self._is_free():
                break
            os.kill(self.pid, signal.SIGCONT)
            time.sleep(0.01)
        self.frozen = True

    def _is_free(self) -> bool:
        with closing(sqlite3.connect(self._path, timeout=0, isolation_level=None)) as connection:
            try:
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("ROLLBACK")
            except sqlite3.OperationalError:
                return False
        return True

    def thaw(self) -> None:
        """Let it go on."""
        os.kill(self.pid, signal.SIGCONT)
        self.frozen = False


def _main(pipe: Connection, path: str) -> None:
    asyncio.run(_Work(pipe, SqliteStore(Path(path))).serve())  # noqa: TID251 - its own process


class _Work:
    """The process's end."""

    def __init__(self, pipe: Connection, store: SqliteStore) -> None:
        self._pipe = pipe
        self._store = store
        self._logs: dict[str, SqliteLog] = {}

    async def serve(self) -> None:
        """Do what comes, one thing after the other, while the loop's own work goes on."""
        loop, came = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self._pipe.fileno(), came.set)
        while True:
            await came.wait()
            came.clear()
            while self._pipe.poll():
                verb, *arguments = self._pipe.recv()
                try:
                    value = await getattr(self, f"do_{verb}")(*arguments)
                    self._pipe.send(("reply", "ok", value))
                except RoundtableError as error:
                    fault = error.facts.get("fault")
                    self._pipe.send(("reply", type(error).__name__, fault))

    async def do_nothing(self) -> None:
        """Answer, which whoever is still opening the store doesn't."""

    async def do_create(self, debate: str) -> None:
        log = self._logs[debate] = self._store.log(debate)
        await log.append([created(debate)], nothing)

    async def do_append(self, debate: str, after: int, texts: list[str], end: str | None) -> None:
        await self._log(debate).append(_events(debate, after, texts, end), nothing)

    async def do_burst(self, debate: str, after: int, texts: list[str]) -> None:
        """Append one event after the other, each told of as soon as it is committed."""
        log = self._log(debate)
        for number, text in enumerate(texts, after):
            await log.append(_events(debate, number, [text], None), self._tell("at", number + 1))

    async def do_take_over(self, debate: str) -> int:
        log = self._store.log(debate)
        revision = log.take_over()
        self._logs[debate] = log
        return revision

    async def do_release(self, debate: str) -> None:
        self._log(debate).release()

    async def do_read(self, debate: str) -> list[tuple[int, str, str]]:
        found = self._store.events(debate)
        return [(e.seq, e.kind, e.body.get("text", "")) for e in found]

    async def do_delete(self, debate: str) -> None:
        self._store.delete(debate)

    async def do_listen(self, debate: str) -> None:
        """Carry out what others ask of a debate, and tell of it."""

        async def take(command: Command) -> Answer:
            self._pipe.send(("took", command.number, command.body["text"]))
            await asyncio.sleep(0)
            return Answer(revision=command.number)

        self._log(debate).serve(take)

    async def do_ask(self, debate: str, text: str) -> int:
        return self._store.ask(debate, "answer", {"text": text}, "process")

    async def do_collect(self, number: int) -> int | None:
        answer = self._store.collect(number)
        return None if answer is None else answer.revision

    async def do_withdraw(self, number: int) -> bool:
        return self._store.withdraw(number)

    def _log(self, debate: str) -> SqliteLog:
        found = self._logs.get(debate)
        if found is None:
            found = self._logs[debate] = self._store.log(debate)
        return found

    def _tell(self, *words: Any) -> Callable[[], None]:
        return lambda: self._pipe.send(words)


def _events(debate: str, after: int, texts: list[str], end: str | None) -> list[Any]:
    found = [
        event(debate, number, "interjection", text=text, source="person")
        for number, text in enumerate(texts, after + 1)
    ]
    if end == "concluded":
        found.append(concluded(debate, after + len(texts) + 1))
    elif end == "interrupted":
        found.append(event(debate, after + len(texts) + 1, "interrupted", why="so"))
    return found


__all__ = ["NotResumableError", "Reply", "Worker"]
