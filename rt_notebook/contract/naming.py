"""Which option or seat a text names; no guessing, so a tail or a word in prose names nothing.

Knows labels and names only, not where in a reply they stand. Ids are `opt-1` ... in the brief's
order.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from rt_notebook.domain.normal import LONGEST, normal_form
from rt_notebook.domain.reply import NO_PICK, OTHER

# NFKC makes one character out of up to four (a base with three marks).
_COMPOSED: Final = 4
_TAIL: Final = 16
_CLOSING: Final = {
    '"': '"', "'": "'", "`": "`", "*": "*", "“": "”", "‘": "’", "«": "»", "「": "」",
}  # fmt: skip
_FULL_STOPS: Final = ".;"
_ENDS: Final = frozenset((*_FULL_STOPS, ""))
_BETWEEN: Final = ":=(—–-"
_NO_PICKS: Final = frozenset({"none", "no pick"})
_TEMPLATE: Final = "<label>"
_NOBODY: Final = frozenset({"", "none", "empty", "n/a", "-"})
_AROUND_NAMES: Final = " ()[]*_`.\"'“”‘’«»「」"


class OptionNames:
    """The options of one brief, ready to be named; made once for each list of labels."""

    __slots__ = ("_by_id", "_depth", "_exact", "_limit", "ids", "raw")

    def __init__(self, labels: tuple[str, ...]) -> None:
        self.ids = tuple(f"opt-{number}" for number in range(1, len(labels) + 1))
        """`opt-1` ... in order."""
        keys = [normal_form(label) for label in labels]
        self._by_id = dict(zip(self.ids, keys, strict=True))
        # Later entries win: the first of two equal labels, and an id over any label.
        self._exact = dict(zip(reversed(keys), reversed(self.ids), strict=True))
        self._exact.pop("", None)
        self._exact |= {id_: id_ for id_ in self.ids}
        longest = max(
            (max(len(label), len(key)) for label, key in zip(labels, keys, strict=True)), default=0
        )
        self._limit = _COMPOSED * (longest + _TAIL)
        self._depth = max((_leading_quotes(key) for key in keys), default=0)
        self.raw = {label: self._exact[key] for label, key in zip(labels, keys, strict=True) if key}
        """Ids by text exactly as it stands in the brief: the first look, which mostly suffices."""
        self.raw |= {id_: id_ for id_ in self.ids}

    def option(self, text: str) -> str | None:
        """Return the id of the option that `text` names, or None."""
        return self.raw.get(text) or self._of_cores(self._cores(text))

    def stance(self, text: str) -> str | None:
        """Return an option's id, or `other: <label>` with the label as written, or None."""
        return self.option(text) or _other(text)

    def pick(self, text: str) -> str | None:
        """Return what a recommendation's first line names: an id, `none` for no pick, or None."""
        cores = self._cores(text)
        if any(normal_form(core) in _NO_PICKS for core in cores if len(core) <= _TAIL):
            return NO_PICK
        return self._of_cores(cores)

    def _cores(self, text: str) -> list[str]:
        """Return the layers of `text` that are short enough to name an option, outermost first."""
        text = " ".join(text.split())
        limit = self._limit
        if len(text) <= limit and text[:1] not in _CLOSING and text[-1:] not in _ENDS:
            return [text]
        start, end = _peeled(text, 0, len(text), limit)
        cores: list[str] = []
        while start < end:
            start, end = _trimmed(text, start, end)
            bare = _without_stops(text, start, end)
            if end - start <= limit:
                cores.append(text[start:end])
            if bare < end and bare - start <= limit:
                cores.append(text[start:bare])
            if bare - start < 2 or _CLOSING.get(text[start]) != text[bare - 1]:
                break
            start, end = start + 1, bare - 1
        return cores

    def _of_cores(self, cores: list[str]) -> str | None:
        # A layer that names a label has no more layers inside than the label has quotes in front.
        for core in cores[-2 * (self._depth + 1) :]:
            if found := self._named(core):
                return found
        return None

    def _named(self, core: str) -> str | None:
        key = normal_form(core)
        found = self._exact.get(key)
        if found or not key.startswith("opt-"):
            return found
        length = 4
        while key[length : length + 1].isdigit():
            length += 1
        label = self._by_id.get(key[:length])
        return key[:length] if label is not None and _follows(key[length:], label) else None


def _leading_quotes(key: str) -> int:
    count = 0
    for character in key:
        if character in _CLOSING:
            count += 1
        elif character != " ":
            break
    return count


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _without_stops(text: str, start: int, end: int) -> int:
    while end > start and text[end - 1] in _FULL_STOPS:
        end -= 1
    return _trimmed(text, start, end)[1]


