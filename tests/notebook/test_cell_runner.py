"""A debate runs in a real kernel's cell: clicks and typing arrive, other cells keep their order."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.environment import ROOT, scrubbed_environment
from tests.notebook.fake_cell import FAKE
from tests.notebook.live_kernel import LiveKernel, live_kernel
from tests.notebook.runner import KERNELS_WITH_SUBSHELLS, RunNotebook


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, LiveKernel]]:
    """Gives the kernels that this file's tests share, started when first needed."""
    started: dict[str, LiveKernel] = {}
    contexts = []

    class Started(dict[str, LiveKernel]):
        def __missing__(self, name: str) -> LiveKernel:
            context = live_kernel(name, tmp_path_factory.mktemp("kernel"))
            contexts.append(context)
            self[name] = context.__enter__()
            self[name].run(FAKE)
            return self[name]

    started = Started()
    yield started
    for context in contexts:
        context.__exit__(None, None, None)


@pytest.fixture
def live(kernels: dict[str, LiveKernel], kernel: str) -> Iterator[LiveKernel]:
    """Gives a kernel with the little extension, and sees that the test leaves nothing in it."""
    running = kernels[kernel]
    running.run("LOG.clear(); ORDER.clear(); first = None")
    yield running
    running.wait_for(lambda: running.value("left_over()") == 0, 5)


def _events(live: LiveKernel) -> list[str]:
    return [str(entry[0]) for entry in live.value("LOG")]


def _wait_for_gate(live: LiveKernel, request: str) -> None:
    opened = {"description": "Continue"}
    live.wait_for(
        lambda: any(
            opened.items() <= content["data"].get("state", {}).items()
            for content in live.of(request, "comm_msg")
        )
    )


# ---- clicks ------------------------------------------------------------------------------------

CELLS = {
    "awaited": "# a comment above\n%%roundtable first\nShip?",
    "run_cell": "get_ipython().run_cell('%%roundtable first\\nShip?');",
    "function": "cell_runner.run_cell_sync('first', 'Ship?')",
    "under another magic": "%%time --no-raise-error\n%%roundtable first\nShip?",
}


@pytest.mark.parametrize("cell", CELLS.values(), ids=CELLS)
def test_clicks_and_typing_reach_running_cell(live: LiveKernel, cell: str) -> None:
    debate = live.queue(cell)
    behind = [live.queue(f"ORDER.append(({n}, first))") for n in range(2)]
    button = live.wait_for_model("ButtonModel", debate)
    field = live.wait_for_model("TextModel", debate)
    typed = live.type(field, "Yes, but")
    live.wait_for(lambda: all(live.is_idle(change) for change in typed), 5)

    since = time.time()
    click = live.click(button)
    assert live.reply(debate)["status"] == "ok"
    assert [live.reply(request)["status"] for request in behind] == ["ok", "ok"]

    log = live.value("LOG")
    assert [text for kind, text in log if kind == "typed"] == [
        "Yes, but"[: n + 1] for n in range(8)
    ]
    (clicked_at,) = [at for kind, at in log if kind == "click"]
    assert clicked_at - since < 0.5
    assert live.is_idle(click)
    assert live.value("ORDER") == [[0, "clicked"], [1, "clicked"]]
    assert log[-1] == ["finish", True]


def test_body_reaches_debate_byte_for_byte(live: LiveKernel) -> None:
    debate = live.queue("%%roundtable first\n>>> {x} $y\n  ... % !ls\n")
    live.click(live.wait_for_model("ButtonModel", debate))
    live.reply(debate)
    assert live.value("LAST.body") == ">>> {x} $y\n  ... % !ls\n"


def test_stacked_time_and_capture_let_clicks_through(live: LiveKernel) -> None:
    debate = live.queue("%%time\n%%capture out\n%%roundtable first\nShip?")
    button = live.wait_for_model("ButtonModel", debate)
    live.wait_for(lambda: live.of(debate, "display_data"))  # past the capture, on the page
    live.click(button)
    assert live.reply(debate)["status"] == "ok"
    assert "Wall time: " in live.printed(debate)
    assert live.value("[first, out.outputs]") == ["clicked", []]


def test_capture_alone_keeps_clicks_alive(live: LiveKernel) -> None:
    """IPython's own `%%capture`, which the transformer leaves alone in a nested cell."""
    debate = live.queue("get_ipython().run_cell('%%capture out\\n%%roundtable first\\nShip?');")
    live.click(live.wait_for_model("ButtonModel", debate))
    assert live.reply(debate)["status"] == "ok"
    assert live.value("first") == "clicked"


# ---- JupyterLab's way: widgets' messages go to a subshell ----------------------------------------


@pytest.fixture
def subshell(live: LiveKernel) -> str:
    """Gives a subshell of a kernel that has them."""
    return live.open_subshell()


