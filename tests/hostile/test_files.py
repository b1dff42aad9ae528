"""Files: an export and a record stay where they were asked for, whatever a title or a path says."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from rt_notebook.analysis.result import Result
from rt_notebook.contract.record import lines_of, read_record
from rt_notebook.domain.state import fold
from rt_notebook.errors import OptionError, StoreError, UsageError
from rt_notebook.frontends.export import export, slug
from rt_notebook.rendering.decision_record import record_title
from rt_notebook.store.paths import check_id
from rt_notebook.store.record import load_record, public, record_path, save_record
from tests.hostile.checks import assert_harmless_text, each
from tests.hostile.corpus import FAMILIES
from tests.hostile.debates import failed_events, review_events, states_of, talk_events

every_family = pytest.mark.parametrize("family", FAMILIES)
_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


def _everything(folder: Path) -> Iterator[Path]:
    yield from folder.rglob("*")


@every_family
def test_title_becomes_a_plain_file_name(family: str) -> None:
    def check(text: str) -> None:
        for title in (text, record_title(states_of(text)[0])):
            found = slug(title)
            assert _SLUG.fullmatch(found), found
            assert len(f"9999-{found}.md") <= 80

    each(family, check)


@every_family
def test_export_leaves_its_folder_by_nothing(family: str, tmp_path: Path) -> None:
    (tmp_path / "beside").write_text("as it was")
    text = "".join(FAMILIES[family])[:3_000]
    for number, title in enumerate((*FAMILIES[family][:3], text)):
        folder = tmp_path / f"out{number}"
        events = failed_events(title)
        paths = export(Result(fold(events), events), folder)
        assert {path for path in _everything(folder) if path.is_file()} == set(paths)
        assert all(path.resolve().is_relative_to(folder.resolve()) for path in paths)
        assert len({path.name.removesuffix(".md") for path in folder.iterdir()}) == 1
        for path in paths:
            assert path.relative_to(folder).as_posix().isascii()
            if path.suffix != ".parquet":
                assert_harmless_text(path.read_text(encoding="utf-8").replace("\t", " "))
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["beside", *(f"out{number}" for number in range(4))]
    assert (tmp_path / "beside").read_text() == "as it was"


@pytest.mark.parametrize("target", ["file", "folder", "dangling"])
def test_link_in_the_place_of_an_export_is_not_followed(target: str, tmp_path: Path) -> None:
    text = FAMILIES["names"][2]
    events = failed_events(text)
    result = Result(fold(events), events)
    name = f"0001-{slug(record_title(result.fold))}"
    folder, outside = tmp_path / "out", tmp_path / "outside"
    folder.mkdir()
    if target == "folder":
        outside.mkdir()
        (folder / name).symlink_to(outside)
    else:
        if target == "file":
            outside.write_text("as it was")
        (folder / f"{name}.md").symlink_to(outside)
    before = outside.read_text() if outside.is_file() else None
    with suppress(UsageError):
        assert all(path.resolve().is_relative_to(folder) for path in export(result, folder))
    assert (outside.read_text() if outside.is_file() else None) == before
    assert not (outside.is_dir() and any(outside.iterdir()))
    assert outside.exists() is (target != "dangling")


@every_family
def test_record_is_one_harmless_line_an_event_and_reads_back(family: str) -> None:
    def check(text: str) -> None:
        for make in (review_events, talk_events) if family != "giants" else (failed_events,):
            events = public(make(text))
            written = lines_of(events)
            assert_harmless_text(written)
            lines = written.split("\n")
            assert lines.pop() == ""
            assert len(lines) == len(events)
            assert [json.loads(line)["body"] for line in lines] == [e.body for e in events]
            assert list(read_record(written, "x").events) == list(events)

    each(family, check)


@pytest.mark.parametrize("family", ["names", "broken", "terminal", "invisible", "bidi"])
def test_record_s_path_is_a_file_or_an_error_of_ours(
    family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = lines_of(failed_events("x"))
    for name in FAMILIES[family]:
        if "/etc" in name or name.startswith(("~", "/")):
            continue  # where a person says so, a record goes there
        try:
            path = record_path(f"in/a/folder/{name}.jsonl")
        except OptionError as error:
            assert_harmless_text(str(error))
            continue
        try:
            save_record(path, text)
        except OSError:
            continue
        assert load_record(path, name).id == "payments-a1b2c3"
    files = [path for path in _everything(tmp_path) if path.is_file()]
    assert [path for path in files if not path.name.endswith(".jsonl")] == []


def test_record_is_not_made_through_a_dangling_link(tmp_path: Path) -> None:
    link = tmp_path / "payments.jsonl"
    link.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OptionError, match="is a link to a file that isn't there"):
        record_path(link)
    (tmp_path / "elsewhere").write_text("")
    assert record_path(link) == link


@pytest.mark.parametrize("family", FAMILIES)
def test_debate_s_id_is_no_path(family: str) -> None:
    for text in FAMILIES[family]:
        if re.fullmatch(r"[a-z0-9-]{1,64}", text):
            continue
        with pytest.raises((UsageError, StoreError)):
            check_id(text)
        forged = lines_of(event._replace(debate=text) for event in failed_events("x"))
        with pytest.raises(StoreError, match="is damaged at line 1") as caught:
            read_record(forged, os.fsdecode(b"x"))
        assert_harmless_text(str(caught.value))
