"""Many debates at once: runs a plan's debates on the engine's loop, some at a time, each alone.

Keeps no result: what is finished is in the store and is read when it is asked for. The same call
finds its debates again by their ids, so it loads the finished ones and goes on with the others.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import logging
import sys
import time
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tqdm.auto import tqdm

from rt_notebook import session
from rt_notebook.analysis.many import Frames
from rt_notebook.analysis.measures import stability
from rt_notebook.analysis.result import Result
from rt_notebook.analysis.sweep_budget import Purse
from rt_notebook.analysis.sweep_plan import Plan, Planned, make_plan
from rt_notebook.analysis.sweep_tables import debate_rows, debates_columns, stability_rows
from rt_notebook.arguments import check_count
from rt_notebook.beginning import created_body
from rt_notebook.config_files import store_of
from rt_notebook.domain.events import EVENT_VERSION, Event
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.spec import DebateSpec, Limits
from rt_notebook.domain.state import LIVE, RESUMABLE, State, fold, start_state
from rt_notebook.engine.estimate import spec_warnings
from rt_notebook.engine.job import Job, render_in_one_line
from rt_notebook.engine.runner import runner
from rt_notebook.errors import RoundtableError, SeatError, UnknownDebateError, one_line
from rt_notebook.running import DebateRun, needs_person
from rt_notebook.store import open_store
from rt_notebook.store.log import Durability, Store

if TYPE_CHECKING:
    import pandas as pd

logger = logging.getLogger(__name__)

NO_BUDGET: Final = "the sweep's budget is used up"
"""Why a debate wasn't started."""
LIMITED: Final = "a limit ended it before there was a verdict; the same call with more goes on"
"""Why a debate got no further than its share, or its own limits, let it."""
NOT_STARTED: Final = "not started"
"""The status of a debate that the store doesn't have."""
FAILED: Final = "failed"
"""The status of a debate that couldn't be run at all; one that failed on its way is `error`."""


