"""Providers that lie, flood or stand still: their call fails or is cleaned, the debate goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import rt_notebook as rt
from rt_notebook.domain.usage import Usage
from rt_notebook.providers.base import Completion
from rt_notebook.providers.policies import MAX_ANSWER
from tests.engine.debates import reply
from tests.providers.cli.fakes import GONE_S, alive
from tests.seats.table import claude_folder

posix = pytest.mark.skipif(sys.platform == "win32", reason="SIGSTOP")


def _lie(*given: Any) -> Any:
    return Usage(*given)


LIES: dict[str, Any] = {
    "negative": _lie(-5, -7, -1, -1, -0.5),
    "huge": _lie(10**30, 10**30, 10**30, 10**30, 1e300),
    "larger than a column": _lie(2**63, 2**63, 2**63, None, 1e18),
    "not a number": _lie(float("nan"), float("nan"), None, None, float("nan")),
    "infinite": _lie(float("inf"), float("inf"), None, None, float("inf")),
    "strings": _lie("12", "many", "0", None, "0.5"),
    "lists": _lie([1], {}, (), None, [2]),
    "missing": _lie(),
    "none at all": None,
    "another type": {"prompt_tokens": 5, "cost": 3},
}
"""What a provider may say about a call's tokens and cost."""


def _liar(stance: str, lie: Any, fails: bool) -> Any:
    def answer(call: rt.Call) -> Completion:
        if fails and call.round == 0:
            raise rt.CallError("billed all the same", kind="output_limit", usage=lie)
        return Completion(reply(stance, f"round {call.round}"), usage=lie)

    return answer


@pytest.mark.parametrize("fails", [False, True], ids=["answer", "failure"])
@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_lie_about_usage_costs_nobody_anything(lie: Any, fails: bool, tmp_path: Path) -> None:
    honest = Completion(reply("Ship", "said"), usage=Usage(100, 50, cost=0.25))
    seats = [
        rt.Seat("liar", model=_liar("Wait", lie, fails)),
        rt.Seat("honest", model=lambda call: honest),
    ]
    limits = rt.Limits(max_tokens=100_000, max_cost=50.0)
    review = rt.Review(
        "Now?", options=["Ship", "Wait"], seats=seats, chairman="scripted", rounds=1,
        limits=limits, unattended=True, loop_threshold=0,
    )  # fmt: skip
    result = review.run_sync()
    # A lie of 10**30 tokens would have broken the budget, one of -5 would have stretched it.
    assert (result.status, result.stop_reason) == ("done", "rounds")
    usage = result.state.usage
    assert usage["seats"]["honest"] == {
        "calls": 2, "prompt_tokens": 200, "completion_tokens": 100, "cached_tokens": 0, "cost": 0.5,
    }  # fmt: skip
    assert (usage["prompt_tokens"], usage["completion_tokens"], usage["cost"]) == (200, 100, 0.5)
    stored = rt.load(result.id)
    assert stored.state.usage == usage
    json.dumps(stored.state.to_json(), allow_nan=False)
    assert len(stored.to_arrow("calls")) == len(stored.calls) == 5
    assert rt.export(result.id, tmp_path)


def _outcomes(result: rt.Result, seat: str) -> list[str]:
    """Returns what became of a seat's calls: `finished`, or the kind of the error."""
    rows = result.calls[result.calls.seat == seat].to_dict("records")
    return [str(row["error"] if row["outcome"] == "failed" else row["outcome"]) for row in rows]


# ---- size --------------------------------------------------------------------------------------


