"""Which store is meant, which of its debates, and taking one over to go on with it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from rt_notebook.config_files import store_of
from rt_notebook.domain.state import State, fold
from rt_notebook.errors import UnknownDebateError
from rt_notebook.running import running
from rt_notebook.store import open_store
from rt_notebook.store.log import DebateLog, Durability, Store
from rt_notebook.store.paths import check_id

LAST: Final = "last"
"""The id that stands for the newest debate."""

StoreChoice = str | Path | None
"""A path, or None for the environment's, the configuration's or the default store."""


def opened(store: StoreChoice) -> Store:
    """Return the store that is meant, the same one for all callers in this process."""
    return open_store(store_of(store))


def find_debate(debate: str, store: StoreChoice) -> tuple[Store, str]:
    """Return where a debate is kept, and its id.

    Raises:
        UnknownDebateError: there is no such debate.
    """
    run = running(debate) if store is None and isinstance(debate, str) else None
    if run is not None:
        return run.store, debate
    found = opened(store)
    if debate == LAST:
        name = found.last_id()
        if name is None:
            raise UnknownDebateError(f"the store {found.place} holds no debate yet")
        return found, name
    name = check_id(debate)
    found.row(name)
    return found, name


def take_over(store: Store, debate: str, durability: Durability) -> tuple[DebateLog, State]:
    """Return the log of a debate that goes on here, and its fold; what it survives stays the same.

    Raises:
        NotResumableError: somebody runs it.
    """
    log = store.log(debate, durability)
    log.take_over()
    try:
        events = store.events(debate)
        if events[0].body.get("durability") == "power":
            log.durability = "power"
        return log, fold(events)
    except BaseException:
        log.release()
        raise
