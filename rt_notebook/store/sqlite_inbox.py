"""Looking for what other processes wrote: one look for all debates of a loop, one for a waiter.

A loop's look reads an index that is empty unless somebody asks, a waiter's asks SQLite for a number
that changes with others' commits: a few microseconds each. Owns when a look is taken and who
carries a command out.
"""

from __future__ import annotations

import asyncio
import logging
import time
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from typing import Final, Protocol

from rt_notebook.errors import StoreError
from rt_notebook.store import sqlite_commands as commands
from rt_notebook.store.log import Answer, Command, Take
from rt_notebook.store.sqlite_database import Database

logger = logging.getLogger(__name__)

LOOK_S: Final = 0.05
"""Seconds between two looks of a loop for commands."""

WATCH_S: Final = 0.03
"""Seconds between two looks of a waiting thread."""

# What was handed over gets so long to be answered once its debate has ended.
_SETTLE_S: Final = 2.0


class Hold(Protocol):
    """A log's hold on its debate, see the writer's."""

    @property
    def claim(self) -> int:
        """The claim of the lease."""


class Log(Protocol):
    """A log as the inbox sees it."""

    debate: str
    """The debate's id."""

    @property
    def hold(self) -> Hold | None:
        """Set while the debate is this log's."""


@dataclass(slots=True, eq=False)
class _Service:
    log: Log
    take: Take
    # A command's output belongs to the cell of its debate, not to whoever was served first.
    context: Context
    tasks: set[asyncio.Task[None]] = field(default_factory=set)


class Inbox:
    """Hands commands to the debates of one loop.

    Args:
        database: where they are.
        loop: whose; only its thread may use this.
    """

    def __init__(self, database: Database, loop: asyncio.AbstractEventLoop) -> None:
        self._database = database
        self._loop = loop
        self._services: dict[str, _Service] = {}
        self._looking = False
        self._context = Context()

    def serve(self, log: Log, take: Take) -> None:
        """Hand a debate's commands to `take` from now on."""
        self._services[log.debate] = _Service(log, take, copy_context())
        self._look_later()

    async def dismiss(self, log: Log) -> None:
        """Hand it nothing more, and wait until what it got is answered."""
        service = self._services.get(log.debate)
        if service is None or service.log is not log:
            return
        del self._services[log.debate]
        if service.tasks:
            await asyncio.wait(service.tasks, timeout=_SETTLE_S)

    def _look_later(self) -> None:
        if not self._looking:
            self._looking = True
            self._loop.call_later(LOOK_S, self._look, context=self._context)

    def _look(self) -> None:
        self._looking = False
        if not self._services:
            return  # the next debate starts it again
        self._look_later()
        try:
            self._hand_over()
        except StoreError as error:
            # The debates hear of it with their next event; the look is taken again.
            logger.debug("commands can't be read: %s", error)

    def _hand_over(self) -> None:
        with self._database.reading() as connection:
            found = commands.waiting(connection)
        mine = [
            (each, service, service.log.hold.claim)
            for each in found
            if (service := self._services.get(each.debate)) is not None
            and service.log.hold is not None
        ]
        if not mine:
            return
        with self._database.transaction() as connection:
            taken = [
                (service, commands.take(connection, each, claim)) for each, service, claim in mine
            ]
        for service, command in taken:
            if command is not None:
                self._start(service, command)

    def _start(self, service: _Service, command: Command) -> None:
        task = self._loop.create_task(
            self._carry_out(service.take, command), context=service.context
        )
        service.tasks.add(task)
        task.add_done_callback(service.tasks.discard)

    async def _carry_out(self, take: Take, command: Command) -> None:
        answer = _failed("the run ended before this was carried out")
        try:
            answer = await take(command)
        except Exception as error:  # the edge to other people's code: who asked must hear of it
            logger.exception("a command from another process failed")
            answer = _failed(f"{command.verb} failed: {type(error).__name__}")
        finally:
            self._answer(command, answer)

    def _answer(self, command: Command, answer: Answer) -> None:
        try:
            with self._database.transaction() as connection:
                commands.answer(connection, command.number, answer)
        except StoreError as error:
            logger.warning("a command's answer could not be written: %s", error)


def _failed(message: str) -> Answer:
    return Answer(error={"kind": "RunError", "message": message, "facts": {}})


class SqliteWatch:
    """Notices others' commits by looking; see `Watch`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._seen: int | None = None

    def wait(self, seconds: float) -> bool:
        """Return True as soon as another connection has committed, False after `seconds`."""
        until = time.monotonic() + seconds
        while True:
            with self._database.reading() as connection:
                version = commands.version(connection)
            if version != self._seen:
                self._seen = version
                return True
            left = until - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(WATCH_S, left))
