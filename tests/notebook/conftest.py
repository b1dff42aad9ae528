"""Fixtures of the tests in real kernels; each test gets a kernel, a home and a store of its own."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.notebook.runner import ALL_KERNELS, NEWEST, Executed, RunNotebook, execute, make_notebook

_HERE = Path(__file__).parent


# Before xdist looks for groups.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks every test below this folder, so that no file can forget to."""
    for item in items:
        if item.path.is_relative_to(_HERE):
            item.add_marker(pytest.mark.notebook)
            params = item.callspec.params.values() if hasattr(item, "callspec") else ()
            kernel = next((name for name in params if name in ALL_KERNELS), "")
            # Tests of one file share its kernels; with several workers they go to the same one.
            item.add_marker(pytest.mark.xdist_group(f"{item.path.stem} {kernel}"))


@pytest.fixture(params=ALL_KERNELS)
def kernel(request: pytest.FixtureRequest) -> str:
    """Runs the test on each supported ipykernel; the value names its kernelspec."""
    return str(request.param)


@pytest.fixture
def run_notebook(tmp_path: Path) -> RunNotebook:
    """Returns a function that runs cells headless and returns the executed notebook."""

    def run(
        cells: Iterable[str],
        *,
        kernel: str = NEWEST,
        timeout_s: float = 60,
        allow_errors: bool = False,
        env: dict[str, str] | None = None,
    ) -> Executed:
        return execute(
            make_notebook(cells, kernel),
            tmp_path,
            timeout_s=timeout_s,
            allow_errors=allow_errors,
            env=env,
        )

    return run
