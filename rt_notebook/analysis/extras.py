"""What is said where an optional package is missing: one line with the command that installs it."""

from __future__ import annotations

from rt_notebook.errors import MissingExtraError


def missing_extra(what: str, package: str, extra: str) -> MissingExtraError:
    """Return the error that says how to get a missing package.

    Args:
        what: what the person wanted to do.
        package: the package that isn't there.
        extra: the extra of this package that brings it.
    """
    return MissingExtraError(
        f"{what} needs {package}, which isn't installed; "
        f"run `pip install 'rt-notebook[{extra}]'` (in a notebook: `%pip install …`)",
        package=package,
        extra=extra,
    )
