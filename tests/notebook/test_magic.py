"""Cells with a person at the page: forms, interrupts, background debates, on every ipykernel."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.notebook.live_kernel import LiveKernel, live_kernel
from tests.notebook.runner import KERNELS_WITH_SUBSHELLS, NEWEST
from tests.notebook.watched_kernel import BODY, LINE, SETUP, Page, facts


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, LiveKernel]]:
    """Gives the kernels that this file's tests share, started when first needed."""
    with ExitStack() as stack:

        class Started(dict[str, LiveKernel]):
            def __missing__(self, name: str) -> LiveKernel:
                home = tmp_path_factory.mktemp("kernel")
                self[name] = stack.enter_context(live_kernel(name, home))
                self[name].run(SETUP)
                return self[name]

        yield Started()


@pytest.fixture
def live(kernels: dict[str, LiveKernel], kernel: str) -> Iterator[LiveKernel]:
    """Gives a kernel, and sees that the test leaves no debate running in it."""
    running = kernels[kernel]
    yield running
    left = "from rt_notebook import running as r; print(len(r.all_running()))"
    assert running.run(left).strip() == "0"


@pytest.fixture
def newest(kernels: dict[str, LiveKernel]) -> LiveKernel:
    """Gives the newest kernel."""
    return kernels[NEWEST]


# ---- answering ----------------------------------------------------------------------------------

HARD = "予算は１２万円 🎉 “quotes” 'single' \\ back $x$ <b>&amp; {p} %d\nsecond line"

PLACES = {
    "awaited": f"# why\n%%roundtable out {LINE}\n{BODY}",
    "time": f"%%time\n%%roundtable out {LINE}\n{BODY}",
    "capture": f"%%capture held\n%%roundtable out {LINE}\n{BODY}",
    "run_cell": f"get_ipython().run_cell({f'%%roundtable out {LINE}{chr(10)}{BODY}'!r});",
    "run": "out = await rt.Review(**made, checkpoint_wait_s=60).run()",
    "run_sync": "out = rt.Review(**made, checkpoint_wait_s=60).run_sync()",
}


@pytest.mark.parametrize("cell", PLACES.values(), ids=PLACES)
def test_answer_reaches_running_cell_at_once(live: LiveKernel, cell: str) -> None:
    debate = live.queue(cell)
    behind = live.queue("print('after', out.status)")
    page = Page(live, debate)
    serial = page.open_gate()
    sent_at = page.submit(serial, q1=HARD, message="Hurry.")
    assert live.reply(debate)["status"] == "ok"
    assert live.reply(behind)["status"] == "ok"
    assert live.printed(behind) == "after done\n"
    found = facts(
        live,
        "[list(out.questions.answer),"
        " [e.body['message'] for e in out.events if e.kind == 'gate_answered'],"
        " [e.at for e in out.events if e.kind == 'gate_answered']]",
    )
    assert found[:2] == [[HARD], ["Hurry."]]
    assert found[2][0] / 1000 - sent_at < 0.5
    if "roundtable" in cell:
        assert facts(live, "out is roundtable_result")


@pytest.mark.parametrize("kernel", KERNELS_WITH_SUBSHELLS, indirect=True)
@pytest.mark.parametrize("cell", [PLACES["awaited"], PLACES["run_sync"]], ids=["await", "block"])
def test_answer_through_a_subshell_arrives(live: LiveKernel, cell: str) -> None:
    subshell = live.open_subshell()
    debate = live.queue(cell)
    page = Page(live, debate, subshell)
    page.submit(page.open_gate(), q1="yes", message="")
    assert live.reply(debate)["status"] == "ok"
    assert facts(live, "list(out.questions.answer)") == ["yes"]


def test_two_debates_in_one_cell_ask_in_turn(live: LiveKernel) -> None:
    both = live.queue(
        "one = rt.Review(**made).run_sync()\n"
        "two = await rt.Review(**{**made, 'question': 'And then?'}).run()"
    )
    first = Page(live, both)
    first.submit(first.open_gate(), q1="first", message="")
    first.wait_for("concluded")
    live.wait_for(lambda: len(_models(live, both)) == 2)
    second = Page(live, both)
    second.submit(second.open_gate(), q1="second", message="")
    assert live.reply(both)["status"] == "ok"
    assert facts(live, "[list(r.questions.answer) for r in (one, two)]") == [["first"], ["second"]]


