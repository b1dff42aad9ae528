"""Where debates are kept: their event logs, who runs them, and the list of them all."""

from __future__ import annotations

from rt_notebook.store.log import (
    Answer,
    Command,
    DebateLog,
    DebateRow,
    Durability,
    Lease,
    Store,
    Watch,
    brief_digest,
)
from rt_notebook.store.paths import check_id, new_debate_id, store_path
from rt_notebook.store.sqlite import open_store

__all__ = [
    "Answer",
    "Command",
    "DebateLog",
    "DebateRow",
    "Durability",
    "Lease",
    "Store",
    "Watch",
    "brief_digest",
    "check_id",
    "new_debate_id",
    "open_store",
    "store_path",
]
