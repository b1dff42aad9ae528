"""A cell's debate is answered from another process, and a cell answers one of another process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rt_notebook import session
from rt_notebook.errors import UsageError
from tests.notebook.live_kernel import LiveKernel, live_kernel
from tests.notebook.runner import NEWEST
from tests.notebook.watched_kernel import BODY, LINE, SETUP, Page, facts
from tests.remote.processes import Child

pytestmark = pytest.mark.notebook


@pytest.fixture(scope="module")
def own_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the kernel keeps what it keeps."""
    return tmp_path_factory.mktemp("kernel")


@pytest.fixture(scope="module")
def live(own_home: Path) -> Iterator[LiveKernel]:
    """Gives a kernel whose store this process can open too."""
    with live_kernel(NEWEST, own_home) as found:
        found.run(SETUP)
        yield found


@pytest.fixture
def store(own_home: Path) -> Path:
    """The kernel's store."""
    return own_home / "store" / "debates.db"


def test_form_closes_and_says_who_answered(live: LiveKernel, store: Path) -> None:
    cell = live.queue(f"%%roundtable out {LINE} --rounds 2\n{BODY}")
    page = Page(live, cell)
    serial = page.open_gate()
    control = session.control_of("last", store)
    after = control.answer({"q1": "12 000 €"}, message="Hurry.", round=0, source="agent")
    assert after.gate is None or after.gate.round == 1
    answered = page.wait_for("gate", state="answered")
    assert (answered["source"], answered["message"]) == ("agent", "Hurry.")
    assert [answer["text"] for answer in answered["answers"]] == ["12 000 €"]
    page.wait_for("gate", state="closed", why="answered")
    # The next gate has a form of its own; the first one's takes nothing any more.
    assert page.open_gate(1) != serial
    page.submit(serial, q1="too late", message="")
    control.finish(source="agent")
    assert live.reply(cell)["status"] == "ok"
    page.wait_for("notice", text="An agent asked for the verdict: the discussion ends here.")
    found = facts(live, "[out.status, out.stop_reason, list(out.questions.answer)]")
    assert found == ["done", "finished", ["12 000 €"]]


def test_stop_from_outside_ends_the_cell(live: LiveKernel, store: Path) -> None:
    cell = live.queue(f"%%roundtable out {LINE}\n{BODY}")
    page = Page(live, cell)
    page.open_gate()
    session.control_of("last", store).stop()
    assert live.reply(cell)["status"] == "ok"
    page.wait_for("concluded", status="stopped")
    assert facts(live, "[out.status, len(out.replies)]") == ["stopped", 2]
    with pytest.raises(UsageError, match="no gate is open"):
        session.control_of("last", store).answer({"q1": "x"}, round=0)


def test_cell_answers_another_processes_debate(live: LiveKernel, store: Path) -> None:
    child = Child(store, "run_debate", "asking")
    try:
        debate = child.line()["id"]
        child.until("gate_opened")
        waited = live.run(f"w = %roundtable wait {debate}\nprint(w.next_action.type)")
        assert waited.strip() == "ask_user"
        live.run(f"%roundtable hold {debate} --round 0")
        live.run(f"s = %roundtable answer {debate} --round 0 q1='12 000 €' --message 'Hurry.'")
        assert child.end() == {"ended": "done", "reason": "rounds"}
        assert facts(live, f"list(rt.load({debate!r}).questions.answer)") == ["12 000 €"]
        assert facts(live, "s.gate") is None
    finally:
        child.close()
