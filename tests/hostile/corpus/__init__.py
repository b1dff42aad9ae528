"""Texts that try to become more than text, written for these tests, by family.

Whoever shows a model's words in a new place runs this corpus through it. What could run sets
`window.hacked`; what could load asks `HOST`; a debate's own mark is put in by `with_token`.
"""

from __future__ import annotations

from typing import Final

from tests.hostile.corpus.characters import CHARACTERS
from tests.hostile.corpus.forged import FORGED, with_token
from tests.hostile.corpus.markdown import MARKDOWN
from tests.hostile.corpus.markup import CODE, HOST, MARKUP

__all__ = ["CODE", "CORPUS", "FAMILIES", "HOST", "with_token"]

FAMILIES: Final[dict[str, tuple[str, ...]]] = {**MARKUP, **MARKDOWN, **CHARACTERS, **FORGED}
"""The texts by family."""

CORPUS: Final = tuple(text for texts in FAMILIES.values() for text in texts)
"""All of them."""
