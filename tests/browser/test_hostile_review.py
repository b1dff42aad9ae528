"""All of the corpus in a real page: live views, forms, results, saved and exported files run none.

What could run sets `window.hacked` or opens a dialog; what could load asks a server on loopback
that nobody else knows of.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

import pytest
import vl_convert
from playwright.sync_api import Browser, Dialog, Page

from rt_notebook.analysis.plots_page import picture_page
from rt_notebook.characters import whole
from rt_notebook.rendering import report_html
from rt_notebook.rendering.page import POLICY
from tests.browser.labdriver import NotebookPage
from tests.browser.reviews import FACTS, assert_clean, click_now, facts, run
from tests.browser.servers import Server
from tests.hostile.corpus import FAMILIES, HOST
from tests.hostile.debates import states_of
from tests.rendering.hostile import OUR_ATTRIBUTES, OUR_TAGS, SCHEMES, assert_harmless_text

_LONGEST: Final = 600

_SETUP = """
from pathlib import Path
from rt_notebook.providers.base import Completion
TEXTS = json.loads(Path("corpus.json").read_text(encoding="utf-8"))
def flat(text, limit=300):
    return " ".join(text.split("\\n"))[:limit].strip() or "x"
def part(number, of):
    return TEXTS[number::of]
def says(number):
    own = [flat(text) for text in part(number, 12)]
    half = len(own) // 2 + 1
    return rt.scripted([
        rt.say(stance=stance, disagree=texts[:3], new=texts[3:5], assumptions=texts[5:],
               question=texts[number % len(texts)] + "? Ship or Wait?")
        for stance, texts in (("opt-1", own[:half]), (f"other: {own[0]}", own[half:]))])
def babble(call):
    return "\\n\\n".join(part(call.round, 2))
def broken(call):
    raise ValueError(" ".join(TEXTS[call.round::40]))
def chair(call):
    points = "\\n".join(f"1. {flat(text)}" for text in part(0, 12))
    return (f"RECOMMENDATION: opt-1\\n{TEXTS[0]}\\n\\n{points}\\nDISSENT:\\n{points}\\n"
            f"KILL_CRITERIA:\\n{points}\\nOPEN_QUESTIONS:\\n{points}")
