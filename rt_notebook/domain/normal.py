"""The normal form in which labels, names and questions are compared. Pure, and light to load."""

from __future__ import annotations

import unicodedata
from typing import Final

from rt_notebook.characters import IGNORABLE

LONGEST: Final = 1_000
"""Characters of a text that is normalised; a longer one can't be a label or a name."""

# Unicode's Stream-Safe Text Format (UAX 15) allows no more marks in a row.
_STACK: Final = 30


def normal_form(text: str) -> str:
    """Return `text` as labels and names are compared: what looks the same is the same.

    NFKC and case folded, characters that nobody sees dropped (both as in Unicode's NFKC_Casefold),
    white space folded and trimmed. CPython's NFKC is quadratic in runs of combining marks, so a
    text too long to be a label, or with more marks on a character than any writing has, goes
    without it.
    """
    if not text.isascii():
        text = IGNORABLE.sub("", text)
        if len(text) <= LONGEST and not _is_stacked(text):
            text = unicodedata.normalize("NFKC", text)
    return " ".join(text.casefold().split())


def _is_stacked(text: str) -> bool:
    """Return whether more marks stand on one character than any writing has."""
    run = 0
    for character in text if len(text) > _STACK else "":
        run = run + 1 if unicodedata.combining(character) else 0
        if run > _STACK:
            return True
    return False
