"""Other releases of packages that the tests also run on, each in a folder of its own."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Release:
    """One more release of a package, kept out of the environment."""

    folder: str
    """Where it is put, below `.cache`."""

    requirements: tuple[str, ...]
    """What is installed there, without dependencies."""

    below_python: tuple[int, int] = (99, 0)
    """The first Python that has no built package of it."""


def _kernel(version: str) -> Release:
    return Release(f"kernels/ipykernel-{version}", (f"ipykernel=={version}.*",))


KERNELS: dict[str, Release | None] = {
    "ipykernel-newest": None,  # the environment's own
    "ipykernel-7.3": _kernel("7.3"),
    "ipykernel-7.1": _kernel("7.1"),
    "ipykernel-6.31": _kernel("6.31"),
    "ipykernel-6.29.5": _kernel("6.29.5"),
}
"""Kernelspec name to the ipykernel it runs: each behaves differently while a cell waits."""

PANDAS: dict[str, Release] = {
    # pytz came with pandas until 3.0 and is no longer in the environment.
    "pandas-2.2": Release("pandas-2.2", ("pandas==2.2.*", "pytz"), (3, 14)),
}
"""The oldest pandas that is supported; the environment has the newest."""