seats = [rt.Seat(f"s{n}\\" $x$ &lt", model=says(n), lens=flat(TEXTS[n])) for n in range(12)]
seats += [rt.Seat("babble", model=babble), rt.Seat("broken", model=broken)]
def speaks(number):
    def turn(call):
        own = part(number, 3)
        tools = [{"name": flat(text, 60), "preview": text} for text in own[:40]]
        return Completion("\\n\\n".join(own), tool_calls=tools, model=own[0])
    return turn
def sums_up(call):
    return "\\n\\n".join(part(1, 4))
"""
_REVIEW = """out = await rt.Review(
    TEXTS[0] + "\\n\\n" + "\\n\\n".join(TEXTS[::9]),
    options=[flat(TEXTS[30], 150), flat(TEXTS[0], 150) + " two"],
    known=TEXTS[:50], assumed=TEXTS[50:100], constraints=TEXTS[100:150],
    reversibility=flat(TEXTS[3]), deadline=flat(TEXTS[4]), context="\\n\\n".join(TEXTS[150:]),
    seats=seats, chairman=rt.Seat("boss", model=chair), title=flat(TEXTS[5], 150),
    question_wait_s=60, loop_threshold=0).run()"""
_TALK = """talk = await rt.Discussion(
    TEXTS[1], seats=[rt.Seat(f"t{n}", model=speaks(n)) for n in range(3)] + [
        rt.Seat("me", model="human")],
    observer=rt.Seat("sums", model=sums_up), rounds=1, loop_threshold=0).run()"""
_MORE = """
display(rt.diff(out, talk), out.replies, talk.tool_calls, rt.debates())
talk.summary.text and rt.export(out.id, FOLDER) and rt.export(talk.id, FOLDER)
print("FACTS", json.dumps({"talk": talk.status, "out": out.status}))
"""
_ERROR = "raise rt.UsageError(' '.join(TEXTS[::3]))"

# Opens everything, lets what only comes then come, and tells every node what handlers wait for.
_STIR = """root => new Promise(done => {
    const open = () => document.querySelectorAll(root + ' details')
        .forEach(node => { node.open = true; });
    const names = ['mouseover', 'mouseenter', 'pointerenter', 'focusin', 'load', 'error', 'toggle',
        'animationstart', 'transitionend', 'begin'];
    const stir = () => document.querySelectorAll(root + ' *').forEach(
        node => names.forEach(name => node.dispatchEvent(new Event(name))));
    open();
    setTimeout(() => { open(); stir(); setTimeout(done, 50); }, 50);
})"""
_KINDS = """root => {
    const found = {tags: {}, attributes: {}, links: {}};
    for (const top of document.querySelectorAll(root)) {
        for (const node of top.querySelectorAll('*')) {
            found.tags[node.localName] ??= node.parentNode.outerHTML.slice(0, 300);
            for (const {name, value} of node.attributes) {
                found.attributes[name] ??= node.outerHTML.slice(0, 300);
                if (/href|src|action|data$|style/.test(name)) found.links[name + ' ' + value] = 1;
            }
        }
    }
    return found;
}"""
_PARSED = """fragments => fragments.map(text => {
    const found = {tags: new Set(), attributes: new Set(), schemes: new Set(), stray: 0};
    for (const root of [new DOMParser().parseFromString(text, 'text/html').body,
                        Object.assign(document.body.appendChild(document.createElement('div')),
                                      {innerHTML: text})]) {
        const walker = document.createTreeWalker(root, NodeFilter.SHOW_ALL);
        for (let node = walker.nextNode(); node; node = walker.nextNode()) {
            if (node.nodeType === 1) {
                found.tags.add(node.localName);
                for (const {name} of node.attributes) found.attributes.add(name);
                if (node.localName === 'a') found.schemes.add(node.protocol.slice(0, -1));
            } else if (node.nodeType !== 3) found.stray += 1;
        }
        if (root !== document.body) root.remove();
    }
    return Object.fromEntries(Object.entries(found).map(
        ([name, value]) => [name, value instanceof Set ? [...value] : value]));
})"""
_NEVER = frozenset(
    [
        *("script", "iframe", "frame", "object", "embed", "form", "base", "meta", "link", "video"),
        *("audio", "math", "image", "foreignobject", "animate", "set", "use", "applet", "img"),
    ]
)


# All outputs but frames (pandas makes those, and JupyterLab sets their formulas), and plain text,
# in which JupyterLab makes a link of whatever looks like one to it.
_OURS = ".jp-OutputArea-output:not(:has(table.dataframe)):not(.jp-RenderedText)"
_FRAMES = ".jp-OutputArea-output:has(table.dataframe)"


_COMPLAINTS = """() => window.__panel.content.widgets.filter(c => c.model.type === 'code')
    .flatMap(c => c.model.outputs.toJSON())
    .filter(o => o.output_type === 'error' || o.name === 'stderr')"""


class Canary:
    """A server that is never to be asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        asked = self.asked

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append(self.path)
                self.send_response(204)
                self.end_headers()

            do_POST = do_GET

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.host = f"127.0.0.1:{self.server.server_port}"


@pytest.fixture
def canary() -> Iterator[Canary]:
    """Serves during a test, and sees that nobody asked."""
    made = Canary()
    thread = threading.Thread(target=made.server.serve_forever, daemon=True)
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()
    assert made.asked == []


def _texts(canary: Canary) -> list[str]:
    """Returns the corpus as a page's kernel gets it; giants are cut."""
    return [
        whole(text)[:_LONGEST].replace(HOST, canary.host)
        for family in FAMILIES.values()
        for text in family
    ]


def _assert_nothing_became_markup(
    tab: NotebookPage, root: str, never: frozenset[str] = _NEVER
) -> None:
    """Opens and stirs everything, and looks for what only hostile text could have made."""
    tab.page.evaluate(_STIR, root)
    found = tab.page.evaluate(_KINDS, root)
    assert {tag: where for tag, where in found["tags"].items() if tag in never} == {}
    assert {name: where for name, where in found["attributes"].items() if name[:2] == "on"} == {}
    for link in found["links"]:
        name, _, value = link.partition(" ")
        if name == "style":
            assert "url(" not in value, value
        else:
            assert (name, value.partition(":")[0] in SCHEMES) == ("href", True), link
    assert_clean(tab)


@pytest.mark.parametrize("app", ["lab"])
def test_nothing_hostile_runs_in_a_notebook(
    tab: NotebookPage, server: Server, canary: Canary, tmp_path: Path
) -> None:
    texts = _texts(canary)
    setup = f"{_SETUP}FOLDER = {str(tmp_path / 'adr')!r}\n"
    (server.notebooks / "corpus.json").write_text(json.dumps(texts), encoding="utf-8")
    run(tab, server, _REVIEW, FACTS, _TALK, _MORE, _ERROR, setup=setup)
    tab.wait(".rt-form")
    _assert_nothing_became_markup(tab, ".rt-live")
    _assert_nothing_became_markup(tab, ".rt-form")
    tab.type(".rt-field--message textarea", texts[26], delay_ms=0)
    click_now(tab, "continue")
    found = facts(tab)
    assert (found["status"], found["messages"]) == ("done", [texts[26]])
    tab.wait(".rt-field--words textarea")
    _assert_nothing_became_markup(tab, ".rt-live")
    _assert_nothing_became_markup(tab, ".rt-form")
    tab.type(".rt-field--words textarea", texts[27], delay_ms=0)
    tab.page.locator(".rt-form:has(.rt-field--words) .rt-button--continue").click()
    assert facts(tab, 2) == {"talk": "done", "out": "done"}
    tab.wait_finished()
    _assert_nothing_became_markup(tab, _OURS)
    _assert_nothing_became_markup(tab, _FRAMES, _NEVER - {"math"})
    lines = tab.page.evaluate(_KINDS, ".jp-RenderedText")
    assert set(lines["tags"]) <= {"pre", "span", "a"}
    assert not [link for link in lines["links"] if "script:" in link.lower()]
    complaints = [each for each in tab.page.evaluate(_COMPLAINTS) if not _is_the_kernel_s_own(each)]
    assert [each.get("ename", each.get("text")) for each in complaints] == ["UsageError"]
    (error,) = complaints
    assert_harmless_text("\n".join([error["evalue"], *error["traceback"]]))
    shown = " ".join(tab.outputs())
    assert [text for text in texts[:9] if text.split("\n")[0] not in shown] == []
    tab.save()
    server.shut_down_kernels()
    _open_files(tab.page, tmp_path / "adr")
    saved = (server.notebooks / "review.ipynb").read_text(encoding="utf-8")
    foreign = saved.replace("question_wait_s=60", "question_wait_s=61")  # so it isn't trusted
    (server.notebooks / "foreign.ipynb").write_text(foreign, encoding="utf-8")
    for name in ("review.ipynb", "foreign.ipynb"):
        tab.open(name)
        tab.wait("details")
        _assert_nothing_became_markup(tab, _OURS)


def _is_the_kernel_s_own(complaint: dict[str, Any]) -> bool:
    """Whether ipykernel 7 says that a subshell ended with a message unread.

    JupyterLab asks for that when the last comm it serves is closed.
    """
    text = complaint.get("text", "")
    left = "Task was destroyed but it is pending!" in text or "was never awaited" in text
    return left and "run_in_context" in text


def _open_files(page: Page, folder: Path) -> None:
    """Opens every exported page as a file, with its own policy and without any."""
    pages = sorted(folder.rglob("*.html"))
    assert len(pages) == 2
    for path in list(pages):
        text = path.read_text(encoding="utf-8")
        if POLICY in text:
            bare = path.with_name("bare.html")
            bare.write_text(text.replace(POLICY, "x"), encoding="utf-8")
            pages.append(bare)
    for path in pages:
        _open_file(page.context.new_page(), path)


def _note(seen: list[str], dialog: Dialog) -> None:
    seen.append(dialog.message)
    dialog.accept()


def _open_file(page: Page, path: Path, scripts: int = 0) -> None:
    seen: list[str] = []
    page.on("dialog", partial(_note, seen))
    page.on("request", lambda request: seen.append(request.url))
    page.on("pageerror", lambda error: seen.append(str(error)))
    page.goto(path.as_uri())
    if scripts:
        page.wait_for_selector("#picture svg")
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    page.mouse.move(400, 300)
    assert page.evaluate("window.hacked === undefined")
    assert [url for url in seen if url != path.as_uri()] == []
    assert page.evaluate("document.scripts.length") == scripts
    page.close()


def test_picture_of_hostile_texts_draws_and_runs_nothing(
    browser: Browser, canary: Canary, tmp_path: Path
) -> None:
    texts = _texts(canary)
    values = [{"label": text, "seats": 1} for text in texts[::4]]
    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": {"text": texts[0], "subtitle": texts[:40]},
        "data": {"values": values},
        "mark": {"type": "bar", "tooltip": True},
        "encoding": {"x": {"field": "seats"}, "y": {"field": "label", "type": "nominal"}},
    }
    path = tmp_path / "picture.html"
    converter: Any = vl_convert  # its types ask for a snippet, it doesn't
    library = converter.javascript_bundle(vl_version="5.20")
    path.write_text(picture_page(spec, texts[0], library), encoding="utf-8")
    _open_file(browser.new_page(), path, scripts=2)


def test_browser_s_own_parser_finds_no_markup_but_ours(browser: Browser, canary: Canary) -> None:
    page = browser.new_page()
    seen: list[str] = []
    page.on("request", lambda request: seen.append(request.url))
    page.on("dialog", partial(_note, seen))
    page.set_content("<!DOCTYPE html><title>x</title><body></body>")
    for family, texts in FAMILIES.items():
        fragments = [report_html(states_of(text)[1]).replace(HOST, canary.host) for text in texts]
        for found in page.evaluate(_PARSED, fragments):
            assert set(found["tags"]) <= OUR_TAGS, (family, found["tags"])
            assert set(found["attributes"]) <= OUR_ATTRIBUTES, (family, found["attributes"])
            assert set(found["schemes"]) <= SCHEMES, (family, found["schemes"])
            assert found["stray"] == 0, family
    assert page.evaluate("window.hacked === undefined")
    assert seen == []
    page.close()
