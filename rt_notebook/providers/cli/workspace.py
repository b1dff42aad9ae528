"""A call's own folder: an empty one to run in, one for temporary files, one for configuration.

Owns what lies on the disk during a call, and that nothing of it stays.
"""

from __future__ import annotations

import secrets
import shutil
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Final

_PREFIX: Final = "roundtable-cli-"


class Workspace:
    """The folder of one call, private to this user, gone when the `with` block ends.

    Three folders lie apart in it, so that the one the command runs in is and stays empty. Its name
    is known before it is made, so that somebody else can be told to remove it.
    """

    def __init__(self) -> None:
        place = Path(tempfile.gettempdir()).resolve()
        self.root = place / f"{_PREFIX}{secrets.token_hex(8)}"

    def __enter__(self) -> Workspace:
        self.root.mkdir(mode=0o700)
        self.work = self._made("work")
        self.temporary = self._made("tmp")
        self.settings = self._made("settings")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        shutil.rmtree(self.root, ignore_errors=True)

    def write(self, name: str, text: str) -> Path:
        """Write one file of settings and return its absolute path."""
        path = self.settings / name
        path.parent.mkdir(parents=True, exist_ok=True)
        # Lone surrogates can't be written; they mean nothing to a command either.
        path.write_bytes(text.encode("utf-8", "replace"))
        return path

    def folder(self, name: str) -> Path:
        """Return a folder among the settings, made if need be."""
        path = self.settings / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def _made(self, name: str) -> Path:
        path = self.root / name
        path.mkdir(mode=0o700)
        return path
