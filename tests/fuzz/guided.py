"""Coverage-guided fuzzing of the readers with atheris, where that is installed.

    python -m tests.fuzz.guided SECONDS [TARGET ...]

Each target gets its share of the time in a process of its own, which begins with the real texts
that the property tests mutate. What is found is printed with its input, as bytes to put into a
regression test. Without atheris it says how to get it, and that is all.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

TARGETS: Final = (
    "reply", "verdict", "question", "naming", "speech", "cell", "line", "filling", "record",
    "json_input", "stderr", "hiding", "settings_file", "stream",
)  # fmt: skip
_LONGEST: Final = 4_000
_LATEST_S: Final = 600
_DONE: Final = re.compile(r"Done (\d+) runs? in (\d+) second")


def main(words: list[str]) -> int:
    """Fuzz each target for its share of the time; return 1 where something was found."""
    if importlib.util.find_spec("atheris") is None:
        print("atheris isn't installed, so nothing was fuzzed by coverage: pip install atheris")
        return 0
    seconds = int(words[0])
    targets = words[1:] or list(TARGETS)
    share = max(1, seconds // len(targets))
    found = [name for name in targets if not _fuzzed(name, share)]
    print(f"{len(targets)} targets, {share} s each; findings: {', '.join(found) or 'none'}")
    return 1 if found else 0


def _fuzzed(name: str, seconds: int) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus"
        corpus.mkdir()
        command = [
            sys.executable, "-m", "tests.fuzz.guided", "--one", name, str(corpus),
            f"-max_total_time={seconds}", f"-max_len={_LONGEST}", "-timeout=20", "-verbosity=1",
            f"-artifact_prefix={folder}/",
        ]  # fmt: skip
        run = subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False,
            timeout=seconds + _LATEST_S,
        )  # fmt: skip
        done = _DONE.search(run.stderr)
        if run.returncode == 0 and done is not None:
            print(f"{name}: {int(done[1]):,} executions in {done[2]} s", flush=True)
            return True
        told = run.stdout[-3_000:] + run.stderr[-1_500:]
        print(f"{name}: exit {run.returncode}\n{told}")
        for path in sorted(Path(folder).glob("*-*")):
            print(f"{name}: input {path.read_bytes()!r}")
        return False


def _one(name: str, corpus: str, options: list[str]) -> None:
    """Fuzz one target in this process, which ends with it."""
    import atheris

    with atheris.instrument_imports(include=["rt_notebook"]):
        from tests.fuzz.seeds import recorded_streams, seeds
        from tests.fuzz.streams import read_in_pieces
        from tests.fuzz.targets import TARGETS as READERS

    if name == "stream":
        texts = [path.read_bytes() for paths in recorded_streams().values() for path in paths]
        target = read_in_pieces
    else:
        texts = list(seeds(name))
        reader = READERS[name]

        def target(data: bytes) -> None:
            reader(data.decode("utf-8", "surrogateescape"))

    for number, text in enumerate(texts):
        (Path(corpus) / f"seed-{number}").write_bytes(text[:_LONGEST])
    atheris.Setup([sys.argv[0], corpus, *options], target)
    atheris.Fuzz()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        _one(sys.argv[2], sys.argv[3], sys.argv[4:])
    else:
        raise SystemExit(main(sys.argv[1:] or ["60"]))
