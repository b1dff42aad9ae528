"""The documentation: its tables are the code's, its links lead somewhere, its examples run."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.environment import ROOT, scrubbed_environment
from tests.frontends.shells import Shell
from tools.reference import MAKERS, filled, pages

DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
_FENCE = re.compile(r"^```([\w-]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_TABLE = re.compile(r"<!-- table: ([\w-]+) -->")
_FILE = re.compile(r"# ([\w-]+\.(?:md|toml))")


class Block(NamedTuple):
    """A fenced block of a page."""

    language: str
    """The word behind the fence."""
    text: str
    """What stands in it."""


def blocks_of(path: Path) -> list[Block]:
    """Returns a page's fenced blocks in order."""
    return [Block(*found) for found in _FENCE.findall(path.read_text(encoding="utf-8"))]


def _with(*languages: str) -> list[Path]:
    return [page for page in PAGES if any(b.language in languages for b in blocks_of(page))]


def _id(path: Path) -> str:
    return path.stem


def _write_files(page: Path, folder: Path) -> None:
    """Writes the files that a page shows: those whose first line is `# NAME`."""
    for block in blocks_of(page):
        first, _, rest = block.text.partition("\n")
        if block.language in ("text", "toml") and (named := _FILE.match(first)):
            (folder / named[1]).write_text(rest, encoding="utf-8")


# ---- tables -------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", pages(), ids=_id)
def test_tables_are_what_code_says(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text == filled(text), "python -m tools.reference writes them anew"


def test_every_table_stands_in_one_page() -> None:
    used = [name for page in PAGES for name in _TABLE.findall(page.read_text(encoding="utf-8"))]
    assert sorted(used) == sorted(MAKERS)


# ---- examples -----------------------------------------------------------------------------------


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    """Gives a shell whose working folder is empty."""
    monkeypatch.chdir(tmp_path)
    made = Shell()
    made.ip.reset(new_session=False)
    yield made
    made.close()


@pytest.mark.slow
@pytest.mark.parametrize("page", _with("python", "ipython"), ids=_id)
def test_examples_run_as_they_stand(page: Path, shell: Shell) -> None:
    _write_files(page, Path.cwd())
    for block in blocks_of(page):
        if block.language in ("python", "ipython"):
            shell.run(block.text)


def _console_lines(page: Path) -> list[str]:
    consoles = [block.text for block in blocks_of(page) if block.language == "console"]
    return [line[2:] for text in consoles for line in text.splitlines() if line.startswith("$ ")]


@pytest.mark.slow
@pytest.mark.parametrize("page", _with("console"), ids=_id)
def test_commands_run_as_they_stand(page: Path, tmp_path: Path) -> None:
    _write_files(page, tmp_path)
    for line in _console_lines(page):
        name, *words = shlex.split(line)
        assert name == "rt-notebook"
        done = subprocess.run(
            [sys.executable, "-m", "rt_notebook", *words],
            cwd=tmp_path,
            env=scrubbed_environment(tmp_path) | {"PYTHONPATH": str(ROOT)},
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
        assert done.stdout.strip(), line


# ---- the whole ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_documentation_builds_without_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"]
    done = subprocess.run(
        [*command, str(DOCS), str(tmp_path / "site"), "-d", str(tmp_path / "trees")],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        encoding="utf-8",
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    built = {page.stem for page in (tmp_path / "site").glob("*.html")}
    assert {page.stem for page in PAGES} <= built
    html = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    loaded: list[Any] = re.findall(r"<(?:script|img|iframe)[^>]*\ssrc=\"([^\"]+)", html)
    loaded += re.findall(r"<link[^>]*\shref=\"([^\"]+)", html)
    assert [url for url in loaded if "//" in url] == []
