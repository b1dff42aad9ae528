"""The set-up behind the Makefile does nothing twice, and says in one line what is missing."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.environment import ROOT
from tools.chromium import ChromiumError, ensure_chromium, find_chromium


@pytest.fixture
def installed_copy(tmp_path: Path) -> Path:
    """A copy of the set-up that believes everything for the tests is installed."""
    shutil.copytree(ROOT / "tools", tmp_path / "tools")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    stamp = tmp_path / ".venv" / ".installed-test"
    stamp.parent.mkdir()
    stamp.write_text(_fingerprint(tmp_path), encoding="utf-8")
    return tmp_path


def _fingerprint(project: Path) -> str:
    code = "from tools.environment import fingerprint; print(fingerprint('test'))"
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, cwd=project, capture_output=True, encoding="utf-8", check=True
    ).stdout.strip()


def test_second_set_up_runs_nothing(installed_copy: Path) -> None:
    """Nothing is installed there, so whatever it tried to start would fail."""
    command = [sys.executable, "-m", "tools.environment", "demo"]
    done = subprocess.run(
        command, cwd=installed_copy, capture_output=True, encoding="utf-8", check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("old", "new", "reinstalls"),
    [('"rich>=13.7"', '"rich>=13.8"', True), ("line-length = 100", "line-length = 99", False)],
)
def test_only_requirements_cause_new_install(
    installed_copy: Path, old: str, new: str, reinstalls: bool
) -> None:
    before = _fingerprint(installed_copy)
    settings = installed_copy / "pyproject.toml"
    text = settings.read_text(encoding="utf-8")
    assert old in text
    settings.write_text(text.replace(old, new), encoding="utf-8")
    assert (_fingerprint(installed_copy) != before) is reinstalls


def test_missing_venv_module_is_named(installed_copy: Path) -> None:
    """As on a Debian without python3-venv."""
    (installed_copy / ".venv" / ".installed-test").unlink()
    code = (
        "import importlib.util, sys; importlib.util.find_spec = lambda name: None; "
        "sys.argv[1:] = ['demo']; from tools.environment import main; sys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=installed_copy,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 1
    assert "apt-get install python3-venv" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def _command(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)


@pytest.fixture
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH on which there is no browser and no package manager."""
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "env").symlink_to("/usr/bin/env")
    return tmp_path


def test_missing_chromium_comes_from_apt(bare_machine: Path) -> None:
    browser = bare_machine / "chromium"
    made = "#!/bin/sh\\n"
    _command(
        bare_machine,
        "apt-get",
        f'echo "$*" >> {bare_machine}/asked\n'
        f"case \"$*\" in *install*) printf '{made}' > {browser}; /bin/chmod 755 {browser};; esac",
    )
    # Root needs no sudo; anybody else here has one that asks nothing.
    _command(bare_machine, "sudo", 'shift\nif [ "$1" != true ]; then exec "$@"; fi')
    assert find_chromium() is None
    assert ensure_chromium() == str(browser)
    asked = (bare_machine / "asked").read_text(encoding="utf-8").splitlines()
    assert [line.split()[1] for line in asked] == ["update", "install"]
    assert ensure_chromium() == str(browser)
    assert len((bare_machine / "asked").read_text(encoding="utf-8").splitlines()) == 2


@pytest.mark.usefixtures("bare_machine")
def test_missing_chromium_without_apt_is_explained() -> None:
    with pytest.raises(ChromiumError, match=r"apt-get install chromium.*CHROMIUM"):
        ensure_chromium()


def test_named_chromium_that_is_absent_is_refused(
    bare_machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _command(bare_machine, "chromium", "")
    monkeypatch.setenv("CHROMIUM", str(bare_machine / "elsewhere"))
    with pytest.raises(ChromiumError, match="CHROMIUM to the path"):
        ensure_chromium()
