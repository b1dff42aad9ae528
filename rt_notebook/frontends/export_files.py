"""Puts a debate's files into a folder: whole or none, and never over a file of somebody else.

Owns numbers, names and the rule of ownership: a decision record is ours by its last line, the files
in the folder beside it by `export.json`, and both only while their checksums fit. How bytes get to
the disk stands in `whole_files`. Knows nothing of what the files say.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from rt_notebook.errors import UsageError
from rt_notebook.frontends.whole_files import Change, apply, failure, locked

MANIFEST: Final = "export.json"
_VERSION: Final = 1
_HIGHEST: Final = 99_999
# A date such as 2025-06-15 is no number.
_NUMBERED: Final = re.compile(r"([0-9]{4,5})-(?![0-9]{2}-[0-9]{2})")
_TABLE: Final = re.compile(r"tables/[a-z_]{1,40}\.(?:csv|parquet)")
_SIGNED: Final = re.compile(
    rb"\n\*Exported by rt\\_notebook from debate `([a-z0-9-]{1,64})`[^\n]*`([0-9a-f]{16})`\*\s*\Z"
)
_TAIL: Final = 4_096
_MANIFEST_LIMIT: Final = 1_000_000


class Home(NamedTuple):
    """Where a debate's files are or will be."""

    number: int
    """The decision record's number."""
    name: str
    """The record's file name without `.md`, and the name of the folder beside it."""


@dataclass
class _Plan:
    """What one export changes."""

    folder: Path
    debate: str
    home: Home
    known: Mapping[str, set[str]]
    """Checksums by name below the home's folder: what an export left there, or meant to."""
    changes: list[Change] = field(default_factory=list)

    @property
    def base(self) -> Path:
        return self.folder / self.home.name


def place_files(
    folder: Path,
    debate: str,
    slug: str,
    files: Mapping[str, bytes],
    record: Callable[[int, str], str],
) -> list[Path]:
    """Write a decision record and the files beside it, and return their paths, record first.

    Args:
        folder: absolute; made when it isn't there.
        debate: the debate's id.
        slug: what follows the number in the names of a debate that isn't there yet.
        files: contents by path below the folder beside the record.
        record: makes the decision record from its number and the name of the folder beside it.

    Raises:
        UsageError: a name is taken, or a file was changed since the last export.
        StoreError: the folder can't be written, or the disk is full.
    """
    with locked(folder):
        try:
            plan = _plan(folder, debate, slug)
            signed = sign(record(*plan.home), debate).encode("utf-8", "replace")
            _plan_changes(plan, files, signed)
        except OSError as exc:
            raise failure(exc, folder) from exc
        apply(folder, plan.changes)
    return [
        folder / f"{plan.home.name}.md",
        *(plan.base / name for name in files),
        plan.base / MANIFEST,
    ]


def sign(text: str, debate: str) -> str:
    """Return a decision record with the line by which the next export knows it as its own."""
    return (
        f"{text}\n*Exported by rt\\_notebook from debate `{debate}`. Changed by hand, it isn't "
        f"overwritten any more. Checksum: `{checksum(text.encode('utf-8', 'replace'))[:16]}`*\n"
    )


def checksum(content: bytes) -> str:
    """Return the SHA-256 of a file's content, without what checkouts and commit hooks change.

    That is: other line ends, white space at the ends of lines, and at the file's end.
    """
    if b"\0" in content:  # no text: every byte counts
        return hashlib.sha256(content).hexdigest()
    lines = content.replace(b"\r\n", b"\n").split(b"\n")
    return hashlib.sha256(b"\n".join(line.rstrip() for line in lines).rstrip()).hexdigest()


def _plan(folder: Path, debate: str, slug: str) -> _Plan:
    home = _find_home(folder, debate) or _next_home(folder, slug)
    base = folder / home.name
    _check_folder(base)
    _check_folder(base / "tables")
    return _Plan(folder, debate, home, _read_manifest(base).get(debate, {}))


def _plan_changes(plan: _Plan, files: Mapping[str, bytes], record: bytes) -> None:
    """Fill the plan's changes, in an order in which a killed export can be taken up again.

    The manifest comes first: it says whose the files beside it are. While files are overwritten it
    knows the older contents as well, until it is written once more at the end.
    """
    changes = [_change_below(plan, name, content) for name, content in files.items()]
    changes += [
        Change(plan.base / name, None, replaces=True)
        for name, known in plan.known.items()
        if name not in files
        and _TABLE.fullmatch(name)
        and (old := _read(plan.base / name)) is not None
        and checksum(old) in known
    ]
    changes.append(_change_of_record(plan, record))
    target = plan.base / MANIFEST
    there = os.path.lexists(target)
    if there and plan.debate not in _read_manifest(plan.base):
        raise _taken(target)
    # What is there already stays as it is, times included.
    changes = [change for change in changes if _read(change.target) != change.content]
    manifest = Change(target, _manifest(plan.debate, files), there)
    if not there:
        changes.insert(0, manifest)
    elif changes:
        both = _manifest(plan.debate, files, earlier=plan.known)
        changes = [Change(target, both, replaces=True), *changes, manifest]
    elif _read(target) != manifest.content:
        changes.append(manifest)
    plan.changes = changes


