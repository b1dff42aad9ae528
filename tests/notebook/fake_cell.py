"""A whole little extension to run in a kernel: a text field, a button, and a gate."""

from __future__ import annotations

FAKE = """
import asyncio, json, threading, time
import ipywidgets
from rt_notebook.engine.runner import runner
from rt_notebook.frontends import cell_runner, pump
from rt_notebook.frontends.publisher import free_replies, publish_outside

LOG, ORDER = [], []

class Fake:
    def __init__(self, line, body):
        self.name, *options = line.split()
        self.body, self.background = body, "--background" in options
        self.countdown = 1.0 if "--short" in options else 20.0
        self.answer = None

    def start_view(self, job):
        self.job, self.clicked = job, asyncio.Event()
        self.text, self.button = ipywidgets.Text(), ipywidgets.Button()
        self.text.observe(lambda change: LOG.append(["typed", change["new"]]), "value")
        self.button.on_click(self.click)
        self.box = ipywidgets.VBox([self.text, self.button])
        free_replies(self.text, self.button, self.box)
        publish_outside(self.box, "fake-" + self.name)

    def click(self, button):
        LOG.append(["click", time.time()])
        self.job.call(self.clicked.set)

    def open_gate(self):
        self.button.description = "Continue"

    async def main(self, job):
        job.post(LOG.append, ["gate", self.name])
        job.post(self.open_gate)
        try:
            await asyncio.wait_for(self.clicked.wait(), self.countdown)
        except TimeoutError:
            return "countdown"
        except asyncio.CancelledError:
            await asyncio.sleep(0.1)
            job.post(LOG.append, ["cleaned up"])
            raise
        return "clicked"

    def seen(self):
        return True

    def finish(self, job):
        cancelled = job.done() and job.exception() is not None
        ip.user_ns[self.name] = "interrupted" if cancelled else job.result(0)
        LOG.append(["finish", threading.current_thread() is threading.main_thread()])

    def interruption(self):
        return f"the debate {self.name} was interrupted; resume {self.name}"

def prepare(line, body):
    global LAST
    LAST = Fake(line, body)
    return LAST

def left_over():
    kernel = getattr(ip, "kernel", None)
    held = pump.CommPump.of(kernel)
    channel = getattr(kernel, "shell_channel_thread", None)
    if channel is not None:
        stream = channel.manager.get_shell_channel_to_subshell_pair(None).to_stream
        if stream._recv_callback is held._callback:
            return "callback"
    return held.active or len(runner()._jobs)

ip = get_ipython()
NOTES = cell_runner.install(ip, prepare)
"""
"""Defines `Fake`, a debate that waits for its button, and makes `%%roundtable` cells run it.

`LOG` holds what happened, `LAST` the last debate, `left_over()` is 0 when nothing of it remains.
"""
