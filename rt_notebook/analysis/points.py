"""The points that seats made, one bullet each, and which of them say nearly the same.

Owns what "nearly the same" means; compares letters, so it knows nothing of meaning: a `not` more
or less stays in the group.
"""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain, repeat
from typing import Final

from rt_notebook.analysis.tables import Columns, Row
from rt_notebook.contract.text import without_empty
from rt_notebook.domain.reply import Reply
from rt_notebook.domain.state import State

THRESHOLD: Final = 0.5
"""Jaccard index of two points' features from which on they are nearly the same."""

POINTS: Final[Columns] = {
    "round": "int",
    "seat": "text",
    "kind": "text",
    "text": "text",
    "group": "int",
}
"""One row per bullet of a reply."""

_READ: Final = 2_000
_STEM: Final = 6
_stem: Final = operator.itemgetter(slice(_STEM))
# What bounds the work per point, whatever the points hold.
_FEATURES: Final = 64
_POSTINGS: Final = 32
_COMPARED: Final = 8
# Texts whose features are kept: repeats of a debate have many in common.
_KEPT: Final = 1_024
# Scripts that are written without spaces: a run of them is no word.
_UNSPACED: Final = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
_WORD: Final = re.compile(r"[^\W_]+")
# What is neither a letter nor a digit of ASCII becomes a space; capitals become small.
_ASCII_WORDS: Final = bytes(
    ord(chr(code).lower()) if chr(code).isalnum() else 32 for code in range(128)
).ljust(256)
# A byte for each of few groups: no count of shared features is larger than `_FEATURES`.
_LANE: Final = 8
# For a text of so many features: 1 for each count of shared ones that is half of them or more.
_ENOUGH: Final = [
    bytes(count >= own * THRESHOLD for count in range(256)) for own in range(_FEATURES + 1)
]

Features = frozenset[bytes]
"""What is compared of a text."""


def point_rows(state: State) -> Iterator[Row]:
    """Return the rows of `POINTS`, by round, the seats' order, then as written."""
    bullets = list(_bullets(state))
    groups = group_points([bullet[-1] for bullet in bullets])
    # A bullet's tuple and a group's, joined.
    return map(operator.add, bullets, zip(groups, strict=True))


def group_points(texts: Iterable[str]) -> list[int]:
    """Return the number of each text's group, from 1 in the order of their first texts.

    A text's features are its words, without case and cut to 6 characters, so that endings don't
    matter; in scripts written without spaces, every pair of neighbouring characters. A text joins
    the group whose first text is most like it, by the Jaccard index of the two sets of features
    (P. Jaccard, "The Distribution of the Flora in the Alpine Zone", New Phytologist 11, 1912), if
    that is 0.5 or more; else it opens a group. Being like the first one is what counts, so groups
    don't drift along chains.

    The time is linear in the texts: of each one 2,000 characters and 64 features are read, looked
    up in an index that holds at most 32 groups a feature, and compared with the 8 groups that
    share most of them.
    """
    found: list[int] = []
    again: dict[str, int] = {}  # seats say many a point in the same words in every round
    seen: dict[Features | str, int] = {}
    groups = _Groups()
    for text in texts:
        group = again.get(text)
        if group is None:
            features = _features(text[:_READ])
            key = features or text.strip()
            group = seen.get(key)
            if group is None:
                group = seen[key] = groups.likest(features) or groups.open(features)
            again[text] = group
        found.append(group)
    return found


def _bullets(state: State) -> Iterator[tuple[int, str, str, str]]:
    for number in range(len(state.turns)):
        for turn in state.turns_of(number):
            reply = turn.reply or Reply()
            for kind, texts in (
                ("disagree", reply.disagree),
                ("new", reply.new),
                ("assumption", reply.assumptions),
            ):
                for text in without_empty(texts):
                    yield number, turn.seat, kind, text


@lru_cache(_KEPT)
def _features(read: str) -> Features:
    if read.isascii():  # several times as fast as the pattern below
        words = read.encode().translate(_ASCII_WORDS).split()
        return frozenset(map(_stem, words[:_FEATURES]))
    found: list[str] = []
    for word in _WORD.findall(read.casefold()):
        if _UNSPACED.search(word):
            found += map(str.__add__, word, word[1:]) if len(word) > 1 else (word,)
        else:
            found.append(word[:_STEM])
        if len(found) >= _FEATURES:
            break
    return frozenset([feature.encode(errors="surrogatepass") for feature in found[:_FEATURES]])


class _Groups:
    """The first texts of the groups so far, by their features, and the likest of them.

    As long as they are few, each feature is a number with a byte for every group, 1 where the group
    has it: their sum counts for all groups at once what a text shares with them, several times as
    fast as the index, with the same outcome.
    """

    def __init__(self) -> None:
        self._leaders: list[Features] = []
        self._lanes: dict[bytes, int] = {}
        self._index: dict[bytes, list[int]] = {}

    def open(self, features: Features) -> int:
        """Open a group with its first text; return its number."""
        self._leaders.append(features)
        group = len(self._leaders)
        if group <= _POSTINGS:
            lanes, own = self._lanes, 1 << _LANE * (group - 1)
            for feature in features:
                lanes[feature] = lanes.get(feature, 0) | own
        elif group == _POSTINGS + 1:
            for number, leader in enumerate(self._leaders, 1):
                self._enter(leader, number)
        else:
            self._enter(features, group)
        return group

    def likest(self, features: Features) -> int | None:
        """Return the group that a text joins; None: it opens one."""
        few = len(self._leaders) <= _POSTINGS
        best, found = 0.0, None
        for group, common in self._of_few(features) if few else self._of_many(features):
            likeness = common / (len(features) + len(self._leaders[group - 1]) - common)
            if likeness > best or (likeness == best and found is not None and group < found):
                best, found = likeness, group
        return found if best >= THRESHOLD else None

    def _enter(self, features: Features, group: int) -> None:
        for feature in features:
            postings = self._index.get(feature)
            if postings is None:
                self._index[feature] = [group]
            elif len(postings) < _POSTINGS:
                postings.append(group)

    def _of_few(self, features: Features) -> list[tuple[int, int]]:
        """Return groups to compare with, and how many features the text shares with each."""
        total = sum(map(self._lanes.get, features, repeat(0)))
        if not total:
            return []
        shared = total.to_bytes(len(self._leaders), "little")
        likely = shared.translate(_ENOUGH[len(features)])
        found = []
        place = likely.find(1)
        while place >= 0:
            found.append((place + 1, shared[place]))
            place = likely.find(1, place + 1)
        return _most(found)

    def _of_many(self, features: Features) -> list[tuple[int, int]]:
        """Return the same by the index."""
        postings = [self._index[feature] for feature in features if feature in self._index]
        shared = Counter(chain.from_iterable(postings))
        likely = list(shared.items())
        if max(map(len, postings), default=0) < _POSTINGS:
            # No list is full, so the counts are exact.
            least = len(features) * THRESHOLD
            likely = [(group, count) for group, count in shared.items() if count >= least]
        # What full lists left out is counted now.
        return [(group, len(features & self._leaders[group - 1])) for group, _ in _most(likely)]


def _most(groups: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the groups to compare with: those that share most, the older ones in a tie."""
    if len(groups) <= _COMPARED:
        return groups
    return sorted(groups, key=lambda found: (-found[1], found[0]))[:_COMPARED]
