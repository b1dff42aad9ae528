"""The rows that stand on the pages of a database, whatever leads to them.

For what SQLite can't reach because a page between is damaged. Its own means don't serve: `.recover`
needs a virtual table (`sqlite_dbpage`) that neither the usual libraries nor Python's module have, a
backup copies the damage, and `VACUUM INTO` ends at the first page that can't be read. The forms are
those of sqlite.org/fileformat2.html (1.6 and 2.1). Pages that a deletion has freed may still hold
their rows, so whoever asks has to know which ones count.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

from rt_notebook.store.sqlite_wal import PAGE

_LEAF: Final = 0x0D
_FILE_HEADER: Final = 100
# How much of a long row stands on its leaf: 2.1's X and M.
_ALL: Final = PAGE - 35
_LEAST: Final = (PAGE - 12) * 32 // 255 - 23
_SIZES: Final = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}


class LooseRow(NamedTuple):
    """A row, of whatever table."""

    number: int
    """Its rowid."""
    values: list[Any]
    """Its columns, as they are stored."""


def loose_rows(path: Path) -> Iterator[LooseRow]:
    """Yield the rows of all tables that can be read from their own pages."""
    with path.open("rb") as file:
        number = 0
        while page := file.read(PAGE):
            number += 1
            place = file.tell()
            yield from _rows_on(file, page, _FILE_HEADER if number == 1 else 0)
            file.seek(place)


def _rows_on(file: BinaryIO, page: bytes, start: int) -> Iterator[LooseRow]:
    if len(page) < PAGE or page[start] != _LEAF:
        return
    (count,) = struct.unpack_from(">H", page, start + 3)
    for cell in range(min(count, PAGE // 4)):
        try:
            (place,) = struct.unpack_from(">H", page, start + 8 + 2 * cell)
            yield _row_at(file, page, place)
        except (IndexError, ValueError, struct.error, UnicodeDecodeError):
            continue  # what stands there is no row


def _row_at(file: BinaryIO, page: bytes, place: int) -> LooseRow:
    size, place = _varint(page, place)
    number, place = _varint(page, place)
    if size <= _ALL:
        data = page[place : place + size]
    else:
        kept = _LEAST + (size - _LEAST) % (PAGE - 4)
        kept = kept if kept <= _ALL else _LEAST
        (following,) = struct.unpack_from(">I", page, place + kept)
        data = page[place : place + kept] + _rest(file, following, size - kept)
    return LooseRow(number, _values(data))


def _rest(file: BinaryIO, number: int, size: int) -> bytes:
    """Return what stands on the pages behind a leaf's."""
    if size > os.fstat(file.fileno()).st_size:
        raise ValueError("the row is longer than the file")
    parts: list[bytes] = []
    # Every page takes the end nearer, also where they lead in a circle.
    while size > 0:
        page = b""
        if number > 0:
            file.seek((number - 1) * PAGE)
            page = file.read(PAGE)
        if len(page) < PAGE:
            raise ValueError("the row is cut off")
        (number,) = struct.unpack_from(">I", page)
        parts.append(page[4 : 4 + min(size, PAGE - 4)])
        size -= len(parts[-1])
    return b"".join(parts)


def _values(data: bytes) -> list[Any]:
    size, place = _varint(data, 0)
    kinds: list[int] = []
    while place < size:
        kind, place = _varint(data, place)
        kinds.append(kind)
    found: list[Any] = []
    for kind in kinds:
        width = _SIZES.get(kind, 8 if kind == 7 else (kind - 12) // 2 if kind >= 12 else 0)
        part = data[place : place + width]
        if len(part) < width:
            raise ValueError("the row is cut off")
        place += width
        found.append(_value(kind, part))
    return found


def _value(kind: int, part: bytes) -> Any:
    if kind in _SIZES:
        return int.from_bytes(part, signed=True)
    if kind in (8, 9):
        return kind - 8
    if kind == 7:
        return struct.unpack(">d", part)[0]
    if kind >= 13 and kind % 2:
        return part.decode("utf-8")
    return part if kind >= 12 else None


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = 0
    for step in range(8):
        byte = data[place + step]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, place + step + 1
    return value << 8 | data[place + 8], place + 9
