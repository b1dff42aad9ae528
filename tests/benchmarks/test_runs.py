"""How the benchmarks are run together, without running one: nothing is timed here."""

from __future__ import annotations

import json
import re
import struct
import subprocess
import sys
from pathlib import Path

import pytest

import rt_notebook as rt
from benchmarks import __main__ as runner
from benchmarks import _workloads
from benchmarks._workloads import DURABLE, OURS, Contestant, Workload, medians, present
from benchmarks.live import received
from benchmarks.prompts import line_through
from tests.browser.traffic import Frame
from tests.environment import ROOT

BENCHMARKS = ROOT / "benchmarks"


def test_every_benchmark_is_run() -> None:
    found = {path.stem for path in BENCHMARKS.glob("[!_]*.py")}
    assert sorted(runner.NAMES) == sorted(found)


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keeps what is run in a folder of the test's."""
    monkeypatch.setattr(runner, "ROOT", tmp_path)
    monkeypatch.setattr(runner, "KEPT", tmp_path / "build")
    monkeypatch.setattr(runner, "LOOP", 1_000)
    (tmp_path / "build").mkdir()
    (tmp_path / "benchmarks").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("code", "ends"),
    [("print('fine')", 0), ("print('| Limit |'); raise SystemExit(1)", 1), ("1 / 0", 2)],
)
def test_outcome_tells_a_broken_limit_from_a_crash(
    kept: Path, code: str, ends: int, capsys: pytest.CaptureFixture[str]
) -> None:
    (kept / "benchmarks" / "store.py").write_text(code, encoding="utf-8")
    assert runner.run("store", peers=True) == ends
    assert "== store" in capsys.readouterr().out
    # A crash leaves the last good figures.
    assert (kept / "build" / "store.md").is_file() is (ends < 2)


def test_kept_tables_are_put_into_the_page(kept: Path) -> None:
    (kept / "build" / "store.md").write_text("5 March\n\n| a |\n", encoding="utf-8")
    store, bus = ("<!-- bench: store -->\n", "<!-- bench: bus -->\nold\n<!-- end -->")
    page = f"# P\n\n{store}old\n<!-- end -->\n\n{bus}"
    sections = runner.kept()
    assert sections["store"] == "5 March\n\n| a |"
    filled = f"# P\n\n{store}\n5 March\n\n| a |\n\n<!-- end -->\n\n{bus}"
    assert runner.filled(page, sections) == filled
    assert runner.filled(filled, sections) == filled
    assert "## store\n\n5 March" in runner.whole(sections)


def test_page_has_a_place_for_every_benchmark() -> None:
    text = runner.PAGE.read_text(encoding="utf-8")
    assert re.findall(r"<!-- bench: ([\w-]+) -->", text) == ["versions", *runner.NAMES]
    assert str(ROOT) not in text


def test_machine_is_told_without_host_or_path(kept: Path) -> None:
    said = f"{runner.machine()} {runner.versions()}"
    assert re.match(r"\d+ \w+ 20\d\d, \d\d:\d\d UTC; \w+ \w+, \d+ cores", said)
    assert str(Path.home()) not in said


def test_peer_that_cannot_be_installed_is_said_in_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "peers").mkdir()
    missing = tmp_path / "nowhere"
    requirements = f"nothing @ file://{missing}/nothing-1.0-py3-none-any.whl\n"
    (tmp_path / "peers" / "requirements-none.txt").write_text(requirements, encoding="utf-8")
    monkeypatch.setattr(_workloads, "HERE", tmp_path)
    monkeypatch.setattr(_workloads, "CACHE", tmp_path)
    peer = Contestant("a peer", "peer.py", environment="none")
    assert present([DURABLE, peer]) == [DURABLE]
    said = capsys.readouterr().out
    assert said.startswith("a peer isn't measured: it can't be installed here (ERROR: ")
    assert said.count("\n\n") == 1


def test_bound_and_engine_do_the_same_work() -> None:
    found = medians([DURABLE, OURS], Workload(3, 2), 1)
    assert found[OURS].version == rt.__version__
    # Both were asked 3 x 2 times and once more; the harness fails where turns are missing.
    assert found[DURABLE].chars > 0
    assert found[OURS].chars > 0
    assert found[OURS].peak_mb > 0


def test_straight_line_is_found_and_a_curve_is_not() -> None:
    line = line_through([4, 8, 16], [41, 81, 161])
    assert (round(line.start, 6), round(line.slope, 6), round(line.deviation, 6)) == (1, 10, 0)
    assert line_through([4, 8, 16], [16, 64, 256]).deviation > 50


def _v1(kind: str, text: str) -> bytes:
    header = json.dumps({"msg_type": kind}).encode()
    parts = [b"iopub", header, b"{}", b"{}", json.dumps({"text": text}).encode()]
    offsets = [8 * (len(parts) + 2)]
    for part in parts:
        offsets.append(offsets[-1] + len(part))
    return struct.pack(f"<{len(offsets) + 1}Q", len(offsets), *offsets) + b"".join(parts)


def test_messages_are_counted_in_both_protocols() -> None:
    old = json.dumps({"header": {"msg_type": "status"}, "content": {"state": "idle é"}})
    frames = [
        Frame(0.0, "received", _v1("comm_msg", "mark")),
        Frame(0.0, "sent", _v1("comm_msg", "not counted")),
        Frame(0.0, "received", old),
    ]
    found = received(frames)
    assert [message.kind for message in found] == ["comm_msg", "status"]
    assert [message.size for message in found] == [len(_v1("comm_msg", "mark")), len(old.encode())]


def test_unknown_benchmark_is_refused() -> None:
    command = [sys.executable, "-m", "benchmarks", "nothing"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 2
    assert "there is no benchmark nothing" in done.stderr