def _models(live: LiveKernel, request: str) -> list[str]:
    return [
        content["comm_id"]
        for content in live.of(request, "comm_open")
        if content["data"].get("state", {}).get("_model_name") == "AnyModel"
    ]


def test_view_is_replaced_by_static_result(newest: LiveKernel) -> None:
    debate = newest.queue(PLACES["awaited"])
    page = Page(newest, debate)
    page.submit(page.open_gate(), "finish")
    newest.reply(debate)
    shown = newest.of(debate, "display_data")[-1]
    (final,) = [
        content
        for content in newest.of(debate, "update_display_data")
        if content["transient"] == shown["transient"]
    ]
    assert set(final["data"]) == {"text/html", "text/markdown", "text/plain"}
    assert facts(newest, "out.stop_reason") == "finished"


def test_capture_keeps_view_on_page_and_result_inside(newest: LiveKernel) -> None:
    debate = newest.queue(PLACES["capture"])
    page = Page(newest, debate)
    page.submit(page.open_gate(), q1="x", message="")
    newest.reply(debate)
    assert newest.of(debate, "display_data")
    held = facts(newest, "[list(o.data) for o in held.outputs]")
    assert ["text/html" in data for data in held] == [True]


# ---- interrupting -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "cell",
    [PLACES[name] for name in ("awaited", "time", "run_cell")],
    ids=["awaited", "time", "run_cell"],
)
def test_interrupt_at_idle_gate_keeps_what_is_there(live: LiveKernel, cell: str) -> None:
    live.run("out = None")
    debate = live.queue(cell)
    page = Page(live, debate)
    page.open_gate()
    began = time.monotonic()
    live.interrupt()
    content = live.reply(debate)
    assert time.monotonic() - began < 2
    if "run_cell" not in cell:  # which reports an error without raising it
        assert (content["status"], content["ename"]) == ("error", "KeyboardInterrupt")
    (error,) = live.of(debate, "error")
    found = facts(live, "[out.status, out.stop_reason, len(out.replies), out.id]")
    assert found[:3] == ["interrupted", "interrupted", 2]
    assert f"%roundtable resume {found[3]}" in error["evalue"]
    assert len(error["traceback"]) == 1
    _resume(live, found[3])


def _resume(live: LiveKernel, name: str) -> None:
    """Goes on with an interrupted debate: its gate opens again, with a full window."""
    again = live.queue(f"%roundtable resume {name}")
    page = Page(live, again)
    page.submit(page.open_gate(), q1="later", message="")
    assert live.reply(again)["status"] == "ok"
    result = "roundtable_result"
    found = facts(
        live,
        f"[{result}.id, {result}.status, list({result}.questions.answer),"
        f" {result}.calls['round'].tolist()]",
    )
    assert found == [name, "done", ["later"], [0, 0, 1, 1, 1]]


def test_interrupt_in_a_call_ends_it(live: LiveKernel) -> None:
    live.run("hang = rt.scripted([rt.hang()])\nout = None")
    debate = live.queue(f"%%roundtable out --seats pro,h=hang\n{BODY}")
    queued = live.queue("print('never')")
    page = Page(live, debate)
    page.wait_for("reply", seat="pro")
    began = time.monotonic()
    live.interrupt()
    live.reply(debate)
    assert time.monotonic() - began < 2
    assert live.reply(queued)["status"] in ("aborted", "error", "ok")
    assert facts(live, "[out.status, list(out.calls.outcome)]") == [
        "interrupted",
        ["finished", "failed"],
    ]


def test_interrupted_review_of_a_call_raises(live: LiveKernel) -> None:
    for code in ("out = rt.Review(**made).run_sync()", "out = await rt.Review(**made).run()"):
        debate = live.queue(code)
        Page(live, debate).open_gate()
        live.interrupt()
        content = live.reply(debate)
        assert content["status"] == "error"
        assert "%roundtable resume ship-now-" in "".join(content["traceback"])
        assert facts(live, "rt.debates().status.iloc[0]") == "interrupted"


# ---- in the background --------------------------------------------------------------------------


