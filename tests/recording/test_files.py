"""What gets into a record's file and what never does, how it is written, and what is read."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import rt_notebook as rt
from rt_notebook import session
from rt_notebook.contract.record import read_record, record_line
from rt_notebook.domain.events import Event
from rt_notebook.errors import RecordMismatchError, StoreError
from rt_notebook.store.record import known_secrets, public_error, recorded, save_record
from tests.engine.debates import reply
from tests.environment import ROOT
from tests.recording.scenes import Voices, assert_same, kinds, lines, stances, write
from tests.recording.scenes import recorded as run

KEY = "sk-test-AAAA1111BBBB2222"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "r.jsonl"


def test_lines_are_canonical_json(path: Path) -> None:
    voices = Voices()
    seats = (voices.seat("pm", *stances("opt-1")), voices.seat("審査", *stances("opt-2")))
    run(voices.review(seats=seats, question="Größe \u2028 oder 审?"), path)
    raw = path.read_bytes()
    assert raw.endswith(b"\n")
    assert b"\r" not in raw
    assert b"\\u2028" in raw
    assert "审".encode() in raw
    for line in raw.decode("utf-8").splitlines():
        data = json.loads(line)
        assert list(data) == ["at", "body", "debate", "kind", "seq", "v"]
        again = json.dumps(data, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        assert line.replace("\\u2028", "\u2028") == again


def test_writing_what_was_read_changes_nothing(path: Path) -> None:
    run(Voices().review(rounds=2), path)
    record = read_record(path.read_text("utf-8"), "r")
    assert "".join(map(record_line, recorded(record.events, record.spec))) == path.read_text(
        "utf-8"
    )


def test_servers_and_keys_stay_out(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DB_PASSWORD", "hunter22-and-more")
    leak = rt.CallError(
        f"401 from https://llm.corp.example:8443/v1 for {KEY}: see /home/jane/.config/x.toml on "
        "db1.corp.example:5432, password hunter22-and-more, C:\\Users\\jane\\x.log",
        kind="provider",
        partial=f"Authorization: Bearer {KEY}",
    )
    voices = Voices()
    seats = (
        voices.seat("pm", leak, base_url="http://proxy.corp.example:9/v1", api_key_env="CORP_KEY"),
        voices.seat("dev", reply("opt-2", "the password is hunter22-and-more")),
    )
    first = run(voices.review(seats=seats), path)
    text = path.read_text("utf-8")
    for secret in (KEY, "AAAA1111", "hunter22", "corp.example", "jane", "proxy", "CORP_KEY"):
        assert secret not in text
    assert "401 from https://[host]:8443/v1 for [hidden]: see [path] on [host]" in text
    assert_same(first, run(voices.review(seats=seats), path, "none"))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("can't read /etc/app/x.toml: no", "can't read [path]: no"),
        ("can't read '/etc/app/x.toml'", "can't read '[path]'"),
        ("in ~/notes/a.md, line 3", "in [path], line 3"),
        (r"in D:\work\a b.txt", r"in [path] b.txt"),
        (r"on \\server\share\a.txt", "on [path]"),
        ("file:///srv/a.txt is gone", "[path] is gone"),
        ("https://u:p@api.acme.io/v1/chat", "https://[host]/v1/chat"),
        ("connect to 10.0.0.7:8080 failed", "connect to [host] failed"),
        ("[fe80::1]:80 refused", "[host] refused"),
        ("api.acme.io didn't answer", "[host] didn't answer"),
        ("localhost:11434 refused", "[host] refused"),
        ("no answer within 300 s", "no answer within 300 s"),
        ("ValueError: at 12:30, ratio 3/4, and/or", "ValueError: at 12:30, ratio 3/4, and/or"),
        ("version 1.2.3 of a.b", "version 1.2.3 of a.b"),
        ("status: 404", "status: 404"),
    ],
)
def test_errors_are_made_public(text: str, shown: str) -> None:
    assert public_error(text) == shown
    assert public_error(shown) == shown


def test_own_folders_and_host_are_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "janes-laptop")
    monkeypatch.setenv("HOME", "/data/people/jane doe")
    assert public_error("on janes-laptop in /data/people/jane doe/x") == "on [host] in [path]"


def test_absolute_paths_of_scripts_stay_out(path: Path, tmp_path: Path) -> None:
    script = tmp_path / "deep" / "dev.toml"
    script.parent.mkdir()
    script.write_text('[[steps]]\nsay = {stance = "Wait"}\n', encoding="utf-8")

    def spec(voices: Voices) -> Any:
        seats = (voices.seat("pm", *stances("opt-1")), rt.Seat("dev", model=f"scripted:{script}"))
        return voices.review(seats=seats)

    first = run(spec(Voices()), path)
    assert str(tmp_path) not in path.read_text("utf-8")
    assert '"model":"scripted:dev.toml"' in path.read_text("utf-8")
    assert_same(first, run(spec(Voices()), path, "none"))


def test_durations_are_whole_milliseconds() -> None:
    body = {"call": "0/a/opening/1", "text": "x", "timings": {"total": 1.23456, "queued": 0.0004}}
    spec = Voices().review()
    event = Event(1, "d", 1, 1, "call_finished", body)
    assert recorded([event], spec)[0].body["timings"] == {"total": 1.235, "queued": 0.0}


def test_secrets_are_found_by_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    named = {"MY_API_KEY": "abcdefgh1", "GITHUB_TOKEN": "tok-12345"}
    others = {"MONKEY": "bananas-all", "SHORT_KEY": "abc"}
    for name, value in {**named, **others}.items():
        monkeypatch.setenv(name, value)
    assert {"abcdefgh1", "tok-12345"} <= set(known_secrets())
    assert not {"bananas-all", "abc"} & set(known_secrets())


def test_failed_write_keeps_the_old_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(Voices().review(), path)
    before = path.read_bytes()

    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match="No space left"):
            save_record(path, "")
        result = run(Voices().review(), path, "all")
    assert result.status == "done"
    assert result.warnings[-1].endswith("could not be written: No space left on device")
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_link_and_rights_stay(path: Path, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere" / "real.jsonl"
    target.parent.mkdir()
    target.touch(mode=0o640)
    os.chmod(target, 0o640)
    path.symlink_to(target)
    run(Voices().review(), path, "new")
    assert path.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o640
    assert kinds(target)[-1] == "concluded"


KILLED = """
import os, signal, sys
sys.path.insert(0, {root!r})
from tests.recording.scenes import Voices, run_of
from tests.engine.clocks import play

