"""What files are called that were set aside because they are damaged, and which ones there are.

Opens no file.
"""

from __future__ import annotations

import glob
import re
from pathlib import Path
from typing import Final, NamedTuple

LOG: Final = "-wal"
"""How the name of a database's log ends."""

INDEX: Final = "-shm"
"""The same of the log's index."""

BESIDE: Final = ("-journal", LOG, INDEX, "")
"""How the names of the files end that a database may consist of; its own comes last."""

_NAME: Final = re.compile(r"\.damaged-\d{8}-\d{6}(?:-\d+)?\Z")


class SetAside(NamedTuple):
    """One damaged store, as it lies beside the present one."""

    path: Path
    """The database."""
    bytes: int
    """How large it is, with what lies beside it."""


def set_aside_name(name: str, stamp: str, number: int = 1) -> str:
    """Return what a damaged file is to be called.

    Args:
        name: what it is called.
        stamp: when it was found, as `YYYYMMDD-HHMMSS`.
        number: from 2 on where the name is taken.
    """
    return f"{name}.damaged-{stamp}{f'-{number}' if number > 1 else ''}"


def is_set_aside(path: Path) -> bool:
    """Return whether a path is that of a store that was set aside: it is only read."""
    return _NAME.search(path.name) is not None


def stores_set_aside(path: Path) -> list[SetAside]:
    """Return what was set aside beside a store, oldest first."""
    found: dict[Path, list[Path]] = {}
    for file in sorted(path.parent.glob(f"{glob.escape(path.name)}.damaged-*")):
        end = next(end for end in BESIDE if file.name.endswith(end))
        base = file.with_name(file.name.removesuffix(end))
        if is_set_aside(base):
            found.setdefault(base, []).append(file)
    return [
        SetAside(base, sum(file.stat().st_size for file in files))
        for base, files in found.items()
        if base in files
    ]
