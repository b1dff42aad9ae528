"""The kernels under test are the ones their names promise, and nothing personal reaches them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.environment import ROOT
from tests.notebook.runner import RunNotebook

_FACTS = """
import importlib.metadata, json, os, pathlib
import ipykernel, rt_notebook
print(json.dumps({
    "ipykernel": ipykernel.__version__,
    "package": str(pathlib.Path(rt_notebook.__file__).parent),
    "home": os.path.expanduser("~"),
    "store": os.environ["RT_NOTEBOOK_STORE"],
    "keys": sorted(name for name in os.environ if name.endswith("_API_KEY")),
}))
"""
_PORTS = """
import json, ipykernel
found = json.loads(ipykernel.get_connection_info())
print([port for name, port in found.items() if name.endswith("_port")])
"""


def test_each_kernel_runs_promised_version(run_notebook: RunNotebook, kernel: str) -> None:
    found = run_notebook([_FACTS], kernel=kernel).value(0)["ipykernel"]
    promised = kernel.removeprefix("ipykernel-")
    if promised == "newest":
        assert int(found.split(".")[0]) >= 7
    else:
        assert f"{found}.".startswith(f"{promised}.")


def test_kernel_sees_nothing_personal(
    run_notebook: RunNotebook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
    facts = run_notebook([_FACTS]).value(0)
    assert facts["keys"] == []
    assert facts["home"] == str(tmp_path)
    assert facts["store"].startswith(str(tmp_path) + os.sep)
    assert facts["package"] == str(ROOT / "rt_notebook")


def test_kernel_listens_where_no_outgoing_connection_leaves_from(
    run_notebook: RunNotebook,
) -> None:
    ports = run_notebook([_PORTS]).value(0)
    assert len(set(ports)) == 5
    assert min(ports) >= 20_000
    assert max(ports) < 32_000


def test_failing_cell_is_kept_when_allowed(run_notebook: RunNotebook) -> None:
    done = run_notebook(["print(1)\n2 + 2", "1 / 0", "print(3)"], allow_errors=True)
    assert done.printed(0) == "1\n"
    assert done.data(0) == ["4"]
    assert done.error(1) == ("ZeroDivisionError", "division by zero")
    assert done.counts() == [1, 2, 3]
