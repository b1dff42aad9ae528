"""Where the store is, and what debates are called.

Owns the rules for the store's place and for ids. Creates no file and opens none.
"""

from __future__ import annotations

import os
import re
import secrets
import unicodedata
from pathlib import Path
from typing import Final

import platformdirs

from rt_notebook.errors import OptionError, UnknownDebateError, one_line

STORE_VARIABLE: Final = "RT_NOTEBOOK_STORE"
"""The environment variable that names the store where no argument does."""

FILE_NAME: Final = "debates.db"

_APPLICATION: Final = "rt_notebook"
_ID: Final = re.compile(r"[a-z0-9-]{1,64}")
_URL: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
_SLUG_LENGTH: Final = 40
_SUFFIX_LENGTH: Final = 6
_SUFFIX_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz0123456789"
# What a title made from the question begins with says nothing in an id.
_TITLE_MARK: Final = "(roundtable) - "
_NO_SLUG: Final = "debate"


def store_path(store: str | os.PathLike[str] | None = None) -> Path:
    """Return the absolute path of the store's file.

    Args:
        store: a file, a folder (its `debates.db` is taken), or None for what `RT_NOTEBOOK_STORE`
            says, else the user's data folder.

    Raises:
        OptionError: it is a URL, or can't be a path.
    """
    given = os.environ.get(STORE_VARIABLE, "") if store is None else path_text("store", store)
    if not given:
        return own_place()
    url = _URL.match(given)
    if url:
        # No more of it than the scheme: a URL may hold a password.
        raise OptionError(
            f"store='{url[1]}://…': this version keeps debates in a file only; "
            "give a path, such as store='debates.db'",
            option="store",
        )
    if "\0" in given:
        raise OptionError(f"store={one_line(given, 80)!r}: a path holds no NUL", option="store")
    try:
        path = Path(os.path.abspath(os.path.expanduser(given)))
    except FileNotFoundError:
        raise OptionError(
            f"store={one_line(given, 80)!r}: the working directory was removed; give a whole path",
            option="store",
        ) from None
    is_folder = os.path.isdir(path) or given.endswith(("/", os.sep))
    return path / FILE_NAME if is_folder else path


def path_text(name: str, given: object) -> str:
    """Return the text of a path that an argument of this name gives.

    Raises:
        OptionError: it is neither a text nor a path, or no file's name.
    """
    text = os.fspath(given) if isinstance(given, os.PathLike) else given
    if not isinstance(text, str):
        raise OptionError(f"{name}={one_line(repr(given), 80)}: a path is expected", option=name)
    try:
        os.fsencode(text)
    except UnicodeEncodeError:  # half a surrogate pair
        raise OptionError(
            f"{name}={one_line(repr(text), 80)}: no file can have that name", option=name
        ) from None
    return text


def own_place() -> Path:
    """Return the file in the user's data folder: where debates are kept unless told otherwise."""
    return Path(platformdirs.user_data_dir(_APPLICATION, appauthor=False)) / FILE_NAME


def new_debate_id(title: str) -> str:
    """Return a new id: what `[a-z0-9]` can keep of `title`, and 6 random characters."""
    plain = title.casefold().removeprefix(_TITLE_MARK)
    letters = unicodedata.normalize("NFKD", plain[:200]).encode("ascii", "ignore").decode("ascii")
    words = re.findall(r"[a-z0-9]+", letters.lower())
    slug = ""
    for word in words:
        if len(slug) + len(word) + 1 > _SLUG_LENGTH and slug:
            break
        slug = f"{slug}-{word[:_SLUG_LENGTH]}".strip("-")
    # One reading of the system's randomness; that 256 is no multiple of 36 does no harm here.
    noise = secrets.token_bytes(_SUFFIX_LENGTH)
    suffix = "".join(_SUFFIX_LETTERS[byte % len(_SUFFIX_LETTERS)] for byte in noise)
    return f"{slug or _NO_SLUG}-{suffix}"


def check_id(text: object) -> str:
    """Return `text` when it has the form of an id, trimmed.

    Raises:
        UnknownDebateError: it hasn't, so that no debate can have it.
    """
    trimmed = text.strip() if isinstance(text, str) else ""
    if not _ID.fullmatch(trimmed):
        shown = repr(one_line(text, 80)) if isinstance(text, str) else one_line(repr(text), 80)
        raise UnknownDebateError(
            f"{shown} is no debate's id: an id has 1 to 64 of a-z, 0-9 and '-'", id=text
        )
    return trimmed
