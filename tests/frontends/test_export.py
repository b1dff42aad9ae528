"""An export: what is in it, what it is called, and what an export never does."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest

import rt_notebook as rt
from rt_notebook.analysis.catalogue import TABLES
from rt_notebook.analysis.result import Result
from rt_notebook.domain.reply import Reply
from rt_notebook.domain.state import fold
from rt_notebook.errors import OptionError, UnknownDebateError, UsageError
from rt_notebook.frontends.export import event_lines, export, slug
from rt_notebook.frontends.verbs import read_verb
from rt_notebook.next_steps import snapshot_of
from rt_notebook.rendering.decision_record import record_title
from rt_notebook.store.record import recorded
from tests.frontends.exports import contents, done, result_of
from tests.rendering.events import Story, finished, spec_of, stance
from tests.rendering.hostile import CHARACTERS, CORPUS, assert_harmless_text
from tests.rendering.hostile_debate import hostile_story

BESIDE = ["transcript.md", "record.jsonl", "report.html"]
ALL = [*BESIDE, *(f"tables/{name}.parquet" for name in TABLES), "export.json"]
TITLES = {
    "../../../etc/passwd": "etc-passwd",
    "..\\..\\windows": "windows",
    "CON": "con",
    "nul\x00byte": "nulbyte",
    "trailing dots...": "trailing-dots",
    "/absolute": "absolute",
    "Ünï çödé Straße": "uni-code-strasse",
    "支払いサービス": "debate",
    "🎉🎉": "debate",
    "\u202egnp.exe": "u-202e-gnp-exe",
    "-rf --no": "rf-no",
    "a" * 200: "a" * 60,
    "word " * 40: "-".join(["word"] * 12),
    "%2e%2e%2f $(rm) `x` ;|&": "2e-2e-2f-rm-x",
}


def test_finished_debate_gives_these_files(tmp_path: Path) -> None:
    paths = export(done(), tmp_path)
    names = [str(path.relative_to(tmp_path)) for path in paths]
    assert names == ["0001-ship-now.md", *(f"0001-ship-now/{name}" for name in ALL)]
    assert sorted(contents(tmp_path)) == sorted(names)
    record = paths[0].read_text(encoding="utf-8")
    assert record.startswith("# 1. Ship now?\n\nDate: 2025-06-15\n")
    for what in ("transcript.md", "report.html", "record.jsonl", "tables"):
        assert f"](./0001-ship-now/{what})" in record
        assert (tmp_path / "0001-ship-now" / what).exists()
    assert re.search(
        r"\n\*Exported by rt\\_notebook from debate `payments-a1b2c3`\..*`[0-9a-f]{16}`\*\n\Z",
        record,
    )


def test_record_holds_the_log_canonically(tmp_path: Path) -> None:
    result = done()
    text = export(result, tmp_path)[2].read_text(encoding="utf-8")
    lines = text.splitlines()
    assert len(lines) == len(result.events)
    for line, event in zip(lines, recorded(result.events, result.spec), strict=True):
        data = json.loads(line)
        assert data == event._asdict()
        assert line == json.dumps(data, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    assert fold(result.events).revision == len(lines)


def test_csv_where_pyarrow_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    export(done(), tmp_path)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    paths = export(done(), tmp_path)
    tables = {path.name for path in paths if path.parent.name == "tables"}
    assert tables == {f"{name}.csv" for name in TABLES}
    # Stale tables of the first export would tell of an older debate.
    assert {path.name for path in (tmp_path / "0001-ship-now/tables").iterdir()} == tables


def test_number_follows_the_highest(tmp_path: Path) -> None:
    for name in ("0003-old.md", "0041-older.md", "2025-06-15-notes.md", "README.md", "12-x.md"):
        (tmp_path / name).write_text("mine", encoding="utf-8")
    (tmp_path / "0042-folder").mkdir()
    assert export(done(), tmp_path)[0].name == "0043-ship-now.md"
    assert export(done("other-x"), tmp_path)[0].name == "0044-ship-now.md"


def test_numbers_end_with_a_clear_line(tmp_path: Path) -> None:
    (tmp_path / "9999-x.md").touch()
    assert export(done(), tmp_path)[0].name == "10000-ship-now.md"
    (tmp_path / "99999-x.md").touch()
    with pytest.raises(UsageError, match="already holds a record numbered 99999"):
        export(done("other-x"), tmp_path)


def test_exporting_again_changes_no_byte(tmp_path: Path) -> None:
    first = export(done(), tmp_path)
    before = contents(tmp_path)
    times = [path.stat().st_mtime_ns for path in first]
    assert export(done(), tmp_path) == first
    assert contents(tmp_path) == before
    assert [path.stat().st_mtime_ns for path in first] == times


def test_later_export_overwrites_the_draft(tmp_path: Path) -> None:
    story = Story(spec_of(title="Ship now?")).start_round().reply("pm", stance("opt-1"))
    draft = export(result_of(story.ask("dev")), tmp_path)[0]
    assert "Draft: the debate isn't over (running)" in draft.read_text(encoding="utf-8")
    (tmp_path / "0002-mine.md").touch()
    again = export(done(), tmp_path)[0]
    assert again == draft
    assert "Example: " in again.read_text(encoding="utf-8")
    assert "Transcript: Ship now?" in (tmp_path / "0001-ship-now/transcript.md").read_text()


def test_renamed_record_keeps_its_name(tmp_path: Path) -> None:
    first = export(done(), tmp_path)[0]
    first.rename(tmp_path / "0007-we wait (final).md")
    record = export(done(), tmp_path)[0]
    assert record.name == "0007-we wait (final).md"
    assert "[Report](./0007-we%20wait%20%28final%29/report.html)" in record.read_text()


def test_deleted_record_comes_back_under_its_number(tmp_path: Path) -> None:
    first = export(done(), tmp_path)[0]
    before = contents(tmp_path)
    (tmp_path / "0009-mine.md").touch()
    first.unlink()
    assert export(done(), tmp_path)[0] == first
    assert {**before, "0009-mine.md": b""} == contents(tmp_path)


@pytest.mark.parametrize("name", ["0001-ship-now.md", *(f"0001-ship-now/{n}" for n in BESIDE)])
def test_file_changed_by_hand_is_kept(tmp_path: Path, name: str) -> None:
    draft = Story(spec_of(title="Ship now?")).start_round()
    export(result_of(draft), tmp_path)
    path = tmp_path / name
    path.write_text(path.read_text(encoding="utf-8").replace("Ship", "Skip", 1), encoding="utf-8")
    before = contents(tmp_path)
    with pytest.raises(UsageError, match=rf"{re.escape(name)} was changed since it was exported"):
        export(done(), tmp_path)
    assert contents(tmp_path) == before


def test_line_ends_and_trimming_are_no_change(tmp_path: Path) -> None:
    """Git's autocrlf and the usual commit hooks would else end every second export."""
    paths = export(result_of(Story(spec_of(title="Ship now?")).start_round()), tmp_path)
    for path in paths[:4]:
        lines = path.read_bytes().rstrip().split(b"\n")
        path.write_bytes(b"\r\n".join(line.rstrip() for line in lines))
    export(done(), tmp_path)
    assert "Example: " in paths[0].read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["transcript.md", "tables/replies.parquet", "export.json"])
