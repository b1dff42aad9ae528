"""What a person reads: a fold as HTML, Markdown or text, and the defence against hostile text."""

from __future__ import annotations

from rt_notebook.rendering.markdown import report_markdown
from rt_notebook.rendering.report import report_html
from rt_notebook.rendering.text import report_text, summary_line

__all__ = ["report_html", "report_markdown", "report_text", "summary_line"]
