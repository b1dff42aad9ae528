"""A review by the vendors' real commands against the loopback server; skipped where none is."""

from __future__ import annotations

import os
import shutil
from typing import Any

import pytest

import rt_notebook as rt
from tests.engine.debates import VERDICT, reply
from tests.environment import CACHE
from tests.providers.cli.fakes import children
from tests.wire.script import Fail, Say
from tests.wire.server import WireServer

pytestmark = [pytest.mark.real_cli, pytest.mark.timeout(240)]

PLACES = CACHE / "cli" / "node_modules" / ".bin"
COMMANDS = {
    "claude": ("anthropic", "claude-haiku-4-5"),
    "codex": ("responses", "gpt-5.2-codex"),
    "gemini": ("google", "gemini-2.5-flash"),
    "opencode": ("chat", "some-model"),
}


def _seats(wire: WireServer) -> list[rt.Seat]:
    path = os.pathsep.join([str(PLACES), os.environ["PATH"]])
    here = [name for name in COMMANDS if shutil.which(name, path=path)]
    if len(here) < 2:
        pytest.skip(f"fewer than two of {', '.join(COMMANDS)} are installed; `make commands` does")
    return [
        rt.Seat(
            name,
            model=f"cli:{name}/{COMMANDS[name][1]}",
            base_url=wire.base_url(COMMANDS[name][0]),
            timeout_s=100,
        )
        for name in here
    ]


def test_real_commands_hold_a_review(wire: WireServer, monkeypatch: pytest.MonkeyPatch) -> None:
    seats = _seats(wire)
    monkeypatch.setenv("PATH", os.pathsep.join([str(PLACES), os.environ["PATH"]]))
    for name in COMMANDS:
        stance = "opt-1" if name == "claude" else "opt-2"
        wire.script(Say(reply(stance, f"{name} says so.")), model=COMMANDS[name][1])
    first = seats[0].name
    wire.script(
        Fail(429), Say(reply("opt-1", "Second try.")), Say(reply("opt-1")), Say(VERDICT),
        model=COMMANDS[first][1],
    )  # fmt: skip
    given: Any = {"unattended": True, "rounds": 1}
    result = rt.Review("Ship?", options=["Ship", "Wait"], seats=seats, **given).run_sync()

    assert (result.status, result.verdict.pick) == ("done", "opt-1"), str(result)
    failed = result.calls[result.calls["error"].notna()]
    assert list(zip(failed["seat"], failed["error"], strict=True)) == [(first, "rate_limit")]
    assert result.state.usage["calls"] == sum(wire.calls.values())
    billed = [
        sum(getattr(t, kind) for t in wire.billed.values()) for kind in ("prompt", "completion")
    ]
    told = [result.state.usage[f"{kind}_tokens"] for kind in ("prompt", "completion")]
    assert told == billed
    assert {vendor.partition(":")[0] for vendor in result.state.usage["vendors"]} == {"cli"}
    assert children() == []
