"""What the seats of the kill laboratory say; every call is written down before it is answered.

They sit as `python:tests.faults.voices:NAME`, so that a command line can seat them by its user's
own configuration. What is said depends on the debate's question, see `scenes`.
"""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path

import rt_notebook as rt

CALLS = "FAULTS_CALLS"
"""The variable that names the file in which calls are written down."""
WAITS = "FAULTS_WAITS"
"""The variable that names a round and a file, without which nobody answers from that round on."""


def ann(call: rt.Call) -> str:
    """Is for shipping; asks what it costs."""
    return _said(call, "ann", "Ship", question="What is the budget?" if call.round == 0 else "")


def bob(call: rt.Call) -> str:
    """Is for waiting, unless the question says that they agree."""
    if "slowly" in _question(call):
        time.sleep(0.5)  # long enough for an interrupt to be heard
    return _said(call, "bob", "Ship" if "agree" in _question(call) else "Wait")


def chair(call: rt.Call) -> str:
    """Judges, or fails where the question says so."""
    _note(call, "chair")
    if "no verdict" in _question(call):
        raise rt.CallError("no verdict today", kind="refused")
    return (
        "RECOMMENDATION: Wait\nBecause.\nDISSENT: none\nKILL_CRITERIA:\n- costs: above 5\n"
        "OPEN_QUESTIONS: none"
    )


def observer(call: rt.Call) -> str:
    """Sums a discussion up."""
    _note(call, "observer")
    return "They said what they had to say."


def _said(call: rt.Call, name: str, stance: str, question: str = "") -> str:
    _note(call, name)
    if "nothing new" in _question(call) and call.round > 0:
        return "PASS"
    if call.purpose == "turn":
        if "in circles" in _question(call):
            return "The cost of moving is what decides, and nobody has shown what it is."
        return f"{name} in round {call.round}: {_digest(call)}."
    asked = f"\nQUESTION_FOR_HUMAN: {question}" if question else ""
    return (
        f"STANCE: {stance}\nAGREE_WITH: []\nDISAGREE: none\nNEW:\n- round {call.round}\n"
        f"ASSUMPTIONS: none{asked}"
    )


def _question(call: rt.Call) -> str:
    return call.brief.question if call.brief is not None else ""


def _digest(call: rt.Call) -> str:
    return hashlib.sha256(f"{call.seat} {call.round}".encode()).hexdigest()[:40]


def _note(call: rt.Call, name: str) -> None:
    with Path(os.environ[CALLS]).open("a", encoding="utf-8") as file:
        file.write(f"{call.round}/{name}/{call.purpose}\n")
    since, _, flag = os.environ.get(WAITS, "").partition(" ")
    while flag and call.round >= int(since) and not os.path.exists(flag):
        time.sleep(0.005)
