"""Drives a notebook in a real browser as a person does: runs, clicks, types, reloads, saves.

Everything waits for something that is seen in the page, never for a time. Commands go through the
front end's own command registry, so that the menus' translations and places don't matter.

Loading the front end costs more than all that a test does in it: `NotebookPage.show` puts the next
test's cells into the page that is there, with a fresh kernel; `open` loads the page anew.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Browser, Dialog, Locator, Page, WebSocket, sync_playwright
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from tests.browser.servers import Server
from tests.browser.traffic import Frame, is_settled, requests, told
from tests.notebook.runner import NEWEST
from tools.chromium import find_chromium

Theme = Literal["light", "dark"]
WIDE, NARROW = 1300, 700
"""Widths in CSS pixels at which pictures are taken."""

_FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-sync", "--disable-background-networking", "--disable-component-update"),
    # Whatever a page or the browser itself asks for, only loopback has an address.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
# What Notebook 7 itself throws while it loads, with no code of a notebook in the page.
_FRONT_END_NOISE = {"Cannot read properties of undefined (reading 'schema')"}
_READY = """() => {
    if (!window.jupyterapp || !document.querySelector('.jp-Notebook .jp-Cell')) return false;
    const panel = [...window.jupyterapp.shell.widgets('main')].find(w => w.sessionContext);
    window.__panel = panel;
    const kernel = panel?.sessionContext?.session?.kernel;
    return !!kernel && panel.sessionContext.isReady && ['idle', 'busy'].includes(kernel.status);
}"""
# What a person does by "Reload Notebook from Disk" and "Change Kernel".
_REPLACE = """async kernel => {
    const panel = window.__panel;
    await panel.context.revert();
    panel.content.activeCellIndex = 0;
    panel.content.mode = 'command';
    await panel.sessionContext.changeKernel({name: kernel});
}"""
_UNCOVERED = "() => !document.getElementById('jupyterlab-splash')"
_IS_LIGHT = "document.body.dataset.jpThemeLight === light"
_END_KERNEL = "() => window.__panel?.sessionContext.shutdown()"
# From the model: the page shows a text piece by piece, and drops what is scrolled out of sight.
_PRINTED = """start => window.__panel.content.widgets.filter(c => c.model.type === 'code')
    .flatMap(c => c.model.outputs.toJSON()).filter(o => o.output_type === 'stream')
    .flatMap(o => (Array.isArray(o.text) ? o.text.join('') : o.text).split('\\n').slice(0, -1))
    .filter(line => line.startsWith(start))"""
_DIALOG = "() => !!document.querySelector('.jp-Dialog')"
_START = """([command, args]) => {
    const run = window.__run = {done: false, error: null};
    window.jupyterapp.commands.execute(command, args)
        .catch(error => { run.error = String(error); }).finally(() => { run.done = true; });
}"""
_FINISHED = """() => window.__run?.done
    && window.__panel.sessionContext.session.kernel.status === 'idle'
    && window.__panel.content.widgets.every(
        c => !c.node.querySelector('.jp-InputPrompt')?.textContent.includes('*'))"""
_PROMPTS = """() => window.__panel.content.widgets.filter(c => c.model.type === 'code')
    .map(c => c.node.querySelector('.jp-InputPrompt')?.textContent.trim() ?? '')"""
_OUTPUTS = """() => window.__panel.content.widgets.filter(c => c.model.type === 'code').map(
    c => [...c.node.querySelectorAll('.jp-OutputArea-output')].map(o => o.innerText).join('\\n'))"""


@dataclass
class NotebookPage:
    """One open notebook in one browser tab."""

    server: Server
    """The front end it is opened from."""

    page: Page
    """Playwright's page, for what the helpers here don't cover."""

    name: str = ""
    """The open notebook's file name."""

    frames: list[Frame] = field(default_factory=list)
    """Every websocket message since the page was made."""

    console_errors: list[str] = field(default_factory=list)
    """Errors of the page's console and uncaught exceptions, the front end's known ones aside."""

    foreign_requests: list[str] = field(default_factory=list)
    """Addresses the page asked for that are not the server's: none may be."""

    dialogs: list[str] = field(default_factory=list)
    """Native dialogs, which hostile text opens when its script runs; leaving the page aside."""

    reconnects: int = 0
    """How often a kernel had left the page's requests unread; see `until`."""

    def __post_init__(self) -> None:
        """Starts to listen; earlier messages would be lost."""
        self._sockets = 0
        self.page.on("console", self._on_console)
        self.page.on("pageerror", lambda error: self._add_error(str(error)))
        self.page.on("websocket", self._on_websocket)
        self.page.on("request", lambda request: self._on_request(request.url))
        self.page.on("dialog", self._on_dialog)

    def _on_console(self, message: Any) -> None:
        if message.type == "error":
            self._add_error(message.text)

    def _add_error(self, text: str) -> None:
        if text not in _FRONT_END_NOISE:
            self.console_errors.append(text)

    def _on_websocket(self, socket: WebSocket) -> None:
        if "/channels" not in socket.url:
            return
        self._sockets += 1
        number, add, now = self._sockets, self.frames.append, time.monotonic
        socket.on("framesent", lambda body: add(Frame(now(), "sent", body, number)))
        socket.on("framereceived", lambda body: add(Frame(now(), "received", body, number)))

    def _on_request(self, url: str) -> None:
        local = (f"http://127.0.0.1:{self.server.port}/", "data:", "blob:")
        if not url.startswith(local):
            self.foreign_requests.append(url)

    def _on_dialog(self, dialog: Dialog) -> None:
        if dialog.type != "beforeunload":
            self.dialogs.append(dialog.message)
        dialog.accept()

    # Opening, saving, running

    def open(self, name: str, timeout_s: float = 60) -> None:
        """Opens a notebook and waits for its kernel."""
        self.name = name
        before = self._sockets
        self.page.goto(self.server.url(name))
        self._wait_ready(timeout_s)
        self._wait_settled(before)

    def show(self, name: str, cells: Iterable[str], kernel: str = NEWEST) -> None:
        """Writes a notebook and shows it, with a fresh kernel that has run nothing.

        The page that shows this notebook already is kept: only its cells and kernel are replaced.
        """
        self.server.write(name, cells, kernel)
        if self.name != name:
            self.open(name)
            return
        before = self._sockets
        self.page.evaluate(_REPLACE, kernel)
        self._wait_ready(60)
        self._wait_settled(before)
        # The front end complains about every message that the last kernel left unanswered.
        self._forget()

    def rest(self) -> bool:
        """Ends the kernel between two tests; False: load a new page."""
        if not self.name or self.page.evaluate(_DIALOG):
            return False
        self.page.evaluate(_END_KERNEL)
        self.set_width(WIDE)
        return True

    def _forget(self) -> None:
        for seen in (self.frames, self.console_errors, self.foreign_requests, self.dialogs):
            seen.clear()

    def reload(self, timeout_s: float = 60) -> None:
        """Reloads the page, as after a lost connection; unsaved changes are gone."""
        self.page.reload()
        self._wait_ready(timeout_s)

    def _wait_ready(self, timeout_s: float) -> None:
        self.page.wait_for_function(_READY, timeout=timeout_s * 1000)

    def _wait_settled(self, before: int) -> None:
        """Waits until a fresh kernel has answered all that the page asks it by itself.

        ipykernel 7.0-7.3 can leave a request unread that reaches it while it answers another one;
        nobody is as quick with a cell as this driver would be.
        """
        # What came back for requests on an earlier socket may be lost with it.
        self.until(lambda: is_settled(self._frames_since(max(before, self._sockets - 1))))

    def _frames_since(self, before: int) -> list[Frame]:
        return [frame for frame in self.frames if frame.socket > before]

    def until(self, condition: Callable[[], bool], patience_s: float = 10) -> None:
        """Waits for a kernel that has run nothing of ours; connects anew, as a person does then."""
        for _ in range(3):
            deadline = time.monotonic() + patience_s
            while time.monotonic() < deadline:
                if condition():
                    return
                self.page.wait_for_timeout(20)  # frames come in meanwhile
            self.reconnects += 1
            self.command("kernelmenu:reconnect-to-kernel")
        raise AssertionError(f"the kernel doesn't answer the page:\n{told(self.frames)}")

    def command(self, name: str, **arguments: Any) -> None:
        """Runs a front-end command to its end."""
        # Its result stays in the page: most are objects that can't be passed on.
        script = "([name, args]) => window.jupyterapp.commands.execute(name, args).then(() => null)"
        self.page.evaluate(script, [name, arguments])

    def save(self) -> None:
        """Saves the notebook and waits until the file is written."""
        self.command("docmanager:save")

    def run_all(self) -> None:
        """Starts every cell; see `wait_finished`."""
        self.page.evaluate(_START, ["notebook:run-all-cells", {}])

    def restart_and_run_all(self) -> None:
        """Restarts the kernel and starts every cell; confirms the front end's question."""
        before = self._sockets
        self.page.evaluate(_START, ["notebook:restart-run-all", {}])
        self.page.click(".jp-Dialog .jp-mod-accept")
        # The front end starts the first cell while the kernel answers what it asks by itself.
        self.until(lambda: self._has_begun(before))

    def _has_begun(self, before: int) -> bool:
        asked = requests(self._frames_since(before))
        return any(request.kind == "execute_request" and request.heard for request in asked)

    def interrupt(self) -> None:
        """Presses the stop button."""
        self.command("notebook:interrupt-kernel")

    def wait_finished(self, timeout_s: float = 60) -> None:
        """Waits until the started cells have ended and the kernel is idle."""
        self.page.wait_for_function(_FINISHED, timeout=timeout_s * 1000)

    # Acting

    def find(self, selector: str) -> Locator:
        """Returns Playwright's locator within the notebook."""
        return self.page.locator(".jp-Notebook").locator(selector)

    def wait(self, selector: str, timeout_s: float = 30) -> Locator:
        """Waits until the first match within the notebook can be seen, and returns it."""
        found = self.find(selector).first
        found.wait_for(state="visible", timeout=timeout_s * 1000)
        return found

    def wait_gone(self, selector: str, timeout_s: float = 30) -> None:
        """Waits until nothing within the notebook matches any more."""
        self.page.wait_for_function(
            "s => !document.querySelector('.jp-Notebook').querySelector(s)",
            arg=selector,
            timeout=timeout_s * 1000,
        )

    def wait_text(self, text: str, timeout_s: float = 30) -> Locator:
        """Waits until some output shows a text, and returns the smallest element with it."""
        found = self.find(".jp-OutputArea-output").get_by_text(text).first
        found.wait_for(state="visible", timeout=timeout_s * 1000)
        return found

    def click(self, selector: str, timeout_s: float = 30) -> None:
        """Clicks with the mouse, once the element can be seen and takes clicks."""
        self.find(selector).first.click(timeout=timeout_s * 1000)

    def type(self, selector: str, text: str, delay_ms: float = 20) -> None:
        """Focuses an input and presses the keys of a text, one after the other."""
        self.find(selector).first.press_sequentially(text, delay=delay_ms)

    def press(self, selector: str, key: str) -> None:
        """Presses one key or chord in an element, such as `Control+Enter`."""
        self.find(selector).first.press(key)

    # Reading

    def prompts(self) -> list[str]:
        """Returns the code cells' prompts: `[1]:`, `[*]:` while running, `[ ]:` before."""
        return list(self.page.evaluate(_PROMPTS))

    def outputs(self) -> list[str]:
        """Returns each code cell's outputs as the text a person sees."""
        return list(self.page.evaluate(_OUTPUTS))

    def printed(self, start: str, count: int = 1) -> str:
        """Waits until n whole lines that begin so were printed; returns the rest of the n-th."""
        ready = f"([start, n]) => ({_PRINTED})(start).length >= n"
        try:
            self.page.wait_for_function(ready, arg=[start, count])
        except PlaywrightTimeout as error:
            raise AssertionError(f"{self.prompts()}\n{self.outputs()}") from error
        lines: list[str] = self.page.evaluate(_PRINTED, start)
        return lines[count - 1].removeprefix(start)

    def text(self, selector: str) -> str:
        """Returns the visible text of the first match within the notebook."""
        return self.find(selector).first.inner_text()

    def title(self) -> str:
        """Returns the browser tab's title."""
        return self.page.title()

    def diagnosis(self) -> str:
        """Returns what tells why something never came into the page."""
        facts = {
            "prompts": self.prompts(),
            "outputs": [text[-500:] for text in self.outputs()],
            "kernel": self.page.evaluate("window.__panel.sessionContext.session?.kernel?.status"),
            "dialog in the page": self.page.evaluate(_DIALOG),
            "console": self.console_errors,
            "reconnects": self.reconnects,
        }
        lines = [f"{name}: {fact}" for name, fact in facts.items()]
        return "\n".join([*lines, told(self.frames), self.server.log_tail()])

    def bytes_received(self) -> int:
        """Returns how much the kernel has sent to the page."""
        return sum(len(frame.payload) for frame in self.frames if frame.direction == "received")

    # Looking

    def set_width(self, width: int) -> None:
        """Sets the window's width in CSS pixels."""
        self.page.set_viewport_size({"width": width, "height": 1000})

    def set_theme(self, theme: Theme) -> None:
        """Switches the front end's theme and waits until it shows."""
        light = str(theme == "light").lower()
        # JupyterLab covers the page meanwhile and takes the cover away 200 ms later, once for each
        # switch: a second one within that time makes it throw.
        self.page.wait_for_function(_UNCOVERED)
        if self.page.evaluate("document.body.dataset.jpThemeLight") != light:
            self.command("apputils:change-theme", theme=f"JupyterLab {theme.title()}")
            self.page.wait_for_function(f"light => ({_IS_LIGHT}) && ({_UNCOVERED})()", arg=light)

    def screenshot(
        self,
        path: Path,
        *,
        width: int = WIDE,
        theme: Theme = "light",
        selector: str | None = None,
    ) -> Path:
        """Takes a picture of the window, or of one element in the notebook."""
        self.set_width(width)
        self.set_theme(theme)
        path.parent.mkdir(parents=True, exist_ok=True)
        if selector is None:
            self.page.screenshot(path=path)
        else:
            self.find(selector).first.screenshot(path=path)
        return path


@contextmanager
def chromium(home: Path) -> Iterator[Browser]:
    """Starts the system's Chromium, headless, with its profile below `home`."""
    path = find_chromium()
    if path is None:
        raise RuntimeError("Chromium is missing: `make test` installs it, or set CHROMIUM.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=_FLAGS, env={"HOME": str(home)}
        )
        yield browser
        browser.close()


@contextmanager
def notebook_page(browser: Browser, server: Server, width: int = WIDE) -> Iterator[NotebookPage]:
    """Opens an empty tab in a fresh browser profile, and ends the server's kernels afterwards."""
    context = browser.new_context(viewport={"width": width, "height": 1000})
    try:
        yield NotebookPage(server, context.new_page())
    finally:
        context.close()
        server.shut_down_kernels()
