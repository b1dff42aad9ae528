"""What the doctor looks at; asks vendors' commands their free questions, and never a model."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from rt_notebook import session
from rt_notebook.config import Config, seat_table
from rt_notebook.domain.seat import Seat
from rt_notebook.engine.runner import runner
from rt_notebook.errors import OptionError, RoundtableError, one_line
from rt_notebook.frontends.doctor_report import MISSING, OK, PROBLEM, UNKNOWN, Finding
from rt_notebook.frontends.place import Place
from rt_notebook.providers.api_doors import INSTALL, KEY_VARIABLES, has_key, require_extra
from rt_notebook.providers.cli.provider import CliProvider
from rt_notebook.providers.cli.readiness import Readiness, readiness
from rt_notebook.providers.cli.vendors import VENDORS
from rt_notebook.providers.consents import Consents
from rt_notebook.providers.plug_ins import plug_in_names
from rt_notebook.providers.prices import listed_models
from rt_notebook.store import store_path
from rt_notebook.store.aside import SetAside, stores_set_aside
from rt_notebook.store.file_systems import network_file_system

_PACKAGES: Final = (
    *("rt-notebook", "ipython", "ipykernel", "ipywidgets", "anywidget", "pandas", "pydantic"),
    *("jupyterlab", "notebook"),
)
_EXTRAS: Final = {
    "api": ("pydantic-ai-slim", "model APIs"),
    "plots": ("altair", "plots"),
    "arrow": ("pyarrow", "Parquet and Arrow"),
    "mcp": ("mcp", "the MCP server"),
}
# The vendors that most people mean; the others are told where they have a key.
_USUAL: Final = ("openai", "anthropic", "google", "openrouter")
_LOW_SPACE: Final = 200 * 1024 * 1024
_SHOWN_MODELS: Final = 4


def python_findings() -> Iterator[Finding]:
    """Yield Python, the packages and the extras."""
    found = f"{platform.python_version()} ({platform.system()} {platform.machine()})"
    yield Finding("Python", "Python", OK, found)
    for name in _PACKAGES:
        if (installed := _version(name)) is not None:
            yield _package(name, installed)
    for extra, (package, what) in _EXTRAS.items():
        installed = _version(package)
        if installed is not None:
            yield Finding("Python", f"extra {extra}", OK, f"{package} {installed}")
        else:
            step = INSTALL.replace("[api]", f"[{extra}]")
            yield Finding("Python", f"extra {extra}", MISSING, f"for {what}", step)


def place_findings(place: Place) -> Iterator[Finding]:
    """Yield where this runs, and whether anybody can be asked there."""
    if place.kernel is not None and place.stdin:
        yield Finding("Front end", "notebook", OK, "a kernel whose front end can be asked")
    elif place.kernel is not None:
        detail = "a kernel without stdin (nbclient, papermill, ...): nobody is asked, nothing waits"
        yield Finding("Front end", "headless", OK, detail)
    elif place.terminal:
        yield Finding("Front end", "terminal", OK, "questions are asked here")
    else:
        detail = "neither a notebook nor a terminal: nobody is asked, nothing waits"
        yield Finding("Front end", "program", OK, detail)


def store_findings(config: Config) -> Iterator[Finding]:
    """Yield where debates are kept, and whether they can be."""
    try:
        path = store_path(config.review_defaults().get("store"))
    except OptionError as exc:
        yield Finding("Store", "place", PROBLEM, str(exc))
        return
    yield Finding("Store", "place", OK, str(path))
    folder = _first_folder(path)
    for place in (path, folder):
        if place.exists() and not os.access(place, os.W_OK):
            step = "make it writable, or name another place with RT_NOTEBOOK_STORE"
            yield Finding("Store", "writable", PROBLEM, f"{place} can't be written to", step)
            break
    network = network_file_system(path)
    if network is not None:
        detail = f"{network}, a network mount: slower, with a rollback journal in place of WAL"
        yield Finding("Store", "file system", OK, detail)
    free = shutil.disk_usage(folder).free
    step = "free some space: a full disk interrupts debates" if free < _LOW_SPACE else ""
    yield Finding("Store", "free space", PROBLEM if step else OK, _megabytes(free), step)
    yield _size(path)
    yield from map(_set_aside, stores_set_aside(path))


def api_findings() -> Iterator[Finding]:
    """Yield the vendors' APIs: whether a key is there, and what can be priced."""
    try:
        require_extra()
    except RoundtableError:
        yield Finding("Providers", "model APIs", MISSING, "the extra api isn't installed", INSTALL)
        return
    for vendor, variables in KEY_VARIABLES.items():
        if vendor.endswith(("-chat", "-responses")):  # other doors of a vendor that is told
            continue
        if has_key(vendor):
            yield Finding("Providers", vendor, OK, _api_detail(vendor, variables))
        elif vendor in _USUAL:
            step = f"set {variables[0]}, then seat NAME={vendor}:MODEL"
            yield Finding("Providers", vendor, MISSING, f"no key in {' or '.join(variables)}", step)


