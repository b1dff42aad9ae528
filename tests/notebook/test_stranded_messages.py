"""ipykernel 7.1 and 7.3 leave messages unread: a debate reads them, however it was started."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rt_notebook.frontends.cell_runner import RECOMMENDATION
from tests.notebook.fake_cell import FAKE
from tests.notebook.live_kernel import LiveKernel, live_kernel

# The extension is not loaded here: `install` would mend the kernel before there is a debate.
_DEBATE = FAKE.replace("NOTES = cell_runner.install(ip, prepare)", "")
_STRAND = """
import zmq
kernel = ip.kernel
channel, stream = kernel.shell_channel_thread, kernel.shell_stream
assert channel.manager._shell_socket in (stream, stream.socket)
channel.manager._shell_socket = stream.socket  # as the kernel has made it

def strand(begun, done):
    # What a raw send does at a bad moment: it looks at the socket that a message has just reached.
    begun.set()
    stream.socket.poll(10_000, zmq.POLLIN)
    done.set()

def leave_message_unread():
    events = threading.Event(), threading.Event()
    channel.io_loop.add_callback(strand, *events)
    assert events[0].wait(10)
    print("send", flush=True)
    assert events[1].wait(10)
"""
_WAYS = {
    "awaited": "await cell_runner.run_job_async(prepare('first', ''))",
    "blocking": "cell_runner.run_job_sync(prepare('first', ''))",
}


@pytest.fixture(scope="module", params=["ipykernel-7.1", "ipykernel-7.3"])
def live(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LiveKernel]:
    """Gives a kernel in which the extension was never loaded."""
    with live_kernel(request.param, tmp_path_factory.mktemp("kernel")) as running:
        running.run(_DEBATE + _STRAND)
        yield running


@pytest.mark.parametrize("way", _WAYS.values(), ids=_WAYS)
def test_click_arrives_behind_message_that_was_left_unread(live: LiveKernel, way: str) -> None:
    live.run(_STRAND)
    debate = live.queue(f"leave_message_unread()\n{way}\nprint(first)")
    live.wait_for(lambda: "send" in live.printed(debate))
    live.client.comm_info()  # as a page does that connects
    button = live.wait_for_model("ButtonModel", debate)
    live.click(button)
    assert live.reply(debate)["status"] == "ok"
    assert live.printed(debate) == f"send\n{RECOMMENDATION}\nclicked\n"
