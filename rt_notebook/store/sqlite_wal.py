"""What a write-ahead log's own files say about commits that SQLite won't read.

SQLite takes the first place of its log that it can't read for the log's end: what comes after it is
ignored, then written over. The forms are those of sqlite.org/walformat.html. Reads only; nobody may
have the database open.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

PAGE: Final = 4096
"""Bytes of a page of every store."""

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
        return _count(file, header) < index.frames


def unread_commits(path: Path, read: int) -> int:
    """Return how many commits a log holds behind the place where SQLite stops reading it.

    Args:
        path: the log.
        read: frames that SQLite has read.
    """
    with _opened(path) as file:
        header = file.read(_HEADER)
        count = _count(file, header)

        def head(frame: int) -> bytes:
            file.seek(_HEADER + (frame - 1) * (_FRAME + _page(header)))
            return file.read(_FRAME)

        # Frames of the log's earlier uses bear other salts; they are all in the database.
        salts = header[16:24] if _is_sound(header) else head(1)[8:16]
        found = (head(frame) for frame in range(read + 1, count + 1))
        # Only a commit's last frame says how large the database is after it.
        return sum(each[8:16] == salts and each[4:8] != bytes(4) for each in found)


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError:
        return io.BytesIO()


def pages_of(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield number and content of each page that a log holds, oldest first, sound or not.

    It ends with the log's last commit, wherever SQLite would stop reading it.
    """
    with _opened(path) as file:
        header = file.read(_HEADER)
        heads = []
        for frame in range(_count(file, header)):
            file.seek(_HEADER + frame * (_FRAME + PAGE))
            heads.append(file.read(_FRAME))
        salts = header[16:24] if _is_sound(header) else b"".join(heads[:1])[8:16]
        used = [frame for frame, head in enumerate(heads) if head[8:16] == salts]
        commits = [frame for frame in used if heads[frame][4:8] != bytes(4)]
        last = commits[-1] if commits else -1
        largest = max((int.from_bytes(heads[frame][4:8]) for frame in commits), default=0)
        for frame in used:
            number = int.from_bytes(heads[frame][:4])
            if frame <= last and 0 < number <= largest:
                file.seek(_HEADER + frame * (_FRAME + PAGE) + _FRAME)
                yield number, file.read(PAGE)


def _count(file: BinaryIO, header: bytes) -> int:
    size = file.seek(0, 2)
    return max(0, size - _HEADER) // (_FRAME + _page(header))


def _page(header: bytes) -> int:
    return int.from_bytes(header[8:12]) if _is_sound(header) else PAGE


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
