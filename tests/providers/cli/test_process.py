"""The runner: how a child is fed, read, bounded and ended, and that nothing of it stays."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from pathlib import Path

import psutil
import pytest

from rt_notebook.engine.runner import Runner
from rt_notebook.errors import CallError
from rt_notebook.providers.cli import process_pipes
from rt_notebook.providers.cli.process import Bounds, Command, run
from tests.providers.cli.fakes import (
    Collected,
    alive,
    children,
    eventually,
    eventually_gone,
    fake,
    run_fake,
)

pytestmark = pytest.mark.asyncio

STUBBORN = (
    "for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(s, signal.SIG_IGN)\n"
)
MARKS = 'open({path!r}, "w").close()\n'


async def test_child_reads_prompt_and_answers(tmp_path: Path) -> None:
    sink = Collected()
    program = fake(tmp_path, "say(sys.stdin.buffer.read()[::-1])")
    ended = await run_fake(program, sink, stdin=b"abc" * 200_000)
    assert bytes(sink.data) == b"cba" * 200_000
    assert (ended.why, ended.returncode) == ("exit", 0)
    assert ended.first_output_s is not None
    assert 0 < ended.first_output_s <= ended.seconds < 30
    assert not children()


async def test_child_runs_in_empty_folder_that_goes(tmp_path: Path) -> None:
    sink = Collected()
    body = (
        "leads = os.getpgid(0) == os.getpid()\n"
        'say("\\n".join(map(str, [os.getcwd(), os.listdir(), leads, os.getsid(0)])))'
    )
    await run_fake(fake(tmp_path, body), sink)
    folder, content, leads, session = sink.data.decode().split("\n")
    assert content == "[]"
    assert leads == "True"
    assert int(session) != os.getsid(0)
    assert not Path(folder).parent.exists()


async def test_child_that_reads_no_prompt_is_no_crash(tmp_path: Path) -> None:
    sink = Collected()
    ended = await run_fake(fake(tmp_path, 'say("DONE\\n")'), sink, stdin=b"x" * 5_000_000)
    assert (bytes(sink.data), ended.why, ended.returncode) == (b"DONE\n", "exit", 0)


async def test_full_error_output_blocks_nothing(tmp_path: Path) -> None:
    sink = Collected()
    body = 'say("e" * 4_000_000 + "the end", sys.stderr)\nsay("DONE\\n")'
    ended = await run_fake(fake(tmp_path, body), sink)
    assert bytes(sink.data) == b"DONE\n"
    assert ended.stderr.endswith("ethe end")
    assert len(ended.stderr) == 8192


async def test_exit_code_and_signal_are_told(tmp_path: Path) -> None:
    assert (await run_fake(fake(tmp_path, "sys.exit(41)"))).returncode == 41
    ended = await run_fake(fake(tmp_path, "os.kill(os.getpid(), signal.SIGKILL)"))
    assert ended.returncode == -signal.SIGKILL


async def test_bytes_and_longest_silence_are_told(tmp_path: Path) -> None:
    body = 'say("é\\n"); say("12345", sys.stderr); time.sleep(0.4); say("DONE\\n"); sys.exit(3)'
    facts = (await run_fake(fake(tmp_path, body))).facts
    assert 0.4 <= facts.pop("idle_s") < 5
    assert facts == {"exit_code": 3, "stdout_bytes": 8, "stderr_bytes": 5}


async def test_timeout_ends_stubborn_child_soon(tmp_path: Path) -> None:
    started = time.monotonic()
    ended = await run_fake(fake(tmp_path, STUBBORN + "forever()"), timeout_s=1)
    assert (ended.why, ended.returncode) == ("timeout", -signal.SIGKILL)
    assert time.monotonic() - started < 1 + 2
    assert not alive(tmp_path)


async def test_silence_is_a_stall(tmp_path: Path) -> None:
    body = 'say("one\\n")\nforever()'
    ended = await run_fake(fake(tmp_path, body), stall_s=0.5)
    assert ended.why == "stall"
    assert not alive(tmp_path)


async def test_lines_that_are_no_progress_stall_too(tmp_path: Path) -> None:
    body = 'while True:\n    say("Reconnecting...\\n"); time.sleep(0.05)'
    ended = await run_fake(fake(tmp_path, body), Collected(progress=False), stall_s=0.5)
    assert ended.why == "stall"


async def test_slow_but_steady_child_is_left_alone(tmp_path: Path) -> None:
    body = 'for _ in range(10):\n    say("x\\n"); time.sleep(0.15)'
    ended = await run_fake(fake(tmp_path, body), stall_s=1.0)
    assert ended.why == "exit"
    assert ended.seconds > 1.4


async def test_answered_child_that_stays_is_ended(tmp_path: Path) -> None:
    sink = Collected()
    body = STUBBORN + 'say("DONE\\n")\nforever()'
    ended = await run_fake(fake(tmp_path, body), sink, grace_s=0.3)
    assert (ended.why, bytes(sink.data)) == ("complete", b"DONE\n")
    assert not alive(tmp_path)


async def test_child_that_closes_its_outputs_is_ended(tmp_path: Path) -> None:
    body = "os.close(1); os.close(2)\nforever()"
    ended = await run_fake(fake(tmp_path, body), grace_s=0.3)
    assert ended.why == "complete"
    assert not alive(tmp_path)


async def test_flood_of_output_ends_at_its_bound(tmp_path: Path) -> None:
    sink = Collected()
    body = 'while True:\n    say(b"x" * 65536)'
    ended = await run_fake(fake(tmp_path, body), sink, output_bytes=1_000_000)
    assert ended.why == "output"
    assert len(sink.data) == 1_000_000
    assert not alive(tmp_path)


@pytest.mark.parametrize("own_session", [False, True])
async def test_grandchildren_end_with_the_call(tmp_path: Path, own_session: bool) -> None:
    body = f'grandchild({own_session})\nsay("x\\n")\nforever()'
    await run_fake(fake(tmp_path, body), timeout_s=1)
    assert not alive(tmp_path)


async def test_orphans_of_own_session_end_too(tmp_path: Path) -> None:
    """Their parent has gone, so neither the tree nor the group leads to them."""
    sink = Collected()
    ended = await run_fake(fake(tmp_path, 'grandchild(True)\nsay("DONE\\n")'), sink)
    assert (ended.why, bytes(sink.data)) == ("exit", b"DONE\n")
    assert not alive(tmp_path)


async def test_cancelled_call_leaves_nothing(tmp_path: Path) -> None:
    there = tmp_path / "there"
    body = STUBBORN + "grandchild(True)\n" + MARKS.format(path=str(there)) + "forever()"
    task = asyncio.create_task(run_fake(fake(tmp_path, body)))
    await eventually(there)
    started = time.monotonic()
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()  # impatience changes nothing
    with pytest.raises(asyncio.CancelledError, match=r"^$"):
        await task
    assert time.monotonic() - started < 2
    assert not alive(tmp_path)
    assert not children()


async def test_call_cancelled_before_its_start(tmp_path: Path) -> None:
    task = asyncio.create_task(run_fake(fake(tmp_path, "forever()")))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError, match=r"^$"):
        await task
    await eventually_gone(tmp_path)


async def test_loop_runs_on_while_child_is_ended(tmp_path: Path) -> None:
    there = tmp_path / "there"
    body = STUBBORN + MARKS.format(path=str(there)) + "forever()"
    task = asyncio.create_task(run_fake(fake(tmp_path, body)))
    await eventually(there)
    task.cancel()
    longest, last = 0.0, time.monotonic()
    while not task.done():
        await asyncio.sleep(0.005)
        longest, last = max(longest, time.monotonic() - last), time.monotonic()
    assert longest < 0.4


@pytest.mark.parametrize("kind", ["not there", "no program", "a folder"])
async def test_what_cannot_be_started_is_told(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "thing"
    if kind == "no program":
        path.write_text("no program", encoding="utf-8")
        path.chmod(0o700)
    elif kind == "a folder":
        path.mkdir()
    with pytest.raises(CallError, match="thing") as caught:
        await run_fake(path)
    assert caught.value.kind == ("not_found" if kind == "not there" else "spawn")


async def test_progress_is_told_on_the_loop(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    body = 'for _ in range(6):\n    say("abc\\n"); time.sleep(0.08)\nsay("DONE\\n")'
    await run(
        lambda place: Command([str(fake(tmp_path, body))], {}),
        Collected(),
        Bounds(timeout_s=30),
        lambda chars: told.append((chars, threading.get_ident())),
    )
    await asyncio.sleep(0)
    assert {thread for _, thread in told} == {threading.get_ident()}
    chars = [count for count, _ in told]
    assert chars == sorted(chars)
    assert len(chars) >= 5
    assert chars[-1] == 29


async def test_twenty_calls_at_once_leave_nothing(tmp_path: Path) -> None:
    await run_fake(fake(tmp_path, 'say("DONE\\n")'))  # the watchdog is up
    process = psutil.Process()
    files, threads = process.num_fds(), threading.active_count()
    program = fake(tmp_path, 'grandchild(True)\nsay(sys.stdin.buffer.read())\nsay("DONE\\n")')
    sinks = [Collected() for _ in range(20)]
    async with asyncio.TaskGroup() as group:
        for number, sink in enumerate(sinks):
            group.create_task(run_fake(program, sink, stdin=b"%d " % number))
    assert [bytes(sink.data) for sink in sinks] == [b"%d DONE\n" % n for n in range(20)]
    assert not alive(tmp_path)
    assert not children()
    assert process.num_fds() == files
    await asyncio.sleep(0.05)
    assert threading.active_count() <= threads


async def test_pipes_of_threads_do_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The way for systems whose pipes can't be selected."""
    monkeypatch.setattr(process_pipes, "SelectorPipes", process_pipes.ThreadPipes)
    sink = Collected()
    body = 'say("e" * 500_000, sys.stderr)\nsay(sys.stdin.buffer.read())\nsay("DONE\\n")\nforever()'
    ended = await run_fake(fake(tmp_path, body), sink, stdin=b"y" * 3_000_000, grace_s=0.2)
    assert bytes(sink.data) == b"y" * 3_000_000 + b"DONE\n"
    assert ended.why == "complete"
    ended = await run_fake(fake(tmp_path, STUBBORN + "forever()"), timeout_s=0.5)
    assert ended.why == "timeout"
    assert not alive(tmp_path)


@pytest.mark.asyncio(loop_scope="function")
async def test_runs_on_the_engines_thread(tmp_path: Path) -> None:
    runner, sink = Runner(), Collected()
    try:
        ended = await asyncio.to_thread(
            runner.run_blocking,
            lambda job: run_fake(fake(tmp_path, 'say("DONE\\n")'), sink),
        )
    finally:
        runner.stop()
    assert (ended.why, bytes(sink.data)) == ("exit", b"DONE\n")
