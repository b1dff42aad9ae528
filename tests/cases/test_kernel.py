"""What goes wrong in a running kernel: whose output it is, order of cells, interrupts, floods."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.cases.catalogue import case, used_in_package
from tests.engine.debates import reply
from tests.notebook.live_kernel import LiveKernel, live_kernel
from tests.notebook.runner import NEWEST
from tests.notebook.watched_kernel import BODY, LINE, SETUP, Page, facts
from tests.providers.cli.fakes import fake

pytestmark = pytest.mark.notebook

OLD = "ipykernel-6.31"
SLOW = """
import time
def slow(call):
    time.sleep(30)
    return "PASS"
"""


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, LiveKernel]]:
    """Gives the kernels that this file's tests share, started when first needed."""
    with ExitStack() as stack:

        class Started(dict[str, LiveKernel]):
            def __missing__(self, name: str) -> LiveKernel:
                home = tmp_path_factory.mktemp("kernel")
                self[name] = stack.enter_context(live_kernel(name, home))
                self[name].run(SETUP + SLOW)
                return self[name]

        yield Started()


@pytest.fixture
def newest(kernels: dict[str, LiveKernel]) -> LiveKernel:
    """Gives the newest kernel."""
    return kernels[NEWEST]


def _outputs(live: LiveKernel, request: str) -> list[dict[str, Any]]:
    """Returns what a front end would put below a cell."""
    kinds = ("stream", "display_data", "execute_result", "error")
    return [content for kind in kinds for content in live.of(request, kind)]


@case("a1-scn-17", "a2-scn-14")
@pytest.mark.parametrize("name", [OLD, NEWEST])
def test_other_cells_output_is_theirs_alone(kernels: dict[str, LiveKernel], name: str) -> None:
    """A debate in the background, whose seats log from threads, while another cell prints."""
    live = kernels[name]
    live.run(
        "import logging, time\n"
        "def logs(call):\n"
        "    for _ in range(4):\n"
        "        logging.getLogger('rt_notebook.seats').info('from a thread')\n"
        "        time.sleep(0.1)\n"
        "    return 'STANCE: Ship\\nAGREE_WITH: []\\nDISAGREE:\\nNEW:\\nASSUMPTIONS:'"
    )
    for number in range(2):
        line = "--seats a=logs,pro,con --rounds 1 --unattended --background"
        debate = live.queue(f"%%roundtable bg{number} {line}\n{BODY}")
        assert live.reply(debate)["status"] == "ok"
        other = live.queue("for _ in range(6):\n    print('x')\n    time.sleep(0.1)")
        assert live.reply(other)["status"] == "ok"
        assert live.run(f"result = bg{number}.result(20); print(result.status)") == "done\n"
        (only, *more) = _outputs(live, other)
        assert {content["name"] for content in (only, *more)} == {"stdout"}
        assert live.printed(other) == "x\n" * 6
        # The debate's own cell has its view and nothing that was printed.
        assert live.of(debate, "stream") == []


@case("a2-scn-02", "a2-scn-03")
def test_cells_behind_an_open_gate_wait_and_keep_their_order(newest: LiveKernel) -> None:
    """Run All goes on only once the debate is over; nothing pumps the kernel's own queue."""
    newest.run("order = []")
    debate = newest.queue(f"%%roundtable out {LINE}\n{BODY}")
    behind = [newest.queue(f"order.append(({n}, out.status))") for n in range(3)]
    page = Page(newest, debate)
    serial = page.open_gate()
    ends = time.monotonic() + 0.5
    newest.wait_for(lambda: time.monotonic() > ends)
    assert not set(behind) & set(newest.replies)
    page.submit(serial, q1="forty thousand", message="")
    for request in behind:
        assert newest.reply(request)["status"] == "ok"
    assert facts(newest, "order") == [[0, "done"], [1, "done"], [2, "done"]]
    assert facts(newest, "list(out.questions.answer)") == ["forty thousand"]
    assert used_in_package("do_one_iteration", "shell_handlers") == set()


