"""Finds and reads `roundtable.toml` and the user's `config.toml`; every key is checked, or refused.

Owns what a file may say. A project's file comes with a cloned repository, so it can't run code,
send a key away or reach a file outside its folder; consents are never read from any file. Knows
no variables and makes no seats.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import platformdirs

from rt_notebook.contract.options import FILE_OPTIONS, LIMIT_KEYS, SEAT_FIELDS, Option, keys_of
from rt_notebook.domain.kinds import DISCUSSION, REVIEW, fits_memory
from rt_notebook.errors import OptionError, nearest, one_line

PROJECT_FILE: Final = "roundtable.toml"
USER_FILE: Final = "config.toml"
CONFIG_VARIABLE: Final = "RT_NOTEBOOK_CONFIG"
"""The environment variable that names the user's file."""

_APPLICATION: Final = "rt_notebook"
_STORE_VARIABLE: Final = "RT_NOTEBOOK_STORE"
_RECORD_VARIABLE: Final = "RT_NOTEBOOK_RECORD"
_BILLING_VARIABLE: Final = "RT_NOTEBOOK_API_BILLING"
_TABLES: Final = ("seats", "defaults", "review", "discussion", "limits")
_CONSENTS: Final = frozenset({"allow_limited_isolation", "acknowledge_terms"})
_CODE_ONLY: Final = frozenset({"base_url", "api_key_env", "api_billing"})
# Model prefixes that run code of the file's choice.
_CODE_MODELS: Final = frozenset({"python", "function"})
_SETTINGS: Final = {key: FILE_OPTIONS[key] for key in FILE_OPTIONS if key not in LIMIT_KEYS}
_LIMITS: Final = {key: FILE_OPTIONS[key] for key in FILE_OPTIONS if key in LIMIT_KEYS}
_SEAT_KEYS: Final = ("model", *SEAT_FIELDS)
# Resolved together with the notebook's variables, so they aren't handed on as plain settings.
_NAMED: Final = frozenset({"seats", "chairman", "observer"})
_CLOSERS: Final = {"review": "chairman", "discussion": "observer"}


@dataclass(frozen=True, slots=True)
class SeatEntry:
    """A `[seats.NAME]` table, checked for its keys only."""

    name: str
    """The seat's name."""
    fields: Mapping[str, Any]
    """The table: `model` and fields of `Seat`."""
    path: Path
    """The file it stands in."""
    source: str
    """`project` or `user`."""


@dataclass(frozen=True, slots=True)
class Config:
    """What the two files say together, the project's before the user's."""

    files: tuple[Path, ...] = ()
    """The files that were read, the project's first."""
    seats: tuple[SeatEntry, ...] = ()
    """All seats, the project's first."""
    default_seats: tuple[str, ...] = ()
    """Names of the seats that sit where a call names none; empty: the built-in ones."""
    chairman: str | None = None
    """Who has the last word where a call names nobody: chairman or observer."""
    chairman_trusted: bool = False
    """True where the user's own file names them."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """`[defaults]` and the kind's own table, merged, without seats, chairman and budgets."""
    limits: Mapping[str, Any] = field(default_factory=dict)
    """`[limits]`, merged field by field; fields of `Limits`."""
    discussion: Config | None = None
    """The same for discussions, from `[defaults]` and `[discussion]`."""

    def for_kind(self, kind: str) -> Config:
        """Return what the files say about this kind of debate; as it stands it is a review's."""
        return self.discussion or self if kind == DISCUSSION else self

    def review_defaults(self) -> dict[str, Any]:
        """Return the settings of a debate that the call may override.

        The environment goes before the files: a store that it names is left out here, and what it
        says about paying by key counts.
        """
        variables = {"store": _STORE_VARIABLE, "record_mode": _RECORD_VARIABLE}
        hidden = {key for key, name in variables.items() if os.environ.get(name)}
        found = {key: value for key, value in self.settings.items() if key not in hidden}
        billing = os.environ.get(_BILLING_VARIABLE)
        return {**found, "api_billing": billing == "1"} if billing else found


