"""
The tasks of the state machine that move a run on, until nothing is left to do.

A run of a shared data source does all its work in `begin`, or in `start` if it had to wait for its
turn (shared_runs). One of a catalog with a data source of its own is placed in `begin`; then direct
calls do its work in the same way, if they are sooner (ways, own_runs). Else it goes round after
round: admit queues up, start begins a job (by_job), the poller follows it (stackroom.settlement),
and release ends the run unless more was asked for.

Over 200 lines: every task of the state machine, one after another.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from stackroom.admission.admission import Admission
from stackroom.admission.demand import demand_of_job
from stackroom.admission.limits import PATIENCE
from stackroom.clock import utc_now
from stackroom.errors import DataSourceBroken, KnowledgeBaseThrottled
from stackroom.ingestion.by_job import JobRounds
from stackroom.ingestion.endings import Endings
from stackroom.ingestion.own_runs import OwnRuns
from stackroom.ingestion.rounds import DirectWork
from stackroom.ingestion.shared_runs import SharedRuns
from stackroom.ingestion.ways import Ways
from stackroom.model import Catalog, CatalogStatus
from stackroom.ports.admission import Mode, Waiter
from stackroom.ports.catalogs import Catalogs
from stackroom.ports.documents import Documents
from stackroom.runs.leases import Runs
from stackroom.runs.placement import Placement, Placements
from stackroom.runs.progress import MAX_STEPS, Run, RunOutcome, waiting_time
from stackroom.runs.requests import RunRequests
from stackroom.runs.teardown import Teardown
from stackroom.runs.worklists import is_shared


@dataclass(frozen=True, kw_only=True)
class RunTasks:
    """Where a worklist is a catalog's own, its id is the catalog's."""

    catalogs: Catalogs
    documents: Documents
    placements: Placements
    admission: Admission
    jobs: JobRounds
    shared_runs: SharedRuns
    own_runs: OwnRuns
    ways: Ways
    endings: Endings
    teardown: Teardown
    runs: Runs
    requests: RunRequests
    now: Callable[[], datetime] = utc_now

    def begin(self, run: Run) -> tuple[Run, DirectWork]:
        """Safe to retry."""
        if run.progress.delay:
            waiting = run.went(RunOutcome.WAITING, wait_seconds=run.progress.delay, delay=0)
            return waiting, DirectWork()
        if is_shared(run.worklist_id):
            return self.shared_runs.go_on(run)
        if run.progress.calls_at_work:
            return self.own_runs.go_on(run)
        begun = self._begin_own(run)
        if begun.progress.outcome is RunOutcome.PLACED and self._mode_of(begun) is Mode.SHARED:
            return self.own_runs.go_on(begun)
        return begun, DirectWork()

    def admit(self, run: Run, token: str) -> None:
        """Queue up; whoever grants admission wakes the run with the token. Safe to repeat."""
        self.runs.renew(run.worklist_id, run.epoch, parked=True)
        if is_shared(run.worklist_id):
            self.shared_runs.admit(run, token)
            return
        catalog = self.catalogs.get(run.worklist_id)
        assert catalog is not None, "a catalog outlives its runs"
        source = catalog.source
        assert source is not None, "a run queues up where its catalog is placed"
        assert run.progress.waiting_since is not None, "set when the catalog was placed"
        if self._mode_of(run) is Mode.SHARED:
            self.own_runs.admit(run, token)
            return
        demand = demand_of_job(self.documents.open_in(run.worklist_id))
        self.admission.enter(
            Waiter(
                worklist_id=run.worklist_id,
                epoch=run.epoch,
                knowledge_base_id=source.knowledge_base_id,
                mode=Mode.EXCLUSIVE,
                since=run.progress.waiting_since + (PATIENCE if demand.is_large else timedelta()),
                calls=1,
                token=token,
                size=demand.size,
            )
        )

    def start(self, run: Run) -> tuple[Run, DirectWork]:
        """
        Take up what there is to do, and what came of it if that shows already. Safe to retry.
        """
        if is_shared(run.worklist_id):
            return self.shared_runs.go_on(run)
        if run.progress.steps >= MAX_STEPS:
            self.admission.leave(run.worklist_id, run.epoch)
            return run.went(RunOutcome.HAND_OVER), DirectWork()
        if self.admission.mode_of(run.worklist_id, run.epoch) is Mode.SHARED:
            return self.own_runs.go_on(run)
        return self._start_job(run), DirectWork()

    def release(self, run: Run) -> Run:
        released = self.runs.release(run.worklist_id, run.epoch, served=run.progress.served)
        return run.went(
            RunOutcome.RELEASED if released else RunOutcome.MORE,
            polls=0,
            job_id=None,
            waiting_since=None,
        )

    def hand_over(self, run: Run) -> Run:
        self.runs.hand_over(run.worklist_id, run.epoch)
        return run.went(RunOutcome.HANDED_OVER)

    def _begin_own(self, run: Run) -> Run:
        # The counter before the list: what is asked for later makes the release fail.
        served = self.runs.renew(run.worklist_id, run.epoch).requested
        catalog = self.catalogs.get(run.worklist_id)
        if catalog is None:
            return run.went(RunOutcome.GONE, served=served)
        if catalog.source is not None and catalog.source.is_shared:
            return self._left_to_shared(run, served)
        if next(self.documents.open_in(run.worklist_id, limit=1), None) is None:
            return self._finish(run, catalog, served)
        return self._place(run, catalog, served)

    def _start_job(self, run: Run) -> Run:
        served = self.runs.renew(run.worklist_id, run.epoch).requested
        catalog = self.catalogs.get(run.worklist_id)
        if catalog is None or (source := catalog.source) is None:
            return self.endings.nothing(run, served)
        if source.is_shared:
            self.admission.leave(run.worklist_id, run.epoch)
            return self._left_to_shared(run, served)
        if next(self.documents.open_in(run.worklist_id, limit=1), None) is None:
            # An earlier try of this task has done it all.
            self.admission.leave(run.worklist_id, run.epoch)
            return self.endings.done(run, served)
        grant = self.admission.claim(run.worklist_id, run.epoch)
        if grant is None or grant.knowledge_base_id != source.knowledge_base_id:
            # It came too late for its grant. Its position in the queue is as good as it was.
            return run.went(RunOutcome.GRANT_OVER)
        return self.jobs.begin(run, source, grant, served=served)

    def _mode_of(self, run: Run) -> Mode:
        """How what is open in a catalog with a data source of its own is to be seen to."""
        catalog = self.catalogs.get(run.worklist_id)
        if run.progress.by_job or catalog is None or catalog.source is None:
            return Mode.EXCLUSIVE
        try:
            return self.ways.of(run.worklist_id, catalog.source)
        except KnowledgeBaseThrottled:  # a job is never wrong
            return Mode.EXCLUSIVE

    def _left_to_shared(self, run: Run, served: int) -> Run:
        """The catalog lives on a shared data source, whose run sees to it."""
        self.requests.ask(run.worklist_id)
        return run.went(RunOutcome.NOTHING, served=served, waiting_since=None, polls=0)

    def _place(self, run: Run, catalog: Catalog, served: int) -> Run:
        try:
            placement, source = self.placements.ensure(catalog)
        except KnowledgeBaseThrottled:
            return _wait(run)  # back-pressure is waited out, never a failure
        if source.is_shared:
            return self._left_to_shared(run, served)
        if placement is Placement.WAITING:
            if run.progress.steps >= MAX_STEPS:
                raise DataSourceBroken(source.data_source_id, "not available after half a day")
            return _wait(run)
        return run.went(
            RunOutcome.PLACED,
            polls=0,
            by_job=False,
            # Its position in the queue, however often the next task is repeated.
            waiting_since=run.progress.waiting_since or self.now(),
        )

    def _finish(self, run: Run, catalog: Catalog, served: int) -> Run:
        """Nothing to do, unless it is to go and is empty now."""
        if catalog.status is not CatalogStatus.DELETING:
            self.catalogs.settle_status(catalog.catalog_id, at=self.now())
            return self.endings.nothing(run, served)
        if self.documents.page(catalog.catalog_id, after=None, limit=1).documents:
            return self.endings.nothing(run, served)  # it can't be removed; its owner may retry
        try:
            gone = self.teardown.step(catalog)
        except KnowledgeBaseThrottled:
            gone = False
        return run.went(RunOutcome.GONE, served=served) if gone else _wait(run)


def _wait(run: Run) -> Run:
    if run.progress.steps >= MAX_STEPS:
        return run.went(RunOutcome.HAND_OVER)
    polls = run.progress.polls
    return run.went(RunOutcome.WAITING, wait_seconds=waiting_time(polls), polls=polls + 1)
