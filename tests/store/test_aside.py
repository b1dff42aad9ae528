"""Names of stores that were set aside."""

from __future__ import annotations

from pathlib import Path

import pytest

from rt_notebook.store.aside import SetAside, is_set_aside, stores_set_aside

STAMP = "20261130-101502"


@pytest.mark.parametrize("name", ["debates.db", "debates[1].db"])
def test_what_was_set_aside_is_listed(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    for end in ("", "-wal", "-shm", "-journal", "-2", "-2-wal"):
        (tmp_path / f"{name}.damaged-{STAMP}{end}").write_bytes(b"four")
    (tmp_path / f"{name}.damaged-{STAMP}-3-wal").touch()  # without its database
    (tmp_path / f"another-{name}.damaged-{STAMP}").touch()
    assert stores_set_aside(path) == [
        SetAside(tmp_path / f"{name}.damaged-{STAMP}", 16),
        SetAside(tmp_path / f"{name}.damaged-{STAMP}-2", 8),
    ]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        (f"debates.db.damaged-{STAMP}", True),
        (f"debates.db.damaged-{STAMP}-12", True),
        (f"debates.db.damaged-{STAMP}.damaged-{STAMP}", True),
        (f"debates.db.damaged-{STAMP}.db", False),
        (f"debates.db.damaged-{STAMP}\n", False),
        ("debates.db.damaged", False),
    ],
)
def test_name_tells_what_was_set_aside(name: str, found: bool) -> None:
    assert is_set_aside(Path("/data") / name) is found