def _change_below(plan: _Plan, name: str, content: bytes) -> Change:
    target = plan.base / name
    there = os.path.lexists(target)
    if there:
        old = _read(target)
        if old is None or (name not in plan.known and old != content):
            raise _taken(target)
        if old != content and checksum(old) not in plan.known[name] | {checksum(content)}:
            raise _changed(target)
    return Change(target, content, there)


def _change_of_record(plan: _Plan, content: bytes) -> Change:
    target = plan.folder / f"{plan.home.name}.md"
    there = os.path.lexists(target)
    if there:
        old = _read(target)
        found = _SIGNED.search(old) if old is not None else None
        if old is None or found is None or found[1].decode() != plan.debate:
            raise _taken(target)
        if checksum(old[: found.start()])[:16] != found[2].decode():
            raise _changed(target)
    return Change(target, content, there)


def _find_home(folder: Path, debate: str) -> Home | None:
    """Return where an earlier export of the debate is: by its record, else by the folder beside."""
    entries = sorted(_numbered(folder))
    for number, entry in entries:
        if entry.name.endswith(".md") and _signed_for(Path(entry.path)) == debate:
            return Home(number, entry.name.removesuffix(".md"))
    for number, entry in entries:
        if entry.is_dir(follow_symlinks=False) and debate in _read_manifest(Path(entry.path)):
            return Home(number, entry.name)
    return None


def _next_home(folder: Path, slug: str) -> Home:
    number = max((number for number, _ in _numbered(folder)), default=0) + 1
    if number > _HIGHEST:
        raise UsageError(
            f"export: {folder} already holds a record numbered {_HIGHEST}; export to another folder"
        )
    return Home(number, f"{number:04d}-{slug}")


class _Entry(NamedTuple):
    """A folder's entry; by name, so that two of one number have an order."""

    number: int
    entry: os.DirEntry[str]

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, _Entry):
            return NotImplemented
        return (self.number, self.entry.name) < (other.number, other.entry.name)


def _numbered(folder: Path) -> Iterator[_Entry]:
    with os.scandir(folder) as entries:
        for entry in entries:
            found = _NUMBERED.match(entry.name)
            if found is not None:
                yield _Entry(int(found[1]), entry)


def _signed_for(path: Path) -> str | None:
    """Return the debate that a file's last line names; None for any other file."""
    tail = _read(path, last=_TAIL)
    found = _SIGNED.search(tail) if tail is not None else None
    return found[1].decode() if found is not None else None


def _manifest(
    debate: str, files: Mapping[str, bytes], earlier: Mapping[str, set[str]] | None = None
) -> bytes:
    data: dict[str, Any] = {
        "v": _VERSION,
        "debate": debate,
        "checksums": {name: checksum(content) for name, content in files.items()},
        "note": "Written by rt_notebook. A file that doesn't fit its checksum isn't overwritten.",
    }
    if earlier is not None:
        data["earlier"] = {name: sorted(sums) for name, sums in earlier.items()}
    return (json.dumps(data, indent=1, sort_keys=True) + "\n").encode()


def _read_manifest(base: Path) -> dict[str, dict[str, set[str]]]:
    """Return the checksums by file below the debate's id; empty where it is none of ours."""
    content = _read(base / MANIFEST, limit=_MANIFEST_LIMIT)
    try:
        data = json.loads(content) if content is not None else None
    except (ValueError, RecursionError):
        return {}
    if not isinstance(data, dict) or not isinstance(data.get("debate"), str):
        return {}
    sums, earlier = data.get("checksums"), data.get("earlier", {})
    if not isinstance(sums, dict) or not isinstance(earlier, dict):
        return {}
    found = {str(name): {str(value)} for name, value in sums.items()}
    for name, values in earlier.items():
        found.setdefault(str(name), set()).update(
            map(str, values) if isinstance(values, list) else ()
        )
    return {data["debate"]: found}


def _read(path: Path, *, last: int | None = None, limit: int | None = None) -> bytes | None:
    """Return a file's content; None for what is no plain file, a symbolic link included.

    Args:
        path: the file.
        last: only so many bytes of its end.
        limit: a file with more bytes counts as none.
    """
    try:
        found = os.lstat(path)
        if not stat.S_ISREG(found.st_mode) or (limit is not None and found.st_size > limit):
            return None
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        with os.fdopen(descriptor, "rb") as file:
            if last is not None and found.st_size > last:
                file.seek(-last, os.SEEK_END)
            return file.read()
    except OSError:  # gone, unreadable, or a link by now: none that we wrote
        return None


def _check_folder(path: Path) -> None:
    if os.path.lexists(path) and not stat.S_ISDIR(os.lstat(path).st_mode):
        raise _taken(path)


def _taken(path: Path) -> UsageError:
    return UsageError(
        f"export: {path} is there and wasn't written by an export of this debate; nothing was "
        "changed: move it away, or export to another folder",
        path=str(path),
    )


def _changed(path: Path) -> UsageError:
    return UsageError(
        f"export: {path} was changed since it was exported; nothing was changed: delete it to "
        "have it written anew, or export to another folder",
        path=str(path),
    )
