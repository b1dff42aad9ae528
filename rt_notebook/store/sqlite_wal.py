"""What a write-ahead log's own files say about commits that SQLite won't read.

SQLite takes the first place of its log that it can't read for the log's end: what comes after it is
ignored, then written over. Its own means don't tell: the checkpoint pragma counts frames only as it
carries them over. The forms are those of sqlite.org/walformat.html. Reads only; nobody may have the
database open.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

PAGE: Final = 4096
"""Bytes of a page of every store, whatever the library's own choice is."""

_HEADER: Final = 32
_FRAME: Final = 24
_MAGIC: Final = 0x377F0682
_NOT_CARRIED_OVER: Final = 96
_INDEX: Final = 100


class Index(NamedTuple):
    """How far a log goes, by its index in shared memory."""

    frames: int
    """Frames up to the last commit."""
    carried: int
    """Those of them that are in the database as well."""
    salts: bytes
    """What the log's frames bear, so that those of its earlier uses are known."""


def read_index(path: Path) -> Index | None:
    """Return what the index says, or None where there is none, or none that was finished.

    Args:
        path: the file in shared memory (`-shm`).
    """
    with _opened(path) as file:
        data = file.read(_INDEX)
    # Both copies of its head are written before it counts.
    if len(data) < _INDEX or not data[12] or data[:48] != data[48:96]:
        return None
    (frames,) = struct.unpack("=I", data[16:20])
    (carried,) = struct.unpack("=I", data[_NOT_CARRIED_OVER:_INDEX])
    return Index(frames, carried, data[32:40])


def is_cut(path: Path, index: Index | None) -> bool:
    """Return whether a log is shorter than it was when its last writer died, and something is lost.

    Args:
        path: the log, which may be gone altogether.
        index: as that writer left it.
    """
    if index is None or index.carried >= index.frames:
        return False
    with _opened(path) as file:
        header = file.read(_HEADER)
        if _is_sound(header) and header[16:24] != index.salts:
            return False  # the index of an earlier use
        return _count(file) < index.frames


def unread_commits(path: Path, read: int) -> int:
    """Return how many commits a log holds behind the place where SQLite stops reading it.

    Args:
        path: the log.
        read: frames that SQLite has read.
    """
    with _opened(path) as file:
        return sum(frame.size > 0 for frame in _frames(file) if frame.number > read)


def pages_of(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield number and content of each page that a log holds, oldest first, sound or not.

    It ends with the log's last commit, wherever SQLite would stop reading it.
    """
    with _opened(path) as file:
        frames = _frames(file)
        last = max((frame.number for frame in frames if frame.size), default=0)
        largest = max((frame.size for frame in frames), default=0)
        for frame in frames:
            if frame.number <= last and 0 < frame.page <= largest:
                file.seek(_place(frame.number) + _FRAME)
                yield frame.page, file.read(PAGE)


class _Frame(NamedTuple):
    number: int
    page: int
    size: int  # of the database after it, in pages; 0 but for a commit's last


def _frames(file: BinaryIO) -> list[_Frame]:
    """Return what a log holds of its present use, sound or not.

    Frames of its earlier uses bear other salts; they are all in the database.
    """
    header = file.read(_HEADER)
    salts = b""
    if _is_sound(header):
        if int.from_bytes(header[8:12]) != PAGE:
            return []  # no store of ours
        salts = header[16:24]
    found = []
    for number in range(1, _count(file) + 1):
        file.seek(_place(number))
        head = file.read(_FRAME)
        salts = salts or head[8:16]
        if head[8:16] == salts:
            found.append(_Frame(number, int.from_bytes(head[:4]), int.from_bytes(head[4:8])))
    return found


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError:
        return io.BytesIO()


def _count(file: BinaryIO) -> int:
    return max(0, file.seek(0, 2) - _HEADER) // (_FRAME + PAGE)


def _place(frame: int) -> int:
    return _HEADER + (frame - 1) * (_FRAME + PAGE)


def _is_sound(header: bytes) -> bool:
    """Return whether a log begins as one does, by its checksum."""
    if len(header) < _HEADER or int.from_bytes(header[:4]) & ~1 != _MAGIC:
        return False
    first = second = 0
    words = struct.unpack(f"{'>' if header[3] & 1 else '<'}6I", header[:24])
    for left, right in zip(words[::2], words[1::2], strict=True):
        first = (first + left + second) & 0xFFFFFFFF
        second = (second + right + first) & 0xFFFFFFFF
    return struct.unpack(">2I", header[24:32]) == (first, second)
