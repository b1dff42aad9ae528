"""The environment that kernels, servers and other child processes of the tests run in.

Built up from nothing, so that no key, login, configuration or store of the person who runs the
tests can reach a test, and no test can reach theirs.
"""

from __future__ import annotations

import os
import socket
from itertools import count
from pathlib import Path
from typing import Final

ROOT = Path(__file__).resolve().parent.parent
"""The project's folder."""

CACHE = ROOT / ".cache"
"""Where `make test` puts what only the tests need."""

_KEPT = ("PATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "SYSTEMROOT", "PATHEXT", "COMSPEC", "CHROMIUM")

_PORTS: Final = range(20_000, 32_000)
_tried = count()


def free_port() -> int:
    """Returns a loopback port on which nothing listens, each time another one.

    It lies below those that Linux gives to outgoing connections (from 32,768), and every process
    begins at another one, so that nobody takes it before it is listened on.

    Raises:
        OSError: none is free.
    """
    begin = os.getpid() * 100
    for _ in _PORTS:
        port = _PORTS[(begin + next(_tried)) % len(_PORTS)]
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
    raise OSError(f"no port from {_PORTS.start} to {_PORTS.stop - 1} is free")


def scrubbed_environment(home: Path) -> dict[str, str]:
    """Returns an environment in which everything personal lies below `home`."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    places = {
        "HOME": home,
        "USERPROFILE": home,
        "APPDATA": home / "appdata",
        "LOCALAPPDATA": home / "appdata",
        "XDG_CACHE_HOME": home / "cache",
        "XDG_CONFIG_HOME": home / "config",
        "XDG_DATA_HOME": home / "data",
        "XDG_STATE_HOME": home / "state",
        "IPYTHONDIR": home / "ipython",
        "JUPYTER_CONFIG_DIR": home / "jupyter" / "config",
        "JUPYTER_DATA_DIR": home / "jupyter" / "data",
        "JUPYTER_RUNTIME_DIR": home / "jupyter" / "runtime",
        "JUPYTER_PATH": CACHE / "share" / "jupyter",
        "RT_NOTEBOOK_STORE": home / "store" / "debates.db",
    }
    return {"PYTHONUTF8": "1", **kept, **{name: str(path) for name, path in places.items()}}
