"""The HTML report as a whole page in one file: nothing to load, no script, light and dark."""

from __future__ import annotations

from typing import Final

from rt_notebook.domain.state import State
from rt_notebook.rendering.decision_record import record_title
from rt_notebook.rendering.markup import attribute
from rt_notebook.rendering.report import report_html

# Even if a text found a way through the sanitiser, this page runs and loads nothing.
POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""The page's content security policy."""

# The report sets no text colour outside its filled chips, so the page's own is all there is to
# switch. On paper everything that is folded opens.
_STYLE: Final = """\
:root { color-scheme: light dark; }
body {
  margin: 0; padding: 24px 20px 48px; background: #ffffff; color: #1f2328;
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
}
main { max-width: 1040px; margin: 0 auto; }
a { color: #0969da; }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
code { font-size: 0.92em; }
summary:focus-visible, a:focus-visible { outline: 2px solid #0969da; outline-offset: 2px; }
@media (prefers-color-scheme: dark) {
  body { background: #16181d; color: #e3e6ea; }
  a { color: #6cb0ff; }
  summary:focus-visible, a:focus-visible { outline-color: #6cb0ff; }
}
@media (max-width: 480px) { body { padding: 16px 12px 32px; } }
@media print {
  body { background: #ffffff; color: #000000; padding: 0; }
  details::details-content { content-visibility: visible; block-size: auto; }
}
"""


def report_page(state: State) -> str:
    """Return the report as one HTML page that needs no network and runs nothing.

    Args:
        state: the fold, finished or not.
    """
    # In place of a notebook's variable: what anybody with the store can type.
    body = report_html(state, variable=f'rt.load("{state.id}")', anywhere=True)
    return f"""\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="rt_notebook">
<title>{attribute(record_title(state))}</title>
<style>
{_STYLE}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""