def test_foreign_file_beside_is_kept(tmp_path: Path, name: str) -> None:
    export(result_of(Story(spec_of(title="Ship now?")).start_round()), tmp_path)
    base = tmp_path / "0001-ship-now"
    (base / "export.json").unlink()
    (base / name).write_text('{"debate": "another"}', encoding="utf-8")
    before = contents(tmp_path)
    with pytest.raises(UsageError, match="wasn't written by an export of this debate"):
        export(done(), tmp_path)
    assert contents(tmp_path) == before


def test_record_of_another_debate_is_kept(tmp_path: Path) -> None:
    first = export(done(), tmp_path)[0]
    other = export(done("other-x"), tmp_path)[0]
    first.write_bytes(other.read_bytes())
    with pytest.raises(UsageError, match=r"0001-ship-now\.md is there and wasn't written by"):
        export(done(), tmp_path)
    assert first.read_bytes() == other.read_bytes()


def test_own_files_in_the_folder_stay(tmp_path: Path) -> None:
    export(done(), tmp_path)
    mine = tmp_path / "0001-ship-now" / "notes.md"
    mine.write_text("mine", encoding="utf-8")
    export(done(), tmp_path)
    assert mine.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("name", ["0001-ship-now.md", "0001-ship-now/report.html"])
def test_symbolic_links_are_not_followed(tmp_path: Path, name: str) -> None:
    folder, outside = tmp_path / "adr", tmp_path / "outside"
    export(result_of(Story(spec_of(title="Ship now?")).start_round()), folder)
    outside.write_bytes((folder / name).read_bytes())
    before = outside.read_bytes()
    (folder / name).unlink()
    (folder / name).symlink_to(outside)
    with pytest.raises(UsageError, match=r"wasn't written by an export of this debate"):
        export(done(), folder)
    assert outside.read_bytes() == before


def test_linked_folder_beside_is_not_followed(tmp_path: Path) -> None:
    folder = tmp_path / "adr"
    export(done(), folder)
    (folder / "0001-ship-now").rename(tmp_path / "elsewhere")
    before = contents(tmp_path / "elsewhere")
    (folder / "0001-ship-now").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="wasn't written by an export of this debate"):
        export(done(), folder)
    assert contents(tmp_path / "elsewhere") == before


