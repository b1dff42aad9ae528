"""A debate on a disk that gets full: at once, or after so many bytes; then there is room again.

    python -m tests.faults.full_disk tmpfs|limit FOLDER SPARE_KB ...

Says one JSON line for each: what was said, what was asked, and how it went on.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import rt_notebook as rt
from rt_notebook import session
from rt_notebook.engine.runner import runner
from rt_notebook.running import DebateRun
from rt_notebook.store import sqlite

ROUNDS = 5
_VERDICT = "RECOMMENDATION: Wait\nYes.\nDISSENT: none\nKILL_CRITERIA: none\nOPEN_QUESTIONS: none"
_REPLY = "STANCE: {0}\nAGREE_WITH: []\nDISAGREE: none\nNEW:\n- round {1} {2}\nASSUMPTIONS: none"


class Disk:
    """The disk that a store is on, as far as this process can fill it up.

    Args:
        kind: `tmpfs` is filled by another file, `limit` bounds the size of this process's files.
        folder: where it is.
    """

    def __init__(self, kind: str, folder: Path) -> None:
        self._kind, self._folder = kind, folder

    def leave(self, spare: int) -> None:
        """Leave so many bytes."""
        if self._kind == "limit":
            largest = max(path.stat().st_size for path in self._folder.glob("*.db*"))
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest + spare, resource.RLIM_INFINITY))
            return
        found = os.statvfs(self._folder)
        with (self._folder / "ballast").open("wb") as file:
            file.write(b"x" * max(0, found.f_bavail * found.f_frsize - spare))

    def clear(self) -> None:
        """Make room again."""
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        (self._folder / "ballast").unlink(missing_ok=True)


def _seat(name: str, stance: str, asked: list[str]) -> Callable[[rt.Call], str]:
    def answer(call: rt.Call) -> str:
        asked.append(f"{call.round}/{name}/{call.purpose}")
        if call.purpose == "verdict":
            return _VERDICT
        return _REPLY.format(stance, call.round, "long " * 800)

    answer.__name__ = name
    return answer


def _seats(asked: list[str]) -> dict[str, Callable[[rt.Call], str]]:
    stances = {"ann": "Ship", "bob": "Wait", "chair": ""}
    return {name: _seat(name, stance, asked) for name, stance in stances.items()}


def _play(run: DebateRun) -> str | None:
    """Runs it to its end; returns the fault that ended it, if any did."""
    try:
        runner().run_blocking(lambda job: run.main())
    except rt.StoreError as error:
        return str(error)
    return None


def scene(disk: Disk, store: Path, spare: int) -> dict[str, Any]:
    """Runs a debate that comes to the disk's end, and resumes it."""
    asked: list[str] = []
    seated = _seats(asked)
    review = rt.Review(
        "Ship now?",
        options=["Ship", "Wait"],
        seats=[rt.Seat("ann", model=seated["ann"]), rt.Seat("bob", model=seated["bob"])],
        chairman=rt.Seat("chair", model=seated["chair"]),
        rounds=ROUNDS,
        loop_threshold=0,
        unattended=True,
    )
    run = session.new_run(review.spec, session.Opening(store))
    run.listeners.append(lambda event, state: disk.leave(spare) if event.seq == 1 else None)
    fault = _play(run)
    disk.clear()
    first = session.load(run.id, store)
    found = {
        "spare": spare,
        "fault": fault,
        "told": run.fold.status,
        "status": first.status,
        "asked": list(asked),
        "started": _calls(first.events, "call_started"),
        "finished": _calls(first.events, "call_finished"),
    }
    asked.clear()
    again = session.resume_run(run.id, session.Opening(store), models=_seats(asked))
    found["second_fault"] = _play(again)
    last = session.load(run.id, store)
    return {
        **found,
        "asked_again": asked,
        "end": last.status,
        "replies": len(last.replies),
        "seqs": [event.seq for event in last.events],
    }


def _calls(events: list[Any], kind: str) -> list[str]:
    return [event.body["call"].rpartition("/")[0] for event in events if event.kind == kind]


def main(kind: str, folder: Path, *spares: str) -> None:
    """Plays the scene on a store of its own for every number of kB."""
    disk = Disk(kind, folder)
    for number, spare in enumerate(spares):
        print(json.dumps(scene(disk, folder / f"{number}.db", int(spare) * 1024)), flush=True)
        sqlite._OPEN.pop(folder / f"{number}.db").close()  # what is open takes room
        for path in folder.glob(f"{number}.db*"):
            path.unlink()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])
