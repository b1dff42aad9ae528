"""Holds the debates of notebook 04 anew and records them: `python -m tools.records`.

The person at the gate is played from here, since nobody sits in front of it. Needed only when the
notebook's debate changes; then `python -m tools.notebooks 04` saves its new outputs.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from rt_notebook.contract.cell import read_cell
from tools.notebooks import FOLDER, execute, notebooks, read

NUMBER: Final = "04-"
ANSWER: Final = "Wounds; nine of ten are gram-positive."
"""What the person says at the gate; the notebook's seats look for its first word."""

_CELL: Final = "%%roundtable kit "
_RECORD: Final = "--record "


def held(source: str) -> str:
    """Returns code that holds the debate of a cell, records it anew and answers its gate."""
    line, _, body = source.partition("\n")
    fields = {name: given for name, given in read_cell(body).brief_fields().items() if given}
    record = line.partition(_RECORD)[2].split()[0]
    settings = {**fields, "record": record, "record_mode": "all", "unattended": False}
    return f"""
handle = rt.Review(**{settings!r}, seats=[coverage, worst, ward]).start()
state = rt.wait(handle.id, seconds=30)
handle.answer({{question.id: {ANSWER!r} for question in state.gate.questions}})
kit = await handle
"""


def main() -> int:
    """Writes the records of the notebook anew."""
    (path,) = [path for path in notebooks() if path.name.startswith(NUMBER)]
    notebook: Any = read(path)
    for cell in notebook.cells:
        if cell.source.startswith(_CELL):
            cell.source = held(cell.source)
    for record in (FOLDER / "reviews").glob("field-kit*.jsonl"):
        record.unlink()
    with tempfile.TemporaryDirectory(prefix="rt-notebook-") as home:
        execute(notebook, Path(home))
    return 0


if __name__ == "__main__":
    sys.exit(main())
