"""Which MCP clients there are, where their configuration is, and how a server is written there.

Owns these facts and the change of one file: shown first, a backup kept, nothing else touched.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rt_notebook.errors import OptionError, RoundtableError, StoreError, one_line
from rt_notebook.frontends import setup_json, setup_toml

SERVER: Final = "rt-notebook"
"""The entry's name."""


@dataclass(frozen=True)
class Client:
    """One MCP client."""

    name: str
    """As in `--client`."""
    program: str
    """The client's command."""
    file: Callable[[Path], Path]
    """Its configuration, given the home folder."""
    entry: Callable[[list[str]], dict[str, Any]]
    """The entry, given the command that starts the server."""
    path: Callable[[Mapping[str, Any]], tuple[str, ...]]
    """The keys that lead to the entry, given what the file says."""

    def is_here(self, home: Path) -> bool:
        """Return whether the client seems to be installed."""
        file = self.file(home)
        folder = file if file.parent == home else file.parent
        return folder.exists() or shutil.which(self.program) is not None


@dataclass(frozen=True)
class Change:
    """What setup would do to one file."""

    client: Client
    """The client."""
    file: Path
    """Its configuration."""
    before: str | None
    """The file's text; None: there is no file."""
    after: str
    """What it is to be."""
    shown: str
    """The change for a person."""

    @property
    def needed(self) -> bool:
        """True when there is something to write."""
        return self.after != (self.before or "")


def server_command() -> list[str]:
    """Return the command by which a client starts the server, wherever the client runs."""
    return [sys.executable, "-P", "-m", "rt_notebook", "mcp"]


def plan(client: Client, home: Path, *, remove: bool) -> Change:
    """Return what is to be changed for a client; nothing is written.

    Raises:
        OptionError: its configuration can't be read or changed safely.
    """
    file = client.file(home)
    text = _read(file)
    said = _parsed(client, file, text or "")
    path, entry = client.path(said), client.entry(server_command())
    there = _at(said, path)
    if remove:
        after = _edited(client, file, text or "", path, None) if there is not None else text or ""
        shown = f"- {'.'.join(path)}" if there is not None else "nothing to remove"
        return Change(client, file, text, after, shown)
    if isinstance(there, Mapping) and all(there.get(key) == entry[key] for key in entry):
        return Change(client, file, text, text or "", "already set up")
    after = _edited(client, file, text or "", path, entry)
    sign = "+" if there is None else "~"
    shown = f"{sign} {'.'.join(path)} = {json.dumps(entry, ensure_ascii=False)}"
    return Change(client, file, text, after, shown)


def write(change: Change) -> Path | None:
    """Write a change; returns the backup's path, None where there was no file.

    Raises:
        StoreError: it can't be written, or the file was changed meanwhile; it is as it was.
    """
    file = change.file.resolve()  # a link stays a link
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if _read(file) != change.before:
            raise StoreError(f"{file} was changed meanwhile; try again")
        backup = None
        if change.before is not None:
            stamp = time.strftime("%Y%m%d-%H%M%S")
            backup = _free(file.with_name(f"{file.name}.before-{SERVER}-{stamp}"))
            shutil.copy2(file, backup)
        _replace(file, change.after, backup)
    except OSError as exc:
        raise StoreError(f"{file} can't be written: {exc.strerror}; it is as it was") from None
    return backup


def state_of(client: Client, home: Path) -> str:
    """Return how a client stands, in a few words."""
    file = client.file(home)
    try:
        text = _read(file)
        said = _parsed(client, file, text or "")
    except RoundtableError as exc:
        return str(exc)
    there = _at(said, client.path(said))
    if there is None:
        return "not set up" if client.is_here(home) else "not set up; the client isn't here"
    command = _command_of(there)
    if command[:1] and shutil.which(command[0]) is None:
        return f"set up, but its command is gone: {one_line(command[0], 200)}"
    same = command == server_command()
    return "set up" if same else f"set up with another command: {one_line(' '.join(command), 200)}"


def _command_of(entry: object) -> list[str]:
    if not isinstance(entry, Mapping):
        return []
    command, arguments = entry.get("command"), entry.get("args")
    words = command if isinstance(command, list) else [command]
    more = arguments if isinstance(arguments, list) else []
    return [str(word) for word in [*words, *more] if word is not None]


def _free(path: Path) -> Path:
    number, found = 1, path
    while found.exists():
        number += 1
        found = path.with_name(f"{path.name}-{number}")
    return found


