"""An agent at a shell and a notebook under a real kernel take part in each other's debates."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.frontends.agents import ASKING, AgentShell, bodies, end_runners
from tests.notebook.live_kernel import LiveKernel, live_kernel
from tests.notebook.runner import NEWEST
from tests.notebook.watched_kernel import BODY, LINE, SETUP, Page, facts

pytestmark = pytest.mark.notebook


@pytest.fixture(scope="module")
def kernel_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the kernel keeps what it keeps."""
    return tmp_path_factory.mktemp("kernel")


@pytest.fixture(scope="module")
def live(kernel_home: Path) -> Iterator[LiveKernel]:
    """Gives a kernel with the extension loaded."""
    with live_kernel(NEWEST, kernel_home) as found:
        found.run(SETUP)
        yield found


@pytest.fixture
def shell(
    kernel_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[AgentShell]:
    """Gives a shell on the kernel's store."""
    monkeypatch.setenv("RT_NOTEBOOK_STORE", str(kernel_home / "store" / "debates.db"))
    yield AgentShell(tmp_path)
    end_runners()


def test_agent_answers_the_form_of_a_cell(live: LiveKernel, shell: AgentShell) -> None:
    cell = live.queue(f"%%roundtable out {LINE}\n{BODY}")
    page = Page(live, cell)
    page.open_gate()
    found = shell.agent("wait", "--id", "last")
    assert found["next_action"]["type"] == "ask_user"
    shell.line(found["next_action"]["command"].replace("...", "From a shell"))
    answered = page.wait_for("gate", state="answered")
    assert answered["source"] == "agent"
    assert "From a shell" in [answer["text"] for answer in answered["answers"]]
    page.wait_for("gate", state="closed", why="answered")
    assert live.reply(cell)["status"] == "ok"
    assert facts(live, "[out.status, out.id]") == ["done", found["id"]]


def test_cell_answers_what_an_agent_started(live: LiveKernel, shell: AgentShell) -> None:
    name = shell.agent("start", input=ASKING)["id"]
    waited = live.run(f"w = %roundtable wait {name}\nprint(w.next_action.type)")
    assert waited.strip() == "ask_user"
    live.run(f"_ = %roundtable answer {name} --round 0 q1='From a notebook'")
    found = shell.agent("wait", "--id", name, "--after-round", "0")
    while found["next_action"]["type"] == "wait":
        found = shell.agent("wait", "--id", name)
    assert (found["status"], found["verdict"]["status"]) == ("done", "ready")
    (answered, *_) = bodies(name, "gate_answered")
    assert (answered["source"], answered["answers"]["q1"]) == ("person", "From a notebook")
