"""Holds the layout: who may import whom, which package belongs to which module, how long is long.

An import counts wherever it stands: at the top, in a function, below `if TYPE_CHECKING`.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from graphlib import CycleError, TopologicalSorter

from tests.environment import ROOT
from tests.source_tree import (
    PACKAGE,
    Import,
    module_name,
    package_imports,
    package_modules,
    python_files,
    tree_of,
)

MODULE_LINES = 400
FUNCTION_LINES = 60

# The first word below the package decides the row; other modules at its root compose, like session.
ROWS = {
    "characters": 0,
    "collecting": 0,
    "errors": 0,
    "domain": 1,
    "contract": 2,
    "providers": 3,
    "engine": 4,
    "store": 4,
}
ROWS |= {"rendering": 3, "analysis": 5, "frontends": 6, "": 7, "__main__": 7}
COMPOSITION_ROW = 5
# In the same row, but strangers.
STRANGERS = {("engine", "store"), ("store", "engine")}

# Each package, and the part of the standard library that needs one owner, with the modules that
# may import it. A package that is not in the table may not be imported at all.
OWNERS: dict[str, tuple[str, ...]] = {
    "pydantic": ("domain.*", "contract.*", "providers.*", "engine.*", "store.*", "analysis.*",
                 "frontends.*", "session", "config*", "settings*"),
    "pydantic_core": ("domain.*",),
    "pydantic_ai": ("providers.api*",),
    "genai_prices": ("providers.prices*", "engine.estimate*", "providers.api*"),
    "stamina": ("providers.policies*",),
    "tenacity": ("providers.policies*",),
    "aiolimiter": ("providers.policies*",),
    "sqlite3": ("store.sqlite*", "store.migrations*"),
    "subprocess": ("providers.cli.process*", "frontends.detach*"),
    "pandas": ("analysis.frames*",),
    "numpy": ("analysis.frames*", "analysis.measures*"),
    "pyarrow": ("analysis.arrow*",),
    "polars": ("analysis.arrow*",),
    "altair": ("analysis.plots*",),
    "vl_convert": ("analysis.plots*",),
    "platformdirs": ("store.paths*", "providers.cli.environment*", "config*",
                     "settings*"),
    "IPython": ("frontends.magic*", "frontends.line_magic*", "frontends.cell_*",
                "frontends.publish*", "frontends.pump*", "frontends.complet*",
                "frontends.kernel*", "frontends.display*", "frontends.terminal*"),
    "ipykernel": ("frontends.pump*", "frontends.kernel*"),
    "zmq": ("frontends.pump*", "frontends.kernel*"),
    "comm": ("frontends.pump*", "frontends.kernel*", "frontends.widgets*"),
    "nest_asyncio": ("frontends.cell_runner*", "frontends.pump*", "frontends.kernel*"),
    "prompt_toolkit": ("frontends.terminal*",),
    "ipywidgets": ("frontends.widgets*", "frontends.gate_form*", "frontends.live*"),
    "anywidget": ("frontends.widgets*", "frontends.gate_form*", "frontends.live*"),
    "traitlets": ("frontends.widgets*", "frontends.gate_form*", "frontends.live*"),
    "markdown_it": ("frontends.view*", "rendering.*"),
    "nh3": ("frontends.view*", "rendering.*"),
    "rich": ("frontends.terminal*", "frontends.cli*", "frontends.doctor*"),
    "tqdm": ("frontends.terminal*", "frontends.cli*", "analysis.sweep*"),
    "mcp": ("frontends.mcp*",),
}  # fmt: skip
# Standard library that everybody may use has no row here.
OWNED_STANDARD_LIBRARY = {"sqlite3", "subprocess"}
# May be named in annotations, where nothing is loaded, by modules that hand such values on.
FOR_TYPES: dict[str, tuple[str, ...]] = {
    "pandas": ("analysis.*", "session*", "result*", "handle*", "verbs*", "frontends.*", ""),
    "polars": ("analysis.*",),
    "pyarrow": ("analysis.*",),
}


def _below_package(module: str) -> str:
    return module.removeprefix(PACKAGE).removeprefix(".")


def _top(module: str) -> str:
    return _below_package(module).partition(".")[0]


def _row(module: str) -> int:
    return ROWS.get(_top(module), COMPOSITION_ROW)


def _own_imports() -> Iterator[Import]:
    return (found for found in package_imports() if found.target.split(".")[0] == PACKAGE)


def _may_import(module: str, patterns: tuple[str, ...]) -> bool:
    name = _below_package(module)
    # `domain.*` means the package `domain` itself too.
    return any(
        fnmatchcase(name, pattern) or name == pattern.removesuffix(".*") for pattern in patterns
    )


def _assert_none(offenders: list[str]) -> None:
    assert not offenders, "\n".join(["", *offenders])


def test_imports_never_point_upward() -> None:
    upward = [
        f"{found.module}:{found.line} imports {found.target}"
        for found in _own_imports()
        if _row(found.target) > _row(found.module)
    ]
    _assert_none(upward)


def test_engine_and_store_stay_strangers() -> None:
    crossing = [
        f"{found.module}:{found.line} imports {found.target}"
        for found in _own_imports()
        if (_top(found.module), _top(found.target)) in STRANGERS
    ]
    _assert_none(crossing)


def test_modules_do_not_import_in_circles() -> None:
    graph: dict[str, set[str]] = {}
    for found in _own_imports():
        if found.module not in (PACKAGE, found.target):
            graph.setdefault(found.module, set()).add(found.target)
    circle: list[str] = []
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle = error.args[1]
    _assert_none(circle)


def test_foreign_packages_stay_with_owners() -> None:
    strays = []
    for found in package_imports():
        package = found.target.split(".")[0]
        standard = package in sys.stdlib_module_names and package not in OWNED_STANDARD_LIBRARY
        if standard or package == PACKAGE:
            continue
        allowed = OWNERS.get(package, ())
        if found.for_types_only:
            allowed += FOR_TYPES.get(package, ())
        if not _may_import(found.module, allowed):
            strays.append(f"{found.module}:{found.line} imports {package}")
    _assert_none(strays)


def test_no_module_is_longer_than_cap() -> None:
    long = [
        f"{path.relative_to(ROOT)}: {lines} lines"
        for path in python_files(PACKAGE, "tests", "tools", "benchmarks")
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > MODULE_LINES
    ]
    _assert_none(long)


def test_no_function_is_longer_than_cap() -> None:
    long = [
        f"{module_name(path)}.{node.name}: {lines} lines"
        for path in python_files(PACKAGE, "tests", "tools", "benchmarks")
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (lines := (node.end_lineno or node.lineno) - node.lineno + 1) > FUNCTION_LINES
    ]
    _assert_none(long)


def test_every_public_field_is_documented() -> None:
    """In the string below it, where units and defaults' sources stand, or in the class's own."""
    bare = [
        f"{module}:{field.lineno} {owner.name}.{field.target.id}"
        for module, path in package_modules().items()
        for owner in ast.walk(tree_of(path))
        if isinstance(owner, ast.ClassDef) and not owner.name.startswith("_")
        for field, following in zip(owner.body, [*owner.body[1:], None], strict=True)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and not field.target.id.startswith("_")
        and "ClassVar" not in ast.unparse(field.annotation)
        and not _is_docstring(following)
        and not re.search(rf"\b{field.target.id}\b", ast.get_docstring(owner) or "")
    ]
    _assert_none(bare)


def _is_docstring(node: ast.stmt | None) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
