"""Real JupyterLab and Notebook 7 servers on loopback, each with a folder and a home of its own."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal, Self
from urllib.error import URLError

import nbformat
import psutil

from tests.environment import free_port, scrubbed_environment
from tests.kernel_ports import SERVER_CONFIG
from tests.notebook.runner import NEWEST, make_notebook, read_notebook, write_notebook

App = Literal["lab", "notebook"]
# Lab alone asks for news and updates.
_QUIET = (
    "--LabApp.news_url=",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
)
_START_S = 60
_STOP_S = 15

# Nobody is there to say whether news from outside are wanted, and nothing saves but the test.
_SETTINGS: Final = {
    "apputils-extension/notification": '{"fetchNews": "false", "checkForUpdates": false}',
    "docmanager-extension/plugin": '{"autosave": false}',
}


class Server:
    """One running front end; a context manager that ends it with all its kernels."""

    def __init__(self, app: App, folder: Path) -> None:
        self.app: App = app
        self.notebooks = folder / "notebooks"
        self.home = folder / "home"
        self.log = folder / "server.log"
        self.port = free_port()
        # Only this test run's browser knows it, and only on loopback.
        self.token = "tests"  # noqa: S105
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.notebooks.mkdir(parents=True)
        self.home.mkdir()
        for name, settings in _SETTINGS.items():
            path = self.home / "lab-settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
            path.parent.mkdir(parents=True)
            path.write_text(settings, encoding="utf-8")
        config = self.home / "jupyter" / "config" / "jupyter_server_config.py"
        config.parent.mkdir(parents=True)
        config.write_text(SERVER_CONFIG, encoding="utf-8")
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                self._command(), env=self._environment(), stdout=log, stderr=subprocess.STDOUT
            )
        try:
            self._wait_until_up(self._process)
        except BaseException:
            self._stop(self._process)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._process is not None:
            self._stop(self._process)

    def _command(self) -> list[str]:
        return [
            *(sys.executable, "-m", "jupyter", self.app, "--no-browser", "--allow-root"),
            f"--ServerApp.port={self.port}",
            "--ServerApp.port_retries=0",
            f"--ServerApp.root_dir={self.notebooks}",
            f"--IdentityProvider.token={self.token}",
            # Puts the application object where the driver can call its commands.
            "--expose-app-in-browser",
            *(_QUIET if self.app == "lab" else ()),
        ]

    def _environment(self) -> dict[str, str]:
        places = {
            "JUPYTERLAB_SETTINGS_DIR": str(self.home / "lab-settings"),
            "JUPYTERLAB_WORKSPACES_DIR": str(self.home / "lab-workspaces"),
        }
        return scrubbed_environment(self.home) | places

    def _wait_until_up(self, process: subprocess.Popen[bytes]) -> None:
        for _ in range(_START_S * 4):
            try:
                self.request("GET", "api/status")
                return
            except (URLError, ConnectionError):
                # The wait for the next try ends at once if the server gives up.
                try:
                    process.wait(timeout=0.25)
                except subprocess.TimeoutExpired:
                    continue
                break
        raise RuntimeError(f"jupyter {self.app} did not start:\n{self.log_tail()}")

    @staticmethod
    def _stop(process: subprocess.Popen[bytes]) -> None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def log_tail(self, characters: int = 3000) -> str:
        """Returns the end of the server's log, which holds the kernels' own output too."""
        return self.log.read_text(encoding="utf-8", errors="replace")[-characters:]

    def url(self, notebook: str) -> str:
        """Returns the address at which a person would open a notebook."""
        path = "lab/tree" if self.app == "lab" else "notebooks"
        # Lab remembers open documents; a test starts from an empty workspace.
        fresh = "&reset" if self.app == "lab" else ""
        return f"http://127.0.0.1:{self.port}/{path}/{notebook}?token={self.token}{fresh}"

    def request(self, method: str, path: str) -> Any:
        """Calls the server's REST interface and returns what it answers, or None."""
        call = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/{path}",
            method=method,
            headers={"Authorization": f"token {self.token}"},
        )
        with urllib.request.urlopen(call, timeout=10) as answer:  # noqa: S310
            body = answer.read()
        return json.loads(body) if body else None

    def write(self, name: str, cells: Iterable[str], kernel: str = NEWEST) -> str:
        """Puts a notebook of code cells into the server's folder and returns its name."""
        write_notebook(make_notebook(cells, kernel), self.notebooks / name)
        return name

    def read(self, name: str) -> nbformat.NotebookNode:
        """Returns a notebook as it was last saved."""
        return read_notebook(self.notebooks / name)

    def kernel_pids(self) -> list[int]:
        """Returns the process ids of the kernels that run now."""
        assert self._process is not None
        return [
            child.pid
            for child in psutil.Process(self._process.pid).children(recursive=True)
            if "ipykernel_launcher" in _command_of(child)
        ]

    def shut_down_kernels(self) -> None:
        """Ends every session, so that the next test starts with no kernel."""
        for session in self.request("GET", "api/sessions"):
            self.request("DELETE", f"api/sessions/{session['id']}")


def _command_of(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:  # it has just ended
        return []
