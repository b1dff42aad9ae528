"""Notebooks with real debates for the browser tests, and what a person does at their gates."""

from __future__ import annotations

import json
from typing import Any

from tests.browser.labdriver import NotebookPage
from tests.browser.servers import Server
from tests.notebook.runner import NEWEST

SETUP = """
%load_ext rt_notebook
import json
import rt_notebook as rt
def seat(name, *stances, ask=(), **more):
    says = [rt.say(stance=s, new=[f"{name} says {n}"], question=dict(enumerate(ask)).get(n))
            for n, s in enumerate(stances)]
    return rt.Seat(name, model=rt.scripted(says), **more)
def facts(r):
    answered = [e for e in r.events if e.kind == "gate_answered"]
    print("FACTS", json.dumps({
        "status": r.status, "reason": r.stop_reason, "rounds": r.state.completed_rounds,
        "answers": json.loads(r.questions.answer.to_json(orient="values")),
        "messages": [e.body["message"] for e in answered], "at": [e.at for e in answered],
        "stances": [str(s) for s in r.replies.stance], "id": r.id}))
pro = seat("pro", "Ship", "Ship", "Ship", ask=["What is the budget?"])
con = seat("con", "Wait", "Wait", "Wait", ask=["Ship or Wait, what would you do today?"])
"""
"""Defines the seats `pro` (asks for a text) and `con` (asks for a choice), and `facts`."""

BODY = "Ship now?\n\noptions:\n- Ship\n- Wait\n"
LINE = "--seats pro,con --question-wait-s 60 --checkpoint-wait-s 60"
CELL = f"%%roundtable out {LINE}\n{BODY}"
FACTS = "facts(out)"


def open_notebook(
    tab: NotebookPage, server: Server, *cells: str, kernel: str = NEWEST, setup: str = ""
) -> None:
    """Shows a notebook whose first cell makes the seats; nothing runs yet."""
    tab.show("review.ipynb", [SETUP + setup, *cells], kernel)


def run(
    tab: NotebookPage, server: Server, *cells: str, kernel: str = NEWEST, setup: str = ""
) -> None:
    """Opens a notebook and starts all its cells."""
    open_notebook(tab, server, *cells, kernel=kernel, setup=setup)
    tab.run_all()


def run_cell(tab: NotebookPage, number: int) -> None:
    """Starts one cell, counted from 0."""
    tab.page.evaluate(
        """n => {
            window.__panel.content.activeCellIndex = n;
            const run = window.__run = {done: false};
            window.jupyterapp.commands.execute('notebook:run-cell')
                .finally(() => { run.done = true; });
        }""",
        number,
    )


def facts(tab: NotebookPage, count: int = 1) -> dict[str, Any]:
    """Waits until a debate's facts were printed for the n-th time, and returns them."""
    found: dict[str, Any] = json.loads(tab.printed("FACTS ", count))
    return found


def click_now(tab: NotebookPage, action: str) -> int:
    """Clicks a button of the form at once; returns the page's clock in milliseconds."""
    return int(
        tab.page.evaluate(
            """action => {
                const button = document.querySelector(`.rt-button--${action}`);
                const now = Date.now();
                button.click();
                return now;
            }""",
            action,
        )
    )


def paste(tab: NotebookPage, field: str, text: str) -> None:
    """Focuses a field and inserts a text as an input method or a paste does."""
    tab.find(f".rt-field--{field} textarea").first.focus()
    tab.page.keyboard.insert_text(text)


def assert_clean(tab: NotebookPage) -> None:
    """Nothing went wrong in the page, nothing asked the network, nothing hostile ran."""
    assert tab.console_errors == []
    assert tab.foreign_requests == []
    assert tab.dialogs == []
    assert tab.page.evaluate("window.hacked === undefined")
