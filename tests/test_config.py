"""What the configuration files may say, and what is refused in them."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from rt_notebook.config_files import Config, load_config
from rt_notebook.domain.spec import Limits
from rt_notebook.errors import OptionError


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Returns the folder of a project, above the notebook's."""
    return tmp_path / "project"


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns the user's own file, which is empty at first."""
    path = tmp_path / "own" / "config.toml"
    path.parent.mkdir()
    path.write_text("", encoding="utf-8")
    monkeypatch.setenv("RT_NOTEBOOK_CONFIG", str(path))
    return path


def read(project: Path, text: str) -> Config:
    """Writes a project's file and reads it from a notebook's folder two levels below."""
    notebooks = project / "deep" / "notebooks"
    notebooks.mkdir(parents=True, exist_ok=True)
    (project / "roundtable.toml").write_text(text, encoding="utf-8")
    return load_config(notebooks)


def test_no_file_says_nothing(tmp_path: Path) -> None:
    found = load_config(tmp_path)
    assert (found.files, found.seats, found.review_defaults(), found.limits) == ((), (), {}, {})


def test_nearest_project_file_is_found_upward(project: Path) -> None:
    (project / "deep").mkdir(parents=True)
    (project / "deep" / "roundtable.toml").write_text("[review]\nrounds = 3", encoding="utf-8")
    found = read(project, "[review]\nrounds = 2\n[seats.ana]")
    assert found.review_defaults() == {"rounds": 3}
    assert found.files == (project / "deep" / "roundtable.toml",)
    assert found.seats == ()


def test_user_file_is_found_in_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platformdirs.user_config_dir", lambda *_, **__: str(tmp_path))
    (tmp_path / "config.toml").write_text("[defaults]\nrounds = 4", encoding="utf-8")
    assert load_config(tmp_path).review_defaults() == {"rounds": 4}


def test_project_goes_before_user_and_review_before_defaults(project: Path, user: Path) -> None:
    user.write_text(
        "[defaults]\nlanguage = 'German'\nrounds = 1\n"
        "[review]\nrounds = 2\ngates = 'off'\nanonymous = true\n"
        "[limits]\nmax_calls = 9\nmax_cost = 1\nmax_calls_per_vendor = {a = 5}",
        encoding="utf-8",
    )
    found = read(
        project,
        "[defaults]\nrounds = 3\nanonymous = false\nquestion_wait_s = 5\n"
        "[review]\nmemory = 'full'\n[limits]\nmax_cost = 0.5",
    )
    assert found.review_defaults() == {
        "language": "German",
        "rounds": 3,
        "gates": "off",
        "anonymous": False,
        "question_wait_s": 5.0,
        "memory": "full",
    }
    assert dict(found.limits) == {
        "max_calls": 9,
        "max_cost": 0.5,
        "max_calls_per_vendor": {"a": 5},
    }
    assert Limits(**found.limits).max_cost == 0.5


def test_environment_goes_before_the_files_store(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = read(project, "[defaults]\nstore = 'reviews/debates.db'")
    assert found.review_defaults() == {}
    monkeypatch.delenv("RT_NOTEBOOK_STORE")
    assert found.review_defaults() == {"store": str(project / "reviews" / "debates.db")}


def test_each_kind_has_its_own_table(project: Path) -> None:
    found = read(
        project,
        "[defaults]\nrounds = 2\ngates = 'off'\nmemory = 'stateless'\nchairman = 'pm'\n"
        "[review]\nrounds = 3\n"
        "[discussion]\nobserver = 'rv'\nobserver_prompt = 'One line'\nseats = ['pm', 'rv']",
    )
    assert found.review_defaults() == {"rounds": 3, "gates": "off", "memory": "stateless"}
    assert (found.chairman, found.default_seats) == ("pm", ())
    talks = found.for_kind("discussion")
    assert talks.review_defaults() == {"rounds": 2, "observer_prompt": "One line"}
    assert (talks.chairman, talks.default_seats) == ("rv", ("pm", "rv"))
    assert talks.limits == found.limits


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[discussion]\ngates = 'off'", r"\[discussion\] gates belongs to \[review\]"),
        ("[review]\nobserver = 'x'", r"\[review\] observer belongs to \[discussion\]"),
        ("[discussion]\nanything = 1", r"\[discussion\] anything is unknown"),
        ("[discussion]\nobserver = 'python:m:f'", "observer 'python:m:f' runs code"),
    ],
)
def test_what_belongs_elsewhere_is_refused(project: Path, text: str, problem: str) -> None:
    with pytest.raises(OptionError, match=problem):
        read(project, text)


