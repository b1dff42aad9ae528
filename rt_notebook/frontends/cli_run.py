"""`run`, `resume`, `extend`, `verdict` and `watch`: a debate in this process, seen to its end.

Owns signals, the exit status and what is said around the debate. What is shown while it runs
stands in `cli_view`.
"""

from __future__ import annotations

import signal
import sys
from typing import Any, Final

from rt_notebook import session
from rt_notebook.contract.options import LIMIT_OPTIONS
from rt_notebook.domain.snapshot import Snapshot
from rt_notebook.extending import Extending, extend_run
from rt_notebook.frontends.agent import json_line
from rt_notebook.frontends.agent_debate import opening_of, spec_of
from rt_notebook.frontends.agent_next import CommandLines, described, typed_line
from rt_notebook.frontends.agent_verbs import shown
from rt_notebook.frontends.cell_debate import confirmation
from rt_notebook.frontends.cli_debate import Asked, RunLine, read_debate, read_run
from rt_notebook.frontends.cli_view import Watched, view_for
from rt_notebook.frontends.cli_words import Words
from rt_notebook.frontends.launch import DebateCell
from rt_notebook.frontends.place import Place, find_place
from rt_notebook.frontends.ways import run_blocking
from rt_notebook.rendering.plain import one_line
from rt_notebook.running import DebateRun

OK: Final = 0
ERROR: Final = 1
NO_ENDING: Final = 3
INTERRUPTED: Final = 130
_BY_STATUS: Final = {"interrupted": INTERRUPTED, "error": ERROR}
_PERSON: Final = "person"


def run(words: list[str]) -> int:
    """Run the debate of a file and return the exit status.

    Raises:
        UsageError: the line or the file doesn't fit; nothing was called.
        StoreError: the store can't be written.
    """
    line = read_run(words)
    asked = read_debate(line)
    spec = spec_of(asked.input, fake=line.fake, api_billing=asked.api_billing)
    place = find_place()
    opening = opening_of(asked.input, attended=_attended(line, place), source=_PERSON)
    estimate = session.check_opening(spec, opening)
    if asked.options.check:
        print(estimate)
        return OK
    confirm = confirmation(
        estimate,
        asked.options.confirm_above,
        place.terminal and not line.json and spec.unattended is not True,
    )
    debate = session.new_run(spec, opening)
    store = asked.input.store
    if estimate.calls.max:  # a replay calls nobody, so there is nothing to say
        _say_before(asked, line, debate, store)
    return _drive(debate, place, store, json=line.json, confirm=confirm)


def resume(words: Words) -> int:
    """Go on with a debate and return the exit status."""
    place, store = find_place(), words.flags.get("store")
    new = {o.key: words.flags[o.name] for o in LIMIT_OPTIONS.values() if o.name in words.flags}
    return _drive(
        session.resume_run(words.given[0], _opening(words, place, store), limits=new or None),
        place,
        store,
        json=_is_json(words),
    )


def extend(words: Words) -> int:
    """Add rounds to a debate that is done and return the exit status."""
    place, store = find_place(), words.flags.get("store")
    more = Extending(
        words.given[1] if len(words.given) > 1 else "",
        words.flags.get("rounds", 1),
        words.flags.get("mode"),
        words.flags.get("observer-prompt"),
    )
    debate = extend_run(words.given[0], more, _opening(words, place, store))
    return _drive(debate, place, store, json=_is_json(words))


def verdict(words: Words) -> int:
    """Ask the chairman again and return the exit status."""
    place, store = find_place(), words.flags.get("store")
    debate = session.verdict_run(words.given[0], _opening(words, place, store))
    return _drive(debate, place, store, json=_is_json(words))


def watch(words: Words) -> int:
    """Show a debate of any process until it ends; Ctrl-C only looks away."""
    place, store = find_place(), words.flags.get("store")
    _listen_to_signals()
    watched = Watched(words.given[0], store, _interrupt_self)
    view = view_for(watched, place, json=False)
    view.show()
    try:
        found = watched.follow(view)
    except KeyboardInterrupt:
        view.finish(_Left(watched.id))
        return INTERRUPTED
    result = session.load(watched.id, store)
    result.typed = typed_line(store)
    view.finish(result)
    _say_after(found, store)
    return status_of(found)


def status_of(found: Snapshot) -> int:
    """Return the exit status that stands for a debate's end."""
    if found.status == "done" and found.ending.get("status") == "ready":
        return OK
    return _BY_STATUS.get(found.status, NO_ENDING)


class _Left:
    """What a view shows that was left."""

    def __init__(self, debate: str) -> None:
        self._debate = debate

    def __repr__(self) -> str:
        return f"No longer watching; {self._debate} goes on where it runs."


def _attended(line: RunLine, place: Place) -> bool:
    return place.terminal and not line.json


def _opening(words: Words, place: Place, store: str | None) -> session.Opening:
    return session.Opening(store, attended=place.terminal and not _is_json(words))


def _is_json(words: Words) -> bool:
    return bool(words.flags.get("json"))


def _drive(
    debate: DebateRun, place: Place, store: str | None, *, json: bool, confirm: str | None = None
) -> int:
    """Run a debate to its end and return the exit status."""
    _listen_to_signals()
    cell = DebateCell(
        debate,
        place,
        make_view=lambda post: view_for(debate, place, json=json),
        confirm=confirm,
        typed=typed_line(store),
    )
    interrupted = False
    try:
        run_blocking(cell, place)
    except KeyboardInterrupt:
        interrupted = True
    if cell.cancelled:
        return NO_ENDING
    found = debate.state()
    if json:
        answer = {"ok": True, **described(found, CommandLines(store), store)}
        print(json_line({**answer, **shown(debate.result())}))
    if interrupted and debate.fold.revision == 0:
        print("rt-notebook: interrupted before anything was called", file=sys.stderr)
        return INTERRUPTED
    _say_after(found, store)
    return INTERRUPTED if interrupted else status_of(found)


def _say_before(asked: Asked, line: RunLine, debate: DebateRun, store: str | None) -> None:
    notes = [*asked.notes]
    for twin in session.interrupted_twins(debate.fold.spec, store)[:1]:
        go_on = typed_line(store)("resume", twin.id)
        notes.append(
            f"a debate of the same brief is {twin.status}: `{go_on}` "
            "goes on with it; this starts a new one"
        )
    if line.fake:
        notes.append("--fake: every seat and the chairman are scripted; no model is asked")
    for note in notes:
        print(f"rt-notebook: {one_line(note)}", file=sys.stderr)


def _say_after(found: Snapshot, store: str | None) -> None:
    if found.next_action.type == "resume":
        line = typed_line(store)("resume", found.id)
        text = f"the debate is {found.status}, what is finished is kept; `{line}` goes on"
        print(f"rt-notebook: {text}", file=sys.stderr)


def _interrupt_self() -> None:
    signal.raise_signal(signal.SIGINT)


def _listen_to_signals() -> None:
    """Let SIGTERM and SIGHUP do what Ctrl-C does; one that was set to be ignored stays so."""
    for name in ("SIGTERM", "SIGHUP"):
        number: Any = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler)