def _replace(file: Path, text: str, like: Path | None) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{file.name}-", dir=file.parent)  # mode 0600
    try:
        with os.fdopen(handle, "wb") as new:
            new.write(text.encode("utf-8"))
            new.flush()
            os.fsync(new.fileno())
        if like is not None:
            shutil.copymode(like, name)
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _read(file: Path) -> str | None:
    try:
        return file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except OSError as exc:
        raise OptionError(f"{file} can't be read: {exc.strerror}") from None
    except UnicodeDecodeError:
        raise OptionError(f"{file} isn't UTF-8 text") from None


def _parsed(client: Client, file: Path, text: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = _language(client).parse(text)
        return found
    except (OptionError, ValueError, IndexError, RecursionError) as exc:
        raise OptionError(
            f"{file} can't be understood ({one_line(str(exc), 120)}); nothing was changed"
        ) from None


def _language(client: Client) -> Any:
    return setup_toml if client.name == "codex" else setup_json


def _edited(
    client: Client, file: Path, text: str, path: tuple[str, ...], entry: dict[str, Any] | None
) -> str:
    """Return the changed text, checked: it says the same as before but for the entry."""
    expected = _parsed(client, file, text)
    _put(expected, path, entry)
    expected = _without_empty(expected, path)
    try:
        if client.name == "codex":
            after = (
                setup_toml.without_table(text, path)
                if entry is None
                else setup_toml.with_table(text, path, entry)
            )
        else:
            after = (
                setup_json.without_entry(text, path)
                if entry is None
                else setup_json.with_entry(text, path, entry)
            )
        same = _without_empty(_language(client).parse(after), path) == expected
    except (OptionError, ValueError, IndexError):
        same, after = False, text
    if not same:
        what = "remove" if entry is None else f"set {json.dumps(entry)} as"
        raise OptionError(
            f"{file} is written in a way that can't be changed safely; {what} "
            f"{'.'.join(path)} by hand"
        )
    return after


def _put(data: dict[str, Any], path: tuple[str, ...], entry: dict[str, Any] | None) -> None:
    place: Any = data
    for key in path[:-1]:
        place = place.setdefault(key, {})
        if not isinstance(place, dict):
            return
    if entry is None:
        place.pop(path[-1], None)
    else:
        place[path[-1]] = entry


def _without_empty(data: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    # A TOML table goes with its last subtable, which changes nothing for who reads it.
    return {key: value for key, value in data.items() if key != path[0] or value != {}}


def _at(data: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        data = data.get(key) if isinstance(data, Mapping) else None
    return data


def _set(variable: str) -> Path | None:
    said = os.environ.get(variable)
    return Path(said).expanduser() if said else None


def _claude(home: Path) -> Path:
    return (_set("CLAUDE_CONFIG_DIR") or home) / ".claude.json"


def _codex(home: Path) -> Path:
    return (_set("CODEX_HOME") or home / ".codex") / "config.toml"


def _gemini(home: Path) -> Path:
    return (_set("GEMINI_CLI_HOME") or home) / ".gemini" / "settings.json"


def _opencode(home: Path) -> Path:
    folder = (_set("XDG_CONFIG_HOME") or home / ".config") / "opencode"
    commented = folder / "opencode.jsonc"
    return commented if commented.exists() else folder / "opencode.json"


def _antigravity(home: Path) -> Path:
    # Its releases before 2.0 had a folder of their own.
    old = home / ".gemini" / "antigravity" / "mcp_config.json"
    new = home / ".gemini" / "config" / "mcp_config.json"
    return old if old.exists() and not new.exists() else new


def _servers(said: Mapping[str, Any]) -> tuple[str, ...]:
    return ("mcpServers", SERVER)


def _opencode_path(said: Mapping[str, Any]) -> tuple[str, ...]:
    servers = _at(said, ("mcp", "servers"))
    # OpenCode 2 has a level more; there, `servers` is no server, which would have a type.
    nested = isinstance(servers, Mapping) and "type" not in servers
    return ("mcp", "servers", SERVER) if nested else ("mcp", SERVER)


def _plain_entry(command: list[str]) -> dict[str, Any]:
    return {"command": command[0], "args": command[1:]}


CLIENTS: Final = {
    client.name: client
    for client in (
        Client(
            "claude", "claude", _claude, lambda c: {"type": "stdio", **_plain_entry(c)}, _servers
        ),
        Client("codex", "codex", _codex, _plain_entry, lambda said: ("mcp_servers", SERVER)),
        Client("gemini", "gemini", _gemini, _plain_entry, _servers),
        Client(
            "opencode",
            "opencode",
            _opencode,
            lambda c: {"type": "local", "command": c, "enabled": True},
            _opencode_path,
        ),
        Client("antigravity", "agy", _antigravity, _plain_entry, _servers),
    )
}
"""The clients by name."""
