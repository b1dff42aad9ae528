"""What of this process's surroundings a command gets to see: variables, programs, accounts.

Owns the list of variables that may pass, the search for a command, and where named accounts
live. Reads and copies no credential: it only says where a command may find its own.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import platformdirs

from rt_notebook.errors import SeatError, one_line

_APPLICATION: Final = "rt_notebook"
_ACCOUNT: Final = re.compile(r"(?!\.)[A-Za-z0-9._-]{1,40}")
# The locale, the place of things, the way to the network. No key, no session, no base URL.
_PASSED: Final = (
    "LANG",
    "LANGUAGE",
    "TZ",
    "USER",
    "LOGNAME",
    "HOME",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "https_proxy",
    "http_proxy",
    "all_proxy",
    "no_proxy",
    # What Windows programs can't start without.
    "SYSTEMROOT",
    "SYSTEMDRIVE",
    "WINDIR",
    "COMSPEC",
    "PATHEXT",
    "USERNAME",
    "USERPROFILE",
    "APPDATA",
    "LOCALAPPDATA",
    "PROGRAMDATA",
    "PROGRAMFILES",
)
# The way to the key ring, where a login may lie; of no use to a call that's paid by key.
_FOR_LOGINS: Final = ("DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR")
_PROXIES: Final = tuple(name for name in _PASSED if name.lower().endswith("_proxy"))
# Where installers put commands: below the home folder, and for everybody.
_USUAL: Final = ((".local", "bin"), (".npm-global", "bin"), ("bin",), (".claude", "local"))
_SHARED: Final = (Path("/usr/local/bin"), Path("/opt/homebrew/bin"))
_SHIM: Final = re.compile(r'"%(?:~dp0|dp0%)\\?([^"]+\.(?:js|mjs|cjs))"', re.IGNORECASE)


def scrubbed(parent: Mapping[str, str], temporary: Path, *, logins: bool = True) -> dict[str, str]:
    """Return the environment every command starts from, built up from nothing.

    Args:
        parent: the environment of this process.
        temporary: where temporary files go.
        logins: whether a login may be needed.
    """
    names = (*_PASSED, *_FOR_LOGINS) if logins else _PASSED
    found = {name: parent[name] for name in names if parent.get(name)}
    found |= {name: value for name, value in parent.items() if name.startswith("LC_")}
    found["PATH"] = os.pathsep.join(absolute_places(parent))
    return found | {name: str(temporary) for name in ("TMPDIR", "TEMP", "TMP")}


def beside_proxies(url: str, parent: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that keep a local endpoint of a seat's own away from any proxy."""
    host = urlsplit(url).hostname or ""
    if host not in ("localhost", "127.0.0.1", "::1"):
        return {}
    usual = parent.get("NO_PROXY") or parent.get("no_proxy") or ""
    value = ",".join(filter(None, [usual, host]))
    return {"NO_PROXY": value, "no_proxy": value}


def secrets_in(parent: Mapping[str, str]) -> list[str]:
    """Return the passwords in the variables that pass: those of proxies."""
    found = []
    for name in _PROXIES:
        try:
            found.append(urlsplit(parent.get(name, "")).password)
        except ValueError:  # no URL at all: then it's a secret as a whole
            found.append(parent[name])
    return [password for password in found if password]


def absolute_places(parent: Mapping[str, str]) -> list[str]:
    """Return the folders of PATH; relative ones would mean the call's own folder."""
    places = parent.get("PATH", "").split(os.pathsep)
    return [place for place in places if os.path.isabs(place)]


def find_command(
    command: str, parent: Mapping[str, str], *, windows: bool = os.name == "nt"
) -> tuple[str, ...] | None:
    """Return what to run for a command: its absolute path, or node and a script; None: not found.

    Args:
        command: a name, looked up on PATH in order, or an absolute path.
        parent: the environment of this process.
        windows: whether `.exe` and npm's shims are looked for.
    """
    places = [""] if os.path.isabs(command) else absolute_places(parent)
    names = [command]
    if windows:
        # A file without an ending is npm's script for other systems: Windows can't run it.
        names = [f"{command}.exe", f"{command}.cmd", *(names if Path(command).suffix else [])]
    for place in places:
        for name in names:
            path = Path(place, name)
            if not path.is_file() or not os.access(path, os.X_OK):
                continue
            if path.suffix.lower() != ".cmd":
                return (str(path),)
            if (started := _behind_shim(path, parent)) is not None:
                return started
    return None


def place_beside_path(command: str, parent: Mapping[str, str]) -> str | None:
    """Return a usual folder that holds a command, though PATH doesn't have it; None: none does.

    A notebook that was started from an icon has a shorter PATH than a terminal.
    """
    home = Path(parent.get("HOME") or parent.get("USERPROFILE") or "/")
    known = absolute_places(parent)
    nodes = sorted(home.glob(".nvm/versions/node/*/bin"), reverse=True)
    for place in (*(home.joinpath(*parts) for parts in _USUAL), *nodes, *_SHARED):
        found = Path(place, command)
        if str(place) not in known and found.is_file() and os.access(found, os.X_OK):
            return str(place)
    return None


def _behind_shim(shim: Path, parent: Mapping[str, str]) -> tuple[str, ...] | None:
    """Return node and the script that npm's `.cmd` file starts: no shell is to read arguments."""
    try:
        found = _SHIM.search(shim.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return None
    node = find_command("node", parent, windows=True)
    if found is None or node is None:
        return None
    return (*node, str(shim.parent.joinpath(*found[1].split("\\"))))


def data_folder() -> Path:
    """Return the user's data folder of this package."""
    return Path(platformdirs.user_data_dir(_APPLICATION, appauthor=False))


def check_account(name: str) -> str:
    """Return an account's name.

    Raises:
        SeatError: it isn't one.
    """
    if not _ACCOUNT.fullmatch(name):
        raise SeatError(
            f"account {one_line(name, 60)!r}: 1 to 40 of letters, digits, '.', '_' and '-' are "
            "allowed, and no '.' in front"
        )
    return name


def account_home(account: str, vendor: str) -> Path:
    """Return the folder of a named account of a vendor; it need not exist.

    Raises:
        SeatError: that's no account's name.
    """
    return data_folder() / "homes" / check_account(account) / vendor


def key_of(names: Sequence[str], parent: Mapping[str, str]) -> str | None:
    """Return the first key that stands in one of the named variables."""
    return next((parent[name] for name in names if parent.get(name)), None)
