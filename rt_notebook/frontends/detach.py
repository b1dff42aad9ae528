"""Runs a debate in a process of its own, which outlives whoever started it.

Owns the order to that process, its first word back, its log and its signals. What a debate is to
be stands in `agent_debate`; from the first event on, everything goes over the store.

    the caller                               the runner: python -m rt_notebook.frontends.detach
      start_detached -- order (stdin) -->      makes the run
                     <-- id or error (stdout)  once its first event is stored
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any, Final

from rt_notebook import session
from rt_notebook.domain.events import Event
from rt_notebook.domain.state import State
from rt_notebook.engine.runner import runner
from rt_notebook.errors import RoundtableError, StoreError, one_line
from rt_notebook.extending import Extending, extend_run
from rt_notebook.frontends.agent_debate import opening_of, spec_of
from rt_notebook.frontends.agent_errors import error_json, error_of
from rt_notebook.frontends.agent_schema import DebateInput, read_input
from rt_notebook.running import DebateRun
from rt_notebook.store import store_path

FIRST_WORD_S: Final = 60.0
"""Seconds in which a runner has to say that its debate is in the store."""

LOGS: Final = "logs"
"""The folder beside the store that keeps the runners' logs."""

_MODULE: Final = "rt_notebook.frontends.detach"
_TAIL: Final = 400

# Not `__name__`: in the runner that is `__main__`.
logger = logging.getLogger(_MODULE)


def start_detached(order: Mapping[str, Any], store: str | None) -> str:
    """Start a runner and return its debate's id, once that is in the store.

    Args:
        order: `do` (start, resume, verdict or extend) and what that needs, JSON-able.
        store: where the debate is kept; its log goes beside it.

    Raises:
        RoundtableError: what the runner says went wrong; nothing runs then.
    """
    log = _new_log(store)
    with log.open("ab") as errors:
        process = subprocess.Popen(  # noqa: S603 - this interpreter, no shell
            # -P: a module of the folder in which this is called is no module of ours.
            [sys.executable, "-P", "-m", _MODULE, str(log)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=_environment(),
            **_own_session(),
        )
    # Reaped whenever it ends, so that a caller that lives on leaves no zombie.
    threading.Thread(target=process.wait, name="roundtable-reaper", daemon=True).start()
    word = _first_word(process, json.dumps(order).encode())
    if "id" in word:
        return str(word["id"])
    with contextlib.suppress(OSError):
        log.unlink()
    raise error_of(word)


def log_of(debate: str, store: str | None) -> Path:
    """Return where the log of a debate's runner is, or would be."""
    return store_path(store).parent / LOGS / f"{debate}.log"


def _new_log(store: str | None) -> Path:
    folder = store_path(store).parent / LOGS
    try:
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        path = folder / f"starting-{os.getpid()}-{os.urandom(4).hex()}.log"
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as exc:
        raise StoreError(
            f"the runner's log can't be written in {folder}: {exc.strerror}; nothing was started"
        ) from None
    return path


def _own_session() -> dict[str, Any]:
    if sys.platform == "win32":
        return {"creationflags": subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


def _environment() -> dict[str, str]:
    # With -P the package has to be found wherever this process found it.
    home = str(Path(__file__).resolve().parents[2])
    paths = [home, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONUTF8": "1"}


def _first_word(process: subprocess.Popen[bytes], order: bytes) -> dict[str, Any]:
    lines: list[bytes] = []

    def talk() -> None:
        if process.stdin is None or process.stdout is None:
            return
        with contextlib.suppress(OSError), process.stdin as stdin:  # it may have died at once
            stdin.write(order)
        with process.stdout as stdout:
            lines.append(stdout.readline())

    thread = threading.Thread(target=talk, name="roundtable-start", daemon=True)
    thread.start()
    thread.join(FIRST_WORD_S)
    try:
        found = json.loads(lines[0])
    except (IndexError, ValueError, RecursionError):
        found = None
    if _is_word(found):
        return dict(found)
    process.kill()
    return {
        "kind": "run",
        "message": "the runner ended or hung before its debate began; nothing is running",
    }


def _is_word(found: object) -> bool:
    """Return whether a runner's first line is its own: another module's may have come before it."""
    return isinstance(found, dict) and isinstance(found.get("id", found.get("message")), str)


# ---- the runner's own process ------------------------------------------------------------------


def main(words: list[str]) -> int:
    """Run one debate as the order on stdin says; the first line on stdout is its id or an error."""
    log = Path(words[0])
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("rt_notebook").setLevel(logging.INFO)
    _listen_to_signals()
    order = json.loads(sys.stdin.buffer.read())
    try:
        run = _run_of(order)
    except RoundtableError as exc:
        _tell(error_json(exc))
        return 1
    except Exception as exc:  # an edge: whoever started this must hear of it
        logger.exception("the debate couldn't be made")
        _tell({"kind": "run", "message": one_line(f"{type(exc).__name__}: {exc}", _TAIL)})
        return 1
    return _drive(run, log)


def _run_of(order: Mapping[str, Any]) -> DebateRun:
    makers: dict[str, Callable[[Mapping[str, Any]], DebateRun]] = {
        "start": _start,
        "resume": _resume,
        "verdict": _verdict,
        "extend": _extend,
    }
    return makers[order["do"]](order)


def _start(order: Mapping[str, Any]) -> DebateRun:
    given = read_input(DebateInput, order["input"])
    opening = opening_of(given, attended=True, source=order["source"])
    return session.new_run(spec_of(given), opening)


def _resume(order: Mapping[str, Any]) -> DebateRun:
    limits = order.get("limits") or None
    return session.resume_run(order["id"], _opening(order), limits=limits)


def _verdict(order: Mapping[str, Any]) -> DebateRun:
    return session.verdict_run(order["id"], _opening(order))


def _extend(order: Mapping[str, Any]) -> DebateRun:
    return extend_run(order["id"], Extending(**order["extension"]), _opening(order))


def _opening(order: Mapping[str, Any]) -> session.Opening:
    return session.Opening(order["store"], attended=True, source=order["source"])


def _drive(run: DebateRun, log: Path) -> int:
    first = threading.Event()

    def heard(event: Event, state: State) -> None:
        if first.is_set():
            return
        first.set()
        logger.info("debate %s runs in process %d", run.id, os.getpid())
        with contextlib.suppress(OSError):  # where an open file can't be renamed
            log.rename(log.with_name(f"{run.id}.log"))
        _tell({"id": run.id})

    run.listeners.append(heard)
    try:
        runner().new_job(lambda job: run.main()).start().wait_blocking()
    except (KeyboardInterrupt, CancelledError):
        logger.info("debate %s is interrupted", run.id)
    except RoundtableError as exc:
        logger.error("debate %s ended: %s", run.id, exc)
        if not first.is_set():
            _tell(error_json(exc))
        return 1
    if not first.is_set():  # a replay of what the store has already
        _tell({"id": run.id})
    logger.info("debate %s is %s", run.id, run.fold.status)
    return 0


def _tell(word: Mapping[str, Any]) -> None:
    """Say the first and only word, and let go of the pipes; the caller may be gone already."""
    with contextlib.suppress(OSError):
        os.write(1, json.dumps(word).encode() + b"\n")
    with Path(os.devnull).open("r+b", buffering=0) as nothing:
        for number in (0, 1):
            os.dup2(nothing.fileno(), number)


def _listen_to_signals() -> None:
    """Let SIGTERM and SIGHUP do what Ctrl-C does: the debate stays, interrupted."""
    for name in ("SIGTERM", "SIGHUP", "SIGINT"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.default_int_handler)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
