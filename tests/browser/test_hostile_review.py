"""A debate whose every text is hostile: live view, form, result and saved file run none of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.browser.labdriver import NotebookPage
from tests.browser.reviews import FACTS, assert_clean, click_now, facts, run
from tests.browser.servers import Server
from tests.rendering.hostile import CHARACTERS, HTML, MARKDOWN

_SHORT = [text[:2_000] for text in CHARACTERS]

_SETUP = """
HTML, MARKDOWN, CHARACTERS = json.loads({corpus!r})
ALL = HTML + MARKDOWN
def hostile(number):
    def speak(call):
        slices = (ALL + CHARACTERS)[number::4]
        first = call.round * 3
        one, two, three = (slices[(first + n) % len(slices)].replace("\\n", " ") for n in range(3))
        return (
            f"STANCE: opt-{{1 + number % 2}}\\nAGREE_WITH: []\\n"
            f"DISAGREE:\\n- {{one}}\\nNEW:\\n- {{two}}\\n"
            f"ASSUMPTIONS:\\n- {{three}}\\nQUESTION_FOR_HUMAN: {{one[:400]}} Ship {{number}}?\\n\\n"
            + "\\n\\n".join(slices)
        )
    return speak
def babble(call):
    return "\\n\\n".join(ALL + CHARACTERS)
def broken(call):
    raise ValueError(ALL[0] + ALL[4] + ALL[11])
def chair(call):
    text = "\\n\\n".join(HTML)
    return (f"RECOMMENDATION: opt-1\\n{{text}}\\nDISSENT:\\n- {{HTML[0]}}\\n- {{MARKDOWN[0]}}\\n"
        f"KILL_CRITERIA:\\n- {{HTML[4]}}: {{HTML[6]}}\\nOPEN_QUESTIONS:\\n- {{HTML[7]}}")
seats = [rt.Seat(f"s{{n}}\\" $x$ &lt", model=hostile(n), lens=HTML[n]) for n in range(4)]
seats += [rt.Seat("babble", model=babble), rt.Seat("broken", model=broken)]
"""
_CELL = """out = await rt.Review(
    HTML[0] + "\\n\\n" + "\\n\\n".join(ALL[:20]), options=[HTML[4][:150], HTML[0][:150] + " two"],
    known=[text[:1500] for text in HTML[:20]], context="\\n\\n".join(MARKDOWN), seats=seats,
    chairman=rt.Seat("boss", model=chair), title=HTML[4], question_wait_s=60, loop_threshold=0,
).run()
"""
_PARTS = "img, script, iframe, svg, object, embed, form, base, meta, link, video, math"
_OPEN_ALL = """() => document.querySelectorAll('.jp-OutputArea details, .jp-OutputArea summary')
    .forEach(node => { if (node.tagName === 'DETAILS') node.open = true; })"""


def _assert_nothing_became_markup(tab: NotebookPage, root: str) -> None:
    """Opens everything, moves over it, and looks for elements that only hostile text could make."""
    tab.page.evaluate(_OPEN_ALL)
    tab.find(root).first.hover(force=True)
    found = tab.page.evaluate(
        """([root, parts]) => [...document.querySelectorAll(root)].flatMap(
            node => [...node.querySelectorAll(parts)].map(part => part.outerHTML.slice(0, 200)))""",
        [root, _PARTS],
    )
    assert found == []
    links = tab.page.evaluate(
        """root => [...document.querySelectorAll(root)].flatMap(
            node => [...node.querySelectorAll('a[href]')].map(link => link.protocol))""",
        root,
    )
    assert set(links) <= {"http:", "https:", "mailto:"}
    assert_clean(tab)


@pytest.mark.parametrize("app", ["lab"])
def test_nothing_hostile_runs_anywhere(tab: NotebookPage, server: Server) -> None:
    corpus: Any = json.dumps([list(HTML), list(MARKDOWN), _SHORT])
    run(tab, server, _CELL, "out", FACTS, setup=_SETUP.format(corpus=corpus))
    tab.wait(".rt-form")
    _assert_nothing_became_markup(tab, ".rt-live")
    _assert_nothing_became_markup(tab, ".rt-form")
    tab.type(".rt-field--message textarea", HTML[6], delay_ms=0)
    click_now(tab, "continue")
    found = facts(tab)
    assert found["status"] == "done"
    assert found["messages"] == [HTML[6]]
    tab.wait_finished()
    _assert_nothing_became_markup(tab, ".jp-OutputArea-output")
    assert "<script>window.hacked=1</script>" in " ".join(tab.outputs())
    tab.save()
    server.shut_down_kernels()
    saved = (server.notebooks / "review.ipynb").read_text(encoding="utf-8")
    foreign = saved.replace("question_wait_s=60", "question_wait_s=61")  # so it isn't trusted
    (server.notebooks / "foreign.ipynb").write_text(foreign, encoding="utf-8")
    for name in ("review.ipynb", "foreign.ipynb"):
        tab.open(name)
        tab.wait("details")
        _assert_nothing_became_markup(tab, ".jp-OutputArea-output")