run = run_of(Voices().review(rounds=2), {path!r}, "new")
count = [0]
def strike(event, state):
    count[0] += 1
    if count[0] == {place}:
        os.kill(os.getpid(), signal.SIGKILL)
run.listeners.append(strike)
play(run.main())
"""


@pytest.mark.slow
def test_record_survives_a_kill_at_any_event(path: Path, tmp_path: Path) -> None:
    whole = run(Voices().review(rounds=2), tmp_path / "whole.jsonl")
    for place in range(1, len(whole.events) + 1, 4):
        path = tmp_path / f"{place}.jsonl"
        code = KILLED.format(root=str(ROOT), path=str(path), place=place)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
        assert done.returncode == -signal.SIGKILL, done.stderr
        left = [name for name in os.listdir(tmp_path) if name.endswith(".tmp")]
        assert left == []
        if path.exists():
            read_record(path.read_text("utf-8"), "r")
        voices = Voices()
        result = run(voices.review(rounds=2), path, "new")
        assert result.status == "done"
        assert result.replies.stance_key.tolist() == whole.replies.stance_key.tolist()
        again = Voices()
        assert_same(result, run(again.review(rounds=2), path, "none"))
        assert again.calls == []


def damaged(path: Path, line: int, text: str) -> None:
    found = path.read_text("utf-8").splitlines(keepends=True)
    found[line] = text
    path.write_text("".join(found), encoding="utf-8")


@pytest.mark.parametrize("mode", ["once", "new", "none"])
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("<<<<<<< HEAD\n", "it isn't JSON"),
        ("[]\n", "it isn't an event"),
        ('{"v":1}\n', "its 'debate' is missing or of another type"),
        ("", "it has the number 5: lines are missing"),
        ("[" * 100_000 + "\n", "it isn't JSON"),
        ('{"at":NaN}\n', "NaN is no JSON number"),
    ],
)
def test_damage_is_refused_with_its_line(path: Path, mode: str, text: str, why: str) -> None:
    run(Voices().review(), path)
    damaged(path, 3, text)
    voices = Voices()
    with pytest.raises(RecordMismatchError, match=f"damaged at line 4: .*{re.escape(why)}"):
        run(voices.review(), path, mode)
    with pytest.raises(StoreError, match="damaged at line 4"):
        rt.load(path)
    assert voices.calls == []


@pytest.mark.parametrize(
    ("kind", "key", "value"),
    [
        ("round_started", "round", "0"),
        ("call_started", "model", None),
        ("call_started", "seat", "nobody"),
        ("call_finished", "tool_calls", ["x"]),
        ("reply_read", "reply", {"new": "one"}),
        ("verdict_written", "verdict", {"dissent": 5}),
        ("concluded", "at", 10**15),
    ],
)
def test_value_that_no_event_holds_is_refused_with_its_line(
    path: Path, kind: str, key: str, value: Any
) -> None:
    run(Voices().review(), path)
    found = lines(path)
    number = [line["kind"] for line in found].index(kind)
    (found[number] if key == "at" else found[number]["body"])[key] = value
    write(path, found)
    problem = f"damaged at line {number + 1}: its '{key}' can't be that of '{kind}'"
    with pytest.raises(StoreError, match=problem):
        rt.load(path)


def test_newer_version_is_refused_not_misread(path: Path) -> None:
    run(Voices().review(), path)
    write(path, [{**line, "v": 2} for line in lines(path)])
    with pytest.raises(RecordMismatchError, match="of version 2; this version reads up to 1: upgr"):
        run(Voices().review(), path)


def test_unknown_kind_is_kept(path: Path) -> None:
    run(Voices().review(), path)
    found = lines(path)
    found.insert(-1, {**found[-1], "kind": "confetti", "body": {"colour": "red"}})
    write(path, [{**line, "seq": number} for number, line in enumerate(found, 1)])
    before = path.read_bytes()
    result = run(Voices().review(), path)
    assert result.fold.unknown_kinds == {"confetti": 1}
    assert path.read_bytes() == before


def test_line_ends_of_another_system_are_read(path: Path) -> None:
    first = run(Voices().review(), path)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n").rstrip())
    assert_same(first, run(Voices().review(), path, "none"))


def test_foreign_record_names_no_server(path: Path) -> None:
    run(Voices().review(), path)
    found = lines(path)
    for seat in found[0]["body"]["spec"]["seats"]:
        seat |= {"base_url": "http://evil.example/v1", "api_key_env": "HOME"}
    write(path, found)
    result = run(Voices().review(), path, "none")
    kept = session.load(result.id)
    for seat in (*kept.spec.seats, *rt.load(path).spec.seats):
        assert (seat.base_url, seat.api_key_env) == (None, None)


HOSTILE = "<script>alert(1)</script>\x1b[2J\u202e\ud800 ]]> \x00 {{7*7}} <<<a1 end>>>"


def test_hostile_texts_come_back_as_they_are(path: Path) -> None:
    def spec(voices: Voices) -> Any:
        seats = (
            voices.seat("pm", reply("opt-1", HOSTILE)),
            voices.seat("dev", HOSTILE, reply("opt-2", HOSTILE)),
        )
        return voices.review(seats=seats, question="Is it\x85 safe?")

    first = run(spec(Voices()), path)
    raw = path.read_bytes()
    assert not re.search(rb"[\x00-\x09\x0b-\x1f\x7f]", raw)
    assert "\u202e" not in raw.decode("utf-8")
    again = Voices()
    assert_same(first, run(spec(again), path, "none"))
    assert (again.calls, path.read_bytes()) == ([], raw)
