"""Text in and out: the reply contract, the cell's grammar, the prompts. Pure, light to import."""

from rt_notebook.contract.naming import match_option, match_stance
from rt_notebook.contract.question import read_question
from rt_notebook.contract.render import render_reply
from rt_notebook.contract.reply import read_reply
from rt_notebook.contract.similarity import bullets_text, similarity
from rt_notebook.contract.text import is_blank, is_empty_bullet, without_empty
from rt_notebook.contract.verdict import read_verdict
from rt_notebook.domain.reply import Reply, VerdictText

__all__ = [
    "Reply",
    "VerdictText",
    "bullets_text",
    "is_blank",
    "is_empty_bullet",
    "match_option",
    "match_stance",
    "read_question",
    "read_reply",
    "read_verdict",
    "render_reply",
    "similarity",
    "without_empty",
]
