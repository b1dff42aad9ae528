"""A command line that answers, holds, lists and shows whatever runs on a store, for some seconds.

    python -m tests.faults.commander SECONDS

Says one JSON line at the end: what it sent, and what it was told about it.
"""

from __future__ import annotations

import itertools
import json
import sys
import time
from typing import Any

from rt_notebook import session
from rt_notebook.frontends import agent


def _agent(*words: str) -> dict[str, Any]:
    written: list[str] = []
    agent.main(words, written.append)
    found: dict[str, Any] = json.loads(written[0])
    return found


def main(seconds: float) -> None:
    """Answers every gate that it sees, twice; every seventh it holds first."""
    taken: dict[str, str] = {}
    refused: list[str] = []
    looks, faults = 0, []
    ends = time.monotonic() + seconds
    numbers = itertools.count()
    while time.monotonic() < ends:
        for row in session.rows("waiting"):
            number = next(numbers)
            if number % 7 == 0:
                _agent("hold", "--id", row.id)
            for _ in range(2):
                text = f"answer {number} of {row.id} at {time.monotonic_ns()}"
                given = json.dumps({"round": 0, "message": text})
                said = _agent("answer", "--id", row.id, "--input", given)
                if said["ok"]:
                    taken[text] = row.id
                elif said["error"]["kind"] == "usage":
                    refused.append(text)
                else:
                    faults.append(said["error"])
        looks += 1
        said = _agent("list", "--limit", "5")
        faults += [] if said["ok"] else [said["error"]]
        for found in said.get("debates", [])[:1]:
            shown = _agent("show", "--id", found["id"])
            faults += [] if shown["ok"] else [shown["error"]]
    print(json.dumps({"taken": taken, "refused": refused, "looks": looks, "faults": faults}))


if __name__ == "__main__":
    main(float(sys.argv[1]))
