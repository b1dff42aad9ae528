"""A committed record on a machine that has nothing: no key, no command, no network, no settings."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import rt_notebook as rt
from tests.environment import ROOT
from tests.recording.scenes import TABLES, Voices, lines, recorded, stances, write

MODELS = {"pm": "cli:claude/opus", "dev": "openai:gpt-5", "rv": "human", "chair": "anthropic:x"}

REPLAY = """
import json, socket, subprocess, sys
sys.path.insert(0, {root!r})

def refuse(event, arguments):
    if event in ("socket.connect", "subprocess.Popen", "os.exec", "os.posix_spawn"):
        raise PermissionError(event)

sys.addaudithook(refuse)
import rt_notebook as rt
seats = [rt.Seat(name, model=model) for name, model in {seats!r}.items()]
review = rt.Review(
    "Should the module ship now?", options=["Ship", "Wait"], seats=seats[:3], chairman=seats[3],
    loop_threshold=0, record="r.jsonl",
)
assert review.check().calls.max == 0
result = review.run_sync()
tables = {{name: getattr(result, name).to_csv() for name in {tables!r}}}
heavy = [name for name in ("pydantic_ai", "openai", "anthropic") if name in sys.modules]
print(json.dumps({{"tables": tables, "id": result.id, "heavy": heavy}}))
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a record of seats that can't sit here."""
    found = tmp_path / "r.jsonl"
    voices = Voices()
    seats = tuple(
        voices.seat(name, *stances(key))
        for name, key in (("pm", "opt-1"), ("dev", "opt-2"), ("rv", "opt-2"))
    )
    recorded(voices.review(seats=seats), found)
    rewritten = lines(found)
    spec = rewritten[0]["body"]["spec"]
    spec["chairman"]["name"] = "chair"
    for seat in (*spec["seats"], spec["chairman"]):
        seat["model"] = MODELS[seat["name"]]
    for line in rewritten:
        if line["kind"] == "call_started":
            line["body"]["model"] = MODELS[line["body"]["seat"]]
    write(found, rewritten)
    return found


def test_record_runs_where_nothing_is_installed(path: Path) -> None:
    expected = rt.load(path)
    before = path.read_bytes()
    code = REPLAY.format(root=str(ROOT), seats=MODELS, tables=TABLES)
    environment = {"PATH": "", "RT_NOTEBOOK_RECORD": "none", "RT_NOTEBOOK_STORE": "clone.db"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=path.parent, env=environment, capture_output=True,
        encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["id"] == expected.id
    assert found["tables"] == {name: getattr(expected, name).to_csv() for name in TABLES}
    assert found["heavy"] == []
    assert path.read_bytes() == before