@pytest.mark.parametrize("kernel", KERNELS_WITH_SUBSHELLS, indirect=True)
@pytest.mark.parametrize(
    "cell",
    [
        "%%roundtable first\nShip?",
        "%%capture out\n%%roundtable first\nShip?",
        "get_ipython().run_cell('%%capture out\\n%%roundtable first\\nShip?');",
    ],
    ids=["plain", "stacked capture", "capture"],
)
def test_clicks_through_subshell_arrive(live: LiveKernel, subshell: str, cell: str) -> None:
    debate = live.queue(cell)
    button = live.wait_for_model("ButtonModel", debate)
    _wait_for_gate(live, debate)
    since = time.time()
    live.click(button, subshell)
    assert live.reply(debate)["status"] == "ok"
    (clicked_at,) = [entry[1] for entry in live.value("LOG") if entry[0] == "click"]
    assert clicked_at - since < 0.5
    assert live.value("first") == "clicked"


@pytest.mark.parametrize("kernel", KERNELS_WITH_SUBSHELLS, indirect=True)
def test_click_does_not_wait_for_blocking_cell(live: LiveKernel, subshell: str) -> None:
    debate = live.queue("%%roundtable first --background\nShip?")
    button = live.wait_for_model("ButtonModel", debate)
    assert live.reply(debate)["status"] == "ok"
    blocking = live.queue("print('blocks', flush=True); time.sleep(1.5)")
    live.wait_for(lambda: live.printed(blocking))
    since = time.time()
    live.click(button, subshell)
    assert live.reply(blocking)["status"] == "ok"
    live.wait_for(lambda: live.value("globals().get('first')") == "clicked", 5)
    (clicked_at,) = [entry[1] for entry in live.value("LOG") if entry[0] == "click"]
    assert clicked_at - since < 0.5


# ---- interrupts --------------------------------------------------------------------------------


@pytest.mark.parametrize("cell", ["awaited", "function"])
def test_interrupt_at_idle_gate_is_quick(live: LiveKernel, cell: str) -> None:
    debate = live.queue(CELLS[cell])
    behind = live.queue("ORDER.append('must not run')")
    _wait_for_gate(live, debate)
    since = time.monotonic()
    live.interrupt()
    reply = live.reply(debate)
    assert time.monotonic() - since < 2
    assert (reply["status"], reply["ename"]) == ("error", "KeyboardInterrupt")
    (error,) = live.of(debate, "error")
    assert error["traceback"] == [
        "KeyboardInterrupt: the debate first was interrupted; resume first"
    ]
    assert live.reply(behind)["status"] == "aborted"
    assert _events(live) == ["gate", "cleaned up", "finish"]
    assert live.value("[first, ORDER]") == ["interrupted", []]

    again = live.queue("%%roundtable second\nShip?")
    live.click(live.wait_for_model("ButtonModel", again))
    assert live.reply(again)["status"] == "ok"
    assert live.value("second") == "clicked"


def test_interrupt_of_awaited_job_is_one_line(live: LiveKernel) -> None:
    """What `await review.run()` shows, which must stay a cancellation to asyncio."""
    debate = live.queue("await cell_runner.run_job_async(prepare('first', 'Ship?'))")
    _wait_for_gate(live, debate)
    live.interrupt()
    assert live.reply(debate)["ename"] == "CancelledError"
    (error,) = live.of(debate, "error")
    assert error["traceback"] == ["the debate first was interrupted; resume first"]


def test_error_in_first_display_ends_cell(live: LiveKernel) -> None:
    live.run(
        "def broken(job): raise ValueError('no view')\nFake.start_view_, "
        "Fake.start_view = Fake.start_view, lambda self, job: broken(job)"
    )
    reply = live.reply(live.queue("%%roundtable first\nShip?"))
    live.run("Fake.start_view = Fake.start_view_")
    assert (reply["ename"], reply["evalue"]) == ("ValueError", "no view")
    assert _events(live) == ["finish"]


# ---- background --------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["awaited", "function"])
def test_background_cell_returns_and_clicks_arrive(live: LiveKernel, how: str) -> None:
    line = {
        "awaited": "%%roundtable first --background\nShip?",
        "function": "cell_runner.run_cell_sync('first --background', 'Ship?')",
    }[how]
    debate = live.queue(line)
    assert live.reply(debate)["status"] == "ok"
    assert live.value("[left_over() != 0, 1 + 1]") == [True, 2]
    # A cell that is awaited does not hold the click back either.
    busy = live.queue("import asyncio\nwhile not LAST.job.done(): await asyncio.sleep(0.05)")
    live.click(live.wait_for_model("ButtonModel", debate))
    assert live.reply(busy)["status"] == "ok"
    live.wait_for(lambda: live.value("globals().get('first')") == "clicked", 5)
    assert live.value("LOG[-1]") == ["finish", True]


