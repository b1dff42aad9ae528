"""Models' Markdown to safe HTML, text to safe HTML or Markdown; owns markdown-it-py and nh3.

Two fences, one behind the other: markdown-it reads Markdown with raw HTML and images off and links
bound to three schemes; nh3 then lets through a short list of tags and no attribute but `href`.
Mathematics is defused too: JupyterLab and static sites typeset what stands between dollars, so that
"$20 to $35" would turn into a formula. A delimiter counts only where one text node holds it whole,
so every `$` and backslash gets a `<span>` of its own.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

from rt_notebook.contract.text import bullets, marked
from rt_notebook.rendering.plain import SHOWN_LIMIT, clip, one_line, plain

INLINE_TAGS: Final = frozenset(["a", "br", "code", "em", "s", "span", "strong"])
"""Tags that the text of a line can become."""
_TABLE_TAGS: Final = frozenset(["table", "tbody", "td", "th", "thead", "tr"])
BLOCK_TAGS: Final = (
    INLINE_TAGS | _TABLE_TAGS | frozenset(["blockquote", "hr", "li", "ol", "p", "pre", "ul"])
)
"""Tags that a whole text can become."""
SCHEMES: Final = frozenset({"http", "https", "mailto"})
"""Where a link may lead."""

_LINK: Final = re.compile(r"(?:https?://|mailto:)[^\s\x00-\x20]+", re.IGNORECASE)
_TARGET_LIMIT: Final = 120
# Delimiters and brackets that make markdown-it look far ahead; beyond so many, a text is no prose.
_MARKS: Final = re.compile(r"[*_~`\[\]<>!\\&]")
_MARKS_LIMIT: Final = 4_000
_DEPTH: Final = re.compile(r"^[ \t>*+\-]{60,}", re.MULTILINE)


def escape(text: str) -> str:
    """Return text as HTML content: cleaned, escaped, without mathematics; not for attributes."""
    return _defuse(html.escape(plain(text), quote=True))


def attribute(text: str) -> str:
    """Return text for a quoted HTML attribute: cleaned, escaped, on one line."""
    return html.escape(one_line(text), quote=True)


def inline(text: str) -> str:
    """Return one line of Markdown as HTML: emphasis, code and links, never a block."""
    shown, left_out = clip(" ".join(plain(text[: 2 * SHOWN_LIMIT]).split()))
    if _too_dense(shown):
        return escape(shown) + _left_out(left_out)
    return _sanitised(_parser().renderInline(shown), INLINE_TAGS) + _left_out(left_out)


def block(text: str, limit: int = SHOWN_LIMIT) -> str:
    """Return Markdown as HTML blocks: paragraphs, lists, quotes, code, tables; no headings.

    Args:
        text: Markdown from anywhere.
        limit: characters that are shown; a note says how many are left out.
    """
    shown, left_out = clip(text, limit)
    shown = plain(shown)
    if _too_dense(shown):
        body = _spaced(f"<pre>{escape(shown)}</pre>")
    else:
        body = _spaced(_sanitised(_parser().render(shown), BLOCK_TAGS))
    return body + (f"<p>{_left_out(left_out)}</p>" if left_out else "")


def verbatim(text: str, limit: int = SHOWN_LIMIT) -> str:
    """Return text word for word as the content of a `<pre>`: no Markdown in it is read."""
    shown, left_out = clip(text, limit)
    return escape(shown) + _left_out(left_out)


def markdown_escape(text: str) -> str:
    """Return text as one line of Markdown that shows it word for word: nothing in it acts."""
    return _escaped(one_line(text, SHOWN_LIMIT))


def markdown_strong(text: str) -> str:
    """Return text as one bold line of Markdown; nothing where nothing of it can be seen."""
    shown = markdown_escape(text)
    # Four stars with nothing between them are a rule.
    return f"**{shown}**" if shown else ""


def markdown_quote(text: str, limit: int = SHOWN_LIMIT) -> str:
    """Return text as a Markdown block quote that shows its lines word for word."""
    shown, left_out = clip(text, limit)
    lines = [_escaped(line.strip()) for line in plain(shown).strip().split("\n")]
    if left_out:
        lines.append(f"({left_out:,} more characters are not shown)")
    return "\n".join(f"> {line}  " if line else ">" for line in lines)


def markdown_points(text: str) -> str:
    """Return text as a Markdown list where each of its lines is a bullet, else as a block quote."""
    lines = [line.strip() for line in plain(text[:SHOWN_LIMIT]).split("\n")]
    if len(text) > SHOWN_LIMIT or not all(marked(line) for line in lines if line):
        return markdown_quote(text)
    return "\n".join(f"- {_escaped(point)}" for point in bullets(lines))


# JupyterLab typesets `\$20 to \$35` as well, and puts formulas where `@@0@@` stands: a dollar or
# backslash is safe in a code span only, a backtick or at sign as an entity.
_MATHS: Final = re.compile(r"(?:\$[\w.,]*|\\(?:\w+|[^\w\s`|])?)+")
_SPECIAL: Final = re.compile(
    r"[*_\[\]|~]|:(?=//)|(?<=www)\.|^(?:[#+=:!-]|[0-9]+(?=[.)]))", re.IGNORECASE
)
_ENTITIES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "`": "&#96;", "@": "&#64;"}
_ENTITY: Final = re.compile(r"[&<>`@]")


def _escaped(line: str) -> str:
    """Return one line escaped, its formulas' beginnings as code spans."""
    pieces: list[str] = []
    end = 0
    for found in _MATHS.finditer(line):
        pieces += (_words(line[end : found.start()], first=end == 0), f"`{found[0]}`")
        end = found.end()
    return "".join([*pieces, _words(line[end:], first=end == 0)])


