"""The model's server leaves nothing behind, even where nobody can end it."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.environment import ROOT, scrubbed_environment
from tests.local_model import watched

HOLDER = """
import sys, time
from pathlib import Path
from tests.local_model.server import ModelServer
with ModelServer(Path(sys.argv[1])) as server:
    print(server.address[1], flush=True)
    time.sleep(600)
"""


def _listens(port: int) -> bool:
    with socket.socket() as door:
        door.settimeout(5)
        return door.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.usefixtures("installed")
def test_server_ends_with_whoever_is_killed_at_once(tmp_path: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)],
        cwd=ROOT,
        env=scrubbed_environment(tmp_path),
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    with holder:
        try:
            assert holder.stdout is not None
            port = int(holder.stdout.readline())
            assert _listens(port)
        finally:
            holder.kill()
    end = time.monotonic() + 20 * watched.LOOK_S
    while _listens(port) and time.monotonic() < end:
        time.sleep(0.1)
    assert not _listens(port)
