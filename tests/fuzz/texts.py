"""Texts and bytes that break readers: what grammars are made of, glued together and cut apart."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from hypothesis import strategies as st

from tests.contract.test_properties import PIECES
from tests.rendering.hostile import HTML, MARKDOWN

EXTRA: Final = (
    "\x00", "\x0b", "\x0c", "\x1c", "\x85", "\u2029", "\u202e", "\U000e0041", "\U0010ffff", "\x7f",
    "0" * 5_000, "9" * 5_000,
    "9" * 400, "1e999", "-0", "NaN", "Infinity", "٣", "²", "①", "True", "null",
    "{{", "}}", "{x}", "{x:", "%s", "$x", "\\", "\\\n", "''", '"""', "--", "---", "––", "=", "|",
    "[[", "]]", "../", "~", "file:///", "a" * 300,
)  # fmt: skip
"""More of what breaks readers: controls, numbers at their edges, other languages' syntax."""

fragments = st.lists(
    st.one_of(
        st.sampled_from(PIECES),
        st.sampled_from(PIECES),
        st.sampled_from((*HTML[:12], *MARKDOWN[:6])),
        st.sampled_from(EXTRA),
        st.text(st.characters(codec=None), max_size=8),
    ),
    max_size=24,
).map("".join)
"""Texts of grammar, noise and hostile pieces, lone surrogates included."""

lines = st.lists(fragments, max_size=6).map("\n".join)


def glued(*pieces: str, most: int = 24) -> st.SearchStrategy[str]:
    """Return texts glued from these pieces and from noise."""
    return st.lists(
        st.one_of(st.sampled_from(pieces), st.sampled_from(pieces), st.sampled_from(EXTRA),
                  st.text(st.characters(codec=None), max_size=5)),
        max_size=most,
    ).map("".join)  # fmt: skip


@st.composite
def mutated(draw: st.DrawFn, wholes: Sequence[bytes], most: int = 6) -> bytes:
    """Return one of these bytes after some edits: cut, doubled, swapped, overwritten."""
    data = draw(st.sampled_from(wholes))
    for _ in range(draw(st.integers(0, most))):
        place = draw(st.integers(0, len(data)))
        size = draw(st.sampled_from((0, 1, 1, 2, 7, 60, 4_000)))
        what = draw(st.sampled_from(("cut", "double", "put", "end", "flip", "line")))
        if what == "cut":
            data = data[:place] + data[place + size :]
        elif what == "double":
            data = data[: place + size] + data[place:]
        elif what == "put":
            data = data[:place] + draw(noise) + data[place + size :]
        elif what == "end":
            data = data[:place]
        elif what == "flip" and data:
            place = min(place, len(data) - 1)
            data = data[:place] + bytes([draw(st.integers(0, 255))]) + data[place + 1 :]
        elif what == "line":
            rows = data.split(b"\n")
            here, there = (draw(st.integers(0, len(rows) - 1)) for _ in range(2))
            rows[here], rows[there] = rows[there], rows[here]
            data = b"\n".join(rows)
    return data


noise = st.one_of(
    st.binary(max_size=12),
    st.sampled_from((
        b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\r\n", b"\n", b"\x00", b'"', b"{", b"}", b"[",
        b"null", b"-1", b"1e400", b"9" * 5_000, b"9" * 400,
        b"NaN", b"\\ud800", b"true", b"[" * 3_000, b'{"":',
    )),
    st.sampled_from(EXTRA).map(lambda text: text.encode("utf-8", "surrogatepass")),
)  # fmt: skip

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from(
        (0, 1, -1, 3, 10**12, 10**30, 10**400, 0.5, -0.0, 1e308, float("nan"), float("inf"))
    ),
    st.sampled_from(("", "opt-1", "none", "a\ud800", "x" * 9_000, "\x1b[2J", "/", "../x", "1")),
    fragments,
)
values: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner,
                                                                max_size=3),
    max_leaves=5,
)  # fmt: skip
"""Any JSON value, and the numbers that aren't JSON."""


@st.composite
def edited(draw: st.DrawFn, whole: Any, most: int = 4) -> Any:
    """Return a JSON value after some edits anywhere in it: replaced, removed, added, moved."""
    data = json.loads(json.dumps(whole))
    for _ in range(draw(st.integers(0, most))):
        holder, key = _somewhere(draw, data)
        if holder is None:
            data = draw(values)
            continue
        what = draw(st.sampled_from(("replace", "replace", "remove", "add", "nest")))
        if what == "remove":
            del holder[key]
        elif what == "nest":
            holder[key] = draw(st.sampled_from(([holder[key]], {"x": holder[key]})))
        elif what == "add" and isinstance(holder, dict):
            holder[draw(st.text(max_size=6))] = draw(values)
        else:
            holder[key] = draw(values)
    return data


def _somewhere(draw: st.DrawFn, data: Any) -> tuple[Any, Any]:
    holder: Any = None
    key: Any = None
    while isinstance(data, dict | list) and data:
        if holder is not None and draw(st.integers(0, 3)) == 0:
            break
        holder = data
        keys: list[Any] = list(data) if isinstance(data, dict) else list(range(len(data)))
        key = draw(st.sampled_from(keys))
        data = data[key]
    return holder, key