def load_config(start: Path | None = None) -> Config:
    """Read the nearest project file from a folder upward, and the user's own file.

    Args:
        start: the notebook's folder, or a file in it; None: the working directory.

    Raises:
        OptionError: a file can't be read, or holds an unknown key, a bad value, or something that
            a file of its kind may not say; the message names the file and the nearest known key.
    """
    user = _user_file()
    project = _project_file(os.curdir if start is None else start)
    if user is not None and project is not None and user.resolve() == project.resolve():
        project = None
    found = [_read(path, name) for path, name in ((project, "project"), (user, "user")) if path]
    if not found:
        return _NO_FILES
    return replace(_merged(found, REVIEW), discussion=_merged(found, DISCUSSION))


def store_of(said: str | Path | None) -> str | Path | None:
    """Return the store that a verb by id looks into: the one said, else the files' one.

    None: what the environment says, else the default store.

    Raises:
        OptionError: a file can't be read, or holds what it may not say.
    """
    return said or load_config().review_defaults().get("store")


_NO_FILES: Final = Config()


def _merged(found: Sequence[_File], kind: str) -> Config:
    """Return what the files, the project's first, say about one kind of debate."""
    settings: dict[str, Any] = {}
    limits: dict[str, Any] = {}
    closer, closer_from = _CLOSERS[kind], ""
    for file in reversed(found):
        settings |= file.settings[kind]
        limits |= file.limits
        closer_from = file.source if closer in file.settings[kind] else closer_from
    return Config(
        files=tuple(file.path for file in found),
        seats=tuple(seat for file in found for seat in file.seats),
        default_seats=settings.get("seats", ()),
        chairman=settings.get(closer),
        chairman_trusted=closer_from == "user",
        settings=MappingProxyType({k: v for k, v in settings.items() if k not in _NAMED}),
        limits=MappingProxyType(limits),
    )


def _project_file(start: str | Path) -> Path | None:
    try:
        folder = os.path.abspath(start)
    except FileNotFoundError:  # the working directory was removed
        return None
    # A folder that may not be looked into holds no file for us.
    return next((Path(path) for path in _places(folder) if os.path.isfile(path)), None)


@lru_cache(maxsize=16)  # a sweep asks for each of its debates
def _places(folder: str) -> tuple[str, ...]:
    """Return where a project's file may stand, from a folder upward."""
    folders = [folder]
    while (above := os.path.dirname(folders[-1])) != folders[-1]:
        folders.append(above)
    return tuple([os.path.join(each, PROJECT_FILE) for each in folders])


def _user_file() -> Path | None:
    named = os.environ.get(CONFIG_VARIABLE, "")
    if named:
        path = Path(os.path.abspath(os.path.expanduser(named)))
        if not path.is_file():
            raise OptionError(
                f"{CONFIG_VARIABLE}={one_line(named, 200)!r}: there is no such file; "
                "correct the variable or remove it"
            )
        return path
    usual = os.path.join(platformdirs.user_config_dir(_APPLICATION, appauthor=False), USER_FILE)
    return Path(usual) if os.path.isfile(usual) else None


