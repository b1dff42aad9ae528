from __future__ import annotations

import time

import pytest

from rt_notebook.rendering.markup import (
    INLINE_TAGS,
    _sanitised,
    block,
    escape,
    inline,
    markdown_escape,
)
from tests.rendering.hostile import Page

_LINK_END = 'target="_blank" rel="noopener nofollow noreferrer">'


def test_ordinary_markdown_keeps_its_form() -> None:
    assert inline("**b** *i* `c` ~~d~~") == (
        "<strong>b</strong> <em>i</em> <code>c</code> <s>d</s>"
    )
    assert Page(block("- a\n- b\n\n1. c\n\n> d\n\n| e |\n|---|\n| f |")).tags == (
        [
            "ul",
            "li",
            "li",
            "ol",
            "li",
            "blockquote",
            "p",
            "table",
            "thead",
            "tr",
            "th",
            "tbody",
            "tr",
            "td",
        ]
    )


def test_headings_become_bold_lines() -> None:
    assert Page(block("# Title\n\n## Next")).tags == ["p", "strong", "p", "strong"]


def test_first_fence_shows_tags_as_text() -> None:
    assert inline("<b>x</b> <!-- y -->") == "&lt;b&gt;x&lt;/b&gt; &lt;!-- y --&gt;"


def test_second_fence_stands_alone() -> None:
    """Should markdown-it ever let something through, nh3 doesn't."""
    markup = (
        "<b id=x>a</b><img src=x onerror=y><a href=javascript:y title=z>c</a><script>d</script>"
    )
    assert _sanitised(markup, INLINE_TAGS) == f"a<a {_LINK_END}c</a>"


def test_escaped_markdown_forms_no_address_or_placeholder() -> None:
    assert markdown_escape("a@b.example @@0@@") == "a&#64;b.example &#64;&#64;0&#64;&#64;"
    assert markdown_escape("http://a.example www.b.example") == (
        "http\\://a.example www\\.b.example"
    )


def test_links_show_where_they_lead() -> None:
    assert inline("[bank](https://other.example/x?a=1&b=2)") == (
        f'<a href="https://other.example/x?a=1&amp;b=2" {_LINK_END}bank</a>'
        " (https://other.example/x?a=1&amp;b=2)"
    )


def test_links_that_say_their_target_say_it_once() -> None:
    assert inline("<https://a.example/>") == (
        f'<a href="https://a.example/" {_LINK_END}https://a.example/</a>'
    )


def test_lookalike_hosts_are_shown_in_ascii() -> None:
    assert "xn--" in Page(inline("[\u0430pple.com](https://\u0430pple.com/)")).text


@pytest.mark.parametrize("url", ["javascript:x", "data:text/html,x", "ftp://a", "/a", "//a", "a"])
def test_links_elsewhere_stay_text(url: str) -> None:
    assert inline(f"[click]({url})") == f"[click]({url})"


def test_images_load_nothing_but_show_their_address() -> None:
    page = Page(inline("![alt](https://a.example/x.png)"))
    assert page.tags == ["a"]
    assert page.text == "!alt (https://a.example/x.png)"


def test_dollars_never_share_a_text_node() -> None:
    assert escape("$20 to $35") == "<span>$</span>20 to <span>$</span>35"
    assert inline("$20 to **$35**") == ("<span>$</span>20 to <strong><span>$</span>35</strong>")
    assert Page(block("`$a$` and \\\\(x\\\\)")).text.strip() == "$a$ and \\(x\\)"


def test_long_texts_say_what_is_left_out() -> None:
    assert Page(block("word " * 10_000)).text.endswith("(30,000 more characters are not shown)")
    assert "(5 more characters are not shown)" in block("x" * 15, limit=10)


@pytest.mark.parametrize(
    "shape",
    ["*", "[", "`", "_", "<", "![", "[a](", "\\", "> ", "- ", "a|", "|-|\n", "* a\n  ", "&"],
)
def test_a_megabyte_is_shown_at_once(shape: str) -> None:
    text = shape * (1_000_000 // len(shape))
    began = time.perf_counter()
    block(text)
    inline(text)
    escape(text)
    assert time.perf_counter() - began < 2
