"""SIGKILL of a kernel at every kind of event; it goes on in a fresh one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.environment import ROOT
from tests.faults.kill_lab import Act, acts_of, tell
from tests.faults.scenes import PLACES, SCENES, Scene, write_files
from tests.faults.voices import CALLS
from tests.notebook.live_kernel import LiveKernel, live_kernel
from tests.notebook.runner import NEWEST

pytestmark = [pytest.mark.notebook, pytest.mark.soak, pytest.mark.timeout(900)]

SETUP = """
import os, sys
os.chdir({folder!r})
os.environ.update({environment!r})
sys.path.insert(0, {root!r})
%load_ext rt_notebook
import rt_notebook as rt
from pathlib import Path
from tests.faults.kill_lab import Director
from tests.faults.scenes import SCENES
from rt_notebook import session
scene = SCENES[{scene!r}]
Director(scene, {kill!r}, Path.cwd()).sit()
def begin():
    given = dict(scene.input)
    given.pop("kind", None)
    question = given.pop("question")
    if "limits" in given:
        given["limits"] = rt.Limits(**given["limits"])
    kind = rt.Review if "options" in given else rt.Discussion
    return kind(question, display=False, **given).run_sync().status
def go_on():
    if session.rows()[0].status not in ("interrupted", "error", "paused"):
        return "it was over before it was killed"
    return rt.resume("last").result(60).status
def go_further():
    return rt.extend("last", "And then?").result(60).status
"""
CELLS = {"start": "print(begin())", "resume": "print(go_on())", "extend": "print(go_further())"}


def _act(folder: Path, config: Path, name: str, act: Act) -> int | None:
    """Does one act in a kernel of its own; returns how that ended, None where it is alive."""
    environment = {
        "RT_NOTEBOOK_STORE": str(folder / "debates.db"),
        "RT_NOTEBOOK_CONFIG": str(config),
        CALLS: str(folder / f"{act.name}.calls"),
    }
    setup = SETUP.format(
        folder=str(folder), environment=environment, root=str(ROOT), scene=name, kill=act.kill
    )
    with live_kernel(NEWEST, folder) as live:
        live.run(setup)
        cell = live.queue(CELLS[act.do])
        if act.kill is None:
            reply = live.reply(cell, 60)
            assert reply["status"] == "ok", reply
            return None
        live.wait_for(lambda: not live.manager.is_alive(), 60)
        return _code(live)


def _code(live: LiveKernel) -> int:
    provisioner: Any = live.manager.provisioner
    return int(provisioner.process.returncode)


def _play(tmp_path: Path, kind: str | None, name: str, scene: Scene) -> dict[str, Any]:
    folder = tmp_path / (kind or f"whole {name}")
    folder.mkdir()
    config = write_files(folder)
    codes = {act.name: _act(folder, config, name, act) for act in acts_of(kind, scene)}
    return {**tell(kind, folder), "codes": codes}


def test_kernel_killed_at_every_kind_goes_on(tmp_path: Path) -> None:
    whole = {
        name: _play(tmp_path, None, name, scene)["outcome"]
        for name, scene in SCENES.items()
        if scene.ends_alike
    }
    for kind, name in PLACES.items():
        row = _play(tmp_path, kind, name, SCENES[name])
        assert row["codes"]["killed"] == -9, row
        assert kind in row["kinds"]
        assert row["seqs"] == list(range(1, len(row["seqs"]) + 1))
        assert 0 < row["shown"] <= len(row["seqs"]), row
        assert not set(row["finished"]) & set(row["asked_again"]), row
        assert not set(row["finished"]) & set(row["called_again"]), row
        if name in whole:
            assert row["outcome"] == whole[name], row
        else:
            assert row["outcome"]["status"] in ("done", "stopped"), row