class _File:
    """One file, read and checked."""

    def __init__(self, path: Path, source: str, tables: Mapping[str, Any]) -> None:
        self.path = path
        self.source = source
        self.settings: dict[str, dict[str, Any]] = {}
        self.limits: dict[str, Any] = {}
        self.seats: list[SeatEntry] = []
        for name, table in tables.items():
            if name in _CONSENTS | _CODE_ONLY:
                self._check_forbidden("", name)
            if name not in _TABLES:
                raise self._error(name, f"is unknown{nearest(name, _TABLES)}")
            if not isinstance(table, dict):
                raise self._error(name, f"is a table; write [{name}]")
        shared = self._values("defaults", tables.get("defaults", {}), _SETTINGS)
        for kind in (REVIEW, DISCUSSION):
            own = self._values(kind, tables.get(kind, {}), _SETTINGS)
            self.settings[kind] = {**_of_kind(shared, kind), **own}
        self.limits = self._values("limits", tables.get("limits", {}), _LIMITS)
        self._read_seats(tables.get("seats", {}))
        for kind, settings in self.settings.items():
            self._check_closer(settings, _CLOSERS[kind])
            self._check_store(settings)

    def _error(self, key: str, problem: str) -> OptionError:
        return OptionError(f"{self.path}: {key} {problem}", file=str(self.path), key=key)

    def _values(
        self, table: str, values: Mapping[str, Any], known: Mapping[str, Option]
    ) -> dict[str, Any]:
        checked = {}
        for key, value in values.items():
            where = f"[{table}] {key}"
            self._check_forbidden(f"[{table}] ", key)
            if key not in known:
                raise self._error(where, f"is unknown{nearest(key, known)}")
            if known[key].kind not in ("", table) and table in _CLOSERS:
                raise self._error(where, f"belongs to [{known[key].kind}]")
            try:
                checked[key] = known[key].check(value)
            except OptionError as exc:
                raise self._error(where, f"is wrong: {exc}") from None
        if pair := next((name for name in checked.get("seats", ()) if "=" in name), None):
            raise self._error(
                f"[{table}] seats",
                f"takes names of seats, got {pair!r}; define it as [seats.NAME] with a model",
            )
        return checked

    def _check_forbidden(self, table: str, key: str) -> None:
        """Refuse what a file of this kind may not say."""
        if key in _CONSENTS:
            raise self._error(f"{table}{key}", "is a consent, which only the call itself can give")
        if key in _CODE_ONLY:
            self._refuse_in_project(f"{table}{key}", "could send a key or a bill elsewhere")

    def _refuse_in_project(self, key: str, why: str) -> None:
        if self.source == "project":
            raise self._error(
                key, f"{why}, so a project's file can't say it; use code or your own {USER_FILE}"
            )

    def _read_seats(self, seats: Mapping[str, Any]) -> None:
        for name, table in seats.items():
            where = f"[seats.{name}]"
            if not isinstance(table, dict):
                raise self._error(where, "is a table, such as [seats.pm] with model = 'scripted'")
            for key in table:
                self._check_forbidden(f"{where} ", key)
                if key == "tools":
                    raise self._error(f"{where} tools", "are Python functions; give them in code")
                if key not in _SEAT_KEYS:
                    raise self._error(f"{where} {key}", f"is unknown{nearest(key, _SEAT_KEYS)}")
            fields = dict(table)
            if "model" in fields:
                fields["model"] = self._model(f"{where} model", fields["model"])
            self.seats.append(SeatEntry(name, MappingProxyType(fields), self.path, self.source))

    def _model(self, where: str, model: object) -> str:
        if not isinstance(model, str):
            raise self._error(where, f"is a text such as 'scripted'; got {one_line(repr(model))}")
        prefix, _, rest = model.strip().partition(":")
        if prefix.strip().casefold() in _CODE_MODELS:
            self._refuse_in_project(where, f"{one_line(model, 80)!r} runs code")
        if prefix == "scripted" and rest.endswith(".toml"):
            # A path in a file means a place beside that file, wherever the notebook is.
            return f"scripted:{self.path.parent / os.path.expanduser(rest)}"
        return model

    def _check_closer(self, settings: dict[str, Any], closer: str) -> None:
        if closer in settings:
            settings[closer] = self._model(closer, settings[closer])

    def _check_store(self, settings: dict[str, Any]) -> None:
        store = settings.get("store")
        if store is None or "://" in store:
            if store is not None:
                self._refuse_in_project("store", "at a server would send the debates away")
            return
        place = Path(os.path.abspath(self.path.parent / os.path.expanduser(store)))
        if not place.resolve().is_relative_to(self.path.parent.resolve()):
            self._refuse_in_project("store", f"{one_line(store, 80)!r} is outside its folder")
        settings["store"] = f"{place}{os.sep}" if store.endswith("/") else str(place)


def _of_kind(shared: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Return those of `[defaults]` that a kind of debate has."""
    known = keys_of(kind)
    found = {key: value for key, value in shared.items() if key in known}
    if not fits_memory(kind, found.get("memory", "full")):
        del found["memory"]
    return found


def _read(path: Path, source: str) -> _File:
    try:
        tables = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as exc:
        raise OptionError(f"{path} can't be read: {exc.strerror}", file=str(path)) from None
    except UnicodeDecodeError:
        raise OptionError(f"{path} is not UTF-8 text", file=str(path)) from None
    except (ValueError, RecursionError) as exc:  # a number of 5,000 digits is no decoding error
        reason = one_line(str(exc), 200)
        raise OptionError(f"{path} is no valid TOML: {reason}", file=str(path)) from None
    return _File(path, source, tables)


def seat_entries(config: Config) -> Iterator[SeatEntry]:
    """Yield each seat of the files once, in the order in which names are looked up."""
    seen: set[str] = set()
    for entry in config.seats:
        if entry.name not in seen:
            seen.add(entry.name)
            yield entry
