"""What holds for every test: a home of its own, a store of its own, no network but loopback."""

from __future__ import annotations

import gc
import ipaddress
import os
import signal
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import second_tries
from tests.environment import scrubbed_environment

_BLOCKED_EVENTS = {"socket.connect", "socket.sendto", "socket.sendmsg"}


def _is_loopback(address: object) -> bool:
    if not isinstance(address, tuple):
        return True  # a Unix socket's path
    try:
        return ipaddress.ip_address(str(address[0]).partition("%")[0]).is_loopback
    except ValueError:
        return bool(address[0] == "localhost")


def _refuse_network(event: str, arguments: tuple[object, ...]) -> None:
    # An audit hook sees every socket, whichever library opened it.
    if event in _BLOCKED_EVENTS and not _is_loopback(arguments[1]):
        raise PermissionError(f"a test tried to reach {arguments[1]!r}; only loopback is allowed")


def pytest_configure(config: pytest.Config) -> None:
    """Shuts the network off for the whole run, and lets children be interrupted.

    A run that a shell started in the background ignores Ctrl-C, and so would every program that
    the tests start and interrupt.
    """
    config.pluginmanager.register(second_tries)
    gc.disable()  # thousands of tests are collected; what that makes stays
    sys.addaudithook(_refuse_network)
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


# Before xdist looks for groups, after the folders have made theirs.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Lets the tests of a file run in one worker where nobody says otherwise."""
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.path.stem))


def pytest_collection_finish() -> None:
    """Keeps what stands for the whole run out of every garbage collection to come.

    Thousands of collected tests are looked at by each; IPython alone makes several for every shell.
    """
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the temporary home folder of this test run."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="session", autouse=True)
def _own_home(home: Path) -> Iterator[None]:
    """Replaces the environment of the person who runs the tests."""
    own = scrubbed_environment(home)
    kept = {name: text for name, text in os.environ.items() if name.startswith(("PYTEST", "COV"))}
    # Runs on another pandas are asked for with this; see the Makefile.
    kept |= {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update({**own, **kept})
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture(autouse=True)
def _own_store(home: Path) -> Iterator[None]:
    """Gives each test a store that no other test has written to."""
    # Not the monkeypatch fixture: a test may undo that one, and property tests may not use it.
    with pytest.MonkeyPatch.context() as patch:
        path = home / "stores" / f"{uuid.uuid4().hex}.db"
        patch.setenv("RT_NOTEBOOK_STORE", str(path))
        yield
        _close_store(path)


@pytest.fixture
def settings_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Gives the store that a project's file names, in whose folder the test runs."""
    monkeypatch.delenv("RT_NOTEBOOK_STORE")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "roundtable.toml").write_text("[defaults]\nstore = 'mine.db'", encoding="utf-8")
    return tmp_path / "mine.db"


def _close_store(path: Path) -> None:
    """Closes a test's store: a run of all tests would have more files open than `select` takes."""
    module = sys.modules.get("rt_notebook.store.sqlite")
    if module is not None and (store := module._OPEN.pop(path, None)) is not None:
        store.close()
