"""Fixtures of the tests in a real browser: one server a front end, one Chromium a test file.

Tests of one file and front end share a page; one that fails takes it away. With several workers
they go to the same one (`--dist loadgroup`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.labdriver import NotebookPage, chromium, notebook_page
from tests.browser.servers import App, Server

_HERE = Path(__file__).parent
_Pages = dict[App, tuple[ExitStack, NotebookPage]]
_failed = pytest.StashKey[bool]()


# Before xdist looks for groups.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks every test below this folder, so that no file can forget to."""
    for item in items:
        if item.path.is_relative_to(_HERE):
            item.add_marker(pytest.mark.browser)
            app = item.callspec.params.get("app") if hasattr(item, "callspec") else None
            item.add_marker(pytest.mark.xdist_group(f"{item.path.stem} {app}"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Notes which tests failed: their page is not used again, but tells what is in it."""
    report = yield
    item.stash[_failed] = item.stash.get(_failed, False) or report.failed
    page = getattr(item, "funcargs", {}).get("tab")
    if report.when == "call" and report.failed and isinstance(page, NotebookPage):
        report.sections.append(("the page", _diagnosis(page)))
    return report


def _diagnosis(page: NotebookPage) -> str:
    try:
        return page.diagnosis()
    except Exception as error:  # the page is gone, which is a diagnosis too
        return f"{type(error).__name__}: {error}"


@pytest.fixture(params=["lab", "notebook"])
def app(request: pytest.FixtureRequest) -> App:
    """Runs the test in JupyterLab and in Notebook 7."""
    chosen: App = request.param
    return chosen


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[App], Server]]:
    """Returns a function that starts a front end's server at its first use."""
    with ExitStack() as stack:

        @cache
        def server_of(app: App) -> Server:
            return stack.enter_context(Server(app, tmp_path_factory.mktemp(app)))

        yield server_of


@pytest.fixture
def server(servers: Callable[[App], Server], app: App) -> Server:
    """Returns the running server of the test's front end."""
    return servers(app)


# A module's, not the session's: while Playwright runs, no other event loop can in this thread.
@pytest.fixture(scope="module")
def browser(home: Path) -> Iterator[Browser]:
    """Starts Chromium."""
    with chromium(home) as started:
        yield started


@pytest.fixture(scope="module")
def pages() -> Iterator[_Pages]:
    """Holds the open page of each front end."""
    opened: _Pages = {}
    yield opened
    for stack, _ in opened.values():
        stack.close()


@pytest.fixture
def tab(
    request: pytest.FixtureRequest, browser: Browser, server: Server, pages: _Pages
) -> Iterator[NotebookPage]:
    """Gives a tab in which nothing runs; its kernels end with the test."""
    if server.app not in pages:
        stack = ExitStack()
        pages[server.app] = stack, stack.enter_context(notebook_page(browser, server))
    stack, page = pages[server.app]
    before = page.reconnects
    yield page
    request.node.user_properties.append(("reconnects", page.reconnects - before))
    if request.node.stash.get(_failed, False) or not page.rest():
        del pages[server.app]
        stack.close()
    server.shut_down_kernels()
