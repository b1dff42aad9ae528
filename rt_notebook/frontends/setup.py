"""`rt-notebook setup`: adds the MCP connection to a client, or takes it away; says what it does.

Owns the words and the exit status; the files are `setup_clients`' business.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rt_notebook.errors import RoundtableError, nearest, one_line
from rt_notebook.frontends.cli_words import CommandLineError, Words
from rt_notebook.frontends.setup_clients import CLIENTS, Client, plan, state_of, write

ALL: Final = "all"
"""Every client that is installed."""


def setup(words: Words) -> int:
    """Carry out a command line and return the exit status.

    Raises:
        CommandLineError: no client is named, or an unknown one.
    """
    home = Path.home()
    if words.flags.get("status"):
        if len(words.flags) > 1:
            raise CommandLineError("setup --status goes alone")
        return _status(home)
    name = words.flags.get("client")
    if name is None:
        raise CommandLineError(f"setup needs --client {'|'.join([*CLIENTS, ALL])}, or --status")
    remove, dry = bool(words.flags.get("remove")), bool(words.flags.get("dry-run"))
    done = [_change(client, home, remove=remove, dry=dry) for client in _chosen(name, home)]
    if not remove and importlib.util.find_spec("mcp") is None:
        print(
            'rt-notebook: the MCP SDK isn\'t installed here: pip install "rt-notebook[mcp]"',
            file=sys.stderr,
        )
    return 0 if all(done) else 1


def _chosen(name: str, home: Path) -> Sequence[Client]:
    if name in CLIENTS:
        return [CLIENTS[name]]
    if name != ALL:
        known = [*CLIENTS, ALL]
        raise CommandLineError(
            f"--client {one_line(name, 40)!r}: one of {', '.join(known)}{nearest(name[:40], known)}"
        )
    found = [client for client in CLIENTS.values() if client.is_here(home)]
    for client in CLIENTS.values():
        if client not in found:
            print(f"{client.name}: not installed here, left alone; --client {client.name} insists")
    return found


def _change(client: Client, home: Path, *, remove: bool, dry: bool) -> bool:
    try:
        change = plan(client, home, remove=remove)
        print(f"{client.name}: {change.file}\n  {change.shown}", flush=True)
        if not change.needed:
            return True
        if dry:
            print("  --dry-run: nothing was written")
            return True
        backup = write(change)
    except RoundtableError as exc:
        print(f"rt-notebook: {client.name}: {one_line(str(exc))}", file=sys.stderr)
        return False
    print("  written; restart the client" + (f"; backup: {backup}" if backup else ""))
    return True


def _status(home: Path) -> int:
    for client in CLIENTS.values():
        print(f"{client.name}: {state_of(client, home)}\n  {client.file(home)}")
    return 0
