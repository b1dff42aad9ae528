"""Takes the README's picture: the quick start in a real JupyterLab, waiting at its gate.

    python -m tools.picture [FOLDER]

Writes `review.png` (the gate) into the folder (default: docs) and, with `--all`, the running view,
the gate and the report at two widths and in both themes, for looking at.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.browser.labdriver import NotebookPage, chromium, notebook_page
from tests.browser.servers import Server
from tests.notebook.runner import NEWEST, read_notebook
from tools.chromium import ensure_chromium

ROOT = Path(__file__).parents[1]
GATE = ".jp-OutputArea-output textarea"
HEADER = ".rt-live"


def main() -> int:
    """Take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", default=str(ROOT / "docs"), type=Path)
    parser.add_argument("--all", action="store_true", help="every state, width and theme")
    given = parser.parse_args()
    ensure_chromium()
    notebook: Any = read_notebook(ROOT / "notebooks" / "01-quickstart.ipynb")
    cells = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        with Server("lab", home / "lab") as server, chromium(home) as browser:
            name = server.write("01-quickstart.ipynb", cells, NEWEST)
            with notebook_page(browser, server) as page:
                page.open(name)
                _take(page, given.folder, everything=given.all)
    return 0


def _take(page: NotebookPage, folder: Path, *, everything: bool) -> None:
    page.command("application:toggle-left-area")
    page.run_all()
    if everything:
        page.wait_text("at work")
        _shots(page, folder, "running")
    page.wait(GATE)
    page.type(f"{GATE} >> nth=0", "Thirty of the forty, and both trade papers.")
    page.set_theme("light")
    page.page.set_viewport_size({"width": 1300, "height": 1340})  # the debate as large as it needs
    page.find(HEADER).first.evaluate("e => e.scrollIntoView({block: 'start'})")
    page.page.screenshot(path=folder / "review.png")
    if not everything:
        return
    _shots(page, folder, "gate")
    page.find("button:has-text('Continue')").last.click()
    page.wait_finished()
    _shots(page, folder, "report")


def _shots(page: NotebookPage, folder: Path, name: str) -> None:
    for width in (1300, 700):
        for theme in ("light", "dark"):
            page.screenshot(folder / f"{name}-{width}-{theme}.png", width=width, theme=theme)


if __name__ == "__main__":
    sys.exit(main())
