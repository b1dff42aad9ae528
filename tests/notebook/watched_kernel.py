"""A kernel whose front end shows widgets: plays the page of a live view, and answers its forms."""

from __future__ import annotations

import json
import time
from typing import Any

from tests.notebook.live_kernel import LiveKernel

SETUP = """
%load_ext rt_notebook
import json, threading
import rt_notebook as rt
def seat(name, *stances, ask=()):
    says = [rt.say(stance=s, new=[f"{name} {n}"], question=dict(enumerate(ask)).get(n))
            for n, s in enumerate(stances)]
    return rt.Seat(name, model=rt.scripted(says))
pro = seat("pro", "Ship", "Ship", "Ship", ask=["What is the budget?"])
con = seat("con", "Wait", "Wait", "Wait")
made = dict(question="Ship now?", options=["Ship", "Wait"], seats=[pro, con], question_wait_s=60)
"""
"""Defines two scripted seats, `pro` (which asks) and `con`, and `made` for `rt.Review`."""

LINE = "--seats pro,con --question-wait-s 60 --checkpoint-wait-s 60"
BODY = "Ship now?\n\noptions:\n- Ship\n- Wait\n"


class Page:
    """The page's side of one live view: what it was sent, and what it sends.

    Args:
        live: the kernel.
        request: the cell that shows the view.
        subshell: where the page sends its messages; None: the main shell.
    """

    def __init__(self, live: LiveKernel, request: str, subshell: str | None = None) -> None:
        self.live, self.request, self.subshell = live, request, subshell
        self.comm = live.wait_for_model("AnyModel", request)
        self._gate_forms: dict[int, int] = {}
        self.send(type="ready", page="p1", have=0, n=0)

    def send(self, **content: Any) -> str:
        """Sends what the view's script would send."""
        return self.live.comm(self.comm, {"method": "custom", "content": content}, self.subshell)

    def messages(self) -> list[dict[str, Any]]:
        """Returns the transcript's messages so far."""
        found: list[dict[str, Any]] = []
        for message in self.live.published:
            content = message["content"]
            if message["msg_type"] == "comm_msg" and content["comm_id"] == self.comm:
                custom = content["data"].get("content", {})
                found += custom.get("messages", []) if custom.get("type") == "batch" else [custom]
        return found

    def wait_for(self, kind: str, timeout_s: float = 20, **fields: Any) -> dict[str, Any]:
        """Waits for a message of the transcript and returns it."""
        wanted = {"type": kind, **fields}

        def found() -> list[dict[str, Any]]:
            return [m for m in self.messages() if wanted.items() <= m.items()]

        self.live.wait_for(found, timeout_s)
        return found()[-1]

    def open_gate(self, round: int = 0) -> int:
        """Waits until the form of the gate after a round stands on the page; returns its number."""
        self.wait_for("gate", state="open", round=round)
        if round not in self._gate_forms:
            # The message comes before the form: until then an earlier gate's may still stand there.
            last = max(self._gate_forms.values(), default=0)
            self.live.wait_for(lambda: max(self._shown_forms(), default=0) > last, 10)
            self._gate_forms[round] = max(self._shown_forms())
        return self._gate_forms[round]

    def _shown_forms(self) -> list[int]:
        """Returns the numbers of the forms that stand in a box now."""
        forms: dict[str, int] = {}
        boxes: dict[str, list[str]] = {}
        for message in self.live.published:
            content = message["content"]
            state = content["data"].get("state", {}) if "comm_id" in content else {}
            for name in state.get("_dom_classes", ()):
                if name.startswith("rt-form--"):
                    forms[f"IPY_MODEL_{content['comm_id']}"] = int(name.rpartition("--")[2])
            if "children" in state:
                boxes[content["comm_id"]] = state["children"]
        return [forms[child] for children in boxes.values() for child in children if child in forms]

    def submit(self, serial: int, action: str = "continue", **values: str) -> float:
        """Presses a button of the form; returns when, in seconds since 1970."""
        now = time.time()
        self.send(type="submit", serial=serial, action=action, values=values)
        return now


def facts(live: LiveKernel, expression: str) -> Any:
    """Returns what an expression is worth in the kernel."""
    return json.loads(live.run(f"print(json.dumps({expression}, default=str))"))