def test_background_cell_returns_and_others_run(live: LiveKernel) -> None:
    debate = live.queue(f"%%roundtable back --background {LINE}\n{BODY}")
    page = Page(live, debate)
    assert live.reply(debate)["status"] == "ok"
    serial = page.open_gate()
    assert facts(live, "[type(back).__name__, back.done(), back.state().status]") == [
        "Handle",
        False,
        "waiting",
    ]
    assert live.run("print('others run')") == "others run\n"
    page.submit(serial, q1="from the form", message="")
    live.run("result = await back")
    assert facts(live, "[result.status, list(result.questions.answer), back.done()]") == [
        "done",
        ["from the form"],
        True,
    ]


def test_line_magic_works_beside_background_debate(newest: LiveKernel) -> None:
    debate = newest.queue(f"%%roundtable back --background {LINE} --rounds 2\n{BODY}")
    page = Page(newest, debate)
    newest.reply(debate)
    page.open_gate()
    again = newest.queue("%roundtable form")
    assert newest.reply(again)["status"] == "ok"
    assert [
        c for c in newest.of(again, "display_data") if any("widget-view" in k for k in c["data"])
    ]
    assert newest.run("s = %roundtable status last\nprint(s.status)") == "waiting\n"
    newest.run("%roundtable hold last --round 0")
    newest.run("s = %roundtable answer last --round 0 q1='by hand' --message 'noted'")
    page.wait_for("gate", state="open", round=1)
    refused = newest.queue("%roundtable answer last --round 0 q1='too late'")
    content = newest.reply(refused)
    assert (content["status"], content["ename"]) == ("error", "UsageError")
    assert "too late" in content["evalue"]
    newest.run("%roundtable finish last")
    newest.run("result = await back")
    assert facts(newest, "[result.stop_reason, list(result.questions.answer)]") == [
        "finished",
        ["by hand"],
    ]


def test_start_and_cancelled_await_leave_it_running(newest: LiveKernel) -> None:
    started = newest.queue("back = rt.Review(**made).start()")
    Page(newest, started).open_gate()
    waiting = newest.queue("await back")
    newest.wait_for(lambda: {"execution_state": "busy"} in newest.of(waiting, "status"))
    newest.interrupt()
    assert newest.reply(waiting)["status"] == "error"
    assert facts(newest, "[back.done(), rt.wait(back.id, 10).status]") == [False, "waiting"]
    newest.run("s = back.answer({'q1': 'yes'})\nresult = await back")
    assert facts(newest, "list(result.questions.answer)") == ["yes"]


def test_events_are_heard_on_the_debates_loop(newest: LiveKernel) -> None:
    newest.run(
        "heard = []\n"
        "result = rt.Review(**{**made, 'gates': 'off'}).run_sync(\n"
        "    on_event=lambda event: heard.append([event.kind, threading.current_thread().name]))"
    )
    heard = facts(newest, "heard")
    assert [kind for kind, _ in heard][:: len(heard) - 1] == ["created", "concluded"]
    assert {name for _, name in heard} == {"roundtable-engine"}


# ---- a page that shows nothing ------------------------------------------------------------------


def test_gate_without_view_prints_questions_and_goes_on(newest: LiveKernel) -> None:
    debate = newest.queue(f"%%roundtable out --seats pro,con --question-wait-s 0.3\n{BODY}")
    assert newest.reply(debate, 40)["status"] == "ok"
    notes = " ".join(c["data"]["text/plain"] for c in newest.of(debate, "display_data"))
    assert "What is the budget?" in notes
    assert "--round 0 q1='...'" in notes
    assert facts(newest, "[out.status, out.questions.answer.isna().all()]")[0] == "done"


def test_gate_of_no_time_waits_for_no_view(newest: LiveKernel) -> None:
    line = "--seats pro,con --question-wait-s 0 --checkpoint-wait-s 0"
    debate = newest.queue(f"%%roundtable out {line}\n{BODY}")
    assert newest.reply(debate)["status"] == "ok"
    took = "(out.events[-1].at - out.events[0].at) / 1000"
    assert facts(newest, f"[out.status, {took} < 2.5]") == ["done", True]


def test_home_of_kernel_stays_small(newest: LiveKernel, tmp_path: Path) -> None:
    """After all these debates no widget, no display and no thread of theirs is left."""
    found = facts(
        newest,
        "[len([w for w in __import__('ipywidgets').Widget._widget_types and"
        " __import__('ipywidgets.widgets.widget', fromlist=['x'])._instances.values()]),"
        " [t.name for t in threading.enumerate() if t.name.startswith('roundtable')]]",
    )
    assert found[0] < 30
    assert found[1] == ["roundtable-engine"]
