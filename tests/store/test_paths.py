"""Where the store is, and what debates are called."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from rt_notebook.errors import OptionError, UnknownDebateError
from rt_notebook.store.paths import check_id, new_debate_id, store_path
from rt_notebook.store.record import record_path


def test_argument_comes_before_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RT_NOTEBOOK_STORE", str(tmp_path / "env.db"))
    assert store_path() == tmp_path / "env.db"
    assert store_path(str(tmp_path / "own.db")) == tmp_path / "own.db"
    monkeypatch.setenv("RT_NOTEBOOK_STORE", "")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert store_path() == tmp_path / "rt_notebook" / "debates.db"


def test_folder_means_file_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert store_path(tmp_path) == tmp_path / "debates.db"
    assert store_path("new/") == tmp_path / "new" / "debates.db"
    assert store_path("new") == tmp_path / "new"
    assert store_path("~/x.db") == tmp_path / "home" / "x.db"


@pytest.mark.parametrize("url", ["postgresql://u:secret@host/db", "postgres://h", "sqlite:///x"])
def test_url_is_refused_without_its_secrets(url: str) -> None:
    with pytest.raises(OptionError, match="this version keeps debates in a file only") as caught:
        store_path(url)
    assert "secret" not in str(caught.value)


def test_half_a_character_is_no_file_s_name() -> None:
    for read, name in ((store_path, "store"), (record_path, "record")):
        with pytest.raises(OptionError, match=rf"^{name}='a\\ud800': no file can have that name"):
            read("a\ud800")


def test_path_with_nul_is_refused() -> None:
    with pytest.raises(OptionError, match="a path holds no NUL"):
        store_path("a\0b")


@pytest.mark.skipif(sys.platform == "win32", reason="a folder in use can't be removed there")
def test_relative_path_in_removed_folder_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    assert store_path(tmp_path / "a.db") == tmp_path / "a.db"
    with pytest.raises(OptionError, match=r"store='a\.db': the working directory was removed"):
        store_path("a.db")


def test_path_too_long_to_be_looked_at_is_no_folder(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 300)
    assert store_path(path) == path


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("(Roundtable) - Should we ship the new API now?", "should-we-ship-the-new-api-now"),
        ("Große Änderung: José's Café", "grosse-anderung-jose-s-cafe"),
        ("../../etc/passwd\0\x1b[31m", "etc-passwd-31m"),
        ("今すぐ出荷しますか", "debate"),
        ("--- last ---", "last"),
        ("", "debate"),
        ("x" * 300, "x" * 40),
        ("cut at a word, never within one that is long", "cut-at-a-word-never-within-one-that-is"),
    ],
)  # fmt: skip
def test_id_is_slug_and_random_end(title: str, slug: str) -> None:
    ids = {new_debate_id(title) for _ in range(50)}
    assert len(ids) == 50
    assert all(re.fullmatch(rf"{slug}-[a-z0-9]{{6}}", debate) for debate in ids)
    assert all(check_id(debate) == debate and len(debate) <= 64 for debate in ids)


@pytest.mark.parametrize(
    "text", ["", "../../x", "A-b", "a b", "a/b", "a\nb", "a" * 65, "a;drop", "é", "\x1b[31m"]
)
def test_foreign_id_is_refused(text: str) -> None:
    with pytest.raises(UnknownDebateError, match="is no debate's id") as caught:
        check_id(text)
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
