"""How alike two texts are, for the detection of loops. Knows texts only, not whose they are."""

from __future__ import annotations

from typing import Final

from rt_notebook.contract.text import check_text, without_empty
from rt_notebook.domain.reply import Reply

SHORTEST: Final = 40
"""Characters of cleaned text below which a text is never called alike."""
_MARKDOWN: Final = str.maketrans("", "", "*_`#>~|")
_BULLETS: Final = "-+•"


def similarity(first: str, second: str) -> float:
    """Return the Jaccard index of the two texts' sets of character pairs, 0 to 1.

    Case and white space are folded and Markdown marks dropped before. A text with fewer than 40
    characters left is never alike: 0.0. Source: P. Jaccard, "The Distribution of the Flora in the
    Alpine Zone", New Phytologist 11 (1912).

    Raises:
        UsageError: one of them is no text.
    """
    check_text("similarity", first)
    check_text("similarity", second)
    one, two = _cleaned(first), _cleaned(second)
    if len(one) < SHORTEST or len(two) < SHORTEST:
        return 0.0
    if one == two:
        return 1.0
    pairs, others = _pairs(one), _pairs(two)
    shared = len(pairs & others)
    return shared / (len(pairs) + len(others) - shared)


def bullets_text(reply: Reply) -> str:
    """Return a reply's bullets, one a line, without `none` and headers: what reviews compare."""
    return "\n".join(without_empty([*reply.disagree, *reply.new, *reply.assumptions]))


def _cleaned(text: str) -> str:
    lines = (line.strip().lstrip(_BULLETS) for line in text.translate(_MARKDOWN).split("\n"))
    return " ".join(" ".join(lines).casefold().split())


def _pairs(text: str) -> set[str]:
    return set(map(str.__add__, text, text[1:]))
