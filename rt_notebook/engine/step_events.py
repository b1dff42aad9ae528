"""What a step puts into the log before anything else happens."""

from __future__ import annotations

import time

from rt_notebook.engine.commands import Body
from rt_notebook.engine.steps import Conclude, OpenGate, Record, Step


def event_of(step: Step) -> Body | None:
    """Return a step's event, or None where it has none of its own."""
    match step:
        case Record(kind, body):
            return kind, body
        case Conclude(status, reason):
            return "concluded", {"status": status, "stop_reason": reason}
        case OpenGate():
            closes_at = None
            if step.window_s is not None:
                closes_at = time.time_ns() // 1_000_000 + int(step.window_s * 1000)
            return "gate_opened", {
                "round": step.round,
                "mode": step.mode,
                "questions": [question.to_json() for question in step.questions],
                "closes_at": closes_at,
                "reopen_calls": step.reopen_calls,
            }
    return None
