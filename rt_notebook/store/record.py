"""Records as files: a debate's events next to its notebook, made to be committed.

Owns how a file is written whole or not at all, and what never gets into one: keys, absolute paths,
hosts, servers. The form of a line stands in `contract.record`; which call is answered from where is
not known here.
"""

from __future__ import annotations

import json
import os
import re
import socket
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from rt_notebook.contract.call_about import portable_model
from rt_notebook.contract.record import Record, in_seat_order, lines_of, portable_spec, read_record
from rt_notebook.domain.events import Event, encode_body
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.errors import OptionError, StoreError, one_line
from rt_notebook.providers.redaction import HIDDEN, redact
from rt_notebook.store.paths import path_text

SUFFIX: Final = ".jsonl"
"""What tells a record's path from a debate's id."""

PATH: Final = "[path]"
HOST: Final = "[host]"
_SHORTEST: Final = 8
_SECRET_NAME: Final = re.compile(
    r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|CREDENTIALS?)$", re.IGNORECASE
)
_URL_HOST: Final = re.compile(
    r"(?i)\b([a-z][a-z0-9+.\-]{1,15}://)(?:[^\s/@]{1,200}@)?[^\s/:?#'\"<>)]+"
)
# An absolute path of two parts or more; one alone (`/help`) may be a command.
_POSIX_PATH: Final = re.compile(r"(?<![\w.:/~\]])~?/(?:[\w.@+~%\-]+/)+[\w.@+~%\-]*")
_WINDOWS_PATH: Final = re.compile(
    r"(?<![\w/\\])(?:[A-Za-z]:[\\/]|\\\\[\w.\-]+\\)(?:[\w.@+~%\-]+[\\/])*[\w.@+~%\-]*"
)
_LABEL: Final = r"[A-Za-z0-9](?:[A-Za-z0-9\-]{0,61}[A-Za-z0-9])?"
_ADDRESS: Final = re.compile(
    r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?(?![\w.])"
    r"|\[[0-9A-Fa-f:]{2,39}\](?::\d{1,5})?"
    rf"|(?<![\w.@\-])(?:{_LABEL}\.)*(?=[\w\-]*[A-Za-z]){_LABEL}:\d{{4,5}}(?![\w.])"
    rf"|(?<![\w.@/\-])(?:{_LABEL}\.){{1,8}}"
    r"(?:com|net|org|io|ai|dev|cloud|local|lan|internal|corp|test|invalid|example)(?![\w\-])"
    r"|\blocalhost\b"
)
_FILE_URL: Final = re.compile(r"(?i)\bfile://[^\s'\"<>)]*")
# The words of events that come from errors; what seats and people say is left as they said it.
_ERROR_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "call_failed": ("message", "partial"),
    "research_failed": ("message",),
    "verdict_failed": ("message",),
    "interrupted": ("why",),
}


def is_record(name: object) -> bool:
    """Return whether what names a debate is a record's path: it ends in `.jsonl`, or is a Path."""
    return isinstance(name, os.PathLike) or (isinstance(name, str) and name.endswith(SUFFIX))


def record_path(given: str | os.PathLike[str]) -> Path:
    """Return a record's absolute path.

    Raises:
        OptionError: it can't be one.
    """
    text = path_text("record", given)
    if not text.strip() or "\0" in text:
        raise OptionError(
            f"record={one_line(text, 80)!r} is no file's path; name one, such as "
            "record='reviews/payments.jsonl'",
            option="record",
        )
    path = Path(os.path.abspath(os.path.expanduser(text)))
    try:
        os.fsencode(path)
        wrong = _wrong_with(path)
    except (OSError, ValueError) as exc:  # too long, or no characters of a file's name
        why = getattr(exc, "strerror", None) or "no file can have that name"
        wrong = f"can't be a file: {why}; name another"
    if wrong:
        raise OptionError(f"record={one_line(text, 80)!r} {wrong}", option="record")
    return path


def _wrong_with(path: Path) -> str:
    """Return why a record can't be at a path; empty: it can."""
    if path.is_dir():
        return "is a folder; name a file in it"
    # Who made the link would say where a new file is written, and a link comes with a clone.
    if path.is_symlink() and not path.exists():
        return "is a link to a file that isn't there; make that file, or name another"
    return ""


def load_record(path: Path, name: str) -> Record:
    """Return the record in a file.

    Args:
        path: the file.
        name: what it is called in messages.

    Raises:
        StoreError: it isn't there, can't be read, or is no sound record.
    """
    try:
        text = path.read_bytes().decode("utf-8")
    except (FileNotFoundError, NotADirectoryError) as exc:
        raise StoreError(f"record {name!r} isn't there", path=name, fault="missing") from exc
    except OSError as exc:
        raise StoreError(f"record {name!r} can't be read: {exc.strerror}", path=name) from exc
    except UnicodeDecodeError as exc:
        raise StoreError(
            f"record {name!r} is no UTF-8 text (byte {exc.start})", path=name, fault="damaged"
        ) from exc
    return read_record(text, name)


