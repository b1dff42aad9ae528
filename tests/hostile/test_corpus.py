"""The corpus itself, and what the documentation says of it."""

from __future__ import annotations

import re

from tests.environment import ROOT
from tests.hostile.corpus import CORPUS, FAMILIES, with_token

_PAGE = ROOT / "docs" / "reliability.md"


def test_corpus_holds_hundreds_of_different_texts() -> None:
    assert len(set(CORPUS)) == len(CORPUS) >= 300
    assert all(texts for texts in FAMILIES.values())
    assert len({with_token(text, "0123456789ab") for text in CORPUS}) == len(CORPUS)


def test_documentation_counts_the_texts_of_each_family() -> None:
    section = (
        _PAGE.read_text(encoding="utf-8").partition("## Hostile text")[2].partition("\n## ")[0]
    )
    rows = dict(re.findall(r"^\| `(\w+)` \|.*\| (\d+) \|$", section, re.MULTILINE))
    assert {name: int(count) for name, count in rows.items()} == {
        name: len(texts) for name, texts in FAMILIES.items()
    }
    assert f"{len(CORPUS)} texts" in section
