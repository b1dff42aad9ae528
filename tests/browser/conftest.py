"""Fixtures of the tests in a real browser: one server a front end, one Chromium a test file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.labdriver import NotebookPage, chromium, notebook_page
from tests.browser.servers import App, Server
from tests.notebook.runner import NEWEST

_HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks every test below this folder, so that no file can forget to."""
    for item in items:
        if item.path.is_relative_to(_HERE):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(params=["lab", "notebook"])
def app(request: pytest.FixtureRequest) -> App:
    """Runs the test in JupyterLab and in Notebook 7."""
    chosen: App = request.param
    return chosen


@pytest.fixture
def kernel(request: pytest.FixtureRequest) -> str:
    """Names the kernelspec: the newest, unless parametrised with `indirect=True`."""
    return str(getattr(request, "param", NEWEST))


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


@pytest.fixture
def tab(browser: Browser, server: Server) -> Iterator[NotebookPage]:
    """Opens a tab that knows nothing of other tests; its kernels end with the test."""
    with notebook_page(browser, server) as opened:
        yield opened
