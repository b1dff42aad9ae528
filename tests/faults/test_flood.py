"""Ten thousand events a second: all are kept, in order, and whoever looks on keeps up."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import rt_notebook as rt
from rt_notebook.frontends.live_view import LiveView
from rt_notebook.store.sqlite import SqliteStore
from tests.environment import ROOT
from tests.frontends.shells import Shell
from tests.store.samples import concluded, created, event, nothing, run

DEBATES = 50
RATE = 10_000
TICK_S = 0.01

FOLLOWS = """
import json, sys, time
from pathlib import Path
from rt_notebook.store.sqlite import SqliteStore
store, names = SqliteStore(Path(sys.argv[1])), sys.argv[2].split()
print("ready", flush=True)
watch, seen, open_ = store.watch(), {}, set(names)
while open_:
    watch.wait(1.0)
    for name in sorted(open_):
        try:
            news = store.events(name, len(seen.get(name, [])))
        except Exception as error:
            if "no debate has the id" in str(error):
                continue
            raise
        seen.setdefault(name, []).extend(each.seq for each in news)
        if news and news[-1].kind == "concluded":
            open_.discard(name)
last = time.monotonic()
whole = all(seqs == list(range(1, len(seqs) + 1)) for seqs in seen.values())
count = sum(map(len, seen.values()))
print(json.dumps({"last": last, "whole": whole, "count": count}), flush=True)
"""


async def _flood(store: SqliteStore, seconds: float) -> int:
    """Appends at the rate, however long a tick takes; returns the number of events."""
    logs = [store.log(f"d-{number}") for number in range(DEBATES)]
    for log in logs:
        await log.append([created(log.debate)], nothing)
    began, seq, each = time.monotonic(), 1, int(RATE * TICK_S) // DEBATES
    for tick in range(int(seconds / TICK_S)):
        waiting = [
            log.append([event(log.debate, seq + n + 1) for n in range(each)], nothing)
            for log in logs
        ]
        seq += each
        for future in waiting:
            await future
        ahead = began + (tick + 1) * TICK_S - time.monotonic()
        await asyncio.sleep(max(0.0, ahead))
    for log in logs:
        await log.append([concluded(log.debate, seq + 1)], nothing)
    return DEBATES * (seq + 1)


def _flooded(path: Path, seconds: float) -> None:
    names = " ".join(f"d-{number}" for number in range(DEBATES))
    follower = subprocess.Popen(
        [sys.executable, "-c", FOLLOWS, str(path), names],
        cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8",
    )  # fmt: skip
    try:
        assert follower.stdout is not None
        assert follower.stdout.readline() == "ready\n"
        store = SqliteStore(path)
        began = time.monotonic()
        count = run(_flood(store, seconds))
        ended = time.monotonic()
        said: dict[str, Any] = json.loads(follower.stdout.readline())
    finally:
        follower.kill()
        follower.communicate()
    assert (said["whole"], said["count"]) == (True, count)
    assert count >= RATE * seconds
    for number in range(DEBATES):
        seqs = [each.seq for each in store.events(f"d-{number}")]
        assert seqs == list(range(1, count // DEBATES + 1))
    store.close()
    # On a busy machine either may be late, but neither falls behind for good.
    assert ended - began < 10 * seconds + 10
    assert said["last"] - ended < 10


def test_ten_thousand_events_a_second_are_kept(tmp_path: Path) -> None:
    _flooded(tmp_path / "debates.db", 2)


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_a_minute_of_ten_thousand_events_a_second(tmp_path: Path) -> None:
    _flooded(tmp_path / "debates.db", 60)


def test_view_takes_a_flood_as_one_message() -> None:
    """The view's listener only gathers; what is posted shows all that has come until then."""
    result = rt.Review("Now?", options=["A", "B"], seats=["pm", "dev"], unattended=True).run_sync()
    posted: list[Any] = []

    class Nobody:
        id = result.id

    shell = Shell()
    view = LiveView(shell.ip, lambda fn, *args: posted.append(fn), Nobody())  # type: ignore[arg-type]
    state, events = result.fold, result.events
    repeated = [each for each in events if each.kind in ("reply_read", "call_started")]
    began = time.monotonic()
    for number in range(10_000):
        view.listener(repeated[number % len(repeated)], state)
    assert time.monotonic() - began < 10
    assert posted == [view._flush]
    posted[0]()
    view.finish("over")
    shell.close()
