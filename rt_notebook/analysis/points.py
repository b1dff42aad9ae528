"""The points that seats made, one bullet each, and which of them say nearly the same.

Owns what "nearly the same" means; compares letters, so it knows nothing of meaning: a `not` more
or less stays in the group.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
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
# What bounds the work per point, whatever the points hold.
_FEATURES: Final = 64
_POSTINGS: Final = 32
_COMPARED: Final = 8
# Scripts that are written without spaces: a run of them is no word.
_UNSPACED: Final = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
_WORD: Final = re.compile(r"[^\W_]+")
# What is neither a letter nor a digit of ASCII becomes a space.
_ASCII_WORDS: Final = bytes(code if chr(code).isalnum() else 32 for code in range(128)).ljust(256)


def point_rows(state: State) -> Iterator[Row]:
    """Yield the rows of `POINTS`, by round, the seats' order, then as written."""
    bullets = list(_bullets(state))
    groups = group_points(text for *_, text in bullets)
    for bullet, group in zip(bullets, groups, strict=True):
        yield *bullet, group


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
    seen: dict[frozenset[str] | str, int] = {}
    groups = _Groups()
    for text in texts:
        features = _features(text)
        key = features or text.strip()
        group = seen.get(key)
        if group is None:
            group = seen[key] = groups.likest(features) or groups.open(features)
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


def _features(text: str) -> frozenset[str]:
    folded = text[:_READ].casefold()
    if folded.isascii():  # several times as fast as the pattern below
        words = folded.encode().translate(_ASCII_WORDS).decode().split()
        return frozenset([word[:_STEM] for word in words[:_FEATURES]])
    found: list[str] = []
    for word in _WORD.findall(folded):
        if _UNSPACED.search(word):
            found += map(str.__add__, word, word[1:]) if len(word) > 1 else (word,)
        else:
            found.append(word[:_STEM])
        if len(found) >= _FEATURES:
            break
    return frozenset(found[:_FEATURES])


class _Groups:
    """The first texts of the groups so far, by their features, and the likest of them.

    As long as they are few, each is a number with a bit for every feature, and all are looked at:
    several times as fast as the index, with the same outcome.
    """

    def __init__(self) -> None:
        self._leaders: list[frozenset[str]] = []
        self._bits: dict[str, int] = {}
        self._masks: list[int] = []
        self._index: dict[str, list[int]] = {}

    def open(self, features: frozenset[str]) -> int:
        """Open a group with its first text; return its number."""
        self._leaders.append(features)
        group = len(self._leaders)
        if group <= _POSTINGS:
            mask = 0
            for feature in features:
                bit = self._bits.get(feature)
                if bit is None:
                    bit = self._bits[feature] = 1 << len(self._bits)
                mask |= bit
            self._masks.append(mask)
        elif group == _POSTINGS + 1:
            for number, leader in enumerate(self._leaders, 1):
                self._enter(leader, number)
        else:
            self._enter(features, group)
        return group

    def likest(self, features: frozenset[str]) -> int | None:
        """Return the group that a text joins; None: it opens one."""
        few = len(self._leaders) <= _POSTINGS
        best, found = 0.0, None
        for group in self._of_few(features) if few else self._of_many(features):
            other = self._leaders[group - 1]
            common = len(features & other)
            likeness = common / (len(features) + len(other) - common)
            if likeness > best or (likeness == best and found is not None and group < found):
                best, found = likeness, group
        return found if best >= THRESHOLD else None

    def _enter(self, features: frozenset[str], group: int) -> None:
        for feature in features:
            postings = self._index.get(feature)
            if postings is None:
                self._index[feature] = [group]
            elif len(postings) < _POSTINGS:
                postings.append(group)

    def _of_few(self, features: frozenset[str]) -> Sequence[int]:
        mask = 0
        for feature in features:
            mask |= self._bits.get(feature, 0)
        shared = [(mask & other).bit_count() for other in self._masks]
        # Half of the features is the least.
        least = len(features) * THRESHOLD
        if not mask or max(shared) < least:
            return ()
        likely = [group for group, count in enumerate(shared, 1) if count >= least]
        return _most(likely, lambda group: shared[group - 1])

    def _of_many(self, features: frozenset[str]) -> Sequence[int]:
        postings = [self._index[feature] for feature in features if feature in self._index]
        shared = Counter(chain.from_iterable(postings))
        likely = list(shared)
        if max(map(len, postings), default=0) < _POSTINGS:
            # No list is full, so the counts are exact.
            least = len(features) * THRESHOLD
            likely = [group for group, count in shared.items() if count >= least]
        return _most(likely, shared.__getitem__)


def _most(groups: list[int], shared: Callable[[int], int]) -> list[int]:
    """Return the groups to compare with: those that share most, the older ones in a tie."""
    if len(groups) <= _COMPARED:
        return groups
    return sorted(groups, key=lambda group: (-shared(group), group))[:_COMPARED]