# ---- a kernel the pump does not know -----------------------------------------------------------

_UNKNOWN = "pump.CommPump.of(get_ipython().kernel).mode = 'none'"
_KNOWN = "held = pump.CommPump.of(get_ipython().kernel); held.mode = pump._mode(held._kernel)"


@pytest.mark.parametrize("cell", ["awaited", "function"])
def test_countdown_ends_gate_on_unknown_kernel(live: LiveKernel, cell: str) -> None:
    live.run(_UNKNOWN)
    debate = live.queue(CELLS[cell].replace("first", "first --short"))
    behind = [live.queue(f"ORDER.append(({n}, first))") for n in range(2)]
    assert live.reply(debate)["status"] == "ok"
    assert [live.reply(request)["status"] for request in behind] == ["ok", "ok"]
    assert live.value("ORDER") == [[0, "countdown"], [1, "countdown"]]
    live.run(_KNOWN)
    # Nothing is left of the nested loop that would hurt a later cell.
    assert live.run("import asyncio\nawait asyncio.sleep(0.01)\nprint('awaited')") == "awaited\n"


def test_running_loop_is_served_on_unknown_kernel(tmp_path: Path) -> None:
    """What that loop would do happens while the cell is blocked, here on ipykernel 6.31."""
    with live_kernel("ipykernel-6.31", tmp_path) as live:
        live.run(FAKE)
        live.run(_UNKNOWN)
        debate = live.queue(
            "import asyncio\n"
            "asyncio.get_running_loop().call_later(0.3, lambda: LAST.click(None))\n"
            "cell_runner.run_cell_sync('first', 'Ship?')"
        )
        behind = live.queue("ORDER.append(first)")
        assert live.reply(debate, 10)["status"] == "ok"
        assert live.reply(behind)["status"] == "ok"
        assert live.value("[first, ORDER]") == ["clicked", ["clicked"]]
        live.run(_KNOWN)
        # The loop is patched for good now; an awaited debate and an interrupt still work.
        again = live.queue("%%roundtable second\nShip?")
        live.click(live.wait_for_model("ButtonModel", again))
        assert live.reply(again)["status"] == "ok"
        third = live.queue("%%roundtable third\nShip?")
        _wait_for_gate(live, third)
        live.interrupt()
        assert live.reply(third)["ename"] == "KeyboardInterrupt"


# ---- other hosts -------------------------------------------------------------------------------


def test_kernels_that_strand_messages_are_mended(live: LiveKernel, kernel: str) -> None:
    notes = live.value("NOTES")
    strands = kernel in ("ipykernel-7.1", "ipykernel-7.3")
    assert notes == (live.value("[cell_runner.RECOMMENDATION]") if strands else [])


def test_headless_cell_runs_to_countdown(run_notebook: RunNotebook, kernel: str) -> None:
    done = run_notebook([FAKE, "%%roundtable first --short\nShip?", "print(first)"], kernel=kernel)
    assert done.printed(2) == "countdown\n"


TERMINAL = """
import os, signal, sys, threading, time
from IPython.terminal.interactiveshell import TerminalInteractiveShell

shell = TerminalInteractiveShell.instance()
FAKE
Fake.start_view = lambda self, job: setattr(self, "clicked", asyncio.Event())
Fake.open_gate = lambda self: None
first = None

def ctrl_c():
    while ["gate", LINE.split()[-1]] not in LOG: time.sleep(0.02)
    os.kill(os.getpid(), signal.SIGINT)

for cell, LINE in (
    ("%%roundtable first\\nShip?", "first"),
    ("cell_runner.run_cell_sync('second', 'Ship?')", "second"),
):
    threading.Thread(target=ctrl_c).start()
    since = time.monotonic()
    done = shell.run_cell(cell)
    quick = time.monotonic() - since < 2
    print(json.dumps([quick, type(done.error_in_exec).__name__, shell.user_ns[LINE]]))
shell.run_cell("%%roundtable third --short\\nShip?")
print(json.dumps(shell.user_ns["third"]))
"""


def test_terminal_cells_run_and_are_interrupted(tmp_path: Path) -> None:
    script = TERMINAL.replace(
        "FAKE",
        FAKE.replace("ip = get_ipython()", "ip = shell; ip.user_ns['cell_runner'] = cell_runner"),
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=scrubbed_environment(tmp_path) | {"PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    values = [json.loads(line) for line in done.stdout.splitlines() if line.startswith(("[t", '"'))]
    assert values == [
        [True, "KeyboardInterrupt", "interrupted"],
        [True, "KeyboardInterrupt", "interrupted"],
        "countdown",
    ]
    assert "KeyboardInterrupt: the debate first was interrupted; resume first" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    assert "never retrieved" not in done.stderr
    assert "was destroyed" not in done.stderr