@case("a2-scn-18")
def test_two_debates_of_a_cell_have_a_display_each(newest: LiveKernel) -> None:
    line = "--seats pro,con --rounds 1 --unattended"
    both = newest.queue(
        "for name in ('one', 'two'):\n"
        f"    get_ipython().run_cell_magic('roundtable', f'{{name}} {line}', {BODY!r})"
    )
    assert newest.reply(both)["status"] == "ok"
    names = [c["transient"]["display_id"] for c in newest.of(both, "display_data")]
    assert len(set(names)) == len(names) == 2
    ids = facts(newest, "[one.id, two.id]")
    updates = newest.of(both, "update_display_data")
    last = {update["transient"]["display_id"]: update["data"] for update in updates}
    # Each ends as its own result, in every form.
    for name, debate in zip(names, ids, strict=True):
        assert debate in last[name]["text/html"]
        assert {"text/html", "text/markdown", "text/plain"} <= set(last[name])


@case("a1-scn-21", "a6-scn-15")
def test_interrupted_debate_is_kept_and_the_next_one_runs(newest: LiveKernel) -> None:
    """What a runner does whose time for a cell is over: it interrupts, and goes on."""
    debate = newest.queue(f"%%roundtable cut --seats a=slow,pro --unattended\n{BODY}")
    newest.wait_for(lambda: newest.of(debate, "comm_open"))
    ends = time.monotonic() + 0.5
    newest.wait_for(lambda: time.monotonic() > ends)
    pressed = time.monotonic()
    newest.interrupt()
    content = newest.reply(debate)
    assert time.monotonic() - pressed < 4
    assert (content["status"], content["ename"]) == ("error", "KeyboardInterrupt")
    assert "%roundtable resume" in "".join(content["traceback"])
    assert facts(newest, "[cut.status, rt.load(cut.id).status]") == ["interrupted"] * 2
    after = newest.queue(f"%%roundtable next --seats pro,con --rounds 1 --unattended\n{BODY}")
    assert newest.reply(after)["status"] == "ok"
    assert facts(newest, "next.status") == "done"
    for request in (debate, after):
        told = "".join(content["text"] for content in newest.of(request, "stream"))
        assert "Task was destroyed" not in told
        assert "never awaited" not in told


@case("a6-scn-02")
def test_kernel_without_standard_input_asks_nobody(newest: LiveKernel) -> None:
    code = f"%%roundtable out {LINE} --gates blocking\n{BODY}"
    request = str(newest.client.execute(code, allow_stdin=False))
    assert newest.reply(request)["status"] == "ok"
    assert facts(newest, "[out.status, len(out.fold.gates)]") == ["done", 0]
    assert any("blocking" in line for line in facts(newest, "out.warnings"))
    assert not newest.client.stdin_channel.msg_ready()


_FLOOD = """
import json
sys.stdin.read()
def event(**fields):
    say(json.dumps(fields) + "\\n")
event(type="stream_event", event={"type": "message_start", "message": {"id": "m"}})
piece = json.dumps({"type": "stream_event", "event": {"type": "content_block_delta",
                    "delta": {"type": "text_delta", "text": "a"}}}) + "\\n"
for _ in range(200):
    say(piece * 100)
event(type="result", is_error=False, result=TEXT)
"""


@case("a6-scn-14")
def test_flood_of_pieces_sends_few_messages(newest: LiveKernel, tmp_path: Path) -> None:
    """Twenty thousand pieces of an answer: the page hears of the answer, not of each piece."""
    text = reply("Ship", "at last")
    fake(tmp_path, _FLOOD.replace("TEXT", repr(text)), "claude")
    newest.run(f"import os; os.environ['PATH'] = {str(tmp_path)!r}")
    line = "out --seats a=cli:claude,pro --rounds 0 --unattended --chairman scripted"
    before = len(newest.published)
    request = newest.queue(f"%%roundtable {line}\n{BODY}")
    assert newest.reply(request)["status"] == "ok"
    caused = newest.published[before:]
    assert facts(newest, "[out.status, list(out.replies.disagree)[0]]") == ["done", ["at last"]]
    assert len(caused) < 60
    assert sum(len(json.dumps(message["content"])) for message in caused) < 400_000
    final = newest.of(request, "update_display_data")[-1]["data"]["text/plain"]
    assert "done" in final