def test_hostile_manifest_names_no_other_file(tmp_path: Path) -> None:
    """Only tables that this package names are removed, and those with their checksum only."""
    export(done(), tmp_path)
    manifest = tmp_path / "0001-ship-now" / "export.json"
    victim = tmp_path / "victim.csv"
    victim.write_text("mine", encoding="utf-8")
    data = json.loads(manifest.read_text(encoding="utf-8"))
    own = "a" * 64
    data["checksums"] |= {"../victim.csv": own, "tables/../../victim.csv": own, str(victim): own}
    manifest.write_text(json.dumps(data), encoding="utf-8")
    export(done(), tmp_path)
    assert victim.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("title", TITLES, ids=range(len(TITLES)))
def test_titles_become_plain_names(title: str) -> None:
    name = slug(record_title(Story(spec_of(title=title)).state()))
    assert name == TITLES[title]


@pytest.mark.parametrize("text", CORPUS, ids=range(len(CORPUS)))
def test_hostile_debates_stay_in_their_folder(tmp_path: Path, text: str) -> None:
    folder = tmp_path / "deep" / "adr"
    paths = export(result_of(hostile_story(text)), folder)
    for path in paths:
        name = str(path.relative_to(folder))
        assert re.fullmatch(r"0001-[a-z0-9-]{1,60}(\.md|(/[a-z_]+){1,2}\.[a-z]+)", name)
        if path.suffix in (".md", ".html", ".jsonl", ".json"):
            assert_harmless_text(path.read_bytes().decode())
    assert sorted(contents(tmp_path)) == sorted(str(path.relative_to(tmp_path)) for path in paths)


@pytest.mark.parametrize("text", CHARACTERS, ids=range(len(CHARACTERS)))
def test_record_lines_keep_every_character(text: str) -> None:
    story = Story(spec_of()).start_round().reply("pm", Reply(raw=text))
    lines = event_lines(story.events, 99).splitlines()
    stored = text.encode("utf-8", "replace").decode()
    assert json.loads(lines[3])["body"]["text"] == stored


def test_log_is_cut_at_the_folds_revision() -> None:
    assert len(event_lines(finished().events, 3).splitlines()) == 3


def test_dead_process_shows_as_interrupted(tmp_path: Path) -> None:
    story = Story(spec_of()).start_round().reply("pm", stance("opt-1"))
    result = Result(
        story.state(), story.events, outside=lambda state: snapshot_of(state, status="interrupted")
    )
    made = export(result, tmp_path)
    text = made[0].read_text(encoding="utf-8")
    assert "Draft: there is no verdict (interrupted)." in text
    assert "`%roundtable resume payments-a1b2c3`" in text
    assert "in a shell `rt-notebook resume payments-a1b2c3`, goes on where it ended" in text
    page = next(path for path in made if path.name == "report.html").read_text(encoding="utf-8")
    assert "%roundtable resume payments-a1b2c3" in page
    assert "rt-notebook resume payments-a1b2c3" in page
    assert "rt-notebook" not in result._repr_mimebundle_()["text/html"]


@pytest.mark.parametrize("folder", ["", "a\0b"])
def test_impossible_paths_are_refused(folder: str) -> None:
    with pytest.raises(OptionError, match="is no folder's path"):
        export(done(), folder)


def test_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "adr").write_text("mine", encoding="utf-8")
    for folder in (tmp_path / "adr", tmp_path / "adr" / "deeper"):
        with pytest.raises(OptionError, match=r"adr is no folder; name a folder"):
            export(done(), folder)
    assert contents(tmp_path) == {"adr": b"mine"}


def test_home_and_relative_paths_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert export(done(), "docs/adr")[0] == tmp_path / "docs/adr/0001-ship-now.md"
    assert export(done(), "~/adr")[0] == tmp_path / "home/adr/0001-ship-now.md"


def test_files_have_the_usual_rights(tmp_path: Path) -> None:
    old = os.umask(0o022)
    try:
        for path in export(done(), tmp_path):
            assert path.stat().st_mode & 0o777 == 0o644
    finally:
        os.umask(old)


def test_stored_debate_exports_by_id(tmp_path: Path) -> None:
    result = rt.Review("Ship now?", options=["Ship", "Wait"], unattended=True).run_sync()
    paths = rt.export(result.id, tmp_path)
    assert paths[0].name == "0001-ship-now.md"
    assert rt.export("last", tmp_path) == paths
    with pytest.raises(UnknownDebateError, match="nobody-x"):
        rt.export("nobody-x", tmp_path)


def test_line_takes_an_id_and_a_folder() -> None:
    command = read_verb("export last 'docs/my adr'")
    assert command is not None
    assert (command.id, command.folder) == ("last", "docs/my adr")
    for line in ("export", "export last"):
        with pytest.raises(OptionError, match=r"needs a debate's id .* form: export ID DIR"):
            read_verb(line)
    with pytest.raises(OptionError, match="'c' is one word too many"):
        read_verb("export a b c")