def _peeled(text: str, start: int, end: int, size: int = 1) -> tuple[int, int]:
    """Return the bounds left when layers are peeled, as far as they can be, down to `size`."""
    while end - start > size:
        first, last = text[start], text[end - 1]
        if _CLOSING.get(first) == last:
            start, end = start + 1, end - 1
            continue
        if first == " " or last == " ":  # between every two layers of `* * *`
            start, end = start + (first == " "), end - (last == " ")
            continue
        low, high = _trimmed(text, start, end)
        bare = _without_stops(text, low, high)
        if bare - low < 2 or _CLOSING.get(text[low]) != text[bare - 1]:
            return low, high
        start, end = low + 1, bare - 1
    return start, end


def _follows(tail: str, label: str) -> bool:
    """Return whether what stands behind an id is nothing or its own label (in normal form)."""
    rest = tail.lstrip()
    if rest[:1] in _BETWEEN and rest:
        rest = rest[1:].lstrip()
    elif rest == tail:  # nothing parts id and label: `opt-1Ship`
        return tail in ("", ")")
    return rest in ("", label) or (rest[-1] == ")" and rest[:-1].rstrip() in ("", label))


def _other(text: str) -> str | None:
    """Return `other: <label>`, the label as written; quotes around the whole are peeled."""
    if ":" not in text and "：" not in text:
        return None
    start, end = _trimmed(text, *_peeled(text, 0, len(text)))
    head = text[start : min(end, start + _TAIL)].replace("：", ":", 1)
    colon = head.find(":")
    if colon < 0 or normal_form(head[:colon]) != OTHER[:-1]:
        return None
    label = text[start + colon + 1 : end].strip()
    if not label.strip(_FULL_STOPS) or label.rstrip(_FULL_STOPS).casefold() == _TEMPLATE:
        return None
    return f"{OTHER} {label}"


@lru_cache(maxsize=64)
def _names(labels: tuple[str, ...]) -> OptionNames:
    return OptionNames(labels)


def option_names(options: Sequence[str]) -> OptionNames:
    """Return the names of these labels, prepared once for each list of them."""
    return _names(tuple(options))


def match_option(text: str, options: Sequence[str]) -> str | None:
    """Return the id of the option that `text` names: by its id, its exact label, or both.

    Args:
        text: a few words; layers of quotes and trailing full stops don't matter.
        options: the labels, in the brief's order.

    Returns:
        `opt-N`, or None when nothing or something else is named.
    """
    return option_names(options).option(text)


def match_stance(text: str, options: Sequence[str]) -> str | None:
    """Return the stance key of a STANCE line's text.

    Args:
        text: what stands behind `STANCE:`.
        options: the labels, in the brief's order.

    Returns:
        `opt-N`, `other: <label>` with the label as written, or None when it names nothing.
    """
    return option_names(options).stance(text)


class Named(NamedTuple):
    """The seats that an AGREE_WITH names."""

    names: list[str]
    """Each once: known seats in their own spelling, unknown names as written."""
    unknown: bool
    """True when a name belongs to no seat."""
    own: bool
    """True when the seat named itself; that name is left out."""


class SeatNames:
    """The seats of one debate, found without regard to case."""

    __slots__ = ("_known",)

    def __init__(self, seats: tuple[str, ...]) -> None:
        # An anonymous `Seat B` answers to its letter too, unless a seat has that name.
        known = {
            name[5:].casefold(): name for name in seats if name[:5] == "Seat " and len(name) == 6
        }
        known |= {normal_form(name): name for name in seats}
        self._known = known | {name.casefold(): name for name in seats}

    def read(self, entries: Sequence[str], own: str | None) -> Named:
        """Return the seats that `entries` name, without `own`."""
        names: dict[str, str] = {}
        unknown = met_own = False
        own_key = None if own is None else own.casefold()
        for entry in entries:
            name = self._find(entry)
            shown = entry if name is None else name
            if name is None and _says_nobody(entry):
                continue
            key = shown.casefold()
            if key == own_key:
                met_own = True
                continue
            unknown = unknown or (name is None and bool(self._known))
            names.setdefault(key, shown)
        return Named(list(names.values()), unknown, met_own)

    def _find(self, entry: str) -> str | None:
        if not self._known:
            return None
        found = self._known.get(entry.casefold())
        if found is not None:
            return found
        bare = entry.strip(_AROUND_NAMES)
        for shown in (entry,) if bare == entry else (entry, bare):
            if len(shown) <= LONGEST and (found := self._known.get(normal_form(shown))):
                break
        return found


def _says_nobody(entry: str) -> bool:
    return len(entry) <= _TAIL and entry.strip(_AROUND_NAMES).casefold() in _NOBODY


@lru_cache(maxsize=64)
def seat_names(seats: tuple[str, ...]) -> SeatNames:
    """Return the names of these seats, prepared once for each list of them."""
    return SeatNames(seats)
