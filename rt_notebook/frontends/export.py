"""Exports a debate into a folder, such as a code base's folder of decision records.

Owns what is exported and under which names; how files get there whole or not at all stands in
`export_files`. Runs nothing and reads no store.

    0007-ship-now.md            the decision record
    0007-ship-now/
        transcript.md           everything that was said
        record.jsonl            the event log, a canonical JSON event per line
        report.html             the report as one page, without scripts
        tables/replies.parquet  and the other tables; CSV where pyarrow isn't installed
        export.json             what was written, with checksums
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final

from rt_notebook.analysis.result import Result
from rt_notebook.analysis.table_files import table_files
from rt_notebook.domain.events import Event
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.domain.state import State
from rt_notebook.errors import OptionError, one_line
from rt_notebook.frontends.export_files import place_files
from rt_notebook.rendering.decision_record import decision_record, record_title
from rt_notebook.rendering.full_transcript import full_transcript
from rt_notebook.rendering.page import report_page
from rt_notebook.store.paths import path_text
from rt_notebook.store.record import record_text

_SLUG_LIMIT: Final = 60
_NO_SLUG: Final = "debate"


def export(result: Result, folder: str | os.PathLike[str]) -> list[Path]:
    """Write a debate's decision record, transcript, record, report and tables into a folder.

    The record is numbered after the highest `NNNN-` in the folder. Exporting the same debate into
    the same folder again overwrites its own files, as long as nobody changed them; a file that an
    export didn't write is never touched. All files are written, or none. A running or partial
    debate is exported as a draft.

    Args:
        result: the debate.
        folder: where to; made when it isn't there.

    Returns:
        The paths written, absolute, the decision record first.

    Raises:
        UsageError: a name is taken, or a file was changed since the last export.
        StoreError: the folder can't be written, or the disk is full.
    """
    state = seen(result)
    files = {
        "transcript.md": _utf8(full_transcript(state)),
        "record.jsonl": _utf8(event_lines(result.events, state.revision)),
        "report.html": _utf8(report_page(state)),
        **{f"tables/{name}": content for name, content in table_files(state).items()},
    }

    def record(number: int, name: str) -> str:
        links = [
            ("Transcript", f"{name}/transcript.md"),
            ("Report", f"{name}/report.html"),
            ("Event log", f"{name}/record.jsonl"),
            ("Tables", f"{name}/tables"),
        ]
        return decision_record(state, number, links)

    return place_files(_as_path(folder), state.id, slug(record_title(state)), files, record)


def seen(result: Result) -> State:
    """Return the fold under the status that outsiders see: a dead process leaves `running`."""
    outside = result.state
    return replace(result.fold, status=outside.status, stop_reason=outside.stop_reason)


def slug(title: str) -> str:
    """Return what a file name can keep of a title: ASCII letters, digits and hyphens."""
    letters = unicodedata.normalize("NFKD", title[:200].casefold())
    words = re.findall(r"[a-z0-9]+", letters.encode("ascii", "ignore").decode("ascii").lower())
    found = ""
    for word in words:
        if found and len(found) + 1 + len(word) > _SLUG_LIMIT:
            break
        found = f"{found}-{word}" if found else word[:_SLUG_LIMIT]
    return found or _NO_SLUG


def event_lines(events: Iterable[Event], revision: int) -> str:
    """Return the log up to a revision as a record has it, which `show` and replays take."""
    kept = [event for event in events if event.seq <= revision]
    return record_text(kept, DebateSpec.model_validate(kept[0].body["spec"])) if kept else ""


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _as_path(folder: str | os.PathLike[str]) -> Path:
    text = path_text("path", folder)
    if not text or "\0" in text:
        raise OptionError(
            f"export: {one_line(text, 80)!r} is no folder's path; name one, such as docs/adr",
            option="path",
        )
    return Path(os.path.abspath(os.path.expanduser(text)))