def test_project_file_named_as_users_own_is_trusted(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RT_NOTEBOOK_CONFIG", str(project / "roundtable.toml"))
    found = read(project, "[seats.ana]\nmodel = 'python:m:f'")
    assert [(seat.name, seat.source) for seat in found.seats] == [("ana", "user")]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[reviews]", "reviews is unknown; did you mean 'review'?"),
        ("review = 1", "review is a table; write [review]"),
        ("seats = ['pm']", "seats is a table; write [seats]"),
        ("[review]\nround = 2", "[review] round is unknown; did you mean 'rounds'?"),
        ("[review]\nmax_calls = 2", "[review] max_calls is unknown"),
        ("[limits]\nmax_call = 2", "[limits] max_call is unknown; did you mean 'max_calls'?"),
        ("[review]\nrounds = 'two'", "[review] rounds is wrong: "
         "--rounds takes a whole number from 0 to 50; got 'two'"),
        ("[review]\nrounds = true", "[review] rounds is wrong: "
         "--rounds takes a whole number from 0 to 50; got True"),
        ("[review]\nrounds = 51", "[review] rounds is wrong: "
         "--rounds takes a whole number from 0 to 50; got 51"),
        ("[review]\nanonymous = 'yes'", "[review] anonymous is wrong: "
         "--anonymous takes true or false; got 'yes'"),
        ("[defaults]\ngates = 'of'", "[defaults] gates is wrong: "
         "--gates takes one of timed, blocking, off; got 'of'; did you mean 'off'?"),
        ("[limits]\nmax_minutes = nan", "[limits] max_minutes is wrong: "
         "--max-minutes takes a number above 0; got nan"),
        (f"[limits]\nmax_minutes = {'9' * 400}", "[limits] max_minutes is wrong: "
         f"--max-minutes takes a number above 0; got {'9' * 59}…"),
        ("[limits]\nmax_calls_per_vendor = {a = '5'}", "[limits] max_calls_per_vendor is wrong: "
         "--max-calls-per-vendor takes whole numbers of at least 0; got a='5'"),
        ("[defaults]\nseats = ['pm=human']", "[defaults] seats takes names of seats, "
         "got 'pm=human'; define it as [seats.NAME] with a model"),
        ("[seats]\nana = 'human'", "[seats.ana] is a table, such as [seats.pm] "
         "with model = 'scripted'"),
        ("[seats.ana]\nmodle = 'human'", "[seats.ana] modle is unknown; did you mean 'model'?"),
        ("[seats.ana]\nmodel = 3", "[seats.ana] model is a text such as 'scripted'; got 3"),
        ("[seats.ana]\ntools = ['f']", "[seats.ana] tools are Python functions; give them in code"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("source", ["project", "user"])
def test_mistake_in_a_file_names_file_and_key(
    project: Path, user: Path, source: str, text: str, problem: str
) -> None:
    path = user
    if source == "user":
        user.write_text(text, encoding="utf-8")
        text = ""
    else:
        path = project / "roundtable.toml"
    with pytest.raises(OptionError, match=f"^{re.escape(f'{path}: {problem}')}$"):
        read(project, text)


FORBIDDEN = [
    ("[seats.a]\nmodel = 'python:os:getcwd'",
     "[seats.a] model 'python:os:getcwd' runs code"),
    ("[seats.a]\nmodel = ' Python :os:getcwd'",
     "[seats.a] model 'Python :os:getcwd' runs code"),
    ("[review]\nchairman = 'python:os:getcwd'", "chairman 'python:os:getcwd' runs code"),
    ("[seats.a]\nbase_url = 'http://x'",
     "[seats.a] base_url could send a key or a bill elsewhere"),
    ("[seats.a]\napi_key_env = 'X'",
     "[seats.a] api_key_env could send a key or a bill elsewhere"),
    ("[defaults]\napi_billing = true",
     "[defaults] api_billing could send a key or a bill elsewhere"),
    ("[defaults]\nstore = '../x.db'", "store '../x.db' is outside its folder"),
    ("[defaults]\nstore = '~/.profile'", "store '~/.profile' is outside its folder"),
    ("[defaults]\nstore = 'postgresql://h/db'", "store at a server would send the debates away"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "problem"), FORBIDDEN)
def test_cloned_project_cannot_run_code_or_send_keys(
    project: Path, text: str, problem: str
) -> None:
    message = (
        f"{project / 'roundtable.toml'}: {problem}, so a project's file can't say it; "
        "use code or your own config.toml"
    )
    with pytest.raises(OptionError, match=f"^{re.escape(message)}$"):
        read(project, text)


@pytest.mark.parametrize("text", [text for text, _ in FORBIDDEN])
def test_users_own_file_may_say_it(project: Path, user: Path, text: str) -> None:
    user.write_text(text, encoding="utf-8")
    assert read(project, "").files[-1] == user


@pytest.mark.parametrize("table", ["", "[defaults]\n", "[review]\n", "[seats.a]\n"])
@pytest.mark.parametrize("key", ["allow_limited_isolation", "acknowledge_terms"])
def test_consents_are_never_read_from_files(
    project: Path, user: Path, table: str, key: str
) -> None:
    user.write_text(f"{table}{key} = true", encoding="utf-8")
    with pytest.raises(OptionError, match=f"{key} is a consent, which only the call itself can"):
        read(project, "")


def test_store_linked_out_of_the_project_is_refused(project: Path, tmp_path: Path) -> None:
    project.mkdir()
    (project / "out").symlink_to(tmp_path)
    with pytest.raises(OptionError, match=r"store 'out/x\.db' is outside its folder"):
        read(project, "[review]\nstore = 'out/x.db'")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"rounds = ", r"is no valid TOML: Invalid value \(at end of document\)"),
        (b"x = '\xff'", "is not UTF-8 text"),
        (b"rounds = " + b"9" * 5_000, "is no valid TOML: Exceeds the limit .* for integer.*"),
        (b"rounds = " + b"[" * 100_000, "is no valid TOML: .*recursion.*"),
    ],
)
def test_unreadable_file_is_named(user: Path, content: bytes, problem: str) -> None:
    user.write_bytes(content)
    with pytest.raises(OptionError, match=f"^{re.escape(str(user))} {problem}$"):
        load_config(user.parent)


def test_missing_file_of_the_environment_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RT_NOTEBOOK_CONFIG", str(tmp_path / "no.toml"))
    with pytest.raises(
        OptionError, match=r"RT_NOTEBOOK_CONFIG='.*no\.toml': there is no such file"
    ):
        load_config(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="a folder in use can't be removed there")
def test_removed_working_directory_holds_no_project_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    assert load_config().files == ()
