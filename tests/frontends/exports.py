"""What the tests of exports share: results made by hand, and a look at a folder."""

from __future__ import annotations

from pathlib import Path

from rt_notebook.analysis.result import Result
from tests.rendering.events import Story, finished, spec_of


def result_of(story: Story) -> Result:
    """The result of a told debate."""
    return Result(story.state(), list(story.events))


def done(debate: str = "payments-a1b2c3", title: str = "Ship now?") -> Result:
    """A finished debate of some id and title."""
    story = finished(spec_of(title=title))
    story.events = [event._replace(debate=debate) for event in story.events]
    return result_of(story)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder by its relative path, symbolic links by where they lead."""
    return {
        str(path.relative_to(folder)): (
            str(path.readlink()).encode() if path.is_symlink() else path.read_bytes()
        )
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    }
