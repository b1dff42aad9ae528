"""Runs the project's notebooks headless and commits their outputs: `python -m tools.notebooks`.

Owns what a saved notebook looks like: a kernelspec that every Jupyter has, no times, no versions of
the machine it ran on. Knows nothing of what the notebooks say.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "notebooks"
"""Where the notebooks lie."""
TIMEOUT_S = 60
"""Seconds that one notebook may take in all."""

METADATA: Mapping[str, Any] = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
"""All that a saved notebook says about the kernel."""

# Without `import *` the functions of nbformat carry no types.
_NBFORMAT: Any = nbformat
_KEPT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT", "PATHEXT", "COMSPEC", "PYTHONPATH")


def notebooks() -> list[Path]:
    """Returns the notebooks in their order."""
    return sorted(FOLDER.glob("*.ipynb"))


def environment(home: Path) -> dict[str, str]:
    """Returns what a kernel gets: nothing personal, no key, a store and a home of its own."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    places = ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
    own = {name: str(home) for name in (*places, "XDG_CACHE_HOME", "IPYTHONDIR")}
    return {
        **kept,
        **own,
        "PYTHONUTF8": "1",
        "TZ": "UTC",
        "RT_NOTEBOOK_STORE": str(home / "debates.db"),
    }


def read(path: Path) -> nbformat.NotebookNode:
    """Returns a notebook as it is saved."""
    notebook: nbformat.NotebookNode = _NBFORMAT.read(path, as_version=4)
    return notebook


def execute(
    notebook: nbformat.NotebookNode,
    home: Path,
    *,
    folder: Path = FOLDER,
    env: Mapping[str, str] | None = None,
) -> nbformat.NotebookNode:
    """Runs a notebook and returns it with its outputs.

    Args:
        notebook: the notebook.
        home: a folder for what the kernel keeps.
        folder: where it runs.
        env: variables on top of `environment`.

    Raises:
        CellExecutionError: a cell failed.
    """
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    client = NotebookClient(
        notebook,
        kernel_name=METADATA["kernelspec"]["name"],
        kernel_manager_class=_OwnKernel,
        extra_arguments=["--log-level=ERROR"],
        timeout=TIMEOUT_S,
        resources={"metadata": {"path": str(folder)}},
        record_timing=False,
        store_widget_state=True,
    )
    client.execute(env={**environment(home), **(env or {})})
    return tidy(notebook)


class _OwnKernel(AsyncKernelManager):
    """Starts the kernel of this very Python, whatever else is installed for the person."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        specs = KernelSpecManager()
        specs.kernel_dirs = []
        self.kernel_spec_manager = specs


def tidy(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Takes out of an executed notebook what differs from machine to machine; returns it."""
    widgets = notebook.metadata.get("widgets")
    notebook.metadata = _NBFORMAT.from_dict(dict(METADATA))
    if widgets:
        notebook.metadata["widgets"] = widgets  # kept for the tests to find: none may be left
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    return notebook


def write(notebook: nbformat.NotebookNode, path: Path) -> None:
    """Saves a notebook, readable in a diff."""
    text = _NBFORMAT.writes(notebook, indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8", newline="\n")


def run(paths: Iterable[Path]) -> int:
    """Runs notebooks and saves them with their outputs; returns an exit status."""
    status = 0
    for path in paths:
        try:
            with tempfile.TemporaryDirectory(prefix="rt-notebook-") as home:
                write(execute(read(path), Path(home)), path)
        except CellExecutionError as error:
            print(f"{path.name}: {error}", file=sys.stderr)
            status = 1
        else:
            print(f"{path.name}: executed and saved")
    return status


def main() -> int:
    """Runs the notebooks named, or all."""
    parser = argparse.ArgumentParser(prog="tools.notebooks", description=__doc__)
    parser.add_argument("name", nargs="*", help="how a notebook's name begins; none: all")
    wanted = tuple(parser.parse_args().name)
    return run(path for path in notebooks() if not wanted or path.name.startswith(wanted))


if __name__ == "__main__":
    sys.exit(main())
