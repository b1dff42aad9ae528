"""The page of many live views in one kernel: it shows each and answers every gate at once."""

from __future__ import annotations

import time
from typing import Any

from tests.notebook.live_kernel import LiveKernel, Message


class AnsweringPage:
    """Plays the front end of cells that run one debate after the other; keeps nothing of them.

    Every fifth view is shown by a second page too, as after a reload.

    Args:
        live: the kernel.
    """

    def __init__(self, live: LiveKernel) -> None:
        self.answered = 0
        """How many gates were answered."""
        self._live = live
        self._shown = 0
        self._transcripts: dict[str, str] = {}
        self._forms: dict[str, tuple[str, int]] = {}
        self._asking: set[str] = set()

    def run(self, code: str, timeout_s: float) -> None:
        """Runs a cell to its end; an error in it fails the test."""
        live = self._live
        request, deadline = live.queue(code), time.monotonic() + timeout_s
        while request not in live.replies:
            assert time.monotonic() < deadline, f"after {self.answered} answers"
            for message in live.take():
                self._see(message["msg_type"], message["content"])
        content = live.replies.pop(request)["content"]
        assert content["status"] == "ok", content

    def _see(self, kind: str, content: Message) -> None:
        if kind == "comm_close":
            self._forget(content["comm_id"])
        elif kind in ("comm_open", "comm_msg"):
            comm, data = content["comm_id"], content["data"]
            self._see_state(comm, data.get("state", {}))
            self._hear(comm, data.get("content") or {})

    def _forget(self, comm: str) -> None:
        self._forms.pop(f"IPY_MODEL_{comm}", None)
        self._asking.discard(comm)
        self._transcripts = {uid: held for uid, held in self._transcripts.items() if held != comm}

    def _see_state(self, comm: str, state: dict[str, Any]) -> None:
        if state.get("_model_name") == "AnyModel":
            self._transcripts[state["uid"]] = comm
            self._shown += 1
            for page in ("p1", "p2") if self._shown % 5 == 0 else ("p1",):
                self._send(comm, type="ready", page=page, have=0, n=0)
        for name in state.get("_dom_classes", ()):
            if name.startswith("rt-form--"):
                _, uid, serial = name.split("--")
                self._forms[f"IPY_MODEL_{comm}"] = uid, int(serial)
        for child in state.get("children", ()):
            if child in self._forms:
                self._answer(*self._forms[child])

    def _hear(self, comm: str, content: Message) -> None:
        messages = content["messages"] if content.get("type") == "batch" else ()
        if any(said["type"] == "gate" and said["state"] == "open" for said in messages):
            self._asking.add(comm)

    def _answer(self, uid: str, serial: int) -> None:
        comm = self._transcripts.get(uid)
        if comm in self._asking:  # a discussion's form for a word is left alone
            self._asking.discard(comm)
            self.answered += 1
            values = {"q1": "yes", "message": ""}
            self._send(comm, type="submit", serial=serial, action="continue", values=values)

    def _send(self, comm: str, **content: Any) -> None:
        self._live.comm(comm, {"method": "custom", "content": {"page": "p1", **content}})