class Sweep(Frames):
    """Debates that run or have run together: their tables, and each one's result by its id.

    Every table is read from the store when it is asked for, also while debates still run.
    `await sweep` waits for the end and returns the sweep; cancelling that leaves it running.
    """

    def __init__(
        self,
        plan: Plan,
        store: Store,
        *,
        place: str | Path | None,
        durability: Durability,
        concurrency: int,
        budget: Limits | None,
    ) -> None:
        super().__init__(self._states)
        self.plan = plan
        """Which debates there are."""
        self.failures: dict[str, str] = {}
        """Why a debate couldn't be run or started, by its id."""
        self._store, self._place, self._durability = store, place, durability
        self._concurrency, self._budget = concurrency, budget
        self._job: Job[None] | None = None
        self._finished = 0

    # ---- what there is -------------------------------------------------------------------------

    @property
    def ids(self) -> list[str]:
        """The debates' ids: briefs, then variations, then repeats."""
        return [planned.id for planned in self.plan.debates]

    def __len__(self) -> int:
        """Return how many debates are planned."""
        return len(self.plan.debates)

    def __iter__(self) -> Iterator[Result]:
        """Yield the results of the debates that have begun, one at a time."""
        for planned in self.plan.debates:
            try:
                yield session.load(planned.id, self._place)
            except UnknownDebateError:
                continue

    def __getitem__(self, key: int | str) -> Result:
        """Return a debate's result, by its number or its id.

        Raises:
            IndexError: there is no such number.
            UnknownDebateError: it hasn't begun.
        """
        return session.load(self.ids[key] if isinstance(key, int) else key, self._place)

    @property
    def debates(self) -> pd.DataFrame:
        """One row per planned debate: what was varied, and what became of it.

        Columns: debate, brief, title, repeat, status (a debate's, or `not started`, `failed`),
        verdict, pick, label, error, completed_rounds, consensus_round, calls, prompt_tokens,
        completion_tokens, cost (USD); then a column for each thing varied and for each further
        column of the briefs, as text.
        """
        from rt_notebook.analysis import frames

        columns = debates_columns(self.plan)
        return frames.frame_of_rows(columns, debate_rows(self.plan, self._found(), self.failures))

    @property
    def stabilities(self) -> pd.DataFrame:
        """How stable the verdict is, for each brief and variation over its repeats.

        Columns: brief, variation (what was varied, in a line), pick, share, low, high (bootstrap
        interval of 95 %), runs, missing; see `measures.stability`.
        """
        from rt_notebook.analysis import frames
        from rt_notebook.analysis.sweep_tables import STABILITIES

        return frames.frame_of_rows(
            STABILITIES, stability_rows(self.plan, self._found(), stability)
        )

    def __repr__(self) -> str:
        counts = Counter(self._status(planned.id) for planned in self.plan.debates)
        said = ", ".join(f"{number:,} {status}" for status, number in counts.most_common())
        at_work = "" if self.done() else "; at work"
        return f"<Sweep of {len(self):,} debates: {said}{at_work}>"

    # ---- while it runs -------------------------------------------------------------------------

    def done(self) -> bool:
        """Return whether the sweep has ended."""
        return self._job is None or self._job.done()

    def wait(self) -> Sweep:
        """Block until the sweep has ended, and return it; Ctrl-C interrupts it, resumable.

        Raises:
            KeyboardInterrupt: it was interrupted.
        """
        if self._job is not None:
            try:
                with contextlib.suppress(concurrent.futures.CancelledError):
                    self._job.wait_blocking()
            except KeyboardInterrupt as error:
                said = f"{self._finished:,} of {len(self):,} debates are finished and kept"
                render_in_one_line(
                    error, f"KeyboardInterrupt: {said}; the same call of rt.sweep goes on"
                )
                raise
        return self

    def interrupt(self) -> None:
        """Interrupt what runs; the same call of `rt.sweep` goes on later."""
        if self._job is not None:
            self._job.cancel()

    def __await__(self) -> Generator[Any, Any, Sweep]:
        return self._joined().__await__()

    async def _joined(self) -> Sweep:
        if self._job is not None:
            with contextlib.suppress(concurrent.futures.CancelledError):  # by `interrupt`
                await self._job.join()
        return self

    def start(self, bar: Any, *, direct: bool) -> None:
        """Begin on the engine's thread; `sweep` calls it.

        Args:
            bar: the progress bar.
            direct: update the bar on the engine's thread, because nobody waits.
        """
        self._job = runner().new_job(lambda job: self._main(job, bar), direct=direct)
        self._job.on_done(lambda job: bar.close())
        self._job.start()

    # ---- on the engine's loop ------------------------------------------------------------------

    async def _main(self, job: Job[None], bar: Any) -> None:
        purse = Purse(self._budget, self._concurrency)
        if purse.counts:
            await self._count(purse)
        queue = iter(self.plan.debates)
        async with asyncio.TaskGroup() as group:
            for _ in range(min(self._concurrency, len(self))):
                group.create_task(self._work(queue, purse, job, bar))

    async def _count(self, purse: Purse) -> None:
        """Tell the purse what the debates have used that are in the store already."""
        for planned in self.plan.debates:
            if self._status(planned.id) in (NOT_STARTED, FAILED):
                continue
            try:
                purse.settle(planned.id, fold(self._store.events(planned.id)))
            except Exception as error:  # an edge: one that can't be read takes no other with it
                logger.warning("debate %s of a sweep can't be counted", planned.id, exc_info=True)
                self.failures[planned.id] = one_line(f"{type(error).__name__}: {error}", 300)
            await asyncio.sleep(0)

    async def _work(self, queue: Iterator[Planned], purse: Purse, job: Job[None], bar: Any) -> None:
        for planned in queue:
            await self._attempt(planned, purse)
            self._finished += 1
            job.post(bar.update, 1)
            # A sweep of loaded debates only must let others have the loop too.
            await asyncio.sleep(0)

    async def _attempt(self, planned: Planned, purse: Purse) -> None:
        """Run one debate, or find it finished; whatever goes wrong in it stays in it."""
        state: State | None = None
        try:
            status = self._status(planned.id)
            if status not in RESUMABLE and status != NOT_STARTED:
                if status in LIVE:
                    self.failures[planned.id] = "another process, or another sweep, runs it"
                return
            spec = self.plan.spec(planned)
            limits = await purse.take(planned.id, spec)
            if limits is None:
                self.failures[planned.id] = NO_BUDGET
                return
            run = self._run(planned.id, spec, limits, fresh=status == NOT_STARTED)
            state = run.fold
            before = set(state.calls)
            await _alone(run)
            if state.status == "error":
                self._explain(planned.id, state, before)
        except RoundtableError as error:
            self.failures[planned.id] = one_line(str(error), 300)
        except Exception as error:  # an edge: a broken debate must not take the others with it
            logger.exception("debate %s of a sweep failed", planned.id)
            self.failures[planned.id] = one_line(f"{type(error).__name__}: {error}", 300)
        finally:
            purse.settle(planned.id, state)

    def _explain(self, debate: str, state: State, before: Set[str]) -> None:
        """Keep why a debate ended as an error; calls from `before` it went on are no reason."""
        failed = [
            call.message for at, call in state.calls.items() if call.error and at not in before
        ]
        if failed:
            self.failures[debate] = one_line(failed[-1] or "", 300)
        elif state.stop_reason == "limit":
            self.failures[debate] = LIMITED

    def _run(self, debate: str, spec: DebateSpec, limits: Limits, *, fresh: bool) -> DebateRun:
        everybody = [*spec.seats, *([spec.closer] if spec.closer else [])]
        if not fresh:
            opening = session.Opening(
                self._place, self._durability, attended=False, source="process"
            )
            models = {seat.name: seat.function for seat in everybody if seat.function is not None}
            return session.resume_run(debate, opening, limits=limits, models=models)
        people = needs_person(everybody)
        if people:
            raise SeatError(f"seat {people[0]!r} is a person; a sweep asks nobody")
        limited = spec.model_copy(update={"limits": limits})
        session.check_spec(limited)
        created = created_body(limited.model_dump(mode="json"), "process", True, self._durability)
        now = time.time_ns() // 1_000_000
        state = start_state(Event(EVENT_VERSION, debate, 0, now, *created), limited)
        log = self._store.log(debate, self._durability)
        return DebateRun(state, self._store, log, [created], spec_warnings(limited))

    # ---- reading -------------------------------------------------------------------------------

    def _status(self, debate: str) -> str:
        try:
            return self._store.row(debate).status
        except UnknownDebateError:
            return FAILED if self.failures.get(debate, NO_BUDGET) != NO_BUDGET else NOT_STARTED

    def _found(self) -> Iterator[tuple[Planned, State | None, str]]:
        """Yield every planned debate with its fold, if it has begun, and its status."""
        for planned in self.plan.debates:
            status = self._status(planned.id)
            begun = status not in (NOT_STARTED, FAILED)
            yield planned, fold(self._store.events(planned.id)) if begun else None, status

    def _states(self) -> Iterator[State]:
        return (state for _, state, _ in self._found() if state is not None)


