"""Events that the store's tests write, and short ways to write them."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from rt_notebook.domain.brief import Brief
from rt_notebook.domain.events import Event
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.store.sqlite import SqliteLog, SqliteStore
from rt_notebook.store.sqlite_database import connect

AT = 1_700_000_000_000
T = TypeVar("T")


def spec_json(question: str = "Ship now?", title: str | None = None) -> dict[str, Any]:
    """Returns a spec as a `created` event holds it."""
    brief = Brief(question=question, options=("Ship", "Wait"))
    spec = DebateSpec(brief=brief, seats=(Seat("pm"), Seat("dev")), title=title)
    return spec.model_dump(mode="json")


def connecting(setting: str) -> Callable[[Path], sqlite3.Connection]:
    """Returns an opener whose connections begin with a setting, such as `page_size = 8192`."""

    def opener(path: Path) -> sqlite3.Connection:
        connection = connect(path)
        connection.execute(f"PRAGMA {setting}")
        return connection

    return opener


_SPEC = spec_json()


def created(debate: str, spec: dict[str, Any] | None = None) -> Event:
    """Returns a debate's first event."""
    body = {"spec": spec or _SPEC, "source": "person", "unattended": True, "prompts_version": 1}
    return Event(1, debate, 1, AT, "created", body)


def event(debate: str, seq: int, kind: str = "interjection", /, **body: Any) -> Event:
    """Returns an event; without a kind, a person's remark that names its number."""
    if kind == "interjection" and not body:
        body = {"text": f"remark {seq}", "source": "person"}
    return Event(1, debate, seq, AT + seq, kind, body)


def concluded(debate: str, seq: int, status: str = "done", reason: str = "rounds") -> Event:
    """Returns a debate's last event."""
    return event(debate, seq, "concluded", status=status, stop_reason=reason)


def nothing() -> None:
    """Takes note of a commit without any effect."""


def run(main: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine on a loop of its own."""
    return asyncio.run(main)  # noqa: TID251 - a test's own loop


def write(store: SqliteStore, *events: Event) -> SqliteLog:
    """Appends a debate's events at once, and returns its log."""
    log = store.log(events[0].debate)

    async def main() -> None:
        await log.append(events, nothing)

    run(main())
    return log


def write_each(store: SqliteStore, debates: Sequence[str], *ending: tuple[str, str]) -> None:
    """Writes debates that consist of their first event and, where given, an ending."""
    for debate in debates:
        write(store, created(debate), *(concluded(debate, 2, *words) for words in ending))


def seqs(store: SqliteStore, debate: str) -> list[int]:
    """Returns the numbers of a debate's stored events."""
    return [found.seq for found in store.events(debate)]


@contextmanager
def opened(path: Path) -> Iterator[SqliteStore]:
    """Opens a store that no cache knows, and closes it."""
    store = SqliteStore(path)
    try:
        yield store
    finally:
        store.close()
