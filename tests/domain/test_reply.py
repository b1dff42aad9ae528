"""Replies as values that go to the log and come back."""

from __future__ import annotations

import json

import pytest

from rt_notebook.contract import read_reply
from rt_notebook.domain.reply import Reply, VerdictText

TEXT = (
    "<think>hm</think>STANCE: Ship\nAGREE_WITH: pm\nDISAGREE:\n-a\n-b\n-c\n-d\nNEW:\nASSUMPTIONS: x"
)


def test_reply_survives_the_log() -> None:
    reply = read_reply(TEXT, options=["Ship", "Wait"], round=1)
    assert Reply.from_json(json.loads(json.dumps(reply.to_json()))) == reply


@pytest.mark.parametrize("kind", [Reply, VerdictText])
def test_every_field_goes_to_json(kind: type[Reply] | type[VerdictText]) -> None:
    assert list(kind().to_json()) == list(kind._fields)


def test_old_and_newer_rows_still_load() -> None:
    assert Reply.from_json({}) == Reply()
    assert Reply.from_json({"valid": True, "new": None, "mood": "later"}) == Reply(valid=True)


def test_reply_cannot_be_changed() -> None:
    with pytest.raises(AttributeError, match="set attribute"):
        Reply().valid = True  # type: ignore[misc]  # that is the point


def test_lists_are_shared_with_their_json() -> None:
    """Copies of eight lists a reply would cost more than the rest; nobody changes one."""
    reply = Reply(new=["a"])
    assert Reply.from_json(reply.to_json()).new is reply.new


@pytest.mark.parametrize("value", [Reply(), VerdictText()])
def test_changed_json_changes_no_empty_list(value: Reply | VerdictText) -> None:
    """A callback may change what it hears of; the empty list that all replies share isn't in it."""
    for given in value.to_json().values():
        if isinstance(given, list):
            given.append("mine")
    assert "mine" not in str(value)
    assert "mine" not in str(type(value)())


def test_unresolved_reply_loses_its_key_only() -> None:
    reply = read_reply("STANCE: opt-1\nNEW: x", options=["Ship", "Wait"]).unresolved()
    assert (reply.valid, reply.stance, reply.stance_key, reply.new) == (False, "opt-1", None, ["x"])