def sweep(
    briefs: Any,
    *,
    seats: Sequence[Seat | str] | None = None,
    repeats: int = 1,
    concurrency: int = 4,
    vary: Mapping[str, Iterable[Any]] | None = None,
    budget: Limits | None = None,
    store: str | Path | None = None,
    durability: Durability | None = None,
    progress: bool | None = None,
    background: bool = False,
    **settings: Any,
) -> Sweep:
    """Run many debates, some at a time, and return their tables; nobody is asked at a gate.

    The same call again loads what is finished from the store, goes on with what was interrupted,
    paused or failed, and starts the rest: a debate's id follows from its definition (brief, seats,
    settings; not budgets, consents and colours) and the number of its repeat. A function counts by
    its name.

    Args:
        briefs: a list of questions, dicts with a brief's fields, `Brief`s or `Review`s, or a data
            frame with a brief a row (pandas or polars; `options` and the notes as lists, or a line
            each); further columns come along in `debates`.
        seats: who debates, as in `Review`.
        repeats: how often each brief is debated in each variation.
        concurrency: how many debates run at a time.
        vary: choices by name; all combinations are run. A setting (`rounds`, `memory`, `chairman`,
            `seats`: a list of panels, ...), a seat's field (`pm.model`, `pm.persona`), the same of
            all seats (`lens`), or `order`: `rotations`, `all`, or lists of names.
        budget: limits of the whole sweep, what earlier calls of it spent included. A debate begins
            only if its least need is free, and gets limits that keep all together within; `calls`
            are kept exactly, tokens and cost as a debate keeps them. What doesn't fit is
            `not started`. `max_minutes` counts from this call, where it is given.
        store: a path; None: the configuration's or the default store.
        durability: what an event survives, as in `Review`; None: as the configuration says.
        progress: whether a bar is shown; None: in a notebook or a terminal.
        background: True: return at once; `await sweep`, `sweep.wait()` or its tables later.
        **settings: of every debate, as in `Review`: options, known, rounds, chairman, limits,
            api_billing, ...; what belongs to a person at a gate, or to one debate, is refused.

    Raises:
        UsageError: a brief, seat, setting or variation doesn't fit; nothing was started.
        StoreError: the store can't be opened.
        KeyboardInterrupt: it was interrupted; the same call goes on.
    """
    check_count("concurrency", concurrency)
    plan = make_plan(briefs, seats, repeats, vary, settings)
    place = store_of(store)
    made = Sweep(
        plan,
        open_store(place),
        place=place,
        durability=durability or plan.config.review_defaults().get("durability", "process"),
        concurrency=concurrency,
        budget=budget,
    )
    made.start(_bar(len(made), progress), direct=background)
    return made if background else made.wait()


async def _alone(run: DebateRun) -> None:
    """Run a debate in a task of its own, so that interrupting it doesn't end the others."""
    task = asyncio.create_task(run.main())
    try:
        await asyncio.wait([task])
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.wait([task])
        raise
    if not task.cancelled():
        task.result()


def _bar(total: int, progress: bool | None) -> Any:
    # In a kernel, tqdm.auto is the notebook's bar; it goes at the end, as it can't be saved.
    in_notebook = any(base.__module__ == "tqdm.notebook" for base in tqdm.__mro__)
    if progress is None:
        progress = in_notebook or (sys.stderr is not None and sys.stderr.isatty())
    return tqdm(
        total=total, desc="Sweep", unit="debate", disable=not progress, leave=not in_notebook
    )
