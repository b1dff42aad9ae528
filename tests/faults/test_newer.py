"""What a newer version wrote: refused in one clear line, never misread; all else goes on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rt_notebook as rt
from rt_notebook.frontends import cli
from rt_notebook.store import open_store
from tests.frontends.agents import Line

Change = Callable[[dict[str, Any]], object]

SPECS: dict[str, Change] = {
    "a field": lambda spec: spec.update(teleport=True),
    "a seat's field": lambda spec: spec["seats"][0].update(clone_of="dev"),
    "the brief's field": lambda spec: spec["brief"].update(budget="12 000"),
    "a limit": lambda spec: spec["limits"].update(max_joules=5),
    "the version": lambda spec: spec.update(v=99),
}
MATCH = "was written by a newer version of rt-notebook .*: upgrade rt-notebook to open it"


def _debate(**more: Any) -> rt.Result:
    made: dict[str, Any] = {"options": ["Ship", "Wait"], "seats": ["pm", "dev"], **more}
    return rt.Review("Now?", unattended=True, **made).run_sync()


def _rewrite(debate: str, kind: str, change: Change) -> None:
    """Changes an event as if a newer version had written it."""
    with open_store().database.transaction() as connection:
        where = "WHERE debate = (SELECT number FROM debates WHERE id = ?) AND kind = ?"
        query = f"SELECT body FROM events {where}"  # noqa: S608
        (body,) = connection.execute(query, (debate, kind)).fetchone()
        data = json.loads(body)
        change(data)
        update = f"UPDATE events SET body = ? {where}"  # noqa: S608
        connection.execute(update, (json.dumps(data), debate, kind))


@pytest.mark.parametrize("change", SPECS.values(), ids=SPECS)
def test_newer_definition_is_refused_everywhere(
    change: Change, capsys: pytest.CaptureFixture[str]
) -> None:
    old = _debate()
    newer = _debate()
    _rewrite(newer.id, "created", lambda body: change(body["spec"]))
    looks: list[Callable[[], object]] = [
        lambda: rt.load(newer.id),
        lambda: rt.state(newer.id),
        lambda: rt.resume(newer.id),
        lambda: rt.verdict(newer.id),
        lambda: rt.extend(newer.id, "More."),
        lambda: rt.wait(newer.id, 1),
    ]
    for look in looks:
        with pytest.raises(rt.StoreError, match=MATCH) as caught:
            look()
        assert len(str(caught.value).splitlines()) == 1
        assert caught.value.facts["fault"] == "newer"
    assert cli.main(["show", newer.id]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"rt-notebook: debate '{newer.id}' was written by a newer version")
    assert said.count("\n") == 1
    assert "newer version" in Line("show", "--id", newer.id).error["message"]
    # The list needs no definition, and nobody else is hurt.
    assert list(rt.debates().id) == [newer.id, old.id]
    assert rt.load(old.id).status == "done"
    assert open_store().lease(newer.id) is None


@pytest.mark.parametrize("change", SPECS.values(), ids=SPECS)
def test_newer_record_is_refused(change: Change, tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    _debate(record=str(path))
    first, *rest = path.read_text("utf-8").splitlines(keepends=True)
    data = json.loads(first)
    change(data["body"]["spec"])
    text = json.dumps(data, sort_keys=True, separators=(",", ":")) + "\n" + "".join(rest)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(rt.StoreError, match=f"^record .*{MATCH}"):
        rt.load(path)
    for mode in ("once", "new", "none"):
        with pytest.raises(rt.UsageError, match="newer version of rt-notebook"):
            _debate(record=str(path), record_mode=mode)
    assert path.read_text("utf-8") == text


def test_limits_of_a_newer_resume_are_refused() -> None:
    result = _debate()
    _rewrite(result.id, "concluded", lambda body: body.clear())
    with pytest.raises(rt.StoreError, match=r"event \d+ \(concluded\) doesn't follow .* newer"):
        rt.load(result.id)


def test_definition_that_is_damaged_isnt_called_newer() -> None:
    result = _debate()
    _rewrite(result.id, "created", lambda body: body["spec"].update(rounds="many"))
    with pytest.raises(rt.StoreError, match="its definition can't be read: ") as caught:
        rt.load(result.id)
    assert caught.value.facts["fault"] == "damaged"


def test_older_definition_has_defaults() -> None:
    result = _debate()

    def older(body: dict[str, Any]) -> None:
        for name in ("anonymous", "research", "tool_preview", "language", "loop_threshold"):
            del body["spec"][name]
        del body["spec"]["seats"][0]["retries"]

    _rewrite(result.id, "created", older)
    assert rt.load(result.id).spec == result.spec
