"""Holds what the project says about itself: version, changelog, light loading, commands, paths."""

from __future__ import annotations

import importlib.metadata
import os
import pwd
import re
import subprocess
import sys
import tomllib

import rt_notebook
from tests.environment import ROOT

HEAVY = (
    "pandas",
    "IPython",
    "ipywidgets",
    "anywidget",
    "pydantic",
    "pydantic_ai",
    "altair",
    "dask",
    "importlib.metadata",
)
IMPORT_S = 0.1
LOAD_EXT_S = 0.1
# A busy machine slows single runs down; the best of a few shows what the code costs.
TRIES = 5


def _python(code: str) -> str:
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().splitlines()[-1]


def _project() -> dict[str, object]:
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert isinstance(table, dict)
    return table


def test_version_is_the_same_everywhere() -> None:
    assert rt_notebook.__version__ == _project()["version"]
    assert importlib.metadata.version("rt-notebook") == _project()["version"]


def test_changelog_opens_with_unreleased_changes() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## \[(.+?)\]", text, flags=re.MULTILINE)
    assert versions[0] == "Unreleased"
    assert versions[1:2] in ([], [_project()["version"]])


def test_every_promised_name_is_there() -> None:
    missing = [name for name in rt_notebook.__all__ if not hasattr(rt_notebook, name)]
    assert missing == []


def test_import_loads_no_heavy_package() -> None:
    loaded = _python(
        f"import sys, rt_notebook; print([name for name in {HEAVY} if name in sys.modules])"
    )
    assert loaded == "[]"


def test_import_is_fast_when_fresh() -> None:
    code = (
        "import time; began = time.perf_counter(); import rt_notebook; "
        "print(time.perf_counter() - began)"
    )
    assert min(float(_python(code)) for _ in range(TRIES)) < IMPORT_S


def test_load_ext_adds_little_time() -> None:
    code = (
        "import time, IPython, ipywidgets\n"
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\n"
        "began = time.perf_counter()\n"
        "shell.run_line_magic('load_ext', 'rt_notebook')\n"
        "took = time.perf_counter() - began\n"
        "assert 'roundtable' in shell.magics_manager.magics['cell']\n"
        "print(took)"
    )
    assert min(float(_python(code)) for _ in range(TRIES)) < LOAD_EXT_S


def test_ci_runs_the_documented_commands() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in readme
    assert "make test" in readme
    script = ROOT / ".ci" / "run"
    assert "make test" in script.read_text(encoding="utf-8")
    assert os.access(script, os.X_OK)


def test_notebooks_hold_no_local_paths() -> None:
    # The real home, not the one the tests run with.
    private = [f"{ROOT}", f"{pwd.getpwuid(os.getuid()).pw_dir}/"]
    notebooks = sorted((ROOT / "notebooks").glob("*.ipynb"))
    assert notebooks != []
    leaks = [
        f"{path.name}: {text}"
        for path in notebooks
        for text in private
        if text in path.read_text(encoding="utf-8")
    ]
    assert leaks == []
