"""Makes the project's own environment: `python -m tools.environment demo|docs|test`.

Owns `.venv` (the package and what it needs), `.cache` (other ipykernel and pandas releases for the
tests) and the search for Chromium. What is already right is left alone and the network isn't
touched, so a second run works offline. Must run on a bare Python: standard library only.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tools.chromium import ensure_chromium
from tools.releases import KERNELS, PANDAS, Release

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
CACHE = ROOT / ".cache"
PYTHON_PATH = Path("Scripts" if sys.platform == "win32" else "bin", "python")
PYTHON = VENV / PYTHON_PATH
# What each level installs; a later one holds all of the earlier ones.
LEVELS = {"demo": "plots,demo", "docs": "plots,demo,docs", "test": "plots,dev"}


class SetupError(Exception):
    """Something the person at the keyboard has to mend; the message says what."""


def run(*command: str | Path, quiet: bool = False) -> None:
    """Runs a command in the project's folder; a failure ends the set-up with its output."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=ROOT,
        stdout=subprocess.PIPE if quiet else None,
        stderr=subprocess.STDOUT if quiet else None,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode:
        said = f"\n{done.stdout.strip()}" if done.stdout else ""
        raise SetupError(f"`{' '.join(map(str, command))}` failed.{said}")


def pip(*arguments: str | Path) -> None:
    """Runs the environment's pip with whatever configuration the machine has for it."""
    run(PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments)


def fingerprint(level: str) -> str:
    """Changes whenever what an install would do changes: requirements, Python, or the folder.

    Lint and test settings of pyproject.toml are left out: changing them needs no network.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    parts = [project["project"], project["build-system"], LEVELS[level], sys.version, str(ROOT)]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def is_fresh(stamp: Path, wanted: str) -> bool:
    """Says whether a stamp file holds the wanted fingerprint."""
    return stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted


def python_of(folder: Path) -> Path:
    """Returns the Python of an environment."""
    return folder / PYTHON_PATH


def ensure_venv(folder: Path = VENV) -> None:
    """Creates an environment where there is none that works, or only half of one."""
    python = python_of(folder)
    check = [str(python), "-c", "import pip"]
    if python.exists() and not subprocess.run(check, capture_output=True, check=False).returncode:
        return
    # Debian ships Python without ensurepip unless python3-venv is installed.
    if importlib.util.find_spec("ensurepip") is None:
        raise SetupError(
            "this Python can't make virtual environments: install its venv package "
            "(Debian, Ubuntu: `apt-get install python3-venv`) and try again."
        )
    print(f"Making {folder.relative_to(ROOT)} with Python {sys.version.split()[0]} …", flush=True)
    run(sys.executable, "-m", "venv", "--clear", folder, quiet=True)


def ensure_packages(level: str) -> None:
    """Installs the package, editable, with what a level needs, unless that is done already."""
    stamps = {name: VENV / f".installed-{name}" for name in LEVELS}
    # A level that holds this one will do as well.
    enough = list(LEVELS)[list(LEVELS).index(level) :]
    if any(is_fresh(stamps[name], fingerprint(name)) for name in enough):
        return
    ensure_venv()
    print("Installing (the first time this takes a few minutes) …", flush=True)
    pip("--no-compile", "-e", f"{ROOT}[{LEVELS[level]}]")
    # On all cores, which pip doesn't; some packages carry files that nobody can compile.
    command = [str(PYTHON), "-m", "compileall", "-qq", "-j", "0", str(VENV)]
    subprocess.run(command, capture_output=True, check=False)
    stamps[level].write_text(fingerprint(level), encoding="utf-8")


def ensure_release(release: Release) -> None:
    """Puts one more release of a package into a folder of its own, beside the environment."""
    folder = CACHE / release.folder
    stamp = CACHE / f"{release.folder}.installed".replace("/", "-")
    wanted = f"{' '.join(release.requirements)} {sys.version} {ROOT}"
    if is_fresh(stamp, wanted):
        return
    print(f"Adding {' '.join(release.requirements)} for the tests …", flush=True)
    # Without dependencies: the folder shadows this one package, all else is the environment's.
    pip("--no-deps", "--upgrade", "--target", folder, *release.requirements)
    stamp.write_text(wanted, encoding="utf-8")


def write_kernelspecs() -> None:
    """Describes every kernel of the tests in `.cache/share`, which only the tests look into."""
    for name, release in KERNELS.items():
        folder = CACHE / "share" / "jupyter" / "kernels" / name
        folder.mkdir(parents=True, exist_ok=True)
        spec = {
            "argv": [str(PYTHON), "-m", "ipykernel_launcher", "-f", "{connection_file}"],
            "display_name": name,
            "language": "python",
            "metadata": {"debugger": False},
            "env": {"PYTHONPATH": str(CACHE / release.folder)} if release else {},
        }
        (folder / "kernel.json").write_text(json.dumps(spec, indent=1), encoding="utf-8")


def ensure_test_extras() -> None:
    """Adds the other releases that only the tests need."""
    CACHE.mkdir(exist_ok=True)
    for release in (*KERNELS.values(), *PANDAS.values()):
        if release is not None and sys.version_info < release.below_python:
            ensure_release(release)
    write_kernelspecs()


def ensure_all(level: str) -> None:
    """Brings the environment to a level; the browser comes at the same time as the packages."""
    if level != "test":
        ensure_packages(level)
        return
    with ThreadPoolExecutor(1) as pool:
        browser = pool.submit(ensure_chromium)
        ensure_packages(level)
        ensure_test_extras()
        browser.result()


def main() -> int:
    """Brings the environment to the level asked for; says in one line what stands in the way."""
    parser = argparse.ArgumentParser(prog="tools.environment", description=__doc__)
    parser.add_argument("level", choices=LEVELS)
    level = parser.parse_args().level
    try:
        ensure_all(level)
    except (SetupError, OSError) as error:
        print(f"Set-up failed: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
