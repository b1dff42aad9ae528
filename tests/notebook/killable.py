"""A debate in which everything happens, killed at any event and resumed in another process.

Run as a script: `python killable.py FOLDER` runs it once whole, then once for every event of that
run: killed at the event by SIGKILL, resumed and killed again soon after, then resumed to the end.
It prints one JSON line each. Every process is a forked child, so that all share one import and none
shares anything else.

What a seat says holds a digest of what it was asked, so two runs that end alike were asked alike.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import rt_notebook as rt
import rt_notebook.frontends.api
import rt_notebook.store.sqlite  # noqa: F401  # loaded here, so that the children need not
from rt_notebook.analysis import frames as frames

OPTIONS = ["Ship", "Wait"]


class Recorder:
    """A seat's function; writes down every call before it answers."""

    def __init__(self, name: str, log: Path) -> None:
        self.__name__ = name
        self._log = log

    def __call__(self, call: rt.Call) -> str:
        asked = "\n".join(message.text for message in call.messages)
        digest = hashlib.sha256(asked.encode()).hexdigest()[:12]
        with self._log.open("a", encoding="utf-8") as file:
            file.write(f"{call.round}/{self.__name__}/{call.purpose}\n")
        if call.purpose == "verdict":
            return (
                f"RECOMMENDATION: Wait\nAsked with {digest}.\nDISSENT: none\n"
                "KILL_CRITERIA:\n- costs: above 5\nOPEN_QUESTIONS: none"
            )
        return (
            f"STANCE: {OPTIONS[self.__name__ == 'bob']}\nAGREE_WITH: []\nDISAGREE: none\n"
            f"NEW:\n- asked with {digest}\nASSUMPTIONS: none"
        )


def functions(log: Path) -> dict[str, Recorder]:
    """Returns the callables by the seats they sit on."""
    return {name: Recorder(name, log) for name in ("ann", "bob", "chairman")}


def review(log: Path) -> rt.Review:
    """Returns the debate: two functions and a script that fails, babbles and asks, and a gate."""
    seated = functions(log)
    moody = rt.scripted(
        [
            rt.fail("overloaded", retry_after_s=0.01),
            rt.say(stance="Ship", new=["first"], question="What is the budget?"),
            rt.garbage(),
            rt.say(stance="Wait", new=["second"]),
            rt.fail("timeout"),
        ]
    )
    return rt.Review(
        "Ship now?",
        options=OPTIONS,
        seats=[
            rt.Seat("ann", model=seated["ann"]),
            rt.Seat("bob", model=seated["bob"]),
            rt.Seat("moody", model=moody),
        ],
        chairman=rt.Seat("chairman", model=seated["chairman"]),
        rounds=2,
        loop_threshold=0,
        unattended=False,
        question_wait_s=20,
        checkpoint_wait_s=0.02,
    )


def answers(event: Any) -> None:
    """Answers the gate that asks, as a person would."""
    if event.kind == "gate_opened" and event.body["questions"]:
        rt.answer(event.debate, round=0, answers={"q1": "12 000"}, message="Hurry.")


def killer(seq: int) -> Callable[[Any], None]:
    """Returns a listener that ends the process with SIGKILL at an event."""

    def listen(event: Any) -> None:
        if event.seq == seq:
            os.kill(os.getpid(), signal.SIGKILL)
        answers(event)

    return listen


def outcome(result: Any) -> dict[str, Any]:
    """Returns what two runs of the debate must have in common."""
    state = result.state
    return {
        "status": state.status,
        "stop_reason": state.stop_reason,
        "pick": result.verdict.pick,
        "rationale": result.verdict.rationale,
        "tally": state.tally,
        "positions": [[p.seat, p.round, p.stance_key] for p in state.positions],
        "stances": [[int(r.round), r.seat, str(r.stance)] for r in result.replies.itertuples()],
        "answers": [str(answer) for answer in result.questions.answer],
        "calls": sorted(
            f"{call.round}/{call.seat}/{call.purpose}"
            for call in result.calls[result.calls.outcome == "finished"].itertuples()
        ),
    }


def finished(events: list[Any]) -> list[str]:
    """Returns the calls that the log holds as finished, as `Recorder` writes them."""
    ids = [event.body["call"].split("/") for event in events if event.kind == "call_finished"]
    return [f"{round}/{seat}/{purpose}" for round, seat, purpose, _ in ids]


def resume(more: int | None, folder: Path) -> dict[str, Any]:
    """Goes on with the newest debate.

    Args:
        more: after how many events of its own the process is killed; None: not at all.
        folder: where the calls are written down.

    Returns:
        The outcome, and both the calls that were finished before and those that were made now.
    """
    log = folder / f"resumed-{more}.txt"
    log.touch()
    before = rt.load("last")
    found = {"before": finished(before.events), "status_before": before.status}
    result = before
    if before.status != "done":
        listener = killer(len(before.events) + more) if more else answers
        result = rt.resume("last", models=functions(log), on_event=listener).result(60)
    again = log.read_text(encoding="utf-8").split()
    return {**found, "again": again, "outcome": outcome(result)}


def whole(folder: Path) -> dict[str, Any]:
    """Runs the debate without a break."""
    result = review(folder / "calls.txt").run_sync(on_event=answers)
    kinds = [event.kind for event in result.events]
    return {"outcome": outcome(result), "kinds": kinds}


def killed(seq: int, folder: Path) -> dict[str, Any]:
    """Runs the debate up to an event; never returns where there is such an event."""
    review(folder / "calls.txt").run_sync(on_event=killer(seq))
    return {}


Work = Callable[[Path], dict[str, Any]]


def in_children(work: dict[Path, Work]) -> dict[Path, tuple[int, dict[str, Any]]]:
    """Does several things at once, each in a forked child with a store and a folder of its own.

    Returns:
        By folder: how the child ended (0, or minus the signal), and what its work returned.
    """
    children = {folder: _fork(folder, act) for folder, act in work.items()}
    found = {}
    for folder, child in children.items():
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        answer = folder / "answer.json"
        found[folder] = code, json.loads(answer.read_text("utf-8")) if answer.exists() else {}
    return found


def _fork(folder: Path, work: Work) -> int:
    folder.mkdir(exist_ok=True)
    child = os.fork()
    if child:
        return child
    os.environ["RT_NOTEBOOK_STORE"] = str(folder / "debates.db")
    try:
        (folder / "answer.json").write_text(json.dumps(work(folder)), encoding="utf-8")
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def main(base: Path) -> None:
    """Runs everything and prints it."""
    ((_, expected),) = in_children({base / "whole": whole}).values()
    print(json.dumps(expected))
    folders = {base / str(seq): seq for seq in range(1, len(expected["kinds"]) + 1)}
    ends = in_children({folder: partial(killed, seq) for folder, seq in folders.items()})
    in_children(dict.fromkeys(folders, partial(resume, 4)))
    found = in_children(dict.fromkeys(folders, partial(resume, None)))
    for folder, seq in folders.items():
        print(json.dumps({"seq": seq, "code": ends[folder][0], **found[folder][1]}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