def _long(size: int) -> str:
    return reply("Wait", "x" * 50) + "\n- and " + "word " * (size // 5)


def _with_long_reply(size: int, tmp_path: Path) -> rt.Result:
    text = _long(size)
    seats = [
        rt.Seat("long", model=lambda call: text),
        rt.Seat("short", model=lambda call: reply("Ship", f"round {call.round}")),
    ]
    review = rt.Review(
        "Now?", options=["Ship", "Wait"], seats=seats, chairman="scripted", rounds=1,
        unattended=True, loop_threshold=0, record=str(tmp_path / "r.jsonl"),
    )  # fmt: skip
    return review.run_sync()


def test_reply_of_10_mb_fails_its_call_alone(tmp_path: Path) -> None:
    result = _with_long_reply(10_000_000, tmp_path)
    assert (result.status, result.verdict.status) == ("done", "ready")
    assert _outcomes(result, "long") == ["output_limit"] * 2
    assert _outcomes(result, "short") == ["finished"] * 2
    (failed, _) = [event for event in result.events if event.kind == "call_failed"]
    assert "10,0" in failed.body["message"]
    assert len(failed.body["partial"]) == 65_536
    assert (tmp_path / "r.jsonl").stat().st_size < 300_000
    assert all(len(shown) < 100_000 for shown in result._repr_mimebundle_().values())


def _check_long(size: int, tmp_path: Path) -> None:
    result = _with_long_reply(size, tmp_path)
    assert (result.status, result.verdict.status) == ("done", "ready")
    stored = rt.load(result.id)
    assert len(stored.replies) == 4
    texts = [e.body["text"] for e in stored.events if e.kind == "call_finished"]
    assert [len(text) for text in texts if len(text) > 100_000] == [len(_long(size))] * 2
    # What others see and what is shown stays bounded.
    assert max(e.body["chars"] for e in stored.events if e.kind == "call_started") < 60_000
    assert all(len(shown) < 200_000 for shown in stored._repr_mimebundle_().values())
    assert rt.export(result.id, tmp_path / "export")
    assert rt.load(tmp_path / "r.jsonl").status == "done"


def test_reply_of_two_mb_is_kept_whole(tmp_path: Path) -> None:
    _check_long(2_000_000, tmp_path)


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_largest_allowed_reply_is_kept_whole(tmp_path: Path) -> None:
    _check_long(MAX_ANSWER - 1_000, tmp_path)


# ---- standing still ----------------------------------------------------------------------------

STOPS = "import signal\nstopped = grandchild(True)\nos.kill(stopped.pid, signal.SIGSTOP)\n{then}"
STOPS_ITSELF = "os.kill(os.getpid(), signal.SIGSTOP)"
# Somebody lets it go on, as `fg` in a shell does.
GOES_ON = (
    "subprocess.Popen(['sh', '-c', 'sleep 0.3; kill -CONT %d' % os.getpid()])\n" + STOPS_ITSELF
)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """Where a command lies; nothing that was started from there outlives the test."""
    folder = tmp_path / "command"
    folder.mkdir()
    yield folder
    for process in alive(folder):
        process.kill()


def _with_command(
    place: Path, monkeypatch: pytest.MonkeyPatch, then: str, **seat: Any
) -> rt.Result:
    folder = claude_folder(place, before=STOPS.format(then=then))
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    seats = [rt.Seat("dan", model="cli:claude", **seat), rt.Seat("bo", lens="cost")]
    review = rt.Review(
        "Now?", options=["Ship", "Wait"], seats=seats, chairman="scripted", rounds=0,
        unattended=True,
    )  # fmt: skip
    return review.run_sync()


@posix
@pytest.mark.parametrize(
    ("bounds", "error"), [({"timeout_s": 2.0}, "timeout"), ({"stall_s": 1.0}, "stall")]
)
def test_stopped_command_is_ended_and_debate_goes_on(
    place: Path, monkeypatch: pytest.MonkeyPatch, bounds: dict[str, float], error: str
) -> None:
    began = time.monotonic()
    result = _with_command(place, monkeypatch, STOPS_ITSELF, **bounds)
    assert (result.status, result.verdict.status) == ("done", "ready")
    assert _outcomes(result, "dan") == [error]
    # A stopped process hears no SIGTERM; its stopped child has left the group.
    assert alive(place) == []
    assert time.monotonic() - began < 30 + GONE_S


@posix
def test_command_that_goes_on_again_is_heard(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = _with_command(place, monkeypatch, GOES_ON, timeout_s=60)
    assert _outcomes(result, "dan") == ["finished"]
    assert alive(place) == []


LISTENS = """
import os, signal, socket
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
os.kill(os.getpid(), signal.SIGSTOP)
"""


@posix
@pytest.mark.filterwarnings("ignore:.*will reach end-of-life:DeprecationWarning")
def test_stopped_server_times_out_and_debate_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its system accepts the connection, and nothing ever answers."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nobody-0123456789")
    child = subprocess.Popen(
        [sys.executable, "-c", LISTENS], stdout=subprocess.PIPE, encoding="ascii"
    )
    try:
        assert child.stdout is not None
        url = f"http://127.0.0.1:{int(child.stdout.readline())}/v1"
        os.waitid(os.P_PID, child.pid, os.WSTOPPED)
        api = rt.Seat("api", model="openai-chat:gpt-4o", base_url=url, timeout_s=1.5)
        result = rt.Review(
            "Now?", options=["Ship", "Wait"], seats=[api, "dev"], chairman="scripted", rounds=0,
            unattended=True,
        ).run_sync()  # fmt: skip
    finally:
        child.send_signal(signal.SIGKILL)
        child.communicate()
    assert (result.status, result.verdict.status) == ("done", "ready")
    assert _outcomes(result, "api") == ["timeout"]
