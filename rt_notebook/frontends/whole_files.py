"""Changes several files of a folder together: all of them, or none.

New contents are written beside their targets, fsynced, then renamed; what they replace is kept
until all are in place. Knows nothing of what the files are.
"""

from __future__ import annotations

import errno
import logging
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

from rt_notebook.errors import OptionError, StoreError

if sys.platform != "win32":
    import fcntl

logger = logging.getLogger(__name__)

WAIT_S: Final = 10.0
"""Seconds to wait for another export into the same folder."""
_POLL_S: Final = 0.02
_STAGING: Final = ".rt-export-"
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_FORBIDDEN: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
# What file systems without hard links say.
_NO_LINKS: Final = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS,
                              errno.EMLINK, errno.EINVAL})  # fmt: skip


class Change(NamedTuple):
    """One file's change."""

    target: Path
    """The file."""
    content: bytes | None
    """What it holds afterwards; None: it goes."""
    replaces: bool
    """True when it was there; False: should it be there by now, it is somebody else's."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Make a folder where it is missing, and keep other exports out of it.

    A folder that was made goes again when the block fails. The lock is the kernel's, so a killed
    process leaves none; what it left half-written is removed here.

    Raises:
        OptionError: the path isn't a folder.
        StoreError: it can't be made, or another export is at work for too long.
    """
    made: list[Path] = []
    try:
        _make_folders(folder, made)
        with _lock(folder) as alone:
            if alone:
                _remove_leftovers(folder)
            yield
    except BaseException:
        _remove_empty(made)
        raise


def apply(folder: Path, changes: Sequence[Change]) -> None:
    """Carry out all changes, or none.

    Args:
        folder: where new contents are written first; on one file system with all targets.
        changes: in the order in which the files are swapped.

    Raises:
        StoreError: one of them failed; everything is as it was.
    """
    if not changes:
        return
    try:
        staging = Path(tempfile.mkdtemp(prefix=_STAGING, dir=folder))
    except OSError as exc:
        raise failure(exc, folder) from exc
    try:
        for place, change in enumerate(changes):
            with _naming(change.target):
                _stage(staging, place, change)
        _swap_all(staging, changes)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    for parent in {change.target.parent for change in changes} | {folder}:
        _sync_folder(parent)


def failure(exc: OSError, path: Path) -> StoreError:
    """Return the one line about a file that couldn't be written, and the way out."""
    if exc.errno in _FULL:
        why = f"no room is left ({exc.strerror})"
        way_out = "make room, or export to another folder"
    elif exc.errno in _FORBIDDEN:
        why = f"writing there isn't allowed ({exc.strerror})"
        way_out = "change the rights, or export to another folder"
    elif exc.errno == errno.EEXIST:
        why, way_out = "somebody made it in the meantime", "export again"
    else:
        why, way_out = exc.strerror or type(exc).__name__, "export to another folder"
    return StoreError(
        f"export: {path} can't be written: {why}; nothing was changed: {way_out}", path=str(path)
    )


def _stage(staging: Path, place: int, change: Change) -> None:
    # A copy of what is replaced is made before anything is: putting it back needs no room then.
    if change.replaces:
        shutil.copy2(change.target, staging / f"{place}.old", follow_symlinks=False)
    if change.content is None:
        return
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    # As for any file of a code base, the process's umask says who may read it.
    descriptor = os.open(staging / f"{place}.new", flags, 0o666)
    with os.fdopen(descriptor, "wb") as file:
        file.write(change.content)
        file.flush()
        os.fsync(file.fileno())


def _swap_all(staging: Path, changes: Sequence[Change]) -> None:
    made: list[Path] = []
    done: list[tuple[Path, Path | None]] = []
    try:
        for place, change in enumerate(changes):
            with _naming(change.target):
                _make_folders(change.target.parent, made)
                if change.replaces:
                    # Noted first, so that no interrupt falls in between; putting it back twice is
                    # harmless. A new file is noted last: until then it may be somebody else's.
                    done.append((change.target, staging / f"{place}.old"))
                _swap(staging / f"{place}.new", change)
                if not change.replaces:
                    done.append((change.target, None))
    except BaseException:
        for target, old in reversed(done):
            _put_back(target, old)
        _remove_empty(made)
        raise


def _swap(new: Path, change: Change) -> None:
    if change.content is None:
        change.target.unlink(missing_ok=True)
    elif change.replaces:
        os.replace(new, change.target)
    else:
        _create(new, change.target)


def _create(new: Path, target: Path) -> None:
    """Move a file to a name that must be free: a link fails on a taken one, a rename doesn't."""
    try:
        os.link(new, target)
    except OSError as exc:
        if exc.errno not in _NO_LINKS:
            raise
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target) from None
        os.rename(new, target)


def _put_back(target: Path, old: Path | None) -> None:
    try:
        if old is not None:
            os.replace(old, target)
        else:
            target.unlink(missing_ok=True)
    except OSError:
        logger.warning("an export that failed could not put back %s", target, exc_info=True)


@contextmanager
def _naming(target: Path) -> Iterator[None]:
    """Turn a fault of the file system into the line that names the file that was to be written."""
    try:
        yield
    except OSError as exc:
        raise failure(exc, target) from exc


def _make_folders(folder: Path, made: list[Path]) -> None:
    """Make a folder and its missing parents, and note which."""
    missing = []
    path = folder
    while not os.path.lexists(path):
        missing.append(path)
        path = path.parent
    if not path.is_dir():
        raise OptionError(
            f"export: {path} is no folder; name a folder, such as docs/adr", option="path"
        )
    for path in reversed(missing):
        with _naming(path):
            try:
                path.mkdir()
            except FileExistsError:  # another export made it just now
                continue
            made.append(path)


def _remove_empty(made: Sequence[Path]) -> None:
    for path in reversed(made):
        with suppress(OSError):  # somebody has put something there
            path.rmdir()


@contextmanager
def _lock(folder: Path) -> Iterator[bool]:
    """Hold the folder's lock; yields False where the file system or the platform has none."""
    # Without one, no file is ever overwritten either; but two new records may share a number.
    if sys.platform == "win32":
        yield False
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError as exc:
        raise failure(exc, folder) from exc
    try:
        yield _wait_for(descriptor, folder)
    finally:
        os.close(descriptor)


def _wait_for(descriptor: int, folder: Path) -> bool:
    until = time.monotonic() + WAIT_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                raise StoreError(
                    f"export: another export has been writing into {folder} for {WAIT_S:.0f} s; "
                    "nothing was changed: try again later",
                    path=str(folder),
                ) from None
            time.sleep(_POLL_S)
        except OSError:  # network mounts without locks
            return False
        else:
            return True


def _remove_leftovers(folder: Path) -> None:
    """Remove what killed exports had begun; nobody else can be at work while the lock is held."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(_STAGING) and entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, ignore_errors=True)


def _sync_folder(folder: Path) -> None:
    # Some file systems can't sync a folder; the files themselves are safe by then.
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
