"""What whoever starts a runner makes of its first word."""

from __future__ import annotations

import sys
from pathlib import Path

import psutil
import pytest

from rt_notebook.errors import RunError
from rt_notebook.frontends.detach import start_detached
from tests.frontends.agents import wait_until


@pytest.mark.skipif(sys.platform == "win32", reason="a script is no program there")
@pytest.mark.parametrize(
    "word",
    ["", "hello", "5", "null", '["id"]', "{}", '{"id": 5}', '{"kind": "run"}', "[" * 200_000],
    ids=lambda word: word[:12],
)
def test_runner_with_another_first_word_is_ended(
    word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where a module of somebody else prints before it."""
    said, pid, runner = (tmp_path / name for name in ("said", "pid", "runner"))
    said.write_text(f"{word}\n", encoding="utf-8")
    runner.write_text(
        f"#!/bin/sh\ncat > /dev/null; echo $$ > '{pid}'; cat '{said}'; exec sleep 60\n",
        encoding="utf-8",
    )
    runner.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(runner))
    store = tmp_path / "kept" / "debates.db"
    with pytest.raises(RunError, match="ended or hung before its debate began; nothing is running"):
        start_detached({"do": "start"}, str(store))
    number = int(pid.read_text(encoding="utf-8"))
    wait_until(lambda: not psutil.pid_exists(number), 5)
    assert list((store.parent / "logs").iterdir()) == []
