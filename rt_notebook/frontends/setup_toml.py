"""Changes one table of a TOML file, and leaves every other byte as it is.

Reads and writes no file.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any


def parse(text: str) -> dict[str, Any]:
    """Return what a TOML text says.

    Raises:
        ValueError: it is no TOML.
    """
    return tomllib.loads(text.removeprefix("\ufeff"))


def with_table(text: str, path: Sequence[str], value: Mapping[str, Any]) -> str:
    """Return `text` with a table set; it is put at the end where it isn't there yet."""
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = [f"[{'.'.join(_key(part) for part in path)}]"]
    lines += [
        f"{_key(key)} = {json.dumps(item, ensure_ascii=False)}" for key, item in value.items()
    ]
    block = newline.join(lines) + newline
    span = _span(text, path)
    if span is not None:
        return text[: span[0]] + block + text[span[1] :]
    if text and not text.endswith("\n"):
        text += newline
    return text + (newline if text.strip() else "") + block


def without_table(text: str, path: Sequence[str]) -> str:
    """Return `text` without a table and its subtables; the same text where it isn't there."""
    while True:
        span = _span(text, path) or _span(text, path, below=True)
        if span is None:
            return text
        before, after = text[: span[0]], text[span[1] :]
        if before.endswith(("\n\n", "\n\r\n")) and not after.lstrip("\r\n"):
            before = before.rstrip("\r\n") + ("\r\n" if "\r\n" in text else "\n")
        text = before + after.lstrip("\r\n") if not before else before + after


def _span(text: str, path: Sequence[str], *, below: bool = False) -> tuple[int, int] | None:
    """Return where a table begins and where its last own line ends."""
    start = end = -1
    place = 0
    for line in text.splitlines(keepends=True):
        header = _header(line)
        if header is not None and start >= 0:
            break
        if header is not None and (
            header[: len(path)] == tuple(path) if below else header == tuple(path)
        ):
            start = place
        place += len(line)
        stripped = line.strip()
        if start >= 0 and stripped and not stripped.startswith("#"):
            end = place
    return (start, end) if start >= 0 else None


def _header(line: str) -> tuple[str, ...] | None:
    text = line.removeprefix("\ufeff").strip()
    if not text.startswith("["):
        return None
    try:
        found: Any = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None
    path: list[str] = []
    while isinstance(found, (dict, list)) and found:
        if isinstance(found, list):
            found = found[0]
            continue
        key = next(iter(found))
        path.append(key)
        found = found[key]
    return tuple(path)


def _key(part: str) -> str:
    bare = part.replace("-", "").replace("_", "")
    return part if bare.isascii() and bare.isalnum() else json.dumps(part, ensure_ascii=False)
