"""A store's file that is taken away, or replaced, while a debate runs in it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import rt_notebook as rt
from rt_notebook.store import open_store
from tests.engine.debates import reply


def _remove(path: Path) -> None:
    path.unlink()


def _remove_all(path: Path) -> None:
    for file in path.parent.glob(f"{path.name}*"):
        file.unlink()


def _rename(path: Path) -> None:
    path.rename(path.with_name("renamed.db"))


def _replace(path: Path) -> None:
    path.rename(path.with_name("older.db"))
    path.write_bytes(b"")


@pytest.mark.parametrize("take_away", [_remove, _remove_all, _rename, _replace])
def test_debate_stops_at_its_next_event(take_away: Callable[[Path], None], tmp_path: Path) -> None:
    """No heartbeat is needed for that: the debate takes less than a second."""
    asked: list[int] = []
    path = tmp_path / "own.db"

    def answer(call: rt.Call) -> str:
        asked.append(call.round)
        return reply("Ship" if call.seat == "a" else "Wait", f"round {call.round}")

    review = rt.Review(
        "Now?", options=["Ship", "Wait"], rounds=3, unattended=True, chairman="scripted",
        seats=[rt.Seat(name, model=answer) for name in ("a", "b")], store=str(path),
        loop_threshold=0,
    )  # fmt: skip

    def tell(event: rt.Event) -> None:
        if event.kind == "round_started" and event.body["round"] == 1:
            take_away(path)

    match = "was removed or replaced while it was in use"
    with pytest.raises(rt.StoreError, match=match) as caught:
        review.run_sync(on_event=tell)
    assert caught.value.facts["fault"] == "gone"
    # Nobody is asked whose answer could not be kept.
    assert max(asked) == 0
    if take_away is not _remove_all:
        # SQLite would take what is left of it, its log, for nothing, and remove it.
        with pytest.raises(rt.StoreError, match=r"it is empty, but its log isn't.*set aside as"):
            open_store(path)
    assert open_store(path).debates() == []
