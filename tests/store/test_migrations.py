"""Stores of older forms, and a form that isn't what it says."""

from __future__ import annotations

import itertools
import sys
from contextlib import closing
from pathlib import Path

import pytest

from rt_notebook.errors import StoreError
from rt_notebook.store import migrations
from rt_notebook.store.migrations import APPLICATION_ID, MIGRATIONS, VERSION
from rt_notebook.store.sqlite import SqliteStore
from rt_notebook.store.sqlite_database import connect
from tests.store.samples import created, opened, seqs, write


def test_older_database_is_migrated(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(path) as store:
        write(store, created("d"))
    later = (*MIGRATIONS, ("CREATE TABLE later (debate INTEGER, body TEXT)",))
    monkeypatch.setattr(migrations, "MIGRATIONS", later)
    monkeypatch.setattr(migrations, "VERSION", len(later))
    for _ in range(2):
        with opened(path) as store:
            connection = store.database.connection()
            assert connection.execute("PRAGMA user_version").fetchone() == (VERSION + 1,)
            assert connection.execute("SELECT count(*) FROM later").fetchone() == (0,)
            assert seqs(store, "d") == [1]


@pytest.mark.parametrize("version", range(1, VERSION))
def test_store_of_every_older_form_is_migrated(path: Path, version: int) -> None:
    path.parent.mkdir()
    with closing(connect(path)) as old:
        for statement in itertools.chain(*MIGRATIONS[:version]):
            old.execute(statement)
        old.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        old.execute(f"PRAGMA user_version = {version}")
    with opened(path) as store:
        write(store, created("d"))
        connection = store.database.connection()
        assert connection.execute("PRAGMA user_version").fetchone() == (VERSION,)


def test_broken_migration_changes_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(path) as store:
        write(store, created("d"))
    later = (*MIGRATIONS, ("CREATE TABLE later (debate INTEGER)", "CREATE TABLE nonsense"))
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "MIGRATIONS", later)
        patch.setattr(migrations, "VERSION", len(later))
        with pytest.raises(StoreError, match="incomplete input"):
            SqliteStore(path)
    with opened(path) as store:
        tables = store.database.connection().execute("SELECT name FROM sqlite_master").fetchall()
        assert ("later",) not in tables
        assert seqs(store, "d") == [1]


@pytest.mark.skipif(sys.platform == "win32", reason="SQLite's locks on POSIX")
@pytest.mark.parametrize("version", [2, 1, 0, -5])
def test_version_below_that_of_the_tables_is_damage(path: Path, version: int) -> None:
    """Migrating would fail for ever: what it makes is there."""
    with opened(path) as store:
        write(store, created("d"))
        store.database.connection().execute(f"PRAGMA user_version = {version}")
    with pytest.raises(StoreError, match=r"its tables don't fit its form: .* set aside as"):
        SqliteStore(path)
    with opened(path) as store:
        assert store.debates() == []
