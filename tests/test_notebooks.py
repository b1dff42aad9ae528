"""The notebooks in the repository: each runs headless, and each shows itself without a kernel."""

from __future__ import annotations

import os
import pwd
import re
import shutil
import socket
import time
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbconvert import HTMLExporter
from playwright.sync_api import Page, Request, Route, sync_playwright

from tests.environment import ROOT
from tests.kernel_ports import keep_apart
from tools.chromium import find_chromium
from tools.notebooks import METADATA, TIMEOUT_S, execute, notebooks, read

keep_apart()

NOTEBOOKS = notebooks()
# Everything in it comes from a record, so a run without models gives the same bytes.
FROM_RECORD = "04-"
_LOCAL = re.compile(
    r"/(?:home|Users|tmp|var|opt|mnt|private)/[\w.-]|\b[A-Z]:\\\w|file://|ipykernel_\d"
)
# Its functions carry no types.
_EXPORTER: Any = HTMLExporter
_EXTERNAL = re.compile(r"^(?:https?:)?//", re.IGNORECASE)

each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])


def _code(notebook: nbformat.NotebookNode) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def _outputs(notebook: nbformat.NotebookNode) -> Iterator[Any]:
    return (output for cell in _code(notebook) for output in cell.outputs)


def _texts(output: Any) -> Iterator[str]:
    """Yields what an output says, pictures' bytes left out."""
    if output.output_type == "stream":
        yield output.text
    for kind, content in output.get("data", {}).items():
        if not kind.startswith("image/"):
            yield content if isinstance(content, str) else str(content)


def assert_clean(notebook: nbformat.NotebookNode) -> None:
    """Checks that a notebook has run, and that its outputs need and name no machine."""
    assert dict(notebook.metadata) == METADATA
    assert [cell.execution_count for cell in _code(notebook)] == list(
        range(1, len(_code(notebook)) + 1)
    )
    # The real home, not the one the tests run with.
    private = [f"{ROOT}/", f"{pwd.getpwuid(os.getuid()).pw_dir}/"]
    host = socket.gethostname()
    private += [host] if len(host) > len("host") else []
    for output in _outputs(notebook):
        assert output.output_type != "error", output
        assert output.get("name") != "stderr", output
        kinds = list(output.get("data", {}))
        assert not [kind for kind in kinds if "widget" in kind], kinds
        if kinds:
            assert "text/plain" in kinds
        for text in _texts(output):
            assert not _LOCAL.search(text), _LOCAL.search(text)
            assert [word for word in private if word in text] == []


@each_notebook
def test_committed_notebook_holds_clean_outputs(path: Path) -> None:
    notebook = read(path)
    assert_clean(notebook)
    bundles = [set(output.data) for output in _outputs(notebook) if "data" in output]
    assert any("text/html" in bundle for bundle in bundles)


@pytest.mark.notebook
@each_notebook
def test_notebook_runs_headless_without_key(path: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(path.parent, tmp_path / "notebooks")
    before = _files(folder)
    recorded = path.name.startswith(FROM_RECORD)
    env = {"RT_NOTEBOOK_RECORD": "none"} if recorded else {}
    began = time.monotonic()
    done = execute(read(path), tmp_path / "home", folder=folder, env=env)
    assert time.monotonic() - began < TIMEOUT_S
    assert_clean(done)
    committed = read(path)
    assert [_shape(cell) for cell in _code(done)] == [_shape(cell) for cell in _code(committed)]
    if recorded:
        assert list(map(dict, _outputs(done))) == list(map(dict, _outputs(committed)))
    assert _files(folder) == before


def _shape(cell: Any) -> list[tuple[str, list[str]]]:
    """Returns what kinds of output a cell has; ids and times in them differ from run to run."""
    return [(output.output_type, sorted(output.get("data", {}))) for output in cell.outputs]


def _files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


# ---- on a static site ---------------------------------------------------------------------------


class _Loads(HTMLParser):
    """Collects what a page would load."""

    def __init__(self) -> None:
        super().__init__()
        self.urls: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Takes the addresses of everything but links to click."""
        names = ("src", "srcset", "data", "poster", *(["href"] if tag == "link" else []))
        self.urls += [url or "" for name, url in attrs if name in names]


def exported(path: Path) -> str:
    """Returns a notebook as the HTML that a static site shows, with nothing of nbconvert's own.

    nbconvert's page asks a server for RequireJS and MathJax, which no notebook here needs.
    """
    exporter = _EXPORTER(require_js_url="", mathjax_url="", jquery_url="", mermaid_js_url="")
    page, _ = exporter.from_notebook_node(read(path))
    return str(page)


@each_notebook
def test_exported_page_loads_nothing_else(path: Path) -> None:
    loads = _Loads()
    loads.feed(exported(path))
    assert [url[:80] for url in loads.urls if _EXTERNAL.match(url)] == []


@pytest.fixture(scope="module")
def browser_page() -> Iterator[Page]:
    """Gives a page of a real Chromium."""
    with sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        yield browser.new_page()
        browser.close()


@pytest.mark.browser
@each_notebook
def test_exported_page_shows_everything_offline(
    path: Path, tmp_path: Path, browser_page: Page
) -> None:
    page = tmp_path / "page.html"
    page.write_text(exported(path), encoding="utf-8")
    asked: list[str] = []

    def refuse(route: Route, request: Request) -> None:
        if request.url.startswith(("file:", "data:", "blob:")):
            route.continue_()
        else:
            asked.append(request.url)
            route.abort()

    browser_page.route("**/*", refuse)
    browser_page.goto(page.as_uri())
    assert asked == []
    widths = browser_page.evaluate("[...document.images].map(image => image.naturalWidth)")
    pictures = [o for o in _outputs(read(path)) if "image/png" in o.get("data", {})]
    assert len(widths) == len(pictures)
    assert all(widths)
    shown = browser_page.locator("body").inner_text()
    for report in _reports(read(path)):
        assert report in " ".join(shown.split())
    browser_page.unroute_all()


def _reports(notebook: nbformat.NotebookNode) -> list[str]:
    """Returns the question of each report in a notebook: its text form's first line."""
    bundles = [output.get("data", {}) for output in _outputs(notebook)]
    return [
        bundle["text/plain"].split("\n")[0]
        for bundle in bundles
        if {"text/html", "text/markdown"} <= set(bundle)
    ]
