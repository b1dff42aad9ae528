"""Runs cells in a real kernel, headless, as nbconvert and papermill do: stdin is not allowed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import nbformat
from nbclient import NotebookClient

from tests.environment import scrubbed_environment
from tests.kernel_ports import keep_apart
from tools.releases import KERNELS

keep_apart()

NEWEST = "ipykernel-newest"
ALL_KERNELS = tuple(KERNELS)
# ipykernel 6 has none, and front ends send everything to the main shell.
KERNELS_WITH_SUBSHELLS = tuple(name for name in ALL_KERNELS if "-6." not in name)
# Its functions carry no types.
_NBFORMAT: Any = nbformat


@dataclass(frozen=True)
class Executed:
    """A notebook whose cells have run."""

    notebook: nbformat.NotebookNode
    """The notebook with its outputs, as a tool would save it."""

    def outputs(self, cell: int) -> list[dict[str, Any]]:
        """Returns one cell's outputs as they stand in the file."""
        return list(self.notebook.cells[cell].outputs)

    def printed(self, cell: int) -> str:
        """Returns what one cell printed to its standard output."""
        return "".join(out["text"] for out in self.outputs(cell) if out.get("name") == "stdout")

    def warned(self, cell: int) -> str:
        """Returns what one cell wrote to its standard error."""
        return "".join(out["text"] for out in self.outputs(cell) if out.get("name") == "stderr")

    def data(self, cell: int, mime: str = "text/plain") -> list[str]:
        """Returns one cell's displayed values and its result, of one MIME type."""
        shown = [out["data"] for out in self.outputs(cell) if "data" in out]
        return [bundle[mime] for bundle in shown if mime in bundle]

    def value(self, cell: int) -> Any:
        """Returns what one cell printed last, read as JSON."""
        return json.loads(self.printed(cell).strip().splitlines()[-1])

    def error(self, cell: int) -> tuple[str, str] | None:
        """Returns one cell's error name and message, or None."""
        failed = [out for out in self.outputs(cell) if out["output_type"] == "error"]
        return (failed[0]["ename"], failed[0]["evalue"]) if failed else None

    def counts(self) -> list[int | None]:
        """Returns the cells' prompt numbers: None for a cell that did not run."""
        return [cell.get("execution_count") for cell in self.notebook.cells]


class RunNotebook(Protocol):
    """The fixture's type: runs cells in one fresh kernel and returns the executed notebook."""

    def __call__(
        self,
        cells: Iterable[str],
        *,
        kernel: str = NEWEST,
        timeout_s: float = 60,
        allow_errors: bool = False,
        env: dict[str, str] | None = None,
    ) -> Executed: ...


def make_notebook(cells: Iterable[str], kernel: str = NEWEST) -> nbformat.NotebookNode:
    """Returns a notebook of code cells for one of the tests' kernels."""
    spec = {"name": kernel, "display_name": kernel, "language": "python"}
    notebook: nbformat.NotebookNode = _NBFORMAT.v4.new_notebook(metadata={"kernelspec": spec})
    notebook.cells = [_NBFORMAT.v4.new_code_cell(source) for source in cells]
    return notebook


def write_notebook(notebook: nbformat.NotebookNode, path: Path) -> None:
    """Writes a notebook's file."""
    _NBFORMAT.write(notebook, path)


def read_notebook(path: Path) -> nbformat.NotebookNode:
    """Reads a notebook's file."""
    notebook: nbformat.NotebookNode = _NBFORMAT.read(path, as_version=4)
    return notebook


def execute(
    notebook: nbformat.NotebookNode,
    home: Path,
    *,
    timeout_s: float = 60,
    allow_errors: bool = False,
    env: dict[str, str] | None = None,
) -> Executed:
    """Runs a notebook in the kernel it names, in a scrubbed environment, in the folder `home`."""
    # The client makes its own kernel manager: one handed in is not shut down at the end.
    client = NotebookClient(
        notebook,
        kernel_name=notebook.metadata.kernelspec.name,
        timeout=int(timeout_s),
        allow_errors=allow_errors,
        resources={"metadata": {"path": str(home)}},
        store_widget_state=True,
    )
    client.execute(env=scrubbed_environment(home) | (env or {}))
    return Executed(notebook)