def command_findings(consents: Consents) -> Iterator[Finding]:
    """Yield the vendors' commands: version, login by their free check, and what leaks in."""
    for name in VENDORS:
        provider = CliProvider.of_seat(Seat("doctor", model=f"cli:{name}"), consents=consents)
        found = _asked(provider)
        yield _command(name, found)
        if found.program is not None:
            for leak in provider.warnings():
                yield Finding("Providers", "  good to know", OK, leak.partition(": ")[2])


def plug_in_findings() -> Iterator[Finding]:
    """Yield the prefixes that installed packages bring along."""
    for name in plug_in_names():
        yield Finding("Providers", name, OK, "a plug-in of another package")


def seat_findings(config: Config, variables: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield the seats that can be named here, with what keeps them from sitting."""
    for row in seat_table(config, variables):
        name, problem = str(row["name"]), row["problem"]
        detail = f"{row['model']}, from {row['source']}, auth: {row['auth'] or 'unknown'}"
        if problem is None:
            yield Finding("Seats", name, OK, detail)
        else:
            yield Finding("Seats", name, PROBLEM, one_line(str(problem), 600))


def _asked(provider: CliProvider) -> Readiness:
    return runner().run_blocking(lambda job: readiness(provider))


def _package(name: str, installed: str) -> Finding:
    if name == "ipykernel" and installed.startswith("7.0."):
        step = "pip install -U ipykernel"
        return Finding("Python", name, PROBLEM, f"{installed} loses messages of forms", step)
    if name == "ipykernel" and installed.startswith(("7.1.", "7.2.", "7.3.")):
        step = "pip install -U ipykernel, to 7.4 or newer"
        detail = f"{installed}: now and then a message waits until the next one comes"
        return Finding("Python", name, OK, detail, step)
    return Finding("Python", name, OK, installed)


def _command(name: str, found: Readiness) -> Finding:
    if found.program is None:
        return Finding("Providers", f"cli:{name}", MISSING, "not on PATH", found.next_step)
    told = f"{found.version or 'version unknown'}, {found.detail} ({found.program})"
    state = {True: OK, False: MISSING, None: UNKNOWN}[found.ready]
    return Finding("Providers", f"cli:{name}", state, told, found.next_step)


def _api_detail(vendor: str, variables: tuple[str, ...]) -> str:
    variable = next(name for name in variables if os.environ.get(name, "").strip())
    models = listed_models(vendor)
    if not models:
        return f"key in {variable}; no model of it is in the price list"
    shown = ", ".join(models[:_SHOWN_MODELS])
    return f"key in {variable}; {len(models)} models are in the price list, such as {shown}"


def _size(path: Path) -> Finding:
    beside = (path, path.with_name(f"{path.name}-wal"))
    size = sum(each.stat().st_size for each in beside if each.exists())
    if not path.exists():
        return Finding("Store", "size", OK, "not made yet")
    try:
        last = session.rows(limit=1, store=path)
    except RoundtableError as exc:
        return Finding("Store", "size", PROBLEM, one_line(str(exc), 600))
    newest = f", newest debate: {last[0].id}" if last else ", no debate yet"
    return Finding("Store", "size", OK, _megabytes(size) + newest)


def _set_aside(found: SetAside) -> Finding:
    given = shlex.quote(str(found.path))
    step = (
        f"`rt-notebook doctor --recover {given}` puts what is readable into the store; `list` and "
        f"`show` with `--store {given}` look at it"
    )
    detail = f"{found.path}, {_megabytes(found.bytes)}: it was damaged"
    return Finding("Store", "set aside", OK, detail, step)


def _first_folder(path: Path) -> Path:
    return next(folder for folder in path.parents if folder.is_dir())


def _megabytes(size: int) -> str:
    return f"{size / 1_000_000:,.1f} MB"


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