def _words(text: str, *, first: bool) -> str:
    text = _ENTITY.sub(lambda found: _ENTITIES[found[0]], text)
    return _SPECIAL.sub(lambda found: _backslashed(found, first), text)


def _backslashed(found: re.Match[str], first: bool) -> str:
    mark = found[0]
    if mark.isdigit():
        # The number of a list: its full stop or bracket is what has to be escaped.
        return f"{mark}\\" if first else mark
    return "\\" + mark


def _defuse(content: str) -> str:
    return content.replace("\\", "<span>\\</span>").replace("$", "<span>$</span>")


def _left_out(count: int) -> str:
    return f" <em>({count:,} more characters are not shown)</em>" if count else ""


def _too_dense(text: str) -> bool:
    """Return whether `text` could take long to read as Markdown: it is shown word for word."""
    return len(_MARKS.findall(text)) > _MARKS_LIMIT or _DEPTH.search(text) is not None


def _sanitised(markup: str, tags: frozenset[str]) -> str:
    return nh3.clean(
        markup,
        tags=set(tags),
        attributes={"*": set(), "a": {"href"}, "ol": {"start"}},
        url_schemes=set(SCHEMES),
        link_rel="noopener nofollow noreferrer",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )


# A page's own style for paragraphs and tables suits articles, not notes. Set after the sanitiser,
# on tags that have no attribute by then.
_STYLES: Final = {
    "<p>": '<p style="margin:0 0 6px">',
    "<ul>": '<ul style="margin:0 0 6px;padding-left:20px">',
    "<ol>": '<ol style="margin:0 0 6px;padding-left:20px">',
    "<blockquote>": '<blockquote style="margin:0 0 6px;padding-left:10px;'
    'border-left:3px solid rgba(127,127,127,0.5)">',
    "<pre>": '<pre style="margin:0 0 6px;white-space:pre-wrap;overflow-wrap:break-word">',
    "<table>": '<table style="margin:0 0 6px;border-collapse:collapse;font-size:0.95em">',
    "<tr>": '<tr style="background:transparent">',
    "<th>": '<th style="text-align:left;padding:2px 12px 2px 0;font-weight:600">',
    "<td>": '<td style="text-align:left;padding:2px 12px 2px 0">',
}
_STYLED: Final = re.compile("|".join(_STYLES))


def _spaced(markup: str) -> str:
    return _STYLED.sub(lambda found: _STYLES[found[0]], markup)


class _Renderer(RendererHTML):
    """Headings as bold paragraphs, text without mathematics, links with their target in sight."""

    def text(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        # Once more, as an entity can have become anything.
        return _defuse(html.escape(plain(tokens[idx].content)))

    def code_inline(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        return f"<code>{_defuse(html.escape(tokens[idx].content))}</code>"

    def code_block(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        return f"<pre><code>{_defuse(html.escape(tokens[idx].content))}</code></pre>\n"

    fence = code_block

    def heading_open(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any
    ) -> str:
        return "<p><strong>"

    def heading_close(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any
    ) -> str:
        return "</strong></p>\n"

    def link_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        target, said = _link_before(tokens, idx)
        shown = target if len(target) <= _TARGET_LIMIT else target[:_TARGET_LIMIT] + "…"
        return "</a>" if said == target else f"</a> ({_defuse(html.escape(shown))})"


def _link_before(tokens: Sequence[Token], close: int) -> tuple[str, str]:
    """Return where the link that ends at `close` leads, and what it says."""
    said: list[str] = []
    for token in reversed(tokens[:close]):
        if token.type == "link_open":
            return str(token.attrGet("href") or ""), "".join(reversed(said))
        said.append(token.content)
    return "", ""


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer)
    parser.enable(["table", "strikethrough"]).disable(["image", "html_block", "html_inline"])
    parser.validateLink = _allowed_link  # type: ignore[method-assign]  # the library's way to set it
    return parser


def _allowed_link(url: str) -> bool:
    return _LINK.fullmatch(url) is not None
