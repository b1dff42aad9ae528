"""Reads the package's source as syntax trees, for the tests that hold the architecture."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.environment import ROOT

PACKAGE = "rt_notebook"


@dataclass(frozen=True)
class Import:
    """One import statement's target, wherever in a module it stands."""

    module: str
    """The importing module, dotted."""

    target: str
    """The imported module, dotted; `from package import submodule` names the submodule."""

    line: int
    """Where it stands."""

    for_types_only: bool
    """It stands below `if TYPE_CHECKING:`, so it never runs."""


def python_files(*folders: str) -> list[Path]:
    """Returns every Python file below the named folders of the project."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def module_name(path: Path) -> str:
    """Returns a file's dotted module name."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def tree_of(path: Path) -> ast.Module:
    """Returns a file's syntax tree."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


@cache
def package_modules() -> dict[str, Path]:
    """Returns every module of the package with its file."""
    return {module_name(path): path for path in python_files(PACKAGE)}


def package_imports() -> Iterator[Import]:
    """Yields every import in the package, those in functions and for types included."""
    for module, path in package_modules().items():
        typing_only = _type_checking_nodes(tree_of(path))
        for node in ast.walk(tree_of(path)):
            for target in _targets(node, module, path):
                yield Import(module, target, getattr(node, "lineno", 0), id(node) in typing_only)


def _type_checking_nodes(tree: ast.Module) -> set[int]:
    return {
        id(child)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
        for statement in node.body
        for child in ast.walk(statement)
    }


def _targets(node: ast.AST, module: str, path: Path) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        base = _absolute(node, module, path)
        return sorted({_submodule_or(base, alias.name) for alias in node.names})
    return []


def _absolute(node: ast.ImportFrom, module: str, path: Path) -> str:
    if not node.level:
        return node.module or ""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    parts = package.split(".")
    parts = parts[: len(parts) - node.level + 1]
    return ".".join([*parts, node.module] if node.module else parts)


def _submodule_or(base: str, name: str) -> str:
    return f"{base}.{name}" if f"{base}.{name}" in package_modules() else base
