"""A package of somebody else's that brings a provider along."""

from __future__ import annotations

import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import rt_notebook as rt
from rt_notebook.providers.plug_ins import plug_in_names
from tests.environment import ROOT

EXAMPLE = ROOT / "tests" / "example_plug_in"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Installs the example as an installer would: the module, and its entry points beside it."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    shutil.copy(EXAMPLE / "roundtable_echo.py", tmp_path)
    facts = tmp_path / "roundtable_echo-0.1.0.dist-info"
    facts.mkdir()
    name = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (facts / "METADATA").write_text(name, encoding="utf-8")
    points = project["entry-points"]["rt_notebook.providers"]
    lines = [f"{prefix} = {value}" for prefix, value in points.items()]
    lines.append("broken = roundtable_nowhere:make")
    text = "\n".join(["[rt_notebook.providers]", *lines])
    (facts / "entry_points.txt").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("roundtable_echo", None)


def _review(*models: str, **settings: Any) -> rt.Review:
    seats = [rt.Seat(f"s{n}", model=model) for n, model in enumerate(models)]
    return rt.Review("Ship?", options=["Ship", "Wait"], seats=seats, unattended=True, **settings)


@pytest.mark.usefixtures("installed")
def test_plug_in_sits_and_chairs() -> None:
    assert plug_in_names() == ["broken", "echo", "hollow"]
    result = _review("echo:clear", "echo:loud", chairman="echo:grave").run_sync()
    assert (result.status, result.verdict.pick) == ("done", "opt-1")
    assert set(result.calls["model_reported"]) == {"echo-1"}
    assert result.state.usage["vendors"]["echo"]["calls"] == 3
    assert result.state.usage["cost"] is None


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("echo", "seat 's0': write 'echo:VOICE'"),
        ("hollow:x", "the plug-in 'hollow' can't seat 'hollow:x': .* has no complete"),
        ("broken:x", "the plug-in 'broken' .* No module named 'roundtable_nowhere'"),
        ("ecko:x", "no provider is named 'ecko'; did you mean 'echo'"),
    ],
)
def test_plug_in_that_cannot_sit_is_one_line(model: str, message: str) -> None:
    with pytest.raises(rt.SeatError, match=message):
        _review(model, "scripted").check()