def save_record(path: Path, text: str) -> None:
    """Write a record: whole, or not at all, whatever happens meanwhile.

    Args:
        path: the file; its folder is made where it is missing.
        text: the lines of events that `recorded` or `public` made.

    Raises:
        OSError: it can't be written; what was there stays.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path = Path(os.path.realpath(path))  # a link stays one; what it points to is replaced
    handle, name = tempfile.mkstemp(prefix=f".{path.name[:100]}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8", "replace"))
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, _rights(path))
        os.replace(name, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
    _sync_folder(path.parent)


def check_writable(path: Path, name: str) -> None:
    """Check, before any call, that a record can be written.

    Raises:
        StoreError: it can't.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, probe = tempfile.mkstemp(prefix=".rt-record-", dir=path.parent)
        os.close(handle)
        os.unlink(probe)
    except OSError as exc:
        raise StoreError(
            f"record {name!r} can't be written: {exc.strerror}; nothing was called", path=name
        ) from exc


def recorded(events: Sequence[Event], spec: DebateSpec) -> list[Event]:
    """Return a log's events as a record has them: in seat order, and without what is private.

    Args:
        events: the log, from its first event.
        spec: the debate's definition.
    """
    return public(in_seat_order(events, spec))


def public(events: Iterable[Event]) -> list[Event]:
    """Return events, as they will be read back, without what is private."""
    secrets = known_secrets()
    return [_public(event, secrets) for event in events]


def record_text(events: Sequence[Event], spec: DebateSpec) -> str:
    """Return a log as a record's text."""
    return lines_of(recorded(events, spec))


def known_secrets() -> list[str]:
    """Return the values of the environment's variables that are named like keys and passwords."""
    return [
        value
        for name, value in os.environ.items()
        if _SECRET_NAME.search(name) and len(value) >= _SHORTEST and not value.isspace()
    ]


def public_error(text: str, secrets: Iterable[str] = ()) -> str:
    """Return an error's words without keys, absolute paths, addresses and host names."""
    text = _FILE_URL.sub(PATH, redact(text, secrets))
    for folder in _own_folders():
        text = re.sub(rf"{re.escape(folder)}(?:[/\\\\][^\s'\"<>:,;)]*)?", lambda found: PATH, text)
    text = _URL_HOST.sub(rf"\g<1>{HOST}", text)
    text = _WINDOWS_PATH.sub(PATH, text)
    text = _POSIX_PATH.sub(PATH, text)
    host = socket.gethostname()
    if len(host) > 2:
        text = re.sub(rf"(?<![\w\-]){re.escape(host)}(?![\w\-])", HOST, text, flags=re.IGNORECASE)
    return _ADDRESS.sub(HOST, text)


def _own_folders() -> list[str]:
    """Return the folders whose names say who works here, the longest first."""
    found = {os.path.expanduser("~"), tempfile.gettempdir()}
    with suppress(OSError):
        found.add(os.getcwd())
    return sorted((path for path in found if len(path) > 4), key=len, reverse=True)


def _public(event: Event, secrets: Sequence[str]) -> Event:
    # As it will be read back, so that what is in memory and what is in the file are one.
    body = json.loads(encode_body(event.body))
    if event.kind == "created":
        return event._replace(body={**body, "spec": _public_spec(body["spec"])})
    words = _ERROR_WORDS.get(event.kind, ())
    changed = {
        name: public_error(body[name], secrets) for name in words if isinstance(body.get(name), str)
    }
    changed |= _rounded(body)
    if "model" in body and event.kind == "call_started":
        changed["model"] = portable_model(str(body["model"]))
    body = {**body, **changed} if changed else body
    if secrets:
        body = _hidden(body, lambda text: _without(text, secrets))
    return event._replace(body=body)


def _public_spec(spec: dict[str, Any]) -> dict[str, Any]:
    def named(seat: Any) -> Any:
        if not isinstance(seat, dict) or not isinstance(seat.get("model"), str):
            return seat
        return {**seat, "model": portable_model(seat["model"])}

    spec = portable_spec(spec)
    closers: dict[str, Any] = {
        name: named(spec[name]) for name in ("chairman", "observer") if name in spec
    }
    return {**spec, **closers, "seats": [named(seat) for seat in spec.get("seats", ())]}


def _rounded(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the durations of a body in whole milliseconds."""
    found: dict[str, Any] = {}
    timings = body.get("timings")
    if isinstance(timings, Mapping):
        found["timings"] = {name: _ms(seconds) for name, seconds in timings.items()}
    if isinstance(body.get("retry_in_s"), float):
        found["retry_in_s"] = _ms(body["retry_in_s"])
    return found


def _ms(seconds: Any) -> Any:
    return round(seconds, 3) if isinstance(seconds, float) else seconds


def _hidden(value: Any, hide: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, Mapping):
        return {name: _hidden(inner, hide) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_hidden(inner, hide) for inner in value]
    return value


def _without(text: str, secrets: Iterable[str]) -> str:
    for secret in secrets:
        if secret in text:
            text = text.replace(secret, HIDDEN)
    return text


def _rights(path: Path) -> int:
    """Return the rights of a new file, or of the one that is replaced."""
    try:
        return path.stat().st_mode & 0o777
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def _sync_folder(folder: Path) -> None:
    # Where a folder can't be opened (Windows), the rename is durable by itself.
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
