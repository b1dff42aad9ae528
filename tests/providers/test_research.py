"""Sources: which pages are kept, and that nothing hostile gets into a link."""

from __future__ import annotations

import pytest

from rt_notebook.providers.research import EXCERPT_CHARS, MAX_SOURCES, Source, Sources


def test_page_is_kept_once() -> None:
    found = Sources()
    found.add("https://a.example/", "", "one")
    found.add("https://a.example/", "A", "two")
    assert found.all() == (Source("A", "https://a.example/", "one"),)


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "https://",
        "https://a.example/\n",
        "https://a.example/\u202e",
        "http://[::1",
        "/relative",
        "https://a.example/" + "x" * 3000,
        None,
        7,
    ],
)
def test_address_that_is_no_web_page_is_dropped(url: object) -> None:
    found = Sources()
    found.add(url, "Title", "words")
    assert found.all() == ()


def test_untitled_page_is_called_by_its_host() -> None:
    found = Sources()
    found.add("https://a.example/x", None)
    assert found.all() == (Source("a.example", "https://a.example/x"),)


def test_number_and_size_are_bounded() -> None:
    found = Sources()
    for number in range(100):
        found.add(f"https://a.example/{number}", "T" * 1000 + "\n", "w" * 5000)
    assert len(found.all()) == MAX_SOURCES
    assert len(found.all()[0].excerpt) == EXCERPT_CHARS
    assert len(found.all()[0].title) == 300
